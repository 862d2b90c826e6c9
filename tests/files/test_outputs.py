"""Two names of one file are noticed before anything is written, whatever they look like."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from greyfill import files
from greyfill.exceptions import FileProblemError, GreyfillError, InvalidParameterError
from greyfill.files import atomic
from greyfill.files.atomic import Output, check_dataset, check_distinct, check_outputs

posix = pytest.mark.skipif(os.name != "posix", reason="names of streams and devices")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with old.csv, more names of it, and a folder that has two names."""
    monkeypatch.chdir(tmp_path)
    Path("old.csv").write_bytes(b"old")
    Path("link.csv").symlink_to("old.csv")
    os.link("old.csv", "hard.csv")
    Path("dangling.csv").symlink_to("new.csv")
    Path("folder").mkdir()
    Path("again").symlink_to("folder")
    return tmp_path


ONE_FILE = [
    ("new.csv", "new.csv"),
    ("new.csv", "./new.csv"),
    ("new.csv", "folder/../new.csv"),
    ("new.csv", "dangling.csv"),
    ("folder/new.csv", "again/new.csv"),
    ("none/new.csv", "none/../none/new.csv"),
    ("old.csv", "./old.csv"),
    ("old.csv", "link.csv"),
    ("old.csv", "hard.csv"),
    ("-", "-"),
]
TWO_FILES = [
    ("new.csv", "newer.csv"),
    ("new.csv", "folder/new.csv"),
    ("new.csv", "old.csv"),
    ("new.csv", "none/new.csv"),
    ("old.csv", "folder/old.csv"),
    ("new.csv", "NEW.csv"),
    (os.devnull, os.devnull),
]


@pytest.mark.parametrize(("one", "other"), ONE_FILE)
def test_two_outputs_are_one_file(place: Path, one: str, other: str) -> None:
    absolute = one if one == "-" else str(place / one)
    for name in (one, absolute):
        with pytest.raises(InvalidParameterError, match=r"written twice|Only one thing"):
            check_outputs([Output(name), Output("between.csv"), Output(other)], force=True)


@pytest.mark.parametrize(("one", "other"), TWO_FILES)
def test_two_outputs_are_two_files(place: Path, one: str, other: str) -> None:
    check_distinct([Output(one), Output(other)])


@pytest.mark.parametrize("name", ["old.csv", "./old.csv", "link.csv", "hard.csv"])
def test_an_output_is_an_input(place: Path, name: str) -> None:
    with pytest.raises(FileProblemError, match=r"same file as old\.csv, which is read"):
        check_outputs([Output(name)], ["new.csv", "old.csv"], force=True)
    with pytest.raises(FileProblemError, match=r"same file as old\.csv, which is read"):
        check_outputs([Output("new.csv", "old.csv"), Output(name)], force=True)
    with pytest.raises(FileProblemError, match=r"is the input\. To replace it, say so: --force"):
        check_outputs([Output(name, "old.csv")])
    check_outputs([Output(name, "old.csv")], force=True)


