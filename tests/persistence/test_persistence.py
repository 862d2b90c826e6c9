"""What is saved comes back bit for bit; what is damaged or foreign is refused in words."""

import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from imputers.family import IMPUTERS, quick
from imputers.jobs import holed
from sklearn.linear_model import LogisticRegression

import greyfill
from greyfill import CGKNNImputer, Grey, NeighborImputer, PlainFill
from greyfill.datasets import load as load_data
from greyfill.exceptions import PersistenceError
from greyfill.persistence.codec import read_text

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    X, y = holed(60)
    path = tmp_path / "model.greyfill"
    CGKNNImputer(n_neighbors=3).fit(X, y).save(path)
    return path


@pytest.mark.parametrize("imputer", IMPUTERS)
def test_round_trip_of_a_mixed_table(imputer, tmp_path: Path) -> None:
    data = load_data("hepatitis")
    fitted = quick(imputer).fit(data.X, data.y)
    fitted.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    assert type(loaded) is imputer
    assert loaded.get_params().keys() == fitted.get_params().keys()
    assert loaded.transform(data.X).equals(fitted.transform(data.X))


@pytest.mark.parametrize("imputer", IMPUTERS)
def test_round_trip_of_ordered_levels(imputer, tmp_path: Path) -> None:
    """The mean of ranks, which starts or fills some holes, is the rank of no level."""
    sizes = ["S", "M", "L", "M", None, "L", "S", "L"] * 3
    frame = pl.DataFrame({"size": sizes, "x": [i % 5 + i / 24 for i in range(24)]})
    fitted = quick(imputer, ordinal_features={"size": ["S", "M", "L"]}).fit(frame, ["a", "b"] * 12)
    fitted.save(tmp_path / "model")
    assert greyfill.load(tmp_path / "model").transform(frame).equals(fitted.transform(frame))


@pytest.mark.parametrize("imputer", IMPUTERS)
def test_round_trip_where_some_rows_have_no_label(imputer, tmp_path: Path) -> None:
    X, y = holed(60)
    labels = [None if i % 5 == 0 else f"c{label}" for i, label in enumerate(y)]
    fitted = quick(imputer).fit(X, np.array(labels, dtype=object))
    fitted.save(tmp_path / "model")
    assert greyfill.load(tmp_path / "model").transform(X).tobytes() == fitted.transform(X).tobytes()


def test_round_trip_of_parts_and_settings(tmp_path: Path) -> None:
    X, y = holed(60)
    fitted = NeighborImputer(
        4, distance=Grey(rho=0.3), fill=PlainFill(), add_indicator=True, missing_values=[-9, "?"]
    ).fit(X, y)
    fitted.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    assert loaded.distance == Grey(rho=0.3)
    assert loaded.missing_values == [-9, "?"]
    assert loaded.transform(X).tobytes() == fitted.transform(X).tobytes()
    assert loaded.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


def test_a_set_of_missing_values_is_kept(tmp_path: Path) -> None:
    model = greyfill.KNNIImputer(1, missing_values={-9, -1}).fit([[1.0, 2.0], [3.0, -9]])
    model.save(tmp_path / "m.gf")
    loaded = greyfill.load(tmp_path / "m.gf")
    assert loaded.missing_values == {-9, -1}
    assert loaded.transform([[1.0, -1]]).tolist() == [[1.0, 2.0]]


