"""The ways to predict a column, and which of them are alike."""

from dataclasses import dataclass

import numpy as np

ALL_DONORS = 0
"""Stands for k = all donors of the scope."""

RELEVANCES = ("pair", "mixed", "equal")

KS = (5, 10, 20, 40, 80)
KERNELS = ("uniform", "inverse")
LOCAL_KS = (20, 40, 80)
MANY_DONORS = 1_000
"""With fewer donors the largest k is left out: so many are no neighborhood."""

LOCAL_RIDGES = (0.03, 0.5)
COMMON_RIDGES = (1e-3, 0.03, 1.0)
LARGE_RIDGES = (1e-4, 1e-2, 1.0)


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
