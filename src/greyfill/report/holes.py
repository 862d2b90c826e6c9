"""Where the holes are: which columns miss together, and a map of the table in bins of rows."""

from typing import Any

import numpy as np

from greyfill.report.text import tidy
from greyfill.table import Bools, Ints

MOST_PATTERNS = 20
MOST_NAMES = 30
ROW_BINS = 120


def patterns(missing: Bools, names: list[str]) -> dict[str, Any]:
    """The most frequent sets of columns that miss in the same row; the empty set is complete rows.

    >>> holes = np.array([[0, 1], [0, 1], [0, 0], [1, 1]], dtype=bool)
    >>> [(p["columns"], p["rows"]) for p in patterns(holes, ["a", "b"])["top"]]
    [(['b'], 2), ([], 1), (['a', 'b'], 1)]
    """
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))[:MOST_PATTERNS]
    return {
        "count": len(counts),
        "rows_left_out": int(counts.sum() - counts[order].sum()),
        "top": [_pattern(missing[first[i]], int(counts[i]), len(missing), names) for i in order],
    }


def _pattern(holes: Bools, n_rows: int, of: int, names: list[str]) -> dict[str, Any]:
    places = np.flatnonzero(holes)
    return {
        "columns": [names[j] for j in places[:MOST_NAMES]],
        "n_columns": len(places),
        "rows": n_rows,
        "share": tidy(n_rows / of),
    }


def missing_map(missing: Bools, names: list[str], shown: Ints) -> dict[str, Any]:
    """The share of holes of each column in at most 120 bins of consecutive rows.

    >>> missing_map(np.array([[True], [False]]), ["a"], np.array([0]))["shares"]
    [[1.0, 0.0]]
    """
    size = -(-len(missing) // ROW_BINS)
    edges = np.append(np.arange(0, len(missing), size), len(missing))
    sums = np.add.reduceat(missing[:, shown], edges[:-1], axis=0, dtype=np.intp)
    shares = sums / np.diff(edges)[:, np.newaxis]
    return {
        "columns": [names[j] for j in shown],
        "edges": edges.tolist(),
        "shares": np.round(shares.T, 3).tolist(),
    }
