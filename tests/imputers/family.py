"""The family: every public imputer. A row of the registry joins it and inherits every check."""

from typing import Any

import greyfill
from greyfill.imputers.registry import REGISTRY


def registered(*engines: str) -> list[Any]:
    """The classes of these engines, as the registry lists them."""
    return [method.resolve() for method in REGISTRY.values() if method.engine in engines]


NEIGHBOR_IMPUTERS: list[Any] = [*registered("recipe"), greyfill.NeighborImputer]

SYSTEMS: list[Any] = registered("deck", "cluster", "opt", "network")

THOROUGH: list[Any] = [*NEIGHBOR_IMPUTERS, *registered("grey"), *registered("chained")]
"""Those that go through every test of the contract; the systems go through a part of it."""

IMPUTERS: list[Any] = [*THOROUGH, *SYSTEMS]

QUICK: dict[Any, dict[str, Any]] = {
    greyfill.GreyImputer: {"n_cells": 20, "max_iter": 2},
    greyfill.MICEImputer: {"n_imputations": 2, "n_iter": 1},
    greyfill.MissForestImputer: {"n_estimators": 5, "max_iter": 2},
    greyfill.FuzzyKMeansImputer: {"n_clusters": 3, "fuzziness": 1.5, "n_init": 1, "max_iter": 5},
    greyfill.GreyFuzzyImputer: {"max_iter": 1},
    greyfill.OptSVMImputer: {"max_iter": 1},
    greyfill.OptTreeImputer: {"max_iter": 2},
    greyfill.OptImputer: {"max_iter": 1},
    greyfill.MultiTaskMLPImputer: {"max_iter": 20, "n_hidden": 6},
    greyfill.LVQImputer: {"n_prototypes": 2, "max_iter": 5},
}
"""Settings that make slow methods quick enough for many small tests."""


def quick(imputer: Any, **params: Any) -> Any:
    """An imputer with settings for tests, which ``params`` override."""
    return imputer(**{**QUICK.get(imputer, {}), **params})