def test_a_file_is_the_same_before_and_after_use(tmp_path: Path) -> None:
    """Columns that had no hole in `fit`, or no observed cell beside a label, are tuned in `fit`."""
    X, y = holed(60)
    X[:, 0] = np.arange(60) / 60
    X[:, 2] = np.nan
    y = np.where(np.arange(60) < 6, np.nan, y)
    X[:3, 2] = 1.0  # observed only where there is no label
    rows = np.where(np.eye(X.shape[1], dtype=bool), np.nan, 0.5)
    fresh, used = (quick(greyfill.GreyImputer).fit(X, y) for _ in range(2))
    filled = used.transform(rows[::-1])
    fresh.save(tmp_path / "fresh")
    used.save(tmp_path / "used")
    assert (tmp_path / "fresh").read_bytes() == (tmp_path / "used").read_bytes()
    loaded = greyfill.load(tmp_path / "fresh")
    assert loaded.transform(rows[::-1]).tobytes() == filled.tobytes()
    assert sorted(loaded._fitted.choices) == [*range(X.shape[1] + 1)]  # the class too


def test_dates_and_categories_survive(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "day": pl.Series(["2024-01-01", None, "2024-03-01", "2024-04-01"]).str.to_date(),
            "size": pl.Series(["S", "M", None, "S"], dtype=pl.Enum(["S", "M", "L"])),
            "flag": [True, None, False, True],
        }
    )
    fitted = greyfill.KNNIImputer(n_neighbors=1).fit(frame)
    fitted.save(tmp_path / "model")
    assert greyfill.load(tmp_path / "model").transform(frame).equals(fitted.transform(frame))


def test_a_loaded_chain_says_that_it_has_no_draws(tmp_path: Path) -> None:
    X, _ = holed(60)
    greyfill.MICEImputer(2, n_iter=1).fit(X).save(tmp_path / "model")
    with pytest.raises(greyfill.exceptions.InvalidDataError, match="fit again"):
        _ = greyfill.load(tmp_path / "model").draws_


def test_pickle_works_too() -> None:
    X, y = holed(60)
    fitted = CGKNNImputer(n_neighbors=3).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.transform(X).tobytes() == fitted.transform(X).tobytes()


def test_a_truncated_file_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for share in (0.0, 0.1, 0.5, 0.9, 0.999):
        saved.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(PersistenceError, match=r"model\.greyfill"):
            greyfill.load(saved)


def test_flipped_bits_are_refused_or_harmless(saved: Path) -> None:
    """Whatever bit flips, loading either refuses or gives the very same imputer."""
    X, _ = holed(60)
    expected = greyfill.load(saved).transform(X).tobytes()
    content = bytearray(saved.read_bytes())
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(content), 60):
        damaged = content.copy()
        damaged[place] ^= 1 << int(rng.integers(0, 8))
        saved.write_bytes(damaged)
        try:
            loaded = greyfill.load(saved)
        except PersistenceError:
            refused += 1
        else:
            assert loaded.transform(X).tobytes() == expected
    assert refused > 30


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 nonsense", b"\x80\x04K\x01."])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(content)
    with pytest.raises(PersistenceError, match=r"other\.bin"):
        greyfill.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PersistenceError, match="nowhere"):
        greyfill.load(tmp_path / "nowhere")


def test_a_zip_bomb_is_refused_before_it_unpacks(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("tree.json", b"0" * 10_000_000)
    with pytest.raises(PersistenceError, match="max_bytes"):
        greyfill.load(path, max_bytes=1_000_000)


def rewritten(saved: Path, change) -> None:
    """Change the tree or the manifest, with matching checksums."""
    with zipfile.ZipFile(saved) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest, tree = json.loads(parts["manifest.json"]), json.loads(parts["tree.json"])
    change(manifest, tree)
    parts["tree.json"] = json.dumps(tree).encode()
    manifest["sha256"]["tree.json"] = hashlib.sha256(parts["tree.json"]).hexdigest()
    parts["manifest.json"] = json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    saved.write_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[" * 100_000, b"null", b"{}", b'{"$imputer": "CGKNNImputer"}', b"1e999",
     b'{"$array": "0.npy"}', b'{"$record": "table", "fields": []}', b'{"$text": "float"}',
     b'{"$imputer": ["a"], "parameters": {}, "state": {}}', b'{"$objects": [1], "shape": [-7]}'],
)  # fmt: skip
def test_a_tree_that_makes_no_sense_is_refused(saved: Path, content: bytes) -> None:
    """With checksums that fit, as a fuzzer or an attacker would make them."""
    sums = {"tree.json": hashlib.sha256(content).hexdigest()}
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 2, "sha256": sums}))
        archive.writestr("tree.json", content)
    with pytest.raises(PersistenceError, match=r"model\.greyfill"):
        greyfill.load(saved)


