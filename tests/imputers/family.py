"""The family: every public imputer. A row of the registry joins it and inherits every check."""

from typing import Any
from zlib import crc32

import greyfill
from greyfill.imputers.registry import REGISTRY


def registered(*engines: str) -> list[Any]:
    """The classes of these engines, as the registry lists them."""
    return [method.resolve() for method in REGISTRY.values() if method.engine in engines]


NEIGHBOR_IMPUTERS: list[Any] = [*registered("recipe"), greyfill.NeighborImputer]

THOROUGH: list[Any] = [
    *NEIGHBOR_IMPUTERS, *registered("grey"), greyfill.MICEImputer, greyfill.MissForestImputer,
]  # fmt: skip
"""Those that go through every test of the contract; the systems go through a part of it."""

SYSTEMS: list[Any] = [
    maker
    for maker in registered("chained", "joint", "deck", "cluster", "opt", "network")
    if maker not in THOROUGH
]

IMPUTERS: list[Any] = [*THOROUGH, *SYSTEMS]

EXTRAPOLATING: list[Any] = [
    greyfill.MICEImputer, greyfill.SRMIImputer, greyfill.RegressionImputer, *registered("joint"),
]  # fmt: skip
"""Those whose normal distributions reach beyond the observed numbers."""

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
    greyfill.SRMIImputer: {"n_imputations": 2, "n_iter": 1},
    greyfill.RegressionImputer: {"n_iter": 2},
    greyfill.IARIImputer: {"n_estimators": 5},
    greyfill.EMImputer: {"max_iter": 20},
    greyfill.EMBImputer: {"n_imputations": 2, "max_iter": 10},
    greyfill.NormImputer: {"n_imputations": 2, "n_iter": 2, "max_iter": 10},
    greyfill.MissPALassoImputer: {"max_iter": 2, "penalty": 0.1},
}
"""Settings that make slow methods quick enough for many small tests."""


def quick(imputer: Any, **params: Any) -> Any:
    """An imputer with settings for tests, which ``params`` override."""
    return imputer(**{**QUICK.get(imputer, {}), **params})


SAMPLED: list[Any] = [
    *registered("joint"), greyfill.SRMIImputer, greyfill.RegressionImputer, greyfill.IARIImputer,
    greyfill.C45Imputer,
]  # fmt: skip
"""Systems of the literature on engines that other methods test as well. Of a test with several
tables they run a fifth, and the costly ones by one of each engine; a soak runs everything."""

TRACED = "test_estimates_are_below_what_is_needed_and_not_far_below"
"""Python's loops take long while memory is traced, and C4.5 has many of them."""

EXEMPLARS: list[Any] = [greyfill.EMImputer, greyfill.C45Imputer]
COSTLY = {
    "test_any_table_is_filled_or_refused", "test_ten_thousand_columns", "test_number_of_threads",
    "test_holes_at_random", TRACED,
}  # fmt: skip


def is_sampled(name: str, node: str, params: dict[str, Any]) -> bool:
    """Whether a test of the family is run; what is drawn depends on its name alone."""
    found = params.get("imputer", params.get("estimator"))
    if found not in SAMPLED:  # scikit-learn's checks have made ones
        return True
    if name in COSTLY:
        return found in EXEMPLARS and (found, name) != (greyfill.C45Imputer, TRACED)
    return len(params) == 1 or crc32(node.encode()) % 5 == 0
