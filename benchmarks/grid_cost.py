"""What it costs to move fills to the grid of their column: the error with and without, by table.

    GREYFILL_DATA=folder python benchmarks/grid_cost.py [--seeds 2] [--methods GreyImputer mean]

20 % of the cells are hidden at random; the error is the root mean square over numeric cells on the
[0, 1] scale of the true table. Each table is filled once, and its fills are then moved. "On a grid"
counts the numeric columns whose observed numbers show one; "few" those of them with few levels.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

import cases
import tables
from run import commit

import greyfill
from greyfill import frames
from greyfill.evaluation.protocols import fit_fill, prepare
from greyfill.imputers.peers import MeanImputer
from greyfill.table import Kind

METHODS = {
    "GreyImputer": lambda: greyfill.GreyImputer(round_to_grid=False),
    "CGKNN": lambda: greyfill.CGKNNImputer(round_to_grid=False),
    "mean": lambda: MeanImputer(round_to_grid=False),
}


def measure(name: str, method: str, seed: int) -> tuple[int, int, int, float, float]:
    """Numeric columns, those on a grid, those with few levels, and the two errors."""
    case = cases.make(name, "mcar20", seed)
    filled = fit_fill(prepare(METHODS[method](), case.table, seed), case.table, case.data.labels)
    cells = np.where(case.table.missing, np.nan, case.table.values)
    moved, numeric, on_grid, few = filled.copy(), 0, 0, 0
    for j, column in enumerate(case.table.columns):
        if column.kind is not Kind.NUMERIC:
            continue
        (field,) = frames.encode(cells[:, [j]])[1].schema.fields
        holes, numeric = case.mask[:, j], numeric + 1
        moved[holes, j] = field.settle(filled[holes, j])
        if not field.is_free:
            on_grid, few = on_grid + 1, few + (field.grid.levels is not None)
    return numeric, on_grid, few, case.judge(filled)["numbers"], case.judge(moved)["numbers"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--tables", nargs="+", default=tables.RANKED)
    given = parser.parse_args()
    print(f"commit {commit()}\n")
    print(
        "| table | numeric | on a grid | few |", *(f" {m} | on its grid |" for m in given.methods)
    )
    print("|---|---|---|---|" + "---|---|" * len(given.methods))
    ratios = {method: [] for method in given.methods}
    for name in given.tables:
        row, counts = "", (0, 0, 0)
        for method in given.methods:
            found = [measure(name, method, seed) for seed in range(given.seeds)]
            counts = found[0][:3]
            if not counts[0]:
                break
            free, on_grid = (float(np.mean([f[k] for f in found])) for k in (3, 4))
            ratios[method].append(on_grid / free)
            row += f" {free:.4f} | {on_grid:.4f} |"
        if row:
            print(f"| {name} | {' | '.join(map(str, counts))} |{row}", flush=True)
    for method, values in ratios.items():
        mean = np.exp(np.mean(np.log(values))) - 1
        print(f"{method}: {mean:+.2%} on average, {max(values) - 1:+.2%} at most")


if __name__ == "__main__":
    main()
