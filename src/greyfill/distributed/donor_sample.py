"""A sample of donors of a table in partitions: drawn, learned from, and filling all other rows.

```
facts of every partition → Overview → shares of the sample → encoded donors → fit → FittedSample
```

The sample keeps the shares of the classes, and always has the rows that hold the ends of a column,
the first row of each class and of each level of a column with few: so ranges, levels and classes
are those of the whole table. It is the same however the table is cut. Where all rows are donors,
every cell is that of the imputer on one machine.
"""

import copy
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.utils.validation import validate_data

from greyfill import frames, targets
from greyfill._neighbors.k_selection import even_sizes, rows_by_rank, sample_ranks
from greyfill.checks import check_whole, seed_of
from greyfill.distributed.partitions import Overview
from greyfill.exceptions import GreyfillWarning, InvalidDataError, InvalidParameterError
from greyfill.frames import Schema
from greyfill.frames.schema import Origin
from greyfill.imputers.base import BaseImputer
from greyfill.table import Bools, Floats, Ints, Table

DONORS = 200_000
"""So many rows are learned from unless told otherwise."""


def check_sampled(imputer: Any, donors: Any) -> None:
    """Refuse what cannot learn from a sample, before any data is read."""
    if not isinstance(imputer, BaseImputer):
        raise InvalidParameterError(f"the imputer must be one of greyfill's, not {imputer!r}")
    if donors != "all":
        check_whole("donors", donors, least=2, otherwise=', or "all"')


def refuse_indicators(imputer: Any) -> None:
    """Refuse an imputer that adds columns, where the output has those of the input."""
    if imputer.add_indicator:
        raise InvalidParameterError(
            "add_indicator adds columns, but every file keeps those that it has. Set "
            "add_indicator=False."
        )


@dataclass(frozen=True, eq=False)
class Share:
    """The donors of one partition: ranks among the rows of each class, and rows besides them."""

    ranks: tuple[Ints, ...]
    ends: Ints

    def rows(self, groups: Ints) -> Ints:
        """The rows of the donors in a partition whose classes are ``groups``."""
        ranked = rows_by_rank(groups, np.arange(len(self.ranks)), list(self.ranks))
        return np.union1d(ranked, self.ends)


def sample_shares(overview: Overview, donors: int | str, seed: int | None) -> list[Share]:
    """The share of each partition in a seeded, stratified sample of the whole table."""
    counts, sizes = overview.counts, overview.sizes
    total = counts.sum(axis=0)
    wanted = total if donors == "all" else even_sizes(total, int(donors))
    ranks, ends = sample_ranks(total, wanted, seed), np.cumsum(counts, axis=0)
    shares = []
    for low, high, first, size in zip(ends - counts, ends, overview.firsts, sizes, strict=True):
        own = overview.ends[(overview.ends >= first) & (overview.ends < first + size)] - first
        within = (_between(*each) for each in zip(ranks, low, high, strict=True))
        shares.append(Share(tuple(within), own))
    return shares


def _between(ranks: Ints, first: int, end: int) -> Ints:
    """The ranks of first … end − 1 among sorted ones, counted from the first.

    >>> _between(np.array([1, 4, 5, 9]), 4, 9).tolist()
    [0, 1]
    """
    return ranks[np.searchsorted(ranks, first) : np.searchsorted(ranks, end)] - first


@dataclass(frozen=True, eq=False)
class PickedRows:
    """Encoded rows out of one partition, their numbers in the whole table, and their labels."""

    values: Floats
    missing: Bools
    rows: Ints
    y: Any


def pick_donors(
    frame: Any, y: Any, overview: Overview, share: Share, first: int, missing_values: Any
) -> PickedRows | None:
    """The donors of a partition in the numbers of the schema of all."""
    if len(frame) == 0:
        return None
    rows = share.rows(overview.groups(y, len(frame)))
    if len(rows) == 0:
        return None
    picked = take_rows(frame, rows)
    table, _ = frames.encode(picked, schema=overview.schema, missing_values=missing_values)
    return PickedRows(
        table.values, table.missing, first + rows, None if y is None else take(y, rows)
    )


def take_rows(frame: Any, rows: Ints) -> Any:
    """Some rows of a pandas, polars or Arrow table."""
    if hasattr(frame, "iloc"):
        return frame.iloc[rows]
    return frame.take(rows) if hasattr(frame, "take") else frame[rows]


def take(y: Any, rows: Ints) -> Any:
    """Some labels of a pandas, polars or Arrow column, or of a sequence."""
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    if hasattr(y, "take") or hasattr(y, "gather"):
        return y.take(rows) if hasattr(y, "take") else y.gather(rows)
    return [y[row] for row in rows.tolist()]


