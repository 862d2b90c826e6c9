"""The figures of docs/tried.md: other predictors of categories and numbers, beside the panels.

    GREYFILL_DATA=/path/to/tables python benchmarks/tried.py --seeds 0..2    # runs what is missing
    python benchmarks/tried.py --page                                        # only writes the page

The engine of GreyImputer fills the tables of benchmarks/accuracy with ``labels="own"``. Then each
column with holes is predicted once more from what was filled: by its panel, by a forest, by a
logistic regression, and by latent classes. Probabilities are averaged with several weights, some
of them chosen on all observed cells, each left out; others on cells that were hidden beforehand, in
a run of their own. Results are kept in docs/data/tried.jsonl, so a run can be stopped; the sections
of the page that begin with "Figures" are written anew.
"""

import argparse
import dataclasses
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from members import predictions
from scipy.optimize import nnls
from sections import again

from greyfill._grey.grey_engine import fit_imputer
from greyfill._grey.passes import GreySettings
from greyfill.missingness import hide, mcar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "accuracy"))  # for its tables and cases

STORE, PAGE = ROOT / "docs" / "data" / "tried.jsonl", ROOT / "docs" / "tried.md"
MEMBERS = ("panel once more", "forest alone", "logistic alone", "latent classes alone")
FIXED = {
    "panel once more": (1, 0, 0, 0), "forest alone": (0, 1, 0, 0),
    "logistic alone": (0, 0, 1, 0), "latent classes alone": (0, 0, 0, 1),
    "¼ forest": (3, 1, 0, 0), "⅓ forest": (2, 1, 0, 0), "½ forest": (1, 1, 0, 0),
    "¼ logistic": (3, 0, 1, 0), "⅓ logistic": (2, 0, 1, 0), "⅓ latent classes": (2, 0, 0, 1),
    "panel, forest, logistic alike": (1, 1, 1, 0), "½ panel, ¼ forest, ¼ logistic": (2, 1, 1, 0),
    "½ panel, ⅙ each other": (3, 1, 1, 1),
}  # fmt: skip
FORESTS = [(1, 0, 0, 0), (3, 1, 0, 0), (2, 1, 0, 0), (1, 1, 0, 0), (1, 2, 0, 0)]
MIXTURES = list(product((1, 2, 3), (0, 1), (0, 1), (0, 1)))
"""Weights of the panel, the forest, the logistic regression and the latent classes."""

NUMBERS = {"¼ forest": 0.25, "⅓ forest": 1 / 3, "½ forest": 0.5}
SHOWN = ("⅓ forest", "⅓ latent classes", "½ panel, ⅙ each other", "all weights, hidden beforehand")

JUDGED = {"wrong": "holes", "observed": "observed", "beforehand": "hidden beforehand"}
BEFOREHAND = 0.15
"""Share of the shown cells that are hidden once more, to judge what fills without their help."""

Columns = list[tuple[Any, ...]]
"""Of each column: observed values, predictions of holes and of those, fills, truth, and levels."""


def share(weights: tuple[int, ...]) -> np.ndarray:
    return np.array(weights, dtype=float) / sum(weights)


def losses(columns: Columns, weights: np.ndarray) -> np.ndarray:
    """Squared errors of a mixture on all observed cells, which were left out."""
    found = []
    for y, _, of_seen, *_ in columns:
        truth = np.eye(of_seen.shape[2])[y] if y.dtype.kind == "i" else y[:, None]
        found.append(((np.tensordot(weights, of_seen, 1) - truth) ** 2).sum(axis=1))
    return np.concatenate(found)


def best(columns: Columns, tried: list[tuple[int, ...]], usual: int = -1) -> np.ndarray:
    """The weights of the least error, or the usual ones unless these are clearly worse."""
    lost = [losses(columns, share(weights)) for weights in tried]
    least = int(np.argmin([each.mean() for each in lost]))
    gap = lost[usual] - lost[least]
    is_clear = usual < 0 or gap.mean() > gap.std() / np.sqrt(len(gap))
    return share(tried[least if is_clear else usual])


def stacked(columns: Columns) -> np.ndarray:
    """Least squares with weights that are not negative, half-way to those of a panel of 3:1:1:1."""
    x = np.hstack([of_seen.reshape(len(of_seen), -1) for _, _, of_seen, *_ in columns])
    y = np.concatenate([np.eye(c[2].shape[2])[c[0]].ravel() for c in columns])
    found = nnls(x.T, y)[0]
    return (found / found.sum() + share((3, 1, 1, 1))) / 2


