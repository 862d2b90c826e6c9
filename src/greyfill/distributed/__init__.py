"""The same imputation on a cluster that you already run, for tables larger than one machine.

```
dask frame
 → partitions      one dtype and one schema for all partitions; encoded rows, on the workers
 → reductions      ranges, means, modes and column weights, by sums over partitions
 → blocks          scaled rows with a start fill, on the workers
 → pools           donors, cut into parts that fit a worker; the nearest donors of every hole
 → passes          fills, pass by pass: only what changes of donors' holes moves
 → partitions      the frame that came in, lazily, with values in its holes
```

`cluster_loop` joins these steps (tally, start, search, choose k, passes until stable), as the
engine of one machine does, with its parts and kernels. Every cell is the same to the bit: sums are
exact in any order, ties go by row number, and samples are drawn by rank in the whole table.
`dask_imputer` is the estimator. `parquet` goes the same way with a Parquet dataset on one machine,
and resumes after a crash. `spark` fills Spark frames by an imputer that was fitted elsewhere.
`cluster` is the only module in which tasks are run: by the workers of a client, or by threads.
What serves new rows, the donors with their final fills, is brought to one place only when it is
first used. Needs ``pip install greyfill[dask]``, or ``greyfill[spark]``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from greyfill.checks import check_installed

if TYPE_CHECKING:
    from greyfill.distributed.dask_imputer import DaskImputer
    from greyfill.distributed.parquet import impute_dataset
    from greyfill.distributed.spark import fill_spark

__all__ = ["DaskImputer", "fill_spark", "impute_dataset"]

_NEEDS = {"DaskImputer": ("dask", "pandas"), "impute_dataset": ("dask", "distributed", "pyarrow")}
_HOME_OF = {"DaskImputer": "dask_imputer", "fill_spark": "spark", "impute_dataset": "parquet"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: nobody needs both Dask and Spark."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for package in _NEEDS.get(name, ()):
        check_installed(package, name, '"greyfill[dask]"')
    value = getattr(import_module(f"greyfill.distributed.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
