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
    sentence: str
    paper: str = ""
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


REGISTRY: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "grey", "GreyImputer", "grey",
            "Grey neighbors that tune themselves for each column; uses labels if there are any.",
            draws=True,
        ),
        Method(
            "cgknn", "CGKNNImputer", "recipe",
            "Grey neighbors of the same class, columns weighted by what they tell about it.",
            "Choudhury and Kosorok 2020", class_uses=("donors", "cross", "weights"),
        ),
        Method(
            "fwgknn", "FWGKNNImputer", "recipe",
            "The same, columns weighted anew by what they tell about each column with holes.",
            "Pan et al. 2015", class_uses=("donors", "cross"),
        ),
        Method(
            "gknn", "GKNNImputer", "recipe",
            "Grey neighbors of the same class, all columns alike, plain mean and mode.",
            "Zhang 2012", class_uses=("donors", "cross"),
        ),
        Method(
            "gbnn", "GBNNImputer", "recipe",
            "Grey neighbors among all rows, plain mean and mode.", "Huang and Lee 2004",
        ),
        Method(
            "miknn", "MIKNNImputer", "recipe",
            "Neighbors among all rows, columns weighted by what they tell about the class.",
            "García-Laencina et al. 2009", class_uses=("donors", "cross", "weights"),
        ),
        Method(
            "iknn", "IKNNImputer", "recipe",
            "Neighbors among all rows, searched again after each pass until stable.",
            "Brás and Menezes 2007",
        ),
        Method(
            "sknn", "SKNNImputer", "recipe",
            "Complete rows give first, then each filled row to those after it.",
            "Kim et al. 2004", takes=("--k", "--labels", "--save", "--chunked"),
        ),
        Method(
            "knni", "KNNIImputer", "recipe",
            "Neighbors among all rows, plain mean and mode, one pass.",
            "Troyanskaya et al. 2001; Batista and Monard 2003",
        ),
        Method(
            "mice", "MICEImputer", "chained",
            "Chained regressions, each hole drawn from the model of its column.",
            "van Buuren 2018", class_uses=("predictor",), draws=True,
        ),
        Method(
            "missforest", "MissForestImputer", "chained",
            "Chained random forests, one for each column with holes.",
            "Stekhoven and Bühlmann 2012", takes=("--save", "--chunked"),
        ),
        Method(
            "srmi", "SRMIImputer", "chained",
            "Chained normal and logistic regressions, columns with few holes first.",
            "Raghunathan et al. 2001", class_uses=("predictor",), draws=True,
        ),
        Method(
            "regression", "RegressionImputer", "chained",
            "What a regression of each column on the others predicts.",
            "Gelman and Hill 2006", takes=("--save", "--chunked"),
        ),
        Method(
            "iari", "IARIImputer", "chained",
            "Forests on the complete columns, the class and what was filled before, each once.",
            "van Stein and Kowalczyk 2016",
        ),
        Method(
            "c45", "C45Imputer", "chained",
            "A C4.5 tree for each column, in which rows with holes go down every branch.",
            "Quinlan 1993",
        ),
        # The joint engine.
        Method(
            "em", "EMImputer", "joint",
            "What a normal distribution of all columns expects, fitted by EM.",
            "Dempster, Laird and Rubin 1977",
        ),
        Method(
            "emb", "EMBImputer", "joint",
            "Draws from that distribution, fitted to bootstrapped rows.",
            "Honaker, King and Blackwell 2011", draws=True,
        ),
        Method(
            "norm", "NormImputer", "joint",
            "Draws from it in turns with draws of its mean and covariance.",
            "Rubin and Schafer 1990", draws=True,
        ),
        Method(
            "misspalasso", "MissPALassoImputer", "joint",
            "A lasso for each pattern of holes, for more columns than rows.",
            "Städler, Stekhoven and Bühlmann 2014",
        ),
        Method(
            "sklearn_knn", "sklearn_knn", "sklearn",
            "scikit-learn's KNNImputer on scaled numbers and indicators of levels.",
            "Troyanskaya et al. 2001", takes=("--k",),
        ),
        Method(
            "sklearn_iterative", "sklearn_iterative", "sklearn",
            "scikit-learn's IterativeImputer on scaled numbers and indicators of levels.",
        ),
        Method("mean", "MeanImputer", "peer", "The mean or mode of the column."),
        Method(
            "mean_indicator", "mean_indicator", "peer",
            "The same, with a column that tells where each hole was.", for_files=False,
        ),
        Method(
            "class_mean", "ClassMeanImputer", "peer", "The mean or mode of the row's class.",
            class_uses=("donors",),
        ),
        Method(
            "native", "native", "sklearn",
            "Holes stay, for classifiers that take them as they are.", for_files=False,
        ),
        Method(
            "miceforest", "MiceForestImputer", "peer",
            "Chained LightGBM forests of the miceforest package, one draw.", package="miceforest",
        ),
        # decks
        Method(
            "hot-deck", "HotDeckImputer", "deck",
            "All that a row lacks from one donor, drawn at random or the nearest.",
            "Little and Rubin 2002",
        ),
        Method(
            "cold-deck", "ColdDeckImputer", "deck",
            "The nearest row of a reference table gives what a row lacks.",
            "Little and Rubin 2002",
        ),
        Method(
            "shell", "ShellImputer", "deck",
            "Mean and mode of the donors that enclose a row on the left and right of each column.",
            "Zhang 2011", takes=("--k", "--save", "--chunked"),
        ),
        # clusters
        Method(
            "fkm", "FuzzyKMeansImputer", "cluster",
            "Centers of fuzzy clusters, mixed by how much a row belongs to each.",
            "Li et al. 2004",
        ),
        Method(
            "grey-fkm", "GreyFuzzyImputer", "cluster",
            "A ridge regression in each grey fuzzy cluster, on columns that tell more than chance.",
            "Sefidian and Daneshpour 2019",
        ),
        # opt.impute
        Method(
            "opt-knn", "OptKNNImputer", "opt",
            "Fills and neighbors that fit each other best: own neighbors and rows that chose one.",
            "Bertsimas, Pawlowski and Zhuo 2018", takes=("--k", "--labels", "--save", "--chunked"),
        ),
        Method(
            "opt-svm", "OptSVMImputer", "opt",
            "A support vector machine for each column, in passes while the loss falls.",
            "Bertsimas, Pawlowski and Zhuo 2018",
        ),
        Method(
            "opt-tree", "OptTreeImputer", "opt",
            "A classification or regression tree for each column, in passes while the loss falls.",
            "Bertsimas, Pawlowski and Zhuo 2018",
        ),
        Method(
            "opt-cv", "OptImputer", "opt",
            "Of opt-knn, opt-svm and opt-tree the one that best restores hidden cells.",
            "Bertsimas, Pawlowski and Zhuo 2018",
        ),
        # networks and prototypes
        Method(
            "mlp", "MultiTaskMLPImputer", "network",
            "A net that learns the class and every column from the others at once.",
            "García-Laencina et al. 2013", class_uses=("donors",),
        ),
        Method(
            "lvq", "LVQImputer", "network",
            "Values of the nearest prototypes of the classes, columns weighted by relevance.",
            "Villmann et al. 2006", class_uses=("donors",),
        ),
    )
}  # fmt: skip
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
