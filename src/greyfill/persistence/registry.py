"""The only types that a saved file may name, and what may stand where a protocol is declared."""

from enum import Enum
from functools import cache
from typing import Any, get_type_hints

from greyfill import imputers
from greyfill._chained import mice, missforest
from greyfill._chained import scaling as chained_scaling
from greyfill._chained.categories import Binary, Multinomial, Ordered
from greyfill._chained.chain import Chain, ColumnModel, Plan
from greyfill._chained.design import Design
from greyfill._chained.forest import Forest
from greyfill._chained.growing import Grown
from greyfill._chained.linear import Line
from greyfill._chained.numbers import Constant, Match, Model, Normal, Sample
from greyfill._neighbors import recipe, scaling, serving
from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, RowPool, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.schedule import Direct, Once, Sequential, Trace, UntilStable
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.tuned.candidates import Candidate
from greyfill._neighbors.tuned.choosing import Choice
from greyfill._neighbors.tuned.engine import Tuned
from greyfill._neighbors.tuned.features import ColumnFeatures, FeatureMap
from greyfill._neighbors.tuned.ground import Ground
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill.frames.schema import Family, Field, Schema
from greyfill.table import Column, Kind, Table

PARTS: dict[Any, tuple[type, ...]] = {
    recipe.Distance: (Grey, Heom),
    recipe.Weights: (EqualWeights, ClassInformation, PairInformation),
    recipe.Donors: (AllRows, CompleteRows, SameClass),
    recipe.Fill: (PlainFill, WeightedFill),
    recipe.Start: (GlobalStart, ClassStart),
    recipe.Schedule: (Once, UntilStable, Direct, Sequential),
    Model: (Constant, Sample, Match, Normal, Binary, Multinomial, Ordered),
}
"""The types of ours that follow a protocol."""

_TYPES: tuple[type[Any], ...] = (
    Kind, Column, Table, Family, Field, Schema,
    *(part for parts in PARTS.values() for part in parts),
    RowPool, recipe.Recipe, scaling.Scaler, Trace, serving.Fitted,
    Candidate, Choice, Tuned, ColumnFeatures, FeatureMap, Ground,
    ColumnModel, Plan, Chain, Design, Forest, Grown, Line, mice.Fitted,
    missforest.Settings, missforest.State, missforest.Fitted, chained_scaling.Scaler,
)  # fmt: skip


def _name(item: type[Any]) -> str:
    return f"{item.__module__.removeprefix('greyfill.')}.{item.__name__}"


ENUMS: dict[str, type[Any]] = {_name(item): item for item in _TYPES if issubclass(item, Enum)}
"""Enumerations by module and name."""

RECORDS: dict[str, type[Any]] = {_name(item): item for item in _TYPES if not issubclass(item, Enum)}
"""Dataclasses by module and name."""

NAMES: dict[type[Any], str] = {item: _name(item) for item in _TYPES}
"""Their names in a file."""

IMPUTERS: dict[str, type[Any]] = {name: getattr(imputers, name) for name in imputers.__all__}
"""Imputers by name."""

NOT_ALWAYS_FINITE = frozenset(
    {
        (Candidate, "ridge"),
        (Choice, "error"),
        (Choice, "errors"),
        (Chain, "traces"),
        (Tuned, "spreads"),
        (serving.Fitted, "spreads"),
        (serving.Fitted, "k_scores"),
    }
)
"""Fields in which NaN or infinity has a meaning, or is only shown."""


@cache
def declared_types(owner: Any) -> dict[str, Any]:
    """What the public fields of a record, or the attributes of an imputer, are declared to hold."""
    return get_type_hints(owner)
