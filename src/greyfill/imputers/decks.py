"""Donor methods: hot deck, cold deck and shell neighbors, each a deck with its own selection."""

from dataclasses import field, replace
from typing import Any

import numpy as np

from greyfill import frames
from greyfill._chained.hidden_cells import best_on_hidden
from greyfill._neighbors.start import column_centers
from greyfill._systems.deck import Deck, NearestDonor, RandomDonor, ShellDonors
from greyfill.checks import check_choice, check_whole, sure_seed
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.estimator import learned, parameter
from greyfill.imputers.systems import SystemImputer
from greyfill.table import Floats, Ints, RangeScaler, Table
from greyfill.targets import encode_labels, read_target

DONORS = {"random": RandomDonor(), "nearest": NearestDonor()}


def _check_cells(name: str, value: Any) -> None:
    if isinstance(value, str) and value != "class":
        raise InvalidParameterError(
            f"{name} must be None, 'class' or a list of columns, not {value!r}"
        )


class DeckFamily(SystemImputer):
    """What the donor methods share: adjustment cells, and how donors give.

    Parameters
    ----------
    cells : "class" or list of names or indices, optional
        Adjustment cells: donors have the same label (then y is needed, and rows without a label
        take from all), or the same values in these columns. By default all rows are one cell.

    Attributes
    ----------
    fallback_counts_ : dict of str to int
        Training cells that their adjustment cell could not fill (``other_cell``), and those of
        columns that no donor knows (``no_donor``).
    """

    cells: Any = parameter(default=None, check=_check_cells)

    fallback_counts_: dict[str, int] = learned(empty={})
    _fitted: Deck = learned()

    _keeps_order = True

    @property
    def _selection(self) -> Any:
        """How the donors of a row are chosen."""
        return NearestDonor()

    @property
    def _needs_labels(self) -> bool:
        return isinstance(self.cells, str) and self.cells == "class"

    def _refuse_no_labels(self) -> None:
        if self._needs_labels:
            raise InvalidDataError(
                f"{type(self).__name__}(cells='class') requires y: pass the class labels, or name "
                "columns in cells"
            )

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        self._fitted = self._deck(table, labels)
        filled, counts = self._fitted.fill(table, labels)
        self.fallback_counts_ = {name: count for name, count in counts.items() if count}
        return filled

    def _deck(self, table: Table, labels: Ints | None) -> Deck:
        """The training rows as donors."""
        codes = np.full(table.n_rows, -1, dtype=np.intp) if labels is None else labels
        named: list[int] = []
        if self.cells is not None and not self._needs_labels:
            named = frames.column_positions(self.cells, self._schema.names, "cells")
        cells = np.flatnonzero(np.isin(np.flatnonzero(self._kept)[self._usable], named))
        how = column_centers(table), self._selection, sure_seed(self.random_state)
        return Deck(table, RangeScaler.learn(table), codes, cells, *how)

    def _fill_rows(self, table: Table) -> Floats:
        return self._fitted.fill(table)[0]


class HotDeckImputer(DeckFamily):
    """Hot deck imputation (Little and Rubin 2002): a row takes what it lacks from another row.

    The donor belongs to the same adjustment cell and is drawn at random, or is the nearest by
    HEOM. All holes of a row come from one donor where one can give them all, so that relations
    between columns stay; else each hole has a donor of its own. Draws depend on the seed and on
    the row's content: equal rows are filled equally, and one row as in a batch. Of equally near
    donors the first gives. Rows that their cell cannot serve take from all donors.

    Parameters
    ----------
    donor : "random" or "nearest", default="random"
        Which donor of the cell gives.

    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [5.0, 8.0], [np.nan, 8.2]])
    >>> HotDeckImputer(donor="nearest").fit_transform(X)[[1, 3], [1, 0]]
    array([2., 5.])
    """

    donor: str = parameter(default="random", check=check_choice, choices=(*DONORS,), kw_only=False)

    @property
    def _selection(self) -> Any:
        return DONORS[self.donor]


