"""What the use of labels in GreyImputer does to its fills and to classifiers that they teach.

    python benchmarks/accuracy/labels.py [--seeds 0..14] [--tables iris,wine] [--page]

At most 600 rows of each table, 20 and 30 % of the observed cells hidden completely at random beside
the natural holes, five folds: the imputer is fitted on the training rows of a fold with their
labels and fills the test rows without. Log loss (probabilities of at least 0.001) and accuracy of
logistic regression and of histogram gradient boosting on the test rows; cell error is that of the
hidden cells of the training rows, as in ``cases.py``. Prints a section of docs/leakage.md, and puts
it there with ``--page``. Results that the store, docs/data/labels.jsonl, has already are not
computed again, so a run can be stopped.
"""

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import tables
from cases import Case
from run import commit, named, several
from sections import again
from store import KEPT, KEY, Store
from text import listed, table

from greyfill import GreyImputer
from greyfill.evaluation.protocols import CLASSIFIERS, fold_fills
from greyfill.evaluation.trials import Data
from greyfill.missingness import hide, mcar

ROWS, FOLDS, LEAST = 600, 5, 1e-3
RATES = {"mcar20": 0.2, "mcar30": 0.3}
USES = ("none", "own", "cross")
MODELS = {"logistic_regression": "logistic regression", "gradient_boosting": "boosting"}
PAGE = Path(__file__).parents[2] / "docs" / "leakage.md"
HEADING = "Figures of labels"


def make(name: str, rate: float, seed: int) -> Case:
    """Some rows of a table with hidden cells; only classes that occur are numbered."""
    whole, rng = tables.load(name), np.random.default_rng(seed)
    rows = np.sort(rng.permutation(whole.table.n_rows)[:ROWS])
    labels = np.unique(whole.labels[rows], return_inverse=True)[1]
    data = Data(name, whole.table.rows(rows), labels)
    mask = mcar(data.table, rate, random_state=rng)
    return Case(data, hide(data.table, mask), mask)


def measure(case: Case, use: str, seed: int) -> dict[str, float]:
    """Error of the training cells, and log loss and accuracy of each classifier."""
    labels, truth = case.data.labels, case.data.table
    n_classes = labels.max() + 1
    probabilities = {name: np.full((len(labels), n_classes), LEAST) for name in MODELS}
    squares = []
    imputer = GreyImputer(labels=use)
    for is_test, _, train, test in fold_fills(case.table, labels, imputer, FOLDS, seed):
        filled, mask = truth.values.copy(), case.mask & ~is_test[:, np.newaxis]
        filled[~is_test] = train
        squares += [Case(case.data, case.table, mask).judge(filled)["nrmse"] ** 2] * mask.sum()
        for name, found in probabilities.items():
            model = CLASSIFIERS[name](truth.columns).fit(train, labels[~is_test])
            cells = np.ix_(is_test, model.classes_)
            found[cells] = np.maximum(model.predict_proba(test), LEAST)
    out = {"cells": float(np.sqrt(np.mean(squares)))}
    for name, found in probabilities.items():
        shares = found / found.sum(axis=1, keepdims=True)
        out[f"{name} loss"] = float(-np.log(shares[np.arange(len(labels)), labels]).mean())
        out[f"{name} right"] = float((shares.argmax(axis=1) == labels).mean())
    return out


def run_all(options: argparse.Namespace, store: Store) -> None:
    for seed, rate, name, use in product(options.seeds, RATES, options.tables, USES):
        key = dict(zip(KEY, ("labels", use, "", name, rate, seed), strict=True))
        if not store.has(key):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = measure(make(name, RATES[rate], seed), use, seed)
                rounded = {name: round(value, 6) for name, value in found.items()}
                store.add(key | rounded | {"commit": commit()})


