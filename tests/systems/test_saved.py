"""Files of the systems that fit their checksums and not themselves are refused in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from imputers.family import quick
from persistence.archives import change_array, change_tree

import greyfill
from greyfill.exceptions import PersistenceError

N = 24
FRAME = pl.DataFrame(
    {
        "size": [None if i % 7 == 0 else i / 3 for i in range(N)],
        "color": [None if i % 5 == 0 else "rgb"[i % 3] for i in range(N)],
    }
)
Y = ["a" if i % 2 else "b" for i in range(N)]


def put(value: float, *place: Any) -> Callable[[Any], None]:
    def change(array: Any) -> None:
        array[place or (0,)] = value

    return change


def cut(array: Any) -> Any:
    return array[:-1].copy()


ARRAYS = [
    ("HotDeckImputer", "_fitted.labels", cut, "labels do not fit"),
    ("HotDeckImputer", "_fitted.labels", put(-2), "labels do not fit"),
    ("HotDeckImputer", "_fitted.donors.values", put(9.0, 1, 1), "color"),
    ("HotDeckImputer", "_fitted.centers", put(7.0, 1), "color"),
    ("HotDeckImputer", "_centers", cut, "centers do not fit"),
    ("ColdDeckImputer", "_usable", put(False), "other columns"),
    ("FuzzyKMeansImputer", "_fitted.centers", cut, None),
    ("FuzzyKMeansImputer", "_fitted.centers", lambda a: a[:, :-1].copy(), "centers do not fit"),
    ("FuzzyKMeansImputer", "_fitted.centers", put(5.0, 0, 0), "lies outside"),
    ("FuzzyKMeansImputer", "_fitted.layout.levels.1", put(8, 2), "levels of a layout"),
    ("OptTreeImputer", "_fitted.values", put(9.0, 0, 1), "color"),
    ("OptSVMImputer", "_fitted.table.missing", put(True, slice(None), 0), "no observed value"),
    ("MultiTaskMLPImputer", "_fitted.weights.bias", cut, "do not fit each other"),
    ("MultiTaskMLPImputer", "_fitted.weights.inner", put(1e9, 0, 0), "too large"),
    ("MultiTaskMLPImputer", "_fitted.start", put(3.0), "lies outside"),
    ("LVQImputer", "_fitted.relevance", put(0.9), "sum to 1"),
    ("LVQImputer", "_fitted.labels", cut, "classes of prototypes"),
    ("LVQImputer", "_fitted.given", put(4.0, 0, 0), "values do not fit"),
    ("LVQClassifier", "_fitted.labels", put(1, slice(None)), "classes differ"),
]
FIELDS = [
    ("ShellImputer", ("_fitted", "selection", "k"), 0, "k is 0"),
    ("HotDeckImputer", ("_fitted", "seed"), -1, "the seed"),
    ("FuzzyKMeansImputer", ("_fitted", "fuzziness"), 1.0, "fuzziness is 1"),
    ("GreyFuzzyImputer", ("_fitted", "learner", "rho"), 2.0, "rho is 2"),
    ("GreyFuzzyImputer", ("_fitted", "learner", "n_clusters"), 10**6, "clusters"),
    ("OptSVMImputer", ("_fitted", "learner", "penalty"), -1.0, "penalty"),
    ("OptTreeImputer", ("_fitted", "learner", "min_leaf"), 0, "min_leaf is 0"),
    ("OptKNNImputer", ("_fitted", "recipe", "schedule", "max_iter"), 10**6, "max_iter"),
]  # fmt: skip


@pytest.fixture(scope="module")
def originals(tmp_path_factory: Any) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    names = {name for name, *_ in (*ARRAYS, *FIELDS)}
    for name in sorted(names):
        quick(getattr(greyfill, name)).fit(FRAME, Y).save(folder / name)
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize(("name", "place", "change", "words"), ARRAYS)
def test_changed_arrays(
    name: str, place: str, change: Any, words: str | None, originals: Any, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    path.write_bytes(originals[name])
    change_array(path, place, change)
    if words is None:  # one cluster less is a model like any other
        assert greyfill.load(path).transform(FRAME).null_count().sum_horizontal()[0] == 0
        return
    with pytest.raises(PersistenceError, match=words):
        greyfill.load(path)


@pytest.mark.parametrize(("name", "steps", "value", "words"), FIELDS)
def test_changed_fields(
    name: str, steps: Any, value: Any, words: str, originals: Any, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    path.write_bytes(originals[name])

    def change(tree: Any) -> None:
        node = tree["state"][steps[0]]
        for step in steps[1:-1]:
            node = node["fields"][step]
        node["fields"][steps[-1]] = value

    change_tree(path, change)
    with pytest.raises(PersistenceError, match=words):
        greyfill.load(path)


def test_a_loaded_model_learns_again_to_the_same_effect(tmp_path: Path) -> None:
    """Machines, trees and ridges are fitted from the table in the file."""
    new = pl.DataFrame({"size": [None, 2.5, None], "color": ["r", None, None]})
    for name in ("OptSVMImputer", "OptTreeImputer", "GreyFuzzyImputer", "OptImputer"):
        model = quick(getattr(greyfill, name)).fit(FRAME, Y)
        model.save(tmp_path / name)
        loaded = greyfill.load(tmp_path / name)
        assert loaded.transform(new).equals(model.transform(new))
        model.save(tmp_path / "used")
        assert (tmp_path / "used").read_bytes() == (tmp_path / name).read_bytes()


def test_a_reference_is_not_saved_but_its_donors_are(tmp_path: Path) -> None:
    model = greyfill.ColdDeckImputer(FRAME[:9]).fit(FRAME)
    model.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    assert loaded.reference is None
    assert loaded.transform(FRAME).equals(model.transform(FRAME))
    assert np.array_equal(loaded._fitted.donors.values, model._fitted.donors.values)
