"""How well classifiers do on what the imputers filled, by the honest protocol and by the paper's.

    python benchmarks/accuracy/classes.py --methods GreyImputer,mean --seeds 0,1

Honest: in each fold the imputer is fitted on the training rows and fills the test rows without
their labels. Paper: the whole table is filled with all labels first, so those of the test rows
leak. Both use the same holes and the same five folds. Only methods that can fill new rows take
part; ``native`` leaves the holes to classifiers that take them.
"""

import argparse
import time
import warnings
from typing import Any

import cases
from methods import OURS, ours
from run import arguments, keys
from store import Store

import greyfill
from greyfill.evaluation.protocols import (
    CLASSIFIERS,
    Fold,
    classify,
    fit_fill,
    honest_folds,
    paper_folds,
    prepare,
)

N_SPLITS = 5
NATIVE = "native"
TAKES_HOLES = ("naive_bayes", "gradient_boosting")
PEERS = {
    "mean": "mean",
    "mean + indicator": "mean_indicator",
    "class mean": "class_mean",
    "sklearn KNN": "sklearn_knn",
    "sklearn Iterative": "sklearn_iterative",
    NATIVE: "native",
}
"""Name in the results → name in ``greyfill.evaluation.METHODS``."""


def accuracies(
    case: cases.Case, method: str, params: dict[str, Any], seed: int
) -> dict[str, float]:
    """Accuracy of each classifier under each protocol."""
    imputer = ours(method, params) if method in OURS else PEERS[method]
    protocols = {"honest": honest_folds(case.table, _labels(case), imputer, N_SPLITS, seed)}
    if method != NATIVE:
        filled = fit_fill(prepare(imputer, case.table, seed), case.table, _labels(case))
        protocols["paper"] = paper_folds(filled, _labels(case), N_SPLITS, seed)
    names = TAKES_HOLES if method == NATIVE else CLASSIFIERS
    return {f"{p} {c}": _accuracy(folds, case, c) for p, folds in protocols.items() for c in names}


def _accuracy(folds: list[Fold], case: cases.Case, classifier: str) -> float:
    return classify(folds, case.table.columns, _labels(case), classifier).accuracy


def _labels(case: cases.Case) -> Any:
    return case.data.labels


def run_all(options: argparse.Namespace) -> None:
    store = Store(options.store)
    for method in options.methods:
        for key in keys("classes", method, options):
            if store.has(key):
                continue
            case, start = (
                cases.make(key["table"], key["scenario"], key["seed"]),
                time.perf_counter(),
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = accuracies(case, method, options.params, key["seed"])
            seconds = round(time.perf_counter() - start, 2)
            store.add(key | {"version": greyfill.__version__, "seconds": seconds} | found)
            print(method, key["table"], key["scenario"], key["seed"], found, flush=True)


if __name__ == "__main__":
    run_all(arguments().parse_args())
