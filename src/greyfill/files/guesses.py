"""What was taken for granted about a file, how many cells it concerns, and how to undo it.

A reader makes a `Guess` for each column; `sentences` says the same guess about several columns in
one line. ``--strict`` makes none of them.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from greyfill.text import Note, clean, plural

MOST_NAMES = 6

_OPENINGS = {
    "missing": "Taken as missing: ",
    "sentinel": "Taken as missing: ",
    "dates": "Read as dates, ",
    "amounts": "Read as numbers, ",
    "labels": "Read as categories, ",
    "kept": "Kept as a value, though it may mean missing: ",
}


@dataclass(frozen=True)
class Guess:
    """One guess: its kind, what was found, in which column and how many cells, and what undoes it.

    A guess about the file as a whole has no column, and its detail is a sentence; ``names`` are the
    columns or sheets that it is about.
    """

    kind: str
    detail: str
    undo: str = ""
    column: str | None = None
    cells: int = 0
    names: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def sentences(guesses: Iterable[Guess]) -> list[Note]:
    """One line for each different guess, of its kind.

    >>> found = (("'NA'", "age", 3), ("'NA'", "dose", 1), ("'?'", "sex", 2))
    >>> sentences(Guess("missing", word, "Else --strict.", c, n) for word, c, n in found)
    ["Taken as missing: 'NA' in 'age' (3), 'dose' (1); '?' in 'sex' (2). Else --strict."]
    """
    alike: dict[tuple[str, str, str], dict[str, list[Guess]]] = {}
    for guess in guesses:
        whole = guess.detail if guess.column is None else ""
        details = alike.setdefault((guess.kind, whole, guess.undo), {})
        details.setdefault(guess.detail, []).append(guess)
    return [Note(_sentence(*key, details), key[0]) for key, details in alike.items()]


def _sentence(kind: str, whole: str, undo: str, details: dict[str, list[Guess]]) -> str:
    end = f" {undo}" if undo else ""
    if whole:
        return whole + end
    places = [f"{detail} in {_places(found)}" for detail, found in details.items()]
    return f"{_OPENINGS[kind]}{'; '.join(places)}.{end}"


def _places(found: list[Guess]) -> str:
    columns = ", ".join(f"'{clean(g.column, 40)}' ({g.cells:,})" for g in found[:MOST_NAMES])
    rest = found[MOST_NAMES:]
    if rest:
        columns += f" and {plural(len(rest), 'more column')} ({sum(g.cells for g in rest):,})"
    return columns
