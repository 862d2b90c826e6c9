"""Information between columns of codes within groups, for orders of the rows: compiled twins."""

import numpy as np

from greyfill._search.jit import fast, fast_inner
from greyfill.table import Floats, Ints


@fast
def group_information(
    codes: Ints,
    n_codes: Ints,
    groups: Ints,
    n_groups: int,
    firsts: Ints,
    seconds: Ints,
    orders: Ints,
) -> Floats:
    """Information within groups of pairs of columns, for every order of the second one's rows.

    ``codes`` has shape (column, row); the result has shape (order, pair). Memory grows with the
    product of two columns' codes: `long_information` is for those that have many.
    """
    n = codes.shape[1]
    logs = np.zeros(n + 1)  # c · log2(c) of every count
    for c in range(2, n + 1):
        logs[c] = c * np.log2(c)
    out, places = np.zeros((len(orders), len(firsts))), np.empty(n, dtype=np.intp)
    for pair in range(len(firsts)):
        first, second = codes[firsts[pair]], codes[seconds[pair]]
        shape = (n_groups, n_codes[firsts[pair]], n_codes[seconds[pair]])
        for i in range(n):
            places[i] = -1 if first[i] < 0 else (groups[i] * shape[1] + first[i]) * shape[2]
        counts = np.empty(shape[0] * shape[1] * shape[2], dtype=np.intp)
        for s in range(len(orders)):
            counts[:] = 0
            for i in range(n):
                code = second[orders[s, i]]
                if places[i] >= 0 and code >= 0:
                    counts[places[i] + code] += 1
            out[s, pair] = _information(counts.reshape(shape), logs)
    return out


@fast_inner
def _information(counts, logs):
    found, total = 0.0, 0
    for g in range(counts.shape[0]):
        size = 0
        for a in range(counts.shape[1]):
            row = 0
            for b in range(counts.shape[2]):
                row += counts[g, a, b]
                found += logs[counts[g, a, b]]
            found -= logs[row]
            size += row
        for b in range(counts.shape[2]):
            column = 0
            for a in range(counts.shape[1]):
                column += counts[g, a, b]
            found -= logs[column]
        found += logs[size]
        total += size
    return found / max(total, 1)


@fast
def long_information(
    codes: Ints,
    n_codes: Ints,
    groups: Ints,
    n_groups: int,
    firsts: Ints,
    seconds: Ints,
    orders: Ints,
) -> Floats:
    """The same from the pairs of codes that occur: memory grows with the rows and codes alone."""
    out = np.zeros((len(orders), len(firsts)))
    for pair in range(len(firsts)):
        shape = (n_groups, n_codes[firsts[pair]], n_codes[seconds[pair]])
        for s in range(len(orders)):
            second = codes[seconds[pair]][orders[s]]
            out[s, pair] = _sparse_information(codes[firsts[pair]], second, groups, shape)
    return out


@fast_inner
def _sparse_information(first, second, groups, shape):
    """The same from the pairs that occur, in memory that grows with the rows and codes alone."""
    keys, n = np.empty(len(first), dtype=np.intp), 0
    rows, columns = np.zeros((shape[0], shape[1])), np.zeros((shape[0], shape[2]))
    sizes = np.zeros(shape[0])
    for i in range(len(first)):
        g, a, b = groups[i], first[i], second[i]
        if a >= 0 and b >= 0:
            keys[n] = (g * shape[1] + a) * shape[2] + b
            n += 1
            rows[g, a] += 1.0
            columns[g, b] += 1.0
            sizes[g] += 1.0
    keys = np.sort(keys[:n])
    found, start = 0.0, 0
    for i in range(n):
        if i + 1 == n or keys[i + 1] != keys[i]:
            pair, b = divmod(keys[i], shape[2])
            g, a = divmod(pair, shape[1])
            count = i + 1.0 - start
            found += count * np.log2(count * sizes[g] / (rows[g, a] * columns[g, b]))
            start = i + 1
    return found / max(n, 1)
