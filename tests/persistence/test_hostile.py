"""A file that fits its checksums and not itself is refused in words, before a kernel sees it."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from persistence.archives import change_array, change_tree, node_at, parts_of, sign

import greyfill
from greyfill._grey.discriminant import Discriminant
from greyfill.exceptions import PersistenceError
from greyfill.persistence import record_rules

N = 40
FRAME = pl.DataFrame(
    {
        "size": [None if i % 7 == 0 else i / 3 for i in range(N)],
        "color": [None if i % 5 == 0 else "rgb"[i % 3] for i in range(N)],
        "count": [None if i % 11 == 0 else i % 4 for i in range(N)],
    }
)
Y = ["a" if i % 2 else "b" for i in range(N)]

MODELS = {
    "knni": lambda: greyfill.KNNIImputer(3),
    "cgknn": lambda: greyfill.CGKNNImputer(3),
    "fwgknn": lambda: greyfill.FWGKNNImputer(3),
    "grey": lambda: greyfill.GreyImputer(n_cells=10, max_iter=1),
    "classifier": lambda: greyfill.GreyClassifier(n_cells=10),
    "mice": lambda: greyfill.MICEImputer(2, n_iter=2, methods={"count": "norm"}),
    "missforest": lambda: greyfill.MissForestImputer(3, max_iter=2),
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    for name, make in MODELS.items():
        make().fit(FRAME, Y).save(folder / name)
    return {name: (folder / name).read_bytes() for name in MODELS}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.greyfill"


def put(value, *place):
    def change(array) -> None:
        array[place or (0,)] = value

    return change


def cut(array):
    return array[:-1].copy()


def wider(array):
    return np.concatenate([array, array[:, :1]], axis=1)


ARRAYS = [
    # a code of no level: `vote` would write at sums[5e8]
    ("knni", "_fitted.donors.values", put(5e8, 0, 1)),
    ("knni", "_fitted.donors.values", put(0.5, 0, 1)),
    ("knni", "_fitted.donors.values", put(np.nan, 0, 0)),
    ("knni", "_fitted.donors.values", put(7.0, 0, 0)),
    ("knni", "_fitted.donors.values", cut),
    ("knni", "_fitted.donors.missing", wider),
    ("knni", "_fitted.donors.values", lambda a: a.astype(np.float32)),
    ("knni", "_fitted.donors.values", lambda a: a.astype(">f8")),
    ("knni", "_fitted.centers", put(3.0, 1)),
    ("knni", "_fitted.pools.0.givers", put(10**6)),
    ("knni", "_fitted.pools.0.givers", put(-1)),
    ("knni", "_fitted.pools.0.givers", lambda a: a[::-1].copy()),
    ("knni", "_fitted.weights", put(-1.0, 0, 0)),
    ("knni", "_fitted.weights", wider),
    ("knni", "_fitted.scaler.low", put(np.inf)),
    ("knni", "_fitted.scaler.is_categorical", put(True)),
    ("knni", "_fitted.rows", put(99)),
    ("knni", "_kept", put(False)),
    ("knni", "_flagged", cut),
    ("cgknn", "_fitted.labels", put(-5)),
    ("cgknn", "_fitted.labels", put(2**40)),
    ("cgknn", "_fitted.labels", cut),
    ("cgknn", "_fitted.pools.1.givers", lambda a: a[:0].copy()),
    ("fwgknn", "_fitted.targets", put(17)),
    ("fwgknn", "_fitted.targets", put(1)),
    ("grey", "_fitted.donors.table.values", put(5e8, 0, 1)),
    ("grey", "_fitted.donors.table.values", put(9.0, 0, 3)),
    ("grey", "_fitted.donors.labels", put(1000)),
    ("grey", "_fitted.donors.labels", lambda a: 1 - a),
    ("grey", "_fitted.choices.0.predictors", put(77)),
    ("grey", "_fitted.choices.0.predictors", put(0)),
    ("grey", "_fitted.choices.0.weights.equal", cut),
    ("grey", "_fitted.donors.feature_map.columns.0.knots", lambda a: a[::-1].copy()),
    ("grey", "_fitted.donors.feature_map.columns.1.levels", put(44)),
    ("grey", "_fitted.donors.feature_map.columns.1.shift", cut),
    ("grey", "_fitted.rows", cut),
    ("classifier", "_fitted.donors.labels", put(2)),
    ("classifier", "classes_", cut),
    ("mice", "_chains.plan.design.edges", put(99, 1)),
    ("mice", "_chains.plan.predictors.0", put(99)),
    ("mice", "_chains.chains.0.models.0.predictors", put(-7)),
    ("mice", "_chains.chains.0.models.0.model.starts", put(2**50, 1)),
    ("mice", "_chains.chains.0.models.0.model.line.slope", cut),
    ("mice", "_chains.chains.0.models.0.model.line.slope", put(1e300)),
    ("mice", "_chains.chains.0.models.1.model.levels", put(12.0)),
    ("mice", "_chains.chains.0.drawn", cut),
    ("mice", "_chains.order", put(3)),
    ("missforest", "_fitted.state.grown.0.forest.left", put(0)),  # a loop
    ("missforest", "_fitted.state.grown.0.forest.right", put(10**6)),
    ("missforest", "_fitted.state.grown.0.forest.feature", put(9)),
    ("missforest", "_fitted.state.grown.0.forest.roots", put(-4)),
    ("missforest", "_fitted.state.grown.0.forest.value", lambda a: a[:1].copy()),
    ("missforest", "_fitted.state.grown.1.forest.value", lambda a: a + 5),
    ("missforest", "_fitted.scaler.half_range", put(0.0)),
    ("missforest", "_fitted.state.values", put(-1.0, 1, 0)),
]


@pytest.mark.parametrize(("model", "place", "change"), ARRAYS)
def test_arrays_that_would_lead_a_kernel_astray_are_refused(
    originals, path: Path, model, place, change
) -> None:
    path.write_bytes(originals[model])
    change_array(path, place, change)
    with pytest.raises(PersistenceError, match=r"model\.greyfill: "):
        greyfill.load(path)


def field(place: str, name: str, value):
    def change(tree) -> None:
        node = node_at(tree, place) if place else {"fields": tree["state"]}
        assert name in node["fields"]
        node["fields"][name] = value

    return change


def parameter(name: str, value):
    def change(tree) -> None:
        tree["parameters"][name] = value

    return change


def attribute(name: str, value):
    def change(tree) -> None:
        tree["state"][name] = value

    return change


def without(name: str):
    def change(tree) -> None:
        del tree["state"][name]

    return change


TREES = [
    ("knni", field("_fitted.donors.columns.1", "n_levels", 2)),
    ("knni", field("_fitted.donors.columns.1", "n_levels", 10**12)),
    ("knni", field("_fitted", "n_neighbors", 0)),
    ("knni", field("_fitted", "n_neighbors", True)),
    ("knni", field("_fitted", "unlabeled", "hard")),
    ("knni", field("_fitted", "pools", {"$tuple": []})),
    ("knni", field("_fitted", "recipe", None)),
    ("knni", field("_schema", "fields", {"$tuple": []})),
    ("knni", field("_schema.fields.1", "levels", {"$tuple": ["r", "r", "b"]})),
    ("knni", field("_schema.fields.1", "levels", {"$tuple": [1, 2, 3]})),
    ("knni", field("_schema.fields.0", "name", "count")),
    ("knni", field("", "n_features_in_", 4)),
    ("knni", without("_fitted")),
    ("knni", without("_schema")),
    ("knni", without("history_")),
    ("knni", attribute("_late", 1)),
    ("knni", attribute("_sklearn_output_config", {"$dict": [["transform", "x"]]})),
    ("knni", parameter("n_jobs", 10**9)),
    ("knni", parameter("n_jobs", "all")),
    ("knni", parameter("keep_empty_features", "yes")),
    ("cgknn", field("_fitted", "labels", None)),
    ("cgknn", field("_fitted.pools.0", "label", 1)),
    ("cgknn", field("_fitted.pools.0", "fallback", True)),
    ("cgknn", field("_fitted.recipe.schedule", "max_iter", 10**12)),
    ("fwgknn", field("_fitted.recipe.weights", "n_permutations", 10**12)),
    ("grey", field("_fitted", "n_jobs", 10**9)),
    ("grey", field("_fitted", "n_cells", 0)),
    ("grey", field("_fitted.choices.0", "target", 1)),
    ("grey", field("_fitted.choices.0", "panel", {"$tuple": []})),
    ("grey", field("_fitted.choices.0.panel.0", "k", 10**9)),
    ("grey", field("_fitted.choices.0.panel.0", "relevance", "none")),
    ("grey", field("_fitted.donors", "n_classes", 10**9)),
    ("grey", field("", "_classes", {"$tuple": ["a"]})),
    ("mice", parameter("n_imputations", 9)),
    ("mice", field("_chains.plan", "n_iter", 10**12)),
    ("mice", field("_chains", "seed", -1)),
    ("missforest", field("_fitted.settings", "n_estimators", 10**12)),
    ("missforest", field("_fitted.state.grown.1.forest", "n_classes", 0)),
]


@pytest.mark.parametrize(("model", "change"), TREES)
def test_parts_that_do_not_agree_are_refused(originals, path: Path, model, change) -> None:
    path.write_bytes(originals[model])
    change_tree(path, change)
    with pytest.raises(PersistenceError, match=r"model\.greyfill: "):
        greyfill.load(path)


@pytest.mark.parametrize("model", MODELS)
def test_the_originals_load_and_are_saved_again_alike(originals, path: Path, model) -> None:
    path.write_bytes(originals[model])
    loaded = greyfill.load(path)
    loaded.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == originals[model]


def test_a_part_is_used_once(originals, path: Path) -> None:
    """Two arrays that share their memory could be told apart by nobody."""

    def change(tree) -> None:
        fields = node_at(tree, "_fitted.scaler")["fields"]
        fields["high"] = fields["low"]

    path.write_bytes(originals["knni"])
    change_tree(path, change)
    with pytest.raises(PersistenceError, match="used twice"):
        greyfill.load(path)


def test_what_could_not_be_loaded_is_not_saved(path: Path) -> None:
    imputer = greyfill.CGKNNImputer(3, max_iter=10**9).fit(FRAME, Y)
    with pytest.raises(PersistenceError, match="cannot save this CGKNNImputer: max_iter"):
        imputer.save(path)
    imputer = MODELS["mice"]().fit(FRAME)
    imputer.n_imputations = 7
    with pytest.raises(PersistenceError, match="number of chains"):
        imputer.save(path)
    assert not path.exists()


def test_a_device_is_no_model() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no such device here")
    with pytest.raises(PersistenceError, match="no ordinary file"):
        greyfill.load("/dev/zero")


def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PersistenceError, match="no ordinary file"):
        greyfill.load(tmp_path / "pipe")


NESTED = {
    "lists": b"[" + b"[]," * 20_000_000 + b"[]]",
    "depth": b'{"$tuple":[' * 400 + b"1" + b"]}" * 400,
    "zeros": b"0" * 200_000_000,
}

PROGRAM = """
import resource, sys, greyfill, greyfill.persistence, numpy
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    greyfill.load(sys.argv[1])
except greyfill.exceptions.GreyfillError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


