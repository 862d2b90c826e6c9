"""Partitions of a frame: one dtype and one schema for all, and the facts that a sample needs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from greyfill import frames, targets
from greyfill.exceptions import GreyfillError, InvalidDataError
from greyfill.frames import Schema
from greyfill.table import Ints, Table

COMPARED = 65_536
"""So many cells are compared at a time: as Python objects they are large."""

Dtypes = dict[Any, Any]
"""The dtype of each column by its name."""


def with_columns(frame: Any, names: Sequence[Any], number: int | str) -> Any:
    """A partition with its columns in the order of the frame; refuse others than those."""
    found, wanted = list(frame.columns), list(names)
    if found == wanted:
        return frame
    lacking = [name for name in wanted if name not in found]
    others = [name for name in found if name not in wanted]
    if lacking or others or len(found) != len(wanted):
        raise InvalidDataError(
            f"Partition {number} has the columns {found}, but the frame has {wanted}. Give every "
            "partition the columns of the frame: rename, add or drop them where it is made."
        )
    return frame[wanted]


def common_dtypes(meta: Any, parts: dict[int, Dtypes]) -> Dtypes:
    """One dtype for each column that the partitions of these numbers, and the frame, agree on."""
    return {
        name: _common_dtype(name, dtype, {n: p[name] for n, p in parts.items() if name in p})
        for name, dtype in meta.dtypes.items()
    }


def _common_dtype(name: Any, declared: Any, found: dict[int, Any]) -> Any:
    """The dtype that all partitions can have, and if possible the frame that declares one."""
    both = _joined([declared, *found.values()])
    wanted = _joined(list(found.values())) if both is None else both
    if wanted is not None:
        return wanted
    first, dtype = next(iter(found.items()))
    other = next(n for n, each in found.items() if _joined([dtype, each]) is None)
    raise InvalidDataError(
        f"Column {name!r} has dtype {dtype} in partition {first} and {found[other]} in partition "
        f"{other}, and no common dtype holds the cells of both. {_remedy(name, dtype)}"
    )


def _joined(dtypes: list[Any]) -> Any:
    """What pandas makes of columns of these dtypes; None where it could only box their cells."""
    import pandas as pd

    different = list(dict.fromkeys(dtypes))
    is_category = {isinstance(dtype, pd.CategoricalDtype) for dtype in different}
    if len(different) == 1 or True in is_category:
        return different[0] if len(is_category) == 1 else None
    joined = pd.concat([pd.Series([], dtype=dtype) for dtype in different]).dtype
    boxes = np.dtype(object)
    return None if joined == boxes and boxes not in different else joined


def aligned(frame: Any, dtypes: Dtypes, number: int) -> Any:
    """A partition with these columns and dtypes, each cell as it was; refuse where that fails."""
    if len(frame) == 0:
        return frame
    frame = with_columns(frame, list(dtypes), number)
    changed = {}
    for name, dtype in dtypes.items():
        old = frame[name].dtype
        # The categories of a partition are its own, so two dtypes of categories need not be equal.
        if old != dtype and not str(old) == str(dtype) == "category":
            changed[name] = _cast(frame[name], dtype, number)
    return with_columns_replaced(frame, changed)


def with_columns_replaced(frame: Any, columns: dict[Any, Any]) -> Any:
    """The same frame with other columns of these names."""
    result = frame.copy(deep=False)
    for name, column in columns.items():
        result[name] = column
    return result


def input_meta(meta: Any, dtypes: Dtypes) -> Any:
    """An empty frame with the columns of another and these dtypes."""
    import pandas as pd

    columns = {name: pd.Series([], dtype=dtype) for name, dtype in dtypes.items()}
    return with_columns_replaced(meta, columns)


def _cast(column: Any, dtype: Any, number: int) -> Any:
    """A column in another dtype; one without a value stays as it is where that holds no hole."""
    is_empty = bool(column.isna().all())
    cast = None
    if is_empty or str(dtype) != "category":  # which would drop what it does not declare
        with suppress(ValueError, TypeError, ArithmeticError), np.errstate(all="ignore"):
            cast = column.astype(dtype)
    if cast is not None and _has_same_cells(column, cast):
        return cast
    if is_empty:
        return column
    raise InvalidDataError(
        f"Column {column.name!r} has dtype {column.dtype} in partition {number} and {dtype} in the "
        f"frame, which cannot hold all of its cells. {_remedy(column.name, column.dtype)}"
    )


def _has_same_cells(one: Any, other: Any) -> bool:
    """Whether all cells are equal as Python objects: whole numbers and floats compare exactly."""
    known = one.notna().to_numpy()
    is_truth = {_is_truth(one), _is_truth(other)}
    if {True, False} <= is_truth or (known != other.notna().to_numpy()).any():
        return False
    places = np.flatnonzero(known)
    return all(
        one.iloc[some].tolist() == other.iloc[some].tolist()
        for start in range(0, len(places), COMPARED)
        for some in [places[start : start + COMPARED]]
    )


def _is_truth(column: Any) -> bool | None:
    """Whether a dtype holds truths; objects may be anything."""
    from pandas.api.types import is_bool_dtype

    return None if column.dtype == object else bool(is_bool_dtype(column.dtype))


def _remedy(name: Any, dtype: Any) -> str:
    return (
        "Convert it in every partition to one dtype that holds all of its cells, for example "
        f"frame.astype({{{name!r}: {str(dtype)!r}}}), or 'object' where no other does."
    )


MOST_CLASSES = 1_000
"""With more different values, y does not stratify the sample."""

MOST_LEVELS = 50
"""Of a column with more levels than this, not every one needs a row in the sample."""

CLASS = None
"""Stands for y among the names of columns."""

Edges = dict[tuple[Any, ...], tuple[float, int]]
"""For each end of a column and each level: its rank (the least of all is wanted) and its row."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What is read of a partition before rows are sampled: columns, holes, classes, ends.

    ``dtypes`` are those of the columns of a pandas frame whose cells show of what kind they are.
    """

    n_rows: int
    schema: Schema | None = None
    holes: Ints | None = None
    dtypes: Dtypes = field(default_factory=dict)
    classes: dict[Any, int] = field(default_factory=dict)
    edges: Edges = field(default_factory=dict)


@contextmanager
def naming_partition(number: int | str) -> Iterator[None]:
    """Say in which partition, by its number or its file, something was wrong."""
    try:
        yield
    except GreyfillError as error:
        raise type(error)(f"partition {number}: {error}") from error


def read_facts(
    frame: Any, y: Any, options: dict[str, Any], names: Sequence[Any] | None, number: int | str
) -> Facts:
    """The facts of one partition, of the columns ``names`` if it is a pandas frame."""
    if y is not None and len(y) != len(frame):
        raise InvalidDataError(
            f"X and y describe different rows: partition {number} of X has {len(frame)}, that of "
            f"y {len(y)}. Make both from one frame, or repartition one like the other."
        )
    if len(frame) == 0:
        return Facts(0)
    frame = frame if names is None else with_columns(frame, names, number)
    with naming_partition(number):
        table, origin = frames.encode(frame, **options)
        codes, labels = (None, ()) if y is None else targets.encode_labels(y)
    dtypes = {} if names is None else _told_dtypes(frame, origin.schema)
    edges, classes = _edges(table, origin.schema), {}
    if codes is not None and len(labels) <= MOST_CLASSES:
        found, firsts, counts = np.unique(codes, return_index=True, return_counts=True)
        keys = [labels[code] if code >= 0 else None for code in found]
        classes = dict(zip(keys, counts.tolist(), strict=True))
        for key, row in zip(keys, firsts.tolist(), strict=True):
            edges[CLASS, "level", key] = float(row), row
    holes = table.missing.sum(axis=0)
    return Facts(table.n_rows, origin.schema, holes, dtypes, classes, edges)


def _edges(table: Table, schema: Schema) -> Edges:
    """The rows with the least and the greatest number, and the first row of each level."""
    edges: Edges = {}
    for j, one in enumerate(schema.fields):
        rows = np.flatnonzero(~table.missing[:, j])
        if len(rows) == 0:
            continue
        values = table.values[rows, j]
        if table.columns[j].n_levels:
            codes, firsts = np.unique(values, return_index=True)
            for code, row in zip(codes.astype(int).tolist(), rows[firsts].tolist(), strict=True):
                edges[one.name, "level", one.levels[code]] = float(row), row
        else:
            for end, sign in (("low", 1.0), ("high", -1.0)):
                place = int((sign * values).argmin())
                edges[one.name, end] = float(sign * values[place]), int(rows[place])
    return edges


def _told_dtypes(frame: Any, schema: Schema) -> Dtypes:
    """The dtypes of the columns whose cells tell what they are."""
    pairs = zip(frame.dtypes.items(), schema.fields, strict=True)
    return {name: dtype for (name, dtype), one in pairs if not one.is_untyped}


@dataclass(frozen=True, eq=False)
class Overview:
    """The facts of all partitions: sizes, one schema, holes of each column, classes, ends.

    ``counts`` has a row for each partition, and a column for each of ``classes``, by which the
    sample is stratified; a single one where y does not stratify it.
    """

    sizes: Ints
    schema: Schema
    holes: Ints
    classes: tuple[Any, ...] | None
    counts: Ints
    ends: Ints

    @property
    def n_rows(self) -> int:
        """Rows of the whole table."""
        return int(self.sizes.sum())

    @property
    def firsts(self) -> Ints:
        """The number of the first row of each partition."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    @classmethod
    def of(cls, facts: Sequence[Facts], titles: Sequence[str] | None = None) -> "Overview":
        """Join the facts of all partitions, which messages call by titles, else by numbers."""
        named: Iterator[tuple[int | str, Facts]]
        named = zip(range(len(facts)) if titles is None else titles, facts, strict=True)
        schemas = {name: fact.schema for name, fact in named if fact.schema is not None}
        if not schemas:
            raise InvalidDataError("the frame has no rows in any partition")
        holes = np.sum([fact.holes for fact in facts if fact.holes is not None], axis=0)
        sizes = np.array([fact.n_rows for fact in facts], dtype=np.intp)
        found = dict.fromkeys(label for fact in facts for label in fact.classes)
        stratifies = 0 < len(found) <= MOST_CLASSES and all(f.classes for f in facts if f.n_rows)
        classes = tuple(found) if stratifies else None
        counts = sizes[:, np.newaxis]
        if classes is not None:
            rows = [[fact.classes.get(label, 0) for label in classes] for fact in facts]
            counts = np.array(rows, dtype=np.intp).reshape(len(facts), len(classes))
        schema = frames.merge_schemas(schemas)
        return cls(sizes, schema, holes.astype(np.intp), classes, counts, _ends(facts, sizes))

    def groups(self, y: Any, n_rows: int) -> Ints:
        """The place of the class of each row of a partition among ``classes``."""
        if self.classes is None:
            return np.zeros(n_rows, dtype=np.intp)
        codes, labels = targets.encode_labels(y)
        places = {label: place for place, label in enumerate(self.classes)}
        return np.array([*(places[label] for label in labels), places.get(None, -1)])[codes]


