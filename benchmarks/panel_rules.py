"""Other rules for panels, beside the rule of the engine: a section of docs/tried.md.

    GREYFILL_DATA=/path/to/tables python benchmarks/panel_rules.py --seeds 0..3

Each rule replaces a part of `greyfill._grey.selection`, or of how a filled category enters the
regressions. The tables of benchmarks/accuracy are filled with ``labels="own"``; the errors are
divided by those of the engine as it is.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sections import again
from tried import PAGE, overall, ratios

from greyfill import GreyImputer
from greyfill._grey import selection
from greyfill._grey.donor_table import DonorTable
from greyfill.evaluation.protocols import fit_fill, prepare

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))  # for its tables and cases

HEADING = "Figures of panels"
Panel = list[int]
Loss = Callable[[Panel], float]
"""The mean loss of the mean of some members, on the cells that choose them."""


def best_alone(panel: Panel, loss: Loss) -> Panel:
    return panel[:1]


def best_if_better(panel: Panel, loss: Loss) -> Panel:
    return panel if loss(panel) <= loss(panel[:1]) else panel[:1]


def those_that_pay(panel: Panel, loss: Loss) -> Panel:
    """From the best on, each that does not raise the loss of those before it."""
    kept = panel[:1]
    for member in panel[1:]:
        if loss([*kept, member]) <= loss(kept):
            kept = [*kept, member]
    return kept


def none_that_costs(panel: Panel, loss: Loss) -> Panel:
    """Without the members, one after the other, whose leaving saves more than a hundredth."""
    while len(panel) > 1:
        fewer = [panel[:i] + panel[i + 1 :] for i in range(len(panel))]
        least = min(fewer, key=loss)
        if loss(least) >= 0.99 * loss(panel):
            break
        panel = least
    return panel


def within_a_fifth(panel: Panel, loss: Loss) -> Panel:
    return [member for member in panel if loss([member]) <= 1.2 * loss(panel[:1])]


@contextmanager
def chosen_by(rule: Callable[[Panel, Loss], Panel]) -> Iterator[None]:
    """Of the members that the engine would take, those that a rule keeps."""
    usual = selection._best_panel

    def best_panel(race: selection.Round, cells: Any, n_rows: int) -> Panel:
        found, outcomes, truth = race.found[:, cells], race.outcomes.part(cells), race.truth[cells]

        def loss(members: Panel) -> float:
            return float(outcomes.loss(found[members].mean(axis=0), truth, "square").mean())

        return rule(usual(race, cells, n_rows), loss)

    with patch.object(selection, "_best_panel", best_panel):
        yield


@contextmanager
def soft_indicators() -> Iterator[None]:
    """The features of a filled category are the predicted shares of its levels."""
    fills, fill, last = DonorTable.fills, DonorTable.fill, dict[int, np.ndarray]()

    def remember(donors: DonorTable, column: int, forecast: Any) -> np.ndarray:
        last[column] = forecast.predicted
        return fills(donors, column, forecast)

    def soften(donors: DonorTable, rows: np.ndarray, column: int, values: np.ndarray) -> float:
        change, how = fill(donors, rows, column, values), donors.feature_map.columns[column]
        if len(how.levels) and not donors.is_wide(column):
            places = np.searchsorted(donors.levels(column), how.levels)
            of_column = donors.feature_map.starts[column] + np.arange(how.width)
            shares = (last[column][:, places] - how.shift) / how.spread
            donors.features[:, rows[:, np.newaxis], of_column] = shares
        return change

    with patch.object(DonorTable, "fills", remember), patch.object(DonorTable, "fill", soften):
        yield


RULES = {
    "the best alone": [lambda: chosen_by(best_alone)],
    "the best alone where it beats the panel": [lambda: chosen_by(best_if_better)],
    "members that do not raise the loss": [lambda: chosen_by(those_that_pay)],
    "no member that costs a hundredth": [lambda: chosen_by(none_that_costs)],
    "members within a fifth of the best": [lambda: chosen_by(within_a_fifth)],
    "12 members instead of 8": [lambda: patch.object(selection, "PANEL", 12)],
    "shares of levels for filled categories": [soft_indicators],
    "12 members, and shares of levels": [
        lambda: patch.object(selection, "PANEL", 12), soft_indicators,
    ],
}  # fmt: skip


def errors(case: Any, seed: int, parts: Any) -> dict[str, Any]:
    """The errors of fills under a rule."""
    imputer = prepare(GreyImputer(labels="own", round_to_grid=False), case.table, seed)
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(part())
        return case.judge(fit_fill(imputer, case.table, case.data.labels))


def measure(name: str, scenario: str, seed: int) -> dict[str, dict[str, float]]:
    """The share of wrong categories and the error of numbers, as far as there are any."""
    import cases

    case = cases.make(name, scenario, seed)
    found = {rule: errors(case, seed, parts) for rule, parts in {"engine": (), **RULES}.items()}
    kinds = [kind for kind in ("wrong", "numbers") if found["engine"][kind] > 0]
    return {kind: {rule: found[rule][kind] for rule in found} for kind in kinds}


def main() -> None:
    import cases
    import tables
    from run import commit, named, several
    from text import table

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=named, default=list(tables.RANKED))
    parser.add_argument("--seeds", type=several, default=list(range(4)), help="0..4 or 1,5")
    options = parser.parse_args()
    rows = []
    for name, scenario, seed in product(options.tables, cases.SCENARIOS, options.seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append({"table": name, **measure(name, scenario, seed)})
        print(name, scenario, seed, flush=True)
    kinds = ("wrong", "numbers")
    lines = [[rule, *(overall(ratios(rows, k, rule))[0] for k in kinds)] for rule in RULES]
    n_seeds = len(options.seeds)
    told = f"{len(rows)} cases: tables, scenarios, and {n_seeds} seeds. Commit: {commit()}."
    heads = ["rule", "wrong categories", "numbers"]
    again(PAGE, [f"## {HEADING}", "", told, "", *table(heads, lines)])


if __name__ == "__main__":
    main()
