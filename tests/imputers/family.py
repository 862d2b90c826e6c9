"""The family: every public imputer. A new one joins this list and inherits every check."""

from typing import Any

import greyfill

NEIGHBOR_IMPUTERS: list[Any] = [
    greyfill.CGKNNImputer,
    greyfill.FWGKNNImputer,
    greyfill.GKNNImputer,
    greyfill.GBNNImputer,
    greyfill.MIKNNImputer,
    greyfill.IKNNImputer,
    greyfill.SKNNImputer,
    greyfill.KNNIImputer,
    greyfill.NeighborImputer,
]

IMPUTERS: list[Any] = [
    *NEIGHBOR_IMPUTERS,
    greyfill.GreyImputer,
    greyfill.MICEImputer,
    greyfill.MissForestImputer,
]

QUICK: dict[Any, dict[str, Any]] = {
    greyfill.GreyImputer: {"n_cells": 20, "max_iter": 2},
    greyfill.MICEImputer: {"n_imputations": 2, "n_iter": 1},
    greyfill.MissForestImputer: {"n_estimators": 5, "max_iter": 2},
}
"""Settings that make slow methods quick enough for many small tests."""


def quick(imputer: Any, **params: Any) -> Any:
    """An imputer with settings for tests, which ``params`` override."""
    return imputer(**{**QUICK.get(imputer, {}), **params})
