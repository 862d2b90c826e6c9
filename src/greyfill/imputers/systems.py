"""The other systems of the literature: what they share, opt.impute, and fuzzy clusters."""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from greyfill._chained.design import row_order
from greyfill._chained.hidden_cells import best_on_hidden
from greyfill._neighbors.distance import Heom
from greyfill._neighbors.engine import RecipeSettings, run_recipe
from greyfill._neighbors.new_rows import FittedRecipe, fill_new_rows
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Descent
from greyfill._neighbors.start import column_centers
from greyfill._systems.column_models import Cart, ColumnModels, GreyRidge, Machine, run_models
from greyfill._systems.prototypes import Clusters, fit_clusters
from greyfill.checks import check_number, check_whole, sure_seed
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.estimator import learned, parameter
from greyfill.imputers.family import NeighborFamily
from greyfill.table import Bools, Floats, Ints, Table

LEARNERS: dict[str, Any] = {"knn": None, "svm": Machine(), "tree": Cart()}
"""What opt.cv chooses from."""

SIZES, FUZZINESS = (2, 3, 5, 8, 12, 20), (1.2, 1.5, 2.0)
"""Clusters and m that are tried on hidden cells where nothing is set."""

check_fuzziness = partial(check_number, least=1.0, most=10.0, is_open=True)


class SystemImputer(BaseImputer):
    """What the systems share: ranks of ordered levels are numbers, of which fills are rounded."""

    random_state: Any = 0

    _centers: Floats = learned()
    _usable: Bools = learned()

    _optional = (*BaseImputer._optional, "_centers", "_usable")
    _keeps_order = False
    """Whether rows are learned from as they come; else in an order of their content."""

    @property
    def _needs_labels(self) -> bool:
        return getattr(self, "labels", "none") != "none"

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from rows whose columns all have a value; return them without holes."""
        raise NotImplementedError

    def _fill_rows(self, table: Table) -> Floats:
        """New rows without holes."""
        return super()._fill_table(table)

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from the rows that have a label where labels are used, else from all rows."""
        self._fit_nothing()
        used = labels if self._needs_labels else None
        rows = np.arange(table.n_rows) if used is None else np.flatnonzero(used >= 0)
        if len(rows) == 0:
            raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
        self._centers = column_centers(table)
        self._usable = np.asarray(~table.missing[rows].all(axis=0)) & table.predicts
        filled = np.where(table.missing, self._centers, table.values)
        part = table.select(self._usable)
        if self._usable.any():
            order = rows if self._keeps_order else rows[row_order(part.rows(rows))]
            learned = self._learn_rows(part.rows(order), None if used is None else used[order])
            filled[np.ix_(order, self._usable)] = learned
        other = np.setdiff1d(np.arange(table.n_rows), rows)
        if len(other):
            filled[other] = self._fill_table(table.rows(other))
        return np.where(table.missing, filled, table.values)

    def _fill_table(self, table: Table) -> Floats:
        filled = np.where(table.missing, self._centers, table.values)
        if self._usable.any() and table.missing.any():
            filled[:, self._usable] = self._fill_rows(table.select(self._usable))
        return np.where(table.missing, filled, table.values)


class IterativeSystem(SystemImputer):
    """A system that lowers a loss step by step.

    Parameters
    ----------
    max_iter : int, default=100
        Most steps, passes or epochs, of each start if there are several.

    Attributes
    ----------
    n_iter_, history_ : int, list of float
        How many there were from the start that was kept, and the loss in each.
    """

    max_iter: int = parameter(default=100, check=check_whole)

    n_iter_: int = learned(empty=1)
    history_: list[float] = learned(empty=[])

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        filled = super()._fit_table(table, labels)
        self.n_iter_ = max(len(self.history_), 1)
        return filled


class OptKNNImputer(NeighborFamily):
    """opt.knn (Bertsimas, Pawlowski and Zhuo 2018): fills and neighbors that fit each other best.

    c = Σ_i Σ_j z_ij [Σ_d (w_id − w_jd)² + Σ_d 1(v_id ≠ v_jd)],  Σ_j z_ij = K

    over incomplete rows i falls in every step: neighbors anew, then for all holes at once

    w_id = (Σ_j z_ij w_jd + Σ_j z_ji w_jd) / (K + Σ_j z_ji),

    the mean of the row's neighbors *and of the rows that chose it*; one sparse system a column,
    categories by votes in turn. The descent begins twice, at mean and mode and at a fill by the
    nearest neighbors, and the lower end is kept. There are no random starts, so that the order of
    the rows does not matter. A new row is chosen by nobody: ``transform`` takes the mean of its
    own neighbors, searched again until it is stable. ``history_`` has c after each step. With very
    few neighbors, rows whose holes complement each other may choose each other and agree on
    anything: c is then 0, and the fills are worth nothing.

    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [5.2, 8.2], [5.1, 7.9]])
    >>> OptKNNImputer(n_neighbors=2).fit_transform(X)[1, 1].round(2)
    np.float64(2.1)
    """

    def _recipe(self) -> Recipe:
        return Recipe.plain(Heom("filled"), Descent(self.tol, self.max_iter)).checked()


