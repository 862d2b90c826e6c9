"""What y is: classes, a response, or neither. Every reader of y follows this one rule.

```
classes    texts, truth values, moments, whatever is declared as a category;
           whole numbers that are not scattered
response   numbers with a fraction, or too large to count with; scattered whole numbers,
           which are more than 20 different ones with fewer than 10 rows each on average
none       not one label is known
```

Scattered whole numbers could be either, such as ages or the numbers of people. What has a use for
classes only (a classifier, a class-wise imputer, cross-validation) takes them as classes: it reads
with ``needs_classes``.
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.checks import own_errors
from greyfill.exceptions import InvalidDataError, TargetColumnWarning
from greyfill.frames.columns import read_column, read_series
from greyfill.frames.decoder import MOMENTS, boxed_array
from greyfill.frames.schema import Array, sorted_levels
from greyfill.frames.validation import read_or_refuse, refusing
from greyfill.table import Bools, Floats, Ints

UNREADABLE = "y cannot be read", "Pass one label for each row: a series, an array or a list."


@refusing(*UNREADABLE)
def labels_to_array(y: Any) -> tuple[Array, Bools]:
    """Labels from any library as a 1-D array, and the mask of those that are missing.

    >>> labels, missing = labels_to_array(["yes", None, "no"])
    >>> missing
    array([False,  True, False])
    """
    column = _one_column(y)
    read = read_series if isinstance(column, nw.Series) else read_column
    cells = read_or_refuse(partial(read, name="y", sentinels=()), column, "y")
    values = cells.values
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise InvalidDataError(f"Input y contains infinity: row {row}. Labels must be finite.")
    if cells.declared is not None:
        levels = boxed_array(cells.declared)
        return levels[values] if len(levels) else np.full(len(values), None), cells.missing
    return np.asarray(column) if cells.family in MOMENTS else values, cells.missing


def _one_column(y: Any) -> Any:
    """The labels as a series or a 1-D array; a single column passes with a warning."""
    table = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(table, nw.Series):
        return table
    if isinstance(table, nw.DataFrame):
        _warn_of_column(table.shape)
        return table[:, 0]
    if np.isscalar(table) or isinstance(table, Mapping | nw.LazyFrame):
        given = repr(table) if np.isscalar(table) else f"a {type(table).__name__}"
        raise InvalidDataError(
            "y should be a 1d array of one label for each row, such as the column "
            f"frame['class'] itself, not {given}."
        )
    with own_errors():
        array = np.asarray(y)
    if array.dtype.kind == "U" and not isinstance(y, np.ndarray):
        array = np.array(y, dtype=object)  # numpy would turn numbers beside texts into texts
    if array.ndim != 1:
        _warn_of_column(array.shape)
    return array.ravel()


def _warn_of_column(shape: tuple[int, ...]) -> None:
    """Let a single column pass with the warning of scikit-learn."""
    if len(shape) != 2 or shape[1] != 1:
        raise InvalidDataError(
            f"y should be a 1d array, got an array of shape {shape} instead. To impute for a model "
            "of several outputs, take an imputer that leaves y alone: GreyImputer(labels='none'). "
            "To predict several, fit a model for each, as sklearn.multioutput does."
        )
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape "
        "of y to (n_samples, ), for example using ravel().",
        DataConversionWarning,
        stacklevel=2,
    )


@refusing(*UNREADABLE)
def encode_labels(y: Any) -> tuple[Ints, tuple[Any, ...]]:
    """The class of each row as a code, −1 where the label is missing, and the sorted classes.

    >>> encode_labels(["yes", None, "no", "yes"])
    (array([ 1, -1,  0,  1]), ('no', 'yes'))
    """
    labels, missing = labels_to_array(y)
    known = labels[~missing]
    observed = known.tolist()
    if known.dtype.kind in "Mm" and any(isinstance(label, int) for label in observed):
        observed = list(known)  # nanoseconds, of which Python has no dates
    classes = sorted_levels(dict.fromkeys(observed))
    lookup = {label: code for code, label in enumerate(classes)}
    codes = np.full(len(labels), -1, dtype=np.intp)
    codes[~missing] = np.fromiter(map(lookup.__getitem__, observed), np.intp, len(observed))
    return codes, classes


def are_categories(y: Any) -> bool:
    """Whether the labels are declared to be categories, whatever their values.

    >>> import polars as pl
    >>> are_categories(pl.Series(["1", "2"], dtype=pl.Categorical)), are_categories([1, 2])
    (True, False)
    """
    column = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(column, nw.DataFrame):
        column = column[:, 0]
    declared = isinstance(column, nw.Series) and column.dtype in (nw.Categorical, nw.Enum)
    return declared or hasattr(y, "categories")  # of pandas, where it is no series


def class_array(classes: tuple[Any, ...]) -> Array:
    """The classes as a 1-D array of the values themselves: no number becomes a text.

    >>> class_array((1, "a")), class_array(((1, 2), (3, 4))).shape
    (array([1, 'a'], dtype=object), (2,))
    """
    if len(set(map(type, classes))) == 1 and not isinstance(classes[0], Iterable):
        return np.asarray(classes)
    is_text = all(isinstance(label, str) for label in classes)
    return np.asarray(classes) if is_text else boxed_array(classes)


def warn_of_target(y: Any, names: tuple[str, ...]) -> None:
    """Warn when the target was left in the table: every row would then be told its answer."""
    table = nw.from_native(y, pass_through=True, allow_series=True)
    found = table.columns if isinstance(table, nw.DataFrame) else [getattr(table, "name", None)]
    for name in found:
        if isinstance(name, str) and name and name in names:
            warnings.warn(
                f"X has a column {name!r}, which is the name of y. If it is the target, drop it "
                f"from X: it would count as a feature, and rows without a label do not have it.",
                TargetColumnWarning,
                stacklevel=4,
            )


MOST_CLASSES = 20
"""More whole numbers than these are scattered where each has few rows."""

FEW_ROWS = 10
"""What few rows are, on average over the numbers."""

COUNTED = 2.0**63
"""Whole floats from here on are no counts, and so no names of classes."""


class Meaning(Enum):
    """What the labels of the rows stand for."""

    CLASSES = "classes"
    RESPONSE = "response"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of the rows: a code for each, −1 where it is missing, and the sorted classes."""

    codes: Ints
    classes: tuple[Any, ...]
    meaning: Meaning

    @property
    def response(self) -> Floats:
        """The labels as numbers, NaN where they are missing."""
        numbers = np.asarray(self.classes, dtype=np.float64)
        return np.where(self.codes >= 0, numbers[self.codes], np.nan)


