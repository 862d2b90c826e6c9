"""Draws, intervals and explanations of the fills of a fitted `GreyImputer`."""

import sys
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from greyfill import frames, targets
from greyfill._grey.contributions import Contributions, contributions, new_contributions
from greyfill._grey.grey_engine import FittedGrey
from greyfill._grey.uncertainty import HeldOutCells, draws, overimpute, ranges
from greyfill.blas import one_blas_thread
from greyfill.checks import check_fitted, check_share, check_whole
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.column_trust import (
    SHARE_WRONG,
    ColumnTrust,
    Trust,
    held_out_losses,
    skill,
    word_for,
)
from greyfill.imputers.estimator import learned, root_error
from greyfill.imputers.explanation import Explanation
from greyfill.table import Floats, Ints, Kind, Table, to_share

UNITS = {
    frames.Family.DATE: (1 / 864e8, "days"),
    frames.Family.DATETIME: (1 / 864e8, "days"),
    frames.Family.DURATION: (1e-6, "seconds"),
    frames.Family.TIME: (1e-6, "seconds"),
}
"""Moments are microseconds inside, which nobody reads."""

WITH_OWN_LABEL = ("own", "donors")
"""Values of ``labels`` with which a training row is filled by the help of its own label."""

ROUNDING = 1e-9
"""A limit so near to a whole number is meant to be it."""


def unit_of(field: frames.Field) -> tuple[float, str]:
    """How a difference of two values of a column is written: a factor, and the unit's name."""
    if field.kind is not Kind.NUMERIC:
        return 1.0, "probability" if field.kind is Kind.CATEGORICAL else "ranks"
    return UNITS.get(field.family, (1.0, "units of the column"))


