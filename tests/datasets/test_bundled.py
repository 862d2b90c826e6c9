"""The bundled tables: known facts, every frame library, and what is said about them."""

import math
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import narwhals as nw
import pytest

from greyfill.datasets import load, names
from greyfill.exceptions import InvalidParameterError

LIBRARIES = ("polars", "pandas", "pyarrow")
FACTS = {
    # name: (rows, features, classes, missing cells, complete rows)
    "votes": (435, 16, {"democrat": 267, "republican": 168}, 392, 232),
    "hepatitis": (155, 19, {"die": 32, "live": 123}, 167, 80),
    "penguins": (344, 7, {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}, 19, 333),
    "iris": (150, 4, {"setosa": 50, "versicolor": 50, "virginica": 50}, 0, 150),
}
MISSING = {
    "hepatitis": {"PROTIME": 67, "ALK_PHOSPHATE": 29, "ALBUMIN": 16, "STEROID": 1, "SEX": 0},
    "penguins": {"sex": 11, "body_mass_g": 2, "year": 0},
    "votes": {"export-administration-act-south-africa": 104},
}
OUTSIDE = {"votes": "voting.csv", "hepatitis": "hepatitis.csv", "penguins": "penguins.csv"}


def frame_of(name, library):
    return nw.from_native(load(name, library=library).X, eager_only=True)


def test_every_name_has_facts():
    assert set(names()) == set(FACTS)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", FACTS)
def test_known_facts(name, library):
    n_rows, n_features, classes, n_missing, n_complete = FACTS[name]
    data = load(name, library=library)
    frame = frame_of(name, library)
    labels = nw.from_native(data.y, series_only=True).to_list()

    assert frame.shape == (n_rows, n_features)
    assert {label: labels.count(label) for label in set(labels)} == classes
    holes = {column: frame[column].null_count() for column in frame.columns}
    assert sum(holes.values()) == n_missing
    assert len(frame.drop_nulls()) == n_complete
    assert MISSING.get(name, {}).items() <= holes.items()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", FACTS)
def test_the_frame_is_of_the_library_and_the_target_is_not_in_it(name, library):
    data = load(name, library=library)
    assert type(data.X).__module__.split(".")[0] == library
    assert type(data.y).__module__.split(".")[0] == library
    assert data.target not in frame_of(name, library).columns


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", FACTS)
def test_categories_are_text_and_the_rest_are_numbers(name, library):
    data = load(name, library=library)
    frame = frame_of(name, library)
    assert set(data.categorical_features) | set(data.ordinal_features) <= set(frame.columns)
    for column, dtype in frame.schema.items():
        observed = frame[column].drop_nulls().to_list()
        if column in data.categorical_features:
            assert all(isinstance(value, str) and value for value in observed)
        else:
            assert dtype.is_numeric()


def test_whole_numbers_stay_whole_in_polars():
    schema = frame_of("hepatitis", "polars").schema
    assert schema["PROTIME"] == nw.Int64
    assert schema["BILIRUBIN"] == nw.Float64


def test_hepatitis_keeps_the_codes_of_its_source():
    data = load("hepatitis")
    values = {v for c in data.categorical_features for v in data.X[c].drop_nulls().to_list()}
    assert values == {"1", "2"}


@pytest.mark.parametrize("name", FACTS)
def test_every_table_says_where_it_comes_from(name):
    data = load(name)
    assert "doi:" in data.source
    assert data.licence.startswith("CC")
    assert len(data.description) > 40


@pytest.mark.parametrize("name", FACTS)
def test_the_libraries_agree(name):
    polars, *others = (frame_of(name, library).rows() for library in LIBRARIES)
    for rows in others:
        assert [_as_plain(row) for row in rows] == [_as_plain(row) for row in polars]


def _as_plain(row):
    # pandas shows a hole as NaN
    return tuple(None if isinstance(v, float) and math.isnan(v) else v for v in row)


def test_an_unknown_name_lists_the_valid_ones():
    with pytest.raises(InvalidParameterError, match=r"name='vote'.*votes, hepatitis, penguins"):
        load("vote")


def test_an_unknown_library_lists_the_valid_ones():
    with pytest.raises(InvalidParameterError, match=r"library='dask'.*polars, pandas, pyarrow"):
        load("votes", library="dask")  # type: ignore[arg-type]


def test_import_is_light_and_the_default_needs_no_pandas():
    code = """
import sys, greyfill
before = set(sys.modules)
import greyfill.datasets
assert not {"polars", "pandas", "pyarrow", "sklearn"} & (set(sys.modules) - before)
sys.modules["pandas"] = sys.modules["pyarrow"] = None  # as if they were not installed
assert greyfill.datasets.load("votes").X.shape == (435, 16)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif("GREYFILL_DATA" not in os.environ, reason="GREYFILL_DATA names no folder")
@pytest.mark.parametrize("name", OUTSIDE)
def test_the_file_equals_an_independent_copy(name):
    outside = Path(os.environ["GREYFILL_DATA"]) / OUTSIDE[name]
    if not outside.exists():
        pytest.skip(f"{outside.name} is not in GREYFILL_DATA")
    bundled = files("greyfill.datasets") / "data" / f"{name}.csv"
    assert (
        bundled.read_text(encoding="utf-8").splitlines()
        == outside.read_text(encoding="utf-8").splitlines()
    )