def means(store: Store, seeds: list[int]) -> dict[str, dict[str, dict[str, float]]]:
    """Means of all figures by table and use, over the cases of these seeds that all uses have."""
    cases: dict[tuple[str, str, int], dict[str, dict[str, float]]] = {}
    for row in (row for row in store if row["seed"] in seeds):
        cases.setdefault((row["table"], row["scenario"], row["seed"]), {})[row["method"]] = row
    whole = {key: rows for key, rows in cases.items() if len(rows) == len(USES)}
    figures = ["cells", *(f"{name} {what}" for name in MODELS for what in ("loss", "right"))]
    return {
        name: {
            use: {
                f: float(np.mean([r[use][f] for key, r in whole.items() if key[0] == name]))
                for f in figures
            }
            | {"n": sum(key[0] == name for key in whole)}
            for use in USES
        }
        for name in tables.RANKED
        if any(key[0] == name for key in whole)
    }


def section(found: dict[str, dict[str, dict[str, float]]], commits: list[str]) -> list[str]:
    """One table, none / own / cross in each cell, and what was promised."""
    order = ["cells", *(f"{m} loss" for m in MODELS), *(f"{m} right" for m in MODELS)]
    rows = {**found, "mean": {u: _mean_of(found, u) for u in USES}}
    lines = []
    for name, by_use in rows.items():
        cells = [" / ".join(f"{by_use[use][f]:.3f}" for use in USES) for f in order]
        lines.append([name, f"{by_use['own']['n']:.0f}", *cells])
    losses = {
        use: {t: np.mean([found[t][use][f"{m} loss"] for m in MODELS]) for t in found}
        for use in USES
    }
    total = {use: np.mean(list(values.values())) for use, values in losses.items()}
    right = {u: np.mean([rows["mean"][u][f"{m} right"] for m in MODELS]) for u in USES}
    others = [f"{t} ({losses['own'][t]:.4f} / {losses['cross'][t]:.4f})" for t in found
              if losses["cross"][t] >= losses["own"][t]]  # fmt: skip
    ratios = {m: rows["mean"]["cross"][f"{m} loss"] / rows["mean"]["none"][f"{m} loss"]
              for m in MODELS}  # fmt: skip
    heads = ["table", "cases", "cell error", "log loss, logistic", "log loss, boosting",
             "accuracy, logistic", "accuracy, boosting"]  # fmt: skip
    return [
        f"## {HEADING}",
        "",
        f"Written by `python benchmarks/accuracy/labels.py` on the commit {listed(commits)}; in "
        'each cell `labels="none"` / `"own"` / `"cross"`.',
        "",
        *table(heads, lines),
        f"* Mean log loss by that of *none*: *cross* {total['cross'] / total['none']:.4f} "
        f"({', '.join(f'{MODELS[m]} {ratio:.4f}' for m, ratio in ratios.items())}), "
        f"*own* {total['own'] / total['none']:.4f}.",
        f"* The log loss of *cross* is below that of *own* on {len(found) - len(others)} of "
        f"{len(found)} tables{'; not on ' * bool(others)}{listed(others)}.",
        f"* Accuracy: {', '.join(f'*{use}* {share:.4f}' for use, share in right.items())}.",
        "",
    ]


def _mean_of(found: dict[str, dict[str, dict[str, float]]], use: str) -> dict[str, float]:
    names = next(iter(found.values()))[use]
    return {name: float(np.mean([found[t][use][name] for t in found])) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=named, default=list(tables.RANKED))
    parser.add_argument("--seeds", type=several, default=list(range(15)), help="0..14 or 1,5")
    parser.add_argument("--store", type=Path, default=KEPT / "labels.jsonl")
    parser.add_argument("--page", action="store_true", help=f"put the section on {PAGE.name}")
    options = parser.parse_args()
    store = Store(options.store)
    run_all(options, store)
    lines = section(means(store, options.seeds), sorted({row["commit"] for row in store}))
    print("\n".join(lines))
    if options.page:
        again(PAGE, lines)


if __name__ == "__main__":
    main()
