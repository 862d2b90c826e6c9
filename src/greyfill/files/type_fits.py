"""How many cells of a column are of one type, and how they are written.

For each type that a column may have, a `TypeFit` counts the cells that are of it: plain numbers,
truths, dates as computers and as people write them, and amounts with signs around or within.
"""

from collections import Counter
from collections.abc import Iterator

import polars as pl

from greyfill.files.styles import (
    AMOUNT,
    CURRENCIES,
    Amount,
    Calendar,
    Fixed,
    Moment,
    Scientific,
    Style,
    Truth,
    Whole,
    grouped_number,
)
from greyfill.files.words import FEW, mean_missing

Counts = pl.DataFrame
"""Different words, without blanks around them, and how often each occurs: word, count."""

FEW_WORDS = 3
"""So many different words among numbers are taken for mistakes, not for a column of text."""

MOST_NUMBERS = 0.95
"""With this share of numbers, all other words are taken for mistakes."""

OFFSET = r"(?:Z|[+-]\d\d:?\d\d)"
"""How far the clock of a moment is from UTC."""


class TypeFit:
    """How many cells of a column are of one type, how they are written, and some that are not.

    ``name`` says in a message what such a column holds. Its cells match the pattern, though not
    all that match can be read, and ``reader`` reads all of them.
    """

    def __init__(self, name: str, pattern: str, reader: Style) -> None:
        self.name, self._pattern, self._reader = name, pattern, reader
        self.count = 0
        self._strays: set[str] = set()
        self._strays_mean_missing = True

    @property
    def style(self) -> Style:
        """How new cells of the column are written, if it is of this type."""
        return self._reader

    def measure(self, counts: Counts) -> None:
        """Gather how some more words of this type are written."""

    def add(self, counts: Counts, *, may_fit: bool) -> None:
        """Count some more words."""
        strays = words = counts["word"]
        if may_fit and (fits := self.fitting(words)).any():
            found, strays = counts, words.clear()
            if not fits.all():
                found, strays = counts.filter(fits), words.filter(~fits)
            self.count += int(found["count"].sum())
            self.measure(found)
        if len(self._strays) <= FEW_WORDS or self._strays_mean_missing:
            self._strays.update(strays.head(FEW_WORDS + 1).to_list())
            if self._strays_mean_missing:
                parts = (strays.head(FEW), strays)  # the first tell, nearly always
                self._strays_mean_missing = all(bool(mean_missing(p).all()) for p in parts)

    def fitting(self, words: pl.Series) -> pl.Series:
        """Which words are of this type."""
        fits = words.str.contains(self._pattern)
        if not fits.any():  # the usual case, without the work of a reader
            return fits
        return self._reader.parse(words.set(~fits, None)).is_not_null()

    def are_mistakes(self, n_seen: int) -> bool:
        """Whether the words that do not fit are so few, or such words, that the user must look."""
        share = self.count / n_seen
        if share == 0.0:
            return False
        few = len(self._strays) <= FEW_WORDS
        return share >= MOST_NUMBERS or (share > 0.5 and few) or self._strays_mean_missing


class NumberFit(TypeFit):
    """Whole and decimal numbers with this decimal mark; they get the most decimals of a column."""

    def __init__(self, mark: str) -> None:
        super().__init__("numbers", number_pattern(mark), Fixed(0, mark))
        self._mark, self._decimals = mark, 0
        self._are_whole = True
        self._exponents: Counter[str] = Counter()

    @property
    def style(self) -> Style:
        """Whole numbers stay whole; others get the most decimals of the column."""
        if self._are_whole:
            return Whole()
        if self._exponents:
            is_capital = self._exponents["E"] > self._exponents["e"]
            return Scientific(self._decimals, self._mark, is_capital)
        return Fixed(self._decimals, self._mark)

    def measure(self, counts: Counts) -> None:
        """Whether all are whole, the most decimals, and how exponents are written."""
        words = counts["word"]
        if self._are_whole and bool(words.str.contains(r"^[+-]?[0-9]+$").all()):
            self._are_whole = not Whole().parse(words).has_nulls()
            return
        self._are_whole = False
        self._decimals = max(self._decimals, _most_decimals(words, self._mark))
        if words.str.contains("[eE]").any():
            found = _summed(counts, words.str.extract("([eE])"))
            self._exponents.update({letter: n for letter, n in found.items() if letter})


