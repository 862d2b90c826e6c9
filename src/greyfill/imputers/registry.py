"""The table of methods: the only place that lists them.

The command, ``compare``, the tables of the documentation and the tests of the family read it, or
are held equal to it. The rows are plain words, so names cost no import of an engine; a class is
imported when its method is made.
"""

from collections import UserDict
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from greyfill.exceptions import InvalidParameterError

Engine = Literal[
    "recipe", "grey", "chained", "joint", "deck", "cluster", "opt", "network", "peer", "sklearn"
]

DEFAULT = "grey"
"""The method of whoever names none."""

OPTIONS: dict[Engine, tuple[str, ...]] = {
    "recipe": ("--k", "--labels", "--save", "--chunked"),
    "grey": ("--labels", "--save", "--time", "--chunked"),
    "chained": ("--labels", "--save", "--chunked"),
    "joint": ("--save", "--chunked"),
    "deck": ("--save", "--chunked"),
    "cluster": ("--save", "--chunked"),
    "opt": ("--save", "--chunked"),
    "network": ("--labels", "--save", "--chunked"),
    "peer": (),
    "sklearn": (),
}
"""What the methods of an engine take on the command line."""

LABEL_USES: dict[Engine, tuple[str, ...]] = {
    "recipe": ("donors", "cross", "weights", "none"),
    "grey": ("cross", "own", "donors", "none"),
    "chained": ("predictor", "none"),
    "opt": ("donors", "cross", "weights", "none"),
    "network": ("donors", "none"),
}
"""What labels may do in the methods of an engine that take ``--labels``."""


@dataclass(frozen=True)
class Method:
    """One row of the table.

    ``maker`` is the class, or a function of `peers`. ``class_uses`` are the uses of labels for
    which it cannot do without them, ``draws`` tells whether it gives several imputations for
    ``greyfill.pool``, ``for_files`` whether it fills all holes and adds no column, and ``package``
    what must be installed beyond greyfill's own needs. ``takes`` are the options of the command
    that have a meaning for it, if they are not those of its engine.
    """

    name: str
    maker: str
    engine: Engine
    paper: str
    sentence: str
    class_uses: tuple[str, ...] = ()
    draws: bool = False
    for_files: bool = True
    package: str | None = None
    takes: tuple[str, ...] | None = None

    @property
    def needs_labels(self) -> bool:
        """Whether it cannot do without labels, used as its defaults say."""
        return "donors" in self.class_uses

    @property
    def options(self) -> tuple[str, ...]:
        """Options of the command that have a meaning for it."""
        return OPTIONS[self.engine] if self.takes is None else self.takes

    @property
    def label_uses(self) -> tuple[str, ...]:
        """What ``--labels`` can be for it."""
        return LABEL_USES[self.engine] if "--labels" in self.options else ()

    def resolve(self) -> Any:
        """The class or function that makes the imputer, imported now."""
        from greyfill import imputers
        from greyfill.imputers import peers

        return getattr(imputers if self.maker in imputers.__all__ else peers, self.maker)