@pytest.mark.parametrize("name", NESTED)
def test_a_small_file_cannot_take_much_memory(originals, path: Path, name: str) -> None:
    path.write_bytes(originals["knni"])
    sign(path, {**parts_of(path), "tree.json": NESTED[name]})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=True
    )
    kilobytes, words = done.stdout.split(" ", 1)
    assert "model.greyfill" in words
    assert int(kilobytes) < 100_000


def test_values_beyond_what_the_packed_size_accounts_for_are_refused(originals, path: Path) -> None:
    path.write_bytes(originals["knni"])
    sign(path, {**parts_of(path), "tree.json": b"[" + b"[]," * 1_000_000 + b"[]]"})
    with pytest.raises(PersistenceError, match=r"2,000,002 values"):
        greyfill.load(path)


def test_a_member_longer_than_the_archive_says_is_cut_off(originals, path: Path) -> None:
    """The size in the directory of the archive is what memory is measured by."""
    path.write_bytes(originals["knni"])
    parts = parts_of(path)
    sign(path, {**parts, "9.npy": b"\0" * 3_000_000})
    content = bytearray(path.read_bytes())
    said = (3_000_000).to_bytes(4, "little")
    assert content.count(said) >= 2
    path.write_bytes(content.replace(said, (100).to_bytes(4, "little")))
    with pytest.raises(PersistenceError, match=r"model\.greyfill"):
        greyfill.load(path)


