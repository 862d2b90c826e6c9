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

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.table import Floats, Ints

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
    codes, classes = frames.encode_labels(y)
    meaning = meaning_of(classes, int((codes >= 0).sum()), needs_classes=needs_classes)
    if meaning is Meaning.RESPONSE and frames.are_categories(y):
        meaning = Meaning.CLASSES
    return Target(codes, classes, meaning)


def meaning_of(classes: tuple[Any, ...], n_labels: int, *, needs_classes: bool = False) -> Meaning:
    """What so many labels are that have these values, none of which was declared a category.

    >>> meaning_of((0.0, 1.0), 2), meaning_of(("a", 0.5), 2), meaning_of((), 0)
    (<Meaning.CLASSES: 'classes'>, <Meaning.CLASSES: 'classes'>, <Meaning.NONE: 'none'>)
    """
    if not classes:
        return Meaning.NONE
    values = frames.class_array(classes)
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
