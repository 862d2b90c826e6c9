"""Candidates arranged for the kernels: one call for all that share neighbors or a regression."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from greyfill._grey.candidates import Candidate, Place
from greyfill.table import Bools, Floats, Ints

NO_LINE = 1e12
"""A penalty that leaves the mean, in place of infinity."""


@dataclass(frozen=True, eq=False)
class NeighborMeans:
    """Means of neighbors: which candidates they are, their places, and what each one takes."""

    which: Ints
    pairs: Ints
    ks: Ints
    by_distance: Bools


@dataclass(frozen=True, eq=False)
class Regressions:
    """Regressions of one relevance, scope and form; those of one k stand together."""

    which: Ints
    like: Candidate
    ks: Ints
    ridges: Floats


@dataclass(frozen=True, eq=False)
class Plan:
    """Some candidates, arranged for the kernels.

    ``places`` are those whose neighbors are needed, ``k`` how many of them.
    """

    places: tuple[Place, ...]
    k: int
    means: NeighborMeans | None
    local: tuple[Regressions, ...]
    common: tuple[Regressions, ...]

    @classmethod
    @lru_cache(maxsize=4_096)
    def of(cls, candidates: tuple[Candidate, ...]) -> "Plan":
        """Arrange some candidates; most columns of a table meet the same ones."""
        near = [c for c in candidates if c.k]
        places = tuple(dict.fromkeys(c.place for c in near))
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, c in enumerate(candidates):
            key = (c.kind,) if c.kind == "mean" else c.family
            groups.setdefault(key, []).append(number)
        means = None
        if which := groups.pop(("mean",), None):
            given = [candidates[i] for i in which]
            means = NeighborMeans(
                np.array(which),
                np.array([places.index(c.place) for c in given]),
                np.array([c.k for c in given]),
                np.array([c.kernel == "inverse" for c in given]),
            )
        kinds: dict[str, list[Regressions]] = {"local": [], "common": []}
        for (kind, *_), numbers in groups.items():
            some = sorted(numbers, key=lambda i: candidates[i].k)
            ks = np.array([candidates[i].k for i in some])
            ridges = np.array([min(candidates[i].ridge, NO_LINE) for i in some])
            like = candidates[some[0]]
            kinds[kind].append(Regressions(np.array(some), like, ks, ridges))
        k = max((c.k for c in near), default=0)
        return cls(places, k, means, tuple(kinds["local"]), tuple(kinds["common"]))
