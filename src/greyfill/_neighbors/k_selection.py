"""How many neighbors: by cross-validated classification as in the paper, or by hidden cells.

Both need one search only: the errors of every k come from prefixes of each row's sorted donors.
Among equal errors the largest k wins, or for "cv_smallest" the smallest. The seeded samples of
rows stand here too.
"""

from dataclasses import replace

import numpy as np

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.links import (
    HoleSearch,
    Links,
    Prepared,
    Search,
    map_threads,
    search_all,
    searchable,
)
from greyfill._neighbors.schedule import Report
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Floats, Ints

K_RULES = ("auto", "cv", "cv_smallest", "masked")

MAX_K = 50
"""The largest k that is tried."""

N_FOLDS = 10

SAMPLE_ROWS = 5_000
"""Cross-validation uses a stratified sample of this many rows on larger tables."""

HIDDEN_CELLS = 1_000
"""How many known cells are hidden to choose k without labels."""

HIDDEN_COLUMNS = 20
"""In a table without holes, cells are hidden in at most this many columns."""


def choose_k(
    prepared: Prepared, wanted: int | str, random_state: int | None, report: Report
) -> tuple[int, dict[int, float]]:
    """A fixed k, or the best one with the error of each k that was tried."""
    labels = prepared.labels
    rule = k_rule(wanted, None if labels is None else set(labels.tolist()) - {-1})
    if rule is None:
        return int(wanted), {}
    if rule == "cv" and labels is not None:
        if len(labels) > SAMPLE_ROWS:
            report(f"k is chosen on a stratified sample of {SAMPLE_ROWS} rows")
        errors = by_classification(prepared, labels, random_state)
    else:
        errors = by_hidden_cells(prepared, prepared.pools(prepared.donors.missing), random_state)
    scores = {k: float(error) for k, error in enumerate(errors, start=1)}
    chosen = best_k(scores, wanted)
    report(f"k = {chosen}, the best of {len(scores)} tried")
    return chosen, scores


def k_rule(wanted: int | str, classes: set[int] | None) -> str | None:
    """How k is chosen: "cv", "masked", or not at all (None); ``classes`` is None without labels."""
    if not isinstance(wanted, str):
        if wanted < 1:
            raise InvalidParameterError(f"n_neighbors must be at least 1, not {wanted!r}")
        return None
    if wanted not in K_RULES:
        raise InvalidParameterError(
            f"n_neighbors must be a positive integer or one of {K_RULES}, not {wanted!r}"
        )
    if wanted in ("cv", "cv_smallest") and classes is None:
        raise InvalidParameterError(
            f"n_neighbors={wanted!r} chooses k by classifying y, but there are no classes: y is "
            "None, continuous, or unused because labels='none'; set n_neighbors to a number or "
            "'masked'"
        )
    return "cv" if wanted != "masked" and classes is not None and len(classes) > 1 else "masked"


def best_k(scores: dict[int, float], wanted: int | str = "cv") -> int:
    """The k with the least error; the largest of ties, or the smallest if that is wanted.

    >>> best_k({1: 0.2, 2: 0.1, 3: 0.1}), best_k({1: 0.2, 2: 0.1, 3: 0.1}, "cv_smallest")
    (3, 2)
    """
    least = min(scores.values())
    tied = [k for k, score in scores.items() if score == least]
    return min(tied) if wanted == "cv_smallest" else max(tied)


def by_classification(prepared: Prepared, labels: Ints, random_state: int | None) -> Floats:
    """Misclassification rate of a k-nearest-neighbor classifier for k = 1, 2, …, in ten folds.

    The classifier uses the method's own distance and weights on the start-filled table. Rows
    without a label (−1) stay out; a large table is represented by a stratified sample. Rows without
    an observed cell that counts stay out too, unless no other class would be left.
    """
    missing, start, weights = prepared.donors.missing, prepared.start, prepared.overall_weights
    rows = np.flatnonzero((labels >= 0) & searchable(prepared.visible(missing), weights))
    rows = rows if len(np.unique(labels[rows])) > 1 else np.flatnonzero(labels >= 0)
    rows = rows[stratified_sample(labels[rows], SAMPLE_ROWS, random_state)]
    folds = stratified_folds(labels[rows], min(N_FOLDS, len(rows)), random_state)
    k = min(MAX_K, len(rows) - int(np.bincount(folds).max()))

    def search_of(fold: int) -> Search:
        held_out, givers = rows[folds == fold], rows[folds != fold]
        pool = prepared.lay_out(start[givers], missing[givers])
        queries = prepared.queries(held_out, givers, start[held_out], missing[held_out])
        return Search(pool, queries, weights, k)

    numbers = np.unique(folds).tolist()
    searches = map_threads(search_of, numbers, prepared.n_jobs)
    found = search_all(prepared.recipe.distance, searches, prepared.n_jobs)
    neighbor_labels = np.empty((len(rows), k), dtype=np.intp)
    for fold, (donors, _) in zip(numbers, found, strict=True):
        neighbor_labels[folds == fold] = labels[rows[folds != fold][donors]]
    return classification_errors(neighbor_labels, labels[rows])


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