class ConfidenceMixin(BaseImputer):
    """Draws, intervals and explanations, in the units of the table."""

    _fitted: FittedGrey = learned()
    _classes: tuple[Any, ...] = learned()
    _response_range: tuple[float, float] | None = learned()

    labels: str = "cross"

    @abstractmethod
    def _seed(self) -> int:
        """The seed of everything random."""

    @property
    @one_blas_thread()
    def log_loss_(self) -> float:
        """Mean log loss of the class probabilities that fill rows without a label.

        Measured on left-out rows; NaN where there are no classes, or too few rows.
        """
        check_fitted(self)
        if not self._kept.any() or not self._fitted.donors.has_classes:
            return float("nan")
        return self._fitted.model(self._fitted.donors.y_column)[0].error

    @property
    @one_blas_thread()
    def trust_(self) -> Trust:
        """What the fills of each column with holes are worth, the worst first.

        From observed cells that are held out and filled as the holes were, without the label of
        their row unless its own label helps (``labels``). Computed when it is first read.
        """
        check_fitted(self)
        if not self._kept.any():
            return Trust()
        made = self._fitted._held
        if "trust" not in made:
            made["trust"] = Trust(self._judged_columns())
        trust: Trust = made["trust"]
        return trust

    def _judged_columns(self) -> Iterator[ColumnTrust]:
        fitted, kept, y_is_known = self._fitted, np.flatnonzero(self._kept), self._knows_own_label
        names = [self._schema.fields[j].name for j in kept]
        targets = [inner for inner, name in enumerate(names) if self.imputed_counts_[name]]
        for inner, lost, usual in held_out_losses(fitted, targets, y_is_known):
            name, (size, unit) = names[inner], self._size_of_unit(inner)
            error = float(lost.mean()) if len(lost) else np.nan
            if unit == "probability":
                unit = SHARE_WRONG
            else:
                error = root_error(error, size)
            explained, chance = skill(lost, usual)
            word, holes = word_for(explained, chance, len(lost)), self.imputed_counts_[name]
            yield ColumnTrust(name, word, explained, chance, error, unit, len(lost), holes)

    @property
    def _knows_own_label(self) -> bool:
        """Whether the training rows are filled with the help of their own label."""
        return self.labels in WITH_OWN_LABEL

    @one_blas_thread()
    def _held_out_cells(self, column: int, level: float = 0.9) -> HeldOutCells:
        """Held-out observed cells of a column of ``fit``, filled as its holes; in its units."""
        inner = int(self._kept[:column].sum())
        cells = overimpute(self._fitted, inner, level, self._knows_own_label)
        return replace(
            cells,
            truth=self._in_units(inner, cells.truth),
            predicted=self._in_units(inner, cells.predicted),
            low=self._in_units(inner, cells.low),
            high=self._in_units(inner, cells.high),
        )

    def draw(self, X: Any, n: int = 5, y: Any = None) -> list[Any]:
        """Fill X several times, each time by a draw: multiple imputation.

        Every draw reweighs the donors (Bayesian bootstrap) and predicts anew. Column after column,
        given what was drawn before, a number takes what was missed in an observed cell that was
        held out, of the same class, whose row lacks as much, scaled to the spread expected of the
        hole, and a category a level by its probability. Estimate on each filled table, then join
        the estimates with `greyfill.pool`.

        For an analysis that relates y to X: ``fit(X, y).draw(X, 20, y)``. Draws that do not know y
        shrink the relation, and one fill that does know it exaggerates it.

        Parameters
        ----------
        X : array or frame
            Rows with the columns of ``fit``.
        n : int, default=5
            Number of filled tables. The same ``random_state`` gives the same tables.
        y : array-like, optional
            Classes of the rows, or their continuous y, where known. Each draw also draws the
            class of rows that have none.

        Returns
        -------
        list
            n filled tables, each in the container of X.
        """
        check_whole("n", n)
        return self._draw(X, n, y)

    @one_blas_thread()
    def _draw(self, X: Any, n: int, y: Any = None, alone: bool = False) -> list[Any]:
        """Draws of X; with ``alone`` that of a row does not depend on the others."""
        table, origin, known_y = self._open_with_y(X, y)
        if not self._kept.any():
            return [self._restore(origin, table.missing, table.values) for _ in range(n)]
        tables = draws(self._fitted, table.select(self._kept), known_y, n, self._seed(), alone)
        return [
            self._restore(origin, table.missing, self._put_back(table, drawn)) for drawn in tables
        ]

    def intervals(self, X: Any, y: Any = None, level: float = 0.9) -> Any:
        """What holds the true value of each hole of X with probability ``level``.

        From what is missed in observed cells that are held out (conformal), in rows that lack what
        the rows with holes lacked in ``fit``: cells of the same class (if 30 or more, else joined
        by others), in units of a spread that is predicted for each row; for categories, cells of
        the same level. So the promise holds for each class and level, on average over holes that
        are like those of the training table; numbers never leave the range seen in ``fit``.

        Parameters
        ----------
        X : array or frame
            Rows with the columns of ``fit``.
        y : array-like, optional
            Classes of the rows, or their continuous y, where known. Without them the limits are
            wider.
        level : float in (0, 1), default=0.9
            The probability.

        Returns
        -------
        frame
            A long table in the library of X, of polars for arrays: ``row``, counted from 0,
            ``column``, ``low``, ``high`` (empty for categories) and ``levels`` (empty for others).
            Limits are values of the column: whole numbers, ordered levels, dates; moments are
            those of the time zone of the column. Where the limits of several columns are not
            all numbers, polars and pyarrow have them as texts.
        """
        opened = frames.open_table(X)
        table = opened if isinstance(opened, np.ndarray) else opened.to_native()
        return frames.interval_frame(self._interval_lists(X, y, level), frames.library_of(table))

    @one_blas_thread()
    def _interval_lists(self, X: Any, y: Any = None, level: float = 0.9) -> dict[str, list[Any]]:
        """The same as equally long lists of plain values: rows, columns, low, high, levels."""
        check_share("level", level)
        table, _, known_y = self._open_with_y(X, y)
        out: dict[str, list[Any]] = {
            name: [] for name in ("rows", "columns", "low", "high", "levels")
        }
        kept = np.flatnonzero(self._kept)
        if len(kept) == 0:
            return out
        for cells in ranges(self._fitted, table.select(self._kept), known_y, level):
            field, n = self._schema.fields[kept[cells.column]], len(cells.rows)
            low: list[Any] = [None] * n
            high, levels = low, low
            if cells.sets:
                levels = _named(field, cells.sets)
            else:
                low, high = self._limits(field, cells.column, cells.low, cells.high)
            columns = (cells.rows.tolist(), [field.name] * n, low, high, levels)
            for name, column in zip(out, columns, strict=True):
                out[name] += column
        return out

    def _limits(
        self, field: frames.Field, inner: int, low: Floats, high: Floats
    ) -> tuple[list[Any], list[Any]]:
        """Limits as values of the column; the outermost points of its grid, or levels, within."""
        low, high = self._in_units(inner, low), self._in_units(inner, high)
        if field.levels:
            first, last = np.ceil(low - ROUNDING), np.floor(high + ROUNDING)
            none = first > last  # no level is within: take the nearest
            middle = np.rint((low + high) / 2)
            low, high = np.where(none, middle, first), np.where(none, middle, last)
        elif not field.is_free:
            low, high = field.inside(low, high)
        return frames.cell_values(low, field), frames.cell_values(high, field)

    @one_blas_thread()
    def explain(self, row: Any, column: int | str, n_donors: int = 5, X: Any = None) -> Explanation:
        """Why a hole of the training table, or of a new row, got its value.

        Parameters
        ----------
        row : int or label
            Row number in the table that ``fit`` got, or in X. A whole number is always one, counted
            from 0, as in ``intervals`` and ``cell_spreads_``; anything else is the label of the row
            in the index of X, or of the pandas table that ``fit_transform`` filled. Where labels
            are whole numbers themselves: ``explain(X.index.get_loc(label), column)``.
        column : int or str
            Column number or name.
        n_donors : int, default=5
            Donors to show, those that count most.
        X : array or frame, optional
            New rows, of which one is explained as ``transform`` fills it, without a label.

        Returns
        -------
        Explanation
            Print it, or read its ``rows``, ``weights``, ``values``, ``distances``, ``gaps`` and
            ``effects``. Moments are those of the time zone of the column.
        """
        check_fitted(self)
        check_whole("n_donors", n_donors)
        row = self._row_number(row, X)
        j, inner = self._find_cell(row, column)
        if X is not None:
            return self._explain_new(X, row, j, inner, n_donors)
        places = np.flatnonzero(self._fitted.rows == row)
        if len(places) == 0:
            raise InvalidParameterError(
                f"row {row!r} is not among the rows that fit learned from: there is no such row in "
                "the table that it got, or it had no label, or max_donors left it out. A row that "
                "is there is explained as a new one by explain(row, column, X=X)."
            )
        self._refuse_observed(self._fitted.donors.table.missing[places[0], inner], row, j)
        found = contributions(self._fitted, int(places[0]), inner)
        return self._explanation(found, row, j, inner, n_donors)

    def _explain_new(self, X: Any, row: int, j: int, inner: int, n_donors: int) -> Explanation:
        table, _ = self._open_new(X)
        if row >= table.n_rows:
            raise InvalidParameterError(f"X has no row {row!r}, only {table.n_rows}")
        self._refuse_observed(table.missing[row, j], row, j)
        one = table.rows(np.array([row])).select(self._kept)
        found = new_contributions(self._fitted, one, inner)
        return self._explanation(found, row, j, inner, n_donors)

    def _refuse_observed(self, is_hole: Any, row: int, j: int) -> None:
        if not is_hole:
            raise InvalidParameterError(
                f"the cell in row {row!r} of column {self._schema.fields[j].name!r} was observed, "
                "so there is nothing to explain; cell_spreads_ lists the cells that were filled"
            )

    def donors_of(self, row: Any, column: int | str) -> dict[str, Any]:
        """Who gave to a filled cell of the training table.

        Parameters
        ----------
        row : int or label
            As in ``explain``.
        column : int or str
            Column number or name.

        Returns
        -------
        dict
            Equally long ``rows``, ``distances``, ``values`` and ``weights``, the donors that count
            most first. The weights sum to 1; a regression gives some donors a negative one.
        """
        check_fitted(self)
        found = self.explain(row, column, len(self._fitted.rows))
        return {name: getattr(found, name) for name in ("rows", "distances", "values", "weights")}

    def _explanation(
        self, found: Contributions, row: int, j: int, inner: int, n_donors: int
    ) -> Explanation:
        kept, top = np.flatnonzero(self._kept), found.donors[:n_donors]
        fills = self._fitted.donors.table.values[:, inner]
        names = [self._schema.fields[kept[c]].name if c < len(kept) else "y" for c in found.columns]
        field = self._schema.fields[j]
        size, unit = self._size_of_unit(inner)
        gaps = found.gaps[:n_donors]
        return Explanation(
            row=row,
            column=field.name,
            value=self._values(field, inner, np.array([found.value]))[0],
            rows=self._fitted.rows[top].tolist(),
            weights=found.shares[:n_donors].tolist(),
            others=float(found.shares[n_donors:].sum()),
            values=self._values(field, inner, fills[top]),
            distances=found.distances[:n_donors].tolist(),
            gaps={name: gaps[:, c].tolist() for c, name in enumerate(names)},
            effects={
                name: float(effect) * size
                for name, effect in zip(names, found.effects, strict=True)
                if effect
            },
            unit="" if unit == "units of the column" else unit,
        )

    def _size_of_unit(self, inner: int) -> tuple[float, str]:
        """What 1 on the scale of the donor table is in a column of the table, and in which unit."""
        factor, unit = unit_of(self._schema.fields[np.flatnonzero(self._kept)[inner]])
        if unit == "probability":
            return factor, unit
        size = factor * 2 * float(self._fitted.scaler.half_range[inner])
        return min(size, sys.float_info.max), unit  # a range may exceed the largest float

    def _values(self, field: frames.Field, inner: int, scaled: Floats) -> list[Any]:
        """Values of the donor table as the user writes them."""
        return frames.cell_values(self._in_units(inner, scaled), field)

    def _in_units(self, inner: int, scaled: Floats) -> Floats:
        """Values of one column in its own units."""
        whole = np.zeros((len(scaled), self._fitted.n_columns))
        whole[:, inner] = scaled
        return np.asarray(self._fitted.scaler.unscale(whole)[:, inner])

    def _open_with_y(self, X: Any, y: Any) -> tuple[Table, Any, Floats | None]:
        """New rows as a table, what restores them, and what is known of their classes or y."""
        table, origin = self._open_new(X)
        known_y = self._known_y(y)
        if known_y is not None:
            self._refuse_other_rows(table.n_rows, len(known_y))
        elif self.labels != "none" and y is not None and targets.encode_labels(y)[1]:
            raise InvalidDataError(
                "y was passed, but fit got none, so what y tells about X is not known: fit(X, y)"
            )
        return table, origin, known_y

    def _known_y(self, y: Any) -> Floats | None:
        """Class codes of ``fit``, or a response on its scale; None where fit used no y."""
        if y is None or not (self._classes or self._response_range):
            return None
        return self._class_codes(y) if self._classes else self._scaled_response(y)

    def _class_codes(self, y: Any) -> Floats:
        """Labels in the codes of ``fit``, NaN where they are missing."""
        codes, classes = targets.encode_labels(y)
        unknown = [label for label in classes if label not in self._classes]
        if unknown:
            raise InvalidDataError(f"y has classes that fit never saw: {unknown[:5]}")
        places = [float(self._classes.index(label)) for label in classes]
        return np.array([*places, np.nan])[codes]

    def _scaled_response(self, y: Any) -> Floats:
        """A continuous y on the scale of ``fit``, NaN where it is missing."""
        assert self._response_range is not None
        labels, missing = targets.labels_to_array(y)
        low, high = self._response_range
        try:
            numbers = np.where(missing, np.nan, labels).astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidDataError("y must hold numbers, as in fit") from None
        return to_share(np.clip(numbers, low, high), low, high)


def _named(field: frames.Field, sets: tuple[Ints, ...]) -> list[list[Any]]:
    """The levels of each set; a set that is given again is not written out again."""
    different = {id(codes): codes for codes in sets}
    named = {
        key: frames.cell_values(codes.astype(np.float64), field) for key, codes in different.items()
    }
    return [named[id(codes)] for codes in sets]
