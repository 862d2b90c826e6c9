"""Make holes in a table of any library."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

from greyfill import frames
from greyfill.checks import check_choice
from greyfill.exceptions import InvalidParameterError
from greyfill.frames import open_table
from greyfill.frames.columns import backend_of
from greyfill.frames.schema import Array
from greyfill.missingness import mar, mcar, nmar
from greyfill.table import Bools

Mechanism = Literal["mcar", "mar", "nmar"]
MECHANISMS: dict[str, Callable[..., Bools]] = {"mcar": mcar, "mar": mar, "nmar": nmar}


def ampute(
    X: Any,
    *,
    rate: float = 0.2,
    mechanism: Mechanism = "mcar",
    columns: Sequence[str | int] | None = None,
    predictors: Sequence[str | int] | None = None,
    strength: float = 1.0,
    exact: bool = True,
    keep_one: bool = True,
    random_state: int | np.random.Generator | None = None,
    categorical_features: Any = "auto",
    ordinal_features: Any = None,
    missing_values: Any = None,
) -> tuple[Any, Bools]:
    """Hide cells of a table, and return which.

    Parameters
    ----------
    X
        A numpy array, a list of rows, or a frame of pandas, polars or pyarrow. It is not changed.
    rate
        Share of the observed cells of each chosen column to hide, in [0, 1).
    mechanism
        "mcar": at random (4). "mar": by cells that stay observed (5). "nmar": by the cell's own
        value (6).
    columns
        Names or positions of the columns that get holes; all by default.
    predictors
        For "mar": names or positions of the columns that decide and get no holes.
    strength
        For "mar" and "nmar": how strongly the values decide; 0 is "mcar".
    exact
        Hide exactly round(rate · observed cells) in each column, else that many in expectation.
    keep_one
        Leave each row and each column at least one observed cell.
    random_state
        Seed or generator.
    categorical_features, ordinal_features, missing_values
        As in the imputers. Cells that are missing already are never chosen.

    Returns
    -------
    X_with_holes
        The same library. Dtypes stay, except where they have no hole: integers of numpy and of
        pandas' numpy columns become float64, their booleans objects; text arrays of numpy too.
    mask
        Array of bool, true for the cells that were hidden: those with a known truth.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", None, "m"]})
    >>> holes, mask = ampute(frame, rate=0.25, columns=["age"], random_state=0)
    >>> holes["age"].null_count(), mask.sum(axis=0)
    (1, array([1, 0]))
    """
    table, _ = frames.encode(
        X,
        categorical_features=categorical_features,
        ordinal_features=ordinal_features,
        missing_values=missing_values,
    )
    check_choice("mechanism", mechanism, tuple(MECHANISMS))
    if predictors is not None and mechanism != "mar":
        raise InvalidParameterError(f"predictors have no meaning for mechanism={mechanism!r}")
    options: dict[str, Any] = {"exact": exact, "keep_one": keep_one, "random_state": random_state}
    if mechanism != "mcar":
        options["strength"] = strength
    if mechanism == "mar":
        options["predictors"] = predictors
    mask = MECHANISMS[mechanism](table, rate, columns, **options)
    return blank(X, mask), mask


def blank(X: Any, mask: Bools) -> Any:
    """The same table, with holes where ``mask`` is true.

    >>> import polars as pl
    >>> blank(pl.DataFrame({"age": [30, 40]}), np.array([[True], [False]]))["age"].to_list()
    [None, 40]
    """
    table = open_table(X)
    if not isinstance(table, nw.DataFrame):
        return _blank_array(table, mask)
    changed = {
        j: _WRITERS[table.implementation](table[:, j].to_native(), mask[:, j])
        for j in np.flatnonzero(mask.any(axis=0)).tolist()
    }
    return backend_of(table).replace(table.to_native(), changed)


def _blank_array(array: Array, mask: Bools) -> Array:
    """Integers become float64; booleans and text become objects, for None."""
    kind = array.dtype.kind
    if kind in "fmM":
        result = array.copy()
        result[mask] = np.array("NaT", array.dtype) if kind in "mM" else np.nan
    elif kind in "iu":
        result = np.where(mask, np.nan, array)
    else:
        result = array.astype(object)
        result[mask] = None
    return result


def _blank_polars(series: Any, mask: Bools) -> Any:
    import polars as pl

    places = pl.Series(np.arange(len(mask), dtype=np.uint32))
    return series.gather(places.zip_with(pl.Series(~mask), pl.Series([None], dtype=pl.UInt32)))


def _blank_arrow(series: Any, mask: Bools) -> Any:
    import pyarrow as pa

    return series.take(pa.array(np.arange(len(mask)), mask=mask))


_WRITERS: dict[nw.Implementation, Callable[[Any, Bools], Any]] = {
    nw.Implementation.PANDAS: lambda series, mask: series.where(~mask),
    nw.Implementation.POLARS: _blank_polars,
    nw.Implementation.PYARROW: _blank_arrow,
}
