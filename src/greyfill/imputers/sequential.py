"""Columns one after the other: regressions in sequence, plain ones, forests, and C4.5 trees."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from greyfill._chained import chain
from greyfill._chained.c45 import FittedC45, fill_with_class, fit_c45
from greyfill._chained.iari import ORDERS, FittedChain, IARISettings, fit_iari
from greyfill._chained.methods import MAX_LEVELS
from greyfill.checks import check_choice, check_flag, check_whole
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.chained import MICEImputer
from greyfill.imputers.estimator import learned, parameter
from greyfill.table import Column, Floats, Ints, Kind, Table


class SRMIImputer(MICEImputer):
    """Sequential regression multivariate imputation (Raghunathan et al. 2001; IVEware).

    Columns are visited from few holes to many. In the first round each is regressed on the complete
    columns and on those that were filled before it, in rounds 2 … ``n_iter`` on all others. Numbers
    are drawn from a normal regression with drawn parameters,

    σ*² = RSS / χ²_df,  β* ~ N(β̂, σ*² (X'X)⁻¹),  x = zβ* + σ*ε,

    two levels from a logistic regression, more from a multinomial one, ordered levels from one of
    proportional odds. ``methods`` names counts (``"poisson"``) and semicontinuous numbers
    (``"two-part"``: 0 or not, and then which); of numbers with ``bounds`` the normal draw is
    truncated. After the first round it is `MICEImputer` with ``methods="norm"``. Columns that exist
    for some rows only are not known here: every hole is filled.

    Parameters
    ----------
    methods : dict of column name to method, or a method of all numbers, optional
        As in `MICEImputer`; numbers default to "norm".

    >>> X = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, np.nan], [4.0, 8.2], [np.nan, 10.1]])
    >>> imputer = SRMIImputer(3).fit(X)
    >>> len(imputer.draws_), imputer.methods_["x1"]
    (3, 'norm')
    """

    n_iter: int = 10

    def _settings(self) -> chain.MiceSettings:
        limits = {j: f.limits for j, f in enumerate(self._kept_fields) if f.bounds}
        return replace(super()._settings(), is_sequential=True, limits=limits)

    def _known_methods(self) -> dict[str, str]:
        numbers = (c.name for c in self._schema.columns if c.kind is Kind.NUMERIC)
        return dict.fromkeys(numbers, "norm") | super()._known_methods()


class RegressionImputer(BaseImputer):
    """One regression for each column, with or without noise (Gelman and Hill 2006).

    Holes start as mean or mode. Then each column with holes is regressed on all others, left to
    right, and its holes take what the regression predicts; one such round is a pass:

    x̂ = zβ̂ (+ σ̂ε with ``noise``),  β̂ by least squares over the rows where the column is observed

    Categories take the likeliest level of a multinomial logistic regression, or a drawn one with
    ``noise``; those of more than 50 levels are matched. The coefficients are not drawn, so several
    such tables know too little of their uncertainty to be pooled: take `MICEImputer` for that.
    Numbers may be predicted outside of their range; ``bounds`` keeps them in one.

    Parameters
    ----------
    noise : bool, default=False
        Add a residual to each prediction, so that columns keep their spread.
    n_iter : int, default=5
        Passes over the columns.
    max_predictors : int or "auto", default="auto"
        Most predictors in one model, as in `MICEImputer`.

    Attributes
    ----------
    n_iter_ : int
        Passes that were made.

    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 8.0], [5.0, 10.0]])
    >>> float(RegressionImputer().fit_transform(X).round(3)[2, 1])
    6.0
    """

    noise: bool = parameter(default=False, check=check_flag)
    n_iter: int = parameter(default=5, check=check_whole)
    max_predictors: int | str = parameter(default="auto", check=check_whole, auto=True)
    random_state: Any = 0

    n_iter_: int = learned(empty=1)
    _fitted: chain.FittedChains = learned()

    def _method(self, column: Column) -> str:
        """The elementary method of a column."""
        if column.n_levels > MAX_LEVELS:
            return "pmm"
        if column.kind is Kind.CATEGORICAL:
            return "polyreg" if self.noise else "polyreg.predict"
        return "norm.nob" if self.noise else "norm.predict"

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        methods = {column.name: self._method(column) for column in table.columns}
        how: Any = {"n_imputations": 1, "methods": methods, "starts_typical": True}
        settings = self._record(chain.MiceSettings, **how)
        self.n_iter_ = settings.n_iter
        self._fitted = chain.run_chains(table, settings, self._report)
        return self._fitted.completed(0)


class _ClassHelped(BaseImputer):
    """A method that fills training rows by the class as well, and new ones by models without it.

    Parameters
    ----------
    labels : "predictor" or "none", default="predictor"
        Whether y, if it is given, helps to fill the training rows.
    """

    labels: str = parameter(default="predictor", check=check_choice, choices=("predictor", "none"))

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from the rows with a class if each column is known to some of them, or from all."""
        known = np.zeros(table.n_rows, dtype=bool) if labels is None else np.asarray(labels >= 0)
        if self.labels == "none" or not (~table.missing[known]).any(axis=0).all():
            return self._fill_by(table, None)
        assert labels is not None
        self._fill_by(table.rows(known), None)
        filled = self._fill_table(table)
        classes = np.unique(labels[known], return_inverse=True)[1]
        filled[known] = self._fill_by(table.rows(known), classes)
        return filled

    @abstractmethod
    def _fill_by(self, table: Table, labels: Ints | None) -> Floats:
        """The rows of a table without holes, by their classes; or without, which is remembered."""


