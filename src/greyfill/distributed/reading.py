"""Partitions of a frame → facts about all of them → encoded rows of each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.distributed.aligning import Dtypes, with_columns
from greyfill.distributed.sizes import Sized
from greyfill.exceptions import GreyfillError, InvalidDataError
from greyfill.frames import Schema
from greyfill.table import Ints, Table


@dataclass(frozen=True, eq=False)
class Facts:
    """What must be known about a partition before any is encoded: columns, holes, classes.

    ``dtypes`` are those of the columns of a pandas frame whose cells tell of what kind they are.
    """

    n_rows: int
    schema: Schema | None = None
    holes: Ints | None = None
    classes: tuple[Any, ...] = ()
    dtypes: Dtypes = field(default_factory=dict)


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
    """Look at one partition, of the columns ``names`` if it is a pandas frame.

    An empty one tells nothing.
    """
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
        classes = () if y is None else frames.encode_labels(y)[1]
    dtypes = {} if names is None else _told_dtypes(frame, origin.schema)
    return Facts(table.n_rows, origin.schema, table.missing.sum(axis=0), classes, dtypes)


def _told_dtypes(frame: Any, schema: Schema) -> Dtypes:
    """The dtypes of the columns whose cells tell what they are."""
    pairs = zip(frame.dtypes.items(), schema.fields, strict=True)
    return {name: dtype for (name, dtype), one in pairs if not one.is_silent}


@dataclass(frozen=True, eq=False)
class Overview:
    """The facts of all partitions: sizes, one schema, holes of each column, classes."""

    sizes: Ints
    schema: Schema
    holes: Ints
    classes: tuple[Any, ...]

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
    codes, found = frames.encode_labels(y)
    lookup = {label: code for code, label in enumerate(classes)}
    places = np.array([*(lookup[label] for label in found), -1], dtype=np.intp)
    return places[codes]
