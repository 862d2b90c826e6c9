"""One schema of a table that comes in parts, each of which was encoded on its own."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import sorted_levels
from greyfill.frames.schema import Family, Field, Schema
from greyfill.table import Kind

NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)
"""Families of numbers; a column that has two of them is of the later one."""


def merge_schemas(schemas: Sequence[Schema]) -> Schema:
    """The schema that the whole table would have got.

    >>> def part(*levels): return Schema((Field("sex", Kind.CATEGORICAL, Family.TEXT, levels),))
    >>> merge_schemas([part("m"), part("f", "m")]).fields[0].levels
    ('f', 'm')
    """
    columns = zip(*(schema.fields for schema in schemas), strict=True)
    fields = tuple(reduce(_merge_fields, column) for column in columns)
    return replace(schemas[0], fields=fields)


def _merge_fields(one: Field, other: Field) -> Field:
    if other.family is Family.EMPTY:
        return one
    if one.family is Family.EMPTY:
        return other
    if one.kind is not other.kind or one.name != other.name:
        raise _conflict(one, other)
    return replace(one, family=_merge_families(one, other), levels=_merge_levels(one, other))


def _merge_families(one: Field, other: Field) -> Family:
    if one.family is other.family:
        return one.family
    if one.family in NUMBERS and other.family in NUMBERS:
        return max(one.family, other.family, key=NUMBERS.index)
    if one.kind is Kind.CATEGORICAL:
        return Family.MIXED
    raise _conflict(one, other)


def _merge_levels(one: Field, other: Field) -> tuple[object, ...]:
    """Declared levels in their order, then those that only the other declares; others sorted."""
    if one.levels == other.levels:
        return one.levels
    levels = tuple(dict.fromkeys((*one.levels, *other.levels)))
    return levels if one.family is Family.CATEGORY else sorted_levels(levels)


def _conflict(one: Field, other: Field) -> InvalidDataError:
    return InvalidDataError(
        f"Column {one.name!r} holds {one.kind.value} cells ({one.family}) in one partition and "
        f"{other.kind.value} ones ({other.family}) in another. Give it one dtype, for example "
        f"frame.astype({{{one.name!r}: 'string'}})."
    )
