"""What only the owner of a table can settle, as questions with answers to choose from.

Each guess of the reader and each finding of ``greyfill inspect`` is one: an answer is a set of
choices, such as ``["na_values", "age=-9"]``, which the command line has as options. A question that
was answered stays, so that the answer can be taken back, though the table as it is read now no
longer gives rise to it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import polars as pl

from greyfill.app.choices import FLAGS, LISTS
from greyfill.files.dialect import DELIMITERS
from greyfill.jobs.sheet import Sheet
from greyfill.text import clean

Plain = dict[str, Any]
Setting = list[Any]
Answer = tuple[str, Sequence[Setting]]
FOUND: Answer = ("found out", [])
READ_SHEET = "The sheet of the workbook that is read"
STRICT: Answer = ("guess nothing", [["strict", True]])
MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LETTERS = {
    "cp1250": "Central Europe", "cp1251": "Cyrillic", "cp1253": "Greek", "cp1254": "Turkish",
    "cp1257": "Baltic", "mac-roman": "Mac",
}  # fmt: skip
"""What else a file of one byte for each letter may be than Western Europe's."""
NOT_THERE = "does not apply"
REMEDIES = {
    "categorical": ("as numbers", "as categories"),
    "numeric": ("as text", "as numbers"),
    "na_values": ("a value", "missing"),
    "folded": ("kept apart", "one level"),
    "ignored": ("used", "left alone"),
}


def ask(
    sheet: Sheet,
    numbers: Plain,
    choices: Plain,
    strays: Iterable[Plain] = (),
    before: Iterable[Plain] = (),
) -> list[Plain]:
    """All questions about a table, and what is chosen; ``before`` are those that were asked."""
    asked = _about_file(sheet, choices), _about_guesses(numbers), _about_findings(numbers, choices)
    found = _merged(chain(strays, *asked, _about_blocks(sheet, numbers)))
    known = {question["key"] for question in found}
    for question in before:
        is_answered = any(_holds(answer, choices) for answer in question["answers"])
        if question["key"] not in known and is_answered:
            found.append(dict(question))
    named = {
        value for q in found if q["of"] != "word" for a in q["answers"] for _, value in a["set"]
    }
    found = [q for q in found if q["of"] != "word" or q["answers"][0]["set"][0][1] not in named]
    for question in found:
        question["chosen"] = _chosen(question["answers"], choices)
    return found


def _question(
    of: str, text: str, answers: Sequence[Answer], *, column: str | None = None, cells: int = 0,
    is_on: int | None = None,
) -> Plain:  # fmt: skip
    """One question; of two answers, ``is_on`` is that of a switch which is on."""
    made = [{"text": words, "set": list(settings)} for words, settings in answers]
    columns = [] if column is None else [column]
    return {
        "of": of,
        "text": text,
        "answers": made,
        "columns": columns,
        "cells": cells,
        "on": is_on,
    }


def _merged(questions: Iterable[Plain]) -> list[Plain]:
    """The same question about several columns is one."""
    found: dict[str, Plain] = {}
    for question in questions:
        words = [answer["text"] for answer in question["answers"]]
        key = "\n".join([question["of"], question["text"], *words])
        one = found.setdefault(key, question | {"key": key})
        if one is not question and question["columns"] and one["columns"] != question["columns"]:
            one["columns"] += question["columns"]
            one["cells"] += question["cells"]
            for mine, others in zip(one["answers"], question["answers"], strict=True):
                mine["set"] += others["set"]
    return list(found.values())


def _in_force(setting: Setting, choices: Plain) -> bool:
    name, value = setting
    return value in choices[name] if name in LISTS else bool(choices[name] == value)


def _holds(answer: Plain, choices: Plain) -> bool:
    """Whether an answer was chosen; one that changes nothing never was."""
    return bool(answer["set"]) and all(_in_force(setting, choices) for setting in answer["set"])


def _chosen(answers: list[Plain], choices: Plain) -> int:
    held = [n for n, answer in enumerate(answers) if _holds(answer, choices)]
    plain = [n for n, answer in enumerate(answers) if not answer["set"]]
    return (held or plain or [0])[-1]


def _about_file(sheet: Sheet, choices: Plain) -> Iterator[Plain]:
    """How a text file is read and cut into cells."""
    if sheet.source.csv is None:
        return
    if sheet.source.csv.reader.encoding.note:  # no UTF-8: the codec is a guess
        others: list[Answer] = [(words, [["encoding", n]]) for n, words in LETTERS.items()]
        western: Answer = ("Western Europe", [])
        yield _question("file", "The letters of the file are those of", [western, *others])
    if sheet.source.csv.reader.preamble.names:
        return
    is_told = any(guess.kind in ("header", "title") for guess in sheet.source.guesses)
    if not is_told and choices["header"] is not True:
        answers: list[Answer] = [("names", []), ("a row of the table", [["header", False]])]
        yield _question("file", "The first line has the names of the columns", answers, is_on=0)
    marks: list[Answer] = [(MARKS[mark], [["delimiter", mark]]) for mark in DELIMITERS]
    yield _question("file", "Between the cells of a line stand", [FOUND, *marks])
    decimals: list[Answer] = [("a point", [["decimal", "."]]), ("a comma", [["decimal", ","]])]
    yield _question("file", "The decimal mark is", [FOUND, *decimals])


