"""What all methods of the neighbor family share; each of them adds a recipe."""

from abc import abstractmethod
from dataclasses import field
from typing import Any

import numpy as np

from greyfill import frames
from greyfill._neighbors.engine import RecipeSettings, run_recipe
from greyfill._neighbors.k_selection import K_RULES
from greyfill._neighbors.new_rows import UNLABELED_RULES, FittedRecipe, fill_new_rows
from greyfill._neighbors.provenance import donors_of
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import UntilStable
from greyfill.checks import (
    check_choice,
    check_fitted,
    check_whole,
    is_whole,
    refuse_beyond,
    seed_of,
)
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.estimator import learned
from greyfill.table import Floats, Ints, Table
from greyfill.targets import encode_labels

BYTES_PER_LINK = 32
"""Memory of one donor of one row: which, how far, and its two weights."""


class NeighborFamily(BaseImputer):
    """What all neighbor imputers share.

    Parameters
    ----------
    n_neighbors : int, "auto", "cv", "cv_smallest" or "masked", default="auto"
        How many donors fill a hole. "cv": the k that classifies y best in ten folds, as in the
        paper; of equally good ones the largest, or with "cv_smallest" the smallest. "masked": the
        k that best restores known cells which are hidden for the purpose. "auto": "cv" when y has
        classes and labels="donors" or "cross", else "masked". A pool with fewer rows gives what it
        has.
    labels : "donors", "cross", "weights" or "none", default="donors"
        What labels may do. "donors": all that the method does with them (donors and start fill
        within the class, column weights), as in the papers. "cross": the same, but in the end each
        training row is filled like a new one, so that none sees its own label; then its fills may
        teach a classifier. "weights": they only weigh the columns. "none": nothing.
    unlabeled : "soft" or "all", default="soft"
        How a row without a label is filled by a class-wise method. "soft": the fills of all
        classes, mixed by the row's class probabilities. "all": from donors of all classes.
    max_iter : int, default=100
        The largest number of passes; methods that fill once ignore it.
    tol : float, default=1e-4
        Passes end when no cell moves by this much on the [0, 1] scale.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered: their ranks are averaged and rounded to a level.
    max_donors : int, optional
        Let only a seeded sample of so many rows of each class give: an approximation for tables
        that are too large for all. None means every row.
    n_jobs : int, optional
        Threads that search for donors; None means one, −1 all cores.
    random_state : int, RandomState or None, default=0
        Seed of the folds or hidden cells by which k is chosen.
    verbose : int, default=0
        0 is silent. With 1, stderr shows the k that was chosen, each pass, and every two seconds
        how far a long search for donors is.

    Attributes
    ----------
    n_neighbors_ : int
        The k in use.
    k_scores_ : dict of int to float
        The error of every k that was tried; empty for a fixed k.
    feature_weights_ : array of shape (n_features,) or (n_targets, n_features)
        The weights λ of the columns in the distance; where each target column has weights of its
        own, one row for each column in ``weighted_columns_``.
    n_iter_, history_, converged_ : int, list of float, bool
        Number of passes, the largest change in each, and whether the last was below ``tol``.
    cell_spreads_ : tuple of three arrays
        Rows, columns and spreads of the filled training cells: how much their donors disagree, as
        weighted standard deviation on the [0, 1] scale, or one minus the winner's share of votes.
    fallback_counts_ : dict of str to int
        Training cells that could not be filled by the rule: ``class_too_small`` (donors from all
        classes), ``class_without_value`` (started from all classes), ``row_without_match`` and
        ``no_donor`` (kept the start fill).
    """

    n_neighbors: int | str = field(default="auto", kw_only=False)
    labels: str = "donors"
    unlabeled: str = "soft"
    max_iter: int = 100
    tol: float = 1e-4
    max_donors: int | None = None
    n_jobs: int | None = None
    random_state: Any = 0

    n_neighbors_: int = learned()
    k_scores_: dict[int, float] = learned()
    history_: list[float] = learned()
    n_iter_: int = learned()
    converged_: bool = learned()
    fallback_counts_: dict[str, int] = learned()
    cell_spreads_: tuple[Ints, Ints, Floats] = learned()
    feature_weights_: Floats = learned()
    weighted_columns_: Ints = learned()
    _fitted: FittedRecipe = learned()

    _optional = (*BaseImputer._optional, "weighted_columns_")

    @abstractmethod
    def _recipe(self) -> Recipe:
        """The six parts of the method."""

    def _passes(self) -> UntilStable:
        return UntilStable(self.tol, self.max_iter)

    @property
    def _needs_labels(self) -> bool:
        try:
            return self._heeding_recipe().uses_labels
        except InvalidParameterError:  # fit will say what is wrong; a repr must not
            return False

    @property
    def _sees_own_labels(self) -> bool:
        return self.labels == "donors" and self._recipe().splits_by_label

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        recipe, settings = self._heeding_recipe(), self._settings()
        _refuse_too_many_links(table, settings)
        heeded = None if self.labels == "none" else labels
        values, fitted = run_recipe(recipe, table, heeded, settings)
        self._remember(fitted)
        return values

    def _heeding_recipe(self) -> Recipe:
        """The recipe with labels used as the user allows."""
        return self._recipe().restrict_labels(self.labels)

    def _remember(self, fitted: FittedRecipe) -> None:
        """Set the fitted attributes."""
        self._fitted = fitted
        self.n_neighbors_ = fitted.n_neighbors
        self.k_scores_ = fitted.k_scores
        self.history_ = list(fitted.trace.history)
        self.n_iter_ = max(len(self.history_), 1)
        self.converged_ = fitted.trace.converged
        self.fallback_counts_ = {name: n for name, n in fitted.fallbacks.items() if n}
        rows, columns, spread = fitted.spreads
        self.cell_spreads_ = rows, np.flatnonzero(self._kept)[columns], spread
        self.feature_weights_ = np.zeros((len(fitted.weights), len(self._kept)))
        self.feature_weights_[:, self._kept] = fitted.weights
        if fitted.recipe.weights.by_target:
            self.weighted_columns_ = np.flatnonzero(self._kept)[fitted.targets]
        else:
            self.feature_weights_ = self.feature_weights_[0]

    def _fit_nothing(self) -> None:
        n_neighbors = self._settings().n_neighbors
        self.n_neighbors_ = 1 if isinstance(n_neighbors, str) else int(n_neighbors)
        self.k_scores_, self.fallback_counts_, self.history_ = {}, {}, []
        self.n_iter_, self.converged_ = 1, True
        nowhere = np.zeros(0, dtype=np.intp)
        self.cell_spreads_ = nowhere, nowhere, np.zeros(0)
        self.feature_weights_ = np.zeros(len(self._kept))

    def donors_of(self, row: Any, column: int | str) -> dict[str, Any]:
        """Who gave to a filled cell of the training table.

        Parameters
        ----------
        row : int or label
            Row number in the table that ``fit`` got; or, unless it is a whole number, the label of
            the row in the index of the pandas table that ``fit_transform`` filled.
        column : int or str
            Column number or name.

        Returns
        -------
        dict
            Equally long ``rows``, ``distances``, ``values`` and ``weights``, nearest donor first.
            Values are those of the column: numbers, levels, dates.
        """
        check_fitted(self)
        row = self._row_number(row)
        j, place = self._find_cell(row, column)
        found = donors_of(self._fitted, row, place)
        return {
            "rows": found.rows.tolist(),
            "distances": found.distances.tolist(),
            "values": frames.cell_values(found.values, self._schema.fields[j]),
            "weights": found.weights.tolist(),
        }

    def _fill_table(self, table: Table) -> Floats:
        return fill_new_rows(self._fitted, table, self.n_jobs)

    def _fill_labeled(self, table: Table, y: Any, classes: tuple[Any, ...]) -> Floats:
        if y is None or not self._sees_own_labels:
            return self._fill_table(table)
        codes, found = encode_labels(y)
        places = [*(classes.index(label) for label in found), -1]
        return fill_new_rows(self._fitted, table, self.n_jobs, np.array(places)[codes])

    def _settings(self) -> RecipeSettings:
        n_neighbors = self.n_neighbors
        if not isinstance(n_neighbors, str) and not is_whole(n_neighbors):
            raise InvalidParameterError(
                f"n_neighbors must be a positive integer or one of {K_RULES}, not {n_neighbors!r}"
            )
        check_choice("unlabeled", self.unlabeled, UNLABELED_RULES)
        if self.max_donors is not None:
            check_whole("max_donors", self.max_donors, otherwise=", or None for all rows")
        if n_neighbors == "auto" and self.labels not in ("donors", "cross"):
            n_neighbors = "masked"
        return RecipeSettings(
            n_neighbors=n_neighbors,
            unlabeled=self.unlabeled,
            n_jobs=self.n_jobs,
            random_state=seed_of(self.random_state),
            max_donors=self.max_donors,
            crosses=self.labels == "cross" and self._recipe().splits_by_label,
            report=self._report,
        )


def _refuse_too_many_links(table: Table, settings: RecipeSettings) -> None:
    """Refuse more donors of more incomplete rows than fit in memory, where k is known."""
    if not isinstance(settings.n_neighbors, str):
        incomplete = int(table.missing.any(axis=1).sum())
        donors = min(settings.n_neighbors, settings.max_donors or table.n_rows, table.n_rows)
        refuse_beyond(
            incomplete * donors * BYTES_PER_LINK,
            f"Keeping {donors:,} donors of each of {incomplete:,} incomplete rows",
            "Choose a smaller n_neighbors, or fit on a sample of the rows.",
        )