class TruthFit(TypeFit):
    """True or false, in any case."""

    def __init__(self) -> None:
        super().__init__("true or false", r"^(?i:true|false)$", Truth())
        self._words: Counter[str] = Counter()

    @property
    def style(self) -> Style:
        """The usual words; a word that does not occur is written like the other one."""
        yes = _usual({w: n for w, n in self._words.items() if w.lower() == "true"})
        no = _usual({w: n for w, n in self._words.items() if w.lower() == "false"})
        return Truth(yes or _like(no, "true"), no or _like(yes, "false"))

    def measure(self, counts: Counts) -> None:
        """How often each word occurs."""
        self._words.update(dict(counts.iter_rows()))


class MomentFit(TypeFit):
    """ISO dates with times, all with an end of this pattern: Z for UTC, an offset, or nothing."""

    def __init__(self, end: str) -> None:
        pattern = rf"^\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{{1,9}})?)?{end}$"
        self._is_local = end == OFFSET
        super().__init__(
            "dates with times", pattern, Moment(end="+00:00" if self._is_local else end)
        )
        self._end, self._decimals, self._has_seconds = end, 0, False
        self._betweens: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()

    @property
    def style(self) -> Style:
        """The usual letter between date and time, the finest time of the column."""
        between = _usual(self._betweens) or "T"
        end = _usual(self._ends) if self._is_local else self._end
        return Moment(between, self._has_seconds, min(self._decimals, 6), end)

    def measure(self, counts: Counts) -> None:
        """What stands between date and time, and how fine the times are."""
        words = counts["word"]
        self._betweens.update(_summed(counts, words.str.slice(10, 1)))
        if self._is_local:
            self._ends.update(_summed(counts, words.str.extract(rf"({OFFSET})$")))
        self._has_seconds = self._has_seconds or bool(words.str.contains(r":\d\d:").any())
        self._decimals = max(self._decimals, _most_decimals(words, "."))


class CalendarFit(TypeFit):
    """Dates in an order of day, month and year, with a mark between them, perhaps with times."""

    def __init__(self, order: str, mark: str) -> None:
        reader = Calendar(order, mark, clock=2)
        super().__init__("dates", reader.pattern, reader)
        self.order, self._mark = order, mark
        self._is_padded, self._may_be_padded, self._has_short_year, self._clock = (
            False,
            True,
            False,
            0,
        )

    @property
    def style(self) -> Style:
        """Zeros before small numbers, short years and times as the column has them."""
        is_padded = self._is_padded or self._may_be_padded
        return Calendar(self.order, self._mark, is_padded, self._has_short_year, self._clock)

    def measure(self, counts: Counts) -> None:
        """How years, small numbers and times are written."""
        words = counts["word"]
        days = words.str.extract(r"^([^T ]*)")
        self._is_padded = self._is_padded or bool(days.str.contains(r"\b0\d\b").any())
        self._may_be_padded = self._may_be_padded and not days.str.contains(r"\b\d\b").any()
        if self.order != "ymd":
            self._has_short_year = self._has_short_year or bool(days.str.contains(r"\D\d\d$").any())
        for clock, pattern in ((1, r"[T ]\d\d?:\d\d$"), (2, r":\d\d:")):
            if words.str.contains(pattern).any():
                self._clock = max(self._clock, clock)

    def fitting(self, words: pl.Series) -> pl.Series:
        """Dates; a version such as 1.2.10 is none."""
        fits = super().fitting(words)
        return (
            fits & ~words.str.contains(r"^(\d\.|\d\d\.\d\.).*\.\d\d$")
            if self._mark == "."
            else fits
        )


NOTATIONS = (
    (",", "."), (".", ","), ("'", "."), ("’", "."), (" ", ","), (" ", "."), ("\u00a0", ","),
    ("\u00a0", "."), ("\u202f", ","),
)  # fmt: skip
"""Signs of thousands and decimal marks."""


