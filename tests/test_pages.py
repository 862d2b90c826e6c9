"""The examples of the pages under docs run and print what the pages show."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    "name", ["method.md", "self-tuning.md", "sensitivity.md", "uncertainty.md"]
)
def test_examples_of_a_page(name: str) -> None:
    done = doctest.testfile(
        str(DOCS / name), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert done.attempted > 0
    assert done.failed == 0
