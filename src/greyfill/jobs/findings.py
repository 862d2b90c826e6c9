"""What is worth a look in the columns of a table, and the options that settle it.

A finding is a column, a sentence, and the option that takes it, if there is one: words and numbers
that may mean missing, words among numbers, levels that differ by blanks or capitals, numbers that
are stored as text, and whole numbers that may be codes.
"""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from inspect import signature
from typing import get_args

import polars as pl

from greyfill.files import Source
from greyfill.files.column_types import SECOND_HEAD
from greyfill.files.styles import without_nan
from greyfill.files.type_fits import number_pattern
from greyfill.files.words import LIMIT, Doubt, bare, is_reading
from greyfill.jobs.options import STREAM
from greyfill.text import clean, number, plural

DATE = re.compile(r"(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})")
MOST_EXAMPLES = 3
MOST_WORDS = 6
LISTED = ("--categorical", "--numeric", "--ignore", "--fold")
"""Options that take several columns, with commas between them."""

MOST_LEVELS = 20_000
"""Of a column with more levels, twins are not looked for."""


@dataclass(frozen=True)
class Finding:
    """Something about a column that only its owner can settle.

    What ``is_advised`` goes into the finished command; other options are only offered. The text
    says nothing of the number of ``cells``, so that it is the same for columns alike.
    """

    column: str
    text: str
    option: tuple[str, str] | None = None
    is_advised: bool = True
    cells: int = 0


def find(
    source: Source, columns: Sequence[str], codes: Sequence[str], unused: Collection[str] = ()
) -> list[Finding]:
    """All findings about these columns of a file, of which some may hold codes of categories.

    Of columns that are ``unused`` only those count without which the file is refused, and words
    but for which they were numbers.
    """
    strays, spoilt = _strays(source), () if source.origin is None else source.origin.doubts
    found = list(_about_long_rows(source))
    heads = _second_heads(source, strays, spoilt)
    for name in columns:
        column = source.frame[name]
        if name in heads:
            found.append(_about_second_head(name, heads[name]))
        elif name in strays:
            found += _about_strays(name, strays[name], is_date=column.dtype.is_temporal())
        doubts = [d for d in (spoilt if name in unused else source.doubts) if d.column == name]
        found += _about_doubts(name, [d for d in doubts if d.word != heads.get(name)])
        if name in unused:
            continue
        if column.dtype == pl.String:
            found += _about_text(column)
        if name in codes:
            text = "postal codes: names of places, and no amounts?"
            if column.drop_nulls().n_unique() == 2:
                text = "two different whole numbers: a count, or the codes of categories?"
            found.append(Finding(name, text, ("--categorical", name)))
    return found


def _about_long_rows(source: Source) -> Iterator[Finding]:
    """Rows with more cells than names, unless the user knows of them."""
    if source.csv is None or source.csv.reader.options.ragged:
        return
    rows = source.csv.reader.widths
    if rows.n_long:
        text = (
            f"{rows.long_rows}. Does one hold the delimiter, without quotes? Else --ragged reads "
            f"the first {rows.first_long[2]} and keeps the rest as it is"
        )
        yield Finding("rows", text, ("--ragged", ""))


def _second_heads(
    source: Source, strays: Mapping[str, Mapping[str, int]], spoilt: Iterable[Doubt]
) -> dict[str, str]:
    """Words of the first row, each the only one in its column that is none of its values.

    One word alone rather means missing.
    """
    words = [(name, word, n) for name, found in strays.items() for word, n in found.items()]
    words += [(doubt.column, doubt.word, doubt.count) for doubt in spoilt]
    alone = {name for name, n in Counter(name for name, *_ in words).items() if n == 1}
    heads = {
        name: word
        for name, word, n in words
        if name in alone and n == 1 and source.frame[name][0] in (None, word)
    }
    words_differ = len({*heads.values()}) > 1
    return heads if words_differ and not any(map(is_reading, heads.values())) else {}


def _about_second_head(name: str, word: str) -> Finding:
    text = f"the first row has {word!r} where the others have values. {SECOND_HEAD}"
    return Finding(name, text, ("--na-values", f"{name}={word}"), is_advised=False)


def _strays(source: Source) -> dict[str, dict[str, int]]:
    """The cells that are not of the type of their column, counted."""
    if source.csv is None:
        return {}
    reader = source.csv.reader
    pairs = zip(reader.columns, reader.types, strict=True)
    return {name: found.strays for name, found in pairs if found.strays}


