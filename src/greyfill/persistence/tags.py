"""The only types that a saved file may name, and whether values are of the types declared."""

import types
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from greyfill import imputers
from greyfill._chained import c45, draws, iari, methods, missforest
from greyfill._chained.chain import Chain, ChainPlan, ColumnModel, FittedChains
from greyfill._chained.design import Design
from greyfill._chained.forest import Forest, Grown
from greyfill._chained.regressions import Line
from greyfill._grey.candidates import Candidate
from greyfill._grey.discriminant import Discriminant
from greyfill._grey.donor_table import ColumnFeatures, DonorTable, FeatureMap
from greyfill._grey.grey_engine import FittedGrey
from greyfill._grey.selection import PanelChoice
from greyfill._joint import joint_model, joint_normal
from greyfill._neighbors import recipe
from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, RowPool, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._neighbors.schedule import Descent, Direct, Once, Sequential, Trace, UntilStable
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill._systems import column_models, deck, layout, network, prototypes
from greyfill.exceptions import PersistenceError
from greyfill.frames.grid import Grid
from greyfill.frames.schema import Family, Field, Schema
from greyfill.imputers.estimator import SavedEstimator
from greyfill.persistence.archive import KINDS
from greyfill.table import Column, Kind, RangeScaler, SymmetricScaler, Table

PARTS: dict[Any, tuple[type, ...]] = {
    recipe.Distance: (Grey, Heom),
    recipe.Weights: (EqualWeights, ClassInformation, PairInformation),
    recipe.Donors: (AllRows, CompleteRows, SameClass),
    recipe.Fill: (PlainFill, WeightedFill),
    recipe.Start: (GlobalStart, ClassStart),
    recipe.Schedule: (Once, UntilStable, Direct, Sequential, Descent),
    draws.Model: (
        draws.Constant, draws.Sample, draws.MeanMatch, draws.Normal, draws.Binary,
        draws.Multinomial, draws.Ordered, methods.Likeliest, methods.TwoPart,
        methods.Count, methods.LeafDonors,
    ),
}  # fmt: skip
"""The types of ours that follow a protocol."""

SAVED: tuple[tuple[str, type[Any], str], ...] = (
    ("kind", Kind, "table.Kind"),
    ("column", Column, "table.Column"),
    ("table", Table, "table.Table"),
    ("family", Family, "frames.schema.Family"),
    ("field", Field, "frames.schema.Field"),
    ("schema", Schema, "frames.schema.Schema"),
    ("recipe", recipe.Recipe, "_neighbors.recipe.Recipe"),
    ("grey-distance", Grey, "_neighbors.distance.Grey"),
    ("heom-distance", Heom, "_neighbors.distance.Heom"),
    ("equal-weights", EqualWeights, "_neighbors.weighting.EqualWeights"),
    ("class-information", ClassInformation, "_neighbors.weighting.ClassInformation"),
    ("pair-information", PairInformation, "_neighbors.weighting.PairInformation"),
    ("all-rows", AllRows, "_neighbors.donors.AllRows"),
    ("complete-rows", CompleteRows, "_neighbors.donors.CompleteRows"),
    ("same-class", SameClass, "_neighbors.donors.SameClass"),
    ("row-pool", RowPool, "_neighbors.donors.RowPool"),
    ("plain-fill", PlainFill, "_neighbors.filling.PlainFill"),
    ("weighted-fill", WeightedFill, "_neighbors.filling.WeightedFill"),
    ("global-start", GlobalStart, "_neighbors.start.GlobalStart"),
    ("class-start", ClassStart, "_neighbors.start.ClassStart"),
    ("once", Once, "_neighbors.schedule.Once"),
    ("until-stable", UntilStable, "_neighbors.schedule.UntilStable"),
    ("direct", Direct, "_neighbors.schedule.Direct"),
    ("sequential", Sequential, "_neighbors.schedule.Sequential"),
    ("trace", Trace, "_neighbors.schedule.Trace"),
    ("range-scaler", RangeScaler, "_neighbors.scaling.Scaler"),
    ("neighbors", FittedRecipe, "_neighbors.serving.Fitted"),
    ("candidate", Candidate, "_neighbors.tuned.candidates.Candidate"),
    ("choice", PanelChoice, "_neighbors.tuned.choosing.Choice"),
    ("tuned-neighbors", FittedGrey, "_neighbors.tuned.engine.Tuned"),
    ("column-features", ColumnFeatures, "_neighbors.tuned.features.ColumnFeatures"),
    ("feature-map", FeatureMap, "_neighbors.tuned.features.FeatureMap"),
    ("donor-table", DonorTable, "_neighbors.tuned.ground.Ground"),
    ("half-range-scaler", SymmetricScaler, "_chained.scaling.Scaler"),
    ("design", Design, "_chained.design.Design"),
    ("linear-predictor", Line, "_chained.linear.Line"),
    ("constant", draws.Constant, "_chained.numbers.Constant"),
    ("sample", draws.Sample, "_chained.numbers.Sample"),
    ("mean-matching", draws.MeanMatch, "_chained.numbers.Match"),
    ("normal", draws.Normal, "_chained.numbers.Normal"),
    ("logistic", draws.Binary, "_chained.categories.Binary"),
    ("multinomial", draws.Multinomial, "_chained.categories.Multinomial"),
    ("proportional-odds", draws.Ordered, "_chained.categories.Ordered"),
    ("column-model", ColumnModel, "_chained.chain.ColumnModel"),
    ("chain-plan", ChainPlan, "_chained.chain.Plan"),
    ("chain", Chain, "_chained.chain.Chain"),
    ("mice", FittedChains, "_chained.mice.Fitted"),
    ("forest", Forest, "_chained.forest.Forest"),
    ("forest-with-error", Grown, "_chained.growing.Grown"),
    ("missforest-settings", missforest.ForestSettings, "_chained.missforest.Settings"),
    ("missforest-pass", missforest.ForestPass, "_chained.missforest.State"),
    ("missforest", missforest.FittedForests, "_chained.missforest.Fitted"),
)
"""Tags, the types of now, and what files of format 1 name them by: a type may move and be renamed,
its tag stays. The old names are read for good and never written."""