def errors_of_categories(columns: Columns, judges: Columns) -> dict[str, float]:
    ways: dict[str, list[np.ndarray]] = {k: [share(w)] * len(columns) for k, w in FIXED.items()}
    ways["forest's weight by column"] = [best([column], FORESTS) for column in columns]
    by_table = {"forest's weight by table": best(columns, FORESTS),
                "the same, ⅓ unless clearly worse": best(columns, FORESTS, 2),
                "all weights by table": best(columns, MIXTURES),
                "stacked by table": stacked(columns),
                "forest's weight, hidden beforehand": best(judges, FORESTS),
                "all weights, hidden beforehand": best(judges, MIXTURES),
                "stacked, hidden beforehand": stacked(judges)}  # fmt: skip
    ways |= {name: [weights] * len(columns) for name, weights in by_table.items()}
    wrong = {"engine": np.concatenate([fills != truth for *_, fills, truth, _ in columns])}
    for name, weights in ways.items():
        votes = [
            np.tensordot(w, c[1], 1).argmax(axis=1) for w, c in zip(weights, columns, strict=True)
        ]
        wrong[name] = np.concatenate(
            [c[-1][vote] != c[-2] for vote, c in zip(votes, columns, strict=True)]
        )
    return {name: round(float(each.mean()), 5) for name, each in wrong.items()}


def errors_on_observed(columns: Columns) -> dict[str, float]:
    """Shares of wrong categories of each member on observed cells, which were left out."""
    votes = [(of_seen.argmax(axis=2) != y) for y, _, of_seen, *_ in columns]
    shares = np.concatenate(votes, axis=1).mean(axis=1).round(5)
    return dict(zip(MEMBERS, shares.tolist(), strict=True))


def errors_of_numbers(columns: Columns, judges: Columns) -> dict[str, float]:
    ways = {name: np.array([1.0 - w, w]) for name, w in NUMBERS.items()}
    tried: list[tuple[int, ...]] = [(1, 0), (3, 1), (2, 1), (1, 1)]
    ways["forest's weight by table"] = best(columns, tried)
    ways["forest's weight, hidden beforehand"] = best(judges, tried)
    squares = {"engine": np.concatenate([(fills - truth) ** 2 for *_, fills, truth, _ in columns])}
    for name, w in ways.items():
        squares[name] = np.concatenate(
            [(np.tensordot(w, c[1], 1)[:, 0] - c[-2]) ** 2 for c in columns]
        )
    return {name: round(float(np.sqrt(each.mean())), 5) for name, each in squares.items()}


def predict(case: Any, seed: int, seconds: dict[str, float]) -> dict[bool, Columns]:
    """What the engine and each member predict of the hidden cells, apart for categories."""
    start = time.process_time()
    _, fitted = fit_imputer(case.table, case.data.labels, None, GreySettings(random_state=seed))
    seconds["engine"] = time.process_time() - start
    donors, hidden = fitted.donors, case.mask[fitted.rows]
    truth = fitted.scaler.scale(case.data.table.rows(fitted.rows)).values
    columns: dict[bool, Columns] = {True: [], False: []}
    for j, holes, y, of_holes, of_seen in predictions(fitted, seconds):
        judged = hidden[holes, j]
        cells = np.ix_(holes[judged], [j])
        told = donors.table.values[cells][:, 0], truth[cells][:, 0], donors.levels(j)
        if judged.any():
            columns[bool(donors.is_categorical[j])].append((y, of_holes[:, judged], of_seen, *told))
    return columns


def hidden_beforehand(case: Any, seed: int) -> dict[bool, Columns]:
    """Predictions of shown cells that were hidden before anything was filled, as observed ones."""
    import cases

    rng = np.random.default_rng([seed, 77])
    mask = mcar(case.table, BEFOREHAND, random_state=rng)
    data = dataclasses.replace(case.data, table=case.table)
    found = predict(cases.Case(data, hide(case.table, mask), mask), seed, {})
    judges: dict[bool, Columns] = {True: [], False: []}
    for is_category, columns in found.items():
        for _, of_holes, _, fills, truth, levels in columns:
            known = np.isin(truth, levels) if is_category else np.ones(len(truth), dtype=bool)
            y = np.searchsorted(levels, truth[known]) if is_category else truth
            judges[is_category].append((y, of_holes, of_holes[:, known], fills, truth, levels))
    return judges


