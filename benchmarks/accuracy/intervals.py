"""How often the 90 % intervals of GreyImputer hold the hidden cells.

    python benchmarks/accuracy/intervals.py --seeds 0,1

A number is covered if it lies within its limits, a category if its level is in the set. The
widths of the limits are in shares of the column's true range; a set counts its levels. Likeliest is
the share of hidden categories whose likeliest level is right: no set that holds it covers less. At
the end the means of each table are printed.
"""

import argparse
import sys
import time
import warnings
from typing import Any

import cases
import numpy as np
from run import arguments, keys
from store import Store

import greyfill
from greyfill.evaluation.protocols import prepare
from greyfill.table import Kind

METHOD, LEVEL = "GreyImputer", 0.9
LEAST = 0.01  # sets of this level hold hardly more than the likeliest level
MEANS = ("all", "numbers", "categories", "width", "levels", "likeliest")


def coverage(case: cases.Case, params: dict[str, Any], seed: int) -> dict[str, float]:
    """Shares of hidden cells that are covered: of all, of numbers and ranks, of categories."""
    imputer = prepare(greyfill.GreyImputer(**params), case.table, seed)
    X = np.where(case.table.missing, np.nan, case.table.values)
    imputer.fit(X, case.data.labels)
    found = imputer._interval_lists(X, case.data.labels, LEVEL)
    truth = case.data.table
    names = {f"x{j}": j for j in range(truth.n_columns)}
    inside: dict[bool, list[bool]] = {True: [], False: []}
    widths: dict[bool, list[float]] = {True: [], False: []}
    for row, name, low, high, levels in zip(*found.values(), strict=True):
        j = names[str(name)]
        if not case.mask[row, j]:
            continue
        value, is_category = truth.values[row, j], truth.columns[j].kind is Kind.CATEGORICAL
        known = truth.values[~truth.missing[:, j], j]
        if is_category:
            inside[True].append(value in levels)
            widths[True].append(len(levels))
        else:
            least, most = (low, high) if levels is None else (min(levels), max(levels))
            slack = 1e-9 * np.ptp(known)
            inside[False].append(bool(least - slack <= value <= most + slack))
            widths[False].append((most - least) / max(np.ptp(known), 1e-300))
    numbers, categories = inside[False], inside[True]
    shares = {"numbers": numbers, "categories": categories, "all": [*numbers, *categories]}
    sizes = {"width": widths[False], "levels": widths[True]}
    sizes["likeliest"] = _likeliest(imputer._interval_lists(X, case.data.labels, LEAST), case)
    return {name: _mean(found) for name, found in (shares | sizes).items()}


def _likeliest(found: dict[str, Any], case: cases.Case) -> list[bool]:
    """Whether the true level is the one of its set, in the hidden cells of categories."""
    columns, values = case.data.table.columns, case.data.table.values
    return [
        values[row, j] in levels
        for row, j, levels in zip(
            found["rows"],
            (int(str(name)[1:]) for name in found["columns"]),
            found["levels"],
            strict=True,
        )
        if case.mask[row, j] and columns[j].kind is Kind.CATEGORICAL
    ]


def _mean(found: list[Any]) -> float:
    return float(np.mean(found)) if found else float("nan")


def run_all(options: argparse.Namespace) -> None:
    store = Store(options.store)
    for key in keys("coverage", METHOD, options):
        if store.has(key):
            continue
        case = cases.make(key["table"], key["scenario"], key["seed"])
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = coverage(case, options.params, key["seed"])
        about = {"version": greyfill.__version__, "seconds": round(time.perf_counter() - start, 2)}
        store.add(key | about | found)
        shown = {name: round(share, 3) for name, share in found.items()}
        print(key["table"], key["scenario"], key["seed"], shown, flush=True)
    print_means(store, options)


def print_means(store: Store, options: argparse.Namespace) -> None:
    """The means of each table over its scenarios and seeds."""
    wanted = list(keys("coverage", METHOD, options))
    found = [row for row in store if any(row.items() >= key.items() for key in wanted)]
    print("\ntable, cases:", *MEANS)
    for table in options.tables:
        rows = [row for row in found if row["table"] == table]
        means = [_mean([row[name] for row in rows if not np.isnan(row[name])]) for name in MEANS]
        print(f"{table}, {len(rows)}:", *(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    run_all(arguments().parse_args(["--methods", METHOD, *sys.argv[1:]]))
