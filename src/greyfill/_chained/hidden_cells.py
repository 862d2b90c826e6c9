"""What to choose, by how well it restores cells that are known and were hidden."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from greyfill._chained.design import row_keys, uniform
from greyfill.table import Floats, RangeScaler, Table

Choice = TypeVar("Choice", bound=Hashable)


def best_on_hidden(
    table: Table, seed: int, candidates: Sequence[Choice], fill: Callable[[Table, Choice], Floats]
) -> tuple[Choice, dict[Choice, float]]:
    """The candidate that best restores a tenth of the cells, which is hidden, and all errors.

    Which cells depends on the seed and on the content of their rows; each column and row keeps one.
    An error is the mean square on the scale of the ranges, a wrong level counts 1. The first of
    equally good ones, or of all where there is nothing to hide or to choose.
    """
    known, keys, errors = ~table.missing & ~table.unseen, row_keys(table, seed), {}
    wanted = known & (uniform(keys[:, np.newaxis], np.arange(table.n_columns)) < 0.1)
    order = np.argsort(keys, kind="stable")
    wanted[np.arange(table.n_rows), known.argmax(axis=1)] = False
    wanted[order[known[order].argmax(axis=0)], np.arange(table.n_columns)] = False
    if len(candidates) == 1 or not wanted.any():
        return candidates[0], {}
    hidden = Table(np.where(wanted, 0.0, table.values), table.missing | wanted, table.columns)
    scaler = RangeScaler.learn(table)
    truth = scaler.scale(table).values
    for one in candidates:
        now = scaler.scale(table.with_values(fill(hidden, one))).values
        miss = np.where(table.is_categorical, now != truth, (now - truth) ** 2)
        errors[one] = float(miss[wanted].mean())
    return min(errors, key=lambda one: errors[one]), errors
