"""The same imputation on a cluster that you already run, for tables larger than one machine.

```
dask frame ── reading ──> facts of every partition ──> one schema ──> encoded rows   on the workers
  ── statistics, groundwork, weighing ──> ranges, means, modes, weights  by reductions
  ── blocks ──> scaled rows with a start fill                         on the workers
  ── pools ──> donors, cut into parts that fit a worker
  ── choosing, hunting, meeting ──> k; the nearest donors of every hole
  ── looping, passing ──> passes until stable: only what changes of donors' holes moves
  ── assembling ──> what serves new rows, when somebody asks for it
  ── restoring ──> the frame that came in, lazily, with values in its holes
```

`training` joins these steps, as the engine of one machine does, with the same parts and kernels.
`cluster` is the only module that knows how tasks are run. `chunked` goes the same way with a
Parquet dataset on one machine, `spark` fills Spark frames by an imputer that was fitted elsewhere.
Needs ``pip install greyfill[dask]``, or ``greyfill[spark]``.
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
