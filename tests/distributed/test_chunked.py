"""Parquet datasets partition by partition, and what a crash leaves behind."""

import errno
import json
import os
import re

import numpy as np
import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402
from cluster_tables import differences, mixed_table  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from greyfill import CGKNNImputer, GreyImputer, KNNIImputer  # noqa: E402
from greyfill.cli import app  # noqa: E402
from greyfill.distributed import parquet  # noqa: E402
from greyfill.distributed.parquet import impute_dataset  # noqa: E402
from greyfill.distributed.parquet_files import list_partitions  # noqa: E402
from greyfill.exceptions import (  # noqa: E402
    FileProblemError,
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
)

TABLE = mixed_table(360).reset_index(drop=True).assign(id=[f"{i:05d}" for i in range(360)])
TABLE.loc[::40, "class"] = None  # rows without a label are filled like new ones
SETTINGS = {"target": "class", "ignored": ["id"], "n_jobs": 2}


@pytest.fixture
def dataset(tmp_path):
    """A folder of three Parquet files."""
    folder = tmp_path / "in"
    (folder / "later").mkdir(parents=True)
    for number, name in enumerate(["a.parquet", "b.parquet", "later/c.parquet"]):
        part = TABLE[number * 120 : (number + 1) * 120]
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / name)
    return folder


def whole_machine() -> pd.DataFrame:
    features = TABLE.drop(columns=["class", "id"])
    return CGKNNImputer(n_neighbors=5).fit_transform(features, TABLE["class"])


def test_dataset_is_filled_like_one_table(dataset, tmp_path) -> None:
    out = tmp_path / "out"
    numbers = impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=5), **SETTINGS)
    assert numbers["partitions"] == 3
    assert numbers["filled"] == TABLE.drop(columns="class").isna().sum().sum()
    names = [p.relative_to(out).as_posix() for p in sorted(out.rglob("*.parquet"))]
    assert names == ["a.parquet", "b.parquet", "later/c.parquet"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]
    tables = [pq.read_table(out / name) for name in names]
    for table, name in zip(tables, names, strict=True):
        assert table.schema.equals(pq.read_table(dataset / name).schema)
    filled = pa.concat_tables(tables).to_pandas()
    whole = whole_machine()
    gap, different = differences(whole, filled[list(whole.columns)])
    assert (gap < 1e-6, different) == (True, 0)
    assert filled["id"].tolist() == TABLE["id"].tolist()


def test_a_sample_fills_every_row_and_tells_how_far_it_is(dataset, tmp_path) -> None:
    told: list[str] = []
    imputer = GreyImputer(n_cells=20, labels="own")
    numbers = impute_dataset(
        str(dataset), str(tmp_path / "out"), imputer, donors=80,
        progress=lambda state: told.append(state.stage), **SETTINGS,
    )  # fmt: skip
    assert 80 <= numbers["donors"] < 140
    assert imputer.n_jobs is None  # it was cloned
    filled = pq.read_table(tmp_path / "out").to_pandas()
    assert not filled.drop(columns="class").isna().any().any()
    assert [*dict.fromkeys(told)] == ["reading", "sampling", "writing"]


@pytest.mark.parametrize("out", ["in", ".", "in/filled", "notes"])
def test_no_folder_is_replaced_that_holds_the_input_or_other_files(dataset, tmp_path, out) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thesis.tex").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileProblemError, match=r"lie in each other|thesis\.tex does not belong"):
        impute_dataset(
            str(dataset), str(tmp_path / out), CGKNNImputer(n_neighbors=5), force=True, **SETTINGS
        )
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("link", ["out", "out.partial"])
def test_a_link_in_the_place_of_an_output_folder_is_not_followed(dataset, tmp_path, link) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / link).symlink_to("victim")
    with pytest.raises(FileProblemError, match="it is a symbolic link"):
        impute_dataset(
            str(dataset), str(tmp_path / "out"), CGKNNImputer(n_neighbors=5), force=True, **SETTINGS
        )
    assert not list((tmp_path / "victim").iterdir())


