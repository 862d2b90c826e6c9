"""Files as they come: each is inspected, planned and written back as its line of the table says."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from corpus.exports import EXPORTS, Export
from files.csv_reference import raw_cells
from files.csv_tables import first_values
from typer.testing import CliRunner

from greyfill import files
from greyfill.cli import app
from greyfill.files.formats import layout_of
from greyfill.files.inputs import Input

NAMES = [export.name for export in EXPORTS]


def run(command: str, export: Export, folder: Path, *more: str) -> dict[str, Any]:
    path = folder / export.name
    path.write_bytes(export.make())
    done = CliRunner().invoke(app, [command, str(path), *more, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def by_kind(numbers: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for guess in numbers["guesses"]:
        found.setdefault(guess["kind"], set()).update(filter(None, [guess["column"]]))
    return found


@pytest.mark.parametrize("export", EXPORTS, ids=NAMES)
def test_what_is_told(export: Export, tmp_path: Path) -> None:
    seen = run("inspect", export, tmp_path)
    assert by_kind(seen) == {kind: set(names.split()) for kind, names in export.guesses.items()}
    assert set(seen["left_alone"]) == set(export.alone.split())
    kinds = {column["name"]: column["kind"] for column in seen["columns"]}
    assert {name: kinds.get(name) for name in export.kinds} == export.kinds
    told = [*seen["notes"], *(f"{f['column']}: {f['text']}" for f in seen["findings"])]
    assert export.told in " ".join([*told, seen["command"]])
    planned = run("impute", export, tmp_path, "--dry-run", *taken(seen["command"]))
    assert planned["holes"] >= planned["to_fill"] > 0
    assert by_kind(planned).keys() >= by_kind(seen).keys() - {"sentinel"}
    assert set(planned["left_alone"]) == set(export.alone.split())


def taken(command: str) -> list[str]:
    """The options of a finished command."""
    return shlex.split(command)[3:]


@pytest.mark.parametrize("export", EXPORTS, ids=NAMES)
def test_observed_cells_stay(export: Export, tmp_path: Path) -> None:
    """Every byte of a text file; values and types of any other one."""
    path = tmp_path / export.name
    path.write_bytes(export.make())
    source = files.read(path, lenient=True)
    out = tmp_path / f"out{path.suffix}"
    if source.format.written_as is not source.format:
        out = out.with_suffix(source.format.written_as.extensions[0])
    plain = [column.name for column in source.frame if not column.dtype.is_nested()]
    full = source.frame.with_columns(first_values(source.frame.select(plain)))
    if source.csv is None:
        source.write(full, out)
        again = files.read(out)
        assert again.frame.height == full.height
        for column in source.frame:
            seen = column.is_not_null()
            assert again.frame[column.name].filter(seen).equals(column.filter(seen)), column.name
        return
    reader = source.csv.reader
    before = b"".join(source.csv.filled(source.frame))
    with Input(str(path), layout_of(path.name).compression) as raw:
        assert before == b"".join(raw.blocks())
    after = b"".join(source.csv.filled(full))
    cells = [raw_cells(raw, reader) for raw in (before, after)]
    assert _observed(cells[0], source) == _observed(cells[1], source)
    assert (cells[0] != cells[1]) == (sum(source.frame.null_count().row(0)) > 0)


def _observed(rows: list[list[bytes]], source: files.Source) -> list[list[bytes]]:
    """The cells of the table that are no holes."""
    reader, frame = source.csv.reader, source.frame
    rows = rows[len(rows) - frame.height :]
    holes = [column.is_null().to_list() for column in frame]
    width = len(reader.columns)
    return [
        [cell for j, cell in enumerate(row[:width]) if not holes[j][i]]
        for i, row in enumerate(rows)
    ]


def test_strict_reading_guesses_nothing(tmp_path: Path) -> None:
    n_read = 0
    for export in EXPORTS:
        (tmp_path / export.name).write_bytes(export.make())
        done = CliRunner().invoke(
            app, ["inspect", str(tmp_path / export.name), "--strict", "--json"]
        )
        if done.exit_code == 0:
            kinds = set(by_kind({"guesses": [], **json.loads(done.stdout)}))
            assert kinds <= {"labels", "missing" if export.name.endswith(".sav") else "labels"}
            n_read += 1
    assert n_read > len(EXPORTS) / 3


@pytest.mark.parametrize("export", EXPORTS, ids=NAMES)
def test_what_polars_or_pandas_reads_is_not_refused(export: Export, tmp_path: Path) -> None:
    """All of the corpus can be inspected; a file of names without rows can be, too."""
    path = tmp_path / f"empty-{export.name}"
    if export.name.endswith((".csv", ".tsv")) and export.name != "sep.csv":
        first = export.make().splitlines(keepends=True)[0]
        path.write_bytes(first)
        done = CliRunner().invoke(app, ["inspect", str(path)])
        assert done.exit_code == 0, done.output
