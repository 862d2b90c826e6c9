"""How often pooled 95 % intervals from several imputations hold the truth.

    python benchmarks/pooling.py --only line --tables 400
    python benchmarks/pooling.py --only logistic --tables 200
    python benchmarks/pooling.py --only mar --tables 200

``line``: draws of GreyImputer. Each table has 150 rows of x, w = x/2 + noise and z = x + w/2 +
noise. Of z and of x 30 % are hidden, each on its own, and both together in another 15 % of the
rows. Ten draws each; what is estimated is the slope of x in the regression of z on x and w, the
mean of z, and the correlation of x and z.

``logistic``: 300 rows, classes by a logistic regression on x (coefficient 1) and w (0.5), 40 % of
x hidden. The coefficient of x from 20 draws that know y, from 20 that do not, and from one fill
with each way to use labels, whose interval is that of a table without holes.

``mar``: MICE, the mean of z where it is hidden the more often the larger x is, P = expit(s x), by
each method of numbers; 10 imputations of 150 rows.
"""

import argparse
from typing import Any

import numpy as np
from scipy.special import expit

import greyfill

ROWS, PATIENTS, DRAWS = 150, 300, 10
LABELS = ("own", "cross", "none")
"""How a single fill may use them."""

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


def held(estimates: Any, variances: Any, truth: float, df: float) -> bool:
    """Whether the pooled interval holds the truth."""
    low, high = greyfill.pool(estimates, variances, df_complete=df).interval(0.95)
    return bool(low <= truth <= high)


def line(n_tables: int) -> None:
    """Linear analyses on draws."""
    found = dict.fromkeys(ANALYSES, 0)
    for seed in range(n_tables):
        X = simulated(seed)
        tables = greyfill.GreyImputer().fit(X).draw(X, DRAWS)
        for name, (analysis, truth, df) in ANALYSES.items():
            found[name] += held(*zip(*map(analysis, tables), strict=True), truth, df)
    for name, count in found.items():
        print(f"{name:12} {count / n_tables:.1%}")


def logit(table: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The coefficient of the first column in a logistic regression, and its variance."""
    design, beta = np.column_stack([np.ones(len(y)), table]), np.zeros(table.shape[1] + 1)
    for _ in range(25):
        p = expit(design @ beta)
        inverse = np.linalg.inv(design.T @ (design * (p * (1 - p))[:, np.newaxis]))
        beta = beta + inverse @ design.T @ (y - p)
    return float(beta[1]), float(inverse[1, 1])


def logistic(n_tables: int) -> None:
    """The coefficient of a column with holes, with y and without it."""
    ways = "drawn with y", "drawn without y", *(f"one fill, {labels}" for labels in LABELS)
    found: dict[str, list[tuple[float, bool]]] = {way: [] for way in ways}
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        x, w = rng.normal(size=(2, PATIENTS))
        x = 0.4 * w + np.sqrt(1 - 0.4**2) * x
        y = (rng.random(PATIENTS) < expit(x + 0.5 * w)).astype(int)
        X = np.column_stack([np.where(rng.random(PATIENTS) < 0.4, np.nan, x), w])
        imputer = greyfill.GreyImputer(random_state=seed).fit(X, y)
        blind = greyfill.GreyImputer(random_state=seed).fit(X)
        fills = (
            greyfill.GreyImputer(random_state=seed, labels=labels).fit_transform(X, y)
            for labels in LABELS
        )
        tables = imputer.draw(X, 20, y), blind.draw(X, 20), *([fill, fill] for fill in fills)
        for way, some in zip(ways, tables, strict=True):
            parts = zip(*(logit(table, y) for table in some), strict=True)
            estimates, variances = map(np.array, parts)
            covers = held(estimates, variances, 1.0, PATIENTS - 3)
            found[way].append((float(estimates.mean()), covers))
    for way, results in found.items():
        estimates, covers = np.array(results).T
        error = estimates.std(ddof=1) / np.sqrt(n_tables)
        print(f"{way:16} bias {estimates.mean() - 1:+.1%} ± {error:.1%}, held {covers.mean():.1%}")


def mar(n_tables: int) -> None:
    """The mean of a column that is hidden where another is large."""
    for strength in (0, 2, 4, 8):
        found: dict[str, list[bool]] = {"pmm": [], "norm": [], "auto": []}
        for seed in range(n_tables):
            rng = np.random.default_rng(seed)
            x = rng.normal(size=ROWS)
            w = 0.5 * x + rng.normal(size=ROWS) * SPREAD
            X = np.column_stack([x, x + 0.5 * w + rng.normal(size=ROWS), w])
            X[rng.random(ROWS) < expit(strength * x), 1] = np.nan
            for method, results in found.items():
                mice = greyfill.MICEImputer(DRAWS, n_iter=1, methods=method, random_state=seed)
                parts = zip(*map(mean, mice.fit(X).draws_), strict=True)
                results.append(held(*parts, 0.0, ROWS - 1))
        shares = ", ".join(f"{name} {np.mean(results):.1%}" for name, results in found.items())
        print(f"s = {strength}: {shares}", flush=True)


SIMULATIONS = {"line": line, "logistic": logistic, "mar": mar}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--only", default=",".join(SIMULATIONS))
    options = parser.parse_args()
    for name in options.only.split(","):
        SIMULATIONS[name](options.tables)
