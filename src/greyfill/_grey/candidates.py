"""The ways to predict a column, which of them are alike, and which a kernel computes at once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from greyfill.table import Bools, Floats, Ints

ALL_DONORS = 0
"""Stands for k = all donors of the scope."""

RELEVANCES = ("pair", "mixed", "equal")

KS = (5, 10, 20, 40, 80)
KERNELS = ("uniform", "inverse")
LOCAL_KS = (20, 40, 80)
MANY_DONORS = 1_000
"""With fewer donors the largest k is left out: so many are no neighborhood."""

LOCAL_RIDGES = (0.01, 0.3)
COMMON_RIDGES = (1e-4, 1e-2, 1.0)


Place = tuple[str, str]
"""A relevance and a scope."""


@dataclass(frozen=True, order=True)
class Candidate:
    """One way to predict a column from the rows that have it observed.

    ``relevance`` ("pair", "mixed", "equal") weighs the other columns in distance and regression.
    ``scope`` takes donors of the same class ("split"), or of all with the class as one more column
    ("soft"). The ``k`` nearest count, 0: all of the scope, alike or by 1/d² (``kernel`` "uniform"
    or "inverse"). ``ridge`` is the penalty of the regression on them; infinite leaves their
    weighted mean. In ``form`` "scores" numbers enter as normal scores of their ranks.
    """

    relevance: str
    scope: str
    k: int
    kernel: str
    ridge: float
    form: str

    @property
    def family(self) -> tuple[str, str, str, str]:
        """Candidates of one family differ only in k, kernel and ridge."""
        return self.kind, self.form, self.relevance, self.scope

    @property
    def place(self) -> Place:
        """Candidates of one place have the same neighbors."""
        return self.relevance, self.scope

    @property
    def kind(self) -> str:
        """One regression for all, a mean of neighbors, or a regression on neighbors."""
        if self.k == ALL_DONORS:
            return "common"
        return "mean" if self.ridge == np.inf else "local"

    def __str__(self) -> str:
        """The candidate in words, as ``selection_`` lists it."""
        many = "all donors" if self.k == ALL_DONORS else f"the {self.k} nearest donors"
        whose = "of the same class" if self.scope == "split" else "of any class"
        ridge = "ridge of ranks" if self.form == "scores" else "ridge"
        how = "mean of" if self.ridge == np.inf else f"{ridge} {self.ridge:g} on"
        near = ", the nearer the more" if self.kernel == "inverse" else ""
        return f"{how} {many} {whose}{near}; {self.relevance} weights"


MEAN_OF_ALL = Candidate("equal", "soft", ALL_DONORS, "uniform", np.inf, "values")
"""What is left where nothing can be compared."""

COMMON_RIDGE = Candidate("equal", "soft", ALL_DONORS, "uniform", 1e-2, "values")
"""The first pass of a large table, whose columns are tuned once, after it."""

UNTUNED = (COMMON_RIDGE, Candidate("equal", "soft", 10, "inverse", np.inf, "values"))
"""Columns without holes in a table too large to tune them: a line, and what is near it."""

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