class IARIImputer(_ClassHelped):
    """Incremental attribute regression by forests (van Stein and Kowalczyk 2016).

    F starts with the complete columns and the class y. The columns with holes follow by their
    importance in a forest of 100 trees for y, where holes are means and modes: each is predicted
    once, by a forest on F over the rows that know it, and then joins F. With ``order="score"`` the
    column whose forest has the best score out of the bag is taken at each step (their REPAIR).

    Training rows with a class are filled by y, in ``fit_transform``; new rows, and rows without a
    class, by the same chain without y, whose columns come by few holes first. Where a new row
    lacks a column that was complete in ``fit``, a forest on all others fills it before the chain.
    Forests see a category by its code, as in `MissForestImputer`; y that is a measurement is not
    used. A forest never predicts beyond the observed range.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of a forest.
    order : "importance" or "score", default="importance"
        Which column is next; "score" grows a forest for every column that is left, at each step.

    Attributes
    ----------
    order_ : list of str
        The columns with holes in the order in which new rows are filled.

    >>> X = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, np.nan], [4.0, 8.2], [np.nan, 10.1]])
    >>> filled = IARIImputer(10).fit_transform(X, [0, 0, 0, 1, 1])
    >>> bool(2.1 <= filled[2, 1] <= 10.1)
    True
    """

    n_estimators: int = parameter(default=100, check=check_whole, kw_only=False)
    order: str = parameter(default="importance", check=check_choice, choices=ORDERS)
    n_jobs: int | None = None
    random_state: Any = 0

    order_: list[str] = learned(empty=[])
    _fitted: FittedChain = learned()

    def _fill_by(self, table: Table, labels: Ints | None) -> Floats:
        fitted, filled = fit_iari(table, labels, self._record(IARISettings), self._report)
        if labels is None:
            self._fitted = fitted
            self.order_ = [table.columns[step.column].name for step in fitted.steps]
        return filled


class C45Imputer(_ClassHelped):
    """A C4.5 tree for each column with holes (Quinlan 1993).

    The column is the class of its tree, the other columns and y predict. A test is chosen by the
    largest gain ratio among those of at least average gain,

    gain = F · (H(S_known) − Σ_i |S_i| / |S_known| · H(S_i)),  F = |S_known| / |S|,
    split information = −Σ p_i log₂ p_i over the branches and "unknown",

    where a threshold pays log₂(N − 1) / |S| for N different values, and two branches need 2 cases.
    A case whose tested cell is a hole goes down every branch with the weight |S_i| / |S_known|, in
    training and in prediction, so holes need no start. Trees are pruned by pessimistic errors at a
    confidence of 0.25 (subtrees become leaves; none is raised). Fractions below 0.01 are dropped.

    Numbers and ordered levels are cut into parts, against y by Fayyad and Irani's rule where it
    finds a cut, else into at most 8 parts of equal size; the fill is the mean within the likeliest
    part of the leaves. Training rows with a class are filled with the help of y, in
    ``fit_transform``; new rows, and rows without a class, by trees without it. y that is a
    measurement is not used.

    >>> X = np.array([[1, "a"], [1, "a"], [2, "b"], [2, "b"], [2, None], [1, "a"]], dtype=object)
    >>> C45Imputer().fit_transform(X)[4, 1]
    'b'
    """

    _fitted: FittedC45 = learned()

    def _fill_by(self, table: Table, labels: Ints | None) -> Floats:
        if labels is not None:
            return fill_with_class(table, labels)
        self._fitted = fit_c45(table, self._report)
        return self._fitted.fill(table)
