"""A quick look at a file tells its columns, or nothing, and loads little."""

import os
from pathlib import Path

import polars as pl
import pytest
from corpus.exports import EXPORTS

from greyfill import files
from greyfill.exceptions import GreyfillError, InvalidParameterError
from greyfill.files.peek import peek_names

FRAME = pl.DataFrame({"age": [3, None, 5], "sex": ["f", "m", None]})


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_a_quick_look_finds_the_columns_that_are_read(tmp_path: Path, export) -> None:
    path = tmp_path / export.name
    path.write_bytes(export.make())
    try:
        columns = tuple(files.read(path, lenient=True).frame.columns)
    except GreyfillError:
        return
    assert peek_names(os.fspath(path)) in ((), columns)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.xlsx", "t.parquet", "t.arrow", "t.jsonl", "t.json"]
)
def test_the_columns_of_usual_files_are_found(tmp_path: Path, name: str) -> None:
    files.Source("", files.Format.CSV, FRAME).write(FRAME, tmp_path / name)
    assert peek_names(os.fspath(tmp_path / name)) == ("age", "sex")


@pytest.mark.parametrize("name", ["t.sav", "t.dta"])
def test_the_columns_of_statistics_programs_are_found(tmp_path: Path, name: str) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    write = pyreadstat.write_sav if name.endswith("sav") else pyreadstat.write_dta
    write(FRAME, tmp_path / name)
    assert peek_names(os.fspath(tmp_path / name)) == ("age", "sex")


def test_columns_and_records_of_json_are_found(tmp_path: Path) -> None:
    for text in ('{"a": [1, 2], "b": [3, 4]}', '[{"a": 1}, {"a": 2, "b": 3}]'):
        (tmp_path / "t.json").write_text(text)
        assert peek_names(os.fspath(tmp_path / "t.json")) == ("a", "b")


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.json", "t.sav", "t.arrow", "t.xlsx"])
def test_what_is_damaged_is_left_to_its_reader(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"{\x00 no such thing" * 20)
    assert peek_names(os.fspath(tmp_path / name)) == ()


@pytest.mark.parametrize("option", [{"decimal": "x"}, {"date_order": "ymd"}, {"encoding": "no"},
                                    {"delimiter": "ab"}, {"sheet": "1"}])  # fmt: skip
def test_what_suits_no_such_file_is_refused_at_once_and_by_the_reader(
    tmp_path: Path, option: dict[str, str]
) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n3,\n")
    with pytest.raises(InvalidParameterError) as quick:
        peek_names(os.fspath(tmp_path / "t.csv"), **option)
    with pytest.raises(InvalidParameterError) as slow:
        files.read(tmp_path / "t.csv", **option)
    assert str(quick.value) == str(slow.value)