def measure(table: str, scenario: str, seed: int) -> dict[str, Any]:
    """Errors of all ways on the hidden cells, and processor seconds of each part."""
    import cases

    case, seconds = cases.make(table, scenario, seed), dict[str, float]()
    columns, judges = predict(case, seed, seconds), hidden_beforehand(case, seed)
    found: dict[str, Any] = {"seconds": {name: round(s, 3) for name, s in seconds.items()}}
    if columns[True]:
        found["wrong"] = errors_of_categories(columns[True], judges[True])
        found["observed"] = errors_on_observed(columns[True])
        found["beforehand"] = errors_on_observed(judges[True])
    if columns[False]:
        found["numbers"] = errors_of_numbers(columns[False], judges[False])
    return found


def ratios(
    rows: list[dict[str, Any]], kind: str, way: str, base: str = "engine"
) -> dict[str, tuple[float, float]]:
    """By table: the error of a way by that of the engine, and its standard error over cases."""
    out = {}
    for table in dict.fromkeys(row["table"] for row in rows if kind in row):
        both = np.array([[row[kind][way], row[kind][base]] for row in rows
                         if row["table"] == table and kind in row])  # fmt: skip
        of_cases = both[:, 0] / both[:, 1]
        spread = of_cases.std(ddof=1) / np.sqrt(len(both)) if len(both) > 1 else np.nan
        out[table] = both[:, 0].mean() / both[:, 1].mean(), float(spread)
    return out


def overall(found: dict[str, tuple[float, float]]) -> list[str]:
    """The geometric mean over tables, its standard error by their spread, and the worst table."""
    logs = np.log([mean for mean, _ in found.values()])
    worst = max(found, key=lambda table: found[table][0])
    middle = np.exp(logs.mean())
    spread = middle * logs.std(ddof=1) / np.sqrt(len(logs))
    return [f"{middle:.4f} ± {spread:.4f}", f"{found[worst][0]:.3f} ({worst})"]


def shown(mean: float, error: float) -> str:
    return f"{mean:.3f}" + ("" if np.isnan(error) else f" ± {error:.3f}")


def figures(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    """The sections of the page that are made of figures."""
    from text import counted, table

    for kind, word in {"wrong": "categories", "numbers": "numbers"}.items():
        some = [row for row in rows if kind in row]
        ways = [way for way in some[0][kind] if way != "engine"]
        lines = [[way, *overall(ratios(some, kind, way))] for way in ways]
        seeds, commits = ({row.get(key, "") for row in some} for key in ("seed", "commit"))
        states = ", ".join(sorted(one or "an earlier one" for one in commits))
        size = f"{len(some)} cases: tables, scenarios, and {counted(len(seeds), 'seed')}"
        told = f"{size}. Commit: {states}."
        heads = ["way", "error by that of the engine", "worst table"]
        yield [f"## Figures of {word}", "", told, "", *table(heads, lines)]
    lines = []
    for way in MEMBERS:
        by_panel = [ratios(rows, kind, way, MEMBERS[0]) for kind in JUDGED]
        both = [row | {"both": {k: row[k][way] for k in ("observed", "wrong")}} for row in rows]
        easier = ratios(both, "both", "observed", "wrong")
        lines.append([way, *(overall(found)[0] for found in (*by_panel, easier))])
    heads = ["way", *(f"{word}, by the panel" for word in JUDGED.values()), "observed by holes"]
    yield ["## Figures of the judge", "", *table(heads, lines)]
    found = {way: ratios(rows, "wrong", way) for way in SHOWN}
    lines = [[name, *(shown(*found[way][name]) for way in SHOWN)] for name in found[SHOWN[0]]]
    yield ["## Figures by table", "", *table(["table", *SHOWN], lines)]
    costs: dict[str, list[float]] = {}
    for row in rows:
        for part, seconds in row["seconds"].items():
            costs.setdefault(part, []).append(seconds / row["seconds"]["engine"])
    lines = [[part, f"{np.exp(np.log(cost).mean()):.2f}"] for part, cost in costs.items()]
    yield ["## Figures of cost", "", *table(["part", "seconds by the engine's"], lines)]


def main() -> None:
    import cases
    import tables
    from run import commit, named, several
    from store import KEY, Store

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=named, default=[*tables.OF_FOLDER[1:], tables.BANK_SAMPLE])
    parser.add_argument("--seeds", type=several, default=list(range(3)), help="0..4 or 1,5")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    options = parser.parse_args()
    store = Store(STORE)
    for case in product(options.seeds, cases.SCENARIOS, options.tables):
        seed, scenario, name = case
        key = dict(zip(KEY, ("tried", "all", "", name, scenario, seed), strict=True))
        if not options.page and not store.has(key):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                store.add(key | measure(name, scenario, seed) | {"commit": commit()})
            print(*case, flush=True)
    for section in figures(list(store)):
        again(PAGE, section)


if __name__ == "__main__":
    main()
