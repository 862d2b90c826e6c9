"""The limit of the passes over numeric holes, as the solution of a sparse linear system.

While donors stay the same, one pass over the numeric holes is x ← A x + b: row c of A holds the
weights of the donors of hole c that are holes themselves, b what the other donors give. Each row
of weights sums to 1, so A is nonnegative with row sums of at most 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import bicgstab, splu

from greyfill._neighbors.linking import Links
from greyfill.table import Bools, Floats, Ints

FAINT = 1e-12
"""A donor of less weight than this is lost in rounding and counts as none."""

FACTORED = 5_000
"""Up to this many holes a column is solved by LU factors; beyond it they could fill the memory."""


@dataclass(frozen=True, eq=False)
class NumberMap:
    """One pass over the numeric holes: x ← ``among`` · x + ``given``.

    Hole c lies in row ``rows[c]`` and column ``columns[c]``; ``now`` are the current values.
    ``among[c, d]`` is the weight that hole c gives to hole d, and ``outside[c]`` that of all donors
    whose cell is no such hole, which together give ``given[c]``.
    """

    rows: Ints
    columns: Ints
    now: Floats
    among: sparse.csr_array
    outside: Floats
    given: Floats

    @classmethod
    def of(cls, links: Iterable[Links], values: Floats, is_categorical: Bools) -> "NumberMap":
        """The map of all numeric holes that have donors."""
        cells = [_numeric_cells(piece, is_categorical) for piece in links]
        rows, columns, takers, givers, weights = _joined(cells)
        n_holes = len(rows)
        place = np.full(values.shape, -1, dtype=np.int32)
        place[rows, columns] = np.arange(n_holes)
        source = place[givers, columns[takers]]
        inner = source >= 0
        among = sparse.coo_array(
            (weights[inner], (takers[inner].astype(np.int32), source[inner])),
            shape=(n_holes, n_holes),
        ).tocsr()
        outer, share = takers[~inner], weights[~inner]
        lent = values[givers[~inner], columns[outer]]
        return cls(
            rows=rows,
            columns=columns,
            now=values[rows, columns],
            among=among,
            outside=np.asarray(np.bincount(outer, share, n_holes), dtype=np.float64),
            given=np.asarray(np.bincount(outer, share * lent, n_holes), dtype=np.float64),
        )

    def solve(self) -> Floats:
        """The fixed point to which the passes lead.

        Holes that give to themselves only, in sets that nothing observed enters, keep the mean of
        their current values under the stationary distribution of their weights. All others are
        (I − A)⁻¹ b, with the former counted among what is given.
        """
        solution = self.now.copy()
        closed, label = self.closed_sets()
        for members in _groups(closed, label):
            within = self.among[members][:, members]
            solution[members] = _stationary_mean(within, self.now[members])
        known = self.given + self.among @ np.where(closed, solution, 0.0)
        for holes in _groups(~closed, self.columns):
            solution[holes] = _solve(self.among[holes][:, holes], known[holes], self.now[holes])
        return solution

    def closed_sets(self) -> tuple[Bools, Ints]:
        """Holes in sets that take from nobody but themselves, and a number for each such set."""
        n_sets, label = csgraph.connected_components(self.among, connection="strong")
        edges = self.among.tocoo()
        taker, giver = edges.row, edges.col
        leaves = np.zeros(n_sets, dtype=bool)
        leaves[label[self.outside > 0.0]] = True
        leaves[label[taker[label[taker] != label[giver]]]] = True
        return ~leaves[label], label


def _numeric_cells(piece: Links, is_categorical: Bools) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Rows and columns of a piece's numeric holes; hole, donor and weight of each of its links."""
    numeric = ~is_categorical[piece.columns]
    slots, columns = piece.slots[numeric], piece.columns[numeric]
    weights = np.where(piece.number_weights < FAINT, 0.0, piece.number_weights)[slots]
    weights = weights / weights.sum(axis=1, keepdims=True)
    hole, place = np.nonzero(weights)
    return piece.rows[slots], columns, hole, piece.donors[slots[hole], place], weights[hole, place]


def _joined(
    cells: list[tuple[Ints, Ints, Ints, Ints, Floats]],
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """The holes and links of all pieces, holes numbered through."""
    if not cells:
        nobody = np.zeros(0, dtype=np.intp)
        return nobody, nobody, nobody, nobody, np.zeros(0)
    firsts = np.cumsum([0, *(len(part[0]) for part in cells[:-1])])
    takers = np.concatenate([part[2] + first for part, first in zip(cells, firsts, strict=True)])
    rows, columns, givers, weights = (
        np.concatenate([part[i] for part in cells]) for i in (0, 1, 3, 4)
    )
    return rows, columns, takers, givers, weights


def _groups(chosen: Bools, label: Ints) -> list[Ints]:
    """The chosen members of each label."""
    members = np.flatnonzero(chosen)
    members = members[np.argsort(label[members], kind="stable")]
    return np.split(members, np.flatnonzero(np.diff(label[members])) + 1) if len(members) else []


def _solve(among: sparse.csr_array, known: Floats, guess: Floats) -> Floats:
    """(I − A)⁻¹ b: by LU factors, or for a large A by BiCGSTAB to near machine precision.

    Where rounding has made the system singular, the guess is as good as any answer.
    """
    system = (sparse.eye_array(len(known)) - among).tocsc()
    if len(known) > FACTORED:
        return np.asarray(bicgstab(system, known, x0=guess, rtol=1e-14)[0])
    try:
        return np.asarray(splu(system).solve(known))
    except RuntimeError:
        return guess


def _stationary_mean(stochastic: sparse.csr_array, values: Floats) -> float:
    """π · values for π = π P, Σ π = 1, of an irreducible stochastic matrix P."""
    if np.ptp(values) == 0.0:
        return float(values[0])
    size = len(values)
    balance = (sparse.eye_array(size) - stochastic.T).tolil()
    balance[size - 1] = np.ones(size)
    unit = np.zeros(size)
    unit[-1] = 1.0
    return float(splu(balance.tocsc()).solve(unit) @ values)
