"""Draw the picture of the README: a few rows of the hepatitis table before and after.

python docs/_site/picture.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from greyfill import CGKNNImputer
from greyfill.datasets import load

COLUMNS = ("AGE", "STEROID", "LIVER_FIRM", "BILIRUBIN", "ALBUMIN", "PROTIME")
N_ROWS = 7
HOLE, FILLED, INK, LINE = "#eceff1", "#b2dfdb", "#263238", "#b0bec5"
CLASS_COLORS = {"live": "#e3eaf0", "die": "#f3dfd3"}
OUTPUT = Path(__file__).parents[1] / "img" / "fill.svg"


def main() -> None:
    hepatitis = load("hepatitis")
    imputer = CGKNNImputer(categorical_features=hepatitis.categorical_features)
    filled = imputer.fit_transform(hepatitis.X, hepatitis.y)
    holes = (
        hepatitis.X.select(COLUMNS)
        .select([hepatitis.X[name].is_null().alias(name) for name in COLUMNS])
        .to_numpy()
    )
    rows = choose_rows(holes, hepatitis.y.to_numpy())
    mpl.rcParams["svg.hashsalt"] = "greyfill"
    figure = Figure(figsize=(10.4, 2.9), layout="constrained")
    before, arrow, after = figure.subplots(1, 3, width_ratios=(1, 0.08, 1))
    labels = [str(label) for label in hepatitis.y.gather(rows)]
    for axes, table, color in ((before, hepatitis.X, HOLE), (after, filled, FILLED)):
        cells = [[shown(value) for value in table[name].gather(rows)] for name in COLUMNS]
        draw_table(axes, cells, holes[rows], labels, color)
    arrow.axis("off")
    arrow.annotate(
        "", (1, 0.45), (0, 0.45), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.5}
    )
    figure.savefig(OUTPUT, metadata={"Date": None})
    print(f"wrote {OUTPUT}")


def shown(value: object) -> str:
    """A cell as people write it; a hole is empty."""
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def choose_rows(holes: np.ndarray, labels: np.ndarray) -> list[int]:
    """Rows with one to three holes in the chosen columns, of both classes in turn."""
    some = np.isin(holes.sum(axis=1), (1, 2, 3))
    lively = [int(i) for i in np.flatnonzero(some & (labels == "live"))]
    deadly = [int(i) for i in np.flatnonzero(some & (labels == "die"))]
    return sorted([*lively[: N_ROWS - 3], *deadly[:3]])


def draw_table(
    axes: Axes, cells: list[list[str]], holes: np.ndarray, labels: list[str], color: str
) -> None:
    axes.set(xlim=(-1.02, len(COLUMNS) + 0.02), ylim=(N_ROWS + 0.02, -0.9))
    axes.axis("off")
    for i, label in enumerate(labels):
        write_cell(axes, -1, i, label, CLASS_COLORS[label])
        for j, column in enumerate(cells):
            write_cell(axes, j, i, column[i], color if holes[i, j] else "white")
    for j, name in enumerate(("class", *COLUMNS)):
        size = 6.5 if len(name) > 7 else 8
        axes.text(
            j - 0.5, -0.3, name, ha="center", va="center", size=size, color=INK, weight="bold"
        )


def write_cell(axes: Axes, x: int, y: int, text: str, color: str) -> None:
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=color, edgecolor=LINE, linewidth=0.8))
    axes.text(x + 0.5, y + 0.52, text, ha="center", va="center", size=8, color=INK)


if __name__ == "__main__":
    main()
