"""How well classifiers predict from tables with holes, by what is done about the holes.

    python benchmarks/classifiers.py [--seeds 0..4] [--tables iris,wine] [--page docs/worth.md]

20 % of the cells of the thirteen tables of the accuracy page are hidden completely at random beside
the natural holes. In each of three folds the training rows, with their labels, teach imputer and
classifier, and test rows are filled without: the pipelines of ``greyfill.worth``, and random
forests after the same strategies. Log loss and accuracy on the test rows, the mean over the folds.
Prints a section in Markdown, and puts it on a page if one is named. Results that the store,
docs/data/classifiers.jsonl, has already are not computed again. ``--exam`` takes the tables of the
examination instead, once the version is finished. Needs ``GREYFILL_DATA``, as the accuracy page
does.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sections import again
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from greyfill.evaluation.pipelines import (
    BOOSTING,
    ESTIMATORS,
    GREY,
    LINEAR,
    PIPELINES,
    PLAIN,
    FoldRun,
    PredictionTask,
)
from greyfill.evaluation.protocols import stratified_folds
from greyfill.missingness import hide, mcar

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))
import ranking
import standing
import tables
from run import commit, named, several
from store import KEPT, KEY, Store
from text import counted, listed, number, table

FOREST = "forest"
MODELS = {LINEAR: "logistic regression", BOOSTING: "boosting", FOREST: "random forest"}
SCENARIO, RATE = "mcar20", 0.2
HEADING = "## Measured: what to do about holes before a classifier"
AFTERWARDS = "## A model on every draw"
Rows = list[dict[str, Any]]

WAYS = PIPELINES | {
    f"{p.strategy}_{FOREST}": replace(p, name=f"{p.strategy}_{FOREST}", model=FOREST)
    for p in PIPELINES.values()
    if p.model == LINEAR
}


def measure(
    name: str, seed: int, n_folds: int, n_draws: int, wanted: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pipeline with its means over the folds; what pipelines share is made once."""
    ESTIMATORS[FOREST, True] = RandomForestClassifier(random_state=0)
    data = tables.load(name)
    labels = data.labels
    hidden = hide(data.table, mcar(data.table, RATE, random_state=seed))
    task = PredictionTask(hidden, labels, int(labels.max()) + 1, n_draws)
    fold_of = stratified_folds(labels, n_folds, seed)
    runs = [FoldRun(task, fold_of != fold, fold_of == fold, seed) for fold in range(n_folds)]
    for pipeline in wanted:
        start = time.process_time()
        try:
            with threadpool_limits(1):
                predicted = [run._predict(WAYS[pipeline]) for run in runs]
            pairs = zip(runs, predicted, strict=True)
            found = [task.judge(shares, labels[run.is_test]) for run, shares in pairs]
            means = {metric: float(np.mean([f[metric] for f in found])) for metric in task.metrics}
            yield pipeline, means | {"seconds": round(time.process_time() - start, 2)}
        except Exception as error:
            yield pipeline, {"error": f"{type(error).__name__}: {error}"[:300]}


def run_all(options: argparse.Namespace) -> Rows:
    """Whatever the store does not have yet; all results of these tables, seeds and settings."""
    store, label = Store(options.store), f"{options.folds} folds, {options.draws} draws"
    for seed in options.seeds:
        for name in options.tables:
            keys = {
                p: dict(zip(KEY, ("classifiers", p, label, name, SCENARIO, seed), strict=True))
                for p in options.pipelines
            }
            wanted = [p for p, key in keys.items() if not store.has(key)]
            for p, found in measure(name, seed, options.folds, options.draws, wanted):
                store.add(keys[p] | found | {"commit": commit()})
                print(name, seed, p, found, file=sys.stderr, flush=True)
    return [
        row
        for row in store
        if (row["task"], row["label"]) == ("classifiers", label)
        and row["seed"] in options.seeds
        and row["table"] in options.tables
        and row["method"] in options.pipelines
    ]


