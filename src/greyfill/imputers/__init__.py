"""The imputers, in scikit-learn's conventions."""

from greyfill.imputers.chained import MICEImputer, MissForestImputer
from greyfill.imputers.grey import GreyImputer
from greyfill.imputers.models import GreyClassifier, GreyRegressor
from greyfill.imputers.neighbors import (
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

__all__ = [
    "CGKNNImputer",
    "FWGKNNImputer",
    "GBNNImputer",
    "GKNNImputer",
    "GreyClassifier",
    "GreyImputer",
    "GreyRegressor",
    "IKNNImputer",
    "KNNIImputer",
    "MICEImputer",
    "MIKNNImputer",
    "MissForestImputer",
    "NeighborImputer",
    "SKNNImputer",
]