def joined_labels(parts: Sequence[Any]) -> Any:
    """Labels of several partitions, as one column of their library."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd
        from pandas.api.types import union_categoricals

        if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            return pd.Series(union_categoricals(list(parts), ignore_order=True))
        return pd.concat(parts, ignore_index=True)
    if hasattr(parts[0], "chunks"):
        import pyarrow as pa

        tables = [pa.table({"y": part}) for part in parts]
        return pa.concat_tables(tables, promote_options="permissive")["y"]
    return [label for part in parts for label in part]


@dataclass(frozen=True, eq=False)
class FittedSample:
    """An imputer that learned from a sample, and the filled rows of the sample.

    ``rows`` are the numbers of the donors in the whole table, rising; ``classes`` those of y in the
    order of their codes; ``warnings`` what the fit would have warned of here.
    """

    imputer: Any
    rows: Ints
    values: Floats
    classes: tuple[Any, ...] = ()
    warnings: tuple[Warning, ...] = ()

    def __sizeof__(self) -> int:
        """Bytes, about; Dask would see an object and not its arrays, and move it like a number."""
        return object.__sizeof__(self) + 4 * self.values.nbytes

    def warn(self) -> None:
        """Warn here of what the fit warned of where it was."""
        for note in self.warnings:
            warnings.warn(note, stacklevel=4)

    def fill(self, frame: Any, y: Any, first: int) -> Any:
        """Training rows from number ``first`` on, without holes.

        Donors are filled as ``fit_transform`` fills them; other rows by the donors, with the help
        of their labels where the imputer lets a row see its own.
        """
        imputer = self.imputer
        table, origin = imputer._open_new(frame)
        filled = table.values
        if imputer._kept.any():
            filled = imputer._put_back(table, self._filled(table.select(imputer._kept), y, first))
        return imputer._restore(origin, table.missing, filled)

    def _filled(self, table: Table, y: Any, first: int) -> Floats:
        low, high = np.searchsorted(self.rows, [first, first + table.n_rows])
        donors = self.rows[low:high] - first
        values = table.values.copy()
        values[donors] = self.values[low:high]
        left = np.setdiff1d(np.flatnonzero(table.missing.any(axis=1)), donors)
        if len(left):
            known = None if y is None else take(y, left)
            values[left] = self.imputer._fill_labeled(table.rows(left), known, self.classes)
        return values


def fit_sample(
    imputer: Any,
    header: Any,
    overview: Overview,
    parts: Sequence[PickedRows | None],
    on_workers: bool,
) -> FittedSample:
    """Learn from the donors of all partitions; ``header`` is an empty frame with their columns.

    With ``on_workers`` the blocks of an exact search go to all workers of the cluster.
    """
    donors = [part for part in parts if part is not None]
    schema = overview.schema
    table = Table(
        np.concatenate([part.values for part in donors]),
        np.concatenate([part.missing for part in donors]),
        schema.columns,
    )
    y = None if donors[0].y is None else joined_labels([part.y for part in donors])
    imputer = copy.copy(imputer).set_output(transform="default")  # parts stay as they came
    validate_data(imputer, header, reset=True, skip_check_array=True)
    with ExitStack() as stack:
        told = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always", GreyfillWarning)
        if on_workers:
            stack.enter_context(parallel_config("dask"))
        _, _, filled = imputer._learn(header, y, (table, _origin(header, schema, table)))
    imputer._count_holes(overview.holes)
    rows = np.concatenate([part.rows for part in donors])
    classes = () if y is None else targets.encode_labels(y)[1]
    kept = np.ascontiguousarray(filled[:, imputer._kept])
    notes = tuple(note.message for note in told if isinstance(note.message, Warning))
    return FittedSample(imputer, rows, kept, classes, notes)


def _origin(header: Any, schema: Schema, table: Table) -> Origin:
    """What restores the donors: nothing does, since each partition restores its own rows."""
    families = tuple(field.family for field in schema.fields)
    return Origin(schema, header, table.missing, families, tuple(repeat(False, len(families))))


def read_options(imputer: Any) -> dict[str, Any]:
    """How the imputer wants columns to be read."""
    names = ("categorical_features", "ordinal_features", "missing_values")
    return {name: getattr(imputer, name) for name in names}


def seed_of_sample(imputer: Any) -> int:
    """The seed of the imputer, or one drawn once: all partitions must share it."""
    seed = seed_of(copy.deepcopy(getattr(imputer, "random_state", 0)))  # the fit draws from it too
    return int(np.random.default_rng().integers(2**31)) if seed is None else seed


def refuse_empty(overview: Overview) -> None:
    """Refuse a table without a single observed value."""
    if (overview.holes == overview.n_rows).all():
        raise InvalidDataError("no column has an observed value in any partition")
