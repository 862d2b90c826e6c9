"""Class-aware nearest-neighbor imputation of mixed-type tables before classification.

Start with `fill`: it takes a table of pandas, polars, pyarrow or numpy, or a file, and gives back
the same table with only the holes filled, and what is to be known about them:

>>> import greyfill
>>> import polars as pl
>>> table = pl.DataFrame({"dose": [1, 2, 3, 4, 5, 6], "level": [2.1, 4.2, None, 7.9, 10.1, 12.0]})
>>> greyfill.fill(table).table["level"].null_count()
0

In a pipeline, take `GreyImputer`, which tunes itself and is what ``fill`` uses; `CGKNNImputer` is
the paper's method and quicker.

``compare`` measures imputers on a table of yours, ``worth`` whether imputing it pays, ``load``
reads one that was saved, ``pool`` joins the estimates from several imputed tables;
`greyfill --help` tells of the command.
"""

# ruff: noqa: F403  (the imputers are those of greyfill.imputers.__all__)
from importlib import import_module
from typing import TYPE_CHECKING, Any

from greyfill import imputers

if TYPE_CHECKING:
    from greyfill._neighbors.distance import Grey, Heom
    from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
    from greyfill._neighbors.filling import PlainFill, WeightedFill
    from greyfill._neighbors.schedule import Descent, Direct, Once, Sequential, UntilStable
    from greyfill._neighbors.start import ClassStart, GlobalStart
    from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
    from greyfill.distributed.lazy_tables import scan
    from greyfill.evaluation.ampute import ampute
    from greyfill.evaluation.compare import compare
    from greyfill.evaluation.pooled_model import with_draws
    from greyfill.evaluation.sensitivity import sensitivity
    from greyfill.evaluation.worth import worth
    from greyfill.imputers import *
    from greyfill.opened_fill import fill
    from greyfill.persistence import load
    from greyfill.pooling import pool

__version__ = "0.2.0"

__all__ = [
    "AllRows",
    "ClassInformation",
    "ClassStart",
    "CompleteRows",
    "Descent",
    "Direct",
    "EqualWeights",
    "GlobalStart",
    "Grey",
    "Heom",
    "Once",
    "PairInformation",
    "PlainFill",
    "SameClass",
    "Sequential",
    "UntilStable",
    "WeightedFill",
    "__version__",
    "ampute",
    "compare",
    "fill",
    "load",
    "pool",
    "scan",
    "sensitivity",
    "with_draws",
    "worth",
]
__all__ += imputers.__all__

_MODULES = (
    "datasets",
    "distributed",
    "evaluation",
    "exceptions",
    "files",
    "frames",
    "information",
    "metrics",
    "missingness",
    "paper",
    "plots",
    "progress",
    "report",
)
_HOMES = {
    "_neighbors.distance": ("Grey", "Heom"),
    "_neighbors.donors": ("AllRows", "CompleteRows", "SameClass"),
    "_neighbors.filling": ("PlainFill", "WeightedFill"),
    "_neighbors.schedule": ("Descent", "Direct", "Once", "Sequential", "UntilStable"),
    "_neighbors.start": ("ClassStart", "GlobalStart"),
    "_neighbors.weighting": ("ClassInformation", "EqualWeights", "PairInformation"),
    "distributed": ("scan",),
    "evaluation": ("ampute", "compare", "sensitivity", "with_draws", "worth"),
    "opened_fill": ("fill",),
    "imputers": tuple(imputers.__all__),
    "persistence": ("load",),
    "pooling": ("pool",),
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used; scikit-learn takes its time."""
    if name in _MODULES:
        return import_module(f"greyfill.{name}")
    from greyfill.checks import load_late

    return load_late(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