@pytest.mark.parametrize("place", ["out", "out.partial/parts"])
def test_an_input_that_is_a_link_into_the_output_stays(dataset, tmp_path, place) -> None:
    victim = tmp_path / place / "b.parquet"
    victim.parent.mkdir(parents=True)
    (dataset / "b.parquet").rename(victim)
    (dataset / "b.parquet").symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(FileProblemError, match=r"out.*in.b\.parquet lie in each other"):
        impute_dataset(str(dataset), str(tmp_path / "out"), CGKNNImputer(1), force=True, **SETTINGS)
    assert victim.read_bytes() == before


@pytest.mark.parametrize("name", ["folder", "c.parquet"])
def test_a_link_that_would_be_passed_over_is_refused(dataset, tmp_path, name) -> None:
    (dataset / name).symlink_to(tmp_path if name == "folder" else "nowhere")
    with pytest.raises(FileProblemError, match=rf"Cannot read .*{name}: it is a symbolic link"):
        impute_dataset(str(dataset), str(tmp_path / "out"), CGKNNImputer(1), **SETTINGS)


def test_endings_in_capitals_are_files_of_the_dataset(dataset, tmp_path) -> None:
    (dataset / "b.parquet").rename(dataset / "b.PARQUET")
    for force in (False, True):
        numbers = impute_dataset(
            str(dataset), str(tmp_path / "out"), CGKNNImputer(1), force=force, **SETTINGS
        )
        assert numbers["partitions"] == 3


def test_a_file_that_changes_during_a_run_is_told(dataset, tmp_path, monkeypatch) -> None:
    write = parquet.Staging.write

    def disturbed(self, partition, table) -> None:
        write(self, partition, table)
        os.utime(dataset / "a.parquet")

    monkeypatch.setattr(parquet.Staging, "write", disturbed)
    with pytest.raises(FileProblemError, match=r"Cannot read .*in: it changed while it was read"):
        impute_dataset(str(dataset), str(tmp_path / "out"), CGKNNImputer(1), **SETTINGS)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("is_planned", [False, True])
def test_a_draft_of_a_plan_is_of_a_run(dataset, tmp_path, monkeypatch, is_planned) -> None:
    """What a run leaves that is killed while it writes its plan, or writes that anew."""
    arguments = (str(dataset), str(tmp_path / "out"), CGKNNImputer(1))
    if is_planned:
        monkeypatch.setattr(parquet.Staging, "publish", lambda self: None)
        impute_dataset(*arguments, **SETTINGS)
        monkeypatch.undo()
    (tmp_path / "out.partial").mkdir(exist_ok=True)
    (tmp_path / "out.partial" / ".greyfill-0123456789abcdef.tmp").touch()
    impute_dataset(*arguments, **SETTINGS)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.parametrize("source", ["out.partial", "out.partial/parts"])
def test_an_input_where_the_output_would_be_made_stays(dataset, tmp_path, source) -> None:
    (tmp_path / source).parent.mkdir(exist_ok=True)
    dataset.rename(tmp_path / source)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileProblemError, match=r"out\.partial: .* lie in each other"):
        impute_dataset(str(tmp_path / source), str(tmp_path / "out"), KNNIImputer(1), **SETTINGS)
    assert sorted(tmp_path.rglob("*")) == before


FOREIGN = {
    "no plan": ("parts/a.parquet", "mine"),
    "a file": (None, "mine"),
    "other plan": ("plan.json", '{"maker": "somebody"}'),
    "no object": ("plan.json", "[1]"),
    "no text": ("plan.json", "\udcff"),
}


@pytest.mark.parametrize(("name", "text"), FOREIGN.values(), ids=FOREIGN)
def test_a_folder_that_no_run_made_is_refused_and_stays(dataset, tmp_path, name, text) -> None:
    folder = tmp_path / "out.partial"
    file = folder / name if name else folder
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode(errors="surrogateescape"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileProblemError, match=r"made in .*out\.partial, .* no unfinished run"):
        impute_dataset(str(dataset), str(tmp_path / "out"), KNNIImputer(1), force=True, **SETTINGS)
    assert sorted(tmp_path.rglob("*")) == before
    assert file.read_bytes() == text.encode(errors="surrogateescape")


