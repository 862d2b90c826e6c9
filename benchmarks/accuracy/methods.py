"""All methods: ours, and the peers with the environment that each needs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import greyfill


@dataclass(frozen=True)
class Peer:
    """The environment of a peer ("" is this one, "R" Rscript), and the seconds it may compute."""

    environment: str = ""
    limit: float = 120.0


OURS = {
    "GreyImputer": "GreyImputer",
    "GreyImputer without y": "GreyImputer",
    "GreyImputer by default": "GreyImputer",
    "CGKNN": "CGKNNImputer",
    "FWGKNN": "FWGKNNImputer",
    "GKNN": "GKNNImputer",
    "our MissForest": "MissForestImputer",
    "our MICE": "MICEImputer",
}
"""Name in the results → class of greyfill."""

BY_DEFAULT = "GreyImputer by default"
"""As it ships; it stands beside the ranks, where what it does for a classifier costs it."""

SETTINGS = {"GreyImputer": {"labels": "own"}, "GreyImputer without y": {"labels": "none"}}
"""What is not left to the default."""

ON_GRID = {"round_to_grid": False}
"""Methods are ranked by what they predict; benchmarks/grid_cost.py has the price of the grid."""


DRAWS = 5
"""Data sets that a method which draws is asked for."""

DRAWING = (
    "GreyImputer",
    "GreyImputer without y",
    "our MICE",
    "R mice",
    "R mice+y",
    "miceforest",
    "miceforest+y",
    "utrees",
    "utrees+y",
    "ForestDiffusion",
    "ForestDiffusion+y",
)
"""Methods that give several data sets, each a draw."""

CENTERED = tuple(
    name for name in DRAWING if name.startswith(("R mice", "utrees", "ForestDiffusion"))
)
"""Those whose fill is the mean or vote of their draws, so that one run gives both."""

BLIND = ("GreyImputer without y", "our MissForest", "our MICE")
"""Those of ours that are not given the class."""


def commits(rows: Iterable[dict[str, Any]]) -> list[str]:
    """What our own methods ran on; a peer is known by its version."""
    return sorted({row["commit"] for row in rows if row["method"] in OURS and "commit" in row})


def sees_class(name: str) -> bool:
    """Whether a method is given the class of each row."""
    return name not in BLIND if name in OURS else name.endswith(("+y", "/class"))


def ours(name: str, params: dict[str, Any]) -> Any:
    """One of our imputers."""
    grid = {} if name == BY_DEFAULT else ON_GRID
    return getattr(greyfill, OURS[name])(**(grid | SETTINGS.get(name, {}) | params))


PEERS = {
    "mean": Peer(),
    "sklearn KNN": Peer(),
    "sklearn KNN/class": Peer(),
    "sklearn Iterative": Peer(),
    "sklearn Iterative+y": Peer(),
    "gcimpute": Peer("gcimpute"),
    "gcimpute+y": Peer("gcimpute"),
    "fancyimpute SoftImpute": Peer("fancyimpute"),
    "faiss-imputer": Peer("faiss"),
    "datafiller": Peer("datafiller"),
    "missingly Gower": Peer("missingly"),
    "missingly hot deck": Peer("missingly"),
    "missforest": Peer("missforest"),
    "mlimputer": Peer("mlimputer"),
    "verstack": Peer("verstack"),
    "miceforest": Peer("miceforest"),
    "miceforest+y": Peer("miceforest"),
    "utrees": Peer("utrees"),
    "utrees+y": Peer("utrees"),
    "ForestDiffusion": Peer("forestdiffusion"),
    "ForestDiffusion+y": Peer("forestdiffusion"),
    "hyperimpute EM": Peer("hyperimpute"),
    "hyperimpute ICE": Peer("hyperimpute"),
    "hyperimpute HyperImpute": Peer("hyperimpute"),
    "R VIM kNN": Peer("R"),
    "R mice": Peer("R"),
    "R mice+y": Peer("R"),
    "R missForest": Peer("R"),
    "R missForest+y": Peer("R"),
    "R missRanger": Peer("R"),
    "R missRanger+y": Peer("R"),
}

STRONG = (
    "mean",
    "sklearn KNN",
    "sklearn KNN/class",
    "sklearn Iterative",
    "sklearn Iterative+y",
    "gcimpute",
    "gcimpute+y",
    "R missForest",
    "R missForest+y",
    "R missRanger",
    "R missRanger+y",
    *(name for name in DRAWING if name not in OURS),
)
"""The peers that do best, those that draw, and the plainest two."""

DIFFERENT = {
    "R mice": "predictive mean matching; the mean or vote of five data sets",
    "R VIM kNN": "neighbors weighted by distance",
    "R missForest": "columns without a value, which it drops, are put back",
    "R missRanger": "no predictive mean matching",
    "gcimpute": "its search for truncated columns, which ends in errors, is bypassed; the most "
    "frequent level of a category has no indicator; columns of a single value are kept from it",
    "faiss-imputer": "five neighbors among all rows, since few rows are complete",
    "miceforest": "one data set without mean matching; columns of a single value are kept from it",
    "mlimputer": "random forests",
    "utrees": "the mean or vote of five data sets",
    "ForestDiffusion": "diffusion by `vp`, which can impute; the mean or vote of five data sets",
}
"""What is not a peer's default."""
