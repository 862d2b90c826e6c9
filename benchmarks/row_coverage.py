"""Whether the 90 % intervals and the draws of GreyImputer hold for each kind of row.

    python benchmarks/row_coverage.py --seeds 30
    python benchmarks/row_coverage.py --seeds 30 --only classes,levels

``classes``: two classes, in which a column has the noise 0.3 and 2. ``growth``: noise that grows
with x, by fifths of x. ``iris``: 30 % MCAR, by species. ``levels``: three levels of a category, of
which the middle one is the hardest. Rows are the training table's own, with y and without it.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

import greyfill

LEVEL, WIDTH = 0.9, 2 * 1.6449
ROWS, RATE = 400, 0.3
NOISE = (0.3, 2.0)

Found = dict[str, list[float]]


def holed(rng: np.random.Generator, whole: np.ndarray, columns: Any = slice(None)) -> np.ndarray:
    """The table with `RATE` of the cells of some columns hidden, completely at random."""
    out = whole.copy()
    out[:, columns] = np.where(rng.random(out[:, columns].shape) < RATE, np.nan, out[:, columns])
    return out


def limits(X: np.ndarray, y: np.ndarray | None, imputer: Any, truth: np.ndarray) -> Any:
    """For each hole its row, whether its limits hold the truth, and how wide they are."""
    found = imputer._interval_lists(X, y, LEVEL)
    rows, columns = np.array(found["rows"]), [int(str(name)[1:]) for name in found["columns"]]
    low, high = np.array(found["low"]), np.array(found["high"])
    true = truth[rows, columns]
    return rows, (low <= true) & (true <= high), high - low


def classes(seed: int, found: Found) -> None:
    """v = slope · x + noise, of which the class tells the size."""
    rng = np.random.default_rng(seed)
    y = np.arange(ROWS) % 2
    x, w, noise = rng.normal(size=(3, ROWS))
    for slope in (0.0, 0.5):
        whole = np.column_stack([x, slope * x + np.array(NOISE)[y] * noise, w])
        X = holed(rng, whole, [1])
        imputer = greyfill.GreyImputer(random_state=seed).fit(X, y)
        for told in (y, None):
            rows, inside, widths = limits(X, told, imputer, whole)
            for label, sd in enumerate(NOISE):
                name = f"slope {slope}, sd {sd}, {'no y' if told is None else 'y'}: "
                found[name + "covered"] += inside[y[rows] == label].tolist()
                ratios = widths[y[rows] == label] / (WIDTH * sd)
                found[name + "width / ideal"] += ratios.tolist()
        for table in imputer.draw(X, 5, y):
            for label, sd in enumerate(NOISE):
                here = np.isnan(X[:, 1]) & (y == label)
                drawn = table[here, 1] - slope * x[here]
                found[f"slope {slope}, sd {sd}: draws' sd / true"].append(drawn.std() / sd)


def growth(seed: int, found: Found) -> None:
    """v = x + noise that grows eightfold with x."""
    rng = np.random.default_rng(seed)
    x, w = rng.random(ROWS), rng.normal(size=ROWS)
    whole = np.column_stack([x, x + (0.1 + 0.7 * x) * rng.normal(size=ROWS), w])
    X = holed(rng, whole, [1])
    imputer = greyfill.GreyImputer(random_state=seed).fit(X)
    rows, inside, _ = limits(X, None, imputer, whole)
    for fifth in range(5):
        here = np.floor(5 * x[rows]) == fifth
        found[f"fifth {fifth + 1} of x"] += inside[here].tolist()


def iris(seed: int, found: Found) -> None:
    """Fisher's flowers."""
    whole, y = load_iris(return_X_y=True)
    X = holed(np.random.default_rng(seed), whole)
    imputer = greyfill.GreyImputer(random_state=seed).fit(X, y)
    for told in (y, None):
        rows, inside, widths = limits(X, told, imputer, whole)
        name = "without y" if told is None else "with y"
        for label in range(3):
            found[f"species {label}, {name}"] += inside[y[rows] == label].tolist()
        found[f"width {name}"] += widths.tolist()


def levels(seed: int, found: Found) -> None:
    """Three levels by a noisy cut of x."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(2, ROWS))
    level = np.digitize(x + 0.7 * rng.normal(size=ROWS), [-0.4, 0.4]).astype(float)
    X = holed(rng, np.column_stack([x, level, w]), [1])
    imputer = greyfill.GreyImputer(categorical_features=[1], random_state=seed).fit(X)
    limits = imputer._interval_lists(X, level=LEVEL)
    for row, given in zip(limits["rows"], limits["levels"], strict=True):
        found[f"level {int(level[row])}"].append(level[row] in given)
        found["levels in a set"].append(len(given))


SIMULATIONS: dict[str, Callable[[int, Found], None]] = {
    "classes": classes,
    "growth": growth,
    "iris": iris,
    "levels": levels,
}


def show(name: str, n_seeds: int) -> None:
    """What was found in some seeds, and its standard error between them."""
    means = defaultdict(list)
    cells: Found = defaultdict(list)
    for seed in range(n_seeds):
        found: Found = defaultdict(list)
        SIMULATIONS[name](seed, found)
        for key, values in found.items():
            means[key].append(np.mean(values))
            cells[key] += values
    for key, values in cells.items():
        error = np.std(means[key], ddof=1) / np.sqrt(n_seeds) if n_seeds > 1 else np.nan
        print(f"{name:8} {key:38} {np.mean(values):6.3f} ± {error:.3f} ({len(values)})", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--only", default=",".join(SIMULATIONS))
    options = parser.parse_args()
    for name in options.only.split(","):
        show(name, options.seeds)
