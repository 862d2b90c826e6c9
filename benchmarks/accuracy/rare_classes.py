"""What labels cost or gain in cell error where classes are rare, and on the tables of the page.

    python benchmarks/accuracy/rare_classes.py --seeds 0..29
    python benchmarks/accuracy/rare_classes.py --seeds 0..9 --tables ranked --store rare.jsonl

Without ``--tables`` tables are made: six related numbers, 30 % hidden completely at random, with
classes of 2 to 5 rows beside two large ones ("few"), alone ("many"), or as one half ("half"), which
tell nothing of the numbers ("noise") or shift them ("shift"). Cells of other tables are hidden in
each scenario of the accuracy page but the strong one. The mean error of ``labels="own"`` and
``"cross"`` is divided by that of ``"none"``; ± is the standard error of the ratios of single seeds.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import cases
import numpy as np
from run import named, several
from store import KEY, Store

from greyfill import GreyImputer
from greyfill.evaluation.protocols import fit_fill, prepare

USES = ("none", "own", "cross")
COLUMNS, FACTORS, NOISE, RATE, SHIFT = 6, 2, 0.7, 0.3, 1.5
SIZES = {
    "few": [98, 88, 2, 3, 4, 5],
    "many": [2, 3, 4, 5] * 12,
    "half": [70, *[2, 3, 4, 5] * 5],
}
MADE = tuple(f"{kind} {size}" for kind, size in product(("noise", "shift"), SIZES))


def make(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers with two common factors, labels, and which cells are hidden."""
    kind, size = name.split()
    rng = np.random.default_rng([seed, MADE.index(name)])
    y = np.repeat(np.arange(len(SIZES[size])), SIZES[size])
    X = rng.normal(size=(len(y), FACTORS)) @ rng.normal(size=(FACTORS, COLUMNS))
    X += NOISE * rng.normal(size=X.shape)
    if kind == "shift":
        X += SHIFT * rng.normal(size=(y.max() + 1, COLUMNS))[y]
    return X, np.array([f"class {label}" for label in y]), rng.random(X.shape) < RATE


def of_made(name: str, seed: int) -> Iterator[float]:
    X, y, hidden = make(name, seed)
    for use in USES:
        imputer = GreyImputer(labels=use, round_to_grid=False, random_state=seed)
        filled = imputer.fit_transform(np.where(hidden, np.nan, X), y)
        yield float(np.sqrt(np.mean(((filled - X) / np.ptp(X, axis=0))[hidden] ** 2)))


def of_table(name: str, scenario: str, seed: int) -> Iterator[float]:
    case = cases.make(name, scenario, seed)
    for use in USES:
        imputer = prepare(GreyImputer(labels=use, round_to_grid=False), case.table, seed)
        yield float(case.judge(fit_fill(imputer, case.table, case.data.labels))["nrmse"])


def show(name: str, errors: np.ndarray) -> None:
    """Ratios of mean errors, of all scenarios and of each; errors by (scenario, seed, use)."""
    means = errors.mean(axis=(0, 1))
    ratios = errors.mean(axis=0) / errors.mean(axis=0)[:, :1]
    spread = ratios.std(axis=0, ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.zeros(3)
    of_scenarios = errors.mean(axis=1) / errors.mean(axis=1)[:, :1]
    each = [" / ".join(f"{ratio:.3f}" for ratio in column) for column in of_scenarios.T]
    shown = [f"{means[i] / means[0]:.4f} ± {spread[i]:.4f} ({each[i]})" for i in (1, 2)]
    print(f"| {name} | {means[0]:.4f} | {' | '.join(shown)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=named, default=[])
    parser.add_argument("--seeds", type=several, default=list(range(10)), help="0..4 or 1,5")
    parser.add_argument("--store", type=Path, default=Path("rare_classes.jsonl"))
    options = parser.parse_args()
    store = Store(options.store)
    print("| table | none | own | cross |\n| --- | ---: | ---: | ---: |")
    for name in options.tables or MADE:
        scenarios = cases.SCENARIOS if options.tables else ("",)
        found = [[of_case(store, name, s, seed) for seed in options.seeds] for s in scenarios]
        show(name, np.array(found))


def of_case(store: Store, name: str, scenario: str, seed: int) -> list[float]:
    """The errors of all uses of labels, computed where the store has none."""
    key = dict(zip(KEY, ("rare", "all", "", name, scenario, seed), strict=True))
    if not store.has(key):
        errors = of_table(name, scenario, seed) if scenario else of_made(name, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            store.add(key | dict(zip(USES, errors, strict=True)))
    return [row[use] for row in store if row.items() >= key.items() for use in USES]


if __name__ == "__main__":
    main()
