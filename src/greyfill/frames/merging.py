"""One schema of a table that comes in parts, each of which was encoded on its own."""

from collections.abc import Mapping
from dataclasses import replace

from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import sorted_levels
from greyfill.frames.schema import Extent, Family, Field, Schema
from greyfill.table import Kind

NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)
"""Families of numbers; a column that has two of them is of the later one."""


def merge_schemas(schemas: Mapping[int, Schema]) -> Schema:
    """The schema that the whole table would have got, from those of its parts by their numbers.

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


def _merge_column(fields: dict[int, Field]) -> Field:
    """One field of those of all parts; parts without a value say nothing."""
    told = {n: field for n, field in fields.items() if not field.is_silent} or fields
    (first, merged), *others = told.items()
    for number, other in others:
        family = _merge_families(merged, other)
        if family is None:
            raise _conflict(fields[first], first, other, number)
        merged = replace(
            merged,
            family=family,
            levels=_merge_levels(merged, other),
            extent=_merge_extents(merged, other),
        )
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


def _conflict(one: Field, first: int, other: Field, number: int) -> InvalidDataError:
    return InvalidDataError(
        f"Column {one.name!r} holds {one.kind.value} cells ({one.family}) in partition {first} and "
        f"{other.kind.value} ones ({other.family}) in partition {number}. Give it one dtype, for "
        f"example frame.astype({{{one.name!r}: 'string'}})."
    )
