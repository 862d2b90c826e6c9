"""Class-aware nearest-neighbor imputation of mixed-type tables before classification."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.schedule import Once, Sequential, UntilStable
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill.imputers import (
    CGKNNImputer,
    FWGKNNImputer,
    GBNNImputer,
    GKNNImputer,
    IKNNImputer,
    KNNIImputer,
    MICEImputer,
    MIKNNImputer,
    MissForestImputer,
    NeighborImputer,
    SKNNImputer,
)

if TYPE_CHECKING:
    from greyfill.evaluation.ampute import ampute
    from greyfill.evaluation.compare import compare
    from greyfill.persistence import load

__version__ = "0.1.0"

__all__ = [
    "AllRows",
    "CGKNNImputer",
    "ClassInformation",
    "ClassStart",
    "CompleteRows",
    "EqualWeights",
    "FWGKNNImputer",
    "GBNNImputer",
    "GKNNImputer",
    "GlobalStart",
    "Grey",
    "Heom",
    "IKNNImputer",
    "KNNIImputer",
    "MICEImputer",
    "MIKNNImputer",
    "MissForestImputer",
    "NeighborImputer",
    "Once",
    "PairInformation",
    "PlainFill",
    "SKNNImputer",
    "SameClass",
    "Sequential",
    "UntilStable",
    "WeightedFill",
    "__version__",
    "ampute",
    "compare",
    "load",
]

_ON_FIRST_USE = {
    "ampute": "greyfill.evaluation",
    "compare": "greyfill.evaluation",
    "load": "greyfill.persistence",
}


def __getattr__(name: str) -> Any:
    """Import what needs heavy libraries when it is first used."""
    if name in _ON_FIRST_USE:
        return getattr(import_module(_ON_FIRST_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
