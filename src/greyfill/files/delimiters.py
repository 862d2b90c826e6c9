"""Which character stands between the cells."""

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.files.tokens import QUOTE, Tokens, tokenize

CANDIDATES = (",", ";", "\t", "|")
SAMPLE = 1 << 16
"""So many bytes from the start are looked at."""


def find_delimiter(body: bytes, given: str | None = None) -> str:
    r"""The given delimiter, or the candidate that cuts the first lines into equally many cells.

    A candidate that cuts the header wins over one that does not; a text that none cuts has one
    column.

    >>> find_delimiter(b"a;b\n1,5;2\n"), find_delimiter(b"a\tb\n"), find_delimiter(b"a\n1\n")
    (';', '\t', ',')
    """
    if given is not None:
        return _checked(given)
    sample = body[:SAMPLE]
    scores = [_score(tokenize(sample, c), len(body) > SAMPLE) for c in CANDIDATES]
    return CANDIDATES[scores.index(max(scores))]


def _checked(given: str) -> str:
    given = {"\\t": "\t", "tab": "\t"}.get(given, given)  # as one writes it in a shell
    if len(given) == 1 and given.isascii() and given not in '"\r\n\0' and not given.isalnum():
        return given
    raise InvalidParameterError(
        f"The delimiter must be one character such as , ; | or a tab, not {given!r}."
    )


def _score(tokens: Tokens, is_cut: bool) -> tuple[bool, float, int]:
    """Whether the header is cut, the share of lines with as many cells, and how many they are."""
    firsts = tokens.firsts[:-1] if is_cut and len(tokens.firsts) > 2 else tokens.firsts
    counts = np.diff(firsts)
    is_blank = (counts == 1) & (tokens.starts[firsts[:-1]] == tokens.ends[firsts[:-1]])
    counts = counts[~is_blank]
    if not len(counts):
        return False, 0.0, 0
    width = int(counts[0])
    return width > 1, float((counts == width).mean()), width


def quoted_if_needed(text: str, delimiter: str, *, always: bool = False) -> str:
    """One cell as CSV writes it: in quotes if it could not be read back without.

    >>> quoted_if_needed("x, y", ","), quoted_if_needed("x, y", ";")
    ('"x, y"', 'x, y')
    """
    if always or any(c in text for c in (delimiter, chr(QUOTE), "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text
