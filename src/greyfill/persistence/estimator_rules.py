"""Whether the parameters, the columns and the learned parts of a loaded estimator go together."""

from functools import cache, singledispatch
from typing import Any, ClassVar, get_origin

import numpy as np

from greyfill import checks
from greyfill._grey.grey_engine import FittedGrey
from greyfill._joint.joint_normal import JointNormal
from greyfill._systems.network import Network
from greyfill.exceptions import PersistenceError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.chained import MICEImputer
from greyfill.imputers.family import NeighborFamily
from greyfill.imputers.grey import GreyImputer
from greyfill.imputers.joint import EMBImputer, NormImputer
from greyfill.imputers.models import GreyClassifier, GreyRegressor
from greyfill.imputers.networks import SystemClassifier
from greyfill.imputers.systems import SystemImputer
from greyfill.persistence import engine_rules
from greyfill.persistence.record_rules import check_jobs, check_moments, check_spreads, require
from greyfill.persistence.tags import declared_types
from greyfill.table import Column, Floats, Kind

OUTPUTS = ({"transform": "default"}, {"transform": "pandas"}, {"transform": "polars"})


@cache
def state_types(kind: Any) -> dict[str, Any]:
    """The attributes that ``fit`` sets, and what they are declared to hold."""
    parameters = kind._get_param_names()
    return {
        name: hint
        for name, hint in declared_types(kind).items()
        if name not in parameters and name not in kind._unsaved and get_origin(hint) is not ClassVar
    }


def check_estimator(estimator: Any) -> None:
    """Refuse an estimator that ``fit`` could not have left."""
    kind: Any = type(estimator)
    for name in state_types(kind):
        there = name in vars(estimator) or name in estimator._optional
        require(there, f"{kind.__name__} lacks {name}")
    _check_parameters(estimator)
    _check_columns(estimator)
    pairs = zip(estimator._schema.columns, estimator._kept, strict=True)
    _check_engine(estimator, tuple(column for column, kept in pairs if kept))


def _check_parameters(estimator: Any) -> None:
    """Refuse parameters that ``fit`` refuses, as far as new rows depend on them."""
    n_jobs = getattr(estimator, "n_jobs", None)  # some methods work alone, or draw nothing
    checks.check_jobs(n_jobs)
    check_jobs(n_jobs)
    checks.check_seed(getattr(estimator, "random_state", None))
    estimator._check_settings()
    config = vars(estimator).get("_sklearn_output_config", OUTPUTS[0])
    require(config in OUTPUTS, f"an output of {config}")


def _check_columns(estimator: Any) -> None:
    """Whether names, masks and counts are those of the schema."""
    schema = estimator._schema
    n = len(schema.fields)
    require(estimator.n_features_in_ == n, "the number of features is not that of the columns")
    names = getattr(estimator, "feature_names_in_", None)
    require(names is None or list(names) == list(schema.names), "the features have other names")
    for name in ("_kept", "_flagged"):
        mask = getattr(estimator, name, np.ones(n, dtype=bool))
        require(mask.shape == (n,), f"{name} does not fit the columns")
    if hasattr(estimator, "_flagged"):
        estimator._refuse_taken_names(schema.names)
    if hasattr(estimator, "cell_spreads_"):
        check_spreads(estimator.cell_spreads_)


def _check_ranges(estimator: Any, low: Floats, high: Floats) -> None:
    """Whether moments between the least and the largest value of each kept column exist."""
    for field, *limits in zip(estimator._kept_fields, low.tolist(), high.tolist(), strict=True):
        if field.kind is Kind.NUMERIC:
            check_moments(field, limits)


@singledispatch
def _check_engine(estimator: Any, columns: tuple[Column, ...]) -> None:
    """Whether what was learned fits the parameters and the columns with an observed value."""
    raise PersistenceError(f"there is no rule for a {type(estimator).__name__}")


def _check_learned(estimator: Any, name: str, columns: tuple[Column, ...]) -> Any:
    """What was learned; None where no column had an observed value to learn from."""
    learned = getattr(estimator, name, None)
    require((learned is None) == (not columns), f"{name} does not fit the columns")
    return learned


def _source(fitted: Any) -> tuple[tuple[Column, ...], Floats, Floats]:
    """The columns that a record was learned from, and the least and largest value of each."""
    holder = getattr(fitted, "plan", fitted)
    if hasattr(holder, "table"):
        values = holder.table.values
        return holder.table.columns, values.min(axis=0), values.max(axis=0)
    if hasattr(fitted, "code"):
        return fitted.code.columns, fitted.code.design.scaler.low, fitted.code.design.scaler.high
    if hasattr(fitted, "donors"):
        return fitted.donors.columns, fitted.scaler.low, fitted.scaler.high
    return fitted.layout.columns, fitted.layout.scaler.low, fitted.layout.scaler.high


@_check_engine.register
def _imputer(imputer: BaseImputer, columns: tuple[Column, ...]) -> None:
    fitted = _check_learned(imputer, "_fitted", columns)
    if fitted is not None:
        known, low, high = _source(fitted)
        require(known == columns, "what was learned has other columns")
        _check_ranges(imputer, low, high)


