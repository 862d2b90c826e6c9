"""From scores to holes: meet the wanted rate in each column, leave no row or column empty."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from greyfill.checks import is_number
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Floats, Ints


@dataclass(frozen=True)
class Draw:
    """How many holes to make: the rate, exactly or in expectation, and what must survive."""

    rate: float
    exact: bool = True
    keep_one: bool = True

    def __post_init__(self) -> None:
        if not is_number(self.rate) or not 0.0 <= self.rate < 1.0:
            raise InvalidParameterError(f"rate must lie in [0, 1), got {self.rate!r}")

    def counts(self, eligible: Bools) -> Ints:
        """Holes to make in each column: round(rate · eligible cells)."""
        n_eligible = eligible.sum(axis=0)
        counts = np.array([round(self.rate * int(n)) for n in n_eligible], dtype=np.intp)
        return np.minimum(counts, np.maximum(n_eligible - 1, 0)) if self.keep_one else counts

    def holes(
        self,
        scores: Floats,
        open_cells: Bools,
        eligible: Bools,
        observed: Bools,
        rng: np.random.Generator,
    ) -> Bools:
        """Hide the open cells with the highest η + logistic noise.

        A cell with η_ij + c_j + ε_ij > 0, ε standard logistic, is Bernoulli with P = logit(η + c),
        the model of (40) and (41). ``exact`` puts the threshold −c_j between two cells, else c_j
        solves the expected rate.
        """
        latent = np.where(open_cells, scores + rng.logistic(size=scores.shape), -np.inf)
        if self.exact:
            mask = _ranks(latent) < self.counts(eligible)
            return _swap_out_of_empty_rows(mask, latent, open_cells, observed, self)
        wanted = self.rate * eligible.sum(axis=0) / np.maximum(open_cells.sum(axis=0), 1)
        intercepts = [
            solve_intercept(scores[open_cells[:, j], j], wanted[j]) for j in range(len(wanted))
        ]
        mask = latent > -np.array(intercepts)
        return _put_one_back(mask, latent, observed) if self.keep_one else mask


def solve_intercept(scores: Floats, rate: float) -> float:
    """Solve mean e^(η + c) / (1 + e^(η + c)) = ``rate`` for c.

    >>> round(solve_intercept(np.array([0.0, 0.0]), 0.5), 6)
    0.0
    """
    if len(scores) == 0 or rate < 1e-12:
        return -np.inf
    if rate > 1.0 - 1e-12:
        return np.inf
    low, high = logit(rate) - scores.max() - 1.0, logit(rate) - scores.min() + 1.0
    return float(brentq(lambda c: float(expit(scores + c).mean()) - rate, low, high))


def _ranks(latent: Floats) -> Ints:
    """Rank of each cell in its column, 0 for the highest."""
    order = np.argsort(-latent, axis=0, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(latent))[:, None], axis=0)
    return ranks


def _swap_out_of_empty_rows(
    mask: Bools, latent: Floats, open_cells: Bools, observed: Bools, draw: Draw
) -> Bools:
    """Move one hole of each emptied row to the next cell in its column's queue.

    First each row offers its least likely hole; rows that found no taker then offer any, at last
    through other rows. Rows stay without an observed cell only where the rate allows no other mask.
    """
    mask, left = mask.copy(), (observed & ~mask).sum(axis=1)
    emptied = (left == 0) & mask.any(axis=1)
    if not draw.keep_one or not emptied.any():
        return mask
    weakest = np.argmin(np.where(mask, latent, np.inf), axis=1)[:, None]
    for offered in (weakest == np.arange(mask.shape[1]), np.ones_like(mask)):
        for j in range(mask.shape[1]):
            rows = np.flatnonzero(emptied & (left == 0) & offered[:, j] & mask[:, j])
            spare = np.flatnonzero(open_cells[:, j] & ~mask[:, j] & (left > 1))
            takers = spare[np.argsort(-latent[spare, j], kind="stable")][: len(rows)]
            rows = rows[: len(takers)]
            mask[rows, j], mask[takers, j] = False, True
            left[rows] += 1
            left[takers] -= 1
    shown = observed & ~mask
    if not all(_free_by_a_chain(row, mask, shown, open_cells) for row in _empty(mask, shown)):
        raise InvalidParameterError(
            f"rate {draw.rate!r} leaves rows without any observed cell; "
            "lower it, choose fewer columns, or pass keep_one=False"
        )
    return mask


def _empty(mask: Bools, shown: Bools) -> Ints:
    """Rows that show nothing, but would without their holes."""
    return np.flatnonzero(mask.any(axis=1) & ~shown.any(axis=1))


def _free_by_a_chain(row: int, mask: Bools, shown: Bools, open_cells: Bools) -> bool:
    """Show a cell of ``row`` by a chain of swaps, each within a column; False if there is none.

    A row that shows one cell can take a hole there if it passes one of its own holes on. The search
    goes over the rows breadth first until one can spare a cell, and then swaps along the way back.
    """
    came_from = {row: (row, -1)}
    queue = [row]
    for giver in queue:
        for column in np.flatnonzero(mask[giver]).tolist():
            for taker in np.flatnonzero(open_cells[:, column] & ~mask[:, column]).tolist():
                if taker in came_from:
                    continue
                came_from[taker] = (giver, column)
                queue.append(taker)
                if shown[taker].sum() > 1:
                    _swap_back(taker, came_from, mask, shown)
                    return True
    return False


def _swap_back(
    taker: int, came_from: dict[int, tuple[int, int]], mask: Bools, shown: Bools
) -> None:
    """Hand each hole of the chain that ends at ``taker`` to the next row."""
    while came_from[taker][0] != taker:
        giver, column = came_from[taker]
        for cells, at_giver in ((mask, False), (shown, True)):
            cells[giver, column], cells[taker, column] = at_giver, not at_giver
        taker = giver


def _put_one_back(mask: Bools, latent: Floats, observed: Bools) -> Bools:
    """Show the least likely hole of each emptied row, then of each emptied column."""
    mask = mask.copy()
    for axis in (1, 0):
        emptied = mask.any(axis=axis) & ~(observed & ~mask).any(axis=axis)
        where = np.flatnonzero(emptied)
        weakest = np.argmin(np.where(mask, latent, np.inf), axis=axis)[where]
        mask[(where, weakest) if axis == 1 else (weakest, where)] = False
    return mask
