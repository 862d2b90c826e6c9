"""Notes about the columns of a table: what is left alone, what is empty, what may not apply."""

import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from greyfill.exceptions import EmptyColumnWarning, IdentifierWarning
from greyfill.exclusion import find_blocks
from greyfill.table import Bools
from greyfill.text import Note, plural

MOST_NAMES = 9


@dataclass(frozen=True)
class Words:
    """How the parameters are called where the user is: in Python, or in the command."""

    fill: str = "fill=[…]"
    not_applicable: str = "not_applicable=[…]"
    level: str = "not_applicable={…}"
    bounds: str = "bounds"
    ignore: str = "ignore=[…]"


def notes_on_columns(
    missing: Bools,
    names: tuple[str, ...],
    left_alone: Mapping[str, str],
    known: Collection[str],
    words: Words,
) -> Iterator[Note]:
    """What is left alone and why, what is empty, and columns that may not apply to some rows."""
    if left_alone:
        reasons = [f"{name!r} ({why})" for name, why in left_alone.items()]
        more = f" and {len(reasons) - MOST_NAMES} more" if len(reasons) > MOST_NAMES else ""
        yield Note(
            f"Left alone, neither filled nor used: {'; '.join(reasons[:MOST_NAMES])}{more}. "
            f"To have one filled all the same: {words.fill}.",
            "left alone",
        )
    for j in np.flatnonzero(missing.all(axis=0)).tolist():
        yield Note(
            f"Column {names[j]!r} has no observed value, so it stays empty. Drop it, or ignore it "
            f"({words.ignore}).",
            "empty",
        )
    for block in find_blocks(missing):
        inside = [names[j] for j in block if names[j] not in known]
        if len(inside) < 2:
            continue
        shown = ", ".join(map(repr, inside[:MOST_NAMES])) + (", …" * (len(inside) > MOST_NAMES))
        rows = int(missing[:, block].all(axis=1).sum())
        yield Note(
            f"{plural(rows, 'row')} lack these {len(inside)} columns together: {shown}. Do they "
            f"not apply to these rows? {words.not_applicable} keeps these cells empty, "
            f"{words.level} gives them a level of their own.",
            "lacked together",
        )


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the warnings for the user; what has notes of its own is left out."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    for warning in caught:
        text, category = str(warning.message), warning.category
        is_noted = issubclass(category, EmptyColumnWarning | IdentifierWarning)
        if issubclass(category, UserWarning) and not is_noted and text not in messages:
            messages.append(text)


_PARAMETERS = {
    r"--categorical (COLUMN|'[^']*')(, or --strict)?": r"categorical_features=[\1]",
    r"--na-values ('[^']*'|[^ ,;)]+)": r"missing_values=[\1]",
    r"--na-values": "missing_values",
    r"--numeric (COLUMN|'[^']*')": r"numeric_columns=[\1]",
    r"--ignore COLUMN": "ignore=[COLUMN]",
    r"--date-order (\w+)": r'date_order="\1"',
    r"--no-header": "header=False",
    r"--(header|ragged|strict)": r"\1=True",
    r"--([a-z]+) NAME": r"\1=NAME",
    r"--([a-z]+)\b": r"\1=",
}
"""What flags are called in Python."""


def in_python(note: str) -> str:
    """A note about a file as a reader of Python needs it: parameters instead of flags.

    >>> in_python("If it is a value there: --categorical COLUMN, or --strict.")
    'If it is a value there: categorical_features=[COLUMN].'
    >>> in_python("If it means missing, say so: --na-values '-'.")
    "If it means missing, say so: missing_values=['-']."
    >>> in_python("Name the right one, --encoding NAME, or repair the file.")
    'Name the right one, encoding=NAME, or repair the file.'
    """
    for flag, parameter in _PARAMETERS.items():
        note = re.sub(flag, parameter, note)
    return note