@_check_engine.register
def _neighbors(imputer: NeighborFamily, columns: tuple[Column, ...]) -> None:
    imputer._settings()
    imputer._heeding_recipe().checked()
    _imputer(imputer, columns)


def _check_tuned(tuned: FittedGrey, columns: tuple[Column, ...]) -> None:
    require(tuned.donors.table.columns[: len(columns)] == columns, "donors have other columns")
    require(len(tuned.scaler.low) == len(columns), "the scaler has other columns")


@_check_engine.register
def _grey(imputer: GreyImputer, columns: tuple[Column, ...]) -> None:
    imputer._settings()
    tuned = _check_learned(imputer, "_fitted", columns)
    if tuned is None:
        return
    _check_tuned(tuned, columns)
    _check_ranges(imputer, tuned.scaler.low, tuned.scaler.high)
    n_classes = len(imputer._classes)
    require(len(set(imputer._classes)) == n_classes, "a class twice")
    require(max(n_classes, 1) == tuned.donors.n_classes or not n_classes, "classes do not fit")
    require(n_classes or not tuned.donors.has_classes, "classes have no names")
    response = imputer._response_range
    measured = tuned.donors.table.n_columns > len(columns) and not tuned.donors.has_classes
    require((response is not None) == measured, "the response does not fit")
    require(response is None or -np.inf < response[0] <= response[1] < np.inf, "no range of y")


def _model(model: Any, columns: tuple[Column, ...]) -> None:
    checks.check_whole("n_cells", model.n_cells, least=10)
    require(columns, "there is no column to predict from")
    _check_tuned(model._fitted, columns)


@_check_engine.register
def _classifier(model: GreyClassifier, columns: tuple[Column, ...]) -> None:
    _model(model, columns)
    classes = model.classes_
    require(classes.ndim == 1 and len(classes) == model._fitted.donors.n_classes, "classes differ")
    require(len(set(classes.tolist())) == len(classes), "a class twice")


@_check_engine.register
def _regressor(model: GreyRegressor, columns: tuple[Column, ...]) -> None:
    _model(model, columns)
    require(-np.inf < model._low <= model._high < np.inf, "y has no range")
    table = model._fitted.donors.table
    require(table.n_columns == len(columns) + 1, "there is no response")
    require(table.columns[-1].kind is Kind.NUMERIC, "the response is no number")


@_check_engine.register
def _mice(imputer: MICEImputer, columns: tuple[Column, ...]) -> None:
    settings = imputer._settings()
    for name, extra in (("_chains", 0), ("_label_chains", int(imputer.labels != "none"))):
        fitted = _check_learned(imputer, name, columns)
        if fitted is not None:
            table, p = fitted.plan.table, len(columns)
            fits = table.columns[:p] == columns and table.n_columns == p + extra
            require(fits, "chains have other columns")
            n = settings.n_imputations
            require(len(fitted.chains) == n, "the number of chains is not n_imputations")
            values = table.values[:, :p]
            _check_ranges(imputer, values.min(axis=0), values.max(axis=0))


@_check_engine.register
def _joint(imputer: EMBImputer | NormImputer, columns: tuple[Column, ...]) -> None:
    _imputer(imputer, columns)
    if columns:
        thetas = imputer._fitted.thetas
        require(len(thetas) == imputer.n_imputations, "not as many distributions as imputations")
        draws = all(isinstance(normal, JointNormal) for theta in thetas for normal in theta)
        require(draws, "a distribution that cannot be drawn from")


@_check_engine.register
def _system(imputer: SystemImputer, columns: tuple[Column, ...]) -> None:
    if not columns:
        require(not hasattr(imputer, "_fitted"), "_fitted does not fit the columns")
        return
    require({"_usable", "_centers"} <= vars(imputer).keys(), "centers are missing")
    usable, centers = imputer._usable, imputer._centers
    require(usable.shape == centers.shape == (len(columns),), "centers do not fit the columns")
    engine_rules.check_fills(columns, centers[np.newaxis])
    require(hasattr(imputer, "_fitted") == bool(usable.any()), "_fitted does not fit")
    if not usable.any():
        return
    known, least, most = _source(imputer._fitted)
    used = tuple(column for column, there in zip(columns, usable, strict=True) if there)
    require(known == used, "what was learned has other columns")
    low, high = centers.copy(), centers.copy()
    low[usable] = np.minimum(least, low[usable])
    high[usable] = np.maximum(most, high[usable])
    _check_ranges(imputer, low, high)


@_check_engine.register
def _reader(model: SystemClassifier, columns: tuple[Column, ...]) -> None:
    fitted: Any = model._fitted
    require(columns and fitted.layout.columns == columns, "what was learned has other columns")
    n = len(model.classes_)
    require(n >= 1 and len(set(model.classes_.tolist())) == n, "a class twice")
    if isinstance(fitted, Network):
        require(len(fitted.weights.class_offset) == n, "classes differ")
    else:
        require(np.array_equal(np.unique(fitted.labels), np.arange(n)), "classes differ")
