"""A sheet → its kinds, holes, patterns, Little's test, and information about the target."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from greyfill import frames
from greyfill.cli.filling import Numbers, kind_of
from greyfill.cli.names import called
from greyfill.cli.noting import doubts, notes_on
from greyfill.cli.reading import Sheet
from greyfill.cli.showing import bar, grid, name_of
from greyfill.information import class_information
from greyfill.missingness import little_test
from greyfill.report.column_summary import patterns
from greyfill.report.summary import (
    INFORMATION_ROWS,
    TEST_COLUMNS,
    TEST_PASSES,
    TEST_PATTERNS,
    TEST_ROWS,
)
from greyfill.table import Floats, Ints, Kind, Table
from greyfill.targets import Meaning, read_target
from greyfill.text import clean, count, number, plural, share, tidy

MOST_SHOWN = 6
MOST_COLUMNS = 100
VERDICTS = (
    (0.01, "the holes do not look completely random"),
    (0.05, "weak signs that the holes are not completely random"),
    (np.inf, "no sign against holes completely at random"),
)


def examine(sheet: Sheet) -> Numbers:
    """What can be told about a table without filling it."""
    table, origin = frames.encode(sheet.X, **sheet.kinds)
    codes, classes = _classes(sheet)
    bits = _information(table, codes)
    missing, fields = table.missing, origin.schema.fields
    found = patterns(missing, [field.name for field in fields])
    return {
        "input": sheet.source.name,
        "format": sheet.source.format.value,
        "rows": table.n_rows,
        "holes": int(missing.sum()),
        "share": tidy(float(missing.mean())),
        "rows_with_holes": int(missing.any(axis=1).sum()),
        "target": sheet.target,
        "classes": classes,
        "columns": [
            {
                "name": field.name,
                "kind": kind_of(field),
                "type": field.family.value,
                "holes": int(missing[:, j].sum()),
                "share": tidy(float(missing[:, j].mean())),
                "values": sheet.source.frame[field.name].drop_nulls().n_unique(),
                "bits": None if bits is None else tidy(bits[j]),
            }
            for j, field in enumerate(fields)
        ],
        "ignored": list(sheet.ignored),
        "patterns": found,
        "little_test": _little(table, found["count"]),
        "notes": [*sheet.source.notes, *notes_on(sheet), *doubts(sheet, fields)],
    }


def show(numbers: Numbers, console: Console) -> None:
    """Print it for a person."""
    console.print(
        Text(
            f"{clean(called(numbers['input']), most=4000)}: {plural(numbers['rows'], 'row')}, "
            f"{plural(numbers['holes'], 'hole')} ({share(numbers['share'])} of the cells), "
            f"{plural(numbers['rows_with_holes'], 'row')} with holes",
            "bold",
        ),
        soft_wrap=True,
    )
    console.print(_columns(numbers))
    for line in [*_target_lines(numbers), *_pattern_lines(numbers), *_little_lines(numbers)]:
        console.print(Text(line), soft_wrap=True)
    for note in numbers["notes"]:
        console.print(Text.assemble(("note: ", "yellow"), clean(note, most=500)), soft_wrap=True)


def _columns(numbers: Numbers) -> Any:
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
            told = ["–", ""] if bits is None else [f"{bits:.3f}", bar(bits / most)]
            cells += told
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
    if sheet.y is None:
        return None, []
    target = read_target(sheet.y)
    codes, labels = target.codes, target.classes
    if target.meaning is Meaning.RESPONSE:
        return None, []
    sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
    order = np.argsort(-sizes, kind="stable")
    return codes, [{"name": str(labels[c]), "rows": int(sizes[c])} for c in order]


def _information(table: Table, codes: Ints | None) -> Floats | None:
    if codes is None:
        return None
    rows = np.flatnonzero(codes >= 0)
    if len(rows) > INFORMATION_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, INFORMATION_ROWS).astype(np.intp)]
    return class_information(table.rows(rows), codes[rows])


def _little(table: Table, n_patterns: int) -> Numbers | None:
    """Little's test where it means something and is cheap; else None."""
    sizes = [c.n_levels - 1 if c.kind is Kind.CATEGORICAL else 1 for c in table.columns]
    has_numbers = any(c.kind is Kind.NUMERIC for c in table.columns)
    has_holes = table.missing.any() and not table.missing.all()
    cheap = n_patterns <= TEST_PATTERNS and table.n_rows <= TEST_ROWS
    if not (has_numbers and has_holes and cheap) or sum(sizes) > TEST_COLUMNS:
        return None
    try:
        test = little_test(table, max_iter=TEST_PASSES)
    except np.linalg.LinAlgError:
        return None
    return {"statistic": round(test.statistic, 4), "dof": test.dof, "p_value": test.p_value}
