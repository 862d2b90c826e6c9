"""Decks: a hole takes the value of a donor row, drawn, nearest, or the mean of a shell of donors.

A `Deck` has the donors, in groups of their adjustment cells; a selection says which donors of a
group give to a row: `RandomDonor`, `NearestDonor` or `ShellDonors`. Rows that their own group
cannot serve take from all donors, and a column that no donor knows takes its center.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from greyfill._chained.design import Keys, row_keys, row_order, uniform
from greyfill._search import kernels
from greyfill._search.pool import DonorPool, build_pool
from greyfill.table import Bools, Floats, Ints, RangeScaler, Table

TRIES = 16
"""Donors that are drawn at random before all that can give are listed."""

FIRST_LOOK, FURTHER = 8, 8
"""Nearest donors that are looked at first, and by what factor more if none of them can give."""


@dataclass(frozen=True, eq=False)
class Group:
    """Donors that may give to the same rows, scaled and laid out for searches."""

    donors: Table
    scaled: Table
    _pools: dict[int, DonorPool] = field(default_factory=dict, repr=False)

    @cached_property
    def observed(self) -> Bools:
        """What the donors can give."""
        return ~self.donors.missing & ~self.donors.unseen

    @cached_property
    def order(self) -> Ints:
        """The donors in an order of their content."""
        return row_order(self.donors)

    def givers(self, column: int) -> Ints:
        """Donors that know a column, or all for −1."""
        known = self.observed[:, column]
        return np.arange(len(known)) if column < 0 else known.nonzero()[0]

    def nearest(self, queries: Table, k: int, column: int = -1) -> Ints:
        """The k nearest donors of scaled rows by HEOM, of those that know a column if one is told.

        Rows with nothing observed are equally far from all: the first donors are theirs.
        """
        givers, p = self.givers(column), self.donors.n_columns
        weights = np.full(p, 1.0 / p)
        if column not in self._pools:
            cells = self.scaled.rows(givers)
            hidden = ~self.observed[givers]
            pool = build_pool(cells.values, hidden, cells.is_categorical, weights)
            self._pools[column] = pool
        nobody = np.full(queries.n_rows, -1, dtype=np.intp)
        hidden = queries.missing | queries.unseen
        found, _ = kernels.nearest_donors(
            self._pools[column], queries.values, hidden, nobody, weights, min(k, len(givers))
        )
        return np.asarray(givers[found])

    def first_able(self, queries: Table, found: Ints) -> Ints:
        """The first of the donors found that can give all that a row lacks; −1 without one."""
        able = np.asarray((self.observed[found] | ~queries.missing[:, np.newaxis, :]).all(axis=2))
        first = found[np.arange(len(found)), able.argmax(axis=1)]
        return np.where(able.any(axis=1), first, -1)


@dataclass(frozen=True)
class RandomDonor:
    """A donor drawn among those that can give all that a row lacks, or else one for each hole."""

    def give(self, group: Group, queries: Table, keys: Keys) -> Floats:
        """The cells of the drawn donors."""
        observed, order = group.observed, group.order
        drawn = uniform(keys[:, np.newaxis], np.arange(TRIES)[np.newaxis, :])
        donors = group.first_able(queries, order[(drawn * len(order)).astype(np.intp)])
        out = _given(group, queries, donors)
        for row in np.flatnonzero(donors < 0).tolist():
            holes = queries.missing[row].nonzero()[0]
            able = order[observed[order][:, holes].all(axis=1)]
            for number, j in enumerate(holes.tolist()):
                mine = able if len(able) else order[observed[order, j]]
                share = uniform(keys[[row]], TRIES + (0 if len(able) else 1 + number))[0]
                if len(mine):
                    out[row, j] = group.donors.values[mine[int(share * len(mine))], j]
        return out


@dataclass(frozen=True)
class NearestDonor:
    """The nearest donor that can give all that a row lacks, or else the nearest for each hole."""

    def give(self, group: Group, queries: Table, keys: Keys) -> Floats:
        """The cells of the nearest donors."""
        donors, k = np.full(queries.n_rows, -1, dtype=np.intp), FIRST_LOOK
        rows = np.arange(queries.n_rows)
        while len(rows) and k // FURTHER < group.donors.n_rows:
            part = queries.rows(rows)
            donors[rows] = group.first_able(part, group.nearest(part, k))
            rows, k = rows[donors[rows] < 0], k * FURTHER
        out = _given(group, queries, donors)
        for j in np.flatnonzero(queries.missing[rows].any(axis=0)).tolist():
            takers = rows[queries.missing[rows, j]]
            if len(group.givers(j)):
                found = group.nearest(queries.rows(takers), 1, j)
                out[takers, j] = group.donors.values[found[:, 0], j]
        return out


@dataclass(frozen=True)
class ShellDonors:
    """The shell of a row within its k nearest donors, or all of them where it is empty."""

    k: int

    def give(self, group: Group, queries: Table, keys: Keys) -> Floats:
        """Mean or mode of the shell of each hole, among donors that know its column."""
        out = np.full(queries.values.shape, np.nan)
        n_levels = max((c.n_levels for c in queries.columns), default=0)
        for j in np.flatnonzero(queries.missing.any(axis=0)).tolist():
            takers = np.flatnonzero(queries.missing[:, j])
            if len(group.givers(j)) == 0:
                continue
            rows = queries.rows(takers)
            found = group.nearest(rows, self.k, j)
            members = self.shell(group, rows, found)
            members |= ~members.any(axis=1, keepdims=True)
            weights = members / members.sum(axis=1, keepdims=True)
            slots, columns = np.arange(len(takers)), np.full(len(takers), j)
            cells = (group.scaled.values, queries.is_categorical, slots, columns, found)
            out[takers, j] = kernels.fill_cells(*cells, weights, weights, n_levels)
        return out

    def shell(self, group: Group, queries: Table, found: Ints) -> Bools:
        """Which of the donors found, nearest first, belong to the shell of each row."""
        members = np.zeros(found.shape, dtype=bool)
        every = np.arange(len(found))
        seen = ~queries.missing & ~queries.unseen
        for column in np.flatnonzero(seen.any(axis=0)).tolist():
            known = group.observed[found, column] & seen[:, [column]]
            gap = group.scaled.values[found, column] - queries.values[:, [column]]
            sides = (gap == 0.0,) if queries.is_categorical[column] else (gap <= 0.0, gap >= 0.0)
            for side in sides:
                near = np.where(known & side, np.abs(gap), np.inf)
                best = near.argmin(axis=1)
                members[every, best] |= np.isfinite(near[every, best])
        return members


def _given(group: Group, queries: Table, donors: Ints) -> Floats:
    """The cells of one donor of each row; NaN without one."""
    known = group.donors.values[np.maximum(donors, 0)]
    return np.where((donors >= 0)[:, np.newaxis] & queries.missing, known, np.nan)


@dataclass(frozen=True, eq=False)
class Deck:
    """Donors in their own units, their adjustment cells, and how they are chosen.

    ``labels`` are class codes (−1: none); ``cell_columns`` the columns in which a donor must agree.
    """

    donors: Table
    scaler: RangeScaler
    labels: Ints
    cell_columns: Ints
    centers: Floats
    selection: RandomDonor | NearestDonor | ShellDonors
    seed: int
    _groups: dict[bytes, Group] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_groups": {}}

    def fill(self, table: Table, labels: Ints | None = None) -> tuple[Floats, dict[str, int]]:
        """The values of a table without holes, and the cells that their group could not fill."""
        classes = np.full(table.n_rows, -1, dtype=np.intp) if labels is None else labels
        fills = np.where(table.missing, np.nan, table.values)
        cells, rows = self._cells(table, classes), np.flatnonzero(table.missing.any(axis=1))
        for cell in sorted({cells[row] for row in rows.tolist()}):
            mine = rows[[cells[row] == cell for row in rows.tolist()]]
            part = table.rows(mine)
            fills[mine] = np.where(part.missing, self._from(cell, part), part.values)
        short = np.isnan(fills)
        left = np.flatnonzero(short.any(axis=1))
        if len(left):
            fills[left] = np.where(short[left], self._from(b"", table.rows(left)), fills[left])
        nobody = np.isnan(fills)
        counts = {"other_cell": int(short.sum()), "no_donor": int(nobody.sum())}
        return np.where(nobody, self.centers, fills), counts

    def _from(self, cell: bytes, table: Table) -> Floats:
        """What a group gives to rows; NaN where it has nothing."""
        group = self.group(cell)
        if group is None:
            return np.full(table.values.shape, np.nan)
        scaled = self.scaler.scale(table)
        given = self.selection.give(group, scaled, row_keys(table, self.seed))
        if isinstance(self.selection, ShellDonors):  # its means are on the scale of the ranges
            known = ~np.isnan(given)
            given = np.where(known, self.scaler.unscale(np.where(known, given, 0.0)), np.nan)
        return given

    def group(self, cell: bytes) -> Group | None:
        """The donors of an adjustment cell, all of them for an empty one; None without any."""
        if cell not in self._groups:
            cells = self._cells(self.donors, self.labels)
            rows = np.array([i for i, own in enumerate(cells) if cell in (b"", own)], dtype=np.intp)
            if len(rows) == 0:
                return None
            donors = self.donors.rows(rows)
            self._groups[cell] = Group(donors, self.scaler.scale(donors))
        return self._groups[cell]

    def _cells(self, table: Table, labels: Ints) -> list[bytes]:
        """The adjustment cell of each row; empty where it is not known, or there are none."""
        values, hidden = table.values[:, self.cell_columns], table.missing[:, self.cell_columns]
        classed = bool((self.labels >= 0).any())
        known = ~hidden.any(axis=1) & ((labels >= 0) | (not classed))
        if not classed and len(self.cell_columns) == 0:
            return [b""] * table.n_rows
        keys = np.column_stack([labels.astype(np.float64) if classed else values[:, :0], values])
        return [key.tobytes() if sure else b"" for key, sure in zip(keys + 0.0, known, strict=True)]
