"""The same model on each of several draws, and one table of pooled coefficients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from scipy.optimize import linprog
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from greyfill import frames
from greyfill.checks import check_installed, check_whole
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.filled import Filled
from greyfill.folds import with_folds
from greyfill.pooling import Pooled, pool
from greyfill.table import Floats, Kind, Table
from greyfill.targets import read_target
from greyfill.text import as_html, as_text

INTERCEPT = "(intercept)"
NEARLY_SURE = 1e-4
"""p (1 − p) below which a row may be told from the others without an error."""
CLOSE = 1e-10  # scikit-learn's default stops where the coefficients are right to three digits


@dataclass(frozen=True)
class Fit:
    """The coefficients of a model on one table, their squared standard errors, and what is left."""

    terms: tuple[str, ...]
    estimates: Floats
    variances: Floats
    df: float | None


@dataclass(frozen=True, eq=False)
class PooledModel:
    """Coefficients that were pooled by Rubin's rules.

    Attributes
    ----------
    table : polars.DataFrame
        ``term``, ``estimate``, ``std_error``, ``df``, ``fmi`` (the fraction of missing
        information), ``low`` and ``high`` (the interval), and ``p_value`` of the t test that the
        coefficient is zero.
    pooled : Pooled
        The same numbers as vectors, with the variance within and between the draws.
    level : float
        That of the intervals.

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from greyfill import with_draws
    >>> x = np.arange(6.0)
    >>> y = 2 * x + [0.1, -0.1, 0.1, -0.1, 0.1, -0.1]
    >>> found = with_draws([x[:, None], x[:, None] + 0.01], LinearRegression(), y)
    >>> found.table["term"].to_list(), round(found.table["estimate"][1], 2)
    (['(intercept)', 'x0'], 1.98)
    """

    table: pl.DataFrame
    pooled: Pooled = field(repr=False)
    level: float

    def _shown(self) -> tuple[str, list[list[str]], list[str]]:
        rows = [[row[0], *(f"{v:.4g}" for v in row[1:])] for row in self.table.iter_rows()]
        title = f"pooled over {self.pooled.n_imputations} draws; intervals of {self.level:.0%}"
        return title, [self.table.columns, *rows], []

    def __repr__(self) -> str:
        return as_text(*self._shown())

    def _repr_html_(self) -> str:
        return as_html(*self._shown())


def with_draws(
    draws: Any, model: Any, y: Any = None, *, n_draws: int = 20, level: float = 0.95
) -> PooledModel:
    """Fit a model on each draw of a table, and pool the coefficients by Rubin's rules.

    What ``with()`` and ``pool()`` of R's mice do, in one call; the degrees of freedom are those of
    Barnard and Rubin (see `greyfill.pool`).

    Parameters
    ----------
    draws
        Filled tables, such as ``GreyImputer().fit(X, y).draw(X, 20, y)`` or ``draws_`` of
        `MICEImputer`; or what ``greyfill.fill`` gave, which is drawn ``n_draws`` times. They must
        know what the model relates: draws without y shrink its coefficients.
    model
        One of three: ``LinearRegression()`` or an unpenalized binary ``LogisticRegression(C=inf)``
        of scikit-learn, on all columns (of a category each level but the first), or on those that
        ``greyfill.fill`` used; a
        formula, such as ``"bmi ~ age + C(sex)"``, for least squares by statsmodels; or a function
        that takes a filled table and gives a fitted result of statsmodels.
    y
        What a model of scikit-learn predicts; the target of ``greyfill.fill`` unless it is given.
    n_draws
        How often to draw what ``greyfill.fill`` gave.
    level
        How often the intervals hold the truth.

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from greyfill import GreyImputer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = X[:, 0] + rng.normal(size=80)
    >>> X[rng.random(80) < 0.3, 0] = np.nan
    >>> draws = GreyImputer().fit(X, y).draw(X, 10, y)
    >>> found = with_draws(draws, LinearRegression(), y)
    >>> low, high = found.table.row(1, named=True)["low"], found.table.row(1, named=True)["high"]
    >>> low < 1 < high
    True
    """
    of_fill = isinstance(draws, Filled) and isinstance(model, LinearRegression | LogisticRegression)
    if of_fill and draws._y is None and y is not None:
        raise InvalidParameterError(
            "greyfill.fill got no target, so its draws do not know y, and the coefficients would "
            "shrink. Name it there: greyfill.fill(table, y)"
        )
    tables, schema = _tables(draws, n_draws), None
    if of_fill:
        tables, schema = [_used(draws, table) for table in tables], _schema_used(draws)
        y = draws._y if y is None else y
    fitted = _fitter(model, tables, y, schema)
    fits = [fitted(table) for table in tables]
    terms = fits[0].terms
    for number, fit in enumerate(fits):
        if fit.terms != terms:
            raise InvalidDataError(
                f"draw {number} has other coefficients than draw 0: "
                f"{sorted({*fit.terms} ^ {*terms})}. A rare level may be in some draws only; name "
                "all levels in the formula."
            )
    pooled = pool([f.estimates for f in fits], [f.variances for f in fits], df_complete=fits[0].df)
    low, high = pooled.interval(level)
    columns = {
        "term": terms,
        "estimate": pooled.estimate,
        "std_error": pooled.std_error,
        "df": pooled.df,
        "fmi": pooled.fraction_missing,
        "low": low,
        "high": high,
        "p_value": _p_values(pooled),
    }
    return PooledModel(pl.DataFrame(columns), pooled, level)


def _p_values(pooled: Pooled) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2.0 * student.sf(np.abs(pooled.estimate / pooled.std_error), pooled.df))


def _tables(draws: Any, n_draws: int) -> list[Any]:
    if isinstance(draws, Filled):
        return draws.draws(check_whole("n_draws", n_draws, least=2))
    if isinstance(draws, Sequence) and not isinstance(draws, str) and len(draws) > 1:
        return list(draws)
    raise InvalidParameterError(
        "draws must be a list of two or more filled tables, such as GreyImputer().fit(X, y)"
        ".draw(X, 20, y), or what greyfill.fill gave"
    )


def _used(filled: Filled, table: Any) -> Any:
    """The columns of a draw that others are filled by, with one spelling of each level."""
    is_used = filled._is_used
    if isinstance(table, np.ndarray):
        return table[:, np.flatnonzero(is_used)]
    names = [name for name, used in zip(filled._names, is_used, strict=True) if used]
    frame = nw.from_native(frames.with_text_names(table)[0], eager_only=True)
    return with_folds(frame.select(names).to_native(), filled._folds)


def _schema_used(filled: Filled) -> frames.Schema:
    """Of these columns, which are categories and which are ranked."""
    fields = filled.imputer.schema_.fields
    return frames.Schema(tuple(compress(fields, filled._is_used)))


def _fitter(
    model: Any, tables: Sequence[Any], y: Any, schema: frames.Schema | None
) -> Callable[[Any], Fit]:
    """A function from a filled table to its fit."""
    if isinstance(model, str):
        check_installed("statsmodels", "A formula")
        from statsmodels.formula.api import ols

        return lambda table: _of_result(ols(model, _in_pandas(table)).fit())
    if isinstance(model, LinearRegression | LogisticRegression):
        if y is None:
            raise InvalidParameterError(f"{model!r} needs y: with_draws(draws, model, y)")
        schema = schema or frames.encode(tables[0])[1].schema
        encoded = [frames.encode(table, schema=schema)[0] for table in tables]
        codes = [set().union(*(np.unique(t.values[:, j]) for t in encoded))
                 for j in range(len(schema.fields))]  # fmt: skip
        first = _design(encoded[0], schema, codes)
        known = _response(model, y, encoded[0].n_rows)
        itself = [name for name, values in first if np.array_equal(values, known)]
        if itself:
            raise InvalidDataError(
                f"column {itself[0]!r} of the draws is y itself. Leave it out of the tables, or "
                "name it as the target of greyfill.fill."
            )

        def fit(table: Any) -> Fit:
            columns = _design(frames.encode(table, schema=schema)[0], schema, codes)
            names = tuple(name for name, _ in columns)
            return _of_linear(model, names, np.column_stack([v for _, v in columns]), known)

        return fit
    if callable(model):
        return lambda table: _of_result(model(table))
    raise InvalidParameterError(
        f"model is {model!r}; pass a formula, a function of a table that gives a fitted result of "
        "statsmodels, or LinearRegression() or LogisticRegression(C=inf) of scikit-learn"
    )


def _in_pandas(table: Any) -> Any:
    opened = frames.open_table(table)
    if isinstance(opened, np.ndarray):
        raise InvalidParameterError("a formula needs tables with names of columns, not arrays")
    check_installed("pandas", "A formula")
    return opened.to_pandas() if isinstance(opened, nw.DataFrame) else opened


def _of_result(result: Any) -> Fit:
    """What a fitted result of statsmodels tells."""
    try:
        estimates = np.asarray(result.params, dtype=np.float64)
        variances = np.asarray(result.bse, dtype=np.float64) ** 2
    except (AttributeError, TypeError, ValueError):
        raise InvalidParameterError(
            f"the model gave {type(result).__name__}; it must give a fitted result of statsmodels, "
            "with params and bse: has fit() been called?"
        ) from None
    terms = getattr(result.params, "index", None)
    if terms is None:
        terms = [f"b{place}" for place in range(len(estimates))]
    df = getattr(result, "df_resid", None)
    return Fit(tuple(map(str, terms)), estimates, variances, None if df is None else float(df))


def _response(model: Any, y: Any, n_rows: int) -> Any:
    """Numbers, or 0 and 1."""
    target = read_target(y, needs_classes=isinstance(model, LogisticRegression))
    if len(target.codes) != n_rows or (target.codes < 0).any():
        raise InvalidDataError(
            f"y must have a value for each of the {n_rows} rows; it has {len(target.codes)}, of "
            f"which {int((target.codes < 0).sum())} are missing"
        )
    if isinstance(model, LinearRegression):
        try:
            return target.response
        except ValueError:
            raise InvalidDataError("y must hold numbers for LinearRegression") from None
    if len(target.classes) != 2:
        raise InvalidDataError(f"y has {len(target.classes)} classes; a binary model needs two")
    if np.inf != model.C and getattr(model, "penalty", "l2") is not None:
        raise InvalidParameterError(
            "a penalized model has no standard errors; pass LogisticRegression(C=float('inf'))"
        )
    return target.codes


def _design(
    table: Table, schema: frames.Schema, codes: Sequence[set[float]]
) -> list[tuple[str, Floats]]:
    """Columns by name: numbers, and of a category an indicator of each level but the first.

    ``codes`` are those that occur in any draw, by column; levels without a row are none.
    """
    columns: list[tuple[str, Floats]] = []
    for j, about in enumerate(schema.fields):
        values = table.values[:, j]
        if table.missing[:, j].any():
            raise InvalidDataError(
                f"column {about.name!r} of a draw has holes; fill it first, or leave it out"
            )
        if about.kind is Kind.CATEGORICAL:
            levels = frames.cell_values(np.arange(float(len(about.levels))), about)
            columns += [
                (f"{about.name}[{level}]", (values == code).astype(float))
                for code, level in enumerate(levels)
                if code in codes[j] and code > min(codes[j])
            ]
        else:
            columns.append((about.name, values))
    return columns


def _of_linear(model: Any, names: tuple[str, ...], X: Floats, y: Any) -> Fit:
    """A model of scikit-learn, with standard errors from its design.

    Least squares: s² (Z'Z)⁻¹ with s² = Σ (y − ŷ)² / (n − p). Logistic: (Z' W Z)⁻¹ with
    W = p̂ (1 − p̂).
    """
    fitted, is_logistic = clone(model), isinstance(model, LogisticRegression)
    if is_logistic:
        fitted.set_params(tol=min(model.tol, CLOSE), max_iter=max(model.max_iter, 10_000))
    Z, back = _in_like_units(X, model.fit_intercept)  # a date counts microseconds since 1970
    fitted.fit(Z, y)
    estimates = np.ravel(fitted.coef_)
    if model.fit_intercept:
        estimates = np.append(np.ravel(fitted.intercept_), estimates)
        names = (INTERCEPT, *names)
    p = fitted.predict_proba(Z)[:, 1] if is_logistic else np.empty(0)
    if model.fit_intercept:
        Z = np.column_stack([np.ones(len(Z)), Z])
    df = len(Z) - Z.shape[1]
    if df < 1 or np.linalg.matrix_rank(Z) < Z.shape[1]:
        raise InvalidDataError(
            f"{Z.shape[1]} coefficients cannot be told apart in {len(Z)} rows: drop columns that "
            "others determine"
        )
    if is_logistic:
        if ((p > 0.5) == y).all():  # the likelihood grows without end
            raise InvalidDataError(
                "the columns of a draw tell the two classes apart without an error, so that "
                "logistic regression has no finite coefficients: leave a column out"
            )
        _refuse_separation(Z, y, p, names)
        covariance = np.linalg.inv((Z.T * (p * (1.0 - p))) @ Z)
    else:
        left = y - Z @ estimates
        covariance = np.linalg.inv(Z.T @ Z) * (left @ left) / df
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        known = back @ estimates, np.diag(back @ covariance @ back.T)
    _refuse_units(names, *known, np.diag(covariance))
    return Fit(names, *known, float(df))


def _refuse_separation(Z: Floats, y: Any, p: Floats, names: tuple[str, ...]) -> None:
    """Refuse columns that tell the class of some rows without an error (Konis, 2007).

    The likelihood has no finite maximum where a direction b has s Zb ≥ 0 in all rows and > 0 in
    some, s = ±1 being the class. A linear program finds one, with |b| ≤ 1; only a fit that is
    nearly sure of a row can have one.
    """
    if (p * (1.0 - p)).min() > NEARLY_SURE:
        return
    margins = np.where(y == 1, 1.0, -1.0)[:, None] * Z
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        -margins.mean(axis=0), -margins, np.zeros(len(Z)), bounds=(-1.0, 1.0), options=exact
    )
    # A direction can be lengthened to the bounds; a tolerance cannot.
    if found.x is None or np.abs(found.x).max() < 0.5:
        return
    grown = np.abs(found.x) > 1e-6
    told = [repr(n) for n, is_grown in zip(names, grown, strict=True) if is_grown]
    told = [name for name in told if name != repr(INTERCEPT)] or told
    raise InvalidDataError(
        f"{', '.join(told)} of a draw: the class of some rows follows without an error, so that "
        "logistic regression has no finite coefficients. Merge a level whose rows all have one "
        "class with another, or leave the column out"
    )


def _refuse_units(
    names: tuple[str, ...], estimates: Floats, variances: Floats, of_size_one: Floats
) -> None:
    """Refuse coefficients of which no float can hold the variance."""
    beyond = ~np.isfinite(estimates) | ~np.isfinite(variances)
    beyond |= (variances == 0.0) & (of_size_one > 0.0)
    told = [name for name, is_beyond in zip(names, beyond, strict=True) if is_beyond]
    if told:
        raise InvalidDataError(
            f"the numbers of column {told[-1]!r} are so small or so large that the variance of its "
            "coefficient is beyond floats: give it in other units"
        )


def _in_like_units(X: Floats, has_intercept: bool) -> tuple[Floats, Floats]:
    """Columns about zero, if a constant is fitted, and of size one; and the way back.

    The way back is a matrix that makes coefficients of X of those of the columns.
    """
    # Powers of two scale without rounding; squares of the numbers themselves may be 0 or infinite.
    unit = np.ldexp(1.0, np.frexp(np.abs(X).max(axis=0))[1] - 1)
    X = X / unit
    mean = X.mean(axis=0) if has_intercept else np.zeros(X.shape[1])
    varies = (X[:1] != X).any(axis=0) if has_intercept else X.any(axis=0)
    centered = np.where(varies, X - mean, 0.0)
    size = np.where(varies, np.sqrt(np.mean(centered**2, axis=0)), 1.0)
    with np.errstate(over="ignore"):  # refused by `_refuse_units`
        back = np.diag(1.0 / size / unit)
    if has_intercept:
        back = np.block([[np.ones((1, 1)), -mean / size], [np.zeros((len(size), 1)), back]])
    return centered / size, back
