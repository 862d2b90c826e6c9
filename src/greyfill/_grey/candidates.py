"""The ways to predict a column, and which of them are alike."""

from dataclasses import dataclass

import numpy as np

ALL_DONORS = 0
"""Stands for k = all donors of the scope."""

KS = (5, 10, 20, 40, 80)
KERNELS = ("uniform", "inverse")
LOCAL_KS = (20, 40, 80)
LOCAL_RIDGES = (1e-2, 1e-1, 1.0)
COMMON_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
LARGE_RIDGES = (1e-4, 1e-2, 1.0)

FORM_NAMES = {"values": "ridge", "scores": "ridge of ranks"}


@dataclass(frozen=True, order=True)
class Candidate:
    """One way to predict a column from the rows that have it observed.

    Parameters
    ----------
    relevance : "pair", "mixed" or "equal"
        Weights of the other columns in the grey distance and in the regression.
    scope : "split" or "soft"
        Donors of the same class, or of all classes with the class as one more column.
    k : int
        Number of nearest donors; 0 means all of the scope.
    kernel : "uniform" or "inverse"
        Donors count alike, or by 1/d².
    ridge : float
        The penalty of the regression on the donors; infinite leaves their weighted mean.
    form : "values" or "scores"
        Numbers enter the regression as they are, or as normal scores of their ranks.
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
    def kind(self) -> str:
        """One regression for all, a mean of neighbors, or a regression on neighbors."""
        if self.k == ALL_DONORS:
            return "common"
        return "mean" if np.isinf(self.ridge) else "local"

    def __str__(self) -> str:
        """The candidate in words, as ``selection_`` lists it."""
        many = "all donors" if self.k == ALL_DONORS else f"the {self.k} nearest donors"
        whose = "of the same class" if self.scope == "split" else "of any class"
        how = "mean of" if np.isinf(self.ridge) else f"{FORM_NAMES[self.form]} {self.ridge:g} on"
        near = ", the nearer the more" if self.kernel == "inverse" else ""
        return f"{how} {many} {whose}{near}; {self.relevance} weights"


MEAN_OF_ALL = Candidate("equal", "soft", ALL_DONORS, "uniform", np.inf, "values")
"""What is left where nothing can be compared."""

COMMON_RIDGE = Candidate("equal", "soft", ALL_DONORS, "uniform", 1e-2, "values")
"""The first pass of a large table, whose columns are tuned once, after it."""

UNTUNED = (COMMON_RIDGE, Candidate("equal", "soft", 10, "inverse", np.inf, "values"))
"""Columns without holes in a table too large to tune them: a line, and what is near it."""
