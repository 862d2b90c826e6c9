"""The imputers, in scikit-learn's conventions: the face of the engines.

```
registry    the table of methods: short name, class, engine, labels, draws, paper
base        one door in, one door out: check, encode, let the method fill a Table, restore
estimator   what models share with imputers: how tables come in, and how a fit is saved
family      what all neighbor imputers share; each adds a recipe
neighbors   the recipe engine's methods, one class and one recipe each
grey        the self-tuning imputer; with confidence (draws, intervals) and explanation
column_trust    what the fills of a column are worth
models      the classifier and the regressor of the same engine
chained     MICE and MissForest
sequential  SRMI, plain regressions, IARI and C4.5
joint       EM, EMB, NORM and MissPALasso: one normal distribution for all columns
drawn_tables    several imputations as tables, where a method draws
shared_help     words of help that several imputers share
warmup      what filling and serving need, compiled ahead
peers       imputers that every other method should beat, and wrappers of foreign ones
```

A table goes through ``BaseImputer.fit_transform``: its flags are checked, the columns and labels
encoded, ``_fit_table`` of the method fills the numbers, and the holes of the container that came
in are rewritten. ``transform`` takes the same way by ``_fill_table``, without labels.

Names are imported when they are first used: the table of methods alone costs nothing.
"""

from typing import TYPE_CHECKING

from greyfill.checks import load_late

if TYPE_CHECKING:
    from greyfill.imputers.chained import MICEImputer, MissForestImputer
    from greyfill.imputers.grey import GreyImputer
    from greyfill.imputers.joint import EMBImputer, EMImputer, MissPALassoImputer, NormImputer
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
    from greyfill.imputers.sequential import (
        C45Imputer,
        IARIImputer,
        RegressionImputer,
        SRMIImputer,
    )

__all__ = [
    "C45Imputer",
    "CGKNNImputer",
    "EMBImputer",
    "EMImputer",
    "FWGKNNImputer",
    "GBNNImputer",
    "GKNNImputer",
    "GreyClassifier",
    "GreyImputer",
    "GreyRegressor",
    "IARIImputer",
    "IKNNImputer",
    "KNNIImputer",
    "MICEImputer",
    "MIKNNImputer",
    "MissForestImputer",
    "MissPALassoImputer",
    "NeighborImputer",
    "NormImputer",
    "RegressionImputer",
    "SKNNImputer",
    "SRMIImputer",
]

_HOMES = {
    "chained": ("MICEImputer", "MissForestImputer"),
    "grey": ("GreyImputer",),
    "joint": ("EMBImputer", "EMImputer", "MissPALassoImputer", "NormImputer"),
    "models": ("GreyClassifier", "GreyRegressor"),
    "neighbors": (
        "CGKNNImputer", "FWGKNNImputer", "GBNNImputer", "GKNNImputer", "IKNNImputer",
        "KNNIImputer", "MIKNNImputer", "NeighborImputer", "SKNNImputer",
    ),
    "sequential": ("C45Imputer", "IARIImputer", "RegressionImputer", "SRMIImputer"),
}  # fmt: skip

__getattr__ = load_late(__name__, _HOMES)
