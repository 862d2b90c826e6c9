"""The self-tuning grey imputer."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from greyfill import frames
from greyfill._neighbors.tuned.drawing import draws, ranges
from greyfill._neighbors.tuned.engine import Tuning, serve, tune
from greyfill._neighbors.tuned.explaining import Reasons, reasons
from greyfill.checks import (
    check_choice,
    check_seed,
    check_share,
    check_tolerance,
    check_whole,
    is_whole,
)
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.explanation import Explanation
from greyfill.table import Floats, Ints, Table

LABELS = ("donors", "none")


class GreyImputer(BaseImputer):
    """Grey neighbors that tune themselves, for each column with holes on its own.

    A column is predicted from the rows that know it, over what a row itself has observed. Columns
    count by their null-corrected information about the target within the class; donors are the
    nearest rows by grey relational distance, of the same class or of all with the class as one
    more column; their values are averaged or joined by a ridge regression, which becomes the
    weighted mean as its penalty grows:

    x̂ = Σ_i c_i x_i,  c_i = ω_i (1 + z'(Σ_l ω_l z_l z_l' + α I)⁻¹ z_i),  Σ_i c_i = 1

    Weights, scope, k, kernel ω and penalty α are compared on left-out observed cells. The best of
    each family that is not worse than the best by two standard errors joins a panel, whose
    predictions are averaged; in tables of more than 5 000 rows the cheapest within one standard
    error serves alone. Passes over the columns, fewest holes first, improve what the regression
    reads in the donors' own holes.

    Parameters
    ----------
    labels : "donors" or "none", default="donors"
        Whether classes, or a continuous y, help to fill: with "donors", ``fit_transform`` fills
        rows with the help of their own label, and ``transform`` mixes the fills of the classes by
        their probabilities. "none" never looks at y.
    n_cells : int, default=250
        Observed cells of each column on which candidates are compared.
    max_iter : int, default=4
        The largest number of passes over the columns.
    tol : float, default=1e-4
        Passes end when no cell moves by this much on the [0, 1] scale.
    categorical_features : "auto" or list of names, indices or a mask, default="auto"
        Columns to treat as unordered categories besides strings, categories and booleans.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered: their ranks are averaged and rounded to a level.
    missing_values : scalar or list, optional
        Values that mean "missing" besides NaN, None, NA and null, such as "?" or -999.
    add_indicator : bool, default=False
        Append a boolean column for each column that had holes in ``fit``.
    keep_empty_features : bool, default=False
        Keep columns without any observed value, filled with zero or a neutral level.
    n_jobs : int, optional
        Threads; None means one, −1 all cores.
    random_state : int, RandomState or None, default=0
        Seed of the left-out cells and of the permutations.
    verbose : int, default=0
        With 1, each pass is reported on stderr.

    Attributes
    ----------
    selection_ : dict of str to dict
        For each column with holes: the ``panel`` in words, its root mean squared ``error`` on
        left-out cells (in the column's units; categories: Brier score's root), and the error of
        every candidate (``tried``).
    weighted_columns_, feature_weights_ : array, array of shape (target, column)
        The columns with holes, and how much every other column counts for each of them.
    cell_spreads_ : tuple of three arrays
        Rows, columns and spreads of the filled training cells: the root mean squared error on
        left-out cells of the column on the [0, 1] scale, or one minus the probability of the level.
    n_iter_, history_, converged_ : int, list of float, bool
        Number of passes, the largest change in each, and whether the last was below ``tol``.
    imputed_counts_ : dict of str to int
        Cells filled in each column of the training table.

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

    def __init__(
        self,
        *,
        labels: str = "donors",
        n_cells: int = 250,
        max_iter: int = 4,
        tol: float = 1e-4,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.labels = labels
        self.n_cells = n_cells
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _unsaved = (*BaseImputer._unsaved, "_response")

    @property
    def _needs_labels(self) -> bool:
        return False

    def _encode_labels(self, y: Any, n_rows: int) -> Ints | None:
        """Class codes; a continuous y is kept beside them, as numbers."""
        self._response = None
        self._classes: tuple[Any, ...] = ()
        if y is None or self.labels == "none":
            return None
        codes, classes = frames.encode_labels(y)
        if len(codes) != n_rows:
            raise InvalidDataError(
                f"X and y describe different rows: X has {n_rows}, y has {len(codes)}"
            )
        self._classes = classes
        if len(classes) and type_of_target(np.asarray(classes)) == "continuous":
            numbers = np.asarray(classes, dtype=float)
            self._response = np.where(codes >= 0, numbers[codes], np.nan)
            return None
        return codes

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        values, tuned = tune(table, labels, self._response, self._tuning())
        self._tuned = tuned
        self.history_ = list(tuned.history)
        self.n_iter_ = max(len(self.history_), 1)
        self.converged_ = tuned.converged
        rows, columns, spread = tuned.spreads
        self.cell_spreads_ = rows, np.flatnonzero(self._kept)[columns], spread
        self.weighted_columns_, self.feature_weights_ = self._relevances()
        with np.errstate(over="ignore"):  # a range may exceed the largest float
            widths = 2 * tuned.scaler.half_range
        self.selection_ = {
            table.columns[j].name: {
                "panel": [str(candidate) for candidate in choice.panel],
                "error": float(np.sqrt(choice.error)) * self._unit(table, widths, j),
                "tried": {
                    str(candidate): float(np.sqrt(error)) * self._unit(table, widths, j)
                    for candidate, error in choice.errors
                },
            }
            for j, choice in sorted(tuned.choices.items())
            if j < table.n_columns
        }
        return values

    def _relevances(self) -> tuple[Ints, Floats]:
        """The columns with holes, and what every column tells about each, shares that sum to 1."""
        kept = np.flatnonzero(self._kept)
        targets = [j for j in sorted(self._tuned.choices) if j < len(kept)]
        weights = np.zeros((len(targets), len(self._kept)))
        for place, j in enumerate(targets):
            choice = self._tuned.choices[j]
            told = choice.weights.get("pair", choice.weights["equal"])
            here = choice.predictors < len(kept)
            weights[place, kept[choice.predictors[here]]] = told[here]
        return kept[targets], weights

    @staticmethod
    def _unit(table: Table, widths: Floats, j: int) -> float:
        return 1.0 if table.is_categorical[j] else float(widths[j])

    def save(self, path: str | Path) -> None:
        """Write the fitted imputer to a file that ``greyfill.load`` reads without running code.

        Columns without a hole in ``fit`` are tuned at their first hole; those that are left are
        tuned now: a loaded imputer never waits, and the file is the same before and after use.
        """
        check_is_fitted(self)
        if self._kept.any():
            self._tuned = self._tuned.complete()
        super().save(path)

    def draw(self, X: Any, n: int = 5, y: Any = None) -> list[Any]:
        """Fill X several times, each time by a draw: multiple imputation.

        Every draw reweighs the donors (Bayesian bootstrap), predicts anew, and adds a random
        residual of left-out cells to numbers, or draws a level by its probability. Estimate on
        each filled table, then join the estimates with `greyfill.pool`.

        Parameters
        ----------
        X : array or frame
            Rows with the columns of ``fit``.
        n : int, default=5
            Number of filled tables.
        y : array-like, optional
            Classes of the rows, if known; without them each draw also draws the class.

        Returns
        -------
        list
            n filled tables, each in the container of X.
        """
        check_whole("n", n)
        table, origin, labels = self._asked(X, y)
        if not self._kept.any():
            return [self._restore(origin, table.missing, table.values) for _ in range(n)]
        out = []
        for drawn in draws(self._tuned, table.select(self._kept), labels, n, self._seed()):
            values = table.values.copy()
            values[:, self._kept] = drawn
            out.append(self._restore(origin, table.missing, values))
        return out

    def intervals(self, X: Any, y: Any = None, level: float = 0.9) -> dict[str, list[Any]]:
        """What holds the true value of each hole of X with probability ``level``.

        From the errors on left-out cells (split conformal), so the promise holds on average over
        holes that are like observed cells; numbers never leave the range seen in ``fit``.

        Parameters
        ----------
        X : array or frame
            Rows with the columns of ``fit``.
        y : array-like, optional
            Classes of the rows, if known.
        level : float in (0, 1), default=0.9
            The probability.

        Returns
        -------
        dict
            Equally long lists ``rows``, ``columns``, ``low``, ``high`` (None for categories) and
            ``levels`` (None for numbers).
        """
        check_share("level", level)
        table, _, labels = self._asked(X, y)
        out: dict[str, list[Any]] = {
            name: [] for name in ("rows", "columns", "low", "high", "levels")
        }
        kept = np.flatnonzero(self._kept)
        if len(kept) == 0:
            return out
        for cells in ranges(self._tuned, table.select(self._kept), labels, level):
            field = self._schema.fields[kept[cells.column]]
            out["rows"] += cells.rows.tolist()
            out["columns"] += [field.name] * len(cells.rows)
            if cells.sets:
                out["levels"] += [[field.levels[int(c)] for c in inside] for inside in cells.sets]
                out["low"] += [None] * len(cells.rows)
                out["high"] += [None] * len(cells.rows)
            else:
                out["low"] += self._in_units(cells.column, cells.low).tolist()
                out["high"] += self._in_units(cells.column, cells.high).tolist()
                out["levels"] += [None] * len(cells.rows)
        return out

    def explain(self, row: int, column: int | str, n_donors: int = 5) -> Explanation:
        """Why a hole of the training table got its value.

        Parameters
        ----------
        row : int
            Row number in the table that ``fit`` got.
        column : int or str
            Column number or name.
        n_donors : int, default=5
            Donors to show, those that count most.

        Returns
        -------
        Explanation
            Print it, or read its ``rows``, ``weights``, ``values``, ``distances``, ``gaps`` and
            ``effects``.
        """
        check_is_fitted(self)
        check_whole("n_donors", n_donors)
        j, inner = self._column_places(column)
        places = np.flatnonzero(self._tuned.rows == row)
        if len(places) == 0:
            raise InvalidParameterError(
                f"row {row!r} is not among the rows that fit learned from: there is no such row in "
                "the table that it got, or it had no label"
            )
        if not self._tuned.ground.table.missing[places[0], inner]:
            raise InvalidParameterError(
                f"the cell in row {row!r} of column {self._schema.fields[j].name!r} was observed, "
                "so there is nothing to explain; cell_spreads_ lists the cells that were filled"
            )
        found = reasons(self._tuned, int(places[0]), inner)
        return self._explanation(found, int(places[0]), row, j, inner, n_donors)

    def donors_of(self, row: int, column: int | str) -> dict[str, Any]:
        """Who gave to a filled cell of the training table.

        Parameters
        ----------
        row : int
            Row number in the table that ``fit`` got.
        column : int or str
            Column number or name.

        Returns
        -------
        dict
            Equally long ``rows``, ``distances``, ``values`` and ``weights``, the donors that count
            most first. The weights sum to 1; a regression gives some donors a negative one.
        """
        found = self.explain(row, column, len(self._tuned.rows))
        return {
            "rows": found.rows,
            "distances": found.distances,
            "values": found.values,
            "weights": found.weights,
        }

    def _explanation(
        self, found: Reasons, place: int, row: int, j: int, inner: int, n_donors: int
    ) -> Explanation:
        ground, kept = self._tuned.ground, np.flatnonzero(self._kept)
        top = found.donors[:n_donors]
        names = [self._schema.fields[kept[c]].name if c < len(kept) else "y" for c in found.columns]
        number = not ground.table.is_categorical[inner]
        unit = float(2 * self._tuned.scaler.half_range[inner]) if number else 1.0
        gaps = found.gaps[:n_donors]
        return Explanation(
            row=row,
            column=self._schema.fields[j].name,
            value=self._value(j, inner, ground.table.values[place, inner]),
            rows=self._tuned.rows[top].tolist(),
            weights=found.shares[:n_donors].tolist(),
            others=float(found.shares[n_donors:].sum()),
            values=[self._value(j, inner, v) for v in ground.table.values[top, inner]],
            distances=found.distances[:n_donors].tolist(),
            gaps={name: gaps[:, c].tolist() for c, name in enumerate(names)},
            effects={
                name: float(effect) * unit
                for name, effect in zip(names, found.effects, strict=True)
                if effect
            },
        )

    def _value(self, j: int, inner: int, scaled: float) -> Any:
        """A value of the ground as the user writes it."""
        levels = self._schema.fields[j].levels
        number = float(self._in_units(inner, np.array([scaled]))[0])
        return levels[round(number)] if levels else number

    def _in_units(self, inner: int, scaled: Floats) -> Floats:
        """Values of one column in its own units."""
        whole = np.zeros((len(scaled), len(self._tuned.scaler.low)))
        whole[:, inner] = scaled
        return np.asarray(self._tuned.scaler.unscale(whole)[:, inner])

    def _asked(self, X: Any, y: Any) -> tuple[Table, Any, Ints | None]:
        """New rows as a table, what restores them, and their classes in the codes of ``fit``."""
        check_is_fitted(self)
        frames.open_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        table, origin = frames.encode(X, schema=self._schema, missing_values=self.missing_values)
        if y is None or not self._classes:
            return table, origin, None
        codes, classes = frames.encode_labels(y)
        if len(codes) != table.n_rows:
            raise InvalidDataError(
                f"X and y describe different rows: X has {table.n_rows}, y has {len(codes)}"
            )
        unknown = [label for label in classes if label not in self._classes]
        if unknown:
            raise InvalidDataError(f"y has classes that fit never saw: {unknown[:5]}")
        places = np.array([self._classes.index(label) for label in classes] + [-1], dtype=np.intp)
        return table, origin, places[codes]

    def _fit_nothing(self) -> None:
        self._tuning()
        self.history_, self.n_iter_, self.converged_ = [], 1, True
        self.selection_ = {}
        self.weighted_columns_ = np.zeros(0, dtype=np.intp)
        self.feature_weights_ = np.zeros((0, len(self._kept)))
        nowhere = np.zeros(0, dtype=np.intp)
        self.cell_spreads_ = nowhere, nowhere, np.zeros(0)

    def _fill_table(self, table: Table) -> Floats:
        return serve(self._tuned, table)

    def _tuning(self) -> Tuning:
        """The parameters, checked."""
        check_choice("labels", self.labels, LABELS)
        check_tolerance(self.tol)
        return Tuning(
            n_cells=check_whole("n_cells", self.n_cells, least=10),
            max_iter=check_whole("max_iter", self.max_iter),
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=self._seed(),
            report=self._report,
        )

    def _seed(self) -> int:
        check_seed(self.random_state)
        if is_whole(self.random_state):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))
