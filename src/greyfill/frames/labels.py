"""The class labels of the rows."""

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.exceptions import DataConversionWarning

from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import Array, sorted_levels
from greyfill.frames.objects import null_cells
from greyfill.table import Bools, Ints


def labels_to_array(y: Any) -> tuple[Array, Bools]:
    """Labels from any library as a 1-D array, and the mask of those that are missing.

    >>> labels, missing = labels_to_array(["yes", None, "no"])
    >>> missing
    array([False,  True, False])
    """
    labels = _one_column(y)
    if labels.dtype.kind in "fMm":
        missing = np.isnan(labels)
    elif labels.dtype.kind in "OT":
        missing = null_cells(labels)
    else:
        missing = np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind == "f":
        _refuse_infinity(labels)
    return labels, missing


def encode_labels(y: Any) -> tuple[Ints, tuple[Any, ...]]:
    """The class of each row as a code, −1 where the label is missing, and the sorted classes.

    >>> encode_labels(["yes", None, "no", "yes"])
    (array([ 1, -1,  0,  1]), ('no', 'yes'))
    """
    labels, missing = labels_to_array(y)
    observed = labels[~missing].tolist()
    classes = sorted_levels(dict.fromkeys(observed))
    lookup = {label: code for code, label in enumerate(classes)}
    codes = np.full(len(labels), -1, dtype=np.intp)
    codes[~missing] = np.fromiter(map(lookup.__getitem__, observed), np.intp, len(observed))
    return codes, classes


def _one_column(y: Any) -> Array:
    """The labels as a 1-D array; a single column passes with scikit-learn's warning."""
    native = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(native, nw.Series):
        return np.asarray(native.to_numpy())
    if isinstance(native, nw.DataFrame):
        columns = [series.to_numpy() for series in native.iter_columns()]
        return _raveled(np.column_stack(columns))
    array = np.asarray(y)
    if array.dtype.kind == "U" and not isinstance(y, np.ndarray):
        array = np.array(y, dtype=object)  # numpy would turn numbers beside texts into texts
    return array if array.ndim == 1 else _raveled(array)


def _raveled(array: Array) -> Array:
    if array.ndim != 2 or array.shape[1] != 1:
        raise InvalidDataError(
            f"y should be a 1d array, got an array of shape {array.shape} instead."
        )
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape "
        "of y to (n_samples, ), for example using ravel().",
        DataConversionWarning,
        stacklevel=2,
    )
    return array.ravel()


def _refuse_infinity(labels: Array) -> None:
    if np.isinf(labels).any():
        row = int(np.isinf(labels).argmax())
        raise InvalidDataError(f"Input y contains infinity: row {row}. Labels must be finite.")
