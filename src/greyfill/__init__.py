"""Class-aware nearest-neighbor imputation of mixed-type tables before classification."""

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
    MIKNNImputer,
    NeighborImputer,
    SKNNImputer,
)

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
    "MIKNNImputer",
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
]
