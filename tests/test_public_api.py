"""What the package shows: public names exist, are documented, and load no more than they must."""

import subprocess
import sys

import pytest

import greyfill


@pytest.mark.parametrize("name", [n for n in greyfill.__all__ if n != "__version__"])
def test_public_names_exist_and_are_documented(name: str) -> None:
    assert getattr(greyfill, name).__doc__


def test_dir_lists_lazy_names_too() -> None:
    assert set(greyfill.__all__) <= set(dir(greyfill))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        greyfill.nonsense  # noqa: B018


def test_import_compiles_nothing_and_stays_light() -> None:
    """Heavy libraries wait until they are needed."""
    heavy = {"numba", "sklearn", "polars", "matplotlib", "typer", "rich"}
    code = f"import sys, greyfill; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