_ROWS = (
    Method("grey", "GreyImputer", "grey", "",
           "Grey neighbors that tune themselves for each column; uses labels if there are any.",
           draws=True),
    Method("cgknn", "CGKNNImputer", "recipe", "Choudhury and Kosorok 2020",
           "Grey neighbors of the same class, columns weighted by what they tell about it.",
           class_uses=("donors", "cross", "weights")),
    Method("fwgknn", "FWGKNNImputer", "recipe", "Pan et al. 2015",
           "The same, columns weighted anew by what they tell about each column with holes.",
           class_uses=("donors", "cross")),
    Method("gknn", "GKNNImputer", "recipe", "Zhang 2012",
           "Grey neighbors of the same class, all columns alike, plain mean and mode.",
           class_uses=("donors", "cross")),
    Method("gbnn", "GBNNImputer", "recipe", "Huang and Lee 2004",
           "Grey neighbors among all rows, plain mean and mode."),
    Method("miknn", "MIKNNImputer", "recipe", "García-Laencina et al. 2009",
           "Neighbors among all rows, columns weighted by what they tell about the class.",
           class_uses=("donors", "cross", "weights")),
    Method("iknn", "IKNNImputer", "recipe", "Brás and Menezes 2007",
           "Neighbors among all rows, searched again after each pass until stable."),
    Method("sknn", "SKNNImputer", "recipe", "Kim et al. 2004",
           "Complete rows give first, then each filled row to those after it."),
    Method("knni", "KNNIImputer", "recipe", "Troyanskaya et al. 2001; Batista and Monard 2003",
           "Neighbors among all rows, plain mean and mode, one pass."),
    Method("mice", "MICEImputer", "chained", "van Buuren 2018",
           "Chained regressions, each hole drawn from the model of its column.",
           class_uses=("predictor",), draws=True),
    Method("missforest", "MissForestImputer", "chained", "Stekhoven and Bühlmann 2012",
           "Chained random forests, one for each column with holes.",
           takes=("--save", "--chunked")),
    Method("srmi", "SRMIImputer", "chained", "Raghunathan et al. 2001",
           "Chained normal and logistic regressions, columns with few holes first.",
           class_uses=("predictor",), draws=True),
    Method("regression", "RegressionImputer", "chained", "Gelman and Hill 2006",
           "What a regression of each column on the others predicts.",
           takes=("--save", "--chunked")),
    Method("iari", "IARIImputer", "chained", "van Stein and Kowalczyk 2016",
           "Forests on the complete columns, the class and what was filled before, each once."),
    Method("c45", "C45Imputer", "chained", "Quinlan 1993",
           "A C4.5 tree for each column, in which rows with holes go down every branch."),
    Method("em", "EMImputer", "joint", "Dempster, Laird and Rubin 1977",
           "What a normal distribution of all columns expects, fitted by EM."),
    Method("emb", "EMBImputer", "joint", "Honaker, King and Blackwell 2011",
           "Draws from that distribution, fitted to bootstrapped rows.", draws=True),
    Method("norm", "NormImputer", "joint", "Rubin and Schafer 1990",
           "Draws from it in turns with draws of its mean and covariance.", draws=True),
    Method("misspalasso", "MissPALassoImputer", "joint", "Städler, Stekhoven and Bühlmann 2014",
           "A lasso for each pattern of holes, for more columns than rows."),
    Method("sklearn_knn", "sklearn_knn", "sklearn", "Troyanskaya et al. 2001",
           "scikit-learn's KNNImputer on scaled numbers and indicators of levels.", takes=("--k",)),
    Method("sklearn_iterative", "sklearn_iterative", "sklearn", "",
           "scikit-learn's IterativeImputer on scaled numbers and indicators of levels."),
    Method("mean", "MeanImputer", "peer", "",
           "The mean or mode of the column."),
    Method("mean_indicator", "mean_indicator", "peer", "",
           "The same, with a column that tells where each hole was.", for_files=False),
    Method("class_mean", "ClassMeanImputer", "peer", "",
           "The mean or mode of the row's class.", class_uses=("donors",)),
    Method("native", "native", "sklearn", "",
           "Holes stay, for classifiers that take them as they are.", for_files=False),
    Method("miceforest", "MiceForestImputer", "peer", "",
           "Chained LightGBM forests of the miceforest package, one draw.", package="miceforest"),
    Method("hot-deck", "HotDeckImputer", "deck", "Little and Rubin 2002",
           "All that a row lacks from one donor, drawn at random or the nearest."),
    Method("cold-deck", "ColdDeckImputer", "deck", "Little and Rubin 2002",
           "The nearest row of a reference table gives what a row lacks."),
    Method("shell", "ShellImputer", "deck", "Zhang 2011",
           "Mean and mode of the donors that enclose a row on the left and right of each column.",
           takes=("--k", "--save", "--chunked")),
    Method("fkm", "FuzzyKMeansImputer", "cluster", "Li et al. 2004",
           "Centers of fuzzy clusters, mixed by how much a row belongs to each."),
    Method("grey-fkm", "GreyFuzzyImputer", "cluster", "Sefidian and Daneshpour 2019",
           "A ridge regression in each grey fuzzy cluster, on columns that tell more than chance."),
    Method("opt-knn", "OptKNNImputer", "opt", "Bertsimas, Pawlowski and Zhuo 2018",
           "Fills and neighbors that fit each other best: own neighbors and rows that chose one.",
           takes=("--k", "--labels", "--save", "--chunked")),
    Method("opt-svm", "OptSVMImputer", "opt", "Bertsimas, Pawlowski and Zhuo 2018",
           "A support vector machine for each column, in passes while the loss falls."),
    Method("opt-tree", "OptTreeImputer", "opt", "Bertsimas, Pawlowski and Zhuo 2018",
           "A classification or regression tree for each column, in passes while the loss falls."),
    Method("opt-cv", "OptImputer", "opt", "Bertsimas, Pawlowski and Zhuo 2018",
           "Of opt-knn, opt-svm and opt-tree the one that best restores hidden cells."),
    Method("mlp", "MultiTaskMLPImputer", "network", "García-Laencina et al. 2013",
           "A net that learns the class and every column from the others at once.",
           class_uses=("donors",)),
    Method("lvq", "LVQImputer", "network", "Villmann et al. 2006",
           "Values of the nearest prototypes of the classes, columns weighted by relevance.",
           class_uses=("donors",)),
)  # fmt: skip

REGISTRY = {method.name: method for method in _ROWS}
"""Every method by its short name, also where its package is not installed."""


class _Makers(UserDict[str, Any]):
    """Methods by name; one that is looked up is the class or function that makes its imputer."""

    def __getitem__(self, name: str) -> Any:
        return self.data[name].resolve()


METHODS = _Makers(
    {name: m for name, m in REGISTRY.items() if m.package is None or find_spec(m.package)}
)
"""Short name → a callable that makes the imputer; "native" leaves the holes as they are."""

FILE_METHODS = tuple(m.name for m in REGISTRY.values() if m.for_files and m.package is None)
"""What the command can always fill files by."""


def make(name: str, **kwargs: Any) -> Any:
    """Make an imputer by its short name.

    Parameters
    ----------
    name
        One of ``METHODS``.
    kwargs
        Parameters of the imputer.

    >>> make("cgknn", n_neighbors=5)
    CGKNNImputer(n_neighbors=5)
    >>> make("median")
    Traceback (most recent call last):
    greyfill.exceptions.InvalidParameterError: no method is called 'median'; there are grey, ...
    """
    if name not in METHODS:
        raise InvalidParameterError(f"no method is called {name!r}; there are {', '.join(METHODS)}")
    return METHODS[name](**kwargs)
