"""The paper's two simulations, 20 seeds each, against an oracle that knows how they were drawn.

    python benchmarks/accuracy/simulations.py --methods GreyImputer,CGKNN,oracle

Four cubes, holes completely at random in x1: the oracle fills the center of the row's cube. Normal
classes, holes at random in x4 and x5: the oracle fills the conditional mean given the observed
cells, the class, and the true mean and correlations of the class. No method can be expected to
do better than these.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from methods import OURS, ours
from run import named, several
from store import KEPT, KEY, Store

import greyfill
from greyfill.datasets.tables import CENTERS, random_correlation
from greyfill.evaluation.protocols import fit_fill, prepare
from greyfill.paper.runs import SCENARIOS, Case

RATES = (0.1, 0.2)
MEASURES = {"cubes": "units-hidden", "gaussian": "range-hidden"}
ORACLE = "oracle"


def cubes_oracle(case: Case, seed: int) -> np.ndarray:
    """The centers of the cubes, whose rows come in order."""
    size = case.table.n_rows // len(CENTERS)
    centers = np.repeat(CENTERS, size, axis=0)
    filled = case.table.values.copy()
    filled[:, :3] = np.where(case.table.missing[:, :3], centers, filled[:, :3])
    return filled


def gaussian_oracle(case: Case, seed: int) -> np.ndarray:
    """E(x_hole | x_seen, y) = μ_h + Σ_hs Σ_ss⁻¹ (x_s − μ_s), with the true μ and Σ of class y."""
    filled, missing = case.table.values.copy(), case.table.missing
    parameters = class_parameters(seed, case.table.values.shape, case.labels)
    for i in np.flatnonzero(missing.any(axis=1)):
        mean, correlation = parameters[case.labels[i]]
        hole, seen = missing[i], ~missing[i]
        slopes = np.linalg.solve(correlation[np.ix_(seen, seen)], correlation[np.ix_(seen, hole)])
        filled[i, hole] = mean[hole] + (filled[i, seen] - mean[seen]) @ slopes
    return filled


def class_parameters(
    seed: int, shape: tuple[int, int], labels: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Mean and correlations of each class: the draws of ``make_gaussian_classes``, once more."""
    rng, n_features = np.random.default_rng(seed), shape[1]
    found = []
    for count in np.bincount(labels):
        mean = rng.uniform(-1.0, 1.0, size=n_features)
        found.append((mean, random_correlation(n_features, rng)))
        rng.standard_normal((count, n_features))  # the rows of the class
    return found


ORACLES = {"cubes": cubes_oracle, "gaussian": gaussian_oracle}


def fill(method: str, params: dict[str, Any], table: str, case: Case, seed: int) -> np.ndarray:
    if method == ORACLE:
        return ORACLES[table](case, seed)
    imputer = ours(method, params) if method in OURS else method
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_fill(prepare(imputer, case.table, seed), case.table, case.labels)


def run_all(options: argparse.Namespace) -> None:
    store = Store(options.store)
    runs = [
        (m, t, r, s)
        for m in options.methods
        for t in MEASURES
        for r in RATES
        for s in options.seeds
    ]
    for method, table, rate, seed in runs:
        label = options.label if method in OURS else ""
        key = dict(zip(KEY, ("simulation", method, label, table, f"{rate:.0%}", seed), strict=True))
        if store.has(key):
            continue
        case, start = SCENARIOS[table].case(rate, seed), time.perf_counter()
        errors = case.errors(fill(method, options.params, table, case, seed))
        about = {"version": greyfill.__version__, "seconds": round(time.perf_counter() - start, 4)}
        store.add(key | about | {"error_of_cells": errors[MEASURES[table]]})
    report(store, options.seeds)


def report(store: Store, seeds: list[int]) -> None:
    """Means over the seeds, for every method that has them all."""
    found: dict[tuple[str, str, str, str], list[float]] = {}
    for row in store:
        if row["task"] == "simulation" and row["seed"] in seeds:
            key = row["table"], row["scenario"], row["method"], row["label"]
            found.setdefault(key, []).append(row["error_of_cells"])
    for (table, rate, method, label), errors in sorted(found.items()):
        if len(errors) == len(seeds):
            oracle = found.get((table, rate, ORACLE, ""), [float("nan")])
            ratio = np.mean(errors) / np.mean(oracle)
            name = f"{method} [{label}]" if label else method
            print(f"{table:10}{rate:>5}  {name:26}{np.mean(errors):.4f}  {ratio:.3f} × oracle")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", type=named, required=True)
    parser.add_argument("--seeds", type=several, default=list(range(20)))
    parser.add_argument("--label", default="")
    parser.add_argument("--params", type=json.loads, default={})
    parser.add_argument("--store", type=Path, default=KEPT / "accuracy.jsonl")
    return parser


if __name__ == "__main__":
    run_all(arguments().parse_args())
