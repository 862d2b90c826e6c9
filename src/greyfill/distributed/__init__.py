"""Any imputer beyond one machine, or beyond its memory.

```
partitions → facts of each → a stratified sample of donors → the ordinary fit → partitions, filled
```

`donor_sample` is this line, whatever the partitions are: those of a Dask frame (`dask_imputer`),
the files or row groups of a Parquet dataset (`parquet`, read by `parquet_files`, made in the folder
of `partial_output`), batches of a polars query or a DuckDB relation (`lazy_tables`). `partitions`
gives all of them one schema and, where they are pandas frames, one dtype a column. `cluster` is the
only module in which tasks are run: by the workers of a Dask client, or by threads. `spark` samples
and fills Spark frames, `spark_stages` in pipelines.

Donors are filled as ``fit_transform`` fills them, all other rows from the donors. So where all rows
are donors, every cell is that of one machine, to the bit. Needs ``pip install greyfill[dask]``,
``greyfill[spark]`` or ``greyfill[duckdb]``; `scan` and `impute_dataset` need pyarrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from greyfill.checks import check_installed

if TYPE_CHECKING:
    from greyfill.distributed.dask_imputer import DaskImputer
    from greyfill.distributed.lazy_tables import fill_duckdb, scan
    from greyfill.distributed.parquet import impute_dataset
    from greyfill.distributed.spark import fill_spark, fit_spark

__all__ = [
    "DaskImputer",
    "fill_duckdb",
    "fill_spark",
    "fit_spark",
    "impute_dataset",
    "scan",
]

_NEEDS = {
    "DaskImputer": {"dask": "dask", "pandas": "dask"},
    "impute_dataset": {"pyarrow": "dask"},
    "scan": {"pyarrow": "dask"},
    "fill_duckdb": {"duckdb": "duckdb", "pyarrow": "duckdb"},
}
_HOME_OF = {
    "DaskImputer": "dask_imputer",
    "impute_dataset": "parquet",
    "scan": "lazy_tables",
    "fill_duckdb": "lazy_tables",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: nobody needs both Dask and Spark."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for package, extra in _NEEDS.get(name, {}).items():
        check_installed(package, name, f'"greyfill[{extra}]"')
    value = getattr(import_module(f"greyfill.distributed.{_HOME_OF.get(name, 'spark')}"), name)
    globals()[name] = value
    return value
