"""The self-tuning grey imputer."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from greyfill._grey.cross_fit import fill_training_rows
from greyfill._grey.grey_engine import fill_new_rows, fit_imputer
from greyfill._grey.passes import GreySettings
from greyfill.blas import one_blas_thread
from greyfill.checks import (
    check_choice,
    check_number,
    check_seconds,
    check_whole,
    whole_seed,
)
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.confidence import ConfidenceMixin
from greyfill.imputers.estimator import learned, root_error
from greyfill.progress import metered
from greyfill.table import Floats, Ints, Table
from greyfill.targets import Meaning, read_target

LABELS = ("cross", "own", "donors", "none")
"""What y may do; "donors" is an earlier name of "own"."""


class GreyImputer(ConfidenceMixin):
    """Grey neighbors that tune themselves, for each column with holes on its own.

    A column is predicted from the rows that have it, over what a row itself has observed. Columns
    count by their null-corrected information about the target within the class; donors are the
    nearest rows by grey relational distance, of the same class or of all with the class as one
    more column; their values are averaged or joined by a ridge regression, which becomes the
    weighted mean as its penalty grows:

    x̂ = Σ_i c_i x_i,  c_i = ω_i (1 + z'(Σ_l ω_l z_l z_l' + α I)⁻¹ z_i),  Σ_i c_i = 1

    Weights, scope, k, kernel ω and penalty α are compared on left-out observed cells. The best of
    each family that is not worse than the best by two standard errors joins a panel, whose
    predictions are averaged; in tables of more than 5 000 rows the cheapest within one standard
    error serves alone. Two passes over the columns, fewest holes first, come before this choice, so
    that it is made on a filled table: by a ridge, and by early panels, which few cells chose, or
    without them where no row may see its own y. Columns without holes are tuned on 40 cells, for
    new rows; in tables of more than 25 columns or 20 000 cells a fixed panel fills them. Nothing is
    tuned after ``fit``.

    Parameters
    ----------
    labels : "cross", "own" or "none", default="cross"
        What classes, or a continuous y, may do. "cross": they teach weights, panels and class
        probabilities, and no row sees its own: ``fit_transform`` fills a training row as
        ``transform`` would a new one, by what all other rows tell. "own": a training row is filled
        with the help of its own label too. These fills have the least error, but a classifier that
        they teach trusts them too much. "none" never looks at y. "donors" is an earlier name of
        "own". In all three, ``transform`` knows no label; it mixes the fills of the classes by
        their probabilities. Numbers count as continuous if they are fractions, or if there are
        more than 20 of them with fewer than 10 rows each on average.
    n_cells : int, default=250
        Observed cells of each column on which candidates are compared.
    max_iter : int, default=3
        The largest number of passes over the columns: a plain one, one by early panels (not if
        only two are allowed, nor in tables of more than 5 000 rows), then those with panels. With y
        and labels="cross" two plain ones, without y, fill the donors.
    tol : float, default=1e-4
        Passes end when no cell moves by this much on the [0, 1] scale.
    max_donors : int, optional
        Learn from a seeded sample of at most so many rows of each class; all other rows are filled,
        too, with the help of their label if labels="own".
    time_budget : float, optional
        Seconds that ``fit`` may take, about. Kinds of candidates are tried while there is time, the
        most promising first; ``selection_`` tells what was left out. The result depends on the
        speed of the machine then.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered: their ranks are averaged and rounded to a level.
    n_jobs : int, optional
        Threads; None means one, −1 all cores.
    random_state : int, RandomState or None, default=0
        Seed of the left-out cells and of the permutations.
    progress : function, optional
        Called with a `greyfill.progress.Progress` while ``fit`` works. It is not saved, and a copy
        of the imputer (``clone``) copies it, so a plain function serves best.
    verbose : int, default=0
        With 1, each pass is reported on stderr, and a bar is shown in terminals and notebooks.

    Attributes
    ----------
    selection_ : dict of str to dict
        For each column with holes: the ``panel`` in words, its root mean squared ``error`` on
        left-out cells in ``unit`` (that of the column; days of dates, seconds of times, ranks of
        ordered levels; for categories of the probabilities, the root of the Brier score), and the
        error of every candidate (``tried``; of those that left early, on the first
        cells alone). With ``time_budget``, kinds of candidates without a trial (``left_out``).
    weighted_columns_, feature_weights_ : array, array of shape (target, column)
        The columns with holes, and how much every other column counts for each of them.
    cell_spreads_ : tuple of three arrays
        Rows, columns and spreads of the filled training cells: the root mean squared error on
        left-out cells of the column on the [0, 1] scale, joined with what the fills of the classes
        differ where the class is not known, or one minus the probability of the level.
    trust_ : Trust
        For each column with holes, the worst first: the share of the spread that its fills explain
        beyond the mean (of the errors that they avoid beyond the mode), the usual error in
        ``unit``, and a word, from observed cells that are held out and filled as the holes were.
        ``trust_["age"].word``; ``trust_.rows`` for a frame. Computed when it is first read.
    log_loss_ : float
        Mean log loss, on left-out rows, of the class probabilities by which rows without a label
        are filled; NaN without classes.
    n_iter_, history_, converged_ : int, list of float, bool or None
        Number of passes, the largest change in each, and whether the last was below ``tol``; None
        if none repeated the panels of another (``max_iter`` up to 3, or 2 in tables of more than
        5 000 rows; or labels="cross").
    fallback_counts_ : dict of str to int
        ``row_without_value``: training cells in rows without any observed value, which get what is
        usual in the column.

    Examples
    --------
    >>> import numpy as np
    >>> from greyfill import GreyImputer
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=60)
    >>> X = np.column_stack([x, 2 * x + 1])
    >>> X[0, 1] = np.nan
    >>> imputer = GreyImputer()
    >>> bool(abs(imputer.fit_transform(X)[0, 1] - (2 * x[0] + 1)) < 0.1)
    True
    """

    labels: str = "cross"
    n_cells: int = 250
    max_iter: int = 3
    tol: float = 1e-4
    max_donors: int | None = None
    time_budget: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    progress: Any = None

    history_: list[float] = learned()
    n_iter_: int = learned()
    converged_: bool | None = learned()
    cell_spreads_: tuple[Ints, Ints, Floats] = learned()
    weighted_columns_: Ints = learned()
    feature_weights_: Floats = learned()
    selection_: dict[str, Any] = learned()
    fallback_counts_: dict[str, int] = learned()

    _optional = (*BaseImputer._optional, "fallback_counts_")

    @property
    def _sees_own_labels(self) -> bool:
        return self.labels in ("own", "donors")

    _unsaved = (*BaseImputer._unsaved, "_response", "progress")

    def _encode_labels(self, y: Any, n_rows: int) -> Ints | None:
        """Class codes; a continuous y is kept beside them, as numbers."""
        self._response, self._response_range = None, None
        self._classes = ()
        check_choice("labels", self.labels, LABELS)
        if y is None or self.labels == "none":
            return None
        target = read_target(y)
        self._refuse_other_rows(n_rows, len(target.codes))
        if target.meaning is Meaning.RESPONSE:
            self._response = target.response
            self._response_range = float(target.classes[0]), float(target.classes[-1])
            return None
        self._classes = target.classes
        return target.codes

    @one_blas_thread()
    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        told = self.progress, self._progress
        with metered(type(self).__name__, *told, verbose=self.verbose) as meter:
            settings = replace(self._settings(), meter=meter)
            values, fitted = fit_imputer(table, labels, self._response, settings)
            if fitted.crosses:
                values, fitted = fill_training_rows(fitted, table, values, settings)
        self._fitted = fitted
        self.history_ = list(fitted.history)
        self.n_iter_ = max(len(self.history_), 1)
        self.converged_ = fitted.converged
        empty = int(table.missing.all(axis=1).sum()) * table.n_columns
        self.fallback_counts_ = {"row_without_value": empty} if empty else {}
        rows, columns, spread = fitted.spreads
        kept = np.flatnonzero(self._kept)
        self.cell_spreads_ = rows, kept[columns], spread
        targets = [j for j in sorted(fitted.donors.targets) if j < len(kept)]
        self.weighted_columns_ = kept[targets]
        self.feature_weights_ = np.zeros((len(targets), len(self._kept)))
        self.selection_ = {}
        for place, j in enumerate(targets):
            choice = fitted.choices[j]
            weights = choice.weights.get("pair", choice.weights["equal"])
            here = choice.predictors < len(kept)  # y is no column of the table
            self.feature_weights_[place, kept[choice.predictors[here]]] = weights[here]
            size, unit = self._size_of_unit(j)
            described = choice.described(partial(root_error, size=size), unit=unit)
            self.selection_[table.columns[j].name] = described
        return values

    def _fit_nothing(self) -> None:
        self._settings()
        self.history_, self.n_iter_, self.converged_ = [], 1, True
        self.selection_, self.fallback_counts_ = {}, {}
        self.weighted_columns_ = np.zeros(0, dtype=np.intp)
        self.feature_weights_ = np.zeros((0, len(self._kept)))
        nowhere = np.zeros(0, dtype=np.intp)
        self.cell_spreads_ = nowhere, nowhere, np.zeros(0)

    @one_blas_thread()
    def _fill_table(self, table: Table) -> Floats:
        return fill_new_rows(self._fitted, table)

    @one_blas_thread()
    def _fill_labeled(self, table: Table, y: Any, classes: tuple[Any, ...]) -> Floats:
        known = self._known_y(y) if self._sees_own_labels else None
        return fill_new_rows(self._fitted, table, known)

    def _settings(self) -> GreySettings:
        """The parameters, checked."""
        check_number("tol", self.tol)
        if self.max_donors is not None:
            check_whole("max_donors", self.max_donors, otherwise=", or None for all rows")
        check_seconds("time_budget", self.time_budget)
        if self.progress is not None and not callable(self.progress):
            raise InvalidParameterError(
                f"progress must be a function of a greyfill.progress.Progress, or None, not "
                f"{self.progress!r}"
            )
        return GreySettings(
            n_cells=check_whole("n_cells", self.n_cells, least=10),
            max_iter=check_whole("max_iter", self.max_iter),
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=self._seed(),
            max_donors=self.max_donors,
            crosses=self.labels == "cross",
            time_budget=self.time_budget,
            report=self._report,
        )

    def _seed(self) -> int:
        return whole_seed(self.random_state)
