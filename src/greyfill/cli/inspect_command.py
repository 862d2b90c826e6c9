"""``greyfill inspect``: what is in a table, where its holes are, what it tells of the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from greyfill.cli import options as o
from greyfill.cli.options import OutputOptions, TableOptions, Without
from greyfill.text import clean, count, number, plural, share, tidy

if TYPE_CHECKING:
    from greyfill.cli.console import Console, Numbers
    from greyfill.cli.sheet import Sheet
    from greyfill.table import Ints

MOST_SHOWN = 6
MOST_COLUMNS = 100
VERDICTS = (
    (0.01, "the holes do not look completely random"),
    (0.05, "weak signs that the holes are not completely random"),
    (math.inf, "no sign against holes completely at random"),
)


@o.with_options
def inspect(
    file: o.File,
    table: TableOptions,
    printing: Annotated[OutputOptions, Without(("force", "quiet"))],
) -> None:
    """Show the columns of a table, their holes, and what they tell about the target."""
    from greyfill.cli.console import Console, page
    from greyfill.cli.sheet import read_sheet

    console = Console.on_stderr()
    sheet = read_sheet(file, table, console)
    with console.working(f"looking at {sheet.name}"):
        numbers = examine(sheet)
    printing.print_json(numbers)
    if not printing.json:
        show(numbers, page())


def examine(sheet: Sheet) -> Numbers:
    """What can be told about a table without filling it."""
    from greyfill import frames
    from greyfill.cli.fill_job import FLAGS, describe
    from greyfill.filled import notes_on_columns
    from greyfill.report.column_summary import patterns
    from greyfill.report.summary import missing_at_random, sampled_information

    table, origin = frames.encode(sheet.X, **sheet.kinds)
    codes, classes = _classes(sheet)
    bits = None if codes is None else sampled_information(table, codes)[0]
    missing, names = table.missing, origin.schema.names
    found = patterns(missing, list(names))
    test = missing_at_random(table, found["count"])
    left_alone = frames.find_excluded(table, origin.schema)
    left_notes = notes_on_columns(missing, names, left_alone, left_alone, FLAGS)
    columns = describe(origin.schema, dict(zip(names, missing.sum(axis=0).tolist(), strict=True)))
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        column["share"] = tidy(float(missing[:, j].mean()))
        column["values"] = sheet.source.frame[name].drop_nulls().n_unique()
        column["bits"] = None if bits is None else tidy(bits[j])
    return {
        "input": sheet.source.name,
        "format": sheet.source.format.value,
        "rows": table.n_rows,
        "holes": int(missing.sum()),
        "share": tidy(float(missing.mean())),
        "rows_with_holes": int(missing.any(axis=1).sum()),
        "target": sheet.target,
        "classes": classes,
        "columns": columns,
        "ignored": list(sheet.ignored),
        "patterns": found,
        "little_test": test and {key: test[key] for key in ("statistic", "dof", "p_value")},
        "left_alone": left_alone,
        "notes": [*sheet.notes(origin.schema.fields), *left_notes],
    }


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
    page.show(_columns(numbers))
    for line in [*_target_lines(numbers), *_pattern_lines(numbers), *_little_lines(numbers)]:
        page.console.print(Text(line), soft_wrap=True)  # made of clean words, in columns
    page.show_notes(numbers["notes"])


def _columns(numbers: Numbers) -> Any:
    from greyfill.cli.console import bar, grid, name_of

    heads = ["column", "kind", "values", "holes", "share"]
    informed = numbers["target"] is not None
    table = grid(*heads, *(["bits"] if informed else []), words=2)
    if informed:
        table.add_column("about the target")
    most = max((c["bits"] or 0.0 for c in numbers["columns"]), default=0.0) or 1.0
    for c in numbers["columns"][:MOST_COLUMNS]:
        cells: list[Any] = [name_of(c["name"]), c["kind"], count(c["values"]), count(c["holes"])]
        cells.append(share(c["share"]))
        if informed:
            bits = c["bits"]
            cells += ["–", ""] if bits is None else [f"{bits:.3f}", bar(bits / most)]
        table.add_row(*cells)
    return table


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
        f"Little's test: χ² = {number(test['statistic'])}, {test['dof']} degrees of freedom, "
        f"p {p}: {verdict}."
    ]


def _classes(sheet: Sheet) -> tuple[Ints | None, list[Numbers]]:
    """Class codes of the rows and the classes with their sizes; none for measurements."""
    import numpy as np

    from greyfill.targets import Meaning, read_target

    if sheet.y is None:
        return None, []
    target = read_target(sheet.y)
    codes, labels = target.codes, target.classes
    if target.meaning is Meaning.RESPONSE:
        return None, []
    sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
    order = np.argsort(-sizes, kind="stable")
    return codes, [{"name": str(labels[c]), "rows": int(sizes[c])} for c in order]
