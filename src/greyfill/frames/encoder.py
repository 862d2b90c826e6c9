"""The way in: any table → numbers, codes and a mask of holes.

`encode` reads the columns, learns their `Schema` where none is given (`learn`), and turns cells
into numbers. `merge_schemas` makes one schema for a table that comes in parts, each of which was
encoded on its own.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.exclusion import number_reason, text_reason
from greyfill.frames.columns import (
    FAMILIES,
    Backend,
    as_held,
    backend_of,
    is_sentinel,
    null_cells,
    read_column,
    read_levels,
    read_matrix,
    read_series,
)
from greyfill.frames.decoder import MOMENTS, as_objects, in_zone
from greyfill.frames.grid import Grid
from greyfill.frames.schema import (
    Array,
    Cells,
    Extent,
    Family,
    Field,
    Origin,
    Schema,
    sorted_levels,
)
from greyfill.frames.validation import (
    TABLES,
    Frame,
    categorical_positions,
    is_auto,
    open_table,
    ordinal_orders,
    read_or_refuse,
    refusing,
)
from greyfill.table import Bools, Column, Floats, Kind, Table

CATEGORICAL_FAMILIES = frozenset({Family.BOOLEAN, Family.TEXT, Family.CATEGORY, Family.MIXED})
NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)
"""Families of numbers; a column that has two of them is of the later one."""

FLOATS = np.dtype(np.float64)
FEW_CELLS = 2_000
"""So many are read without a look at the memory that is free."""


@refusing("X cannot be read as a table", TABLES)
def encode(
    X: Any,
    *,
    schema: Schema | None = None,
    categorical_features: Any = "auto",
    ordinal_features: Any = None,
    missing_values: Any = None,
) -> tuple[Table, Origin]:
    """Turn any table into numbers, codes and a mask of holes.

    Parameters
    ----------
    X
        A numpy array, a list of rows, or an eager frame of pandas, polars or pyarrow.
    schema
        What an earlier call learned; the codes are then the same, a value that it does
        not have gets −1, and the other parameters are not used.
    categorical_features
        ``"auto"`` (by dtype), or names, positions or a mask of columns that are categorical too.
    ordinal_features
        Names or positions of ordinal columns (in the order of the dtype, else sorted), or a
        dict from them to the ordered levels.
    missing_values
        One value or a list of values that stand for a hole, besides None, NaN, NA and NaT.

    Dates, durations and times become float64 microseconds since the epoch or midnight; their
    observed cells are kept as they are, so only imputed cells are rounded to that precision.

    >>> table, origin = encode([[1.0, "no"], [None, "yes"], [3.0, None]])
    >>> table.values
    array([[1., 0.],
           [0., 1.],
           [3., 0.]])
    >>> table.columns[1].kind, table.columns[1].n_levels
    (<Kind.CATEGORICAL: 'categorical'>, 2)
    """
    table = open_table(X)
    sentinels = as_sentinels(missing_values) if schema is None else schema.missing_values
    names = _names(table)
    by_dtype = is_auto(categorical_features) and ordinal_features is None
    # A matrix of numbers is read as a whole: column by column would take several times as long.
    matrix = _as_matrix(table) if (by_dtype if schema is None else schema.all_numbers) else None
    if matrix is not None:
        values, missing = read_matrix(matrix, sentinels)
        schema = schema or _schema_of_matrix(matrix, names, sentinels, values, missing)
        families = (FAMILIES[matrix.dtype.kind],) * len(names)
        boxed = (False,) * len(names)
    else:
        columns = _read(table, names, sentinels)
        schema = schema or learn(columns, names, categorical_features, ordinal_features, sentinels)
        values, missing = _numbers(columns, schema)
        families, boxed = tuple(c.family for c in columns), tuple(c.boxed for c in columns)
    _refuse_infinity(values, schema.columns)
    origin = Origin(schema, nw.to_native(table, pass_through=True), missing, families, boxed)
    return Table(values, missing, schema.columns), origin


def encode_plain(X: Any, schema: Schema) -> Table | None:
    """What `encode` makes of few new rows of floats, in a fraction of its time.

    None where there is more to look at: then `encode` reads the rows, or says what is wrong.

    >>> _, origin = encode(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> encode_plain(np.array([[np.nan, 5.0]]), origin.schema).values
    array([[0., 5.]])
    >>> encode_plain(np.array([[np.inf, 5.0]]), origin.schema) is None
    True
    """
    if type(X) is not np.ndarray or X.dtype != FLOATS or X.ndim != 2 or not 0 < X.size <= FEW_CELLS:
        return None
    if X.shape[1] != len(schema.fields) or schema.missing_values or not schema.all_numbers:
        return None
    cells = np.ascontiguousarray(X)
    missing = np.isnan(cells)
    values = np.where(missing, 0.0, cells)
    if np.count_nonzero(np.isfinite(values)) < values.size:
        return None
    return Table(values, missing, schema.columns)


def plain_origin(X: Any, table: Table, schema: Schema) -> Origin:
    """What `decode` needs of rows that `encode_plain` took."""
    return Origin(schema, X, table.missing, *_of_floats(table.n_columns))


@lru_cache(maxsize=16)
def _of_floats(n: int) -> tuple[tuple[Family, ...], tuple[bool, ...]]:
    return (Family.FLOAT,) * n, (False,) * n


def as_sentinels(missing_values: Any) -> tuple[Any, ...]:
    """The extra missing values as a tuple; NaN and None need no mention.

    >>> as_sentinels(["?", -999, None]), as_sentinels("NA"), as_sentinels(float("nan"))
    (('?', -999), ('NA',), ())
    """
    if isinstance(missing_values, Mapping):
        raise InvalidParameterError(
            "missing_values holds for all columns and cannot be a dict. Give a value or a list of "
            "values, or replace those of one column beforehand: X['age'].replace(-999, None)"
        )
    if isinstance(missing_values, set | frozenset):
        given = list(sorted_levels(missing_values))  # a set's own order differs between processes
    elif isinstance(missing_values, list | tuple | np.ndarray):
        given = list(missing_values)
    else:
        given = [missing_values]
    missing = null_cells(np.fromiter(given, dtype=object, count=len(given)))
    return tuple(value for value, null in zip(given, missing, strict=True) if not null)


def _names(table: Array | Frame) -> tuple[str, ...]:
    if isinstance(table, nw.DataFrame):
        return tuple(str(name) for name in table.columns)
    return numbered(table.shape[1])


@lru_cache(maxsize=16)
def numbered(n: int) -> tuple[str, ...]:
    """The names of columns that have none.

    >>> numbered(2)
    ('x0', 'x1')
    """
    return tuple(f"x{j}" for j in range(n))


def _as_matrix(table: Array | Frame) -> Array | None:
    """The whole table as one array of numbers, if it is one."""
    if isinstance(table, nw.DataFrame):
        return backend_of(table).matrix(table.to_native())
    return table if table.dtype.kind in "fiu" else None


def _schema_of_matrix(
    matrix: Array,
    names: tuple[str, ...],
    sentinels: tuple[Any, ...],
    values: Floats,
    missing: Bools,
) -> Schema:
    if matrix.dtype.kind == "f":  # nothing is to be learned from the cells but their grids
        grids = [
            Grid.of(values[~missing[:, j], j], single=matrix.dtype.itemsize < 8)
            for j in range(len(names))
        ]
        fields = [
            Field(name, Kind.NUMERIC, Family.FLOAT, grid=grid)
            for name, grid in zip(names, grids, strict=True)
        ]
        return Schema(tuple(fields), sentinels)
    return learn(_read(matrix, names, sentinels), names, None, None, sentinels)


def _read(table: Array | Frame, names: tuple[str, ...], sentinels: tuple[Any, ...]) -> list[Cells]:
    if isinstance(table, np.ndarray):
        return [_read_array(c, n, sentinels) for c, n in zip(table.T, names, strict=True)]
    backend = backend_of(table)
    columns = zip(backend.columns(table.to_native()), names, strict=True)
    return [_with_zone(c, read_native(c, name, sentinels, backend), backend) for c, name in columns]


def _with_zone(column: Any, cells: Cells, backend: Backend) -> Cells:
    zone = backend.zone(column) if cells.family is Family.DATETIME else None
    return cells if zone is None else replace(cells, zone=zone)


def _read_array(column: Array, name: str, sentinels: tuple[Any, ...]) -> Cells:
    read = partial(read_column, name=name, sentinels=sentinels)
    cells: Cells = read_or_refuse(read, column, name)
    return cells


def read_native(column: Any, name: str, sentinels: tuple[Any, ...], backend: Backend) -> Cells:
    """Past narwhals where it can be, whose series takes longer to make than a short column to read.

    Where that fails, narwhals is asked, too: then the error says in which row.
    """
    array, family = backend.plain(column), backend.family(column)
    if array is not None:
        return _read_array(array, name, sentinels)
    if family is not None:
        with suppress(Exception):
            return read_levels(column, family, sentinels, backend)
    series = nw.from_native(column, series_only=True)
    read = partial(read_series, name=name, sentinels=sentinels)
    cells: Cells = read_or_refuse(read, series, name)
    return cells


def learn(
    columns: list[Cells],
    names: tuple[str, ...],
    categorical_features: Any,
    ordinal_features: Any,
    sentinels: tuple[Any, ...],
) -> Schema:
    """Learn the schema of a table from its columns and what the user said of them."""
    categorical = categorical_positions(categorical_features, names)
    orders = ordinal_orders(ordinal_features, names)
    both = categorical & orders.keys()
    if both:
        twice = ", ".join(repr(names[j]) for j in sorted(both))
        raise InvalidParameterError(
            f"Columns are in both categorical_features and ordinal_features: {twice}."
        )
    fields = []
    for j, (cells, name) in enumerate(zip(columns, names, strict=True)):
        with refusing(f"Column {name!r} cannot be used"):
            kind = _kind(cells, j in categorical, j in orders)
            levels = _levels(cells, kind, orders.get(j), sentinels)
            extent = cells.extent if kind is Kind.NUMERIC else None
            grid = _grid(cells) if kind is Kind.NUMERIC else None
            about = name, kind, cells.family, levels, extent, cells.boxed, grid
            fields.append(Field(*about, zone=cells.zone))
            _refuse_order(cells, fields[-1], orders.get(j))
    return Schema(tuple(fields), sentinels)


def _kind(cells: Cells, called_categorical: bool, called_ordinal: bool) -> Kind:
    if called_ordinal or (cells.ordered and not called_categorical):
        return Kind.ORDINAL
    if called_categorical or cells.family in CATEGORICAL_FAMILIES:
        return Kind.CATEGORICAL
    return Kind.NUMERIC


def _grid(cells: Cells) -> Grid | None:
    """The grid of numbers or moments."""
    if cells.family is Family.DATE:  # stored in days anyway
        return None
    if cells.meaning != "numbers":
        return Grid.of_moments(cells.numbers()[~cells.missing])
    is_single = cells.values.dtype.kind == "f" and cells.values.dtype.itemsize < 8
    return Grid.of(cells.numbers()[~cells.missing], single=is_single)


def _levels(
    cells: Cells, kind: Kind, order: tuple[Any, ...] | None, sentinels: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The levels in the order of their codes: as given, as declared by the dtype, or sorted."""
    if kind is Kind.NUMERIC or cells.is_empty:
        return ()
    if order is not None:
        return as_held(order, cells)
    if cells.family is Family.BOOLEAN:
        return (False, True)
    levels = cells.declared if cells.family is Family.CATEGORY else cells.uniques()
    return tuple(level for level in levels or () if not is_sentinel(level, sentinels))


def _refuse_order(cells: Cells, field: Field, order: tuple[Any, ...] | None) -> None:
    """Refuse an order that has a level twice, or not at all."""
    if order is None or cells.is_empty:
        return
    if len(field.codes) < len(field.levels):
        raise InvalidParameterError(
            f"ordinal_features lists {list(order)!r} for column {field.name!r}, which has a level "
            "twice. List each once, lowest first."
        )
    unlisted = (cells.codes(field.codes) < 0) & ~cells.missing
    if unlisted.any():
        row = int(unlisted.argmax())
        value = cells.values[row]
        value = cells.declared[value] if cells.declared is not None else value
        if cells.family in MOMENTS | {Family.TIME}:
            value = in_zone([as_objects(np.array([value]), cells.family)[0]], cells.zone)[0]
        plain = value.item() if isinstance(value, np.generic) else value
        raise InvalidParameterError(
            f"ordinal_features lists {list(order)!r} for column {field.name!r}, "
            f"but row {row} holds {plain!r}. Add it to the list, or name it in missing_values."
        )


def _numbers(columns: list[Cells], schema: Schema) -> tuple[Floats, Bools]:
    """The cells as the numbers or codes of their fields, 0 in the holes, and the holes."""
    values = np.zeros((len(columns[0].values), len(columns)))
    missing = np.column_stack([cells.missing for cells in columns])
    j = 0
    with refusing(lambda: f"Column {schema.fields[j].name!r} cannot be used"):
        for j, (cells, field) in enumerate(zip(columns, schema.fields, strict=True)):
            if not cells.is_empty:
                _refuse_another_meaning(cells, field)
                is_number = field.kind is Kind.NUMERIC
                values[:, j] = cells.numbers() if is_number else cells.codes(field.codes)
    values[missing] = 0.0
    return values, missing


def _refuse_another_meaning(cells: Cells, field: Field) -> None:
    """Refuse text where `fit` saw numbers, and the like.

    A category of an unknown type among objects is only an unseen category. Moments without a zone
    could be of any; older saved files do not tell whether `fit` saw one, so zoned ones pass.
    """
    if field.zone is not None and cells.family is Family.DATETIME and cells.zone is None:
        raise InvalidDataError(
            f"Column {field.name!r} holds moments without a time zone, but fit saw those of "
            f"{field.zone}. Say which zone they are of, for example by tz_localize of pandas or "
            "replace_time_zone of polars."
        )
    seen, given = field.meaning, cells.meaning
    if seen == given or field.family is Family.EMPTY:
        return
    if field.kind is not Kind.NUMERIC and (cells.boxed or "anything" in (seen, given)):
        return
    given = "categories" if given == "anything" else given
    raise InvalidDataError(
        f"Column {field.name!r} holds {given}, but fit saw {seen} in it. "
        "Convert the column, or fit again."
    )


def _refuse_infinity(values: Floats, columns: tuple[Column, ...]) -> None:
    """Refuse infinite numbers, with the place of the first one."""
    if np.isfinite(values).all():
        return
    row, column = (int(index[0]) for index in np.nonzero(~np.isfinite(values)))
    raise InvalidDataError(
        f"Input X contains infinity: column {columns[column].name!r} is infinite in row {row}. "
        "Replace it by a finite number, or by a missing value to have it imputed."
    )


def find_excluded(
    table: Table, schema: Schema, among: Sequence[int] | None = None
) -> dict[str, str]:
    """The columns, all or among some, that no imputer can fill, and why.

    Only plain numbers and unordered levels: dates may all differ and say something still.

    >>> table, origin = encode(np.arange(30.0)[:, None])
    >>> find_excluded(table, origin.schema)
    {'x0': 'whole numbers that never repeat, as numbers of rows or cases do'}
    """
    found = {}
    for j in range(table.n_columns) if among is None else among:
        field, observed = schema.fields[j], table.values[~table.missing[:, j], j]
        if not len(observed):
            continue
        if field.kind is Kind.CATEGORICAL:
            counts = np.bincount(observed.astype(np.intp), minlength=len(field.levels)).tolist()
            seen = {str(text): n for text, n in zip(field.levels, counts, strict=True) if n}
            found[field.name] = text_reason(seen, table.n_rows)
        elif field.kind is Kind.NUMERIC and field.meaning == "numbers":
            found[field.name] = number_reason(field.name, observed, table.n_rows)
    return {name: reason for name, reason in found.items() if reason}


def merge_schemas(schemas: Mapping[int | str, Schema]) -> Schema:
    """The schema that the whole table would have got, from those of its parts by number or name.

    >>> def part(*levels): return Schema((Field("sex", Kind.CATEGORICAL, Family.TEXT, levels),))
    >>> merge_schemas({0: part("m"), 1: part("f", "m")}).fields[0].levels
    ('f', 'm')
    """
    first = next(iter(schemas.values()))
    for number, schema in schemas.items():
        if schema.names != first.names:
            raise InvalidDataError(
                f"Partition {number} has the columns {list(schema.names)}, but those before have "
                f"{list(first.names)}. Give all partitions the same columns in the same order."
            )
    columns = zip(*(schema.fields for schema in schemas.values()), strict=True)
    fields = tuple(_merge_column(dict(zip(schemas, fields, strict=True))) for fields in columns)
    return replace(first, fields=fields)


def _merge_column(fields: dict[int | str, Field]) -> Field:
    """One field of those of all parts; parts without a value are left out."""
    typed = {n: field for n, field in fields.items() if not field.is_untyped} or fields
    (first, merged), *others = typed.items()
    one = merged
    for number, other in others:
        family = _merge_families(merged, other)
        if family is None:
            raise InvalidDataError(
                f"Column {one.name!r} holds {one.kind.value} cells ({one.family}) in partition "
                f"{first} and {other.kind.value} ones ({other.family}) in partition {number}. Give "
                f"it one dtype, for example frame.astype({{{one.name!r}: 'string'}})."
            )
        levels, extent = _merge_levels(merged, other), _merge_extents(merged, other)
        grid = None
        if merged.grid is not None and other.grid is not None:
            grid = merged.grid.merge(other.grid)
        zone = merged.zone if merged.zone in (None, other.zone) else other.zone and "UTC"
        merged = replace(merged, family=family, levels=levels, extent=extent, grid=grid, zone=zone)
    return merged


def _merge_families(one: Field, other: Field) -> Family | None:
    """The family of both; None where there is none."""
    if one.kind is not other.kind:
        return None
    if one.family is other.family:
        return one.family
    if one.family in NUMBERS and other.family in NUMBERS:
        return max(one.family, other.family, key=NUMBERS.index)
    return Family.MIXED if one.kind is Kind.CATEGORICAL else None


def _merge_levels(one: Field, other: Field) -> tuple[object, ...]:
    """Declared levels in their order, then those that only the other declares; others sorted."""
    if one.levels == other.levels:
        return one.levels
    levels = tuple(dict.fromkeys((*one.levels, *other.levels)))
    return levels if one.family is Family.CATEGORY else sorted_levels(levels)


def _merge_extents(one: Field, other: Field) -> Extent:
    """The exact range of both; a part of the same family without any has no value at all."""
    known = [field.extent for field in (one, other) if field.extent is not None]
    if not known or (len(known) == 1 and one.family is not other.family):
        return None
    return min(low for low, _ in known), max(high for _, high in known)