def section(rows: Rows, names: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Ranks and tests over tables, strategies within each model, and all figures."""
    ours = [row for row in rows if WAYS[row["method"]].group != PLAIN]
    shown = [row | {"method": words(row["method"])} for row in rows]
    shown = [row | ({"wrong": 1 - row["accuracy"]} if "accuracy" in row else {}) for row in shown]
    losses, wrong = (
        ranking.board(shown, seeds, names, score, [SCENARIO]) for score in ("log_loss", "wrong")
    )
    first = words("grey_model")
    flagship = first if first in losses.methods else losses.methods[0]
    titles = [standing.shown(name) for name in names]
    exam = " --exam" if all(name.startswith("exam:") for name in names) else ""
    where = "" if exam else ", with the tables of [Accuracy](accuracy.md#repeat-it)"
    return [
        HEADING,
        "",
        f"By `python benchmarks/classifiers.py{exam}`{where}: {len(names)} tables, 20 % of the "
        f"cells hidden at random beside the natural holes, {counted(len(seeds), 'seed')}, honest "
        f"folds ({listed(sorted({row['label'] for row in rows}))}), on commit "
        f"{listed(sorted({row['commit'] for row in ours}))}. Ranks by log loss; below by model "
        "and by accuracy. " + standing.HOW,
        "",
        *standing.standing(losses, flagship),
        "Strategies within a model, mean ranks by log loss over the tables:",
        "",
        *_within(losses),
        *_bagged(losses),
        "By accuracy, and the means over the tables:",
        "",
        *_by_accuracy(losses, wrong),
        *_caution(names),
        *STUDIES,
        "Log loss:",
        "",
        *standing.matrix(losses, titles),
        "Share of wrong classes:",
        "",
        *standing.matrix(wrong, titles),
        "Failures:",
        "",
        *standing.failures(shown, seeds),
    ]


STUDIES = [
    "Larger studies read beside it. Perez-Lebel and others (2022), eight databases of health, "
    "boosting: mean ranks of 17 ways were 3.0 for multiple imputation with the indicator, 3.4 for "
    "native holes with bagging, 3.9 for mean, indicator and bagging, 5.3 for native holes, 12.9 "
    "for nearest neighbors; bagging explained most of the gain of multiple imputation. Le "
    "Morvan and Varoquaux (2025), 19 tables: with a strong model or with the indicator the "
    "accuracy of the imputation matters little, and the indicator helps even under MCAR. "
    "Bertsimas, Delarue and Pauphilet: the mean is optimal in the long run, the mode is not, so "
    "a missing category should be a level. The tables here are small and their holes are mostly "
    "made at random, where an indicator is a column of noise and a good fill counts for more: "
    "do not carry these ranks over to large tables.",
    "",
]


def _caution(names: Sequence[str]) -> list[str]:
    """What a reader could hold against the figures."""
    seen = any(not name.startswith(tables.EXAM) for name in names)
    return [
        f"{'The tables were seen while greyfill was built. ' * seen}Bagged draws average a model "
        "for each draw where the other ways fit one; how much of their gain is the averaging alone "
        "was not measured. The models have their default settings: boosting, which does not stop "
        "early on tables so small, is too sure of itself, so that its log loss says more of the "
        "model than of the holes.",
        "",
    ]


def words(pipeline: str) -> str:
    """A pipeline as it is called on the page."""
    chosen = WAYS[pipeline]
    if chosen.model == GREY:
        return "GreyClassifier"
    forest = f"{chosen.words}, then {MODELS[FOREST]}"
    return forest if chosen.model == FOREST else chosen.described(True)


def _by_accuracy(losses: ranking.Board, wrong: ranking.Board) -> list[str]:
    """Methods down, the best by accuracy first."""
    ranks = wrong.by_table().ranks()
    right, loss = (
        dict(zip(board.methods, board.by_table().means().mean(axis=0), strict=True))
        for board in (wrong, losses)
    )
    lines = [
        (name, number(ranks[name], 2), number(1 - right[name], 3), number(loss[name], 3))
        for name in sorted(ranks, key=ranks.__getitem__)
    ]
    return table(("method", "mean rank by accuracy", "accuracy", "log loss"), lines)


def _within(losses: ranking.Board) -> list[str]:
    """Strategies down, models across."""
    ranks: dict[str, dict[str, float]] = {}
    for model, title in MODELS.items():
        names = {words(p.name): p.words for p in WAYS.values() if p.model == model}
        found = losses.only(names).by_table().ranks()
        ranks[title] = {names[name]: rank for name, rank in found.items()}
    strategies = list(dict.fromkeys(p.words for p in WAYS.values() if p.words))
    lines = [
        (name, *(number(by_name.get(name, np.nan), 2) for by_name in ranks.values()))
        for name in strategies
    ]
    return table(("strategy", *(f"{m} (of {len(r)})" for m, r in ranks.items())), lines)


def _bagged(losses: ranking.Board) -> list[str]:
    """On how many tables bagged draws beat one fill."""
    found = []
    for model, title in MODELS.items():
        one, bagged = words(f"grey_{model}"), words(f"draws_{model}")
        if {one, bagged} <= set(losses.methods):
            pair = losses.only([one, bagged]).by_table()
            (duel,) = ranking.duels(pair, bagged)
            found.append(
                f"{title} {duel.wins} of {duel.n_cases} (ratio of log losses {duel.ratio:.3f})"
            )
    return [f"Tables on which bagged draws beat one fill: {'; '.join(found)}.", ""] if found else []


def put(page: Path, lines: Sequence[str]) -> None:
    """The section anew: where it is, or before the one on pooled models, or at the end."""
    starts = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:3] == "## "]
    before = starts[: starts.index(AFTERWARDS)] if AFTERWARDS in starts else starts
    again(page, lines, [line.removeprefix("## ") for line in (*before, HEADING)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=several, default=list(range(5)), help="0..4 or 1,5")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--tables", type=named, default=list(tables.RANKED))
    parser.add_argument("--exam", action="store_true", help="the tables of GREYFILL_EXAM")
    parser.add_argument("--pipelines", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--store", type=Path, default=KEPT / "classifiers.jsonl")
    parser.add_argument("--page", type=Path, help="where the section is put anew")
    options = parser.parse_args()
    options.tables = tables.of_examination() if options.exam else options.tables
    warnings.simplefilter("ignore")
    lines = section(run_all(options), options.tables, options.seeds)
    print("\n".join(lines))
    if options.page:
        put(options.page, lines)


if __name__ == "__main__":
    main()
