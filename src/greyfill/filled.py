"""A table, filled: what is left alone is told from what is filled, and all of it is told.

`OpenedFill` reads a table once and finds what to leave alone; its ``run`` gives a `Filled`.
"""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import narwhals as nw
import numpy as np

from greyfill import frames
from greyfill.exceptions import EmptyColumnWarning, IdentifierWarning, InvalidParameterError
from greyfill.exclusion import find_blocks
from greyfill.table import Bools
from greyfill.text import plural

MOST_NAMES = 9


@dataclass(frozen=True)
class Words:
    """How the parameters are called where the user is: in Python, or in the command."""

    fill: str = "fill=[…]"
    not_applicable: str = "not_applicable=[…]"
    level: str = "not_applicable={…}"


@dataclass(frozen=True, eq=False)
class Filled:
    """A filled table, the imputer that filled it, and what a reader of it should know."""

    table: Any
    imputer: Any
    left_alone: Mapping[str, str]
    notes: tuple[str, ...]
    seconds: float


class OpenedFill:
    """A table that was encoded, and an imputer that is about to learn from it.

    ``insisted`` are columns that are filled whatever they look like, ``kept_empty`` those whose
    holes do not apply: other columns may be filled by them, but their holes stay.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        imputer: Any,
        *,
        insisted: Collection[str] = (),
        kept_empty: Collection[str] = (),
        words: Words | None = None,
    ) -> None:
        self._X, self._y, self._imputer = X, y, imputer
        self._kept_empty, self._words, self._started = kept_empty, words or Words(), perf_counter()
        with collected_warnings() as self._messages:
            self._opened = imputer._open_training(X)
        table, origin = self._opened
        found = frames.find_excluded(table, origin.schema)
        self.left_alone = {name: why for name, why in found.items() if name not in insisted}
        self.schema = origin.schema.without(np.isin(origin.schema.names, list(self.left_alone)))
        imputer.leave_alone = list(self.left_alone) or None

    def notes(self) -> list[str]:
        """What is left alone and why, and the cells that may not apply."""
        names, known = self.schema.names, {*self.left_alone, *self._kept_empty}
        missing: Bools = self._opened[0].missing
        return list(notes_on_columns(missing, names, self.left_alone, known, self._words))

    def run(self, progress: Callable[..., None] | None = None) -> Filled:
        """Fit the imputer and fill the rows that it learns from."""
        empty = np.isin(self.schema.names, list(self._kept_empty))
        with collected_warnings() as messages, self._imputer._reporting_to(progress):
            table = self._imputer._fit_opened(self._X, self._y, self._opened, empty)
        told = dict.fromkeys((*self.notes(), *self._messages, *messages))
        seconds = perf_counter() - self._started
        return Filled(table, self._imputer, self.left_alone, tuple(told), seconds)


def with_levels(frame: Any, levels: Mapping[str, str], parameter: str) -> Any:
    """A frame in which the holes of some columns of text have a level of their own."""
    if not levels:
        return frame
    table = nw.from_native(frame, eager_only=True)
    for name, level in levels.items():
        if table[name].dtype not in (nw.String, nw.Categorical, nw.Object):
            raise InvalidParameterError(
                f"{parameter}: column {name!r} holds {table[name].dtype}, so {level!r} cannot be a "
                "level of it. Leave the level away to keep the cells empty."
            )
        text = table[name].cast(nw.String)
        table = table.with_columns(text.fill_null(level).alias(name))
    return table.to_native()


def notes_on_columns(
    missing: Bools,
    names: tuple[str, ...],
    left_alone: Mapping[str, str],
    known: Collection[str],
    words: Words,
) -> Iterator[str]:
    """What is left alone and why, and columns that may not apply to rows which lack all of them."""
    if left_alone:
        reasons = [f"{name!r} ({why})" for name, why in left_alone.items()]
        more = f" and {len(reasons) - MOST_NAMES} more" if len(reasons) > MOST_NAMES else ""
        yield (
            f"Left alone, neither filled nor used: {'; '.join(reasons[:MOST_NAMES])}{more}. "
            f"To have one filled all the same: {words.fill}."
        )
    for block in find_blocks(missing):
        inside = [names[j] for j in block if names[j] not in known]
        if len(inside) < 2:
            continue
        shown = ", ".join(map(repr, inside[:MOST_NAMES])) + (", …" * (len(inside) > MOST_NAMES))
        rows = int(missing[:, block].all(axis=1).sum())
        yield (
            f"{plural(rows, 'row')} lack these {len(inside)} columns together: {shown}. Do they "
            f"not apply to these rows? {words.not_applicable} keeps their holes empty, "
            f"{words.level} gives them a level of their own."
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
