"""Compile ahead what filling and serving need, so that no later process has to.

`warm_up` runs the default imputer and the neighbor methods on small tables: numbers alone and with
categories, without y, with classes and with a measurement, in one batch and as one row, with draws
and intervals. It then tells what that took. ``greyfill warmup`` is its command.
"""

import os
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from greyfill.imputers.grey import GreyImputer
from greyfill.imputers.models import GreyClassifier, GreyRegressor
from greyfill.imputers.neighbors import CGKNNImputer, IKNNImputer, KNNIImputer, SKNNImputer

N_ROWS = 24


@dataclass(frozen=True)
class WarmUp:
    """How long it took, how many kernels were compiled or found compiled, and below which folder.

    ``folder`` is None where no folder for compiled code can be written.
    """

    seconds: float
    n_compiled: int
    n_found: int
    folder: str | None


def warm_up() -> WarmUp:
    """Compile what is not yet compiled, or load it."""
    from greyfill._search.jit import KERNELS

    started = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _fill_tables()
        _read_text()
    counts = [kernel.stats for kernel in KERNELS if hasattr(kernel, "stats")]
    caches = {kernel._cache.cache_path for kernel in KERNELS if hasattr(kernel, "_cache")} - {None}
    return WarmUp(
        perf_counter() - started,
        sum(sum(stats.cache_misses.values()) for stats in counts),
        sum(sum(stats.cache_hits.values()) for stats in counts),
        os.path.commonpath(caches) if caches else None,
    )


def _fill_tables() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, 4))
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    mixed = numbers.copy()
    mixed[:, 3] = np.where(np.isnan(numbers[:, 3]), np.nan, np.arange(N_ROWS) % 3)
    classes, response = np.arange(N_ROWS) % 2, rng.normal(size=N_ROWS)
    for X, categorical in ((numbers, []), (mixed, [3])):
        for y in (None, classes, response):
            _serve(GreyImputer(categorical_features=categorical), X, y)
        for imputer in (CGKNNImputer(), IKNNImputer(), SKNNImputer(), KNNIImputer(2)):
            imputer.set_params(categorical_features=categorical)
            imputer.fit_transform(X, classes)
            _transform(imputer, X)
        GreyClassifier(categorical_features=categorical).fit(X, classes).predict(X[:1])
        GreyRegressor(categorical_features=categorical).fit(X, response).predict(X[:1])


def _serve(imputer: GreyImputer, X: Any, y: Any) -> None:
    imputer.fit_transform(X, y)
    _transform(imputer, X)
    imputer.draw(X, 2, y)
    imputer._interval_lists(X, y)


def _transform(imputer: Any, X: Any) -> None:
    imputer.transform(X)
    imputer.transform(X[np.isnan(X).any(axis=1)][:1])


def _read_text() -> None:
    """A text that is long enough to be cut by compiled code."""
    from greyfill.files import tokens

    body = b'a,b"c"\n' * (tokens.SMALL // 7 + 1)  # quotes around cells need no compiled code
    found = tokens.tokenize(body, ",")
    tokens.contents(body, found.starts[:2], found.ends[:2])
