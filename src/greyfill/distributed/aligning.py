"""Partitions of pandas frames with the same columns and dtypes, without a change of any cell."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from greyfill.exceptions import InvalidDataError

COMPARED = 65_536
"""So many cells are compared at a time: as Python objects they are large."""

Dtypes = dict[Any, Any]
"""The dtype of each column by its name."""


def with_columns(frame: Any, names: Sequence[Any], number: int) -> Any:
    """A partition with its columns in the order of the frame; refuse others than those."""
    found, wanted = list(frame.columns), list(names)
    if found == wanted:
        return frame
    lacking = [name for name in wanted if name not in found]
    others = [name for name in found if name not in wanted]
    if lacking or others or len(found) != len(wanted):
        raise InvalidDataError(
            f"Partition {number} has the columns {found}, but the frame has {wanted}. Give every "
            "partition the columns of the frame: rename, add or drop them where it is made."
        )
    return frame[wanted]


def common_dtypes(meta: Any, parts: dict[int, Dtypes]) -> Dtypes:
    """One dtype for each column that the partitions of these numbers, and the frame, agree on."""
    return {
        name: _common_dtype(name, dtype, {n: p[name] for n, p in parts.items() if name in p})
        for name, dtype in meta.dtypes.items()
    }


def _common_dtype(name: Any, promised: Any, found: dict[int, Any]) -> Any:
    """The dtype that all partitions can have, and if possible the frame that promised one."""
    both = _joined([promised, *found.values()])
    wanted = _joined(list(found.values())) if both is None else both
    if wanted is not None:
        return wanted
    first, dtype = next(iter(found.items()))
    other = next(n for n, each in found.items() if _joined([dtype, each]) is None)
    raise InvalidDataError(
        f"Column {name!r} has dtype {dtype} in partition {first} and {found[other]} in partition "
        f"{other}, and no common dtype holds the cells of both. {_remedy(name, dtype)}"
    )


def _joined(dtypes: list[Any]) -> Any:
    """What pandas makes of columns of these dtypes; None where it could only box their cells."""
    import pandas as pd

    different = list(dict.fromkeys(dtypes))
    is_category = {isinstance(dtype, pd.CategoricalDtype) for dtype in different}
    if len(different) == 1 or True in is_category:
        return different[0] if len(is_category) == 1 else None
    joined = pd.concat([pd.Series([], dtype=dtype) for dtype in different]).dtype
    boxes = np.dtype(object)
    return None if joined == boxes and boxes not in different else joined


def aligned(frame: Any, dtypes: Dtypes, number: int) -> Any:
    """A partition with these columns and dtypes, each cell as it was; refuse where that fails."""
    if len(frame) == 0:
        return frame
    frame = with_columns(frame, list(dtypes), number)
    changed = {}
    for name, dtype in dtypes.items():
        column = frame[name]
        if not _is_alike(column.dtype, dtype):
            changed[name] = _cast(column, dtype, number)
    return retyped(frame, changed)


def retyped(frame: Any, columns: dict[Any, Any]) -> Any:
    """The same frame with some columns exchanged, by name."""
    result = frame.copy(deep=False)
    for name, column in columns.items():
        result[name] = column
    return result


def described(meta: Any, dtypes: Dtypes) -> Any:
    """An empty frame with the columns of another and these dtypes."""
    import pandas as pd

    return retyped(meta, {name: pd.Series([], dtype=dtype) for name, dtype in dtypes.items()})


def _is_alike(dtype: Any, wanted: Any) -> bool:
    """Whether nothing is to be done; the categories of a partition are its own."""
    return bool(dtype == wanted) or str(dtype) == str(wanted) == "category"


def _cast(column: Any, dtype: Any, number: int) -> Any:
    """A column in another dtype; one without a value stays as it is where that holds no hole."""
    is_empty = bool(column.isna().all())
    cast = None
    if is_empty or str(dtype) != "category":  # which would drop what it does not declare
        with suppress(ValueError, TypeError, ArithmeticError), np.errstate(all="ignore"):
            cast = column.astype(dtype)
    if cast is not None and _has_same_cells(column, cast):
        return cast
    if is_empty:
        return column
    raise InvalidDataError(
        f"Column {column.name!r} has dtype {column.dtype} in partition {number} and {dtype} in the "
        f"frame, which cannot hold all of its cells. {_remedy(column.name, column.dtype)}"
    )


def _has_same_cells(one: Any, other: Any) -> bool:
    """Whether all cells are equal as Python objects: whole numbers and floats compare exactly."""
    known = one.notna().to_numpy()
    is_truth = {_is_truth(one), _is_truth(other)}
    if {True, False} <= is_truth or (known != other.notna().to_numpy()).any():
        return False
    places = np.flatnonzero(known)
    return all(
        one.iloc[some].tolist() == other.iloc[some].tolist()
        for start in range(0, len(places), COMPARED)
        for some in [places[start : start + COMPARED]]
    )


def _is_truth(column: Any) -> bool | None:
    """Whether a dtype holds truths; objects may be anything."""
    from pandas.api.types import is_bool_dtype

    return None if column.dtype == object else bool(is_bool_dtype(column.dtype))


def _remedy(name: Any, dtype: Any) -> str:
    return (
        "Convert it in every partition to one dtype that holds all of its cells, for example "
        f"frame.astype({{{name!r}: {str(dtype)!r}}}), or 'object' where no other does."
    )
