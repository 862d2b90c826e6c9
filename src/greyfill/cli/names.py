"""Names of files and columns: what an output is called, and what was probably meant."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

STREAM = "-"
MOST_NAMES = 12


def beside(name: str, word: str, extension: str | None = None) -> str:
    """The name of a file beside another one; the standard stream has no beside.

    >>> beside("data/votes.csv.gz", "filled"), beside("votes.csv", "report", ".html")
    ('data/votes.filled.csv.gz', 'votes.report.html')
    >>> beside("-", "filled"), beside("votes", "filled")
    ('-', 'votes-filled')
    """
    if name == STREAM:
        return STREAM
    path, outer = Path(name), ""
    if not path.name:
        return name
    if path.suffix.lower() in _OUTER:
        path, outer = path.with_suffix(""), path.suffix
    inner = path.suffix if path.suffix.lower() in _INNER else ""
    ending = inner + outer if extension is None else extension
    if not ending:  # a dot would make the word an extension, and an unknown one
        return os.fspath(path.with_name(f"{path.name}-{word}"))
    return os.fspath(path.with_name(f"{path.name.removesuffix(inner)}.{word}{ending}"))


_OUTER = frozenset({".gz", ".zst", ".zstd"})
_INNER = frozenset(
    {".csv", ".tsv", ".tab", ".psv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc"}
    | {".jsonl", ".ndjson", ".xlsx"}
)


def did_you_mean(
    word: str, known: Iterable[str], what: str = "It has", most: int = MOST_NAMES
) -> str:
    """A guess at what was meant, and what there is.

    >>> did_you_mean("clas", ["age", "class"])
    "Did you mean 'class'? It has 'age', 'class'."
    >>> did_you_mean("x", ["age"])
    "It has 'age'."
    """
    names = list(known)
    folded = {name.casefold(): name for name in reversed(names)}
    near = get_close_matches(word.casefold(), list(folded), n=3, cutoff=0.6)
    guess = " or ".join(repr(folded[name]) for name in near)
    shown = ", ".join(map(repr, names[:most]))
    end = ", …" if len(names) > most else "."
    return (f"Did you mean {guess}? " if guess else "") + f"{what} {shown}{end}"


def called(name: str) -> str:
    """How messages call a file that is read."""
    return "standard input" if name == STREAM else name


def shown(name: str) -> str:
    """How messages call a file that is written."""
    return "standard output" if name == STREAM else name