def _about_strays(name: str, words: Mapping[str, int], *, is_date: bool) -> Iterator[Finding]:
    shown = _counted(words)
    cells = plural(sum(words.values()), "cell is", "cells are")
    if is_date and any(map(_is_a_day, words)):
        text = f"days and months in both orders, so none can be told from the other: {shown}"
        yield Finding(name, text, ("--categorical", name))
        return
    if len(words) > MOST_WORDS:
        text = f"{cells} of another kind, so the column is left out: {shown}"
        yield Finding(name, text, ("--ignore", name))
        return
    if not is_date and any(map(is_reading, words)):  # a fill would take the place of a value
        text = (
            f"{cells} of another kind, so the column is taken as text below: {shown}. What is a "
            "number is better written plainly, what means missing is better named (--na-values)"
        )
        yield Finding(name, text, ("--categorical", name))
        return
    text = f"{cells} of another kind, taken as missing below: {shown}"
    yield Finding(name, text + _about_limits(words))
    for word in words:
        yield Finding(name, "", ("--na-values", f"{name}={word}"))


def _about_limits(words: Iterable[str]) -> str:
    if not any(map(LIMIT.fullmatch, words)):
        return ""
    return (
        ". If it is a limit of measurement, write a number in its place, such as half of a "
        "lower limit: a fill does not keep to it"
    )


def _is_a_day(word: str) -> bool:
    """Whether a word is a date in some order, which 00.00.0000 and 31.04.2025 are not."""
    parts = DATE.fullmatch(word.strip())
    if parts is None:
        return False
    first, second, third = parts.groups()
    year, others = (first, (second, third)) if len(first) > 2 else (third, (first, second))
    for month, day in (others, others[::-1]):
        with suppress(ValueError):
            return bool(date(int(year) or 2000, int(month), int(day)))
    return False


def _about_doubts(name: str, doubts: Sequence[Doubt]) -> Iterator[Finding]:
    """Values that may mean missing: each number by itself, words in one line."""
    words = [doubt for doubt in doubts if doubt.others is None]
    if words:
        text = f"may mean missing, kept as a category: {', '.join(repr(d.word) for d in words)}"
        text += _about_limits(d.word for d in words)
        yield Finding(name, text, cells=sum(d.count for d in words))
    for doubt in doubts:
        text = ""
        if doubt.others is not None:
            low, high = map(number, doubt.others)
            text = (
                f"{doubt.word} stands apart from the others ({low} … {high}), as a number for "
                "missing does"
            )
        is_advised = doubt.is_likely and doubt.word != "NA"  # Namibia, a region, a ticker
        option = ("--na-values", f"{name}={doubt.word}")
        yield Finding(name, text, option, is_advised, doubt.count if text else 0)


def _about_text(column: pl.Series) -> Iterator[Finding]:
    yield from _about_twins(column)
    counts = bare(column.drop_nulls()).alias("level").value_counts(sort=True)
    numbers = counts.filter(counts["level"].str.contains(number_pattern(".")))
    share = int(numbers["count"].sum()) / max(int(counts["count"].sum()), 1)
    if share >= 0.5 and len(counts) <= MOST_LEVELS:
        text = f"text, though {share:.0%} of its cells are numbers"
        yield Finding(column.name, text, ("--numeric", column.name), is_advised=False)


def _about_twins(column: pl.Series) -> Iterator[Finding]:
    """Levels that are one but for blanks around them, or capitals."""
    counts = column.drop_nulls().alias("level").value_counts(sort=True)
    if not 1 < len(counts) <= MOST_LEVELS:
        return
    folded = counts["level"].str.strip_chars().str.to_lowercase()
    if folded.n_unique() == len(counts):
        return
    groups: dict[str, dict[str, int]] = {}
    for key, (level, n) in zip(folded.to_list(), counts.iter_rows(), strict=True):
        groups.setdefault(key, {})[level] = n
    twins = [group for group in groups.values() if len(group) > 1]
    shown = "; ".join(
        " and ".join(f"{w!r} ({n:,})" for w, n in group.items()) for group in twins[:3]
    )
    more = f" and {len(twins) - 3} more" if len(twins) > 3 else ""
    text = f"levels that differ only by blanks or capitals: {shown}{more}"
    yield Finding(column.name, text, ("--fold", column.name))


def _counted(words: Mapping[str, int]) -> str:
    shown = [f"{word!r} ({n:,})" for word, n in list(words.items())[:MOST_WORDS]]
    return ", ".join(shown) + (f" and {len(words) - MOST_WORDS} more" * (len(words) > MOST_WORDS))


