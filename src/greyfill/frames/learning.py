"""What `fit` learns about each column: its kind and its levels."""

from typing import Any

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.frames.cells import Cells
from greyfill.frames.features import categorical_positions, ordinal_orders
from greyfill.frames.refusing import refusing
from greyfill.frames.schema import Family, Field, Schema
from greyfill.table import Kind

CATEGORICAL_FAMILIES = frozenset({Family.BOOLEAN, Family.TEXT, Family.CATEGORY, Family.MIXED})


def learn(
    columns: list[Cells],
    names: tuple[str, ...],
    categorical_features: Any,
    ordinal_features: Any,
    sentinels: tuple[Any, ...],
) -> Schema:
    """Learn the schema of a table from its columns and the wishes of the user."""
    categorical = categorical_positions(categorical_features, names)
    orders = ordinal_orders(ordinal_features, names)
    _refuse_both(categorical & orders.keys(), names)
    fields = []
    for j, (cells, name) in enumerate(zip(columns, names, strict=True)):
        with refusing(f"Column {name!r} cannot be used"):
            kind = _kind(cells, j in categorical, j in orders)
            levels = _levels(cells, kind, orders.get(j), sentinels)
            extent = cells.extent if kind is Kind.NUMERIC else None
            fields.append(Field(name, kind, cells.family, levels, extent, cells.boxed))
            _refuse_unlisted(cells, fields[-1], orders.get(j))
    return Schema(tuple(fields), sentinels)


def _kind(cells: Cells, called_categorical: bool, called_ordinal: bool) -> Kind:
    if called_ordinal or (cells.ordered and not called_categorical):
        return Kind.ORDINAL
    if called_categorical or cells.family in CATEGORICAL_FAMILIES:
        return Kind.CATEGORICAL
    return Kind.NUMERIC


def _levels(
    cells: Cells, kind: Kind, order: tuple[Any, ...] | None, sentinels: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The levels in the order of their codes: as given, as declared by the dtype, or sorted."""
    if kind is Kind.NUMERIC or cells.is_empty:
        return ()
    if order is not None:
        return order
    if cells.family is Family.BOOLEAN:
        return (False, True)
    levels = cells.declared if cells.family is Family.CATEGORY else cells.uniques()
    return tuple(level for level in levels or () if level not in sentinels)


def _refuse_both(both: Any, names: tuple[str, ...]) -> None:
    if both:
        twice = ", ".join(repr(names[j]) for j in sorted(both))
        raise InvalidParameterError(
            f"Columns are in both categorical_features and ordinal_features: {twice}."
        )


def _refuse_unlisted(cells: Cells, field: Field, order: tuple[Any, ...] | None) -> None:
    if order is None or cells.is_empty:
        return
    unlisted = (cells.codes(field.codes) < 0) & ~cells.missing
    if unlisted.any():
        row = int(unlisted.argmax())
        value = cells.values[row]
        value = cells.declared[value] if cells.declared is not None else value
        plain = value.item() if isinstance(value, np.generic) else value
        raise InvalidParameterError(
            f"ordinal_features lists {list(order)!r} for column {field.name!r}, "
            f"but row {row} holds {plain!r}. Add it to the list, or name it in missing_values."
        )
