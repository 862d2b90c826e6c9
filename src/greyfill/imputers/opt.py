"""opt.impute: fills and models together, by descent on one objective (Bertsimas et al. 2018)."""

from abc import abstractmethod
from typing import Any

from greyfill._neighbors.distance import Heom
from greyfill._neighbors.engine import RecipeSettings, run_recipe
from greyfill._neighbors.new_rows import FittedRecipe, fill_new_rows
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Descent
from greyfill._systems.column_models import Cart, ColumnModels, Machine, plain_recipe, run_models
from greyfill._systems.fuzzy import best_on_hidden
from greyfill.checks import check_number, check_whole
from greyfill.imputers.estimator import learned, parameter
from greyfill.imputers.family import NeighborFamily
from greyfill.imputers.systems import IterativeSystem
from greyfill.table import Floats, Ints, Table


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

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [5.2, 8.2], [5.1, 7.9]])
    >>> OptKNNImputer(n_neighbors=2).fit_transform(X)[1, 1].round(2)
    np.float64(2.1)
    """

    def _recipe(self) -> Recipe:
        return plain_recipe(Heom("filled"), Descent(self.tol, self.max_iter)).checked()


class ModelFamily(IterativeSystem):
    """What the systems of one model a column share: passes, and their losses.

    Parameters
    ----------
    max_iter : int, default=5
        Most passes of each start.
    tol : float, default=1e-3
        Share of the loss that a pass must take away.

    Attributes
    ----------
    n_iter_, history_ : int, list of float
        Passes of the start that was kept, and the loss in each.
    """

    max_iter: int = 5
    tol: float = parameter(default=1e-3, check=check_number)

    _fitted: ColumnModels = learned()

    @abstractmethod
    def _learner(self) -> Any:
        """How a column is learned."""

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        filled, self._fitted, self.history_ = self._run(table, self._learner())
        self.n_iter_ = max(len(self.history_), 1)
        return filled

    def _run(self, table: Table, learner: Any) -> tuple[Floats, Any, list[float]]:
        """The filled table, what filled it, and the losses."""
        how: Any = {"max_iter": self.max_iter, "tol": self.tol, "report": self._report}
        fitted, history = run_models(table, learner, seed=self._seed(), **how)
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

    >>> import numpy as np
    >>> x = np.linspace(0, 1, 30)
    >>> X = np.column_stack([x, 1 - x])
    >>> X[7, 1] = np.nan
    >>> bool(abs(OptSVMImputer().fit_transform(X)[7, 1] - (1 - x[7])) < 0.1)
    True
    """

    penalty: float = parameter(default=1.0, check=check_number, is_open=True, kw_only=False)
    epsilon: float = parameter(default=0.05, check=check_number, is_open=True)

    def _learner(self) -> Any:
        return Machine(float(self.penalty), float(self.epsilon))


class OptTreeImputer(ModelFamily):
    """opt.tree (Bertsimas, Pawlowski and Zhuo 2018): a tree for each column, leaf mean or mode.

    As `OptSVMImputer`, with scikit-learn's classification and regression trees. They are greedy
    trees: the optimal trees of the authors are not free software.

    Parameters
    ----------
    min_leaf : int, default=5
        Rows that a leaf has at least.
    max_iter : int, default=10
        Most passes of each start.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.0], [5.0, 8.0], [np.nan, 8.0], [5.0, 8.0]])
    >>> OptTreeImputer(min_leaf=1).fit_transform(X)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    min_leaf: int = parameter(default=5, check=check_whole, kw_only=False)
    max_iter: int = 10

    def _learner(self) -> Any:
        return Cart(int(self.min_leaf))


LEARNERS: dict[str, Any] = {"knn": None, "svm": Machine(), "tree": Cart()}


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

    >>> import numpy as np
    >>> x = np.linspace(0, 1, 30)
    >>> X = np.column_stack([x, 1 - x])
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
        self.method_, self.errors_ = best_on_hidden(
            table, self._seed(), tuple(LEARNERS), lambda t, name: self._run(t, LEARNERS[name])[0]
        )
        errors = ", ".join(f"{name}: error {error:.4g}" for name, error in self.errors_.items())
        self._report(f"{self.method_} is taken; {errors}")
        return super()._learn_rows(table, labels)

    def _learner(self) -> Any:
        return LEARNERS[self.method_]

    def _run(self, table: Table, learner: Any) -> tuple[Floats, Any, list[float]]:
        if learner is not None:
            return super()._run(table, learner)
        settings = RecipeSettings(n_neighbors="masked", report=self._report)
        recipe = plain_recipe(Heom("filled"), Descent(self.tol, self.max_iter))
        filled, neighbors = run_recipe(recipe, table, None, settings)
        return filled, neighbors, list(neighbors.trace.history)

    def _fill_rows(self, table: Table) -> Floats:
        if isinstance(self._fitted, FittedRecipe):
            return fill_new_rows(self._fitted, table, None)
        return self._fitted.fill(table)
