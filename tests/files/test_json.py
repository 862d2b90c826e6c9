"""Cells of JSON stay in their rows, and are read as they are or refused."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from greyfill import files
from greyfill.exceptions import InvalidDataError

LAYOUTS: dict[str, Any] = {
    "t.json": lambda cells: json.dumps([{"a": cell, "b": True} for cell in cells]),
    "t.jsonl": lambda cells: "\n".join(json.dumps({"a": cell, "b": True}) for cell in cells),
    "lists.json": lambda cells: json.dumps({"a": cells}),
    "named.json": lambda cells: json.dumps({"a": dict(zip("uvwx", cells, strict=False))}),
}


def has_wide_numbers() -> bool:
    """Whether polars reads whole numbers of 128 bits; older ones refuse the file."""
    try:
        return pl.read_json(f'[{{"a": {2**100}}}]'.encode()).height == 1
    except pl.exceptions.ComputeError:
        return False


POLARS = "duplicate struct field 'b'|InvalidUnicodeCodepoint"
"""What polars finds itself."""

WIDE = pytest.mark.skipif(not has_wide_numbers(), reason="this polars reads 64 bits alone")


def every_reading(path: Path) -> list[Any]:
    """The first column by `read`, and in small batches."""
    with files.open_batches(path, size=12) as batches:
        in_parts = [cell for batch in batches for cell in batch.frame["a"]]
    return [files.read(path).frame["a"].to_list(), in_parts]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"a":{"0":1,"1":2,"2":null},"b":{"2":30,"1":20,"0":10}}', [(1, 10), (2, 20), (None, 30)]),
        ('{"a":{"0":1,"1":2},"b":{"1":20,"2":30}}', [(1, None), (2, 20), (None, 30)]),
    ],
)
def test_rows_of_columns_are_found_by_their_names(text: str, rows: list, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)
    assert files.read(tmp_path / "t.json").frame.rows() == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": [1, 2], "b": {"x": 1, "y": 2}}', "'b' has names of rows, column 'a' is a list"),
        ('{"a": [1, {"x": 2}]}', "'a', row 2: a list or an object"),
        ('{"a": [[1], [true]]}', "'a', row 2: a list or an object has cells that would change"),
    ],
)
def test_columns_that_cannot_be_paired_or_held(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InvalidDataError, match=rf"t\.json: Column {words}"):
        files.read(tmp_path / "t.json")


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([True, 2], "row 1: true stands in a column of numbers"),
        ([2.5, None, False], "row 3: false stands in a column of numbers"),
        ([1.5, 9007199254740993], "row 2: 9007199254740993 has more digits"),
        pytest.param([2**127, 3, None], f"row 1: {2**127} has more digits", marks=WIDE),
    ],
)
def test_cells_that_would_change_are_refused(
    name: str, cells: list, words: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(LAYOUTS[name](cells))
    refused = rf"{name}: Column 'a', {words}"
    with pytest.raises(InvalidDataError, match=refused):
        files.read(path)
    with pytest.raises(InvalidDataError, match=refused), files.open_batches(path, size=12) as parts:
        list(parts)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(
    "cells",
    [
        [0, None, 1],
        [True, None, False],
        [1e23, 1.5, 2**53],
        [9007199254740993, None, 2**60],
        pytest.param([9007199254740993, None, 2**100], marks=WIDE),
    ],
)
def test_cells_that_stay_the_same_are_read(name: str, cells: list, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(LAYOUTS[name](cells))
    for found in every_reading(path):
        assert found == cells
        assert [type(a) is bool for a in found] == [type(b) is bool for b in cells]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": [1, 2], "a": [3, 4]}', "The name 'a' stands twice"),
        ('{"a": {"x": 1, "x": 2}}', "The name 'x' stands twice"),
        ('{"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2], [3, 4]]}', "stand apart"),
    ],
)
def test_values_without_a_place_of_their_own_are_refused(
    text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InvalidDataError, match=rf"t\.json: .*{words}"):
        files.read(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ('{"a": 5, "a": 6, "b": "x"}', "Row 3: The name 'a' stands twice"),
        ('{"a" : null, "b":"x", "b" :null}', f"Row 3: The name 'b' stands twice|{POLARS}"),
        (r'{"a": 5, "b": "x\ud83d"}', r"Row 3: The name 'b' has the text 'x\\ud83d' with half"),
        (r'{"a": 5, "b": "\udE00 x"}', POLARS),
        (r'{"a": [{"b": 1, "b": 2}]}', f"Row 3: The name 'b' stands twice|{POLARS}"),
    ],
)
def test_records_that_would_lose_something_are_refused(
    record: str, words: str, tmp_path: Path
) -> None:
    records = ['{"a": null, "b": null}', '{"b": "y"}', record]
    array, lines = tmp_path / "t.json", tmp_path / "t.jsonl"
    array.write_text(f"[{', '.join(records)}]")
    lines.write_text("\n\n".join(records))
    for path in (array, lines):
        with pytest.raises(InvalidDataError, match=words):
            files.read(path)
    with pytest.raises(InvalidDataError, match=words), files.open_batches(lines, size=12) as parts:
        list(parts)


@pytest.mark.parametrize(
    ("text", "place"), [(r'{"a": ["x", "\ud83d"]}', ""), (r'[{"a": [["\ud83d"]]}]', "Row 1: ")]
)
def test_half_a_character_among_the_cells_of_a_column_is_refused(
    text: str, place: str, tmp_path: Path
) -> None:
    (tmp_path / "t.json").write_text(text)
    words = rf"t\.json: {place}The name 'a' has the text '\\ud83d'"
    with pytest.raises(InvalidDataError, match=words):
        files.read(tmp_path / "t.json")


@pytest.mark.parametrize("name", LAYOUTS)
def test_texts_like_names_and_characters_of_two_escapes_are_read(name: str, tmp_path: Path) -> None:
    cells = ['"a": null', "\N{GRINNING FACE}", None, '\\ud83d "b":"']
    (tmp_path / name).write_text(LAYOUTS[name](cells))
    for found in every_reading(tmp_path / name):
        assert found == cells


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "lists.json"])
@pytest.mark.parametrize(
    ("cells", "row"), [([{"x": 1}, {"x": True}], 2), ([[1, 2**53 + 1], [1.5]], 1)]
)
def test_lists_and_objects_that_would_change_are_refused(
    name: str, cells: list, row: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(LAYOUTS[name](cells))
    with pytest.raises(InvalidDataError, match=rf"{name}(: Column 'a', row {row}: a list| cannot)"):
        files.read(path)


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "lists.json"])
def test_lists_and_objects_that_stay_the_same_are_read(name: str, tmp_path: Path) -> None:
    path, cells = tmp_path / name, [{"x": [1, 2]}, None, {"x": [2.5], "y": "z"}]
    path.write_text(LAYOUTS[name](cells))
    expected = [{"x": [1, 2], "y": None}, None, {"x": [2.5], "y": "z"}]
    assert every_reading(path)[0] == expected


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_mark_before_the_text_changes_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(LAYOUTS[name]([1, None, 3]), encoding="utf-8-sig")
    for found in every_reading(path):
        assert found == [1, None, 3]


@pytest.mark.parametrize("out", ["out.json", "out.jsonl"])
def test_infinite_numbers_are_refused(out: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1.5,x\n,y\n")
    source = files.read(tmp_path / "t.csv")
    with pytest.raises(InvalidDataError, match="Column 'a' holds infinite numbers"):
        source.write(source.frame.fill_null(float("inf")), tmp_path / out)
    assert not (tmp_path / out).exists()
