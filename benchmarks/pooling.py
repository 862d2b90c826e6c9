"""How often pooled intervals from draws of GreyImputer hold the truth.

    python benchmarks/pooling.py --tables 60

Each table has 150 rows of x, w = x/2 + noise and z = x + w/2 + noise. A third of z and of x is
hidden, each on its own, and both together in another 15 % of the rows. Ten draws each; the 95 %
intervals should hold the slope of x in the regression of z on x and w, the mean of z, and the
correlation of x and z in 95 % of the tables.
"""

import argparse

import numpy as np

import greyfill

ROWS, DRAWS = 150, 10
SPREAD = 0.87
"""Standard deviation of the noise in w, so that its variance is about 1."""


def simulated(seed: int) -> np.ndarray:
    """Columns x, z and w with holes in x and z."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=ROWS)
    w = 0.5 * x + rng.normal(size=ROWS) * SPREAD
    z = x + 0.5 * w + rng.normal(size=ROWS)
    X = np.column_stack([x, z, w])
    X[rng.random(ROWS) < 0.3, 1] = np.nan
    X[rng.random(ROWS) < 0.3, 0] = np.nan
    X[rng.random(ROWS) < 0.15, :2] = np.nan
    return X


def slope(table: np.ndarray) -> tuple[float, float]:
    """The coefficient of x in the regression of z, and its variance."""
    design = np.column_stack([np.ones(ROWS), table[:, 0], table[:, 2]])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ table[:, 1]
    left = table[:, 1] - design @ beta
    return float(beta[1]), float(inverse[1, 1] * (left @ left) / (ROWS - 3))


def mean(table: np.ndarray) -> tuple[float, float]:
    """The mean of z, and its variance."""
    return float(table[:, 1].mean()), float(table[:, 1].var(ddof=1) / ROWS)


def correlation(table: np.ndarray) -> tuple[float, float]:
    """Fisher's z of the correlation of x and z, and its variance."""
    return float(np.arctanh(np.corrcoef(table[:, 0], table[:, 1])[0, 1])), 1 / (ROWS - 3)


VARIANCE_OF_W = 0.25 + SPREAD**2
VARIANCE_OF_Z = 1 + 0.25 * VARIANCE_OF_W + 0.5 + 1
ANALYSES = {
    "slope": (slope, 1.0, ROWS - 3),
    "mean": (mean, 0.0, ROWS - 1),
    "correlation": (correlation, float(np.arctanh(1.25 / np.sqrt(VARIANCE_OF_Z))), ROWS - 3),
}


def coverage(n_tables: int) -> dict[str, float]:
    """The share of the tables whose interval holds the truth, for each analysis."""
    held = dict.fromkeys(ANALYSES, 0)
    for seed in range(n_tables):
        X = simulated(seed)
        tables = greyfill.GreyImputer(n_cells=60).fit(X).draw(X, DRAWS)
        for name, (analysis, truth, df) in ANALYSES.items():
            estimates, variances = zip(*map(analysis, tables), strict=True)
            low, high = greyfill.pool(estimates, variances, df_complete=df).interval(0.95)
            held[name] += bool(low <= truth <= high)
    return {name: count / n_tables for name, count in held.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=60)
    for name, share in coverage(parser.parse_args().tables).items():
        print(f"{name:12} {share:.1%}")
