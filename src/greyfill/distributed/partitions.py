"""Partitions of a frame: one dtype and one schema for all, encoded rows, and fills put back."""

import copy
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

import numpy as np

from greyfill import frames, targets
from greyfill._neighbors.new_rows import FittedRecipe, fill_new_rows
from greyfill.exceptions import GreyfillError, InvalidDataError
from greyfill.frames import Schema
from greyfill.table import Floats, Ints, Table
from greyfill.targets import Meaning, meaning_of


class Sized:
    """A dataclass whose size is that of all that it holds.

    Dask reads ``sys.getsizeof``, which would see an object and not its arrays: it would take a
    pool of donors for a few bytes, and move it like that.
    """

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_of(_values(self))


class Arrays(Sized):
    """A dataclass of arrays with one entry, or one row, for each item."""

    def take(self, index: Ints) -> Self:
        """Some of the items."""
        return type(self)(*(array[index] for array in _values(self)))

    @classmethod
    def join(cls, parts: "Sequence[Self]") -> Self:
        """The items of all parts, in their order."""
        return cls(*map(np.concatenate, zip(*map(_values, parts), strict=True)))


def bytes_of(value: Any) -> int:
    """Bytes of arrays, and of dataclasses and containers of them; of little else.

    >>> bytes_of({"a": (np.zeros(3), np.zeros(2, dtype=bool))})
    26
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return bytes_of(value.values())
    if isinstance(value, str | bytes) or value is None:
        return sys.getsizeof(value)
    if isinstance(value, Iterable):
        return sum(map(bytes_of, value))
    return bytes_of(_values(value)) if is_dataclass(value) else 0


def _values(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value)]


COMPARED = 65_536
"""So many cells are compared at a time: as Python objects they are large."""

Dtypes = dict[Any, Any]
"""The dtype of each column by its name."""


def with_columns(frame: Any, names: Sequence[Any], number: int) -> Any:
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


@dataclass(frozen=True, eq=False)
class Facts:
    """What is read of a partition before any is encoded: columns, holes, classes.

    ``dtypes`` are those of the columns of a pandas frame whose cells show of what kind they are.
    """

    n_rows: int
    schema: Schema | None = None
    holes: Ints | None = None
    classes: tuple[Any, ...] = ()
    dtypes: Dtypes = field(default_factory=dict)
    n_labels: int = 0
    are_categories: bool = False


@dataclass(frozen=True, eq=False)
class Rows(Sized):
    """The encoded rows of a partition, and their class codes (−1: no label)."""

    table: Table
    labels: Ints


@contextmanager
def naming_partition(number: int) -> Iterator[None]:
    """Say in which partition something was wrong."""
    try:
        yield
    except GreyfillError as error:
        raise type(error)(f"partition {number}: {error}") from error


def read_facts(
    frame: Any, y: Any, options: dict[str, Any], names: Sequence[Any] | None, number: int
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
        codes, classes = (None, ()) if y is None else targets.encode_labels(y)
    dtypes = {} if names is None else _told_dtypes(frame, origin.schema)
    n_labels = 0 if codes is None else int((codes >= 0).sum())
    are_categories = y is not None and targets.are_categories(y)
    holes = table.missing.sum(axis=0)
    return Facts(table.n_rows, origin.schema, holes, classes, dtypes, n_labels, are_categories)


def _told_dtypes(frame: Any, schema: Schema) -> Dtypes:
    """The dtypes of the columns whose cells tell what they are."""
    pairs = zip(frame.dtypes.items(), schema.fields, strict=True)
    return {name: dtype for (name, dtype), one in pairs if not one.is_untyped}


@dataclass(frozen=True, eq=False)
class Overview:
    """The facts of all partitions: sizes, one schema, holes of each column, classes."""

    sizes: Ints
    schema: Schema
    holes: Ints
    classes: tuple[Any, ...]
    n_labels: int
    are_categories: bool

    def meaning(self, needs_classes: bool) -> Meaning:
        """What the labels of all partitions are."""
        if self.classes and self.are_categories:
            return Meaning.CLASSES
        return meaning_of(self.classes, self.n_labels, needs_classes=needs_classes)

    @property
    def n_rows(self) -> int:
        """Rows of the whole table."""
        return int(self.sizes.sum())

    @property
    def firsts(self) -> Ints:
        """The number of the first row of each partition."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    @classmethod
    def of(cls, facts: Sequence[Facts]) -> "Overview":
        """Join the facts of all partitions."""
        schemas = {n: fact.schema for n, fact in enumerate(facts) if fact.schema is not None}
        if not schemas:
            raise InvalidDataError("the frame has no rows in any partition")
        holes = np.sum([fact.holes for fact in facts if fact.holes is not None], axis=0)
        found = dict.fromkeys(label for fact in facts for label in fact.classes)
        return cls(
            np.array([fact.n_rows for fact in facts], dtype=np.intp),
            frames.merge_schemas(schemas),
            holes.astype(np.intp),
            frames.sorted_levels(found),
            sum(fact.n_labels for fact in facts),
            any(fact.are_categories for fact in facts),
        )


