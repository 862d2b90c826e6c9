"""Parts of a table, each encoded on its own, have the schema of the whole."""

import pytest

from greyfill.exceptions import InvalidDataError
from greyfill.frames import merge_schemas
from greyfill.frames.schema import Family, Field, Schema
from greyfill.table import Kind

EMPTY = (Kind.NUMERIC, Family.EMPTY, ())
TEXT = (Kind.CATEGORICAL, Family.TEXT, ("a", "b"))


def merged(*parts):
    """Kind, family and levels of one column that comes in parts."""
    schemas = {n: Schema((Field("x", *part),)) for n, part in enumerate(parts)}
    field = merge_schemas(schemas).fields[0]
    return field.kind, field.family, field.levels


@pytest.mark.parametrize("parts", [(EMPTY, TEXT), (TEXT, EMPTY), (EMPTY, TEXT, EMPTY)])
def test_parts_without_a_value_say_nothing(parts):
    assert merged(*parts) == TEXT


@pytest.mark.parametrize("order", [1, -1])
def test_numbers_of_two_families_are_of_the_wider_one(order):
    families = (Family.INTEGER, Family.FLOAT)[::order]
    assert merged(*((Kind.NUMERIC, family, ()) for family in families))[1] is Family.FLOAT


def test_levels_are_sorted_and_declared_ones_keep_their_order():
    more = (Kind.CATEGORICAL, Family.TEXT, ("0", "b"))
    assert merged(TEXT, more)[2] == ("0", "a", "b")
    sizes = [(Kind.ORDINAL, Family.CATEGORY, levels) for levels in (("S", "L"), ("S", "L", "A"))]
    assert merged(*sizes)[2] == ("S", "L", "A")


def test_categories_of_two_families_are_mixed():
    truths = (Kind.CATEGORICAL, Family.BOOLEAN, (False, True))
    assert merged(TEXT, truths)[1] is Family.MIXED


@pytest.mark.parametrize(
    "other",
    [(Kind.NUMERIC, Family.FLOAT, ()), (Kind.ORDINAL, Family.TEXT, ("a", "b"))],
    ids=["numbers", "an order"],
)
def test_parts_that_contradict_each_other_are_refused(other):
    with pytest.raises(InvalidDataError, match=r"'x' holds categorical cells .*astype"):
        merged(TEXT, other)


def test_numbers_and_moments_are_refused():
    with pytest.raises(InvalidDataError, match=r"float.*in partition 0 and.*date.*in partition 1"):
        merged((Kind.NUMERIC, Family.FLOAT, ()), (Kind.NUMERIC, Family.DATE, ()))


def part(name="x", family=Family.INTEGER, extent=None):
    return Schema((Field(name, Kind.NUMERIC, family, extent=extent),))


def test_extents_are_those_of_all_parts():
    whole = {0: part(extent=(3, 9)), 1: part(), 2: part(extent=(-1, 4))}
    assert merge_schemas(whole).fields[0].extent == (-1, 9)
    floats = {**whole, 3: part(family=Family.FLOAT)}  # whose range nobody knows exactly
    assert merge_schemas(floats).fields[0].extent is None


def test_another_name_is_told_as_such():
    with pytest.raises(InvalidDataError, match=r"Partition 4 has the columns \['z'\].*\['x'\]"):
        merge_schemas({0: part(), 4: part("z")})
