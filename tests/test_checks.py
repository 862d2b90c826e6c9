"""A package that is not installed is named with the way to install it, before any work."""

import numpy as np
import pytest
from sklearn import config_context

import greyfill
from greyfill import checks, datasets, distributed
from greyfill.exceptions import MissingPackageError


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda package: None)


@pytest.mark.usefixtures("nothing_installed")
def test_a_missing_frame_library_is_named() -> None:
    with pytest.raises(MissingPackageError, match="package pandas: pip install pandas"):
        datasets.load("iris", library="pandas")
    with pytest.raises(MissingPackageError, match="package polars: pip install polars"):
        greyfill.IKNNImputer().set_output(transform="polars")
    with (
        pytest.raises(ImportError, match="package pandas: pip install pandas"),
        config_context(transform_output="pandas"),
    ):
        greyfill.IKNNImputer(1).fit_transform(np.array([[1.0, np.nan], [2.0, 3.0]]))


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("name", "package"), [("DaskImputer", "dask"), ("impute_dataset", "pyarrow")]
)
def test_a_missing_cluster_library_is_named_with_its_extra(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(vars(distributed), name, raising=False)  # may have been imported before
    with pytest.raises(MissingPackageError, match=rf'{package}: pip install "greyfill\[dask\]"'):
        getattr(distributed, name)
