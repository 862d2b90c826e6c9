"""One answer from many imputed tables: Rubin's rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from greyfill.checks import check_share, is_number
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Floats

FEWEST = 2
"""The spread between imputations cannot be seen in fewer."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """A pooled estimate with its uncertainty; floats, or arrays where estimates were vectors.

    Attributes
    ----------
    estimate : float or array
        The mean of the estimates.
    std_error : float or array
        √(within + (1 + 1/m) between).
    within, between : float or array
        Mean of the variances, and variance of the estimates: what sampling and what the holes
        leave uncertain.
    df : float or array
        Degrees of freedom of the t distribution; infinite where the imputations agree.
    fraction_missing : float or array
        Share of the information about the estimate that the holes have cost.
    n_imputations : int
        m, the number of imputations.

    Examples
    --------
    >>> from greyfill import pool
    >>> pooled = pool([1.0, 1.2, 1.4], [0.04, 0.05, 0.06])
    >>> round(pooled.estimate, 3), round(pooled.std_error, 3), pooled.n_imputations
    (1.2, 0.321, 3)
    """

    estimate: Any
    std_error: Any
    within: Any
    between: Any
    df: Any
    fraction_missing: Any
    n_imputations: int

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Lower and upper end of the confidence interval, estimate ± t · standard error.

        Parameters
        ----------
        level : float, default=0.95
            How often such intervals hold the truth, between 0 and 1.
        """
        check_share("level", level)
        with np.errstate(invalid="ignore"):
            quantile = np.where(
                np.asarray(self.df) > 0, student.ppf(0.5 + level / 2.0, self.df), np.inf
            )
        reach = quantile * self.std_error
        return _plain(self.estimate - reach), _plain(self.estimate + reach)

    def __str__(self) -> str:
        low, high = self.interval()
        return (
            f"{_shown(self.estimate)} ± {_shown(self.std_error)} (95 %: {_shown(low)} to "
            f"{_shown(high)}; df {_shown(self.df)}; missing information "
            f"{_shown(self.fraction_missing)})"
        )


def pool(estimates: Any, variances: Any, *, df_complete: float | None = None) -> Pooled:
    """Pool the estimates from m imputed tables by Rubin's rules (Rubin 1987).

    Q̄ = mean(Q_i),  Ū = mean(U_i),  B = Σ (Q_i − Q̄)² / (m − 1),  T = Ū + (1 + 1/m) B

    With λ = (1 + 1/m) B / T, the degrees of freedom are ν = (m − 1)/λ², and with ``df_complete``
    those of Barnard and Rubin (1999),

    1/ν* = 1/ν + 1/ν_obs,  ν_obs = (1 − λ) ν_com (ν_com + 1)/(ν_com + 3).

    The fraction of missing information is λ + (1 − λ) · 2/(ν + 3).

    The tables must be draws that know all that the analysis relates, its y as well, such as
    ``GreyImputer().fit(X, y).draw(X, 20, y)``: draws without y shrink a coefficient of y, and
    single fills, which hardly differ, give intervals that are too narrow.

    Parameters
    ----------
    estimates : sequence of m numbers, or of m vectors of one length
        The same analysis on each imputed table.
    variances : like ``estimates``
        Squared standard errors of the estimates. Vectors are pooled entry by entry.
    df_complete : float, optional
        Degrees of freedom that the analysis would have without holes, such as n − 1 for a mean.
        Without it they count as infinite, which makes intervals too narrow in small tables.

    >>> from greyfill import pool
    >>> pooled = pool([-2.0, -1.0, 0.0, 1.0, 2.0], [3.0] * 5)
    >>> pooled.estimate, pooled.within, pooled.between, round(pooled.df, 6)
    (0.0, 3.0, 2.5, 16.0)
    >>> [round(end, 2) for end in pooled.interval()]
    [-5.19, 5.19]
    """
    values = _numbers("estimates", estimates)
    spreads = _numbers("variances", variances)
    _check(values, spreads, df_complete)
    m = len(values)
    within, between = spreads.mean(axis=0), values.var(axis=0, ddof=1)
    extra = (1.0 + 1.0 / m) * between
    certain = (within + extra) == 0.0
    total = np.where(certain, 1.0, within + extra)
    lost, kept = extra / total, np.where(certain, 1.0, within / total)
    df = _degrees(m, lost, kept, df_complete)
    return Pooled(
        estimate=_plain(values.mean(axis=0)),
        std_error=_plain(np.sqrt(within + extra)),
        within=_plain(within),
        between=_plain(between),
        df=_plain(df),
        fraction_missing=_plain(lost + kept * 2.0 / (df + 3.0)),
        n_imputations=m,
    )


def _degrees(m: int, lost: Floats, kept: Floats, df_complete: float | None) -> Floats:
    """Degrees of freedom, by Rubin or, with those of complete data, by Barnard and Rubin."""
    with np.errstate(divide="ignore"):
        precision = lost**2 / (m - 1)
        if df_complete is not None and np.isfinite(df_complete):
            shrink = (df_complete + 1.0) / (df_complete + 3.0) * df_complete
            precision = precision + 1.0 / (kept * shrink)
        return np.asarray(1.0 / precision)


def _numbers(name: str, given: Any) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"{name} must be numbers, or vectors of one length, one for each imputation"
        ) from None
    if values.ndim not in (1, 2):
        raise InvalidDataError(
            f"{name} have {values.ndim} dimensions: pass one number or one vector an imputation"
        )
    if not np.isfinite(values).all():
        raise InvalidDataError(f"{name} hold NaN or infinity: an analysis has failed")
    return values


def _check(values: Floats, spreads: Floats, df_complete: float | None) -> None:
    if values.shape != spreads.shape:
        raise InvalidDataError(
            f"estimates have shape {values.shape}, variances {spreads.shape}: give each estimate "
            "its variance"
        )
    if len(values) < FEWEST:
        raise InvalidDataError(
            f"{len(values)} imputation(s) cannot be pooled: draw at least {FEWEST}, better 20"
        )
    if (spreads < 0.0).any():
        raise InvalidDataError("variances hold a negative number: pass squared standard errors")
    if df_complete is not None and not (is_number(df_complete) and df_complete > 0.0):
        raise InvalidParameterError(f"df_complete must be positive, not {df_complete!r}")


def _plain(values: Any) -> Any:
    """A float instead of an array without dimensions."""
    return float(values) if np.ndim(values) == 0 else values


def _shown(values: Any) -> str:
    """Four digits of each number."""
    if np.ndim(values) == 0:
        return f"{values:.4g}"
    return f"[{', '.join(f'{value:.4g}' for value in values)}]"