def test_parts_that_are_not_what_the_manifest_says_are_refused(saved: Path) -> None:
    sums = {"tree.json": hashlib.sha256(b"null").hexdigest()}
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 2, "sha256": sums}))
        archive.writestr("tree.json", b"true")
    with pytest.raises(PersistenceError, match=r"damaged, the checksum of tree\.json"):
        greyfill.load(saved)
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 2, "sha256": {}}))
    with pytest.raises(PersistenceError, match="not a file that greyfill saved"):
        greyfill.load(saved)


def test_values_of_an_unknown_kind_are_refused(saved: Path) -> None:
    def change(manifest, tree) -> None:
        tree["state"]["n_neighbors_"] = {"$text": "pickle", "value": "x"}

    rewritten(saved, change)
    with pytest.raises(PersistenceError, match="unknown kind of value 'pickle'"):
        greyfill.load(saved)


@pytest.mark.parametrize("manifest", ["[]", "1", '{"sha256": {"x": 1}}', '{"sha256": 3}', "{"])
def test_a_manifest_that_makes_no_sense_is_refused(saved: Path, manifest: str) -> None:
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("manifest.json", manifest)
    with pytest.raises(PersistenceError, match=r"model\.greyfill"):
        greyfill.load(saved)


def test_the_name_of_a_file_does_not_matter(saved: Path, tmp_path: Path) -> None:
    """A renamed imputer loads; a table that was renamed to look like one does not."""
    X, _ = holed(60)
    expected = greyfill.load(saved).transform(X).tobytes()
    renamed = saved.rename(tmp_path / "table.csv")
    assert greyfill.load(renamed).transform(X).tobytes() == expected
    (tmp_path / "model.greyfill").write_text("a,b\n1,2\n")
    with pytest.raises(PersistenceError, match="not a file that greyfill saved"):
        greyfill.load(tmp_path / "model.greyfill")


def test_a_file_cannot_name_types_of_its_own(saved: Path) -> None:
    def change(manifest, tree) -> None:
        tree["state"]["_fitted"] = {"$record": "subprocess.Popen", "fields": {"args": "true"}}

    rewritten(saved, change)
    with pytest.raises(PersistenceError, match="Popen"):
        greyfill.load(saved)


@pytest.mark.parametrize("name", ["transform", "fit", "__class__", "_fill_table"])
def test_a_file_cannot_replace_methods(saved: Path, name: str) -> None:
    def change(manifest, tree) -> None:
        tree["state"][name] = 1

    rewritten(saved, change)
    with pytest.raises(PersistenceError, match="attribute"):
        greyfill.load(saved)


def test_a_newer_format_is_refused_with_the_version_that_wrote_it(saved: Path) -> None:
    def change(manifest, tree) -> None:
        manifest["format"] = 99

    rewritten(saved, change)
    with pytest.raises(PersistenceError, match="format 99"):
        greyfill.load(saved)


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    X, y = holed(60)
    fitted = CGKNNImputer(n_neighbors=3).fit(X, y)
    fitted.random_state = LogisticRegression  # a class, not a value
    with pytest.raises(PersistenceError, match="cannot save"):
        fitted.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_first_format_still_loads() -> None:
    """A file written in format 1, kept here for good: k = 1, class a at (1.0, 2.0), (1.1, 2.1) …"""
    loaded = greyfill.load(FIXTURES / "format1-cgknn.greyfill")
    # the nearest donor by the first column is (1.1, 2.1), and all neighbors are of class a
    assert loaded.transform(np.array([[1.08, np.nan]]))[0, 1] == pytest.approx(2.1)


