"""Figures that need no imputation: information of columns, sizes of tables, time to start."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from greyfill import ClassInformation, PairInformation, datasets, frames
from greyfill.evaluation.reproduction.results import INFORMATION, TIMINGS
from greyfill.evaluation.reproduction.scenarios import scenario
from greyfill.information import class_information, normalize

WEIGHTS: dict[str, ClassInformation | PairInformation] = {
    "cgknn": ClassInformation(),
    "fwgknn": PairInformation(),
}


def information(scenarios: tuple[str, ...], seeds: range) -> pl.DataFrame:
    """Information of every column about the class, on tables without holes made in them.

    The cubes and normal classes are drawn for each seed; the other tables are always the same.
    """
    return pl.DataFrame(list(_information(scenarios, seeds)), schema=INFORMATION)


def _information(scenarios: tuple[str, ...], seeds: range) -> Iterator[dict[str, Any]]:
    for name in scenarios:
        drawn = name in ("cubes", "gaussian")
        for seed in seeds if drawn else seeds[:1]:
            table, labels = scenario(name).draw(seed)
            bits = class_information(table, labels)
            for column, bit, weight in zip(table.columns, bits, normalize(bits), strict=True):
                yield {
                    "scenario": name,
                    "seed": seed,
                    "column": column.name,
                    "bits": float(bit),
                    "weight": float(weight),
                }


def start_times(scenarios: tuple[str, ...], seed: int, repeats: int) -> pl.DataFrame:
    """Seconds that CGKNN and FWGKNN need for their column weights, taken in turns.

    The table has 20 % holes; FWGKNN weighs for each column that has holes.
    """
    return pl.DataFrame(list(_start_times(scenarios, seed, repeats)), schema=TIMINGS)


def _start_times(scenarios: tuple[str, ...], seed: int, repeats: int) -> Iterator[dict[str, Any]]:
    for name in scenarios:
        case = scenario(name).case(0.20, seed)
        targets = np.flatnonzero(case.table.missing.any(axis=0))
        for repeat in range(-1, repeats):  # the first is not counted
            for method, part in WEIGHTS.items():
                start = time.perf_counter()
                part.weigh(case.table, case.labels, targets)
                seconds = time.perf_counter() - start
                if repeat >= 0:
                    yield {
                        "scenario": name,
                        "repeat": repeat,
                        "method": method,
                        "targets": len(targets),
                        "seconds": seconds,
                    }


@dataclass(frozen=True)
class Size:
    """Characteristics of a bundled table; shares of missing cells are in percent."""

    instances: int
    features: int
    classes: int
    feature_type: str
    missing_cells: int
    missing: float
    missing_with_class: float


def size(name: str, drop: tuple[str, ...] = ()) -> Size:
    """Count a bundled table, without some of its columns.

    ``missing_with_class`` divides by all cells including the class column.

    >>> size("hepatitis")
    Size(instances=155, features=19, classes=2, feature_type='Mixed (both)', missing_cells=167,
         missing=5.67..., missing_with_class=5.38...)
    """
    data = datasets.load(name)
    table = frames.encode(data.X.drop(*drop))[0]
    kinds = {True: "Categorical", False: "Continuous"}
    found = {kinds[bool(flag)] for flag in table.is_categorical}
    holes, n, p = int(table.missing.sum()), table.n_rows, table.n_columns
    return Size(
        instances=n,
        features=p,
        classes=len(frames.encode_labels(data.y)[1]),
        feature_type=found.pop() if len(found) == 1 else "Mixed (both)",
        missing_cells=holes,
        missing=100 * holes / (n * p),
        missing_with_class=100 * holes / (n * (p + 1)),
    )