def _ends(facts: Sequence[Facts], sizes: Ints) -> Ints:
    """The rows of the whole table that hold the ends of its columns, or one of few levels."""
    least: Edges = {}
    for fact, first in zip(facts, np.cumsum(sizes) - sizes, strict=True):
        for key, (rank, row) in fact.edges.items():
            place = float(first) + rank if key[1] == "level" else rank
            least[key] = min(least.get(key, (np.inf, 0)), (place, int(first) + row))
    n_levels: dict[Any, int] = {}
    for key in least:
        n_levels[key[0]] = n_levels.get(key[0], 0) + 1
    few = {name for name, count in n_levels.items() if count <= MOST_LEVELS or name is CLASS}
    return np.unique([row for key, (_, row) in least.items() if key[0] in few]).astype(np.intp)


def output_meta(meta: Any, imputer: Any) -> Any:
    """An empty frame with the columns and dtypes that come out of one with those of ``meta``."""
    kept = meta if imputer.keep_empty_features else meta.iloc[:, np.flatnonzero(imputer._shown)]
    flags = imputer._flag_names(list(imputer._schema.names))
    return kept.assign(**{name: np.zeros(0, dtype=bool) for name in flags})


def with_columns_of(table: Any, filled: Any) -> Any:
    """An Arrow table with the columns that another has of it; one of nothing gets their type."""
    for name in filled.column_names:
        place = table.column_names.index(name)
        field = table.schema.field(place).with_type(filled[name].type)
        table = table.set_column(place, field, filled[name])
    return table
