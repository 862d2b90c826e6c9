"""What can be told about a table before it is filled: columns, holes, guesses, doubts."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from greyfill.text import tidy

if TYPE_CHECKING:
    from greyfill.column_notes import Words
    from greyfill.frames import Schema
    from greyfill.jobs.fill_job import Numbers
    from greyfill.jobs.findings import Finding
    from greyfill.jobs.options import TableOptions
    from greyfill.jobs.sheet import Sheet
    from greyfill.table import Bools, Ints, Table

SHUFFLES = 5
"""Bits that shuffled labels give count for nothing, so an identifier tells nothing."""


def examine(sheet: Sheet, options: TableOptions, words: Words | None = None) -> Numbers:
    """What can be told about a table without filling it; ``words`` are how options are called."""
    from greyfill import frames
    from greyfill.column_notes import notes_on_columns
    from greyfill.jobs.fill_job import FLAGS
    from greyfill.jobs.findings import command, find, shortened
    from greyfill.jobs.sheet import possible_codes
    from greyfill.report.column_summary import patterns
    from greyfill.report.summary import missing_at_random

    table, origin = frames.encode(sheet.X, **sheet.kinds)
    missing, names = table.missing, origin.schema.names
    found = patterns(missing, list(names))
    test = missing_at_random(table, found["count"])
    left_alone = frames.find_excluded(table, origin.schema)
    left_notes = notes_on_columns(missing, names, left_alone, left_alone, words or FLAGS)
    codes, classes = _classes(sheet)
    looked = [*sheet.features, *([] if sheet.target is None else [sheet.target])]
    codes_of = possible_codes(sheet, origin.schema.fields)
    doubts = find(sheet.source, looked, codes_of, left_alone)
    return {
        "input": sheet.source.name,
        "format": sheet.source.format.value,
        "rows": table.n_rows,
        "holes": int(missing.sum()),
        "share": tidy(float(missing.mean())),
        "rows_with_holes": int(missing.any(axis=1).sum()),
        "target": sheet.target,
        "classes": classes,
        "columns": _columns_of(sheet, table, origin.schema, codes, left_alone),
        "ignored": list(sheet.ignored),
        "patterns": found,
        "little_test": test and {key: test[key] for key in ("statistic", "dof", "p_value")},
        "left_alone": left_alone,
        "guesses": [guess.to_dict() for guess in sheet.source.guesses],
        "findings": in_plain(doubts),
        "blocks": _blocks(missing, names, left_alone),
        "notes": [*sheet.notes(), *left_notes],
        "command": command(sheet.source.name, [options], shortened(doubts, sheet.source.frame)),
    }


def _blocks(missing: Bools, names: tuple[str, ...], left_alone: Collection[str]) -> list[Numbers]:
    """Columns that rows lack together, so that they may not apply to these rows."""
    from greyfill.exclusion import find_blocks

    blocks = [
        (b, [names[j] for j in b if names[j] not in left_alone]) for b in find_blocks(missing)
    ]
    return [
        {"columns": inside, "rows": int(missing[:, block].all(axis=1).sum())}
        for block, inside in blocks
        if len(inside) > 1
    ]


def in_plain(doubts: list[Finding]) -> list[Numbers]:
    """The findings, each with the options that take it; one without words goes with the last."""
    told: list[Numbers] = []
    for found in doubts:
        if found.text or not told:
            told.append(
                {"column": found.column, "text": found.text, "cells": found.cells, "options": []}
            )
        told[-1]["options"] += [] if found.option is None else [list(found.option)]
    return told


def _columns_of(
    sheet: Sheet, table: Table, schema: Schema, codes: Ints | None, left_alone: dict[str, str]
) -> list[Numbers]:
    """What is told about each column."""
    from greyfill.files.styles import without_nan
    from greyfill.jobs.fill_job import describe
    from greyfill.jobs.findings import summary_of
    from greyfill.report.summary import sampled_information

    missing = table.missing
    bits = None if codes is None else sampled_information(table, codes, SHUFFLES)[0]
    holes = dict(zip(schema.names, missing.sum(axis=0).tolist(), strict=True))
    columns = describe(schema, holes)
    for j, column in enumerate(columns):
        values = without_nan(sheet.source.frame[column["name"]])
        column["share"] = tidy(float(missing[:, j].mean()))
        column["values"] = values.drop_nulls().n_unique()
        column["bits"] = None if bits is None else tidy(bits[j])
        column["left_alone"] = left_alone.get(column["name"])
        column.update(summary_of(values))
    return columns


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
