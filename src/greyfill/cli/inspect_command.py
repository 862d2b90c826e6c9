"""``greyfill inspect``: what is in a table, what is doubtful, and the command that fills it."""

from __future__ import annotations

import math
import textwrap
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.jobs.options import TableOptions
from greyfill.text import clean, count, kind_of, number, plural, share, shorten

if TYPE_CHECKING:
    from greyfill.cli.console import Console, Numbers

MOST_SHOWN = 6
MOST_CHARACTERS = 2000
MOST_COLUMNS = 100
VERDICTS = (
    (0.01, "the holes do not look completely random"),
    (0.05, "weak signs that the holes are not completely random"),
    (math.inf, "no sign against holes completely at random"),
)


ROOM = 200
"""So many characters for the names of columns that one line is about."""

NARROW, WIDE, LEAST = 70, 100, 14
"""A terminal with fewer columns gets a narrower table, a wide one bars."""


@o.with_options
def inspect(
    file: o.File,
    table: TableOptions,
    printing: Annotated[OutputOptions, Without(("force", "quiet"))],
) -> None:
    """Show the columns of a table, their holes, what is doubtful, and the command that fills it."""
    from greyfill.cli.console import Console, page
    from greyfill.files.inputs import NoRowsError
    from greyfill.jobs.inspection import examine
    from greyfill.jobs.sheet import read_sheet

    console = Console.on_stderr()
    try:
        sheet = read_sheet(file, table, console, lenient=not table.strict)
    except NoRowsError as empty:
        printing.print_json(
            {"input": file, "rows": 0, "columns": [{"name": c} for c in empty.columns]}
        )
        if not printing.json:
            names = (
                f" Its columns: {', '.join(map(clean, empty.columns))}." if empty.columns else ""
            )
            page().say(f"{empty}{names}")
        return
    with console.working(f"looking at {sheet.name}"):
        numbers = examine(sheet, table)
    printing.print_json(numbers)
    if not printing.json:
        show(numbers, page())


def show(numbers: Numbers, page: Console) -> None:
    """Print it for a person."""
    from rich.text import Text

    from greyfill.cli.console import source_of

    page.say(
        f"{source_of(numbers)}: {plural(numbers['rows'], 'row')}, "
        f"{plural(numbers['holes'], 'hole')} ({share(numbers['share'])} of the cells), "
        f"{plural(numbers['rows_with_holes'], 'row')} with holes",
        "bold",
    )
    page.show(_columns(numbers, page.console.width))
    for line in [*_target_lines(numbers), *_pattern_lines(numbers), *_little_lines(numbers)]:
        # made of clean words, in columns
        page.console.print(Text(line), soft_wrap=not page.console.is_terminal)
    if numbers["findings"]:
        page.say("worth a look:", "bold")
    for line in _finding_lines(numbers):
        _say_indented(page, line)
    for note in numbers["notes"]:
        if kind_of(note) == "kept":  # worth a look, above
            continue
        _say_indented(page, clean(note, MOST_CHARACTERS), "note: ")
    page.say("to fill it:", "bold")
    page.console.print(Text(f"  {numbers['command']}"), soft_wrap=True)


def _finding_lines(numbers: Numbers) -> list[str]:
    """What is worth a look; the same about several columns is one line."""
    alike: dict[str, list[Numbers]] = {}
    for found in numbers["findings"]:
        alike.setdefault(found["text"], []).append(found)
    lines = []
    for text, found in alike.items():
        names = [clean(one["column"], 40) for one in found]
        ends = accumulate(len(name) + 2 for name in names)
        n_shown = max(sum(end <= ROOM for end in ends), 1)
        more = f" and {len(names) - n_shown} more" if len(names) > n_shown else ""
        cells = sum(one["cells"] for one in found)
        counted = f" ({plural(cells, 'cell')})" if cells else ""
        lines.append(f"{', '.join(names[:n_shown])}{more}: {clean(text, 500)}{counted}")
    return lines


def _say_indented(page: Console, text: str, first: str = "  ") -> None:
    """A paragraph that is wrapped between words, its later lines indented."""
    from rich.text import Text

    width = max(page.console.width - 1, 30)
    lines = textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent="    ", break_on_hyphens=False
    )
    for line in lines or [first]:
        page.console.print(Text(line), soft_wrap=True)