def test_a_folder_that_ignores_case(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There every spelling of a name exists, but only one of them is listed."""
    exists = os.path.lexists
    monkeypatch.setattr(
        os.path, "lexists", lambda p: exists(p) or os.path.basename(p).lower() in os.listdir(place)
    )
    for other in ("NEW.csv", "./New.CSV"):
        with pytest.raises(InvalidParameterError, match="are the same file"):
            check_distinct([Output("new.csv"), Output(other)])
    check_distinct([Output("new.csv"), Output("NEWER.csv")])


def test_an_empty_folder_tells_nothing_about_case(place: Path) -> None:
    with pytest.raises(InvalidParameterError, match="are the same file"):
        check_distinct([Output("folder/new.csv"), Output("folder/NEW.csv")])
    (place / "folder" / "7").touch()  # neither does a name without letters
    with pytest.raises(InvalidParameterError, match="are the same file"):
        check_distinct([Output("folder/new.csv"), Output("folder/NEW.csv")])
    (place / "folder" / "a").touch()
    check_distinct([Output("folder/new.csv"), Output("folder/NEW.csv")])


def test_a_folder_that_has_a_name_in_both_cases_tells_them_apart(place: Path) -> None:
    (place / "folder" / "a").touch()
    (place / "folder" / "A").touch()
    check_distinct([Output("folder/new.csv"), Output("folder/NEW.csv")])


def test_names_that_no_file_can_have(place: Path) -> None:
    Path("circle").symlink_to("circle")
    for name, words in {
        "": "name of an output is empty",
        "n" * 300: "its name is too long",
        "circle": "links go in a circle",
        "old.csv/new.csv": "there is no folder",
    }.items():
        with pytest.raises(FileProblemError, match=words):
            check_outputs([Output(name)], force=True)
        with pytest.raises(FileProblemError, match=words):
            files.put(name, [b"new"], force=True)
    with pytest.raises(FileProblemError, match="name of an input is empty"):
        check_outputs([Output("new.csv", "")])
    assert (place / "circle").is_symlink()


@posix
def test_what_is_no_file_and_cannot_be_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(FileProblemError, match="a disk or a socket"):
            files.put("socket", [b"new"], force=True)
    monkeypatch.setattr(atomic.stat, "S_ISBLK", lambda mode: True)
    with pytest.raises(FileProblemError, match="a disk or a socket"):
        files.put("old.csv", [b"new"], force=True)
    assert (place / "old.csv").read_bytes() == b"old"


PUT = "import sys; from greyfill import files; files.put(sys.argv[1], [b'one', b'two'])"


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_open_streams_are_written_on(tmp_path: Path, name: str) -> None:
    """Into a pipe, and behind what a shell has written to a file before."""
    if not os.path.exists(os.path.dirname(name)):
        pytest.skip("this system has no such names")
    line = [sys.executable, "-c", "print('first, ', end='');" + PUT, name]
    assert subprocess.run(line, capture_output=True, check=True).stdout == b"first, onetwo"
    (tmp_path / "log").write_bytes(b"before, ")
    with open(tmp_path / "log", "ab") as stream:
        subprocess.run(line, stdout=stream, check=True)
    assert (tmp_path / "log").read_bytes() == b"before, first, onetwo"


@posix
def test_streams_that_are_not_open() -> None:
    with pytest.raises(FileProblemError, match="the stream is closed"):
        files.put("/dev/fd/987", [b"x"])


@posix
def test_standard_output_has_several_names() -> None:
    code = (
        "import sys; from greyfill.files.atomic import *;"
        "check_outputs([Output('-'), Output(sys.argv[1])])"
    )
    line = [sys.executable, "-c", code, "/dev/stdout"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert "Only one thing can go to standard output" in done.stderr


@pytest.mark.parametrize("out", ["data", "data/", "data/filled", ".", "again", "again/filled"])
def test_datasets_that_lie_in_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "again").symlink_to("data")
    with pytest.raises(FileProblemError, match="lie in each other"):
        check_dataset("data", out, [".parquet"])
    check_dataset("data", "data.filled", [".parquet"])


def test_the_folder_of_a_file_is_not_replaced_by_its_dataset(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    file.touch()
    with pytest.raises(FileProblemError, match="lie in each other"):
        check_dataset(str(file), str(tmp_path), [".parquet"])
    check_dataset(str(file), str(tmp_path / "filled"), [".parquet"])


def test_only_a_dataset_is_replaced_by_a_dataset(tmp_path: Path) -> None:
    old = tmp_path / "old"
    (old / "year=1").mkdir(parents=True)
    (old / "year=1" / "part.parquet").touch()
    check_dataset(str(tmp_path / "data"), str(old), [".parquet"])
    (old / "year=1" / "thesis.tex").touch()
    with pytest.raises(FileProblemError, match=r"thesis\.tex does not belong to a dataset"):
        check_dataset(str(tmp_path / "data"), str(old), [".parquet"])
    for name, words in {"": "empty", str(old / "year=1" / "thesis.tex"): "is no folder"}.items():
        with pytest.raises(GreyfillError, match=words):
            check_dataset(str(tmp_path / "data"), name, [".parquet"])
