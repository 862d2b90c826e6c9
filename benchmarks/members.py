"""Predictors beside the panels of GreyImputer that benchmarks/tried.py measures.

Each predicts the holes of a column, and its observed cells as if each were left out: a forest out
of bag, a logistic regression in folds, latent classes without the cell's part in their counts.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from greyfill._grey.donor_table import DonorTable, Queries
from greyfill._grey.grey_engine import FittedGrey

TREES = 25
"""So many cost about as much as the whole engine."""

LEAF, FOLDS = 2, 3
SIZES, STARTS, STEPS, BINS = (8, 16, 32), 4, 40, 6
"""Latent classes, starts of each size, steps of EM at most, and bins of a number."""

Pair = tuple[np.ndarray, np.ndarray]
"""What is predicted of holes, and of observed cells that were left out."""


def features(donors: DonorTable, target: int, panels: dict[int, Pair]) -> np.ndarray:
    """Numbers, and indicators of levels, but for the target; in holes what the panel gives them."""
    parts = []
    for j in np.setdiff1d(np.arange(donors.table.n_columns), target).tolist():
        cells, levels = donors.table.values[:, [j]], donors.levels(j)
        if len(levels):
            cells = (cells == levels).astype(float)
            if j in panels:
                cells[donors.table.missing[:, j]] = panels[j][0]
            cells = cells[:, len(levels) == 2 :]
        parts.append(cells)
    return np.hstack(parts).astype(np.float32)


def by_panel(fitted: FittedGrey, j: int, holes: np.ndarray, seen: np.ndarray) -> Pair:
    choice, predictor = fitted.model(j)
    again = choice.predict(predictor, Queries.of(fitted.donors, holes)).predicted
    queries = Queries.of(fitted.donors, seen).without(j)
    left_out = np.nanmean(predictor.predict(choice.panel, queries, leave_out=True)[1], axis=0)
    if again.shape[1] == 1:
        return again, left_out
    clipped = [part.clip(0.01, 1.0) for part in (again, left_out)]
    again, left_out = (part / part.sum(axis=1, keepdims=True) for part in clipped)
    return again, left_out


def by_forest(x: np.ndarray, y: np.ndarray, holes: np.ndarray, seen: np.ndarray) -> Pair:
    how = {"oob_score": True, "random_state": 0, "bootstrap": True}
    if y.dtype.kind == "f":
        few = RandomForestRegressor(TREES, min_samples_leaf=3, max_features=0.5, **how)
        few.fit(x[seen], y)
        return few.predict(x[holes])[:, None], few.oob_prediction_[:, None]
    forest = ExtraTreesClassifier(TREES, min_samples_leaf=LEAF, max_features=0.3, **how)
    forest.fit(x[seen], y)
    return forest.predict_proba(x[holes]), np.nan_to_num(forest.oob_decision_function_)


def by_logistic(x: np.ndarray, y: np.ndarray, holes: np.ndarray, seen: np.ndarray) -> Pair:
    model, n_levels = LogisticRegression(C=0.2, max_iter=50, tol=1e-3), y.max() + 1
    x = 2.0 * (x - x[seen].mean(axis=0))
    fold, left_out = (
        np.random.default_rng(0).integers(FOLDS, size=len(y)),
        np.zeros((len(y), n_levels)),
    )
    for number in range(FOLDS):
        rest, here = fold != number, np.flatnonzero(fold == number)
        if len(np.unique(y[rest])) > 1 and len(here):
            model.fit(x[seen[rest]], y[rest])
            left_out[np.ix_(here, model.classes_)] = model.predict_proba(x[seen[here]])
    return model.fit(x[seen], y).predict_proba(x[holes]), left_out


class Latent:
    """Mixtures of independent columns: classes of rows by EM on observed cells, several starts."""

    def __init__(self, donors: DonorTable, rng: np.random.Generator) -> None:
        parts, table = [], donors.table
        for j in range(table.n_columns):
            cells, known, levels = table.values[:, j], ~table.missing[:, j], donors.levels(j)
            if not len(levels):
                edges = np.quantile(cells[known], np.linspace(0, 1, BINS + 1)[1:-1])
                cells, levels = np.searchsorted(np.unique(edges), cells), np.arange(BINS)
            parts.append((cells[:, None] == levels) & known[:, None])
        ends = np.cumsum([part.shape[1] for part in parts])
        self.places = [
            slice(end - part.shape[1], end) for part, end in zip(parts, ends, strict=True)
        ]
        self.cells = np.hstack(parts).astype(float)
        self.models = [self.fitted(size, rng) for size in SIZES for _ in range(STARTS)]

    def fitted(self, size: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Counts of the levels in each class, with a prior, and the classes of the rows."""
        prior, total = self.cells.sum(axis=0) + 0.5, -np.inf
        prior = self._divided(prior[None])[0]
        shares = rng.dirichlet(np.full(size, 0.3), size=len(self.cells))
        for _ in range(STEPS):
            counts = shares.T @ self.cells + prior
            sizes = shares.sum(axis=0) + 1.0
            logs = self.cells @ np.log(self._divided(counts)).T + np.log(sizes / sizes.sum())
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            before, total = total, float((np.log(shares.sum(axis=1)) + logs.max(axis=1)).sum())
            shares /= shares.sum(axis=1, keepdims=True)
            if total - before < 2e-4 * abs(total):
                break
        return counts, logs, shares

    def _divided(self, counts: np.ndarray) -> np.ndarray:
        parts = [counts[:, place] for place in self.places]
        return np.hstack([part / part.sum(axis=1, keepdims=True) for part in parts])

    def predict(self, j: int, holes: np.ndarray, seen: np.ndarray) -> Pair:
        """Of an observed cell, neither its row's class nor the counts know it."""
        found, left_out = [], []
        for counts, logs, shares in self.models:
            own, here = self.cells[seen][:, self.places[j]], counts[:, self.places[j]]
            chances = here / here.sum(axis=1, keepdims=True)
            found.append(shares[holes] @ chances)
            blind = logs[seen] - own @ np.log(chances).T
            blind = np.exp(blind - blind.max(axis=1, keepdims=True))
            blind /= blind.sum(axis=1, keepdims=True) * (here.sum(axis=1) - shares[seen])
            left_out.append(blind @ here - (blind * shares[seen]).sum(axis=1, keepdims=True) * own)
        return np.mean(found, axis=0), np.mean(left_out, axis=0)