class ModelFamily(IterativeSystem):
    """What the systems of one model a column share: passes, and their losses.

    Parameters
    ----------
    tol : float, default=1e-3
        Share of the loss that a pass must take away.
    """

    max_iter: int = 5
    tol: float = parameter(default=1e-3, check=check_number)

    _fitted: ColumnModels = learned()

    _learns: ClassVar[Any] = Machine

    def _learner(self) -> Any:
        """How a column is learned."""
        return self._record(self._learns)

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        filled, self._fitted, self.history_ = self._run(table, self._learner())
        return filled

    def _run(self, table: Table, learner: Any) -> tuple[Floats, Any, list[float]]:
        """The filled table, what filled it, and the losses."""
        how = sure_seed(self.random_state), self.max_iter, self.tol, self._report
        fitted, history = run_models(table, learner, *how)
        return fitted.values, fitted, history


class OptSVMImputer(ModelFamily):
    """opt.svm (Bertsimas, Pawlowski and Zhuo 2018): a support vector machine for each column.

    Machines (scikit-learn's SVR and SVC with a radial kernel) are fitted on the rows that know
    their column, and the holes set to what they say; again while the loss on observed cells,
    squared errors and wrong levels, falls by more than ``tol`` of it. From mean and mode and
    from a fill by neighbors; the fills of least loss are kept. Numbers are scaled to [0, 1],
    categories are indicators. A machine learns from at most 2,000 rows and chooses among the 20
    most frequent levels. A saved file holds the filled table, from which machines are fitted again.

    Parameters
    ----------
    penalty : float, default=1.0
        C of the machines.
    epsilon : float, default=0.05
        Errors of a number below this share of its range cost nothing.

    >>> X = np.column_stack([np.linspace(0, 1, 30)] * 2)
    >>> X[7, 1] = np.nan
    >>> bool(abs(OptSVMImputer().fit_transform(X)[7, 1] - X[7, 0]) < 0.1)
    True
    """

    penalty: float = parameter(default=1.0, check=check_number, is_open=True, kw_only=False)
    epsilon: float = parameter(default=0.05, check=check_number, is_open=True)