def _about_guesses(numbers: Plain) -> Iterator[Plain]:
    for guess in numbers["guesses"]:
        answers = _undone(guess)
        if answers:
            is_sheet = guess["kind"] == "sheet"  # asked once, and still true of another answer
            is_switch = len(answers) == 2 and not is_sheet
            column, is_on = guess["column"], 0 if is_switch else None
            text = READ_SHEET if is_sheet else clean(guess["detail"], 300)
            yield _question(
                "guess", text, answers, column=column, cells=guess["cells"], is_on=is_on
            )


def _undone(guess: Plain) -> list[Answer]:
    """What was guessed, and what else it may be."""
    column, names, undo = guess["column"], guess["names"], guess["undo"]
    categories: Answer = ("categories", [["categorical", column]])
    number: Answer = ("a value", [["numeric", column]])
    is_header = "--header" in undo
    known: dict[str, list[Answer]] = {
        "missing": [("taken as missing", []), categories],
        "sentinel": [("taken as missing", []), number],
        "dates": [("read as dates", []), categories],
        "amounts": [("read as numbers", []), categories],
        "labels": [("read as categories", []), ("numbers", number[1])],
        "header": [("so", []), ("not so", [["header", is_header]])],
        "title": [("so", []), ("not so", [["header", is_header]])],
        "names": [("used", []), ("left alone", [["ignored", name] for name in names])],
        "sheet": [(name, [["sheet", name]] if n else []) for n, name in enumerate(names)],
        "rows": [("so", []), STRICT],
        "zeros": [("taken as blanks", []), STRICT],
        "returns": [("taken as letters", []), STRICT],
    }
    answers = known.get(guess["kind"], [])
    if guess["kind"] == "dates" and "--date-order" in undo:
        order, words = ("mdy", "month first") if "mdy" in undo else ("dmy", "day first")
        answers.insert(1, (f"dates, {words}", [["date_order", order]]))
    return answers


def about_strays(found: Iterable[Plain]) -> list[Plain]:
    """Cells of another kind than their column: without one of the answers the file is refused."""
    questions = []
    for one in found:
        column, settings = one["column"], _settings(one)
        text = clean(one["text"], 500).replace(" below", "").replace(" (--na-values)", "")
        if settings[0][0] == "ragged":
            rest: list[Answer] = [("the rest is kept, not used", settings), STRICT]
            questions.append(_question("finding", text, rest))
            continue
        answers: list[Answer] = [
            ("categories", [["categorical", column]]), ("left alone", [["ignored", column]]),
        ]  # fmt: skip
        if settings[0][0] == "na_values":
            answers.insert(0, ("missing", settings))
        answers.sort(key=lambda answer: answer[1] != settings)
        questions.append(_question("finding", text, answers, column=column))
    return questions


def _settings(found: Plain) -> list[Setting]:
    return [[FLAGS[option], value or True] for option, value in found["options"]]


def _about_findings(numbers: Plain, choices: Plain) -> Iterator[Plain]:
    for found in numbers["findings"]:
        settings = _settings(found)
        if settings:
            before, after = REMEDIES[settings[0][0]]
            answers: list[Answer] = [(before, []), (after, settings)]
            yield _question(
                "finding", clean(found["text"], 500), answers, column=found["column"],
                cells=found["cells"], is_on=1,
            )  # fmt: skip
    for word in choices["na_values"]:
        pair: list[Answer] = [("missing", [["na_values", word]]), ("a value", [])]
        yield _question("word", clean(word), pair, is_on=0)


def _about_blocks(sheet: Sheet, numbers: Plain) -> Iterator[Plain]:
    """Columns that rows lack together, which may not apply to these rows."""
    for block in numbers["blocks"]:
        names = block["columns"]
        listed = ", ".join(clean(name, 30) for name in names[:6]) + (
            ", …" if len(names) > 6 else ""
        )
        text = f"{block['rows']:,} rows lack {listed} together: do these not apply to them?"
        answers: list[Answer] = [
            ("filled", []),
            ("these cells stay empty", [["not_applicable", name] for name in names]),
        ]
        if all(sheet.source.frame[name].dtype == pl.String for name in names):
            level = [["not_applicable", f"{name}={NOT_THERE}"] for name in names]
            answers.append((f"the level “{NOT_THERE}”", level))
        yield _question("finding", text, answers, is_on=None)