def read_rows(frame: Any, y: Any, schema: Schema, kept: Any, classes: tuple[Any, ...]) -> Rows:
    """Encode one partition by the schema of all; without y every row is of class 0."""
    if len(frame) == 0:
        columns = tuple(column for column, keep in zip(schema.columns, kept, strict=True) if keep)
        nothing = np.zeros((0, len(columns)))
        return Rows(Table(nothing, nothing.astype(bool), columns), np.zeros(0, dtype=np.intp))
    table, _ = frames.encode(frame, schema=schema)
    return Rows(table.select(kept), class_codes(y, len(frame), classes))


def class_codes(y: Any, n_rows: int, classes: tuple[Any, ...]) -> Ints:
    """The place of each label among all classes, −1 where there is none.

    >>> class_codes(["yes", None, "no"], 3, ("maybe", "no", "yes")).tolist()
    [2, -1, 1]
    """
    if y is None:
        return np.zeros(n_rows, dtype=np.intp)
    codes, found = targets.encode_labels(y)
    lookup = {label: code for code, label in enumerate(classes)}
    places = np.array([*(lookup[label] for label in found), -1], dtype=np.intp)
    return places[codes]


def whole_imputer(imputer: Any, fitted: FittedRecipe) -> Any:
    """The imputer as it was fitted, donors and all."""
    whole = copy.copy(imputer)
    whole._fitted = fitted
    return whole


def output_meta(meta: Any, imputer: Any) -> Any:
    """An empty frame with the columns and dtypes that come out of one with those of ``meta``."""
    kept = meta if imputer.keep_empty_features else meta.iloc[:, np.flatnonzero(imputer._kept)]
    flags = imputer._flag_names(list(imputer._schema.names))
    return kept.assign(**{name: np.zeros(0, dtype=bool) for name in flags})


def fill_partition(
    frame: Any, imputer: Any, fitted: FittedRecipe, dtypes: Dtypes, meta: Any, number: int
) -> Any:
    """New rows of these dtypes without holes; each is filled on its own."""
    if len(frame) == 0:
        return meta
    frame = aligned(frame, dtypes, number)
    with naming_partition(number):
        filled = whole_imputer(imputer, fitted).transform(frame)
    return aligned(filled, dict(meta.dtypes), number)


def fills_of_partition(
    frame: Any, y: Any, fills: Floats, imputer: Any, fitted: FittedRecipe, classes: tuple[Any, ...]
) -> Floats:
    """The fills of all holes of training rows; rows without a label are filled like new ones."""
    if len(frame) == 0:
        return fills
    table, _ = frames.encode(frame, schema=imputer._schema)
    part = table.select(imputer._kept)
    has_label = class_codes(y, len(frame), classes) >= 0
    values = part.values.copy()
    values[part.missing & has_label[:, np.newaxis]] = fills
    if not has_label.all():
        values[~has_label] = fill_new_rows(fitted, part.rows(~has_label), 1)
    return np.asarray(values[part.missing])


def restore_partition(frame: Any, fills: Floats, imputer: Any, meta: Any, number: int) -> Any:
    """Training rows of a Dask frame with their fills."""
    if len(frame) == 0:
        return meta
    return aligned(put_fills(frame, fills, imputer), dict(meta.dtypes), number)


def put_fills(frame: Any, fills: Floats, imputer: Any) -> Any:
    """A frame of any library with its holes filled, in the order of rows and then columns."""
    table, origin = frames.encode(frame, schema=imputer._schema)
    filled = table.values.copy()
    filled[table.missing & imputer._kept] = fills
    return imputer._restore(origin, table.missing, filled)


def with_columns_of(table: Any, filled: Any) -> Any:
    """An Arrow table with the columns that another has of it; one of nothing gets their type."""
    for name in filled.column_names:
        place = table.column_names.index(name)
        field = table.schema.field(place).with_type(filled[name].type)
        table = table.set_column(place, field, filled[name])
    return table