@pytest.mark.parametrize("force", [False, True])
def test_what_comes_to_stand_at_the_output_during_a_run_stays(
    dataset, tmp_path, monkeypatch, force
) -> None:
    out = tmp_path / "out"
    write = parquet.Staging.write

    def disturbed(self, partition, table) -> None:
        out.mkdir(exist_ok=True)
        (out / "thesis.tex").touch()
        write(self, partition, table)

    monkeypatch.setattr(parquet.Staging, "write", disturbed)
    arguments = (str(dataset), str(out), CGKNNImputer(n_neighbors=5))
    with pytest.raises(FileProblemError, match=r"exists already|thesis\.tex does not belong"):
        impute_dataset(*arguments, force=force, **SETTINGS)
    assert [p.name for p in out.iterdir()] == ["thesis.tex"]
    monkeypatch.undo()
    (out / "thesis.tex").unlink()
    monkeypatch.setattr(parquet.Staging, "write", lambda *_: pytest.fail("was written already"))
    impute_dataset(*arguments, force=True, **SETTINGS)
    assert len(list(out.rglob("*.parquet"))) == 3


def test_a_folder_that_may_not_be_read_is_not_called_empty(dataset, monkeypatch) -> None:
    def refuse(path) -> list[str]:
        raise PermissionError(errno.EACCES, "denied", path)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(FileProblemError, match=r"Cannot read .*in: permission denied"):
        list_partitions(str(dataset))


def test_a_crash_while_writing_is_resumed(dataset, tmp_path, monkeypatch) -> None:
    out = tmp_path / "out"
    write = parquet.Staging.write
    written: list[str] = []

    def failing(self, partition, table) -> None:
        if partition.name == "b.parquet" and not written.count("b.parquet"):
            written.append("b.parquet")
            raise OSError("power failure")
        written.append(partition.name)
        write(self, partition, table)

    monkeypatch.setattr(parquet.Staging, "write", failing)
    arguments = (str(dataset), str(out), CGKNNImputer(n_neighbors=5))
    with pytest.raises(OSError, match="power"):
        impute_dataset(*arguments, **SETTINGS)
    assert not out.exists()  # nothing that looks finished
    (tmp_path / "out.partial" / "parts" / ".greyfill-0123456789abcdef.tmp").touch()  # a draft
    monkeypatch.setattr(parquet, "fit_sample", lambda *_: pytest.fail("was learned already"))
    impute_dataset(*arguments, **SETTINGS)
    assert written == ["a.parquet", "b.parquet", "b.parquet", "later/c.parquet"]
    assert sorted(p.name for p in out.rglob("*.*")) == ["a.parquet", "b.parquet", "c.parquet"]
    assert not (tmp_path / "out.partial").exists()


def test_other_settings_do_not_continue_an_unfinished_run(dataset, tmp_path, monkeypatch) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(parquet.Staging, "publish", lambda self: None)
    impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=5), **SETTINGS)
    monkeypatch.undo()
    settings = {**SETTINGS, "donors": 50}
    numbers = impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=5), **settings)
    assert numbers["donors"] < 120


