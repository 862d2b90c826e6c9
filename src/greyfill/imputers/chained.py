"""The model-based family: chained equations and chained forests."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from greyfill._chained import chain, missforest
from greyfill._chained.methods import FOR_NUMBERS
from greyfill._chained.missforest import overall_error
from greyfill.checks import check_choice, check_whole
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.drawn_tables import DrawnTables
from greyfill.imputers.estimator import learned, parameter
from greyfill.table import Floats, Ints, Kind, Table


def _check_methods(name: str, value: Any) -> None:
    if isinstance(value, str):
        check_choice(name, value, ("auto", *FOR_NUMBERS))
    elif not isinstance(value, Mapping | None):
        raise InvalidParameterError(
            f"{name} must be a dict of column name to method, such as {{'age': 'norm'}}, not "
            f"{value!r}"
        )


class MICEImputer(DrawnTables):
    """Multiple imputation by chained equations (van Buuren 2018; R's mice).

    Each hole starts with a random observed value of its column. Then every column with holes is
    regressed on all others, left to right, and its holes are drawn from the fitted model; one
    such round is a pass. After ``n_iter`` passes the table is one imputation.

    σ*² = RSS / χ²_df,  β* ~ N(β̂, σ*² (X'X)⁻¹),  donors: the 5 smallest |x_i β̂ − x β*|

    Numbers take the value of one of these donors (predictive mean matching), unless many holes are
    predicted beyond all donors: then they are drawn as x β* + σ* ε. Two levels are drawn
    from a logistic regression with drawn coefficients, more levels from a multinomial one, and
    ordered levels from a proportional-odds one; the last three are kept from running to infinity
    by the pseudo-observations of White, Daniel and Royston (2010).

    As predictors, categories are 0/1 indicators (of at most 20 levels) and ordered levels are
    ranks. ``transform`` fills each row on its own with the models of the last pass: its draws
    depend on the seed and the row's own content, so equal rows are filled equally, and one row
    as in a batch. The order of the rows in ``fit`` does not matter either.

    Parameters
    ----------
    n_iter : int, default=5
        Passes of each chain, as in R.
    methods : dict of column name to method, or a method of all numbers, optional
        "auto", "pmm" or "norm" for numbers, "logreg" for two levels, "polyreg" for any levels,
        "polr" for ordered ones, "sample" and "mean" (mode) for all; "pmm" and "cart" (a value of
        the leaf of a tree) also take categories. "poisson" draws counts, "two-part" 0 or else a
        normal number; "norm.nob" draws no coefficients, "norm.predict" and "polyreg.predict" draw
        nothing.
        Columns of an array are called "x0", "x1", …. Columns of more than 50 levels default to
        "pmm", and numbers to "auto": "norm" where a tenth of the holes, above chance, is predicted
        beyond the predictions of all donors, and else "pmm". ``methods="pmm"`` does as R.
    labels : "none", "predictor" or "separate", default="none"
        With "predictor", y predicts as one more category in ``fit_transform``; where it is
        missing it is drawn as well. With "separate" each class has chains of its own besides, so
        that its draws scatter as the class does; classes with fewer than 30 observed cells in a
        column keep the others' draws. ``transform`` uses other chains that never saw y.
    max_predictors : int or "auto", default="auto"
        Most predictors in one model; the most correlated columns are taken, as by R's quickpred.
        "auto": a third of the observed rows, within 5 … 100.
    verbose : int, default=0
        0 is silent. With 1, each finished chain is reported on stderr.

    Attributes
    ----------
    history_ : dict of column name to dict
        ``"mean"`` and ``"sd"`` of the imputed values, each of shape (n_imputations, n_iter), for
        each column with holes: flat, mixed traces mean that the passes were enough.
    methods_ : dict of str to str
        The method of each column; of "auto" the one that was taken.
    n_iter_ : int
        Passes of each chain.

    Examples
    --------
    >>> X = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, np.nan], [4.0, 8.2], [np.nan, 10.1]])
    >>> imputer = MICEImputer(combine="draw").fit(X)
    >>> bool(np.isin(imputer.transform(X)[2, 1], X))
    True
    >>> len(imputer.draws_), imputer.history_["x1"]["mean"].shape
    (5, (5, 5))
    """

    n_iter: int = parameter(default=5, check=check_whole)
    methods: Any = parameter(default=None, check=_check_methods)
    labels: str = parameter(
        default="none", check=check_choice, choices=("none", "predictor", "separate")
    )
    max_predictors: int | str = parameter(default="auto", check=check_whole, auto=True)

    history_: dict[str, dict[str, Floats]] = learned(empty={})
    methods_: dict[str, str] = learned(empty={})
    n_iter_: int = learned()
    _chains: chain.FittedChains = learned()
    _label_chains: chain.FittedChains = learned()

    _optional = (*DrawnTables._optional, "_chains", "_label_chains")
    _unsaved = (*DrawnTables._unsaved, "_separate")

    @property
    def _needs_labels(self) -> bool:
        return self.labels in ("predictor", "separate")

    def _fit_nothing(self) -> None:
        self.n_iter_ = self._settings().n_iter

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        settings = self._settings()
        self.n_iter_ = settings.n_iter
        self._chains = self._label_chains = chain.run_chains(table, settings, self._report)
        self._separate: list[Floats] = []
        if self.labels != "none":
            assert labels is not None
            labeled = chain.with_labels(table, labels)
            self._label_chains = chain.run_chains(labeled, settings, self._report)
        if self.labels == "separate":
            assert labels is not None
            self._separate = chain.completed_by_class(
                self._label_chains, table, labels, settings, self._report
            )
        names = [column.name for column in table.columns]
        self.methods_ = dict(zip(names, self._label_chains.plan.methods, strict=False))
        self.history_ = self._traces(names)
        return self._combined(table, self._completed)

    def _fill_table(self, table: Table) -> Floats:
        return self._combined(table, lambda c: chain.fill_by_chains(self._chains, table, c))

    def _completed(self, c: int) -> Floats:
        """One imputation of the kept columns, without the labels."""
        if self._separate:
            return self._separate[c]
        return self._label_chains.completed(c)[:, : int(self._kept.sum())]

    def _traces(self, names: list[str]) -> dict[str, dict[str, Floats]]:
        traces = np.stack([chain.traces for chain in self._label_chains.chains])
        return {
            names[j]: {"mean": traces[:, :, place, 0], "sd": traces[:, :, place, 1]}
            for place, j in enumerate(self._label_chains.plan.targets)
            if j < len(names)
        }

    def _settings(self) -> chain.MiceSettings:
        return self._record(chain.MiceSettings, methods=self._known_methods())

    def _known_methods(self) -> dict[str, str]:
        if isinstance(self.methods, str):
            numbers = (c for c in self._schema.columns if c.kind is Kind.NUMERIC)
            return {column.name: self.methods for column in numbers}
        methods = dict(self.methods or {})
        names = [column.name for column in self._schema.columns]
        unknown = [name for name in methods if name not in names]
        if unknown:
            raise InvalidParameterError(
                f"methods names columns that X does not have: {unknown}; it has {names[:10]}"
            )
        return methods


class MissForestImputer(BaseImputer):
    """Imputation by chained random forests (Stekhoven and Bühlmann 2012).

    Holes start as mean or mode. Then each column with holes, from few holes to many, is predicted
    by a random forest that is grown on the rows where it is observed; one such round is a pass.
    When the difference between two passes rises for numbers and for categories alike,

    Δ_num = Σ (new − old)² / Σ new²,  Δ_cat = changed holes / holes,

    the table before the last pass is the result.

    Forests see a category by its code, so a split separates codes below from codes above; ordered
    levels are predicted as ranks and rounded. As in R's randomForest, a forest tries √p columns at
    a split and categories win by the votes of whole trees. ``transform`` fills each row on its
    own with the forests of the last pass, starting from mean and mode: one row as in a batch. The
    order of the rows in ``fit`` does not matter.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees in a forest.
    max_iter : int, default=10
        Most passes.
    max_features : int, optional
        Columns that are tried at a split; √p by default.
    verbose : int, default=0
        0 is silent. With 1, each pass is reported on stderr.

    Attributes
    ----------
    oob_error_ : dict of str to float
        Out-of-bag estimate of the imputation error over the columns with holes: ``"NRMSE"`` of
        numbers, √(mean of the columns' mean square errors / variance of their observed cells),
        and ``"PFC"``, the share of wrong categories; as in R's missForest. It is too small where
        rows have several holes, since a fill that helps to predict a cell has seen that cell.
    oob_errors_ : dict of str to float
        The same for each column with holes: root mean square error in its units, or PFC.
    history_ : list of dict
        The differences of each pass, ``"numeric"`` and ``"categorical"``.
    n_iter_, converged_ : int, bool
        Passes made, and whether the differences rose before ``max_iter``.

    Examples
    --------
    >>> X = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, np.nan], [4.0, 8.2], [np.nan, 10.1]])
    >>> filled = MissForestImputer(n_estimators=10).fit_transform(X)
    >>> bool(2.1 <= filled[2, 1] <= 10.1)
    True
    """

    n_estimators: int = parameter(default=100, check=check_whole, kw_only=False)
    max_iter: int = parameter(default=10, check=check_whole)
    max_features: int | None = None
    n_jobs: int | None = None
    random_state: Any = 0

    history_: list[dict[str, float]] = learned(empty=[])
    n_iter_: int = learned(empty=1)
    converged_: bool = learned(empty=True)
    oob_error_: dict[str, float] = learned(empty={})
    oob_errors_: dict[str, float] = learned(empty={})
    _fitted: missforest.FittedForests = learned()

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        fitted = missforest.run_forests(
            table, self._record(missforest.ForestSettings), self._report
        )
        self._fitted = fitted
        self.history_ = list(fitted.history)
        self.n_iter_ = max(len(fitted.history), 1)
        self.converged_ = fitted.converged
        errors = fitted.oob_errors
        self.oob_error_ = overall_error(fitted.table, errors)
        self.oob_errors_ = {table.columns[j].name: error for j, error in errors.items()}
        return fitted.filled

    def _fill_table(self, table: Table) -> Floats:
        return missforest.fill_by_forests(self._fitted, table)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.max_features is not None:
            check_whole("max_features", self.max_features)
