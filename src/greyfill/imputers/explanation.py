"""Why a cell got its value, for reading."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Explanation:
    """The donors of a filled cell and what the regression on them added.

    ``weights`` are what the values of the donors ``rows`` count; with ``others`` they sum to 1.
    ``gaps`` are the grey distances to each donor by column, NaN where the row has a hole.
    ``effects`` are what each column added to the prediction, in the units of the cell (for a
    category: to the probability of its level).

    >>> print(Explanation(3, "age", 41.0, [7], [0.8], 0.2, [40.0], [0.1], {"sex": [0.0]}, {}))
    row 3, column 'age': 41
      donor row 7 gives 40, weight +0.80, distance 0.100 (farthest in: nothing)
      all other donors: weight +0.20
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

    def __str__(self) -> str:
        """Lines for a terminal."""
        lines = [f"row {self.row}, column {self.column!r}: {_plain(self.value)}"]
        for place, donor in enumerate(self.rows):
            lines.append(
                f"  donor row {donor} gives {_plain(self.values[place])}, "
                f"weight {self.weights[place]:+.2f}, distance {self.distances[place]:.3f} "
                f"(farthest in: {self._farthest(place)})"
            )
        lines.append(f"  all other donors: weight {self.others:+.2f}")
        lines += [f"  {name} moved it by {effect:+.4g}" for name, effect in self.strongest()]
        return "\n".join(lines)

    def strongest(self, most: int = 5) -> list[tuple[str, float]]:
        """The columns that moved the value most, and by how much."""
        return sorted(self.effects.items(), key=lambda effect: -abs(effect[1]))[:most]

    def _farthest(self, place: int) -> str:
        apart = {name: gaps[place] for name, gaps in self.gaps.items() if gaps[place] > 0}
        return max(apart, key=lambda name: apart[name]) if apart else "nothing"


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
