"""Information between columns of codes within groups, for orders of the rows: compiled twins."""

import numpy as np

from greyfill._search.jit import fast, fast_in_place, fast_inner
from greyfill._search.matrices import matrix
from greyfill.table import Floats, Ints


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
    n, most = codes.shape[1], n_codes[firsts] * n_codes[seconds]
    out = np.zeros((len(orders), len(firsts)))
    room = np.empty(n_groups * int(most.max(initial=0)), dtype=np.intp)
    _group_information(
        codes, n_codes, groups, n_groups, firsts, seconds, orders, np.empty(n + 1),
        np.empty(n, dtype=np.intp), room, out,
    )  # fmt: skip
    return out


@fast_in_place
def _group_information(
    codes, n_codes, groups, n_groups, firsts, seconds, orders, logs, places, room, out
):  # fmt: skip
    n = codes.shape[1]
    logs[0] = 0.0  # c · log2(c) of every count
    for c in range(1, n + 1):
        logs[c] = c * np.log2(c)
    for pair in range(len(firsts)):
        first, second = firsts[pair], seconds[pair]
        n_rows, n_columns = n_codes[first], n_codes[second]
        for i in range(n):
            code = codes[first, i]
            places[i] = -1 if code < 0 else (groups[i] * n_rows + code) * n_columns
        counts = matrix(room, 0, n_groups * n_rows, n_columns)
        for s in range(len(orders)):
            for i in range(n_groups * n_rows * n_columns):
                room[i] = 0
            for i in range(n):
                code = codes[second, orders[s, i]]
                if places[i] >= 0 and code >= 0:
                    room[places[i] + code] += 1
            out[s, pair] = _information(counts, n_groups, n_rows, logs)


@fast_inner
def _information(counts, n_groups, n_rows, logs):
    found, total = 0.0, 0
    for g in range(n_groups):
        size = 0
        for a in range(g * n_rows, (g + 1) * n_rows):
            row = 0
            for b in range(counts.shape[1]):
                row += counts[a, b]
                found += logs[counts[a, b]]
            found -= logs[row]
            size += row
        for b in range(counts.shape[1]):
            column = 0
            for a in range(g * n_rows, (g + 1) * n_rows):
                column += counts[a, b]
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
