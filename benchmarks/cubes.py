"""The paper's first simulation: four cubes, twenty noise columns, holes in x₁ completely at random.

    python benchmarks/cubes.py [--seeds 20]

Prints the root mean square error on the hidden cells, in the units of x₁, beside the paper's.
"""

import argparse

import numpy as np

import greyfill
from greyfill.datasets import make_cubes

PAPER = {  # Table 1 of the paper, at 10 % and 20 %
    "IKNNImputer": (0.1807, 0.2168),
    "MIKNNImputer": (0.1423, 0.1852),
    "GKNNImputer": (0.1443, 0.1872),
    "FWGKNNImputer": (0.1355, 0.1603),
    "CGKNNImputer": (0.1283, 0.1498),
}


def error(name: str, rate: float, seed: int) -> float:
    X, y = make_cubes(random_state=seed)
    rows = np.random.default_rng(seed).choice(len(X), round(rate * len(X)), replace=False)
    holed = X.copy()
    holed[rows, 0] = np.nan
    filled = getattr(greyfill, name)(n_neighbors="cv").fit_transform(holed, y)
    return float(np.sqrt(np.mean((filled[rows, 0] - X[rows, 0]) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    print(f"{'method':16}{'rate':>6}{'ours (mean ± sd)':>20}{'paper':>9}")
    for name, printed in PAPER.items():
        for rate, paper in zip((0.1, 0.2), printed, strict=True):
            errors = [error(name, rate, seed) for seed in seeds]
            ours = f"{np.mean(errors):.4f} ± {np.std(errors):.4f}"
            print(f"{name:16}{rate:>6.0%}{ours:>20}{paper:>9.4f}")


if __name__ == "__main__":
    main()