def read_target(y: Any, *, needs_classes: bool = False) -> Target:
    """The labels of any library, and what they are.

    >>> read_target(["yes", None, "no"]).meaning, read_target([0.5, 1.5]).meaning
    (<Meaning.CLASSES: 'classes'>, <Meaning.RESPONSE: 'response'>)
    >>> ages = [*range(20, 60)] * 2
    >>> read_target(ages).meaning, read_target(ages, needs_classes=True).meaning
    (<Meaning.RESPONSE: 'response'>, <Meaning.CLASSES: 'classes'>)
    """
    codes, classes = encode_labels(y)
    meaning = meaning_of(classes, int((codes >= 0).sum()), needs_classes=needs_classes)
    if meaning is Meaning.RESPONSE and are_categories(y):
        meaning = Meaning.CLASSES
    return Target(codes, classes, meaning)


def meaning_of(classes: tuple[Any, ...], n_labels: int, *, needs_classes: bool = False) -> Meaning:
    """What so many labels are that have these values, none of which was declared a category.

    >>> meaning_of((0.0, 1.0), 2), meaning_of(("a", 0.5), 2), meaning_of((), 0)
    (<Meaning.CLASSES: 'classes'>, <Meaning.CLASSES: 'classes'>, <Meaning.NONE: 'none'>)
    """
    if not classes:
        return Meaning.NONE
    values = class_array(classes)
    if values.dtype.kind not in "fiu":
        return Meaning.CLASSES
    counted = values.dtype.kind != "f" or (
        (values == np.rint(values)).all() and np.abs(values).max() < COUNTED
    )
    scattered = len(classes) > MOST_CLASSES and n_labels < FEW_ROWS * len(classes)
    is_response = not counted or (scattered and not needs_classes)
    return Meaning.RESPONSE if is_response else Meaning.CLASSES


def labels_of(codes: Ints) -> Any:
    """Labels that every reader takes for these classes; a code of −1 is a missing label.

    They are the codes themselves, or texts in the same order where those would be scattered.

    >>> labels_of(np.array([0, 1, -1]))
    array([ 0.,  1., nan])
    """
    known = codes[codes >= 0]
    if meaning_of(tuple(np.unique(known).tolist()), len(known)) is not Meaning.RESPONSE:
        return np.where(codes < 0, np.nan, codes)
    texts = np.array([f"{code:09d}" for code in codes.tolist()], dtype=object)
    texts[codes < 0] = None
    return texts
