"""Reproduce every table and figure of the paper: run, draw, judge, write."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
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
from greyfill.exceptions import InvalidParameterError
from greyfill.files import put
from greyfill.paper import figures, forensics, grids
from greyfill.paper.claims import UCI, claims, rmse_claims
from greyfill.paper.grids import TextGrid
from greyfill.paper.printed import LABELS, PrintedTable, table_of
from greyfill.paper.results import PASSES, RUNS, Results, information, source_commit, start_times
from greyfill.paper.runs import (
    CONVENTIONS,
    DROPPED_VOTE,
    SCENARIOS,
    FillRun,
    Reading,
    Record,
    ReproductionPlan,
    execute,
)
from greyfill.paper.verdicts import WORDS, Verdict
from greyfill.text import escape_markdown

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
    forensic: bool = False,
    extended: bool = False,
    seeds: int | None = None,
    ties: str = "largest",
    holes: str = "mask",
    convention: str | None = None,
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
        Only one rate of missing cells, 3 seeds instead of 20, and 20 trees in MissForest.
    forensic
        Only what the printed RMSE can be, in ``forensic.md`` and ``forensic.html``.
    extended
        All methods of the registry as more rows, in ``extended.md`` and ``extended.html``.
    seeds
        Number of seeds 0, 1, …
    ties
        Which of equally good k a neighbor method takes: "largest" or "smallest".
    holes
        What a hole is to their distances: by "mask" never a match, "filled" like an observed value,
        or "sources", filled for IKNN, MI-KNN and GKNN alone, whose own sources say so.
    convention
        How every printed RMSE is read, a key of ``runs.CONVENTIONS``; None as each table suggests.
    jobs
        Processes that share the runs; −1 for all cores.
    plan
        What to run instead of the plan that these words make.
    progress
        Show a progress bar on stderr.
    """
    kind = "forensic" if forensic else "quick" if quick else "full"
    made: ReproductionPlan = getattr(ReproductionPlan, kind)(seeds)
    if extended and forensic:
        raise InvalidParameterError("extended and forensic exclude each other: choose one")
    made = made.extended if extended else made
    chosen = plan or replace(made, reading=Reading(ties, holes), convention=convention)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)  # fails now, not after the work
    results = measure(chosen, jobs, progress=progress)
    files = results.save(folder / "data" / chosen.name)
    words = command(folder, chosen, quick=quick)
    pages, verdicts = write_page(results, chosen, folder, words)
    return Reproduction(results, verdicts, (*pages, *files))


def measure(plan: ReproductionPlan, jobs: int = -1, *, progress: bool = False) -> Results:
    """Carry out a plan, its runs in parallel processes, times to start alone at the end."""
    fills: list[Record] = []
    curves: list[Record] = []
    runs, commit = plan.runs(), source_commit()
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
        reading=plan.reading,
        commit=commit,
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
    chosen = {
        "--quick": quick,
        "--forensic": plan.is_forensic,
        "--extended": plan.name == "extended",
        f"--seeds {len(plan.seeds)}": True,
        f"--ties {plan.reading.ties}": plan.reading.ties != "largest",
        f"--holes {plan.reading.holes}": plan.reading.holes != "mask",
        f"--convention {plan.convention}": plan.convention is not None,
    }
    flags = [flag for flag, is_wanted in chosen.items() if is_wanted]
    return " ".join(["greyfill reproduce", *flags, f"--out {folder.name or '.'}"])