class ColdDeckImputer(DeckFamily):
    """Cold deck imputation (Little and Rubin 2002): donors come from a reference table.

    Rows of X only take. Cells are scaled by the ranges of the reference and compared in the columns
    that both tables have; the nearest donor by HEOM gives all that a row lacks, or else the nearest
    that knows each column; of equally near ones the first. What the reference does not know (a
    column, or a level that X never has) it cannot give: such holes take the mean or mode of X.
    Without a reference the table of ``fit`` is one, and the result is that of the nearest hot deck.
    A saved file holds the donors, but not the parameter ``reference``.

    Parameters
    ----------
    reference : table, optional
        The donors, in any container; a frame may have other columns besides.
    reference_labels : array-like, optional
        Classes of the donors. With ``cells="class"`` a row takes from donors of its class.

    >>> survey = np.array([[1.0, 2.0], [5.0, 8.0]])
    >>> ColdDeckImputer(reference=survey).fit_transform(np.array([[4.0, np.nan], [0.0, 3.0]]))
    array([[4., 8.],
           [0., 3.]])
    """

    reference: Any = field(default=None, kw_only=False)
    reference_labels: Any = None

    _unsaved = (*SystemImputer._unsaved, "reference", "reference_labels", "_classes")

    def _deck(self, table: Table, labels: Ints | None) -> Deck:
        deck = super()._deck(table, labels)
        if self.reference is None:
            return deck
        donors = self._reference_table().select(self._usable)
        codes = self._reference_codes(donors.n_rows)
        donors = Table(donors.values, donors.missing | donors.unseen, donors.columns)
        theirs, ours, known = RangeScaler.learn(donors), deck.scaler, ~donors.missing.all(axis=0)
        low, high = np.where(known, theirs.low, ours.low), np.where(known, theirs.high, ours.high)
        scaler = RangeScaler(low, high, ours.is_categorical)  # of X where the donors know nothing
        return replace(deck, donors=donors, scaler=scaler, labels=codes)

    def _reference_table(self) -> Table:
        """The reference in the numbers of X; columns that it lacks are holes."""
        opened: Any = frames.open_table(self.reference)
        names = self._schema.names
        is_array = isinstance(opened, np.ndarray)
        if is_array and opened.shape[1] != len(names):
            raise InvalidDataError(
                f"the reference has {opened.shape[1]} columns, but X has {len(names)}; pass "
                "frames, whose columns have names, or the same columns"
            )
        theirs = names if is_array else tuple(map(str, opened.columns))
        places = [j for j, name in enumerate(names) if name in theirs]
        if not places:
            raise InvalidDataError("the reference has no column of X; rename its columns")
        cells = opened if is_array else opened.select([names[j] for j in places])
        schema = replace(self._schema, fields=tuple(self._schema.fields[j] for j in places))
        part, _ = frames.encode(cells, schema=schema, missing_values=self.missing_values)
        values = np.zeros((part.n_rows, len(names)))
        missing = np.ones(values.shape, dtype=bool)
        values[:, places], missing[:, places] = part.values, part.missing
        return Table(values, missing, self._schema.columns).select(self._kept)

    def _reference_codes(self, n_rows: int) -> Ints:
        """Classes of the donors, by the codes that y has; −1 without."""
        if not self._needs_labels or self.reference_labels is None:
            return np.full(n_rows, -1, dtype=np.intp)
        codes, classes = encode_labels(self.reference_labels)
        self._refuse_other_rows(n_rows, len(codes))
        known = {name: code for code, name in enumerate(self._classes)}  # in which 1 is 1.0
        texts = {str(name): code for name, code in known.items()}
        places = [known.get(name, texts.get(str(name), -1)) for name in classes]
        return np.array([*places, -1], dtype=np.intp)[codes]

    def _encode_labels(self, y: Any, n_rows: int) -> Ints | None:
        codes = super()._encode_labels(y, n_rows)
        self._classes = [] if codes is None else list(read_target(y, needs_classes=True).classes)
        return codes


class ShellImputer(DeckFamily):
    """Shell neighbor imputation (Zhang 2011): the rows that enclose a row among its k nearest.

    Of the k nearest donors that know a column, the shell has for each observed number those with
    the nearest value on the left and on the right, and for each observed category the nearest of
    the same level:

    S = ∪_j {argmin_{x_rj ≤ x_j} |x_rj − x_j|, argmin_{x_rj ≥ x_j} |x_rj − x_j|}
    x̂ = mean or mode over S

    Distances are HEOM over the observed columns; a donor whose value is equal stands on both sides.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Donors among which the shell is found; up to 2p of them would all be in it. "auto": of
        3p, 6p, 12p and 24p the k that best restores a tenth of the known cells, which is hidden.

    Attributes
    ----------
    n_neighbors_ : int
        The k in use.
    k_scores_ : dict of int to float
        The error of every k that was tried; empty for a fixed k.

    >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [9.0, 90.0], [3.0, np.nan]])
    >>> ShellImputer(n_neighbors=4).fit_transform(X)[4, 1]
    np.float64(30.0)
    """

    n_neighbors: int | str = parameter(default="auto", check=check_whole, auto=True, kw_only=False)

    n_neighbors_: int = learned(empty=1)
    k_scores_: dict[int, float] = learned(empty={})

    def _deck(self, table: Table, labels: Ints | None) -> Deck:
        deck, k, p = super()._deck(table, labels), self.n_neighbors, table.n_columns
        sizes = sorted({min(3 * 2**step * p, table.n_rows) for step in range(4)})

        def trial(hidden: Table, k: int) -> Floats:
            holed = replace(deck, donors=hidden, selection=ShellDonors(k), _groups={})
            return holed.fill(hidden, deck.labels)[0]

        sizes = sizes if isinstance(k, str) else [int(k)]
        self.n_neighbors_, self.k_scores_ = best_on_hidden(table, deck.seed, sizes, trial)
        self._report(f"k = {self.n_neighbors_}")
        return replace(deck, selection=ShellDonors(self.n_neighbors_))
