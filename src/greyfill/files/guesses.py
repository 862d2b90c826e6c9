"""What was taken for granted about a file, how many cells it concerns, and how to undo it.

A reader makes a `Guess` for each column; `sentences` says the same guess about several columns in
one line. ``--strict`` makes none of them.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from greyfill.text import clean, plural

MOST_NAMES = 6

_OPENINGS = {
    "missing": "Taken as missing: ",
    "sentinel": "Taken as missing: ",
    "dates": "Read as dates, ",
    "amounts": "Read as numbers, ",
    "labels": "Read as categories, ",
}


@dataclass(frozen=True)
class Guess:
    """One guess: its kind, what was found, in which column and how many cells, and what undoes it.

    A guess about the file as a whole has no column, and its detail is a sentence.
    """

    kind: str
    detail: str
    undo: str = ""
    column: str | None = None
    cells: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def sentences(guesses: Iterable[Guess]) -> list[str]:
    """One line for each different guess.

    >>> undo = "If it is a value: --categorical COLUMN."
    >>> sentences([Guess("missing", "'NA'", undo, c, n) for c, n in (("age", 3), ("dose", 1))])
    ["Taken as missing: 'NA' in 'age' (3), 'dose' (1). If it is a value: --categorical COLUMN."]
    """
    alike: dict[tuple[str, str, str], list[Guess]] = {}
    for guess in guesses:
        alike.setdefault((guess.kind, guess.detail, guess.undo), []).append(guess)
    return [_sentence(*key, found) for key, found in alike.items()]


def _sentence(kind: str, detail: str, undo: str, found: list[Guess]) -> str:
    end = f" {undo}" if undo else ""
    if found[0].column is None:
        return detail + end
    columns = ", ".join(f"'{clean(g.column, 40)}' ({g.cells:,})" for g in found[:MOST_NAMES])
    if len(found) > MOST_NAMES:
        rest = found[MOST_NAMES:]
        columns += f" and {plural(len(rest), 'more column')} ({sum(g.cells for g in rest):,})"
    return f"{_OPENINGS[kind]}{detail} in {columns}.{end}"
