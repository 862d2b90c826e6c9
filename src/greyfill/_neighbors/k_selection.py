"""How many neighbors: by cross-validated classification as in the paper, or by hidden cells.

Both need one search only: the errors of every k come from prefixes of each row's sorted donors.
Among equal errors the largest k wins.
"""

from dataclasses import replace

import numpy as np

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.links import Links, Request, Search, informed, link, search_all
from greyfill._neighbors.preparation import (
    Prepared,
    available,
    even_sizes,
    rows_by_rank,
    sample_ranks,
    weight_groups,
)
from greyfill._search.pool import build_pool
from greyfill._search.threads import map_threads
from greyfill.table import Bools, Floats, Ints

MAX_K = 50
"""The largest k that is tried."""

N_FOLDS = 10

SAMPLE_ROWS = 5_000
"""Cross-validation uses a stratified sample of this many rows on larger tables."""

HIDDEN_CELLS = 1_000
"""How many known cells are hidden to choose k without labels."""

HIDDEN_COLUMNS = 20
"""In a table without holes, cells are hidden in at most this many columns."""


def by_classification(prepared: Prepared, labels: Ints, random_state: int | None) -> Floats:
    """Misclassification rate of a k-nearest-neighbor classifier for k = 1, 2, …, in ten folds.

    The classifier uses the method's own distance and weights on the start-filled table. Rows
    without a label (−1) stay out; a large table is represented by a stratified sample.
    """
    rows = _classifiable(prepared, labels)
    rows = rows[stratified_sample(labels[rows], SAMPLE_ROWS, random_state)]
    folds = stratified_folds(labels[rows], min(N_FOLDS, len(rows)), random_state)
    k = min(MAX_K, len(rows) - int(np.bincount(folds).max()))
    neighbor_labels = np.empty((len(rows), k), dtype=np.intp)
    sides = [(rows[folds == fold], rows[folds != fold]) for fold in np.unique(folds)]
    searches = map_threads(lambda side: _search_of_fold(prepared, *side, k), sides, prepared.n_jobs)
    found = search_all(prepared.recipe.distance, searches, prepared.n_jobs)
    for fold, (_, givers), (donors, _) in zip(np.unique(folds), sides, found, strict=True):
        neighbor_labels[folds == fold] = labels[givers[donors]]
    return classification_errors(neighbor_labels, labels[rows])


def _classifiable(prepared: Prepared, labels: Ints) -> Ints:
    """Rows with a label and an observed cell that counts; all labelled rows if there are none."""
    matched = informed(prepared.visible(prepared.table.missing), prepared.overall_weights)
    rows = np.flatnonzero((labels >= 0) & matched)
    return rows if len(np.unique(labels[rows])) > 1 else np.flatnonzero(labels >= 0)


def _search_of_fold(prepared: Prepared, rows: Ints, givers: Ints, k: int) -> Search:
    missing = prepared.table.missing
    weights = prepared.overall_weights
    pool = build_pool(
        prepared.start[givers],
        prepared.visible(missing[givers]),
        prepared.table.is_categorical,
        weights,
    )
    taking = prepared.taking(rows, givers, prepared.start[rows], missing[rows])
    return Search(pool, taking, weights, k)


def classification_errors(neighbor_labels: Ints, labels: Ints) -> Floats:
    """Share of rows that the k nearest rows misclassify by plain vote, for k = 1, 2, ….

    Ties go to the class that reached the count first, that is by nearer neighbors.

    >>> import numpy as np
    >>> classification_errors(np.array([[0, 1, 1], [1, 1, 0]]), np.array([1, 1])).tolist()
    [0.5, 0.5, 0.0]
    """
    n, k = neighbor_labels.shape
    counts = np.zeros((n, int(max(neighbor_labels.max(), labels.max())) + 1), dtype=np.intp)
    winner = neighbor_labels[:, 0].copy()
    errors = np.empty(k)
    rows = np.arange(n)
    for place in range(k):
        voted = neighbor_labels[:, place]
        counts[rows, voted] += 1
        winner = np.where(counts[rows, voted] > counts[rows, winner], voted, winner)
        errors[place] = np.mean(winner != labels)
    return errors


def stratified_folds(labels: Ints, n_folds: int, random_state: int | None) -> Ints:
    """A fold number for each row; each class is spread evenly over the folds."""
    order = np.random.default_rng(random_state).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % n_folds
    return folds