def _columns(numbers: Numbers, width: int) -> Any:
    from rich.text import Text

    from greyfill.cli.console import bar, grid, name_of

    informed, shown = bool(numbers["classes"]), numbers["columns"][:MOST_COLUMNS]
    longest = min(max((len(c["name"]) for c in shown), default=6), 14 if width < NARROW else 30)
    # Names are wrapped within words, so what follows from other columns goes first.
    is_narrow = width < max(NARROW, longest + 17 + 9 * (3 + informed) + LEAST)
    has_bars = informed and width >= WIDE
    heads = ["column", "kind", "holes", *([] if is_narrow else ["share", "values"])]
    heads += ["bits"] * informed + ["about the target"] * has_bars
    table = grid(*heads, "what it holds", words=2)
    for column in table.columns[len(heads) - has_bars :]:
        column.justify = "left"
    most = max(max((c["bits"] or 0.0 for c in numbers["columns"]), default=0.0), 0.01)
    room = max(width - longest - 17 - 9 * (len(heads) - 2) - 10 * has_bars, LEAST)
    for c in shown:
        kind = "left alone" if c["left_alone"] else c["kind"]
        cells: list[Any] = [name_of(c["name"]), kind, count(c["holes"])]
        cells += [] if is_narrow else [share(c["share"]), count(c["values"])]
        bits = None if c["left_alone"] else c["bits"]
        if informed:
            cells.append("–" if bits is None else f"{bits:.3f}")
        if has_bars:
            cells.append("" if bits is None else bar(bits / most))
        table.add_row(*cells, Text(shorten(_held(c), room)))
    return table


def _held(column: Numbers) -> str:
    """The range of a column, or its levels."""
    if column["low"] is not None:
        values = (column["low"], column["middle"], column["high"])
        return " … ".join(number(v) if isinstance(v, float) else v for v in values)
    if column["left_alone"] or not column["top"]:
        return ", ".join(column["examples"])
    return ", ".join(f"{level['value']} {count(level['rows'])}" for level in column["top"])


def _target_lines(numbers: Numbers) -> list[str]:
    lines = []
    if len(numbers["columns"]) > MOST_COLUMNS:
        lines.append(f"… and {plural(len(numbers['columns']) - MOST_COLUMNS, 'more column')}")
    if numbers["ignored"]:
        lines.append(f"ignored: {', '.join(map(clean, numbers['ignored']))}")
    if numbers["classes"]:
        sizes = [f"{clean(c['name'], 30)} {count(c['rows'])}" for c in numbers["classes"]]
        more = ", …" if len(sizes) > MOST_SHOWN else ""
        lines.append(
            f"classes of {clean(numbers['target'])}: {', '.join(sizes[:MOST_SHOWN])}{more}"
        )
    elif numbers["target"] is not None:
        lines.append(f"{clean(numbers['target'])} holds measurements, not classes")
    return lines


def _pattern_lines(numbers: Numbers) -> list[str]:
    if not numbers["holes"]:
        return ["No cell is missing."]
    found = numbers["patterns"]
    lines = [f"holes by row, {plural(found['count'], 'pattern')}; the most frequent:"]
    for pattern in found["top"][:MOST_SHOWN]:
        names = ", ".join(clean(c, 30) for c in pattern["columns"][:MOST_SHOWN])
        more = ", …" if pattern["n_columns"] > MOST_SHOWN else ""
        what = f"without {names}{more}" if names else "complete"
        lines.append(f"  {count(pattern['rows']):>7} {share(pattern['share']):>7}  {what}")
    return lines


def _little_lines(numbers: Numbers) -> list[str]:
    test = numbers["little_test"]
    if test is None:
        return []
    p = "< 0.0001" if test["p_value"] < 1e-4 else f"= {test['p_value']:.4f}"
    verdict = next(words for limit, words in VERDICTS if test["p_value"] < limit)
    return [
        f"Little's test: χ² = {number(test['statistic'])}, {plural(test['dof'], 'degree')} of "
        f"freedom, p {p}: {verdict}."
    ]
