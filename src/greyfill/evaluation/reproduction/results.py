"""What a reproduction measured: long tables, and mean ± sd over seeds out of them."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from greyfill.files import put_parquet

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
