"""Why a cell got its value, for reading."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, repr=False)
class Explanation:
    """The donors of a filled cell and what the regression on them added.

    ``weights`` are what the values of the donors ``rows`` count; with ``others`` they sum to 1.
    ``gaps`` are the grey distances to each donor by column, NaN where the row has a hole or the
    column does not count.
    ``effects`` are what each column added to the prediction, in ``unit``: that of the cell where it
    is empty, days for dates, seconds for times, ranks for ordered levels, and for a category the
    probability of its level.

    >>> Explanation(3, "age", 41.0, [7], [0.8], 0.2, [40.0], [0.1], {"sex": [0.0]}, {"sex": 1.5})
    row 3, column 'age': 41
      donor row 7 gives 40, weight +0.80, distance 0.100 (farthest in: nothing)
      all other donors: weight +0.20
      sex moved it by +1.5
    """

    row: int
    column: str
    value: Any
    rows: list[int]
    weights: list[float]
    others: float
    values: list[Any]
    distances: list[float]
    gaps: dict[str, list[float]]
    effects: dict[str, float]
    unit: str = ""

    def __repr__(self) -> str:
        """Lines for a terminal."""
        lines = [f"row {self.row}, column {self.column!r}: {_plain(self.value)}"]
        for place, donor in enumerate(self.rows):
            lines.append(
                f"  donor row {donor} gives {_plain(self.values[place])}, "
                f"weight {self.weights[place]:+.2f}, distance {self.distances[place]:.3f} "
                f"(farthest in: {self._farthest(place)})"
            )
        lines.append(f"  all other donors: weight {self.others:+.2f}")
        what = "its probability" if self.unit == "probability" else "it"
        unit = f" {self.unit}" if self.unit in ("days", "seconds", "ranks") else ""
        lines += [
            f"  {name} moved {what} by {effect:+.4g}{unit}" for name, effect in self.strongest()
        ]
        return "\n".join(lines)

    def strongest(self, most: int = 5) -> list[tuple[str, float]]:
        """The columns that moved the value most, and by how much."""
        return sorted(self.effects.items(), key=lambda effect: -abs(effect[1]))[:most]

    def _farthest(self, place: int) -> str:
        apart = {name: gaps[place] for name, gaps in self.gaps.items() if gaps[place] > 0}
        return max(apart, key=lambda name: apart[name]) if apart else "nothing"


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value) if isinstance(value, str) else str(value)