def by_hidden_cells(prepared: Prepared, pools: list[RowPool], random_state: int | None) -> Floats:
    """Mean squared error (categories: share of wrong ones) of hidden known cells for k = 1, 2, ….

    Each of at most ``HIDDEN_CELLS`` observed cells is hidden in its row alone and filled from the
    row's donors as in the first pass. Without holes, cells of some evenly chosen columns are.
    """
    n_columns, observed = prepared.donors.n_columns, ~prepared.donors.missing
    if len(prepared.targets) == 0:
        targets = np.arange(n_columns)[:: -(-n_columns // HIDDEN_COLUMNS)]
        weights = prepared.recipe.weigh_columns(prepared.donors, prepared.labels, targets)
        prepared = replace(prepared, targets=targets, weights=weights)
    wanted = np.zeros(n_columns, dtype=bool)
    wanted[prepared.targets] = True
    cells = np.flatnonzero(observed & wanted)
    rows, columns = np.divmod(cells[hidden_ranks(len(cells), random_state)], n_columns)
    links = [piece for pool in pools for piece in _hidden_links(prepared, pool, rows, columns)]
    k_max = max((piece.donors.shape[1] for piece in links), default=1)
    return np.array([_hidden_error(prepared, links, k) for k in range(1, k_max + 1)])


def hidden_ranks(n_cells: int, random_state: int | None) -> Ints:
    """The ranks of the cells to hide, in rising order, among all that could be hidden."""
    size = min(HIDDEN_CELLS, n_cells)
    return sample_ranks(np.array([n_cells]), np.array([size]), random_state)[0]


def _hidden_links(prepared: Prepared, pool: RowPool, rows: Ints, columns: Ints) -> list[Links]:
    """Donors of the hidden cells whose rows take from this pool."""
    inside = np.isin(rows, pool.takers)
    rows, columns = rows[inside], columns[inside]
    start, all_missing, givers = prepared.start, prepared.donors.missing, pool.givers
    hidden = np.zeros((len(rows), prepared.donors.n_columns), dtype=bool)
    hidden[np.arange(len(rows)), columns] = True
    layout = prepared.lay_out(start[givers], all_missing[givers])
    links = []
    for weights, holes in prepared.weight_groups(hidden):
        seen: Bools = prepared.visible(all_missing[rows]) | holes
        some = holes.any(axis=1) & searchable(seen, weights)
        queries = prepared.queries(rows[some], givers, start[rows[some]], seen[some])
        queries = replace(queries, missing=seen[some])  # a hidden cell is a hole to every distance
        k = queries.available(givers, MAX_K)
        if some.any() and k > 0:
            search = HoleSearch(Search(layout, queries, weights, k), givers, holes[some])
            links.append(search.run(prepared.recipe, prepared.n_jobs))
    return links


def _hidden_error(prepared: Prepared, links: list[Links], k: int) -> float:
    table, errors = prepared.donors, []
    for piece in links:
        near = piece.nearest(k, prepared.recipe.fill)
        guess = near.values(prepared.start, table.is_categorical, prepared.n_levels)
        truth = table.values[near.rows[near.slots], near.columns]
        votes = table.is_categorical[near.columns]
        errors.append(np.where(votes, guess != truth, (guess - truth) ** 2))
    return float(np.concatenate(errors).mean()) if errors else 0.0


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
    ranks = sample_ranks(counts, even_sizes(counts, size), random_state)
    return rows_by_rank(labels, classes, ranks)


def capped(labels: Ints | None, n_rows: int, most: int | None, random_state: int | None) -> Bools:
    """Which rows may give: all, or a seeded sample of at most ``most`` rows of each class.

    >>> int(capped(np.array([0, 0, 0, 1, 1]), 5, most=2, random_state=0).sum())
    4
    """
    if most is None:
        return np.ones(n_rows, dtype=bool)
    labels = np.zeros(n_rows, dtype=np.intp) if labels is None else labels
    classes, counts = np.unique(labels, return_counts=True)
    ranks = sample_ranks(counts, np.minimum(counts, most), random_state)
    may_give = np.zeros(n_rows, dtype=bool)
    may_give[rows_by_rank(labels, classes, ranks)] = True
    return may_give


def sample_ranks(counts: Ints, sizes: Ints, random_state: int | None) -> list[Ints]:
    """For each class of ``counts`` rows, ``sizes`` different ranks in rising order.

    >>> [ranks.tolist() for ranks in sample_ranks(np.array([3, 2]), np.array([3, 1]), 0)]
    [[0, 1, 2], [0]]
    """
    rng = np.random.default_rng(random_state)
    return [
        np.sort(rng.choice(int(count), int(size), replace=False)) if size else np.arange(0)
        for count, size in zip(counts, sizes, strict=True)
    ]


def even_sizes(counts: Ints, size: int) -> Ints:
    """How many of ``size`` rows each class gets, so that their shares are kept.

    >>> even_sizes(np.array([60, 30, 10]), 20).tolist()
    [12, 6, 2]
    """
    total = int(counts.sum())
    if total <= size:
        return counts
    evenly = np.arange(size) * total // size
    return np.diff(np.searchsorted(evenly, np.cumsum(counts)), prepend=0)


def rows_by_rank(labels: Ints, classes: Ints, ranks: list[Ints]) -> Ints:
    """The rows of these ranks in their classes, in the order of the table.

    >>> labels = np.array([1, 0, 1, 1])
    >>> rows_by_rank(labels, np.array([0, 1]), [np.array([0]), np.array([2])]).tolist()
    [1, 3]
    """
    chosen = [np.flatnonzero(labels == c)[r] for c, r in zip(classes, ranks, strict=True)]
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.intp)
