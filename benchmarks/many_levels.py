"""Seconds and MiB of tables with identifier-like text, or a category that declares many levels.

    python benchmarks/many_levels.py                 # every imputer and table, each in a process
    python benchmarks/many_levels.py GreyImputer     # one imputer
    python benchmarks/many_levels.py GreyImputer 3000

Every case runs on one thread after a small table has compiled the kernels; MiB is what the process
took at its peak beyond what it had then.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import greyfill
from greyfill.evaluation.trials import measured

CASES = ("declared", "3000", "20000")
N_DECLARED = 50_000


def identifiers(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Text that differs in nearly all rows beside four ordinary columns, a fifth of all missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    table = pd.DataFrame(
        {
            "name": [f"id{i}" for i in rng.integers(n_rows * 20, size=n_rows)],
            "age": x,
            "weight": x + rng.normal(size=n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "city": rng.choice(list("abcdef"), n_rows),
        }
    )
    return table.mask(rng.random(table.shape) < 0.2)


def declared(n_rows: int = 24, n_levels: int = N_DECLARED, seed: int = 0) -> pd.DataFrame:
    """A category of three levels in use that declares many more."""
    table = identifiers(n_rows, seed)
    levels = [f"level {i}" for i in range(n_levels)]
    used = np.random.default_rng(seed).choice(levels[:: n_levels // 3][:3], n_rows)
    table["name"] = pd.Categorical(used, categories=levels)
    return table.mask(np.random.default_rng(seed + 1).random(table.shape) < 0.2)


def classify(table: pd.DataFrame) -> Any:
    """Classes as many as there are names."""
    known = table[table["name"].notna()]
    model = greyfill.GreyClassifier()
    return model.fit(known.drop(columns="name"), known["name"].astype(str)).predict(
        table.drop(columns="name")[:100]
    )


def fill(name: str, **params: Any) -> Callable[[pd.DataFrame], Any]:
    """How an imputer fills a table."""
    return lambda table: getattr(greyfill, name)(**params).fit_transform(table)


METHODS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "GreyImputer": fill("GreyImputer"),
    "CGKNNImputer": fill("CGKNNImputer", labels="none"),
    "KNNIImputer": fill("KNNIImputer"),
    "MICEImputer": fill("MICEImputer"),
    "MissForestImputer": fill("MissForestImputer"),
    "GreyClassifier": classify,
}


def measure(method: str, case: str) -> str:
    """One line: the case, its seconds and its MiB."""
    run = METHODS[method]
    run(declared(24, 3))
    run(identifiers(300))
    table = declared() if case == "declared" else identifiers(int(case))
    with measured() as cost:
        run(table)
    return f"{method:18} {case:>9} {cost.seconds:8.2f} s {cost.memory_mib:8.0f} MiB"


def main(arguments: list[str]) -> None:
    """Run the cases that are asked for, each in a process of its own."""
    if len(arguments) == 2:
        print(measure(*arguments))
        return
    for method in arguments or METHODS:
        for case in CASES:
            subprocess.run([sys.executable, __file__, method, case], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
