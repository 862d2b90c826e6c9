"""Work that other processes do in tests; they import it by name."""

import numpy as np

from greyfill import CGKNNImputer
from greyfill.table import Floats


def holed(n: int = 700, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(y[:, np.newaxis], 1.0, (n, 6))
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def fill(seed: int) -> list[list[float]]:
    X, y = holed(400, seed)
    return CGKNNImputer(n_neighbors=4, n_jobs=2).fit_transform(X, y).tolist()
