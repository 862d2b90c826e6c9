"""Columns of pyarrow tables, written back in their own type."""

from typing import Any

import numpy as np
import pyarrow as pa

from greyfill.frames.schema import Array, Family
from greyfill.table import Bools, Ints


def plain(series: Any) -> Array | None:
    """Never: narwhals reads every type of arrow."""
    return None


def columns(frame: Any) -> list[Any]:
    return list(frame.columns)


def family(series: Any) -> Family | None:
    """Never, as above."""
    return None


def matrix(frame: Any) -> Array | None:
    """Never: arrow keeps each column for itself."""
    return None


def zone(series: Any) -> str | None:
    return getattr(series.type, "tz", None)


def categories(series: Any) -> tuple[Ints, tuple[Any, ...], bool]:
    if not pa.types.is_dictionary(series.type):
        series = _takeable(series).dictionary_encode()
    array = _one_chunk(series)
    codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes.astype(np.intp), tuple(array.dictionary.to_pylist()), bool(array.type.ordered)


def patch(series: Any, missing: Bools, values: Array) -> Any:
    if pa.types.is_dictionary(series.type):
        return _patch_dictionary(_one_chunk(series), missing, values)
    if _is_view(series.type):
        return _texts(patch(_takeable(series), missing, values), series.type)
    fills = _column(values, series.type)
    return pa.chunked_array([_taken(_one_chunk(series), fills, missing)])


def build(values: Array) -> Any:
    return pa.chunked_array([pa.array(values)])


def replace(frame: Any, columns: dict[int, Any]) -> Any:
    for position, column in columns.items():
        field = frame.schema.field(position).with_type(column.type)
        frame = frame.set_column(position, field, column)
    return frame


def keep(frame: Any, kept: Bools) -> Any:
    return frame.select(np.flatnonzero(kept).tolist())


def append(frame: Any, columns: dict[str, Bools]) -> Any:
    for name, mask in columns.items():
        frame = frame.append_column(name, pa.array(mask))
    return frame


def from_array(array: Array, names: tuple[str, ...]) -> Any:
    columns = [pa.array(np.ascontiguousarray(array[:, j])) for j in range(array.shape[1])]
    return pa.table(columns, names=list(names))


def _one_chunk(series: Any) -> Any:
    if pa.types.is_dictionary(series.type):
        chunks = [_without_nulls(chunk) for chunk in series.chunks]
        series = pa.chunked_array(chunks, type=series.type).unify_dictionaries()
    array = series.combine_chunks()
    return array.chunk(0) if isinstance(array, pa.ChunkedArray) else array


def _without_nulls(chunk: Any) -> Any:
    """The same cells; those that point at a null or NaN of the dictionary are null themselves."""
    nulls = chunk.dictionary.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if not nulls.any():
        return chunk
    kept = [
        level for level, null in zip(chunk.dictionary.to_pylist(), nulls, strict=True) if not null
    ]
    places = pa.array(np.cumsum(~nulls) - 1, mask=nulls).cast(chunk.type.index_type)
    return pa.DictionaryArray.from_arrays(
        places.take(chunk.indices),
        pa.array(kept, type=chunk.type.value_type),
        ordered=chunk.type.ordered,
    )


def _is_view(arrow_type: Any) -> bool:
    return bool(getattr(pa.types, "is_string_view", lambda _: False)(arrow_type))


def _takeable(series: Any) -> Any:
    """The same texts in a type whose cells can be taken and encoded: views cannot yet."""
    return _texts(series, pa.string()) if _is_view(series.type) else series


def _texts(series: Any, arrow_type: Any) -> Any:
    """The same texts in another type, by way of Python: old versions cannot cast views."""
    return pa.chunked_array([pa.array(series.to_pylist(), type=arrow_type)])


def _column(values: Array, arrow_type: Any) -> Any:
    """An array of a type from numpy; moments are ticks of their own unit, in UTC."""
    if pa.types.is_timestamp(arrow_type) or pa.types.is_duration(arrow_type):
        return pa.array(values.view(np.int64)).cast(arrow_type)
    if pa.types.is_decimal(arrow_type):
        return pa.array(values).cast(arrow_type)
    return pa.array(values, type=arrow_type)


def _taken(array: Any, fills: Any, missing: Bools) -> Any:
    """Append the fills, then take each cell from its place; this works for every type."""
    n_rows = len(array)
    places = np.where(missing, n_rows + np.cumsum(missing) - 1, np.arange(n_rows))
    return pa.concat_arrays([array, fills]).take(pa.array(places))


def _patch_dictionary(array: Any, missing: Bools, values: Array) -> Any:
    levels = array.dictionary.to_pylist()
    levels += [value for value in dict.fromkeys(values.tolist()) if value not in set(levels)]
    codes = {level: code for code, level in enumerate(levels)}
    index_type = array.type.index_type
    fills = pa.array([codes[value] for value in values.tolist()], type=index_type)
    indices = _taken(array.indices, fills, missing)
    dictionary = pa.array(levels, type=array.type.value_type)
    patched = pa.DictionaryArray.from_arrays(indices, dictionary, ordered=array.type.ordered)
    return pa.chunked_array([patched])