def shortened(findings: Sequence[Finding], frame: pl.DataFrame) -> list[Finding]:
    """The findings, with a word for missing said once for all columns where no other holds it."""
    columns: dict[str, set[str]] = {}
    for found in findings:
        word = _word_of(found)
        if word is not None and "=" not in word:
            columns.setdefault(word, set()).add(found.column)
    everywhere = {
        word
        for word, names in columns.items()
        if len(names) > 1 and not any(_holds(c, word) for c in frame if c.name not in names)
    }
    return [
        replace(found, option=("--na-values", word)) if word in everywhere else found
        for found, word in ((found, _word_of(found)) for found in findings)
    ]


def _word_of(found: Finding) -> str | None:
    """The word for missing that a finding advises."""
    if found.option is None or found.option[0] != "--na-values" or not found.is_advised:
        return None
    return found.option[1].removeprefix(f"{found.column}=")


def _holds(column: pl.Series, word: str) -> bool:
    """Whether a column holds a word, or the number that it is."""
    if column.dtype == pl.String:
        return bool((bare(column) == word).any())
    is_number = column.dtype.is_numeric() and re.fullmatch(number_pattern("."), word) is not None
    return is_number and bool((column == float(word)).any())


def command(file: str, given: Sequence[object], findings: Sequence[Finding] = ()) -> str:
    """The finished command that fills the table and takes all findings, to be pasted into a shell.

    ``given`` are groups of options, such as `TableOptions`.

    >>> from greyfill.jobs.options import TableOptions
    >>> found = [Finding("age", "", ("--na-values", "age=-9")), Finding("s x", "", ("-c", "s x"))]
    >>> command("my file.csv", [TableOptions(target="y", categorical=["sex", "arm"])], found)
    "greyfill impute 'my file.csv' --target=y --categorical=sex,arm --na-values=age=-9 '-c=s x'"
    >>> command("-t.csv", [])
    'greyfill impute ./-t.csv'
    """
    said = [pair for group in given for pair in _given(group)]
    words = [*said, *(f.option for f in findings if f.option is not None and f.is_advised)]
    parts = [_quoted(f"{option}={value}" if value else option) for option, value in _joined(words)]
    is_option = file.startswith("-") and file != STREAM
    return " ".join(["greyfill impute", _quoted(f"./{file}" if is_option else file), *parts])


def _joined(words: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Options without those that are said twice; names of columns that can be are listed."""
    found: list[tuple[str, str]] = []
    places: dict[str, int] = {}
    for option, value in dict.fromkeys(words):
        is_plain = option in LISTED and "," not in value and value == value.strip()
        if is_plain and option in places:
            found[places[option]] = (option, f"{found[places[option]][1]},{value}")
            continue
        if is_plain:
            places[option] = len(found)
        found.append((option, value))
    return found


def _given(options: object) -> Iterator[tuple[str, str]]:
    """What the user said already: options that are not as they are by default."""
    for name, parameter in signature(type(options), eval_str=True).parameters.items():
        value = getattr(options, name)
        # typer keeps the first name of an annotated option in the place of its default
        flag, _, negative = get_args(parameter.annotation)[1].default.partition("/")
        if value == parameter.default:
            continue
        if isinstance(value, bool):
            yield (flag if value else negative), ""
        elif isinstance(value, str | int | float):
            yield flag, str(value)
        else:
            yield from ((flag, item) for item in value or ())


def _quoted(word: str) -> str:
    r"""A word for a shell; one with unprintable characters as bash and zsh write it, in bytes.

    >>> _quoted("a b"), _quoted("a\tb'c"), _quoted("Größe\xa0m")
    ("'a b'", "$'a\\tb\\'c'", "$'Größe\\xc2\\xa0m'")
    """
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _escaped(letter: str) -> str:
    if letter.isascii():
        return letter.encode("unicode_escape").decode().replace("'", "\\'")
    if letter.isprintable():
        return letter
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))


def summary_of(column: pl.Series) -> dict[str, object]:
    """The smallest, middle and largest value, or the most frequent levels; and some examples."""
    seen = without_nan(column).drop_nulls()
    examples = [
        clean(value, 30) for value in seen.head(1000).unique(maintain_order=True)[:MOST_EXAMPLES]
    ]
    facts: dict[str, object] = {"examples": examples, "low": None, "middle": None, "high": None}
    facts["top"] = []
    if not len(seen):
        return facts
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        middle = seen.median() if column.dtype.is_numeric() else seen.sort()[len(seen) // 2]
        for key, value in (("low", seen.min()), ("middle", middle), ("high", seen.max())):
            facts[key] = float(value) if column.dtype.is_numeric() else str(value)  # type: ignore[arg-type]
        return facts
    top = (
        seen.cast(pl.String).alias("level").value_counts(sort=True).head(MOST_EXAMPLES).iter_rows()
    )
    facts["top"] = [{"value": clean(value, 30), "rows": n} for value, n in top]
    return facts
