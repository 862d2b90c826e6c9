"""What a reproduction measured: long tables, and mean ± sd over seeds out of them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from greyfill import ClassInformation, PairInformation, datasets, frames
from greyfill.files import put_parquet
from greyfill.information import class_information, normalize
from greyfill.paper.scenarios import scenario

RUNS = {
    "scenario": pl.String,
    "rate": pl.Float64,
    "seed": pl.Int64,
    "method": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "error": pl.String,
}
PASSES = {
    "rate": pl.Float64,
    "seed": pl.Int64,
    "method": pl.String,
    "protocol": pl.String,
    "passes": pl.Int64,
    "accuracy": pl.Float64,
}
INFORMATION = {
    "scenario": pl.String,
    "seed": pl.Int64,
    "column": pl.String,
    "bits": pl.Float64,
    "weight": pl.Float64,
}
TIMINGS = {
    "scenario": pl.String,
    "repeat": pl.Int64,
    "method": pl.String,
    "targets": pl.Int64,
    "seconds": pl.Float64,
}


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation of a figure over the seeds.

    >>> Cell.of([0.1, 0.3]).show(3)
    '0.200 ± 0.141'
    """

    mean: float
    sd: float
    n: int

    @classmethod
    def of(cls, values: "pl.Series | list[float]") -> "Cell | None":
        """Sum up the finite values; None without any."""
        finite = np.asarray(values, dtype=float)
        finite = finite[np.isfinite(finite)]
        if len(finite) == 0:
            return None
        sd = float(finite.std(ddof=1)) if len(finite) > 1 else float("nan")
        return cls(float(finite.mean()), sd, len(finite))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / float(np.sqrt(self.n))

    def show(self, digits: int = 4) -> str:
        """Mean ± sd as text; the mean alone for one seed."""
        if self.n == 1:
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} ± {self.sd:.{digits}f}"


def empty(schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return a table of the given columns without rows."""
    return pl.DataFrame(schema=schema)


@dataclass(frozen=True, eq=False)
class Results:
    """All tables of a reproduction; ``timings`` alone differs from run to run.

    ``runs`` has a row for each setting, rate, seed, method and metric; ``error`` tells why a
    method gave no value.
    """

    runs: pl.DataFrame = field(default_factory=lambda: empty(RUNS))
    passes: pl.DataFrame = field(default_factory=lambda: empty(PASSES))
    information: pl.DataFrame = field(default_factory=lambda: empty(INFORMATION))
    timings: pl.DataFrame = field(default_factory=lambda: empty(TIMINGS))

    def cell(self, scenario: str, rate: float, method: str, metric: str) -> Cell | None:
        """Mean and sd over the seeds of one metric of one method."""
        return Cell.of(self._values(scenario, rate, method, metric)["value"])

    def difference(
        self, scenario: str, rate: float, methods: tuple[str, str], metric: str
    ) -> Cell | None:
        """First method less second, seed by seed."""
        first, second = (self._values(scenario, rate, m, metric) for m in methods)
        both = first.join(second, on="seed", suffix="_second")
        return Cell.of(both["value"] - both["value_second"])

    def final(self, rate: float, method: str, protocol: str) -> pl.DataFrame:
        """Accuracy of each seed after the last pass (the most passes that were run)."""
        rows = self.passes.filter(
            pl.col("rate").eq(rate), pl.col("method").eq(method), pl.col("protocol").eq(protocol)
        )
        return rows.filter(pl.col("passes") == pl.col("passes").max()).select("seed", "accuracy")

    def measured(self, scenario: str) -> list[float]:
        """Rates at which a setting was run."""
        rows = self.runs.filter(pl.col("scenario") == scenario)
        return sorted(rows["rate"].unique().to_list())

    def failures(self) -> dict[str, str]:
        """The first error of each method that failed somewhere."""
        failed = self.runs.filter(pl.col("error").is_not_null()).sort("method", "scenario")
        rows = failed.unique("method", keep="first", maintain_order=True)
        return dict(rows.select("method", "error").iter_rows())

    def save(self, folder: Path) -> list[Path]:
        """Write each table as Parquet."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in ("runs", "passes", "information", "timings"):
            path = folder / f"{name}.parquet"
            put_parquet(path, getattr(self, name))
            paths.append(path)
        return paths

    def _values(self, scenario: str, rate: float, method: str, metric: str) -> pl.DataFrame:
        return self.runs.filter(
            pl.col("scenario").eq(scenario),
            pl.col("rate").eq(rate),
            pl.col("method").eq(method),
            pl.col("metric").eq(metric),
            pl.col("value").is_not_null(),
        ).select("seed", "value")


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
