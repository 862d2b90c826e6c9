"""Which measure of relevance weighs columns best? Writes docs/relevance.md.

    python benchmarks/relevance.py [--seeds 5] [--pair-seeds 2] [--page docs/relevance.md]

Every table gets noise: a shuffled copy of each of its columns, which has the same distribution and
tells nothing. Then 20 % of the cells of the real columns are hidden and filled by CGKNN with ten
donors and the weights in question. Kept are the share of the weights that fell on noise, the
error of the hidden cells, and the seconds that weighing took.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

from run import commit

from greyfill import NeighborImputer, datasets, frames, targets
from greyfill.evaluation.protocols import fit_fill, prepare
from greyfill.imputers.neighbors import named_part
from greyfill.metrics import imputation_errors
from greyfill.missingness import mcar
from greyfill.table import Column, Kind, Table

RATE = 0.2
DONORS = 10
BY_CLASS = {
    "equal": "equal weights",
    "class": "Parzen MI (the paper)",
    "parzen": "Parzen MI, chance taken out",
    "ksg": "nearest-neighbor MI, chance taken out",
    "distance_correlation": "distance correlation², chance taken out",
    "forest": "forest importance, chance taken out",
}
BY_COLUMN = {
    "pair": "Parzen MI (FWGKNN)",
    "pair_parzen": "Parzen MI, chance taken out",
    "pair_ksg": "nearest-neighbor MI, chance taken out",
    "pair_distance_correlation": "distance correlation², chance taken out",
    "pair_forest": "forest importance, chance taken out",
}


@dataclass(frozen=True)
class Given:
    """Weights that are known already, so that weighing can be timed on its own."""

    weights: Any
    by_target: bool
    uses_labels: bool = False

    def weigh(self, table: Table, labels: Any, targets: Any) -> Any:
        return self.weights


def simulated(make: Callable[[int], Any], seed: int) -> tuple[Table, Any]:
    X, y = make(seed)
    columns = tuple(Column(f"x{j + 1}", Kind.NUMERIC) for j in range(X.shape[1]))
    return Table(X, np.zeros(X.shape, dtype=bool), columns), y


def bundled(name: str) -> tuple[Table, Any]:
    data = datasets.load(name)
    table, _ = frames.encode(
        data.X,
        categorical_features=list(data.categorical_features),
        ordinal_features=list(data.ordinal_features) or None,
    )
    return table, targets.encode_labels(data.y)[0]


TABLES: dict[str, Callable[[int], tuple[Table, Any]]] = {
    "cubes": lambda seed: simulated(lambda s: datasets.make_cubes(s, n_noise=0), seed),
    "Gaussian classes": lambda seed: simulated(datasets.make_gaussian_classes, seed),
    "iris": lambda seed: bundled("iris"),
    "penguins": lambda seed: bundled("penguins"),
    "hepatitis": lambda seed: bundled("hepatitis"),
    "votes": lambda seed: bundled("votes"),
}


def with_noise(table: Table, times: int, rng: np.random.Generator) -> Table:
    """The table and ``times`` shuffled copies of each of its columns."""
    values, missing, columns = [table.values], [table.missing], list(table.columns)
    for copy in range(times):
        orders = np.argsort(rng.random(table.values.shape), axis=0)
        values.append(np.take_along_axis(table.values, orders, axis=0))
        missing.append(np.take_along_axis(table.missing, orders, axis=0))
        columns += [replace(c, name=f"{c.name} shuffled {copy + 1}") for c in table.columns]
    return Table(np.hstack(values), np.hstack(missing), tuple(columns))


@dataclass(frozen=True)
class Outcome:
    noise: float
    error: float
    seconds: float


def trial(name: str, measure: str, seed: int) -> Outcome:
    shuffling, hiding = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    real, labels = TABLES[name](seed)
    truth = with_noise(real, 7 if name == "cubes" else 1, shuffling)
    mask = mcar(truth, RATE, list(range(real.n_columns)), random_state=hiding)
    holed = Table(np.where(mask, 0.0, truth.values), truth.missing | mask, truth.columns)
    part = named_part("weights", measure)
    targets = np.flatnonzero(holed.missing.any(axis=0))
    start = time.perf_counter()
    weights = part.weigh(holed, labels, targets)
    seconds = time.perf_counter() - start
    imputer = NeighborImputer(DONORS, weights=Given(weights, part.by_target))
    filled = fit_fill(prepare(imputer, holed), holed, labels)
    about_real = weights[np.isin(targets, np.arange(real.n_columns))] if part.by_target else weights
    noise = float(about_real[:, real.n_columns :].sum(axis=1).mean())
    return Outcome(noise, imputation_errors(truth, filled, mask).nrmse, seconds)


def section(title: str, measures: dict[str, str], seeds: int) -> list[str]:
    """A table of the page: one row for each measure, three figures for each table."""
    lines = [f"## {title}", ""]
    for name in TABLES:
        lines += [
            f"### {name}",
            "",
            "| weights | on noise | NRMSE | seconds |",
            "|---|---|---|---|",
        ]
        for measure, words in measures.items():
            found = [trial(name, measure, seed) for seed in range(seeds)]
            errors = [one.error for one in found]
            noise, seconds = (np.mean([getattr(o, f) for o in found]) for f in ("noise", "seconds"))
            lines.append(
                f"| {words} | {noise:.0%} | {np.mean(errors):.4f} ± {np.std(errors):.4f} "
                f"| {seconds:.2f} |"
            )
            print(f"{name:18}{lines[-1]}", flush=True)
        lines.append("")
    return lines


PREFACE = Path(__file__).with_name("relevance_preface.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pair-seeds", type=int, default=2)
    parser.add_argument("--page", type=Path, default=Path("docs/relevance.md"))
    chosen = parser.parse_args()
    command = (
        f"python benchmarks/relevance.py --seeds {chosen.seeds} --pair-seeds {chosen.pair_seeds}"
    )
    told = {"{command}": command, "{commit}": commit()}
    preface = PREFACE.read_text(encoding="utf-8")
    for name, words in told.items():
        preface = preface.replace(name, words)
    lines = [preface]
    lines += section(f"Relevance to the class ({chosen.seeds} seeds)", BY_CLASS, chosen.seeds)
    lines += section(
        f"Relevance to the column with the hole ({chosen.pair_seeds} seeds)", BY_COLUMN,
        chosen.pair_seeds,
    )  # fmt: skip
    chosen.page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