def tally(verdicts: Iterable[Verdict]) -> str:
    """How many verdicts have each word.

    >>> tally([Verdict("", "", "worse", ""), Verdict("", "", "better", "")])
    '0 reproduced, 1 better, 1 worse, 0 undecided'
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    rest = ("not measured",) if counts["not measured"] else ()
    return ", ".join(f"{counts[word]} {word}" for word in (*WORDS, *rest))


def write_page(
    results: Results, plan: ReproductionPlan, folder: Path, command: str
) -> tuple[list[Path], tuple[Verdict, ...]]:
    """Draw the figures, judge the claims, and write the Markdown and the HTML page."""
    parts = sections(results, plan)
    judged = {
        part.name: [c.decide(results) for c in claims(plan).get(part.name, ())] for part in parts
    }
    verdicts = tuple(verdict for found in judged.values() for verdict in found)
    by_origin = {ours: [v for v in verdicts if v.is_ours == ours] for ours in (False, True)}
    images = f"img/{plan.name}"
    context = {
        "command": command,
        "plan": plan,
        "reading": grids.describe(plan.reading),
        "sections": parts,
        "verdicts": {
            name: [v for v in found if v.outcome != "not measured"]
            for name, found in judged.items()
        },
        "unmeasured": {
            name: list(dict.fromkeys(v.source for v in found if v.outcome == "not measured"))
            for name, found in judged.items()
        },
        "settings": grids.settings(plan.reading, plan.trees),
        "tones": grids.TONES,
        "tallies": {ours: (len(found), tally(found)) for ours, found in by_origin.items()},
        "images": {part.name: _draw(part, folder / images) for part in parts},
        "folder": images,
        "failures": {LABELS.get(m, m): error for m, error in results.failures().items()},
        "versions": {
            "greyfill": " of commit ".join(filter(None, (__version__, results.commit))),
            "Python": python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
    }
    pages = [folder / f"{plan.name}.{ending}" for ending in ("md", "html")]
    for page in pages:
        text = render(f"reproduction{page.suffix}", context)
        put(page, [text.encode()], force=True)
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
    if plan.is_forensic:
        return _forensic(results, plan)
    found = [Section("overall", "Claims about several tables at once")]
    found += [_simulation(results, plan, n) for n in ("cubes", "gaussian") if n in plan.scenarios]
    if "cubes" in plan.scenarios:
        found.insert(2, _rulings(results, plan))
    found.append(_table_5())
    found += [_uci(results, plan, name) for name in UCI if name in plan.scenarios]
    found.append(_information(results, plan))
    if not results.passes.is_empty():
        found.append(_passes(results, plan))
    found.append(_start(results))
    return [*found, *_forensic(results, plan)]


def _rulings(results: Results, plan: ReproductionPlan) -> Section:
    table = table_of("cubes", "rmse")
    metric, rates = plan.conventions("cubes")[0], results.rates(table)
    own = [
        claim
        for name in plan.scenarios
        for claim in rmse_claims(table_of(name, "rmse"), plan)
        if not claim.is_ours
    ]
    text = (
        "The paper leaves two things open that decide its first table: which k is taken when "
        "several classify equally well, and whether a hole that has been filled counts as observed "
        "in the distances. Where classes separate, nearly all k tie, so the rule for ties is the "
        "result. IKNN, MI-KNN and GKNN treat imputed rows as observed by their own sources; the "
        "common ruling by mask departs from them, so the tables of errors show them in both "
        "readings. The options --ties and --holes run the whole page in another reading."
    )
    panels = [grids.rulings(results, table, rate, metric) for rate in rates]
    counts = grids.words_by_reading(results, own)
    return Section("rulings", "The rulings that decide Table 1", (text,), (*panels, counts))


def _simulation(results: Results, plan: ReproductionPlan, name: str) -> Section:
    errors, accuracies = table_of(name, "rmse"), table_of(name, "accuracy")
    (metric,) = plan.conventions(name)
    drawings = [
        _error_figure(results, errors, metric),
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
            *_conventions(name, plan),
            "Accuracy is that of naive Bayes in ten stratified folds. Paper's protocol: the whole "
            "table is imputed with all labels, then cross-validated. Honest protocol: in each fold "
            "the imputer learns from the training rows, and test rows are filled without labels. "
            "Leak is the difference. Without imputation, naive Bayes leaves missing cells out.",
            *grids.above_complete(results, accuracies),
        ),
        grids=(
            grids.error_grid(results, errors, metric, errors.title),
            grids.accuracy_grid(results, accuracies, accuracies.title),
        ),
        figures=tuple(drawings),
    )


def _uci(results: Results, plan: ReproductionPlan, name: str) -> Section:
    table, about = table_of(name, "rmse"), SCENARIOS[name]
    first, *others = plan.conventions(name)
    shown = [grids.error_grid(results, table, first, table.title)]
    for metric in others:
        caption = f"{table.title}, read as {CONVENTIONS[metric]}"
        shown.append(grids.error_grid(results, table, metric, caption))
    if name == "voting":
        shown.append(grids.implied_shares(results, table))
    drawings = (_error_figure(results, table, first),)
    return Section(name, about.title, _conventions(name, plan), tuple(shown), drawings)


def _error_figure(results: Results, table: PrintedTable, metric: str) -> Drawing:
    caption = f"{table.title}, ours and printed: {CONVENTIONS[metric]}"
    return f"rmse-{table.scenario}", caption, lambda: figures.errors(results, table, metric)


def _conventions(name: str, plan: ReproductionPlan) -> tuple[str, str]:
    """How holes are made, and how the RMSE is read."""
    first, *others = plan.conventions(name)
    text = f"RMSE is read as {CONVENTIONS[first]}"
    for metric in others:
        text += f", a wrong category counting 1; a second table shows the {CONVENTIONS[metric]}"
    text += ". The best mean of the paper's methods is bold, as are the paper's bold figures."
    return f"Holes are made {SCENARIOS[name].mechanism}.", text


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
        "Processor time for the column weights, mean ± standard error of repeats taken in turns in "
        "one process that keeps the memory it frees, on tables with 20 % holes. CGKNN weighs each "
        "column once, FWGKNN once for each column with holes. These times are the only figures on "
        "this page that differ from run to run."
    )
    return Section("start", "Time to initialize", (text,), (grids.start_seconds(results),))


def _forensic(results: Results, plan: ReproductionPlan) -> list[Section]:
    """What the printed figures can be: errors if several rates were run, and the rest."""
    repeated = (
        "Five of the seven figures of Hepatitis at 10 % are also those of the same methods in "
        "another table; which table they belong to cannot be told."
    )
    weights = (
        "The text calls 0.40, 0.28 and 0.21 the mutual information of x1, x2 and x3 with the "
        "class. They are not met in bits, but they are as weights, the shares of the sum over all "
        "23 columns, if the Parzen window is narrower than the usual 1.06 · sd · n^(−1/5)."
    )
    windows = (forensics.windows(plan.seeds),)
    found = [
        Section("printed", "Figures that recur", (repeated,), (forensics.oddities(),)),
        Section("windows", "What the printed MI can be", (weights,), windows),
    ]
    is_whole = len(plan.rates) > 1 and set(plan.scenarios) == set(SCENARIOS)
    return [_errors_in_question(results), *found] if is_whole else found


def _errors_in_question(results: Results) -> Section:
    found = forensics.misses(results)
    literal, best = found[1], found[-1]
    single = min(found[:-1], key=lambda one: forensics.factor(one.uci))
    text = (
        "The paper's formula divides by the number of missing values; units, and the error of a "
        "category, are not stated. An error over hidden cells hardly depends on how many cells are "
        "missing: its exponent is near 0 in all our tables. The same sum of squares divided by all "
        "cells grows like the root of the rate, with exponent 0.5. The printed figures grow as "
        "well: those of Iris, of Table 3, and of MICE, MissForest and IKNN on Hepatitis by "
        "exponents around 0.5, those of Table 1, of Voting and of the other methods on Hepatitis "
        "by less.",
        "This is a mark, not a proof. Two or three rates make one exponent, and its steps are "
        "uneven: on Iris most of the growth lies between 5 % and 10 %, on Voting between 10 % and "
        "20 %, and on Hepatitis some figures fall. Other causes that we cannot see, such as a "
        "single draw of the holes, could make errors grow as well.",
        "A convention is a scale (original units, the [0, 1] scale, or standard deviations of the "
        "column) and a divisor (hidden cells, all cells of the table, or of the columns with "
        "holes); a wrong category counts 1. Its factor is the root mean square of the logarithms "
        "of ours ÷ printed, exponentiated: 2 if each figure is half or double the printed one. "
        "Over hidden cells on the [0, 1] scale our "
        f"errors miss the UCI figures by {forensics.factor(literal.uci):.2f}, one of them by "
        f"{literal.largest:.2f}; by the best single convention, {single.label}, they miss them by "
        f"{forensics.factor(single.uci):.2f}; and if each table may have its own, chosen in "
        f"hindsight, by {forensics.factor(best.uci):.2f}, one of them by {best.largest:.2f}. No "
        "convention meets all tables. What is left is one-sided: at 20 % the methods that use the "
        "class are printed lower than ours.",
    )
    caption = "Exponents of printed errors and of ours, by table; dashed lines at 0 and 0.5"
    drawing = ("exponents", caption, lambda: figures.exponents(results))
    shown = (forensics.exponents(results), forensics.conventions(found))
    return Section("errors", "What the printed RMSE can be", text, shown, (drawing,))


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


def markdown(text: str) -> str:
    """Escape for Markdown; a standard error and a percent sign stay with their number."""
    return (
        escape_markdown(text, keep_emphasis=True).replace("± ", "±\u202f").replace(" %", "\u202f%")
    )


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
    environment.filters["md"] = markdown
    return environment.get_template(f"{name}.j2").render(context)