ONE, OTHER = ([f"{name}{i}" for i in range(60)] for name in ("a", "b"))
DIFFERENT = {
    "long lists": [CGKNNImputer(categorical_features=[*ONE, last]) for last in ("x", "y")],
    "middles": [CGKNNImputer(categorical_features=[*ONE, *o, *ONE]) for o in (ONE, OTHER)],
    "long arrays": [CGKNNImputer(missing_values=np.arange(2000.0) + d) for d in (0, 1e-12)],
    "classes": [CGKNNImputer(), KNNIImputer()],
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_every_setting_tells_runs_apart(dataset, monkeypatch, one, other) -> None:
    parted = parquet.PartedDataset.of(str(dataset), "class", [])
    found = parquet._fingerprint(parted, one, 50)
    assert parquet._fingerprint(parted, clone(one), np.int64(50)) == found
    assert parquet._fingerprint(parted, other, 50) != found
    monkeypatch.setattr(parquet, "version", lambda name: "another")
    assert parquet._fingerprint(parted, one, 50) != found


def test_two_runs_at_once_do_not_share_a_folder(dataset, tmp_path, monkeypatch) -> None:
    arguments = (str(dataset), str(tmp_path / "out"))
    write, told = parquet.Staging.write, []

    def disturbed(self, partition, table) -> None:
        for k in (4, 5):
            with pytest.raises(FileProblemError) as refused:
                impute_dataset(*arguments, CGKNNImputer(n_neighbors=k), **SETTINGS)
            told.append(str(refused.value))
        write(self, partition, table)

    monkeypatch.setattr(parquet.Staging, "write", disturbed)
    impute_dataset(*arguments, CGKNNImputer(n_neighbors=5), **SETTINGS)
    assert sum("another run is making it in" in each for each in told) == 6
    assert len(list((tmp_path / "out").rglob("*.parquet"))) == 3


def test_what_counts_as_complete_is_on_the_disk(dataset, tmp_path, monkeypatch) -> None:
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file)) or sync(file))
    impute_dataset(str(dataset), str(tmp_path / "out"), CGKNNImputer(n_neighbors=5), **SETTINGS)
    for path in (tmp_path / "out").rglob("*.parquet"):
        assert any(os.path.samestat(path.stat(), one) for one in synced)


@pytest.mark.parametrize("stays", ["", "notes.txt"])
def test_of_an_unfinished_run_only_what_it_made_is_removed(
    dataset, tmp_path, monkeypatch, stays
) -> None:
    out, folder = tmp_path / "out", tmp_path / "out.partial"
    monkeypatch.setattr(parquet.Staging, "publish", lambda self: None)
    impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=5), **SETTINGS)
    monkeypatch.undo()
    if stays:
        (folder / stays).touch()
    impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=4), **SETTINGS)
    left = [p.name for p in folder.iterdir()] if folder.exists() else []
    assert left == ([stays] if stays else [])


@pytest.mark.parametrize("n_removed", range(5))
def test_a_removal_that_was_interrupted_leaves_nothing_to_go_on_with(
    dataset, tmp_path, monkeypatch, n_removed
) -> None:
    """A run is thrown away, which ends after so many files; no later run takes the rest."""
    out, imputer = tmp_path / "out", CGKNNImputer(n_neighbors=5)
    monkeypatch.setattr(parquet.Staging, "publish", lambda self: None)
    impute_dataset(str(dataset), str(out), imputer, **SETTINGS)
    monkeypatch.undo()
    unlink, removed = os.unlink, []

    def failing(path, *arguments, **options) -> None:
        if len(removed) == n_removed:
            raise OSError("power failure")
        removed.append(path)
        unlink(path, *arguments, **options)

    monkeypatch.setattr(os, "unlink", failing)
    with pytest.raises(OSError, match="power"):
        impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=4), **SETTINGS)
    monkeypatch.undo()
    learned: list[int] = []
    fit = parquet.fit_sample
    monkeypatch.setattr(parquet, "fit_sample", lambda *a, **o: learned.append(1) or fit(*a, **o))
    impute_dataset(str(dataset), str(out), imputer, **SETTINGS)
    assert learned
    assert len(list(out.rglob("*.parquet"))) == 3


def test_row_groups_of_one_file(tmp_path) -> None:
    source = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pandas(TABLE, preserve_index=False), source, row_group_size=100)
    out = tmp_path / "out"
    numbers = impute_dataset(str(source), str(out), CGKNNImputer(n_neighbors=5), **SETTINGS)
    assert numbers["partitions"] == 4
    filled = pq.read_table(out).to_pandas()
    whole = whole_machine()
    gap, different = differences(whole, filled[list(whole.columns)])
    assert (gap < 1e-6, different) == (True, 0)


def test_a_damaged_file_is_named_and_nothing_is_written(dataset, tmp_path) -> None:
    (dataset / "b.parquet").write_bytes(b"PAR1 no more")
    out = tmp_path / "out"
    with pytest.raises(GreyfillError, match=r"b\.parquet"):
        impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=5), **SETTINGS)
    assert not out.exists()


