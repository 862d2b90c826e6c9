"""What a reproduction measured: long tables, and mean ± standard error over seeds out of them."""

import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from greyfill import ClassInformation, PairInformation
from greyfill.files import put_parquet
from greyfill.imputers.registry import REGISTRY
from greyfill.information import class_information, normalize
from greyfill.paper.printed import PrintedTable
from greyfill.paper.runs import ALL_ROWS, PANEL, SCENARIOS, Reading
from greyfill.table import Floats

RUNS = {
    "scenario": pl.String,
    "rate": pl.Float64,
    "seed": pl.Int64,
    "method": pl.String,
    "reading": pl.String,
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
KEPT = 4_000_000
"""Numbers in a block of 31 MiB, the largest of which C's malloc learns to keep what is freed."""

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
    '0.200 ± 0.100'
    """

    mean: float
    sd: float
    n: int

    @classmethod
    def of(cls, values: "pl.Series | Floats | list[float]") -> "Cell | None":
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
        """Mean ± standard error as text; the mean alone for one seed."""
        spread = "" if self.n == 1 else f" ± {self.error:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}".replace("-", "−")


@dataclass(frozen=True, eq=False)
class Results:
    """All tables of a reproduction; ``timings`` alone differs from run to run.

    ``runs`` has a row for each setting, rate, seed, method, reading and metric; ``error`` says why
    a method gave no value. Of the neighbor methods, the rows of ``reading`` are looked at.
    ``commit`` is the state of the source that measured; "" where it is no checkout.
    """

    runs: pl.DataFrame = field(default_factory=partial(pl.DataFrame, schema=RUNS))
    passes: pl.DataFrame = field(default_factory=partial(pl.DataFrame, schema=PASSES))
    information: pl.DataFrame = field(default_factory=partial(pl.DataFrame, schema=INFORMATION))
    timings: pl.DataFrame = field(default_factory=partial(pl.DataFrame, schema=TIMINGS))
    reading: Reading = PANEL[0]
    commit: str = ""

    def cell(self, scenario: str, rate: float, method: str, metric: str) -> Cell | None:
        """Mean and sd over the seeds of one metric of one method."""
        return Cell.of(self.by_seed(scenario, rate, metric, [method])[method])

    def by_seed(
        self, scenario: str, rate: float, metric: str, methods: Iterable[str]
    ) -> pl.DataFrame:
        """A row for each seed, a column for each method; null where it gave no value."""
        names = list(methods)
        here = {"scenario": scenario, "rate": rate, "metric": metric}
        rows = self.runs.filter(pl.col("method").is_in(names), **here)
        found = rows.select("seed").unique().sort("seed")
        for name in names:
            own = rows.filter(method=name, reading=self.reading.key(name))
            found = found.join(own.select("seed", pl.col("value").alias(name)), "seed", "left")
        return found

    def rates(self, table: PrintedTable) -> list[float]:
        """Rates of a printed table at which its setting was run."""
        measured = set(self.runs.filter(scenario=table.scenario)["rate"])
        return [rate for rate in table.rates if rate in measured]

    @property
    def others(self) -> list[str]:
        """Methods of an extended reproduction: no rows of the paper, nor references."""
        found = set(self.runs["method"].unique()) - {*ALL_ROWS}
        return [name for name in REGISTRY if name in found]

    def failures(self) -> dict[str, str]:
        """The first error of each method that failed somewhere."""
        failed = self.runs.filter(pl.col("error").is_not_null()).sort("method", "scenario")
        rows = failed.unique("method", keep="first", maintain_order=True)
        return dict(rows.select("method", "error").iter_rows())

    def curve(self, rate: float, method: str, protocol: str) -> pl.DataFrame:
        """Accuracy of each seed after each number of passes."""
        return self.passes.filter(rate=rate, method=method, protocol=protocol)

    def mean_curve(self, rate: float, method: str, protocol: str) -> pl.DataFrame:
        """Mean accuracy over the seeds after each number of passes."""
        groups = self.curve(rate, method, protocol).group_by("passes")
        return groups.agg(pl.col("accuracy").mean()).sort("passes")

    def toy_information(self, what: str) -> dict[str, Cell]:
        """Mean and sd over the seeds of ``bits`` or ``weight`` of each column of the cubes."""
        rows = self.information.filter(scenario="cubes")
        names = rows["column"].unique(maintain_order=True)
        cells = {str(name): Cell.of(rows.filter(column=name)[what]) for name in names}
        return {name: cell for name, cell in cells.items() if cell is not None}

    def times(self, method: str) -> dict[str, tuple[int, Cell]]:
        """By setting: columns with holes, and milliseconds for the weights of a method."""
        groups = self.timings.filter(method=method).group_by("scenario", maintain_order=True)
        cells = {
            str(name): (own["targets"][0], Cell.of(1000 * own["seconds"]))
            for (name,), own in groups
        }
        return {name: (targets, cell) for name, (targets, cell) in cells.items() if cell}

    def save(self, folder: Path) -> list[Path]:
        """Write each table as Parquet."""
        folder.mkdir(parents=True, exist_ok=True)
        names = ("runs", "passes", "information", "timings")
        paths = [folder / f"{name}.parquet" for name in names]
        for path in paths:
            put_parquet(path, getattr(self, path.stem))
        return paths


def source_commit(package: Path = Path(__file__).parents[1]) -> str:
    """The commit of the checkout that has ``package``, "-dirty" if changed; "" if there is none.

    >>> source_commit(Path("/usr/lib/python3/site-packages/greyfill"))
    ''
    """
    root, git = package.parents[1], shutil.which("git")  # src/greyfill lies two below the root
    if git is None or not (root / ".git").exists():
        return ""
    command = [git, "-C", str(root), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def information(scenarios: tuple[str, ...], seeds: range) -> pl.DataFrame:
    """Information of every column about the class, on tables without holes made in them.

    The cubes and normal classes are drawn for each seed; the other tables are always the same.
    """
    rows: list[tuple[str, int, str, float, float]] = []
    for name in scenarios:
        for seed in seeds if name in ("cubes", "gaussian") else seeds[:1]:
            table, labels = SCENARIOS[name].draw(seed)
            bits = class_information(table, labels)
            for column, bit, weight in zip(table.columns, bits, normalize(bits), strict=True):
                rows.append((name, seed, column.name, float(bit), float(weight)))
    return pl.DataFrame(rows, schema=INFORMATION, orient="row")


def start_times(scenarios: tuple[str, ...], seed: int, repeats: int) -> pl.DataFrame:
    """Processor time that CGKNN and FWGKNN need for their column weights, taken in turns.

    The table has 20 % holes; FWGKNN weighs for each column that has holes. A fresh process gives
    large arrays back and has their pages zeroed again, which took FWGKNN twice as long as its
    weights did; one that had worked before does not. So memory is kept first.
    """
    np.ones(KEPT)
    rows: list[tuple[str, int, str, int, float]] = []
    for name in scenarios:
        case = SCENARIOS[name].case(0.20, seed)
        targets = np.flatnonzero(case.table.missing.any(axis=0))
        for repeat in range(-1, repeats):  # the first is not counted
            for method, part in (("cgknn", ClassInformation()), ("fwgknn", PairInformation())):
                start = time.thread_time()  # under `ulimit -t` that of the process moves in steps
                part.weigh(case.table, case.labels, targets)
                seconds = time.thread_time() - start
                if repeat >= 0:
                    rows.append((name, repeat, method, len(targets), seconds))
    return pl.DataFrame(rows, schema=TIMINGS, orient="row")
