"""What each section of the page tells, shows and draws."""

from collections.abc import Callable
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from greyfill.evaluation.reproduction import figures
from greyfill.evaluation.reproduction.characteristics import characteristics
from greyfill.evaluation.reproduction.claims import CONVENTIONS, UCI
from greyfill.evaluation.reproduction.grids import Grid, above_complete, accuracy_grid, error_grid
from greyfill.evaluation.reproduction.paper import PrintedTable, tables
from greyfill.evaluation.reproduction.plan import Plan
from greyfill.evaluation.reproduction.results import Results
from greyfill.evaluation.reproduction.scenarios import DROPPED_VOTE, scenario
from greyfill.evaluation.reproduction.small_grids import (
    final_accuracies,
    implied_shares,
    oddities,
    start_seconds,
    toy_information,
)

Drawing = tuple[str, str, Callable[[], Figure]]


@dataclass(frozen=True)
class Section:
    """Heading, paragraphs, tables and figures; verdicts are joined to it by its name."""

    name: str
    title: str
    text: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    figures: tuple[Drawing, ...] = field(default=(), repr=False)


def sections(results: Results, plan: Plan) -> list[Section]:
    """List the sections of all settings that were run."""
    found = [Section("overall", "Claims about several tables at once")]
    found += [_simulation(results, plan, n) for n in ("cubes", "gaussian") if n in plan.scenarios]
    found.append(_table_5())
    found += [_uci(results, name) for name in UCI if name in plan.scenarios]
    found.append(_information(results, plan))
    if not results.passes.is_empty():
        found.append(_passes(results, plan))
    found.append(_start(results))
    found.append(Section("printed", "Remarks on the printed numbers", grids=(oddities(),)))
    return found


def _table(name: str, measure: str) -> PrintedTable:
    return next(t for t in tables().values() if (t.scenario, t.measure) == (name, measure))


def _simulation(results: Results, plan: Plan, name: str) -> Section:
    errors, accuracies = _table(name, "rmse"), _table(name, "accuracy")
    picture: tuple[Drawing, ...] = ()
    if name == "cubes":
        caption = f"The four cubes in their three relevant columns, seed {plan.seeds[0]}"
        picture = (("cubes", caption, lambda: figures.cubes(plan.seeds[0])),)
    return Section(
        name,
        scenario(name).title,
        text=(
            _holes(name),
            _convention(name),
            "Accuracy is that of naive Bayes in ten stratified folds. Paper's protocol: the whole "
            "table is imputed with all labels, then cross-validated. Honest protocol: in each fold "
            "the imputer learns from the training rows, and test rows are filled without labels. "
            "Leak is the difference. Without imputation, naive Bayes leaves missing cells out.",
            *above_complete(results, accuracies),
        ),
        grids=(
            error_grid(results, errors, scenario(name).convention, errors.title),
            accuracy_grid(results, accuracies, accuracies.title),
        ),
        figures=(
            *picture,
            _error_figure(results, errors),
            (
                f"accuracy-{name}",
                f"{accuracies.title}, ours and printed",
                lambda: figures.accuracies(results, accuracies),
            ),
        ),
    )


def _uci(results: Results, name: str) -> Section:
    table, about = _table(name, "rmse"), scenario(name)
    grids = [error_grid(results, table, about.convention, table.title)]
    if about.second is not None:
        caption = f"{table.title}, read as {CONVENTIONS[about.second]}"
        grids.append(error_grid(results, table, about.second, caption))
    if name == "voting":
        grids.append(implied_shares(results, table))
    return Section(
        name,
        about.title,
        text=(_holes(name), _convention(name)),
        grids=tuple(grids),
        figures=(_error_figure(results, table),),
    )


def _error_figure(results: Results, table: PrintedTable) -> Drawing:
    metric = scenario(table.scenario).convention
    caption = f"{table.title}, ours and printed: {CONVENTIONS[metric]}"
    return f"rmse-{table.scenario}", caption, lambda: figures.errors(results, table, metric)


def _holes(name: str) -> str:
    return f"Holes are made {scenario(name).mechanism}."


def _convention(name: str) -> str:
    about = scenario(name)
    text = f"RMSE is read as {CONVENTIONS[about.convention]}"
    if about.second is not None:
        text += ", a wrong category counting 1; a second table shows " + CONVENTIONS[about.second]
    return f"{text}. The best mean of the paper's methods is bold, as are the paper's bold figures."


def _table_5() -> Section:
    text = (
        "The share of missing cells depends on what is counted: the cells of the features, or the "
        "class column as well. The paper has one vote less than the table; a count without "
        f"{DROPPED_VOTE} is shown too, and it is that table which is used below."
    )
    return Section("characteristics", "Table 5: the UCI tables", (text,), (characteristics(),))


def _information(results: Results, plan: Plan) -> Section:
    shown = [name for name in ("cubes", *UCI) if name in plan.scenarios]
    drawings = tuple(
        (
            f"information-{name}",
            f"Mutual information of each column with the class: {scenario(name).title}",
            lambda name=name: figures.information(results, name),
        )
        for name in shown
    )
    text = (
        "Numbers by Parzen windows, categories by histogram, over observed cells, in bits. Weights "
        "are the same figures divided by their sum."
    )
    grids = (toy_information(results),) if "cubes" in shown else ()
    return Section("information", "Mutual information with the class", (text,), grids, drawings)


def _passes(results: Results, plan: Plan) -> Section:
    text = (
        f"Accuracy of naive Bayes on Iris when imputation ends after 1 … {plan.passes} passes, "
        "mean over seeds. Pass 0 is the start fill, the mean of the class, the same for all three "
        "methods."
    )
    figure = (
        "passes",
        "Accuracy against passes on Iris, both protocols",
        lambda: figures.passes(results),
    )
    title = "Figure 7: accuracy against passes on Iris"
    return Section("passes", title, (text,), (final_accuracies(results),), (figure,))


def _start(results: Results) -> Section:
    text = (
        "Time for the column weights, median of repeats taken in turns in one process, on tables "
        "with 20 % holes. CGKNN weighs each column once, FWGKNN once for each column with holes. "
        "These times are the only figures on this page that differ from run to run."
    )
    return Section("start", "Time to initialize", (text,), (start_seconds(results),))
