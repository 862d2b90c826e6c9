"""Six parts under one name, and what the use of labels makes of them."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from greyfill._neighbors.donors import AllRows, RowPool
from greyfill._neighbors.filling import PlainFill
from greyfill._neighbors.schedule import Descent, Direct, Report, Trace, Work
from greyfill._neighbors.start import GlobalStart
from greyfill._neighbors.weighting import EqualWeights
from greyfill._search.pool import DonorPool
from greyfill.checks import check_choice
from greyfill.exceptions import InvalidParameterError
from greyfill.information import normalize
from greyfill.table import Bools, Floats, Ints, Table

LABEL_USES = ("donors", "cross", "weights", "none")


@runtime_checkable
class Distance(Protocol):
    """Finds the nearest donors."""

    @property
    def holes(self) -> str:
        """Whether a hole counts by its "mask" or as "filled"."""

    def search(
        self,
        pool: DonorPool,
        queries: Floats,
        missing: Bools,
        own_rows: Ints,
        weights: Floats,
        k: int,
        extremes: Floats | None = None,
    ) -> tuple[Ints, Floats]:
        """Rows and distances of the k nearest donors; Δmin and Δmax may be of more donors."""

    def over_observed(self, distances: Floats, share: Floats) -> Floats:
        """The same distances over the observed columns, which carry ``share`` of the weight."""


class UsesLabels(Protocol):
    """A part that may need the class labels."""

    @property
    def uses_labels(self) -> bool:
        """Whether labels are needed."""


@runtime_checkable
class Weights(UsesLabels, Protocol):
    """Weighs the columns."""

    @property
    def by_target(self) -> bool:
        """Whether each target column has weights of its own."""

    def weigh(self, table: Table, labels: Ints | None, targets: Ints) -> Floats:
        """One row of weights for all target columns, or one for each."""


@runtime_checkable
class Donors(UsesLabels, Protocol):
    """Chooses which rows may give to which."""

    def pools(self, labels: Ints | None, missing: Bools) -> list[RowPool]:
        """Disjoint groups of takers, each with its givers."""


@runtime_checkable
class Start(UsesLabels, Protocol):
    """Fills the holes before the loop."""

    def fill(self, table: Table, labels: Ints | None) -> tuple[Floats, int]:
        """Values without holes, and how many cells fell back to all classes."""


@runtime_checkable
class Fill(Protocol):
    """Weighs the donors of a cell."""

    def weigh(self, distances: Floats) -> tuple[Floats, Floats]:
        """Weights for numbers (rows sum to 1) and for votes."""


@runtime_checkable
class Schedule(Protocol):
    """Orders the passes."""

    @property
    def tol(self) -> float:
        """A change below this is no change."""

    @property
    def max_iter(self) -> int:
        """The largest number of passes."""

    def run(self, work: Work, report: Report) -> Trace:
        """Fill every hole."""


PARTS: dict[str, tuple[type, str]] = {
    "distance": (Distance, "Grey() or Heom()"),
    "weights": (Weights, "ClassInformation() or EqualWeights()"),
    "donors": (Donors, "SameClass() or AllRows()"),
    "fill": (Fill, "WeightedFill() or PlainFill()"),
    "start": (Start, "ClassStart() or GlobalStart()"),
    "schedule": (Schedule, "UntilStable(), Direct() or Once()"),
}


@dataclass(frozen=True)
class Recipe:
    """A neighbor method: one part of each sort."""

    distance: Distance
    weights: Weights
    donors: Donors
    fill: Fill
    start: Start
    schedule: Schedule

    @classmethod
    def plain(cls, distance: Distance, schedule: Schedule) -> "Recipe":
        """Mean and mode of the nearest of all rows, all columns alike."""
        return cls(distance, EqualWeights(), AllRows(), PlainFill(), GlobalStart(), schedule)

    def checked(self) -> "Recipe":
        """Refuse what is no part of its sort, or does not go together; for parts of a user."""
        for name, (sort, known) in PARTS.items():
            part: Any = getattr(self, name)
            if isinstance(part, type) or not isinstance(part, sort):
                raise InvalidParameterError(f"{name} must be a part such as {known}, not {part!r}")
        if isinstance(self.schedule, Direct) and self.distance.holes == "filled":
            raise InvalidParameterError(
                f"Direct() needs donors that stay the same, but {self.distance!r} searches anew in "
                "every pass; use holes='mask', or schedule=UntilStable()"
            )
        if isinstance(self.schedule, Descent) and (
            self.distance.holes != "filled" or self.uses_labels or self.weights.by_target
        ):
            raise InvalidParameterError(
                "Descent() lowers the distances of the fills: it needs holes='filled' in the "
                "distance, and equal weights and donors for all rows"
            )
        return self

    def weigh_columns(self, table: Table, labels: Ints | None, targets: Ints) -> Floats:
        """One row of weights for all target columns, or one for each; none for identifiers."""
        weights = self.weights.weigh(table, labels, targets)
        heard = table.predicts
        if heard.all():
            return weights
        rows = [normalize(row if row.any() else heard.astype(float)) for row in weights * heard]
        return np.array(rows).reshape(weights.shape)

    @property
    def uses_labels(self) -> bool:
        """Whether any part needs the class labels."""
        return self.weights.uses_labels or self.splits_by_label

    @property
    def splits_by_label(self) -> bool:
        """Whether a row's own label tells what fills it."""
        return self.donors.uses_labels or self.start.uses_labels

    def restrict_labels(self, use: str) -> "Recipe":
        """The same method with labels for all, for the column weights only, or for nothing."""
        check_choice("labels", use, LABEL_USES)
        if use in ("donors", "cross"):  # these differ in how the training rows are filled
            return self
        donors = AllRows() if self.donors.uses_labels else self.donors
        start = GlobalStart() if self.start.uses_labels else self.start
        blind = use == "none" and self.weights.uses_labels
        weights = EqualWeights() if blind else self.weights
        return replace(self, donors=donors, start=start, weights=weights)
