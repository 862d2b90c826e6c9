"""Whether the parameters, the columns and the learned parts of a loaded estimator go together."""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, get_origin

import numpy as np

from greyfill import checks
from greyfill._chained.chain import FittedChains
from greyfill._grey.grey_engine import FittedGrey
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.chained import MICEImputer, MissForestImputer
from greyfill.imputers.family import NeighborFamily
from greyfill.imputers.grey import GreyImputer
from greyfill.imputers.models import GreyClassifier, GreyRegressor
from greyfill.persistence.declarations import check_jobs, check_spreads, require
from greyfill.persistence.record_rules import check_moments
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
    for kind, rule in ENGINES.items():
        if isinstance(estimator, kind):
            rule(estimator, _kept_columns(estimator))


def _check_parameters(estimator: Any) -> None:
    """Refuse parameters that ``fit`` refuses, as far as new rows depend on them."""
    checks.check_jobs(estimator.n_jobs)
    check_jobs(estimator.n_jobs)
    checks.check_seed(estimator.random_state)
    if isinstance(estimator, BaseImputer):
        estimator._check_flags()
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
        estimator._refuse_taken_names(list(schema.names))
    if hasattr(estimator, "cell_spreads_"):
        check_spreads(estimator.cell_spreads_)


def _check_ranges(estimator: Any, low: Floats, high: Floats) -> None:
    """Whether moments between the least and the largest value of each kept column exist."""
    fields = [f for f, kept in zip(estimator._schema.fields, estimator._kept, strict=True) if kept]
    for field, *limits in zip(fields, low.tolist(), high.tolist(), strict=True):
        if field.kind is Kind.NUMERIC:
            check_moments(field, limits)


def _kept_columns(estimator: Any) -> tuple[Column, ...]:
    columns = estimator._schema.columns
    return tuple(column for column, kept in zip(columns, estimator._kept, strict=True) if kept)


def _check_learned(estimator: Any, name: str, columns: tuple[Column, ...]) -> Any:
    """What was learned; None where no column had an observed value to learn from."""
    learned = getattr(estimator, name, None)
    require((learned is None) == (not columns), f"{name} does not fit the columns")
    return learned


def _neighbors(imputer: NeighborFamily, columns: tuple[Column, ...]) -> None:
    imputer._settings()
    imputer._heeding_recipe().checked()
    fitted = _check_learned(imputer, "_fitted", columns)
    if fitted is not None:
        require(fitted.donors.columns == columns, "donors have other columns")
        _check_ranges(imputer, fitted.scaler.low, fitted.scaler.high)


def _check_tuned(tuned: FittedGrey, columns: tuple[Column, ...]) -> None:
    require(tuned.donors.table.columns[: len(columns)] == columns, "donors have other columns")
    require(len(tuned.scaler.low) == len(columns), "the scaler has other columns")


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


def _classifier(model: GreyClassifier, columns: tuple[Column, ...]) -> None:
    _model(model, columns)
    classes = model.classes_
    require(classes.ndim == 1 and len(classes) == model._fitted.donors.n_classes, "classes differ")
    require(len(set(classes.tolist())) == len(classes), "a class twice")


def _regressor(model: GreyRegressor, columns: tuple[Column, ...]) -> None:
    _model(model, columns)
    require(-np.inf < model._low <= model._high < np.inf, "y has no range")
    table = model._fitted.donors.table
    require(table.n_columns == len(columns) + 1, "there is no response")
    require(table.columns[-1].kind is Kind.NUMERIC, "the response is no number")


def _mice(imputer: MICEImputer, columns: tuple[Column, ...]) -> None:
    settings = imputer._settings()
    served = _check_learned(imputer, "_served", columns)
    taught = _check_learned(imputer, "_taught", columns)
    for fitted, extra in ((served, 0), (taught, int(imputer.labels == "predictor"))):
        if fitted is not None:
            _check_chains(fitted, columns, extra, settings.n_imputations)
            values = fitted.plan.table.values[:, : len(columns)]
            _check_ranges(imputer, values.min(axis=0), values.max(axis=0))


def _check_chains(fitted: FittedChains, columns: tuple[Column, ...], extra: int, n: int) -> None:
    theirs = fitted.plan.table.columns
    fits = theirs[: len(columns)] == columns and len(theirs) == len(columns) + extra
    require(fits, "chains have other columns")
    require(len(fitted.chains) == n, "the number of chains is not n_imputations")


def _missforest(imputer: MissForestImputer, columns: tuple[Column, ...]) -> None:
    imputer._settings()
    fitted = _check_learned(imputer, "_fitted", columns)
    if fitted is not None:
        require(fitted.table.columns == columns, "forests have other columns")
        values = fitted.table.values
        _check_ranges(imputer, values.min(axis=0), values.max(axis=0))


ENGINES: dict[type, Callable[[Any, tuple[Column, ...]], None]] = {
    NeighborFamily: _neighbors,
    GreyImputer: _grey,
    GreyClassifier: _classifier,
    GreyRegressor: _regressor,
    MICEImputer: _mice,
    MissForestImputer: _missforest,
}
