"""Errors name the file, the line and the column, and say what to do."""

from encodings.aliases import aliases
from pathlib import Path

import polars as pl
import pytest

from greyfill import files
from greyfill.exceptions import (
    FileProblemError,
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"t\.csv is empty"),
        (b"a,b\n", r"t\.csv has column names but no rows"),
        (
            b"a,b,a\n1,2,3\n",
            r"t\.csv, line 1: the column name 'a' appears 2 times \(columns 1, 3\)",
        ),
        (b"a,b\n1,2\n3\n", r"t\.csv, line 3: expected 2 cells as in the header, found 1"),
        (b'a,b\n"1\n",2\n\n3,4,5\n', r"t\.csv, line 5: expected 2 cells as in the header, found 3"),
        (b'a,b\n1,2\n3,"4\n5,6\n', r"t\.csv, line 3: a quote opens here and nothing closes it"),
        (b"a,b\n1,NA\n2,3\n3,4\n", r"t\.csv, line 2, column 'b': .*'NA'.*--na-values 'NA'"),
        (
            "a,b\n1,é\n2,ü\n".encode() + b"3,\xff\n",
            r"t\.csv, line 4: byte 0xff at offset 16 is not valid utf-8",
        ),
        (b"\xef\xbb\xbfa\n\xff\n", r"t\.csv, line 2: byte 0xff at offset 5 is not valid utf-8"),
        (b"a,b\n1,2\n\0,4\n", r"t\.csv has a zero byte in line 3"),
        (b"\n\r\n\n", r"t\.csv has nothing but empty lines. It needs a line of column names"),
    ],
)
def test_unusable_csv(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(InvalidDataError, match=message):
        files.read(path, strict=True)


def test_a_sparse_arff_file_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a real\n@data\n{0 1}\n")
    with pytest.raises(InvalidDataError, match=r"t\.arff is a sparse.*SparseToNonSparse"):
        files.read(tmp_path / "t.arff")


def test_encodings_that_were_given(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(InvalidDataError, match=r"line 2: byte 0xe9 at offset 6 is not valid ascii"):
        files.read(path, encoding="ascii")
    with pytest.raises(InvalidParameterError, match="encoding 'klingon' is unknown"):
        files.read(path, encoding="klingon")
    with pytest.raises(InvalidParameterError, match="encoding 'rot13' is unknown"):
        files.read(path, encoding="rot13")
    assert files.read(path, encoding="latin-1").frame["b"].to_list() == ["é"]
    assert "cp1252" in files.read(path).notes[0]
    path.write_bytes("a,b\n1,é\n".encode("utf-16"))
    assert files.read(path, encoding="utf-16").frame["b"].to_list() == ["é"]
    path.write_bytes("a,b\n1,é\n".encode("utf-16-le"))
    assert files.read(path).frame["b"].to_list() == ["é"]
    path.write_bytes("a,b\n1,日本\n".encode("shift-jis"))
    assert files.read(path, encoding="shift-jis").frame["b"].to_list() == ["日本"]
    path.write_bytes(b"a,b\n1,\x1b(B2\n")  # a switch to ASCII where it is ASCII already
    with pytest.raises(InvalidDataError, match=r"cannot give back all bytes.*Convert .* UTF-8"):
        files.read(path, encoding="iso2022-jp")


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "a", "é"])
def test_unusable_delimiters(delimiter: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InvalidParameterError, match="delimiter must be one character"):
        files.read(tmp_path / "t.csv", delimiter=delimiter)


@pytest.mark.parametrize("tab", ["\t", "\\t", "tab"])
def test_a_tab_as_one_writes_it(tab: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\tc\n1\t2\n")
    assert files.read(tmp_path / "t.csv", delimiter=tab).frame.columns == ["a,b", "c"]


def test_unknown_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InvalidParameterError, match=r"no column 'z'\. It has 'a', 'b'"):
        files.read(tmp_path / "t.csv", text_columns=["a", "z"])
    with pytest.raises(InvalidParameterError, match=r"decimal mark must be"):
        files.read(tmp_path / "t.csv", decimal="'")


def test_filled_tables_of_another_shape(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n")
    source = files.read(tmp_path / "t.csv")
    with pytest.raises(InvalidDataError, match=r"2 rows, .*t\.csv has 1"):
        source.write(pl.DataFrame({"a": [1, 2], "b": [1, 2]}), tmp_path / "out.csv")
    with pytest.raises(InvalidDataError, match="columns that the file has not: 'c'"):
        source.write(pl.DataFrame({"a": [1], "c": [2]}), tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with files.open_batches(tmp_path / "t.csv") as batches:
        (batch,) = batches
        with pytest.raises(InvalidDataError, match="table has 2 rows, the file 1"):
            list(batch.csv.filled(pl.DataFrame({"a": [1, 2]})))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileProblemError, match=r"Cannot read .*none\.csv: there is no such file"):
        files.read(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileProblemError, match=r"folder\.csv: it is a folder"):
        files.read(tmp_path / "folder.csv")
    assert issubclass(FileProblemError, GreyfillError)
    assert issubclass(FileProblemError, OSError)


def test_a_damaged_file_that_makes_polars_panic() -> None:
    """Found by fuzzing: a panic is no Exception, and would end the command with a traceback."""
    with pytest.raises(InvalidDataError, match=r"panic\.arrow cannot be read as"):
        files.read(Path(__file__).parent / "fixtures" / "panic.arrow")


ODD_NAMES = ("", "é", "a\0b", "\ud800", "x" * 500, "../x", "__init__", "aliases", "unicode_escape")
ODD_TABLES = (
    "a,b\n1,é\n,日\n3,x\n".encode(),
    b"a,b\n1,\\ud800\n,\\q\n3,xn--\n",
    bytes(range(1, 256)),
)


def test_every_encoding_that_python_knows_is_obeyed_or_refused(tmp_path: Path) -> None:
    """Never an error of a codec; and what is read is written with the same bytes."""
    path, out, n_read = tmp_path / "t.csv", tmp_path / "out.csv", 0
    for name in {*aliases.values(), "idna", "punycode", "undefined", "mbcs", "utf-7", *ODD_NAMES}:
        for content in ODD_TABLES:
            path.write_bytes(content)
            try:
                source = files.read(path, encoding=name)
            except (InvalidParameterError, InvalidDataError):
                continue
            source.write(source.frame, out, force=True)
            assert out.read_bytes() == content, name
            n_read += 1
    assert n_read > 20


@pytest.mark.parametrize("name", ["idna", "punycode", "undefined", "base64", "a\0"])
def test_codecs_that_are_none_of_text_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,x\n,y\n")
    with pytest.raises(InvalidParameterError, match="is unknown, or not one of text files"):
        files.read(tmp_path / "t.csv", encoding=name)


def test_half_letters(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,+2AA\n,y\n")  # UTF-7 gives back these bytes
    with pytest.raises(InvalidDataError, match=r"utf-7 cannot give back.*Convert the file"):
        files.read(tmp_path / "t.csv", encoding="utf-7")
