"""What should be left alone: identifiers, row numbers, free text, constants, and blocks of holes.

The one rule, for the texts (`text_reason`) and the numbers (`number_reason`) of a column, whatever
it comes from; `frames.find_excluded` applies it to an encoded table. A reason is a phrase for a
person; "" means that the column can be filled.

Texts. Of n observed cells, s hold a text that no other cell holds. By Good and Turing, a hole holds
a text that was never seen with a probability of about s/n. Above one half, any fill is more likely
wrong than right, whoever makes it.

Whole numbers. n numbers drawn from the R whole numbers of their range would have about
n(n − 1)/2R pairs of equal ones, and more where they crowd, as measurements do. If chance allows
so few less than once in 10 000 times, somebody made them differ: they count rows or cases. Where
the name says so (``patient_id``), nearly all different is enough.

Days written as one number, YYYYMMDD: what lies between two of them is mostly no day.

Below 20 observed cells all of this but the last may be chance, so no other rule speaks.
"""

import math
import re

import numpy as np

from greyfill.table import Bools, Floats
from greyfill.text import plural

FEWEST = 20
"""With fewer observed cells, different values in all of them may be chance."""

ONCE = 0.5
"""The share of texts that occur once above which a fill is more likely wrong than right."""

UNLIKELY = 1e-4
"""Chance of so few repetitions below which whole numbers are taken for made to differ."""

MOSTLY = 0.9
"""The share of different numbers in a column whose name is that of an identifier."""

SENTENCE = 4.0
"""Words of a text, on average, from which on it may be a remark and no category."""

NAMED = re.compile(
    r"^$|^unnamed|^(x|index|rownames?|row)$|^id[\W_]|(?:nr|nummer|num[eé]ro|número)$|"
    r"(?:^|[\W_])(?:id|ids|uid|uuid|no|nr|number|key|index|identif(?:ier|iant)|mrn|ssn|barcode)$",
    re.IGNORECASE,
)
"""Names of identifiers, in some languages; ``patientId`` and ``PatientID`` are split before."""

COUNTED = re.compile(r"year|jahr|date|time|rank|age\b", re.IGNORECASE)
"""Names of numbers that say something, though each occurs once: years, ages, ranks."""

CONSTANT = "it holds one value only"

CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
YEARS = (1500, 2200)
DAYS = (19000101, 21001231)
"""The first and the last day that is looked for among numbers, as YYYYMMDD."""
FEWEST_DAYS = 3
"""Of the numbers within DAYS one in 27 is a day, so three of three are `UNLIKELY` by chance."""

FEWEST_TOGETHER = 10
TOGETHER = 0.9
"""The share of rows that two columns lack together from which on they are of one block."""
MOST_COMPARED = 500
"""Columns with holes beyond which pairs of them are not compared."""


def text_reason(counts: dict[str, int], n_rows: int) -> str:
    """Why a column of texts cannot be filled, from how often each occurs; "" if it can.

    >>> text_reason({f"A{n}": 1 for n in range(40)}, 50)
    'an identifier: none of its 40 texts occurs twice'
    >>> text_reason({"yes": 400, "no": 90}, 500)
    ''
    """
    n_seen = sum(counts.values())
    if len(counts) == 1:
        return _constant(n_rows)
    if n_seen < FEWEST:
        return ""
    once = sum(n == 1 for n in counts.values())
    words = sum(len(text.split()) * n for text, n in counts.items()) / n_seen
    if words >= SENTENCE and (once > ONCE * n_seen or n_seen < n_rows / 2):
        return f"free text, {words:.0f} words on average"
    if len(counts) == n_seen:
        return f"an identifier: none of its {plural(n_seen, 'text')} occurs twice"
    if once > ONCE * n_seen:
        return f"{once:,} of its {plural(n_seen, 'text')} occur once, so a hole has one of its own"
    return ""