def test_moments_of_pandas_keep_their_nanoseconds_and_zone(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    moments = [pd.Timestamp(2024, 1, 1, nanosecond=n) for n in (1, 2)]
    zoned = [pd.Timestamp("2024-01-01", tz="Europe/Berlin"), pd.Timestamp("2024-07-01", tz="UTC")]
    spans = [pd.Timedelta(1, "ns"), pd.Timedelta(2**60 + 1, "ns")]
    frame = pd.DataFrame(
        {
            "moment": pd.Series([moments[0], moments[1], None, "never"], dtype=object),
            "zoned": pd.Series([zoned[0], zoned[1], None, "never"], dtype=object),
            "span": pd.Series([spans[0], spans[1], None, "never"], dtype=object),
            "x": [1.0, 2.0, 2.0, 9.0],
        }
    )
    fitted = greyfill.KNNIImputer(1).fit(frame)
    fitted.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    for before, after in zip(fitted.schema_.fields, loaded.schema_.fields, strict=True):
        assert before.levels == after.levels
        assert [str(level) for level in before.levels] == [str(level) for level in after.levels]
    assert loaded.transform(frame).equals(fitted.transform(frame))


def test_levels_of_any_hashable_kind_survive(tmp_path: Path) -> None:
    day = datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))
    levels = [
        frozenset({"b", "a"}), (1, ("x", None)), 10**30, Decimal("1.50"), b"\xff", day,
        date(2024, 2, 29), time(1, 2, 3), timedelta(days=200_000, microseconds=1), True, -0.0,
    ]  # fmt: skip
    X = np.empty((len(levels) + 1, 2), dtype=object)
    X[:, 1] = range(len(X))
    for row, level in enumerate([*levels, None]):
        X[row, 0] = level
    fitted = greyfill.KNNIImputer(1).fit(X)
    fitted.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    assert loaded.schema_.fields[0].levels == fitted.schema_.fields[0].levels
    assert loaded.transform(X).tolist() == fitted.transform(X).tolist()


def test_classes_that_are_sequences_stay_whole(tmp_path: Path) -> None:
    model = quick(greyfill.GreyClassifier).fit([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1])
    model.classes_ = np.empty(2, dtype=object)
    model.classes_[:] = [("a", 1), ("b", 2)]
    model.save(tmp_path / "model")
    assert greyfill.load(tmp_path / "model").classes_.tolist() == [("a", 1), ("b", 2)]


def test_a_timedelta_of_an_older_file_still_loads() -> None:
    assert read_text("timedelta", "1500000.0") == timedelta(seconds=1.5)


SETS = """
import sys, greyfill
words = {"?", "NA", "none", "-", "unknown", "k.A."}
imputer = greyfill.KNNIImputer(1, missing_values=words | {-9}).fit([[1.0, 2.0], [3.0, -9]])
imputer.save(sys.argv[1])
"""


def test_a_set_gives_the_same_file_in_every_process(tmp_path: Path) -> None:
    contents = set()
    for seed in "123":
        path = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", SETS, path], env=environment, check=True)
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_a_folder_is_no_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(PersistenceError, match="cannot be read: it is a folder"):
        greyfill.load(tmp_path)


def test_a_parameter_can_be_left_out(tmp_path, monkeypatch):
    """As one that no file can hold, such as a function; it is back at its default."""
    kind = greyfill.KNNIImputer
    monkeypatch.setattr(kind, "_unsaved", (*kind._unsaved, "verbose"))
    kind(1, verbose=1, tol=0.5).fit([[1.0, 2.0], [None, 3.0], [2.0, 1.0]]).save(tmp_path / "m")
    loaded = greyfill.load(tmp_path / "m")
    assert (loaded.verbose, loaded.tol, loaded.n_neighbors) == (0, 0.5, 1)