def predictions(fitted: FittedGrey, seconds: dict[str, float]) -> Iterator[tuple[Any, ...]]:
    """Of each column: its number, holes, observed rows, their codes, what each member predicts."""

    def timed(name: str, work: Callable[..., Any], *given: Any) -> Any:
        start = time.process_time()
        made = work(*given)
        seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
        return made

    donors, panels = fitted.donors, {}
    for j in (j for j in donors.targets if j < fitted.n_columns):
        holes, seen = np.flatnonzero(donors.table.missing[:, j]), donors.observed_rows(j)
        if len(np.unique(donors.table.values[seen, j])) >= max(len(donors.levels(j)), 2):
            panels[j] = timed("panel", by_panel, fitted, j, holes, seen)
    latent = timed("latent", Latent, donors, np.random.default_rng(0))
    for j, of_panel in panels.items():
        holes, seen = np.flatnonzero(donors.table.missing[:, j]), donors.observed_rows(j)
        y, x = donors.table.values[seen, j], features(donors, j, panels)
        found = [of_panel]
        if donors.is_categorical[j]:
            y = np.searchsorted(donors.levels(j), y)
            found.append(timed("forest", by_forest, x, y, holes, seen))
            found.append(timed("logistic", by_logistic, x, y, holes, seen))
            found.append(timed("latent", latent.predict, j, holes, seen))
        else:
            found.append(timed("forest of numbers", by_forest, x, y, holes, seen))
        of_holes, of_seen = (np.stack(side) for side in zip(*found, strict=True))
        yield j, holes, y, of_holes, of_seen