SAVED_SINCE: dict[str, type[Any]] = {
    "grid": Grid, "discriminant": Discriminant, "descent": Descent,
    "feature-layout": layout.FeatureLayout, "clusters": prototypes.Clusters,
    "random-donor": deck.RandomDonor, "nearest-donor": deck.NearestDonor,
    "shell-donors": deck.ShellDonors, "deck": deck.Deck, "machine": column_models.Machine,
    "cart": column_models.Cart, "grey-ridge": column_models.GreyRidge,
    "column-models": column_models.ColumnModels, "network": network.Network,
    "network-weights": network.NetWeights, "prototypes": prototypes.Prototypes,
    "likeliest-level": methods.Likeliest, "two-part": methods.TwoPart,
    "count": methods.Count, "leaf-donors": methods.LeafDonors,
    "iari-settings": iari.IARISettings, "forest-step": iari.ForestStep, "iari": iari.FittedChain,
    "quinlan-tree": c45.C45Tree, "column-tree": c45.ColumnTree, "quinlan-trees": c45.FittedC45,
    "joint-code": joint_model.JointCode, "joint-normal": joint_normal.JointNormal,
    "joint": joint_model.FittedJoint, "sparse-normal": joint_normal.SparseNormal,
}  # fmt: skip
"""Types of later formats, by tag."""

TYPES = {tag: item for tag, item, _ in SAVED} | SAVED_SINCE
"""Types by tag."""

OLD_NAMES = {old: tag for tag, _, old in SAVED}
"""Tags by the names of format 1."""

OLD_FIELDS: dict[str, dict[str, str]] = {
    "MICEImputer": {"_served": "_chains", "_taught": "_label_chains"},
    "tuned-neighbors": {"ground": "donors"},
    "GreyImputer": {"_tuned": "_fitted"},
    "GreyClassifier": {"_tuned": "_fitted"},
    "GreyRegressor": {"_tuned": "_fitted"},
}
"""Older names of fields in files, and those of now, by a tag or the name of an imputer."""

ENUMS = {tag: item for tag, item in TYPES.items() if issubclass(item, Enum)}
"""Enumerations by tag."""

RECORDS = {tag: item for tag, item in TYPES.items() if not issubclass(item, Enum)}
"""Dataclasses by tag."""

TAGS = {item: tag for tag, item in TYPES.items()}
"""Tags by type."""

IMPUTERS: dict[str, type[Any]] = {
    name: kind
    for name in imputers.__all__
    if issubclass(kind := getattr(imputers, name), SavedEstimator)
}
"""Imputers by name."""

NOT_ALWAYS_FINITE = frozenset(
    {
        (Candidate, "ridge"),
        (Discriminant, "lent"),
        (PanelChoice, "error"),
        (PanelChoice, "errors"),
        (Chain, "traces"),
        (FittedGrey, "spreads"),
        (FittedRecipe, "spreads"),
        (FittedRecipe, "k_scores"),
    }
)
"""Fields in which NaN or infinity has a meaning, or is only shown."""


@cache
def declared_types(owner: Any) -> dict[str, Any]:
    """What the public fields of a record, or the attributes of an imputer, are declared to hold."""
    return get_type_hints(owner)