class AmountFit(TypeFit):
    """Numbers with one unit around them, or with signs of thousands, in one notation."""

    def __init__(self) -> None:
        super().__init__("amounts", AMOUNT, Amount(0))
        self._units: Counter[tuple[str, str]] = Counter()
        self._fits: dict[tuple[str, str], list[int]] = {n: [0, 0, 0] for n in NOTATIONS}

    def add(self, counts: Counts, *, may_fit: bool) -> None:
        """Count the words of each unit and notation: cells, cells in groups, most decimals."""
        words = counts["word"]
        if not may_fit or not words.str.contains(AMOUNT).any():
            return
        parts = words.str.extract_groups(AMOUNT).struct.unnest()
        core = parts.to_series(3)
        found = pl.DataFrame(
            [parts.to_series(1).fill_null("").alias("before"),
             parts.to_series(4).fill_null("").alias("after"), core.alias("core"), counts["count"]]
        ).filter(core.is_not_null())  # fmt: skip
        for before, after, count in (
            found.group_by("before", "after").agg(pl.col("count").sum()).iter_rows()
        ):
            self._units[before, after] += count
        for (group, mark), seen in self._fits.items():
            rows = found.filter(found["core"].str.contains(grouped_number(group, mark)))
            seen[0] += int(rows["count"].sum())
            seen[1] += int(rows["core"].str.contains(group, literal=True).sum())
            seen[2] = max(seen[2], _most_decimals(rows["core"], mark))

    def settle(self, mark: str, n_observed: int) -> bool:
        """Whether so many cells are amounts, in a file with this decimal mark."""
        units = {before.strip() + after.strip() for before, after in self._units} - {""}
        with_unit = sum(n for unit, n in self._units.items() if any(unit))
        if len(units) > 1 or 0 < with_unit < n_observed / 2:
            return False
        is_money = bool(units) and pl.Series(list(units)).str.contains(CURRENCIES).all()
        fitting = [n for n, seen in self._fits.items() if seen[0] == n_observed > 0]
        fitting = [n for n in fitting if units or self._is_number(n, mark)]
        if not fitting:
            return False

        def rank(notation: tuple[str, str]) -> tuple[bool, bool]:
            has_groups = self._fits[notation][1] > 0 and (is_money or not units)
            return has_groups, notation[1] == mark

        group, decimal = max(fitting, key=rank)
        _, in_groups, decimals = self._fits[group, decimal]
        pairs = {unit: n for unit, n in self._units.items() if any(unit)}
        before, after = min(pairs, key=lambda unit: (-pairs[unit], unit), default=("", ""))
        self._reader = Amount(decimals, decimal, group if in_groups else "", before, after)
        self.count = n_observed
        return True

    def _is_number(self, notation: tuple[str, str], mark: str) -> bool:
        """Whether a notation tells a number from an identifier, where no unit does."""
        (group, decimal), (_, in_groups, decimals) = notation, self._fits[notation]
        if group not in (",", "."):
            return in_groups > 0 and decimals > 0  # groups with blanks may be a case number
        return in_groups > 0 or (decimals > 0 and decimal != "." and mark == ".")


def calendar_fits() -> Iterator[CalendarFit]:
    """All orders and marks of dates as people write them."""
    for mark in "./-":
        yield CalendarFit("dmy", mark)
        if mark != ".":
            yield CalendarFit("mdy", mark)
        if mark != "-":
            yield CalendarFit("ymd", mark)


def number_pattern(mark: str) -> str:
    """The pattern of numbers with this decimal mark."""
    point = {".": r"\.", ",": ","}[mark]
    return rf"^[+-]?([0-9]+({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$"


def _most_decimals(words: pl.Series, mark: str) -> int:
    digits = words.str.extract(rf"[{mark}](\d+)")
    return int(digits.str.len_chars().max() or 0)  # type: ignore[arg-type]


def _summed(counts: Counts, keys: pl.Series) -> dict[str, int]:
    """How many cells have each key."""
    groups = counts.group_by(keys.alias("key")).agg(pl.col("count").sum())
    return dict(groups.iter_rows())


def _usual(words: dict[str, int]) -> str:
    """The most frequent word; the first in the alphabet of equally frequent ones."""
    return min(words, key=lambda word: (-words[word], word), default="")


def _like(example: str, word: str) -> str:
    """A word in the case of an example.

    >>> _like("TRUE", "false"), _like("True", "false")
    ('FALSE', 'False')
    """
    if example.isupper():
        return word.upper()
    return word.title() if example.istitle() else word
