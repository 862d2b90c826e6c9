"""The only types that a saved file may name, and what may stand where a protocol is declared."""

from enum import Enum
from functools import cache
from typing import Any, get_type_hints

from greyfill import imputers
from greyfill._chained import missforest
from greyfill._chained.chain import Chain, ChainPlan, ColumnModel, FittedChains
from greyfill._chained.design import Design, SymmetricScaler
from greyfill._chained.draws import (
    Binary,
    Constant,
    MeanMatch,
    Model,
    Multinomial,
    Normal,
    Ordered,
    Sample,
)
from greyfill._chained.forest import Forest, Grown
from greyfill._chained.regressions import Line
from greyfill._grey.candidates import Candidate
from greyfill._grey.donor_table import ColumnFeatures, DonorTable, FeatureMap
from greyfill._grey.grey_engine import FittedGrey
from greyfill._grey.selection import PanelChoice
from greyfill._neighbors import recipe
from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, RowPool, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._neighbors.schedule import Direct, Once, Sequential, Trace, UntilStable
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill.frames.schema import Family, Field, Schema
from greyfill.ranges import RangeScaler
from greyfill.table import Column, Kind, Table

PARTS: dict[Any, tuple[type, ...]] = {
    recipe.Distance: (Grey, Heom),
    recipe.Weights: (EqualWeights, ClassInformation, PairInformation),
    recipe.Donors: (AllRows, CompleteRows, SameClass),
    recipe.Fill: (PlainFill, WeightedFill),
    recipe.Start: (GlobalStart, ClassStart),
    recipe.Schedule: (Once, UntilStable, Direct, Sequential),
    Model: (Constant, Sample, MeanMatch, Normal, Binary, Multinomial, Ordered),
}
"""The types of ours that follow a protocol."""

TYPES: dict[str, type[Any]] = {
    "kind": Kind,
    "column": Column,
    "table": Table,
    "family": Family,
    "field": Field,
    "schema": Schema,
    "recipe": recipe.Recipe,
    "grey-distance": Grey,
    "heom-distance": Heom,
    "equal-weights": EqualWeights,
    "class-information": ClassInformation,
    "pair-information": PairInformation,
    "all-rows": AllRows,
    "complete-rows": CompleteRows,
    "same-class": SameClass,
    "row-pool": RowPool,
    "plain-fill": PlainFill,
    "weighted-fill": WeightedFill,
    "global-start": GlobalStart,
    "class-start": ClassStart,
    "once": Once,
    "until-stable": UntilStable,
    "direct": Direct,
    "sequential": Sequential,
    "trace": Trace,
    "range-scaler": RangeScaler,
    "neighbors": FittedRecipe,
    "candidate": Candidate,
    "choice": PanelChoice,
    "tuned-neighbors": FittedGrey,
    "column-features": ColumnFeatures,
    "feature-map": FeatureMap,
    "donor-table": DonorTable,
    "half-range-scaler": SymmetricScaler,
    "design": Design,
    "linear-predictor": Line,
    "constant": Constant,
    "sample": Sample,
    "mean-matching": MeanMatch,
    "normal": Normal,
    "logistic": Binary,
    "multinomial": Multinomial,
    "proportional-odds": Ordered,
    "column-model": ColumnModel,
    "chain-plan": ChainPlan,
    "chain": Chain,
    "mice": FittedChains,
    "forest": Forest,
    "forest-with-error": Grown,
    "missforest-settings": missforest.ForestSettings,
    "missforest-pass": missforest.ForestPass,
    "missforest": missforest.FittedForests,
}
"""Types by their tags in a file: a type may move and be renamed, its tag stays."""

OLD_NAMES: dict[str, str] = {
    "table.Kind": "kind",
    "table.Column": "column",
    "table.Table": "table",
    "frames.schema.Family": "family",
    "frames.schema.Field": "field",
    "frames.schema.Schema": "schema",
    "_neighbors.recipe.Recipe": "recipe",
    "_neighbors.distance.Grey": "grey-distance",
    "_neighbors.distance.Heom": "heom-distance",
    "_neighbors.weighting.EqualWeights": "equal-weights",
    "_neighbors.weighting.ClassInformation": "class-information",
    "_neighbors.weighting.PairInformation": "pair-information",
    "_neighbors.donors.AllRows": "all-rows",
    "_neighbors.donors.CompleteRows": "complete-rows",
    "_neighbors.donors.SameClass": "same-class",
    "_neighbors.donors.RowPool": "row-pool",
    "_neighbors.filling.PlainFill": "plain-fill",
    "_neighbors.filling.WeightedFill": "weighted-fill",
    "_neighbors.start.GlobalStart": "global-start",
    "_neighbors.start.ClassStart": "class-start",
    "_neighbors.schedule.Once": "once",
    "_neighbors.schedule.UntilStable": "until-stable",
    "_neighbors.schedule.Direct": "direct",
    "_neighbors.schedule.Sequential": "sequential",
    "_neighbors.schedule.Trace": "trace",
    "_neighbors.scaling.Scaler": "range-scaler",
    "_neighbors.serving.Fitted": "neighbors",
    "_neighbors.tuned.candidates.Candidate": "candidate",
    "_neighbors.tuned.choosing.Choice": "choice",
    "_neighbors.tuned.engine.Tuned": "tuned-neighbors",
    "_neighbors.tuned.features.ColumnFeatures": "column-features",
    "_neighbors.tuned.features.FeatureMap": "feature-map",
    "_neighbors.tuned.ground.Ground": "donor-table",
    "_chained.scaling.Scaler": "half-range-scaler",
    "_chained.design.Design": "design",
    "_chained.linear.Line": "linear-predictor",
    "_chained.numbers.Constant": "constant",
    "_chained.numbers.Sample": "sample",
    "_chained.numbers.Match": "mean-matching",
    "_chained.numbers.Normal": "normal",
    "_chained.categories.Binary": "logistic",
    "_chained.categories.Multinomial": "multinomial",
    "_chained.categories.Ordered": "proportional-odds",
    "_chained.chain.ColumnModel": "column-model",
    "_chained.chain.Plan": "chain-plan",
    "_chained.chain.Chain": "chain",
    "_chained.mice.Fitted": "mice",
    "_chained.forest.Forest": "forest",
    "_chained.growing.Grown": "forest-with-error",
    "_chained.missforest.Settings": "missforest-settings",
    "_chained.missforest.State": "missforest-pass",
    "_chained.missforest.Fitted": "missforest",
}
"""What files of format 1 name types by, and their tags: read for good, never written."""

OLD_FIELDS: dict[str, dict[str, str]] = {
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

IMPUTERS: dict[str, type[Any]] = {name: getattr(imputers, name) for name in imputers.__all__}
"""Imputers by name."""

NOT_ALWAYS_FINITE = frozenset(
    {
        (Candidate, "ridge"),
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
