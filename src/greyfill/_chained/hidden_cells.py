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

    An error is the mean square on the scale of the ranges, a wrong level counts 1. The first of
    equally good ones, or of all where there is nothing to hide or to choose.
    """
    hidden = hide_tenth(table, seed) if len(candidates) > 1 else None
    if hidden is None:
        return candidates[0], {}
    scaler, mask = RangeScaler.learn(table), hidden.missing & ~table.missing
    truth, errors = scaler.scale(table).values, {}
    for one in candidates:
        now = scaler.scale(table.with_values(fill(hidden, one))).values
        miss = np.where(table.is_categorical, now != truth, (now - truth) ** 2)
        errors[one] = float(miss[mask].mean())
    return min(errors, key=lambda one: errors[one]), errors


def hide_tenth(table: Table, seed: int) -> Table | None:
    """The table without a tenth of its known cells; each column and row keeps one. None if tiny.

    Which cells depends on the seed and on the content of their rows.
    """
    known, keys = ~table.missing & ~table.unseen, row_keys(table, seed)
    wanted = known & (uniform(keys[:, np.newaxis], np.arange(table.n_columns)) < 0.1)
    order = np.argsort(keys, kind="stable")
    wanted[np.arange(table.n_rows), known.argmax(axis=1)] = False
    wanted[order[known[order].argmax(axis=0)], np.arange(table.n_columns)] = False
    if not wanted.any():
        return None
    return Table(np.where(wanted, 0.0, table.values), table.missing | wanted, table.columns)
