"""The imputers, in scikit-learn's conventions: the face of the engines.

```
registry    the table of methods: short name, class, engine, labels, draws, paper
base        one door in, one door out: check, encode, let the method fill a Table, restore
estimator   what models share with imputers: how tables come in, help, and how a fit is saved
family      what all neighbor imputers share; each adds a recipe
neighbors   the recipe engine's methods, one class and one recipe each
grey        the self-tuning imputer; with confidence (draws, intervals) and explanation
column_trust    what the fills of a column are worth
models      the classifier and the regressor of the same engine
bagged      a model of each of several draws, averaged over draws of the new row
chained     MICE and MissForest
systems     what the other systems of the literature share; opt.impute, and fuzzy clusters
decks       hot deck, cold deck and shell neighbors
networks    multi-task perceptrons and learning vector quantization, with classifiers
sequential  SRMI, plain regressions, IARI and C4.5
joint       EM, EMB, NORM and MissPALasso: one normal distribution for all columns
drawn_tables    several imputations as tables, where a method draws
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
    from greyfill.imputers.bagged import BaggedDraws
    from greyfill.imputers.chained import MICEImputer, MissForestImputer
    from greyfill.imputers.decks import ColdDeckImputer, HotDeckImputer, ShellImputer
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
    from greyfill.imputers.networks import (
        LVQClassifier,
        LVQImputer,
        MultiTaskMLPClassifier,
        MultiTaskMLPImputer,
    )
    from greyfill.imputers.sequential import C45Imputer, IARIImputer, RegressionImputer, SRMIImputer
    from greyfill.imputers.systems import (
        FuzzyKMeansImputer,
        GreyFuzzyImputer,
        OptImputer,
        OptKNNImputer,
        OptSVMImputer,
        OptTreeImputer,
    )

__all__ = [
    "BaggedDraws", "C45Imputer", "CGKNNImputer", "ColdDeckImputer", "EMBImputer", "EMImputer",
    "FWGKNNImputer", "FuzzyKMeansImputer", "GBNNImputer", "GKNNImputer", "GreyClassifier",
    "GreyFuzzyImputer", "GreyImputer", "GreyRegressor", "HotDeckImputer", "IARIImputer",
    "IKNNImputer", "KNNIImputer", "LVQClassifier", "LVQImputer", "MICEImputer", "MIKNNImputer",
    "MissForestImputer", "MissPALassoImputer", "MultiTaskMLPClassifier", "MultiTaskMLPImputer",
    "NeighborImputer", "NormImputer", "OptImputer", "OptKNNImputer", "OptSVMImputer",
    "OptTreeImputer", "RegressionImputer", "SKNNImputer", "SRMIImputer", "ShellImputer",
]  # fmt: skip

_HOMES = {
    "bagged": ("BaggedDraws",),
    "chained": ("MICEImputer", "MissForestImputer"),
    "decks": ("ColdDeckImputer", "HotDeckImputer", "ShellImputer"),
    "grey": ("GreyImputer",),
    "joint": ("EMBImputer", "EMImputer", "MissPALassoImputer", "NormImputer"),
    "models": ("GreyClassifier", "GreyRegressor"),
    "neighbors": (
        "CGKNNImputer", "FWGKNNImputer", "GBNNImputer", "GKNNImputer", "IKNNImputer",
        "KNNIImputer", "MIKNNImputer", "NeighborImputer", "SKNNImputer",
    ),
    "networks": ("LVQClassifier", "LVQImputer", "MultiTaskMLPClassifier", "MultiTaskMLPImputer"),
    "sequential": ("C45Imputer", "IARIImputer", "RegressionImputer", "SRMIImputer"),
    "systems": (
        "FuzzyKMeansImputer", "GreyFuzzyImputer", "OptImputer", "OptKNNImputer", "OptSVMImputer",
        "OptTreeImputer",
    ),
}  # fmt: skip

__getattr__ = load_late(__name__, _HOMES)
