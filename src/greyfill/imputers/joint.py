"""The joint family: one normal distribution for all columns, by EM, bootstrap, posterior or lasso.

All four see numbers with mean 0 and deviation 1, ranks of ordered levels as numbers, which are
rounded on the way back, and categories as `EMImputer` says.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from greyfill._chained.hidden_cells import best_on_hidden
from greyfill._joint.joint_model import FittedJoint, Limits, fit_draws, fit_expectation, fit_lasso
from greyfill._joint.joint_normal import JointSettings
from greyfill.checks import check_flag, check_number, check_whole
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.drawn_tables import DrawnTables
from greyfill.imputers.estimator import learned, parameter
from greyfill.table import Floats, Ints, Table

PENALTIES, QUICK = (0.5, 0.25, 0.12, 0.06, 0.03, 0.01), 8
"""What MissPALasso tries, the largest first, and its passes over the patterns while it chooses."""


class _NormalFamily(BaseImputer):
    """What methods that fit a normal distribution by EM share.

    Parameters
    ----------
    max_iter : int, default=500
        Most steps of EM.
    tol : float, default=1e-4
        EM stops when no mean or covariance, in deviations of the columns, moves by more.
    prior : "auto" or float, default="auto"
        Rows that a prior of uncorrelated columns counts for, ν: Σ = (nΣ + νI) / (n + ν + q + 2)
        with q columns, as Amelia's ``empri``. "auto": 0 with 10 rows for each column, else q.

    Attributes
    ----------
    n_iter_ : int
        Steps of EM, of several blocks or imputations the most; passes of each chain of NORM.
    """

    max_iter: int = parameter(default=500, check=check_whole)
    tol: float = parameter(default=1e-4, check=check_number)
    prior: float | str = parameter(default="auto", check=check_number, auto=True)

    n_iter_: int = learned(empty=1)
    _fitted: FittedJoint = learned()


class EMImputer(_NormalFamily):
    """Expectation and maximization under a normal distribution (Dempster, Laird and Rubin 1977).

    All columns together are taken for normal, with mean μ and covariance Σ. With o the observed
    columns of a row and m its holes,

    E: x̂_m = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o),  C = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om
    M: μ = mean x̂,  Σ = n⁻¹ Σ (x̂x̂ᵀ + C) − μμᵀ

    are repeated until neither μ nor Σ moves; the likelihood of the observed cells never falls. The
    fills are the x̂ of the last θ. A new row is filled by the same θ, on its own.

    Categories enter as k − 1 indicators (of the 20 most frequent levels at most); the level with
    the largest expectation wins, where what the indicators leave of 1 belongs to the first level.
    Fills of numbers may lie outside of the observed range; ``bounds`` keeps them in one. Beyond
    200 columns and indicators, blocks of 200 have a distribution each. Labels are not used.

    Attributes
    ----------
    log_likelihood_ : list of float
        Of the observed cells, in deviations of the columns, before each step; of several blocks,
        that of the first.
    converged_ : bool
        Whether EM stopped by ``tol``.

    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 8.0], [5.0, 10.0]])
    >>> float(EMImputer(prior=0).fit_transform(X)[2, 1])
    6.0
    """

    log_likelihood_: list[float] = learned(empty=[])
    converged_: bool = learned(empty=True)

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        found = fit_expectation(table, self._record(JointSettings), self._report)
        self._fitted, steps, self.converged_ = found
        self.log_likelihood_ = steps[0] if steps else []
        self.n_iter_ = max(map(len, steps), default=1)
        return self._fitted.fill(table)


class MissPALassoImputer(BaseImputer):
    """Sparse regressions for each pattern of holes (Städler, Stekhoven and Bühlmann 2014).

    For tables with more columns than rows, where Σ cannot be inverted. As EM, but each pattern of
    holes M and observed columns O has regressions of its own, by a lasso on the moments S of the
    rows of all *other* patterns:

    β_j = argmin ½ βᵀ S_OO β − βᵀ S_Oj + λ |β|₁,  x̂_M = μ_M + β (x_O − μ_O),
    C = S_MM − β S_OM − S_MO βᵀ + β S_OO βᵀ

    One pass refreshes the moments of one pattern after the other; passes end when no fill moves.
    With λ → 0 and many rows it fills as EM does, with a large λ by the mean. The paper's own
    program is not at hand; updates follow its text, and new rows are filled from the moments of
    all training rows. Categories enter and leave as in `EMImputer`. Labels are not used.

    Parameters
    ----------
    penalty : "auto" or float, default="auto"
        λ, on columns of deviation 1; "auto": of 0.5, 0.25, 0.12, 0.06, 0.03 and 0.01 the one that
        best restores a tenth of the cells, which is hidden.
    max_iter : int, default=50
        Most passes over the patterns.
    tol : float, default=1e-3
        Passes end when no fill moves by more, in deviations of its column.

    Attributes
    ----------
    penalty_ : float
        The λ that was taken.
    penalty_errors_ : dict of float to float
        The mean squared error of each λ on hidden cells, numbers on [0, 1], a wrong level as 1.
    n_iter_ : int
        Passes that were made.

    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 8.0], [5.0, 10.0]])
    >>> float(MissPALassoImputer(penalty=0).fit_transform(X).round(6)[2, 1])
    6.0
    """

    penalty: float | str = parameter(default="auto", check=check_number, auto=True)
    max_iter: int = parameter(default=50, check=check_whole)
    tol: float = parameter(default=1e-3, check=check_number)
    random_state: Any = 0

    penalty_: float = learned(empty=0.0)
    penalty_errors_: dict[float, float] = learned(empty={})
    n_iter_: int = learned(empty=1)
    _fitted: FittedJoint = learned()

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        settings = self._record(JointSettings)
        wanted = PENALTIES if isinstance(self.penalty, str) else (float(self.penalty),)

        def trial(part: Table, penalty: float) -> Floats:
            self._report(f"hidden cells by a penalty of {penalty:g}")
            return fit_lasso(part, penalty, replace(settings, max_iter=QUICK))[0].fill(part)

        self.penalty_, self.penalty_errors_ = best_on_hidden(table, settings.seed, wanted, trial)
        self._fitted, self.n_iter_ = fit_lasso(table, self.penalty_, settings)
        self._report(f"{self.n_iter_} passes with a penalty of {self.penalty_:g}")
        return self._fitted.fill(table)


class _JointDraws(DrawnTables, _NormalFamily):
    """What the two methods that draw from a joint normal distribution share."""

    _unsaved = (*DrawnTables._unsaved, "_drawn")

    def _limits(self) -> Limits:
        """The bounds of the kept columns, those of numbers without any at the largest float."""
        low, high = np.array([field.limits for field in self._kept_fields]).T
        return low, high

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        found = fit_draws(table, self._record(JointSettings), self._limits(), self._report)
        self._fitted, self._drawn, self.n_iter_ = found
        return self._combined(table, self._completed)

    def _fill_table(self, table: Table) -> Floats:
        return self._combined(table, lambda c: self._fitted.draw_new(table, c, self._limits()))

    def _completed(self, c: int) -> Floats:
        return self._drawn[c]


class EMBImputer(_JointDraws):
    """Multiple imputation by EM on bootstrapped rows (Honaker, King and Blackwell 2011; Amelia).

    For each imputation the rows are drawn with replacement (again while a column has no value),
    EM finds their θ = (μ, Σ) as in `EMImputer`, and the holes of the rows as they came are drawn:

    x_m = x̂_m + chol(C) ε,  ε ~ N(0, 1)

    The indicators of a category are cut to [0, 1] and to a sum of 1, and a level is drawn by them;
    of an ordered column min + Binomial(max − min, (x − min) / (max − min)) is drawn. A row whose
    numbers leave their ``bounds`` is drawn again, up to 100 times, and then cut off. ``transform``
    draws each row on its own by the θ of each imputation: noise depends on the seed and the row's
    content. Labels are not used; to let an analysis keep y's part, make y a column.

    Parameters
    ----------
    bootstrap : bool, default=True
        With False every θ is that of all rows, and draws know nothing of its uncertainty.

    >>> X = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, np.nan], [4.0, 8.2], [np.nan, 10.1]])
    >>> imputer = EMBImputer(3).fit(X)
    >>> len(imputer.draws_), bool(np.isfinite(imputer.draws_[0]).all())
    (3, True)
    """

    bootstrap: bool = parameter(default=True, check=check_flag)


class NormImputer(_JointDraws):
    """Bayesian normal imputation by data augmentation (Rubin and Schafer 1990; Schafer 1997).

    Li (1988) draws holes and parameters in turns, as R's norm does. Started at EM's θ, each of
    ``n_imputations`` chains repeats

    I: x_m ~ N(x̂_m, C) given θ,  P: Σ ~ W⁻¹(n − 1 + ν, S + νI),  μ ~ N(x̄, Σ / n)

    with S the scatter of the filled rows and ν the rows of the prior; the last θ draws the
    imputation. There are at least q + 1 degrees of freedom for q columns. Categories, ordered
    levels, ``bounds`` and new rows are drawn as in `EMBImputer`. Labels are not used.

    Parameters
    ----------
    n_iter : int, default=50
        Passes of each chain.

    >>> X = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, np.nan], [4.0, 8.2], [np.nan, 10.1]])
    >>> imputer = NormImputer(3, n_iter=20).fit(X)
    >>> len(imputer.draws_), bool(np.isfinite(imputer.transform(X)).all())
    (3, True)
    """

    n_iter: int = parameter(default=50, check=check_whole)