def renamed(tag: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a file under the names that they have now."""
    names = OLD_FIELDS.get(tag, {})
    return {names.get(name, name): value for name, value in fields.items()}


PLAIN = (bool, int, float, str, bytes, date, datetime, time, timedelta, Decimal, np.generic)
"""Types of the values that people put into tables and parameters."""

NUMBERS: dict[Any, tuple[type, ...]] = {
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    bool: (bool, np.bool_),
}
"""What may stand for a number of Python."""


def conform(value: Any, hint: Any, where: str) -> Any:
    """The value, arrays in C order, if it is of the declared type; an error that says where else.

    >>> conform([1, 2], list[int], "history_")
    [1, 2]
    >>> conform([1, "2"], list[int], "history_")
    Traceback (most recent call last):
    greyfill.exceptions.PersistenceError: history_ holds '2' where int belongs
    """
    if hint is Any:
        return _plain(value, where)
    if hint in PARTS:
        return _of_type(value, PARTS[hint], hint, where)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _any_of(value, hint, where)
    if origin is np.ndarray:
        return _array(value, get_args(get_args(hint)[1])[0], where)
    if origin in (tuple, list, dict):
        return _container(value, origin, get_args(hint), where)
    return _scalar(value, hint, where)


def _misplaced(value: Any, hint: Any, where: str) -> PersistenceError:
    """That a value, which may be of any size, stands where another type belongs."""
    is_short = isinstance(value, str | int | float | None) and len(repr(value)[:40]) < 40
    words = repr(value) if is_short else f"a {type(value).__name__}"
    name = getattr(hint, "__name__", str(hint))
    return PersistenceError(f"{where} holds {words} where {name} belongs")


def _of_type(value: Any, kinds: tuple[type, ...], hint: Any, where: str) -> Any:
    if type(value) not in kinds:
        raise _misplaced(value, hint, where)
    return value


def _any_of(value: Any, hint: Any, where: str) -> Any:
    for choice in get_args(hint):
        with suppress(PersistenceError):
            return conform(value, choice, where)
    raise _misplaced(value, hint, where)


def _scalar(value: Any, hint: Any, where: str) -> Any:
    """One number, text, record or enumeration; True is no number, and no whole one is huge."""
    is_truth = isinstance(value, bool) and hint is not bool
    is_huge = isinstance(value, int) and not abs(value) < 2**100
    if is_truth or is_huge or not isinstance(value, NUMBERS.get(hint, hint)):
        raise _misplaced(value, hint, where)
    return value


def _array(value: Any, dtype: Any, where: str) -> Any:
    """An array of exactly this dtype; a declared array may also be a single number of it."""
    if dtype is Any:
        return _of_type(_plain(value, where), (np.ndarray,), np.ndarray, where)
    wanted = np.dtype(dtype)
    if isinstance(value, np.generic) and value.dtype == wanted:
        return value
    if not isinstance(value, np.ndarray) or value.dtype != wanted or not value.dtype.isnative:
        raise PersistenceError(f"{where} is no array of {wanted}")
    if wanted.hasobject:
        _plain(value, where)
    return np.ascontiguousarray(value) if value.ndim else value


def _container(value: Any, kind: Any, hints: tuple[Any, ...], where: str) -> Any:
    """A tuple, a list or a dict, whose parts are of their own declared types."""
    if not isinstance(value, kind):
        raise _misplaced(value, kind, where)
    if kind is dict:
        both = value.items()
        return {conform(k, hints[0], where): conform(v, hints[1], where) for k, v in both}
    if kind is tuple and hints[-1] is not Ellipsis:
        if len(value) != len(hints):
            raise PersistenceError(f"{where} has {len(value)} parts, not {len(hints)}")
        return tuple(conform(v, hint, where) for v, hint in zip(value, hints, strict=True))
    return kind(conform(part, hints[0], where) for part in value)


def _plain(value: Any, where: str) -> Any:
    """Refuse records of ours and other objects among what a user may have given."""
    if value is None or (isinstance(value, PLAIN) and not isinstance(value, Enum)):
        return value
    parts: Iterable[Any] = ()
    if isinstance(value, list | tuple | set | frozenset):
        parts = value
    elif isinstance(value, dict):
        parts = (*value.keys(), *value.values())
    elif isinstance(value, np.ndarray) and value.dtype == object:
        parts = value.ravel()
    elif not isinstance(value, np.ndarray) or value.dtype.kind not in KINDS:
        raise PersistenceError(f"{where} holds a {type(value).__name__}, which is no plain value")
    for part in parts:
        _plain(part, where)
    return value


def refuse_not_finite(value: Any, where: str) -> None:
    """Refuse NaN and infinity in a number, an array or a container of them."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for part in value:
            refuse_not_finite(part, where)
    elif isinstance(value, float | np.floating | np.ndarray):
        numbers = np.asarray(value)
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            raise PersistenceError(f"{where} holds a number that is not finite")
