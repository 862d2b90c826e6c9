"""How much a test row's own label helps it when everything is imputed before cross-validation.

    python benchmarks/leakage.py [--seeds 10]

Two tables: Iris, whose columns tell the class, and noise, whose columns tell nothing, so that a
classifier can do no better than chance. Accuracy (%) of naive Bayes in ten folds, by both
protocols.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

from run import commit

from greyfill import CGKNNImputer, GKNNImputer, GreyImputer, IKNNImputer, ampute
from greyfill.datasets import load
from greyfill.evaluation import ClassMeanImputer, MeanImputer, honest_protocol, paper_protocol

METHODS = {
    "GreyImputer": GreyImputer(),
    'GreyImputer, `labels="own"`': GreyImputer(labels="own"),
    'GreyImputer, `labels="none"`': GreyImputer(labels="none"),
    "class mean": ClassMeanImputer(),
    "GKNN": GKNNImputer(),
    "CGKNN": CGKNNImputer(),
    'CGKNN, `labels="cross"`': CGKNNImputer(labels="cross"),
    'CGKNN, `labels="weights"`': CGKNNImputer(labels="weights"),
    'CGKNN, `labels="none"`': CGKNNImputer(labels="none"),
    "IKNN": IKNNImputer(),
    "mean": MeanImputer(),
}
COMPLETE = "no holes"
RATES = {"iris": 0.2, "noise": 0.5}


def iris(seed: int) -> tuple[np.ndarray, np.ndarray]:
    data = load("iris")
    return data.X.to_numpy(), data.y.to_numpy()


def noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(150, 10)), rng.permutation(np.repeat(["a", "b"], 75))


def accuracies(table, holes: float, seed: int) -> dict[str, tuple[float, float]]:
    """Accuracy by the paper's and by the honest protocol, for each method."""
    X, y = table(seed)
    holed, _ = ampute(X, rate=holes, random_state=seed)
    cases = {COMPLETE: (X, MeanImputer()), **{name: (holed, m) for name, m in METHODS.items()}}
    return {
        name: tuple(
            100 * protocol(cells, y, method, random_state=seed)["naive_bayes"].accuracy
            for protocol in (paper_protocol, honest_protocol)
        )
        for name, (cells, method) in cases.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    print(f"commit {commit()}")
    for table in (iris, noise):
        holes = RATES[table.__name__]
        runs = [accuracies(table, holes, seed) for seed in range(seeds)]
        print(f"\n{table.__name__}, {holes:.0%} holes completely at random, {seeds} seeds\n")
        print("| method | impute first, then cross-validate | impute inside the folds | leak |")
        print("|---|---|---|---|")
        for name in runs[0]:
            values = np.array([run[name] for run in runs])
            (paper, honest), spread = values.mean(axis=0), values.std(axis=0)
            cells = f"{paper:.1f} ± {spread[0]:.1f} | {honest:.1f} ± {spread[1]:.1f}"
            leak = f"{paper - honest:+.1f}".replace("-", "−")  # as numbers on pages are written
            print(f"| {name} | {cells} | {leak} |")


if __name__ == "__main__":
    main()