class OptTreeImputer(ModelFamily):
    """opt.tree (Bertsimas, Pawlowski and Zhuo 2018): a tree for each column, leaf mean or mode.

    As `OptSVMImputer`, with scikit-learn's classification and regression trees. They are greedy
    trees: the optimal trees of the authors are not free software.

    Parameters
    ----------
    min_leaf : int, default=5
        Rows that a leaf has at least.

    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.0], [5.0, 8.0], [np.nan, 8.0], [5.0, 8.0]])
    >>> OptTreeImputer(min_leaf=1).fit_transform(X)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    min_leaf: int = parameter(default=5, check=check_whole, kw_only=False)
    max_iter: int = 10

    _learns = Cart


class OptImputer(ModelFamily):
    """opt.cv (Bertsimas, Pawlowski and Zhuo 2018): the best of opt.knn, opt.svm and opt.tree.

    A tenth of the known cells is hidden; the candidate that restores them with the least mean
    squared error (numbers on [0, 1], a wrong level counts 1) fills the table.

    Attributes
    ----------
    method_ : "knn", "svm" or "tree"
        The candidate that was taken.
    errors_ : dict of str to float
        The error of each candidate; empty where there was nothing to hide.

    >>> X = np.column_stack([np.linspace(0, 1, 30)] * 2)
    >>> X[7, 1] = np.nan
    >>> imputer = OptImputer().fit(X)
    >>> imputer.method_ in imputer.errors_
    True
    """

    method_: str = learned(empty="knn")
    errors_: dict[str, float] = learned(empty={})
    _fitted: FittedRecipe | ColumnModels = learned()  # type: ignore[assignment]

    _bytes_per_cell = 120

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        seed, trial = sure_seed(self.random_state), lambda t, name: self._run(t, LEARNERS[name])[0]
        self.method_, self.errors_ = best_on_hidden(table, seed, tuple(LEARNERS), trial)
        errors = ", ".join(f"{name}: error {error:.4g}" for name, error in self.errors_.items())
        self._report(f"{self.method_} is taken; {errors}")
        return super()._learn_rows(table, labels)

    def _learner(self) -> Any:
        return LEARNERS[self.method_]

    def _run(self, table: Table, learner: Any) -> tuple[Floats, Any, list[float]]:
        if learner is not None:
            return super()._run(table, learner)
        settings = RecipeSettings(n_neighbors="masked", report=self._report)
        recipe = Recipe.plain(Heom("filled"), Descent(self.tol, self.max_iter))
        filled, neighbors = run_recipe(recipe, table, None, settings)
        return filled, neighbors, list(neighbors.trace.history)

    def _fill_rows(self, table: Table) -> Floats:
        if isinstance(self._fitted, FittedRecipe):
            return fill_new_rows(self._fitted, table, None)
        return self._fitted.fill(table)


class FuzzyKMeansImputer(IterativeSystem):
    """Fuzzy k-means imputation (Li et al. 2004), on partial distances (Hathaway and Bezdek 2001).

    d²_ik = p / |o_i| · Σ_{j ∈ o_i} (x_ij − v_kj)²,  u_ik = d_ik^(−2/(m−1)) / Σ_l d_il^(−2/(m−1))

    Centers are the means of observed cells by u^m p / |o_i|; both steps lower Σ u^m d², which never
    rises. A hole becomes Σ_k u^m v_kj / Σ_k u^m, the optimal completion. Numbers are scaled to
    [0, 1], a category is an indicator for each level at squared distance 1 from the others, and the
    largest wins. The class plays no part. Of several starts the lowest objective is kept.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        How many. "auto": of 2, 3, 5, 8, 12, 20 what best restores a tenth of the cells, hidden.
    fuzziness : float or "auto", default="auto"
        m > 1; near 1 a row belongs to one cluster. "auto": of 1.2, 1.5 and 2, likewise.
    n_init : int, default=3
        Starts.
    tol : float, default=1e-5
        Share of the objective that a step must take away.

    Attributes
    ----------
    n_clusters_, fuzziness_ : int, float
        What was used.
    errors_ : dict of (int, float) to float
        Mean squared error of the hidden cells for each pair that was tried.

    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 2.0], [5.0, 8.0], [np.nan, 8.0], [5.0, 8.0]])
    >>> FuzzyKMeansImputer(n_clusters=2).fit_transform(X)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    n_clusters: int | str = parameter(default="auto", check=check_whole, auto=True, kw_only=False)
    fuzziness: float | str = parameter(default="auto", check=check_fuzziness, auto=True)
    n_init: int = parameter(default=3, check=check_whole)
    tol: float = parameter(default=1e-5, check=check_number, is_open=True)

    n_clusters_: int = learned(empty=SIZES[0])
    fuzziness_: float = learned(empty=FUZZINESS[0])
    errors_: dict[tuple[int, float], float] = learned(empty={})
    _fitted: Clusters = learned()

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        seed = sure_seed(self.random_state)
        sizes = SIZES if isinstance(self.n_clusters, str) else (min(self.n_clusters, table.n_rows),)
        fuzzy = FUZZINESS if isinstance(self.fuzziness, str) else (float(self.fuzziness),)
        pairs = [(k, m) for k in sizes if k <= table.n_rows for m in fuzzy] or [(1, fuzzy[0])]

        def fit(part: Table, pair: tuple[int, float], *how: Any) -> tuple[Clusters, list[float]]:
            return fit_clusters(part, *pair, np.random.default_rng(seed), self.max_iter, *how)

        trial = lambda part, pair: fit(part, pair, 1, 1e-3)[0].fill(part)  # noqa: E731
        best, self.errors_ = best_on_hidden(table, seed, pairs, trial)
        self.n_clusters_, self.fuzziness_ = best
        self._report(f"{self.n_clusters_} clusters, fuzziness {self.fuzziness_}")
        self._fitted, self.history_ = fit(table, best, self.n_init, self.tol)
        return self._fitted.fill(table)


class GreyFuzzyImputer(ModelFamily):
    """Grey fuzzy c-means with mutual information (after Sefidian and Daneshpour 2019).

    Rows belong to clusters by d = 1 − GRG, one minus the grey relational grade to the center; in
    each cluster a column is predicted by a ridge regression, in which a row weighs as much as it
    belongs, on the columns whose mutual information with it, in up to 400 rows, is above what
    chance gives (5 permutations); a hole becomes Σ_k u_k (β_k0 + β_k x). Clusters are found
    without the column that is predicted. Again while the loss on observed cells falls, from mean
    and mode and from a fill by neighbors. Numbers are scaled to [0, 1]; categories are indicators,
    the largest wins. The paper's own choice of clusters, by their size and number, is not
    followed: k and m are parameters here.

    Parameters
    ----------
    n_clusters : int, default=3
        How many.
    fuzziness : float, default=1.5
        m > 1; near 1 a row belongs to one cluster.
    rho : float, default=0.5
        The distinguishing coefficient ρ of the grades, in (0, 1].
    ridge : float, default=1.0
        Penalty of the slopes.

    >>> X = np.column_stack([np.linspace(0, 1, 30)] * 2)
    >>> X[7, 1] = np.nan
    >>> bool(abs(GreyFuzzyImputer().fit_transform(X)[7, 1] - X[7, 0]) < 0.1)
    True
    """

    n_clusters: int = parameter(default=3, check=check_whole, kw_only=False)
    fuzziness: float = parameter(default=1.5, check=check_fuzziness)
    rho: float = parameter(default=0.5, check=check_number, most=1.0, is_open=True)
    ridge: float = parameter(default=1.0, check=check_number, is_open=True)

    _learns = GreyRidge
