"""Texts that stand for dates, times or numbers, but in a form that is not read as such."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import polars as pl

from greyfill.files import patterns
from greyfill.files.styles import Day, Fixed, Moment, Scientific, Style, Truth, Whole

Counts = pl.DataFrame
"""Different words, without blanks around them, and how often each occurs: word, count."""


class Spelling(Protocol):
    """How some cells of one type are written."""

    @property
    def style(self) -> Style:
        """The style of new cells."""
        ...

    def parse(self, bare: pl.Series) -> pl.Series:
        """Texts → values; null where the text is none of this type."""
        ...

    def __or__(self, other: Self) -> Self:
        """The spelling of both together."""
        ...


@dataclass(frozen=True)
class NumberSpelling:
    """Numbers: whether all are whole, the most decimals, and whether any has an exponent."""

    mark: str = "."
    whole: bool = True
    decimals: int = 0
    exponents: bool = False

    @property
    def style(self) -> Style:
        """Whole numbers stay whole; others get the most decimals of the column."""
        if self.whole:
            return Whole()
        kind = Scientific if self.exponents else Fixed
        return kind(self.decimals, self.mark)

    def parse(self, bare: pl.Series) -> pl.Series:
        """Whole numbers or finite decimal ones."""
        if self.whole:
            return bare.cast(pl.Int64, strict=False)
        values = _plain(bare, self.mark).cast(pl.Float64, strict=False)
        return values.set(values.is_infinite(), None)

    def __or__(self, other: Self) -> Self:
        return type(self)(
            self.mark,
            self.whole and other.whole,
            max(self.decimals, other.decimals),
            self.exponents or other.exponents,
        )


@dataclass(frozen=True)
class TruthSpelling:
    """True and false: how often each spelling occurs."""

    words: Counter[str] = field(default_factory=Counter)

    @property
    def style(self) -> Style:
        """The usual words; a word that does not occur is written like the other one."""
        yes = _usual({w: n for w, n in self.words.items() if w.lower() == "true"})
        no = _usual({w: n for w, n in self.words.items() if w.lower() == "false"})
        return Truth(yes or _like(no, "true"), no or _like(yes, "false"))

    def parse(self, bare: pl.Series) -> pl.Series:
        """True and false in any case."""
        return bare.str.to_lowercase() == "true"

    def __or__(self, other: Self) -> Self:
        return type(self)(self.words + other.words)


@dataclass(frozen=True)
class DaySpelling:
    """Dates have one spelling."""

    @property
    def style(self) -> Style:
        """As 2024-02-29."""
        return Day()

    def parse(self, bare: pl.Series) -> pl.Series:
        """Dates of the calendar."""
        return bare.str.to_date("%Y-%m-%d", strict=False)

    def __or__(self, other: Self) -> Self:
        return self


@dataclass(frozen=True)
class MomentSpelling:
    """Dates with times: what stands between, how fine the times are, and the end (Z for UTC)."""

    end: str = ""
    betweens: Counter[str] = field(default_factory=Counter)
    has_seconds: bool = False
    decimals: int = 0

    @property
    def style(self) -> Style:
        """The usual letter between date and time, the finest time of the column."""
        return Moment(
            _usual(self.betweens) or "T", self.has_seconds, min(self.decimals, 6), self.end
        )

    def parse(self, bare: pl.Series) -> pl.Series:
        """Moments in UTC or without a zone, to the microsecond."""
        plain = bare.str.replace("T", " ", literal=True).str.strip_suffix(self.end)
        full = plain.str.replace(r"^(.{16})$", "$1:00")
        values = full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        return values.dt.replace_time_zone("UTC") if self.end else values

    def __or__(self, other: Self) -> Self:
        return type(self)(
            self.end,
            self.betweens + other.betweens,
            self.has_seconds or other.has_seconds,
            max(self.decimals, other.decimals),
        )


class Look(Protocol):
    """A type that cells may look like."""

    @property
    def name(self) -> str:
        """What such a column holds, for a message."""
        ...

    @property
    def pattern(self) -> str:
        """What its cells match, though not all that match can be read."""
        ...

    @property
    def reader(self) -> Spelling:
        """A spelling that reads all cells of the type."""
        ...

    def spelling(self, counts: Counts) -> Any:
        """The spelling of words that match."""
        ...


@dataclass(frozen=True)
class Numbers:
    """Whole and decimal numbers with a decimal mark."""

    mark: str = "."
    name: str = "numbers"

    @property
    def pattern(self) -> str:
        """What numbers match."""
        return patterns.number(self.mark)

    @property
    def reader(self) -> NumberSpelling:
        """Reads all as decimal numbers."""
        return NumberSpelling(self.mark, whole=False)

    def spelling(self, counts: Counts) -> NumberSpelling:
        """How these numbers are written."""
        plain = _plain(counts["word"], self.mark)
        whole = bool(counts["word"].str.contains(patterns.WHOLE).all())
        whole = whole and plain.cast(pl.Int64, strict=False).null_count() == 0
        exponents = bool(plain.str.contains("[eE]").any())
        return NumberSpelling(self.mark, whole, _decimals(plain), exponents)


@dataclass(frozen=True)
class Truths:
    """True or false."""

    name: str = "true or false"
    pattern: str = patterns.TRUTH
    reader: TruthSpelling = field(default_factory=TruthSpelling)

    def spelling(self, counts: Counts) -> TruthSpelling:
        """How these truths are written."""
        return TruthSpelling(Counter(dict(counts.iter_rows())))


@dataclass(frozen=True)
class Days:
    """ISO dates."""

    name: str = "dates"
    pattern: str = patterns.DAY
    reader: DaySpelling = field(default_factory=DaySpelling)

    def spelling(self, counts: Counts) -> DaySpelling:
        """How these dates are written."""
        return DaySpelling()


@dataclass(frozen=True)
class Instants:
    """ISO dates with times, all with this end."""

    end: str = ""
    name: str = "dates with times"

    @property
    def pattern(self) -> str:
        """What such moments match."""
        return patterns.moment(self.end)

    @property
    def reader(self) -> MomentSpelling:
        """Reads all moments with this end."""
        return MomentSpelling(self.end)

    def spelling(self, counts: Counts) -> MomentSpelling:
        """How these moments are written."""
        words = counts["word"]
        letters = counts.group_by(words.str.slice(10, 1).alias("letter"))
        betweens = letters.agg(pl.col("count").sum())
        has_seconds = bool(words.str.contains(r":\d\d:").any())
        return MomentSpelling(
            self.end, Counter(dict(betweens.iter_rows())), has_seconds, _decimals(words)
        )


LOOKS: tuple[Look, ...] = (Truths(), Days(), Instants(), Instants("Z"))
"""All types but numbers; a cell has at most one of these looks."""


def _plain(bare: pl.Series, mark: str) -> pl.Series:
    return bare if mark == "." else bare.str.replace(mark, ".", literal=True)


def _decimals(words: pl.Series) -> int:
    return int(words.str.extract(r"\.(\d+)").str.len_chars().max() or 0)  # type: ignore[arg-type]


def _usual(words: dict[str, int]) -> str:
    """The most frequent spelling; the first in the alphabet of equally frequent ones."""
    return min(words, key=lambda word: (-words[word], word), default="")


def _like(example: str, word: str) -> str:
    """A word in the case of an example.

    >>> _like("TRUE", "false"), _like("True", "false")
    ('FALSE', 'False')
    """
    if example.isupper():
        return word.upper()
    return word.title() if example.istitle() else word


NEARLY_ALL = 0.95
"""The share of the different texts of a column that must have a form."""


@dataclass(frozen=True)
class Form:
    """What texts look like, and what to write instead."""

    name: str
    pattern: str
    remedy: str


_PLAIN = r"[0-9]+([.,][0-9]+)?"
_GROUPED = r"[0-9]{1,3}([,.' ][0-9]{3})+([.,][0-9]+)?"
_AMOUNT = rf"({_GROUPED}|{_PLAIN})"
_CURRENCY = "([$€£¥]|USD|EUR|GBP|CHF|JPY)"
_SMALL = "(0?[1-9]|[12][0-9]|3[01])"
"""The number of a day or a month."""
_TIME = r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?( ?[AaPp][Mm])?"

FORMS = (
    Form(
        "dates in another form",
        rf"^({_SMALL}[./-]{_SMALL}[./-]([0-9]{{4}}|[0-9]{{2}})|"
        rf"[0-9]{{4}}[./-]{_SMALL}[./-]{_SMALL})([T ]{_TIME}.*)?$",
        "To have them read as dates, write them as YYYY-MM-DD",
    ),
    Form(
        "times of day",
        rf"^{_TIME}$",
        "To have them read as numbers, write plain ones, such as minutes since midnight",
    ),
    Form(
        "percentages",
        rf"^[+-]?{_PLAIN} ?%$",
        "To have them read as numbers, write plain ones, such as 74",
    ),
    Form(
        "amounts",
        rf"^[+-]?({_CURRENCY} ?[+-]?{_AMOUNT}|{_AMOUNT}( ?{_CURRENCY})?)$",
        "To have them read as numbers, write plain ones, such as 1234.5",
    ),
)


def form_of(texts: pl.Series) -> Form | None:
    """The form that nearly all different texts of a column have, if there is one.

    Numbers that are written plainly have none, though there may be some among amounts.

    >>> form_of(pl.Series(["28/01/2020", "04/02/2020"])).name
    'dates in another form'
    >>> form_of(pl.Series(["$1,234", "$87", "512"])).name
    'amounts'
    >>> form_of(pl.Series(["007", "008"]))
    """
    words = patterns.bare(texts.drop_nulls()).unique()
    if not len(words) or words.str.contains(patterns.number(".")).all():
        return None
    return next((f for f in FORMS if _share(words, f.pattern) >= NEARLY_ALL), None)


def _share(words: pl.Series, pattern: str) -> float:
    return float(words.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]
