"""Reproduce every table and figure of the paper: run, draw, judge, write."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from joblib import Parallel, delayed
from markupsafe import Markup
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from greyfill import __version__
from greyfill.files import put
from greyfill.paper import figures, grids
from greyfill.paper.claims import CONVENTIONS, UCI, claims
from greyfill.paper.grids import TextGrid
from greyfill.paper.printed import LABELS, PrintedTable, table_of
from greyfill.paper.results import PASSES, RUNS, Results, information, start_times
from greyfill.paper.runs import DROPPED_VOTE, SCENARIOS, FillRun, Record, ReproductionPlan, execute
from greyfill.paper.verdicts import Verdict
from greyfill.text import escape_markdown

IMAGES = "img/reproduction"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "polars", "matplotlib")

Drawing = tuple[str, str, Callable[[], Figure]]


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
    plan: ReproductionPlan | None = None,
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
    chosen = plan or (ReproductionPlan.quick(seeds) if quick else ReproductionPlan.full(seeds))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)  # fails now, not after the work
    results = measure(chosen, jobs, progress=progress)
    data = results.save(folder / "data" / "reproduction")
    pages, verdicts = write_page(results, chosen, folder, command(folder, chosen, quick=quick))
    return Reproduction(results, verdicts, (*pages, *data))


def measure(plan: ReproductionPlan, jobs: int = -1, *, progress: bool = False) -> Results:
    """Carry out a plan, its runs in parallel processes, times to start alone at the end."""
    fills: list[Record] = []
    curves: list[Record] = []
    runs = plan.runs()
    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    finished = workers(delayed(execute)(run) for run in runs)
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not progress) as bar:
        for run, records in bar.track(finished, total=len(runs)):
            (fills if isinstance(run, FillRun) else curves).extend(records)
    return Results(
        runs=_long_table(fills, RUNS),
        passes=_long_table(curves, PASSES),
        information=information(plan.scenarios, plan.seeds),
        timings=start_times(plan.scenarios, plan.seeds[0], plan.repeats),
    )


def _long_table(records: list[Record], schema: dict[str, Any]) -> pl.DataFrame:
    """Records as a table in an order that does not depend on who finished first."""
    table = pl.DataFrame(records, schema=schema)
    return table.sort([name for name in schema if name not in ("value", "accuracy", "error")])


def command(folder: Path, plan: ReproductionPlan, *, quick: bool) -> str:
    """Return the command that makes the pages.

    >>> command(Path("docs"), ReproductionPlan.full(), quick=False)
    'greyfill reproduce --seeds 20 --out docs'
    """
    flag = " --quick" if quick else ""
    return f"greyfill reproduce{flag} --seeds {len(plan.seeds)} --out {folder.name or '.'}"


def write_page(
    results: Results, plan: ReproductionPlan, folder: Path, command: str
) -> tuple[list[Path], tuple[Verdict, ...]]:
    """Draw the figures, judge the claims, and write the Markdown and the HTML page."""
    parts = sections(results, plan)
    shown = {part.name for part in parts}
    judged = {
        name: [claim.decide(results) for claim in found]
        for name, found in claims().items()
        if name in shown
    }
    verdicts = tuple(verdict for found in judged.values() for verdict in found)
    context = {
        "command": command,
        "plan": plan,
        "sections": parts,
        "verdicts": {
            name: [v for v in found if v.outcome != "not measured"]
            for name, found in judged.items()
        },
        "unmeasured": {
            name: list(dict.fromkeys(v.source for v in found if v.outcome == "not measured"))
            for name, found in judged.items()
        },
        "settings": grids.settings(),
        "tally": Counter(verdict.outcome for verdict in verdicts),
        "images": {part.name: _draw(part, folder / IMAGES) for part in parts},
        "folder": IMAGES,
        "failures": {LABELS.get(m, m): error for m, error in results.failures().items()},
        "versions": {
            "greyfill": __version__,
            "Python": python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
    }
    pages = [folder / f"reproduction.{ending}" for ending in ("md", "html")]
    for page in pages:
        put(page, [render(page.name, context).encode()], force=True)
    return pages, verdicts


@dataclass(frozen=True)
class Section:
    """Heading, paragraphs, tables and figures; verdicts are joined to it by its name."""

    name: str
    title: str
    text: tuple[str, ...] = ()
    grids: tuple[TextGrid, ...] = ()
    figures: tuple[Drawing, ...] = field(default=(), repr=False)


def sections(results: Results, plan: ReproductionPlan) -> list[Section]:
    """List the sections of all settings that were run."""
    found = [Section("overall", "Claims about several tables at once")]
    found += [_simulation(results, plan, n) for n in ("cubes", "gaussian") if n in plan.scenarios]
    found.append(_table_5())
    found += [_uci(results, name) for name in UCI if name in plan.scenarios]
    found.append(_information(results, plan))
    if not results.passes.is_empty():
        found.append(_passes(results, plan))
    found.append(_start(results))
    oddities = (grids.oddities(),)
    return [*found, Section("printed", "Remarks on the printed numbers", grids=oddities)]


def _simulation(results: Results, plan: ReproductionPlan, name: str) -> Section:
    errors, accuracies = table_of(name, "rmse"), table_of(name, "accuracy")
    drawings = [
        _error_figure(results, errors),
        (
            f"accuracy-{name}",
            f"{accuracies.title}, ours and printed",
            lambda: figures.accuracies(results, accuracies),
        ),
    ]
    if name == "cubes":
        caption = f"The four cubes in their three relevant columns, seed {plan.seeds[0]}"
        drawings.insert(0, ("cubes", caption, lambda: figures.cubes(plan.seeds[0])))
    return Section(
        name,
        SCENARIOS[name].title,
        text=(
            *_conventions(name),
            "Accuracy is that of naive Bayes in ten stratified folds. Paper's protocol: the whole "
            "table is imputed with all labels, then cross-validated. Honest protocol: in each fold "
            "the imputer learns from the training rows, and test rows are filled without labels. "
            "Leak is the difference. Without imputation, naive Bayes leaves missing cells out.",
            *grids.above_complete(results, accuracies),
        ),
        grids=(
            grids.error_grid(results, errors, SCENARIOS[name].convention, errors.title),
            grids.accuracy_grid(results, accuracies, accuracies.title),
        ),
        figures=tuple(drawings),
    )


def _uci(results: Results, name: str) -> Section:
    table, about = table_of(name, "rmse"), SCENARIOS[name]
    shown = [grids.error_grid(results, table, about.convention, table.title)]
    if about.second is not None:
        caption = f"{table.title}, read as {CONVENTIONS[about.second]}"
        shown.append(grids.error_grid(results, table, about.second, caption))
    if name == "voting":
        shown.append(grids.implied_shares(results, table))
    drawings = (_error_figure(results, table),)
    return Section(name, about.title, _conventions(name), tuple(shown), drawings)


def _error_figure(results: Results, table: PrintedTable) -> Drawing:
    metric = SCENARIOS[table.scenario].convention
    caption = f"{table.title}, ours and printed: {CONVENTIONS[metric]}"
    return f"rmse-{table.scenario}", caption, lambda: figures.errors(results, table, metric)


def _conventions(name: str) -> tuple[str, str]:
    """How holes are made, and how the RMSE is read."""
    about = SCENARIOS[name]
    text = f"RMSE is read as {CONVENTIONS[about.convention]}"
    if about.second is not None:
        text += ", a wrong category counting 1; a second table shows " + CONVENTIONS[about.second]
    text += ". The best mean of the paper's methods is bold, as are the paper's bold figures."
    return f"Holes are made {about.mechanism}.", text


def _table_5() -> Section:
    text = (
        "The share of missing cells depends on what is counted: the cells of the features, or the "
        "class column as well. The paper has one vote less than the table; a count without "
        f"{DROPPED_VOTE} is shown too, and it is that table which is used below."
    )
    shown = (grids.characteristics(),)
    return Section("characteristics", "Table 5: the UCI tables", (text,), shown)


def _information(results: Results, plan: ReproductionPlan) -> Section:
    drawings = tuple(
        (
            f"information-{name}",
            f"Mutual information of each column with the class: {SCENARIOS[name].title}",
            lambda name=name: figures.information(results, name),
        )
        for name in ("cubes", *UCI)
        if name in plan.scenarios
    )
    text = (
        "Numbers by Parzen windows, categories by histogram, over observed cells, in bits. Weights "
        "are the same figures divided by their sum."
    )
    shown = (grids.toy_information(results),) if "cubes" in plan.scenarios else ()
    return Section("information", "Mutual information with the class", (text,), shown, drawings)


def _passes(results: Results, plan: ReproductionPlan) -> Section:
    text = (
        f"Accuracy of naive Bayes on Iris when imputation ends after 1 … {plan.passes} passes, "
        "mean over seeds. Pass 0 is the start fill, the mean of the class, the same for all three "
        "methods."
    )
    caption = "Accuracy against passes on Iris, both protocols"
    drawing = ("passes", caption, lambda: figures.passes(results))
    title = "Figure 7: accuracy against passes on Iris"
    return Section("passes", title, (text,), (grids.final_accuracies(results),), (drawing,))


def _start(results: Results) -> Section:
    text = (
        "Time for the column weights, median of repeats taken in turns in one process, on tables "
        "with 20 % holes. CGKNN weighs each column once, FWGKNN once for each column with holes. "
        "These times are the only figures on this page that differ from run to run."
    )
    return Section("start", "Time to initialize", (text,), (grids.start_seconds(results),))


def _draw(section: Section, folder: Path) -> list[dict[str, str]]:
    """The figures of a section: file name, what it shows, and its SVG."""
    found = []
    for name, caption, draw in section.figures:
        with figures.style(name):
            svg = figures.save(draw(), name, folder)
        label = f'<svg role="img" aria-label="{Markup.escape(caption)}" '
        svg = Markup(svg.replace("<svg ", label, 1))
        found.append({"name": name, "caption": caption, "svg": svg})
    return found


def render(name: str, context: dict[str, object]) -> str:
    """Fill a template; text on the HTML page is escaped."""
    environment = Environment(
        loader=PackageLoader("greyfill.paper"),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = partial(escape_markdown, keep_emphasis=True)
    return environment.get_template(f"{name}.j2").render(context)
