"""The family: every public imputer. A row of the registry joins it and inherits every check."""

from typing import Any

import greyfill
from greyfill.imputers.registry import REGISTRY


def registered(*engines: str) -> list[Any]:
    """The classes of these engines, as the registry lists them."""
    return [method.resolve() for method in REGISTRY.values() if method.engine in engines]


NEIGHBOR_IMPUTERS: list[Any] = [*registered("recipe"), greyfill.NeighborImputer]

IMPUTERS: list[Any] = [
    *NEIGHBOR_IMPUTERS, *registered("grey"), *registered("chained"), *registered("joint"),
]  # fmt: skip

EXTRAPOLATING: list[Any] = [greyfill.MICEImputer, *registered("joint")]
"""Those whose normal distributions reach beyond the observed numbers."""

QUICK: dict[Any, dict[str, Any]] = {
    greyfill.GreyImputer: {"n_cells": 20, "max_iter": 2},
    greyfill.MICEImputer: {"n_imputations": 2, "n_iter": 1},
    greyfill.MissForestImputer: {"n_estimators": 5, "max_iter": 2},
    greyfill.EMImputer: {"max_iter": 20},
    greyfill.EMBImputer: {"n_imputations": 2, "max_iter": 10},
    greyfill.NormImputer: {"n_imputations": 2, "n_iter": 2, "max_iter": 10},
    greyfill.MissPALassoImputer: {"max_iter": 2, "penalty": 0.1},
}
"""Settings that make slow methods quick enough for many small tests."""


def quick(imputer: Any, **params: Any) -> Any:
    """An imputer with settings for tests, which ``params`` override."""
    return imputer(**{**QUICK.get(imputer, {}), **params})
