"""Reproduce every table and figure of the paper: run, draw, judge, write."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from joblib import Parallel, delayed

from greyfill.evaluation.reproduction import facts
from greyfill.evaluation.reproduction.page import write_page
from greyfill.evaluation.reproduction.plan import Plan
from greyfill.evaluation.reproduction.results import PASSES, RUNS, Results
from greyfill.evaluation.reproduction.runs import FillRun, Record, Run, execute
from greyfill.evaluation.reproduction.verdicts import Verdict


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What a reproduction measured, what it says of the claims, and the files it wrote."""

    results: Results
    verdicts: tuple[Verdict, ...]
    files: tuple[Path, ...]


def reproduce(
    out: str | Path = "reproduction",
    *,
    quick: bool = False,
    seeds: int | None = None,
    jobs: int = -1,
    plan: Plan | None = None,
    progress: bool = False,
) -> Reproduction:
    """Run the simulations and tables of the paper, and write pages that hold them against it.

    The figures depend on the seeds alone, save the times to start.

    Parameters
    ----------
    out
        Folder of ``reproduction.md`` and ``reproduction.html``; figures go to
        ``img/reproduction`` and raw results to ``data/reproduction`` below it.
    quick
        Only one rate of missing cells, and 3 seeds instead of 20.
    seeds
        Number of seeds 0, 1, …
    jobs
        Processes that share the runs; −1 for all cores.
    plan
        What to run instead of the full or quick plan.
    progress
        Show a progress bar on stderr.
    """
    chosen = plan or (Plan.quick(seeds) if quick else Plan.full(seeds))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)  # fails now, not after the work
    results = measure(chosen, jobs, progress=progress)
    data = results.save(folder / "data" / "reproduction")
    pages, verdicts = write_page(results, chosen, folder, command(folder, chosen, quick=quick))
    return Reproduction(results, verdicts, (*pages, *data))


def measure(plan: Plan, jobs: int = -1, *, progress: bool = False) -> Results:
    """Carry out a plan, its runs in parallel processes, times to start alone at the end."""
    fills: list[Record] = []
    curves: list[Record] = []
    runs = plan.runs()
    with _bar(len(runs), progress) as watch:
        for run, records in watch(_in_parallel(runs, jobs)):
            (fills if isinstance(run, FillRun) else curves).extend(records)
    return Results(
        runs=_table(fills, RUNS),
        passes=_table(curves, PASSES),
        information=facts.information(plan.scenarios, plan.seeds),
        timings=facts.start_times(plan.scenarios, plan.seeds[0], plan.repeats),
    )


def command(folder: Path, plan: Plan, *, quick: bool) -> str:
    """Return the command that makes the pages.

    >>> command(Path("docs"), Plan.full(), quick=False)
    'greyfill reproduce --seeds 20 --out docs'
    """
    flag = " --quick" if quick else ""
    return f"greyfill reproduce{flag} --seeds {len(plan.seeds)} --out {folder.name or '.'}"


def _in_parallel(runs: list[Run], jobs: int) -> Iterable[tuple[Run, list[Record]]]:
    """Finished runs with their records, in the order in which they finish."""
    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    finished: Iterable[tuple[Run, list[Record]]] = workers(delayed(execute)(run) for run in runs)
    return finished


def _table(records: list[Record], schema: dict[str, Any]) -> pl.DataFrame:
    """Records as a table in an order that does not depend on who finished first."""
    table = pl.DataFrame(records, schema=schema)
    return table.sort([name for name in schema if name not in ("value", "accuracy", "error")])


@contextmanager
def _bar(total: int, show: bool) -> Iterator[Any]:
    """Count finished runs on stderr, or do nothing."""
    if not show:
        yield lambda items: items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield lambda items: bar.track(items, total=total)