def test_wrong_input_is_refused(dataset, tmp_path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(InvalidParameterError, match="one of greyfill's"):
        impute_dataset(str(dataset), str(out), SimpleImputer(), **SETTINGS)
    with pytest.raises(InvalidParameterError, match="'clas'"):
        impute_dataset(str(dataset), str(out), CGKNNImputer(), target="clas")
    with pytest.raises(FileProblemError, match=r"no \.parquet file"):
        impute_dataset(str(out), str(tmp_path / "new"), CGKNNImputer())
    with pytest.raises(FileProblemError, match="exists already"):
        impute_dataset(str(dataset), str(out), CGKNNImputer(n_neighbors=5), **SETTINGS)


@pytest.mark.parametrize("n_groups", [0, 1])
@pytest.mark.parametrize("place", ["none.parquet", "in/none.parquet"])
def test_a_dataset_without_rows_is_refused(tmp_path, place, n_groups) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    with pq.ParquetWriter(path, V.schema) as writer:
        for _ in range(n_groups):
            writer.write_table(V.slice(0, 0))
    source = path if place == "none.parquet" else path.parent
    with pytest.raises(InvalidDataError, match=f"{source.name} has no rows"):
        impute_dataset(str(source), str(tmp_path / "out"), KNNIImputer(1))
    done = CliRunner().invoke(app, ["impute", str(source), "--chunked"])
    assert done.exit_code == 2
    assert "has no rows" in " ".join(done.stderr.split())
    assert [p.name for p in tmp_path.iterdir()] == [place.split("/")[0]]


def test_two_columns_of_one_name_are_refused(tmp_path) -> None:
    source = tmp_path / "twice.parquet"
    pq.write_table(V.rename_columns(["v", "v"]), source)
    with pytest.raises(InvalidDataError, match=r"twice\.parquet has 2 columns 'v'"):
        impute_dataset(str(source), str(tmp_path / "out"), KNNIImputer(1))
    done = CliRunner().invoke(app, ["impute", str(source), "--chunked"])
    assert done.exit_code == 2
    assert "has 2 columns 'v'" in " ".join(done.stderr.split())


def test_added_columns_are_refused_and_a_number_of_numpy_is_one(tmp_path) -> None:
    (tmp_path / "in" / "day.parquet").mkdir(parents=True)  # as Spark calls a folder of files
    pq.write_table(V, tmp_path / "in" / "day.parquet" / "part.parquet")
    arguments = (str(tmp_path / "in"), str(tmp_path / "out"))
    with pytest.raises(InvalidParameterError, match="add_indicator=False"):
        impute_dataset(*arguments, KNNIImputer(1, add_indicator=True))
    numbers = impute_dataset(*arguments, KNNIImputer(1), donors=np.int64(3))
    assert numbers["donors"] == 3


def filled_pair(folder, one, other) -> list:
    """The cells of ``v`` of two files, and beside them what comes out."""
    (folder / "in").mkdir()
    for name, v in (("a", one), ("b", other)):
        table = v if isinstance(v, pa.Table) else pa.table({"v": v, "x": [0.0, 1.0, 2.0]})
        pq.write_table(table, folder / "in" / f"{name}.parquet")
    impute_dataset(str(folder / "in"), str(folder / "out"), KNNIImputer(1), n_jobs=1)
    return [
        (pq.read_table(folder / "in" / name)["v"], pq.read_table(folder / "out" / name)["v"])
        for name in ("a.parquet", "b.parquet")
    ]


PAIRS = [
    (pa.array([1, 2, None]), pa.array([5.5, None, 1.0])),
    (pa.array([0.5, None, 1.0]), pa.array([2**53 + 1, 2, None])),
    (pa.array([1, 2, None], pa.timestamp("ms")), pa.array([1, None, 7], pa.timestamp("ns"))),
    (pa.nulls(3), pa.array([1, None, 3])),
    (pa.array(["a", None, "b"]), pa.nulls(3)),
]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{a.type}, {b.type}" for a, b in PAIRS])
def test_files_of_different_types_keep_their_cells(tmp_path, one, other) -> None:
    for given, filled in filled_pair(tmp_path, one, other):
        assert given.type in (filled.type, pa.null())
        assert filled.null_count == 0
        pairs = zip(given.to_pylist(), filled.to_pylist(), strict=True)
        assert all(cell == found for cell, found in pairs if cell is not None)


LABELS = [
    (pa.array(["u", None, "v"]), pa.array(["v", "w", None], pa.large_string())),
    (pa.array([1, 2, None], pa.int8()), pa.array([1.0, None, 2.0])),
    (pa.nulls(3), pa.array(["v", "w", None])),
]


@pytest.mark.parametrize(("one", "other"), LABELS, ids=[f"{a.type}, {b.type}" for a, b in LABELS])
def test_labels_of_different_types_are_joined(tmp_path, one, other) -> None:
    (tmp_path / "in").mkdir()
    for name, y in (("a", one), ("b", other)):
        table = pa.table({"v": [1.0, None, 3.0], "x": [0.0, 1.0, 2.0], "y": y})
        pq.write_table(table, tmp_path / "in" / f"{name}.parquet")
    imputer = CGKNNImputer(n_neighbors=1)
    impute_dataset(str(tmp_path / "in"), str(tmp_path / "out"), imputer, target="y")
    for name, y in (("a", one), ("b", other)):
        filled = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        assert filled["v"].null_count == 0
        assert filled["y"].combine_chunks() == y


V = pa.table({"v": [1, None, 3], "x": [0.0, 1.0, 2.0]})
FILES = {
    "extra": (V, V.append_column("more", V["v"]), r"b\.parquet has .*'more'.*a\.parquet has"),
    "missing": (V, V.drop_columns("x"), r"b\.parquet has the columns \['v'\]"),
    "renamed": (V, V.rename_columns(["w", "x"]), r"b\.parquet has the columns \['w', 'x'\]"),
    "zones": (
        pa.array([1, None, 3], pa.timestamp("ms")),
        pa.array([1, None, 3], pa.timestamp("ms", "UTC")),
        r"'v' has type timestamp\[ms, tz=UTC\] in .*b\.parquet .*a\.parquet",
    ),
}


@pytest.mark.parametrize(("one", "other", "message"), FILES.values(), ids=FILES)
def test_a_file_with_other_columns_is_named(tmp_path, one, other, message: str) -> None:
    with pytest.raises(InvalidDataError, match=message):
        filled_pair(tmp_path, one, other)
    assert not (tmp_path / "out").exists()


CELLS = {
    "infinity": (V["v"], pa.array([1.0, None, np.inf]), r"b\.parquet: .*'v' is infinite in row 2"),
    "families": (
        pa.array([1, None, 3]),
        pa.array(["a", None, "b"]),
        r"'v' holds numeric cells .*a\.parquet and categorical ones .*b\.parquet",
    ),
    "truths": (pa.array([True, None]), pa.array(["a", None]), r"parquet: The holes of column 'v'"),
    "lists": (V["v"], pa.array([[1], None, [2]]), r"b\.parquet: Column 'v' has dtype list"),
    "views": (V["v"], pa.array(["a", None], pa.string_view()), r"'v' of .*b\.parquet has type str"),
}


@pytest.mark.parametrize(("one", "other", "message"), CELLS.values(), ids=CELLS)
def test_a_file_with_cells_that_cannot_be_used_is_named(tmp_path, one, other, message) -> None:
    both = [pa.table({"v": v, "x": np.arange(float(len(v)))}) for v in (one, other)]
    with pytest.raises(InvalidDataError, match=message):
        filled_pair(tmp_path, *both)


def test_a_group_of_rows_is_named(tmp_path) -> None:
    source = tmp_path / "one.parquet"
    pq.write_table(pa.table({"v": [1.0, 2.0, None, np.inf]}), source, row_group_size=2)
    with pytest.raises(InvalidDataError, match=r"one\.parquet, row group 1: .*'v' is infinite"):
        impute_dataset(str(source), str(tmp_path / "out"), KNNIImputer(1))


def test_command(dataset, tmp_path) -> None:
    unnamed = ["impute", str(dataset), "--chunked", "-t", "class", "--ignore", "id"]
    arguments = [*unnamed, "-m", "cgknn", "-k", "5"]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["output"] == str(tmp_path / "in.filled")
    assert len(list((tmp_path / "in.filled").rglob("*.parquet"))) == 3
    refused = CliRunner().invoke(app, [*arguments, "--report", "page.html"])
    assert refused.exit_code == 2
    assert "--report does not work with --chunked" in refused.stderr
    refused = CliRunner().invoke(app, [*unnamed, "-m", "mean"])
    assert refused.exit_code == 2
    assert "--chunked has no meaning for the method mean" in refused.stderr
    done = CliRunner().invoke(app, [*unnamed, "-o", str(tmp_path / "grey")])
    assert done.exit_code == 0, done.stderr
    assert "filled" in done.stderr
    assert "from 360 donors" in done.stderr


def test_the_command_refuses_what_it_would_not_heed(dataset) -> None:
    arguments = ["impute", str(dataset), "--chunked", "-t", "class"]
    for given, words in {
        ("--fold", "word"): "--fold does not work with --chunked, .* one spelling",
        ("--na-values", "count=7"): r"--na-values count=7: .* \(--na-values 7\), or leave",
    }.items():
        refused = CliRunner().invoke(app, [*arguments, *given])
        assert refused.exit_code == 2
        assert re.search(words, " ".join(refused.stderr.split()))
    assert not dataset.with_name("in.filled").exists()


@pytest.mark.parametrize("first", ["no rows", "no labels", "no row group"])
def test_the_command_judges_no_dataset_by_an_unlabeled_first_file(dataset, tmp_path, first) -> None:
    path = dataset / "a.parquet"
    table = pq.read_table(path)
    if first == "no labels":
        place = table.column_names.index("class")
        table = table.set_column(place, "class", pa.nulls(len(table), pa.large_string()))
        pq.write_table(table, path)
    else:
        with pq.ParquetWriter(path, table.schema) as writer:
            if first == "no rows":
                writer.write_table(table.slice(0, 0))
    arguments = ["impute", str(dataset), "--chunked", "-t", "class", "--ignore", "id"]
    done = CliRunner().invoke(app, [*arguments, "-m", "cgknn", "-k", "5", "--json"])
    assert done.exit_code == 0, done.stderr
    filled = pq.read_table(tmp_path / "in.filled" / "b.parquet").to_pandas()
    assert not filled.drop(columns="class").isna().any().any()


def test_a_dataset_without_any_label_is_refused(dataset) -> None:
    for path in dataset.rglob("*.parquet"):
        table = pq.read_table(path)
        place = table.column_names.index("class")
        nothing = pa.nulls(len(table), pa.string())
        pq.write_table(table.set_column(place, "class", nothing), path)
    done = CliRunner().invoke(app, ["impute", str(dataset), "--chunked", "-t", "class"])
    assert done.exit_code == 2
    assert "has no label in any row" in " ".join(done.stderr.split())


def test_the_command_leaves_identifiers_alone_and_says_so(dataset, tmp_path) -> None:
    for path in dataset.rglob("*.parquet"):
        table = pq.read_table(path)
        ids = [None if row % 9 == 0 else cell for row, cell in enumerate(table["id"].to_pylist())]
        pq.write_table(table.set_column(table.column_names.index("id"), "id", [ids]), path)
    arguments = ["impute", str(dataset), "--chunked", "-t", "class", "-m", "cgknn", "-k", "5"]
    done = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.stderr
    assert "left alone, neither filled nor used: id (" in done.stderr
    done = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "again"), "--json"])
    assert list(json.loads(done.stdout)["left_alone"]) == ["id"]
    filled = pq.read_table(tmp_path / "out").to_pandas()
    assert filled["id"].isna().sum() == sum(-(-120 // 9) for _ in range(3))
    assert not filled.drop(columns=["class", "id"]).isna().any().any()


@pytest.mark.parametrize("transform", ["pandas", "polars"])
def test_an_imputer_with_a_library_for_its_output_fills_as_any(transform, dataset, tmp_path):
    about = {"target": "class", "ignored": ["id"]}
    outs = []
    for imputer in (KNNIImputer(2), KNNIImputer(2).set_output(transform=transform)):
        outs.append(tmp_path / f"out{len(outs)}")
        impute_dataset(dataset, outs[-1], imputer, **about)
    assert pq.read_table(outs[0]).equals(pq.read_table(outs[1]))
