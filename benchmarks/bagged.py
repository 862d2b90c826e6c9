"""Do bagged draws beat a single fill in log loss?

    python benchmarks/bagged.py [--seeds 3] [--folds 3] [--draws 20] [--tables iris,wine]

Logistic regression on the thirteen tables of the accuracy page, 20 % of the cells hidden
completely at random, honest folds: training rows are filled and drawn with their labels, test rows
without. Prints a row a table and seed as it is done, then a table of the means.
Needs ``GREYFILL_DATA``, as the accuracy page does.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from greyfill.evaluation.pipelines import FoldRun, PredictionTask
from greyfill.evaluation.protocols import stratified_folds
from greyfill.missingness import hide, mcar

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))
import tables

PIPELINES = ("grey_linear", "draws_linear", "grey_model", "mean_indicator_linear")


def losses(name: str, seed: int, n_folds: int, n_draws: int) -> dict[str, float]:
    """The mean log loss over the folds, for each pipeline."""
    data = tables.load(name)
    table = hide(data.table, mcar(data.table, 0.2, random_state=seed))
    task = PredictionTask(table, data.labels, int(data.labels.max()) + 1, n_draws)
    fold_of = stratified_folds(data.labels, n_folds, seed)
    runs = [FoldRun(task, fold_of != fold, fold_of == fold, seed) for fold in range(n_folds)]
    return {
        pipeline: float(np.mean([run.scores(pipeline)["log_loss"] for run in runs]))
        for pipeline in PIPELINES
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--tables", default=",".join(tables.RANKED))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, list[dict[str, float]]] = {}
    for seed in range(given.seeds):
        for name in given.tables.split(","):
            start = time.process_time()
            found.setdefault(name, []).append(losses(name, seed, given.folds, given.draws))
            shown = " ".join(f"{key} {value:.4f}" for key, value in found[name][-1].items())
            print(
                f"{name} seed {seed}: {shown}; {time.process_time() - start:.0f} CPU s", flush=True
            )
    print("\n| table | " + " | ".join(PIPELINES) + " | seeds |\n" + "|---" * 6 + "|")
    means = {
        n: {p: np.mean([run[p] for run in runs]) for p in PIPELINES} for n, runs in found.items()
    }
    for name, values in means.items():
        print(
            f"| {name} | {' | '.join(f'{v:.3f}' for v in values.values())} | {len(found[name])} |"
        )
    wins = sum(values["draws_linear"] < values["grey_linear"] for values in means.values())
    best = sum(min(values, key=values.__getitem__) == "grey_model" for values in means.values())
    print(f"\nbagged draws beat the single fill on {wins} of {len(means)} tables")
    print(f"the model that reads holes is the best of the four on {best}")


if __name__ == "__main__":
    main()
