"""No command writes one file twice, or over what it reads; and it says so before any work."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

QUICK = ("--method", "knni", "-k", "1")
posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices with names")


@pytest.fixture
def model(greyfill: Any, folder: Path) -> str:
    """A saved imputer, and more names of the table."""
    greyfill("fit", "new.csv", *QUICK, "--save", "model", "-q")
    (folder / "link.csv").symlink_to("new.csv")
    os.link(folder / "new.csv", folder / "hard.csv")
    return "model"


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("impute", "new.csv", "-o", "./o.csv", "--save", "o.csv"), "are the same file"),
        (("impute", "new.csv", "--report", "o.md", "--save", "../{here}/o.md"), "the same file"),
        (("impute", "new.csv", "--test", "./new.csv"), "new.filled.csv would be written twice"),
        (("impute", "new.csv", "--save", "link.csv"), "same file as new.csv, which is read"),
        (("impute", "new.csv", "--save", "hard.csv"), "same file as new.csv, which is read"),
        (("impute", "new.csv", "--test", "table.csv", "-o", "./table.csv"), "same file as table"),
        (("impute", "new.csv", "--test", "link.csv", "-o", "new.csv"), "same file as link.csv"),
        (("fit", "new.csv", "--save", "./new.csv"), "same file as new.csv, which is read"),
        (("apply", "model", "new.csv", "-o", "./model"), "same file as model, which is read"),
        (("apply", "model", "new.csv", "./new.csv"), "new.filled.csv would be written twice"),
        (("report", "new.csv", "-o", "page.md"), "same file as new.csv, which is read"),
        (("sensitivity", "new.csv", "--column", "age", "--plot", "p.png"), "same file as new.csv"),
        (("compare", "new.csv", "--cache", "hard.csv"), "same file as new.csv, which is read"),
        (("impute", "new.csv", "-o", ""), "name of an output is empty"),
        (("impute", "new.csv", "--save", ""), "name of an output is empty"),
        (("impute", "new.csv", "--report", ""), "name of an output is empty"),
        (("impute", ""), "name of an input is empty"),
        (("inspect", ""), "Cannot read a file without a name"),
        (("fit", "new.csv", "--save", ""), "name of an output is empty"),
        (("apply", "model", "new.csv", "-o", ""), "name of an output is empty"),
        (("apply", "", "new.csv"), "name of an input is empty"),
        (("report", "new.csv", "-o", ""), "a report ends in .html, .md or .json"),
        (("compare", "new.csv", "--cache", "new.csv/x.parquet"), "Cannot write new.csv/x.parquet"),
        (("compare", "new.csv", "--cache", ""), "name of an output is empty"),
        (("datasets", "iris", "-o", ""), "name of an output is empty"),
        (("demo", "-o", ""), "name of an output is empty"),
        (("impute", "new.csv", "--report", "/dev/stdout"), "on standard output, say -"),
    ],
)  # fmt: skip
def test_a_file_has_one_part_to_play(
    fails: Any, folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    for name in ("page.md", "p.png"):
        (folder / name).symlink_to("new.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    arguments = tuple(argument.replace("{here}", folder.name) for argument in arguments)
    takes_force = arguments[0] not in ("compare", "inspect")
    assert words in fails(*arguments, *(["--force"] if takes_force else []))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_table_is_replaced_by_its_filled_form_if_that_is_said(
    greyfill: Any, folder: Path
) -> None:
    for name in ("new.csv", "./new.csv"):
        (folder / "new.csv").write_bytes(b"a,b\n1,\n2,5\n")
        greyfill("impute", "new.csv", *QUICK, "-o", name, "--force")
        assert (folder / "new.csv").read_bytes() == b"a,b\n1,5\n2,5\n"


@posix
def test_standard_output_by_its_other_name(greyfill: Any, command: Any, folder: Path) -> None:
    line = ("impute", "new.csv", *QUICK, "-q", "-o")
    assert command(*line, "/dev/stdout").stdout == greyfill(*line, "-").stdout_bytes
    both = command(*line, "/dev/stdout", "--json")
    assert (both.returncode, both.stdout) == (2, b"")
    assert b"Only one thing can go to standard output" in both.stderr


@posix
def test_pipes_and_devices_stay_what_they_are(greyfill: Any, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_bytes()))
    reader.start()
    greyfill("impute", "new.csv", *QUICK, "-o", "pipe", "--save", "/dev/null", "--force")
    reader.join()
    assert read[0].startswith(b"dose,smear")
    assert (folder / "pipe").is_fifo()
    assert Path("/dev/null").is_char_device()