def stratified_sample(labels: Ints, size: int, random_state: int | None) -> Ints:
    """Positions, in order, of a sample of at most ``size`` rows that keeps the class shares."""
    if len(labels) <= size:
        return np.arange(len(labels))
    classes, counts = np.unique(labels, return_counts=True)
    return rows_by_rank(
        labels, classes, sample_ranks(counts, even_sizes(counts, size), random_state)
    )


def by_hidden_cells(prepared: Prepared, pools: list[RowPool], random_state: int | None) -> Floats:
    """Mean squared error (categories: share of wrong ones) of hidden known cells for k = 1, 2, ….

    Each of at most ``HIDDEN_CELLS`` observed cells is hidden in its row alone and filled from the
    row's donors as in the first pass.
    """
    prepared = _with_targets(prepared)
    rows, columns = _sample_cells(prepared, random_state)
    links = [piece for pool in pools for piece in _hidden_links(prepared, pool, rows, columns)]
    k_max = max((piece.donors.shape[1] for piece in links), default=1)
    return np.array([_hidden_error(prepared, links, k) for k in range(1, k_max + 1)])


def _with_targets(prepared: Prepared) -> Prepared:
    """The same with columns to hide cells in: those with holes, else some evenly chosen ones."""
    if len(prepared.targets):
        return prepared
    n_columns = prepared.table.n_columns
    targets = np.arange(n_columns)[:: -(-n_columns // HIDDEN_COLUMNS)]
    weights = prepared.recipe.weights.weigh(prepared.table, prepared.labels, targets)
    return replace(prepared, targets=targets, weights=weights)


def _sample_cells(prepared: Prepared, random_state: int | None) -> tuple[Ints, Ints]:
    """Row and column of the cells to hide, all in target columns."""
    observed = ~prepared.table.missing
    wanted = np.zeros(observed.shape[1], dtype=bool)
    wanted[prepared.targets] = True
    cells = np.flatnonzero(observed & wanted)
    rows, columns = np.divmod(cells[hidden_ranks(len(cells), random_state)], observed.shape[1])
    return rows, columns


def hidden_ranks(n_cells: int, random_state: int | None) -> Ints:
    """The ranks of the cells to hide, in rising order, among all that could be hidden."""
    size = min(HIDDEN_CELLS, n_cells)
    return sample_ranks(np.array([n_cells]), np.array([size]), random_state)[0]


def _hidden_links(prepared: Prepared, pool: RowPool, rows: Ints, columns: Ints) -> list[Links]:
    """Donors of the hidden cells whose rows take from this pool."""
    inside = np.isin(rows, pool.takers)
    rows, columns = rows[inside], columns[inside]
    table, recipe = prepared.table, prepared.recipe
    hidden = np.zeros((len(rows), table.n_columns), dtype=bool)
    hidden[np.arange(len(rows)), columns] = True
    donors = build_pool(
        prepared.start[pool.givers],
        prepared.visible(table.missing[pool.givers]),
        table.is_categorical,
        prepared.overall_weights,
    )
    links = []
    for weights, holes in weight_groups(prepared, hidden):
        seen: Bools = prepared.visible(table.missing[rows]) | holes
        some = holes.any(axis=1) & informed(seen, weights)
        missing = seen[some]
        taking = prepared.taking(rows[some], pool.givers, prepared.start[rows[some]], missing)
        taking = replace(taking, missing=missing)  # a hidden cell is unknown in every reading
        k = available(taking, pool.givers, MAX_K)
        if some.any() and k > 0:
            request = Request(Search(donors, taking, weights, k), pool.givers, holes[some])
            links.append(link(recipe.distance, recipe.fill, request, prepared.n_jobs))
    return links


def _hidden_error(prepared: Prepared, links: list[Links], k: int) -> float:
    errors = [_squared_errors(prepared, piece.nearest(k, prepared.recipe.fill)) for piece in links]
    return float(np.concatenate(errors).mean()) if errors else 0.0


def _squared_errors(prepared: Prepared, links: Links) -> Floats:
    is_categorical = prepared.table.is_categorical
    guess = links.values(prepared.start, is_categorical, prepared.n_levels)
    truth = prepared.table.values[links.rows[links.slots], links.columns]
    return np.where(is_categorical[links.columns], guess != truth, (guess - truth) ** 2)


def best_k(scores: dict[int, float]) -> int:
    """The k with the least error; the largest of ties.

    >>> best_k({1: 0.2, 2: 0.1, 3: 0.1})
    3
    """
    least = min(scores.values())
    return max(k for k, score in scores.items() if score == least)
