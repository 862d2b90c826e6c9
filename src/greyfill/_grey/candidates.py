"""The ways to predict a column, which of them are alike, and which a kernel computes at once."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from greyfill.table import Bools, Floats, Ints

ALL_DONORS = 0
"""Stands for k = all donors of the scope."""

RELEVANCES = ("pair", "mixed", "equal")
KINDS = ("common", "mean", "local")
"""Regressions on all donors, means of neighbors, regressions on neighbors; the cheapest first."""

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


@dataclass(frozen=True, eq=False)
class RidgeFamily:
    """Regressions that read the same features: one of them, all penalties, and their fits.

    The fits stand from ``first`` to ``last`` in the plan.
    """

    like: Candidate
    ridges: tuple[float, ...]
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Some candidates, arranged for the kernels of `greyfill._search.panel`.

    ``places`` are those whose neighbors are needed, ``relevances`` and ``splits`` the same as
    numbers and flags; ``ks`` and ``place_of`` are the k and the place of each candidate, 0 and −1
    of those that take all donors, ``kinds`` and ``families`` numbers of what is alike. A row of
    ``means`` has the number of the candidate, its place, its k, and whether the nearer count more;
    a row of ``fits`` the number of the candidate, and its k or the place of its penalty in its
    family, −1: none.
    """

    candidates: tuple[Candidate, ...]
    places: tuple[Place, ...]
    relevances: Ints
    splits: Bools
    ks: Ints
    place_of: Ints
    kinds: Ints
    families: Ints
    means: Ints
    fits: Ints
    ridges: Floats
    local: tuple[RidgeFamily, ...]
    common: tuple[RidgeFamily, ...]

    @cached_property
    def everything(self) -> Ints:
        """The numbers of all candidates."""
        return np.arange(len(self.candidates))

    @cached_property
    def numbers(self) -> dict[Candidate, int]:
        """The number of each candidate."""
        return {candidate: number for number, candidate in enumerate(self.candidates)}

    @cached_property
    def common_firsts(self) -> frozenset[int]:
        """The first fits of all regressions on all donors."""
        return frozenset(family.first for family in self.common)

    @cached_property
    def k(self) -> int:
        """The largest k."""
        return int(self.ks.max(initial=0))

    @classmethod
    @lru_cache(maxsize=4_096)
    def of(cls, candidates: tuple[Candidate, ...]) -> "Plan":
        """Arrange some candidates; most columns of a table meet the same ones."""
        places = tuple(dict.fromkeys(c.place for c in candidates if c.k))
        families = list(dict.fromkeys(c.family for c in candidates))
        means = [
            (number, places.index(c.place), c.k, c.kernel == "inverse")
            for number, c in enumerate(candidates)
            if c.kind == "mean"
        ]
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, c in enumerate(candidates):
            if c.kind != "mean":
                groups.setdefault(c.family, []).append(number)
        kinds: dict[str, list[RidgeFamily]] = {"local": [], "common": []}
        fits: list[tuple[int, int]] = []
        for (kind, *_), numbers in groups.items():
            numbers.sort(key=lambda i: candidates[i].k)
            given = dict.fromkeys(candidates[i].ridge for i in numbers)
            ridges = tuple(ridge for ridge in given if ridge < np.inf)
            like, first = candidates[numbers[0]], len(fits)
            for i in numbers:
                c = candidates[i]
                fits.append((i, c.k or (ridges.index(c.ridge) if c.ridge < np.inf else -1)))
            kinds[kind].append(RidgeFamily(like, ridges, first, len(fits)))
        return cls(
            candidates,
            places,
            np.array([RELEVANCES.index(relevance) for relevance, _ in places], dtype=np.intp),
            np.array([scope == "split" for _, scope in places], dtype=bool),
            np.array([c.k for c in candidates]),
            np.array([places.index(c.place) if c.k else -1 for c in candidates]),
            np.array([KINDS.index(c.kind) for c in candidates]),
            np.array([families.index(c.family) for c in candidates]),
            np.array(means, dtype=np.intp).reshape(-1, 4),
            np.array(fits, dtype=np.intp).reshape(-1, 2),
            np.array([candidates[i].ridge for i, _ in fits]),
            tuple(kinds["local"]),
            tuple(kinds["common"]),
        )