LIMITED = """
import resource, sys, greyfill, greyfill.persistence, numpy
from pathlib import Path
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 20_000_000,) * 2)
from greyfill import checks
checks.free_bytes = lambda: None  # as on a system that does not tell
try:
    greyfill.load(sys.argv[1])
except greyfill.exceptions.PersistenceError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_too_little_memory_is_told(path: Path) -> None:
    rng = np.random.default_rng(0)
    greyfill.KNNIImputer(3).fit(rng.normal(size=(200_000, 20))).save(path)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=False
    )
    assert "not enough memory" in done.stdout, done.stderr[-500:]


@pytest.mark.parametrize("dtype", [object, "V8", np.dtype([("a", "f8")]), np.complex128, "O"])
def test_arrays_of_other_things_than_numbers_are_refused(originals, path: Path, dtype) -> None:
    array = np.zeros(3, dtype=dtype)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    path.write_bytes(originals["knni"])
    parts = parts_of(path)
    name = node_at(json.loads(parts["tree.json"]), "_fitted.centers")["$array"]
    sign(path, {**parts, name: buffer.getvalue()})
    with pytest.raises(PersistenceError, match="an array of"):
        greyfill.load(path)


def test_an_array_of_another_size_than_its_header_says_is_refused(originals, path: Path) -> None:
    path.write_bytes(originals["knni"])
    parts = parts_of(path)
    name = node_at(json.loads(parts["tree.json"]), "_fitted.centers")["$array"]
    for shape in (b"(9,)", b"(-3)"):
        sign(path, {**parts, name: parts[name].replace(b"(3,)", shape)})
        with pytest.raises(PersistenceError, match=r"model\.greyfill"):
            greyfill.load(path)


def test_a_class_without_a_donor_is_refused(originals, path: Path) -> None:
    def all_of_one_class(array) -> None:
        array[:, -1] = 0.0

    path.write_bytes(originals["classifier"])
    change_array(path, "_fitted.donors.table.values", all_of_one_class)
    change_array(path, "_fitted.donors.labels", lambda array: array * 0)
    with pytest.raises(PersistenceError, match="a class without a donor"):
        greyfill.load(path)


def test_a_discriminant_of_no_features_is_refused() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    fitted = greyfill.GreyClassifier().fit(rng.normal(size=(60, 2)) + y[:, np.newaxis], y)._fitted
    target = fitted.donors.y_column
    how = Discriminant("values", 0.5, 0.1, 1.0, 0.5)
    choice = replace(fitted.choices[target], discriminant=how)
    record_rules.check_record(replace(fitted, choices={target: choice}))
    nothing = {"equal": np.zeros(0)}
    empty = replace(choice, predictors=np.zeros(0, dtype=np.intp), weights=nothing, panel=())
    with pytest.raises(PersistenceError, match="of no features"):
        record_rules.check_record(replace(fitted, choices={target: empty}))
