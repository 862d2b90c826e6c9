"""Columns of very many levels: each row lists some, and its neighbors vote for them."""

from collections.abc import Iterator

import numpy as np

from greyfill._neighbors.tuned.asking import Asker, Neighborhood
from greyfill._neighbors.tuned.candidates import EVERYONE, Candidate
from greyfill._neighbors.tuned.ground import Queries
from greyfill._neighbors.tuned.outcomes import Outcomes
from greyfill.table import MANY_LEVELS, Floats, Ints

FREQUENT = 20
"""Levels that every row lists, the most frequent ones, before those of its neighbors."""


def ballot(
    asker: Asker, panel: tuple[Candidate, ...], queries: Queries
) -> tuple[Outcomes, Iterator[Floats]]:
    """The lists of some rows, and the votes of each candidate's neighbors, or of all donors."""
    hoods = [
        None if c.k == EVERYONE else asker.neighborhood(queries, c.relevance, c.scope, c.k)
        for c in panel
    ]
    outcomes = shortlist(asker, [h for h in hoods if h is not None], len(queries.values))
    answers = (
        frequencies(asker, outcomes)
        if near is None
        else votes(asker, near, c.k, c.kernel, outcomes)
        for c, near in zip(panel, hoods, strict=True)
    )
    return outcomes, answers


def shortlist(asker: Asker, hoods: list[Neighborhood], n_queries: int) -> Outcomes:
    """The most frequent levels, those of each row's neighbors, the nearest first, and more."""
    from greyfill._kernels import ridge as kernels

    codes, ranks = _codes(asker), [np.arange(hood.donors.shape[1]) for hood in hoods]
    given = [np.where(np.isfinite(hood.distances), codes[hood.donors], -1) for hood in hoods]
    order = np.argsort(np.concatenate([np.zeros(0), *ranks]), kind="stable")
    near = np.concatenate([np.zeros((n_queries, 0), dtype=np.intp), *given], axis=1)[:, order]
    levels = asker.ground.levels(asker.target)
    listed = kernels.shortlists(
        np.ascontiguousarray(near),
        levels[np.argsort(-_counts(asker), kind="stable")],
        FREQUENT,
        MANY_LEVELS,
    )
    return Outcomes(listed, len(levels) - MANY_LEVELS)


def votes(asker: Asker, near: Neighborhood, k: int, kernel: str, outcomes: Outcomes) -> Floats:
    """The weights of the k nearest donors, summed by level."""
    from greyfill._kernels import ridge as kernels

    weights = asker.donor_weights(near, k, kernel)
    found = kernels.local_votes(near.donors[:, :k], weights, _codes(asker), outcomes.levels)
    return np.where(weights.sum(axis=1, keepdims=True) > 0, found, np.nan)


def frequencies(asker: Asker, outcomes: Outcomes, left_out: Floats | None = None) -> Floats:
    """The share of each level among all donors, without a row's own code in ``left_out``."""
    counts, levels = _counts(asker), asker.ground.levels(asker.target)
    listed, total = counts[np.searchsorted(levels, outcomes.levels)], counts.sum()
    if left_out is not None:
        listed, total = listed - (outcomes.levels == left_out[:, np.newaxis]), total - 1.0
    shares = listed / (total if total > 0 else 1.0)
    return np.column_stack([shares, np.maximum(1.0 - shares.sum(axis=1), 0.0)])


def _codes(asker: Asker) -> Ints:
    return asker.ground.table.values[:, asker.target].astype(np.intp)


def _counts(asker: Asker) -> Floats:
    """How many donors have each level of the target, or what they count together."""
    levels = asker.ground.levels(asker.target)
    places = np.searchsorted(levels, _codes(asker)[asker.donors])
    counts = None if asker.multipliers is None else asker.multipliers[asker.donors]
    return np.bincount(places, counts, len(levels)).astype(float)