def number_reason(name: str, observed: Floats, n_rows: int) -> str:
    """Why a column of numbers cannot be filled; "" if it can.

    >>> number_reason("case_no", np.array([7.0 * n * n for n in range(30)]), 40)
    'an identifier: whole numbers, 30 of 30 different'
    >>> number_reason("count", np.arange(30.0), 40)
    'whole numbers that never repeat, as numbers of rows or cases do'
    >>> number_reason("admitted", np.array([20240229.0, 20231107.0, 20240115.0]), 4)
    'dates written as one number, which a fill is not; write them as 2024-02-29'
    >>> number_reason("income", np.array([7.0 * n * n for n in range(30)]), 40)
    ''
    """
    low, high = float(observed.min()), float(observed.max())
    if low == high:
        return _constant(n_rows)
    if DAYS[0] <= low and high <= DAYS[1] and _are_days(observed):
        return "dates written as one number, which a fill is not; write them as 2024-02-29"
    n_seen = len(observed)
    # A sample decides most columns: fractions, or numbers that repeat.
    if n_seen < FEWEST or not _may_identify(observed[:1000]) or not _may_identify(observed):
        return ""
    n_different = len(np.unique(observed))
    if NAMED.search(CAMEL.sub("_", name).strip()) and n_different >= MOSTLY * n_seen:
        return f"an identifier: whole numbers, {n_different:,} of {n_seen:,} different"
    if COUNTED.search(name) or (YEARS[0] <= low and high <= YEARS[1]):
        return ""
    expected = n_seen * (n_seen - 1) / (2 * (high - low + 1))
    never = _at_most(n_seen - n_different, expected) < UNLIKELY
    return "whole numbers that never repeat, as numbers of rows or cases do" if never else ""


def _constant(n_rows: int) -> str:
    return CONSTANT if n_rows >= FEWEST else ""


def _may_identify(observed: Floats) -> bool:
    """Whether numbers are whole and most of them different."""
    is_whole = bool((observed == np.rint(observed)).all())
    return is_whole and len(np.unique(observed)) >= MOSTLY * len(observed)


def _are_days(observed: Floats) -> bool:
    """Whether some different numbers are days of the calendar, as YYYYMMDD."""
    days = np.unique(observed)
    if len(days) < FEWEST_DAYS or not (days == np.rint(days)).all():
        return False
    month, day = days // 100 % 100, days % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _at_most(count: int, expected: float) -> float:
    """The chance of at most so many events where a number is expected (Poisson)."""
    if expected > 700.0:  # below the smallest float, unless the count is of the same size
        return 0.0 if count < expected / 2 else 1.0
    term = total = math.exp(-expected)
    for k in range(1, count + 1):
        term *= expected / k
        total += term
    return total


def find_blocks(missing: Bools) -> list[list[int]]:
    """Groups of columns that lack nearly always the same rows: perhaps they do not apply to them.

    Each column joins the first group in which nine of ten rows that lack either lack both.

    >>> missing = np.zeros((50, 3), dtype=bool)
    >>> missing[:12, :2] = True
    >>> find_blocks(missing)
    [[0, 1]]
    """
    holes = missing.sum(axis=0)
    holed = np.flatnonzero((holes >= FEWEST_TOGETHER) & (holes < len(missing)))
    if not 2 <= len(holed) <= MOST_COMPARED:
        return []
    cells = missing[:, holed].astype(np.float32)  # counts are exact up to 2²⁴ rows
    both = cells.T @ cells
    either = holes[holed][:, None] + holes[holed][None, :] - both
    together = both >= TOGETHER * either
    blocks: list[list[int]] = []
    free = np.ones(len(holed), dtype=bool)
    for j in range(len(holed)):
        inside = np.flatnonzero(together[j] & free)
        if free[j] and len(inside) > 1:
            free[inside] = False
            blocks.append(holed[inside].tolist())
    return blocks


def inapplicable_rows(missing: Bools, column: int) -> Bools:
    """The rows to which a column does not apply, if it is said not to apply to some.

    Those that lack its whole block; where it is of none, all that lack it.

    >>> missing = np.zeros((50, 3), dtype=bool)
    >>> missing[:12, :2] = missing[20, 0] = missing[30:33, 2] = True
    >>> [int(inapplicable_rows(missing, j).sum()) for j in range(3)]
    [12, 12, 3]
    """
    block = next((block for block in find_blocks(missing) if column in block), [column])
    return np.asarray(missing[:, block].all(axis=1))
