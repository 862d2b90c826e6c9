"""Observed cells that are held out, to see what is missed in rows that lack as much as others."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from greyfill._neighbors.tuned.choosing import LARGE
from greyfill._neighbors.tuned.engine import Tuned, predict
from greyfill._neighbors.tuned.ground import Queries
from greyfill.table import Bools, Floats, Ints, Table

FOLDS = 5
MAX_HELD = 1_000
"""Rows of a large table that are held out, all at once."""

CLOSEST = 0.2
"""The share of the held cells whose rows lack least beside what is asked for."""

BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows of the ground in folds, −1 where a row is never held out.

    A cell is predicted without any row of its fold, as a new row would be.
    """

    tuned: Tuned
    fold_of: Ints
    _parts: dict[int, Tuned] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, tuned: Tuned) -> "HeldOut":
        """Five folds; one of some rows where there are many."""
        n_rows = tuned.ground.table.n_rows
        order = np.random.default_rng(tuned.random_state).permutation(n_rows)
        if n_rows > LARGE:
            return cls(tuned, np.where(order < MAX_HELD, 0, -1))
        return cls(tuned, order % FOLDS)

    def cells(self, target: int, rng: np.random.Generator) -> Ints:
        """Some of the held rows that know a column."""
        known = ~self.tuned.ground.table.missing[:, target] & (self.fold_of >= 0)
        return rng.permutation(np.flatnonzero(known))[: self.tuned.n_cells]

    def missed(self, target: int, rows: Ints, missing: Bools) -> Floats:
        """What is missed in cells of a column, if their rows also lack what ``missing`` says.

        For numbers true minus predicted, for categories one minus the probability of the true
        level.
        """
        table = self.tuned.ground.table
        lacking = table.missing[rows] | missing
        lacking[:, target] = True
        labels = self.tuned.ground.labels[rows]
        queries = Queries(table.values[rows], lacking, labels, np.full(len(rows), -1, np.intp))
        out = np.empty(len(rows))
        for fold in np.unique(self.fold_of[rows]):
            here = self.fold_of[rows] == fold
            found = predict(self._without(int(fold), target), target, queries.part(here))
            out[here] = found.residuals(table.values[rows[here], target])
        return out

    def _without(self, fold: int, target: int) -> Tuned:
        """The same, where the rows of a fold know nothing that they could give."""
        tuned, ground = self.tuned, self.tuned.ground
        for column in (target, ground.class_column):  # tuned on all rows, before any is left out
            if column == target or ground.splits:
                tuned.choice(column)
        if fold not in self._parts:
            silent = ground.table.missing | (self.fold_of == fold)[:, np.newaxis]
            table = Table(ground.table.values, silent, ground.table.columns)
            self._parts[fold] = replace(tuned, ground=replace(ground, table=table), _askers={})
        return self._parts[fold]


def alike(asked: Bools, held: Bools, rng: np.random.Generator) -> Ints:
    """For each row that is asked for a held one, drawn from those that lack least beside its holes.

    A row that lacks nothing else can be made to lack just what the asked one lacks.
    """
    n_near = int(np.ceil(CLOSEST * len(held)))
    out = np.empty(len(asked), dtype=np.intp)
    for start in range(0, len(asked), BLOCK_ROWS):
        known = (~asked[start : start + BLOCK_ROWS]).astype(np.float32)
        more = known @ held.T.astype(np.float32)
        order = np.argsort(more + rng.random(more.shape, dtype=np.float32), axis=1)
        picked = rng.integers(n_near, size=len(order))
        out[start : start + BLOCK_ROWS] = order[np.arange(len(order)), picked]
    return out


def misses(held: HeldOut, target: int, is_told: bool) -> Floats:
    """What is missed in cells of a column, in rows that lack what the column's holes' rows lack.

    ``is_told`` says whether the class, or the response, is known.
    """
    tuned = held.tuned
    table = tuned.ground.table
    rng = np.random.default_rng([tuned.random_state or 0, target])
    cells = held.cells(target, rng)
    holes = np.flatnonzero(table.missing[:, target])
    missing = table.missing[cells]
    if len(holes) and len(cells):
        missing = _shared_out(missing, table.missing[np.resize(rng.permutation(holes), len(cells))])
    if table.n_columns > len(tuned.scaler.low):
        missing = missing.copy()
        missing[:, -1] = not is_told
    return held.missed(target, cells, missing)


def _shared_out(held: Bools, like: Bools) -> Bools:
    """A pattern of holes for each held row, each used once, so that few rows lack more than it."""
    more = held.astype(np.float32) @ (~like).T.astype(np.float32)
    return np.asarray(like[linear_sum_assignment(more)[1]])
