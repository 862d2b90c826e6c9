"""Ways from holes to a prediction: the section says it, and forests stay out of ``worth``."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from greyfill.evaluation.pipelines import PIPELINES

HOME = Path(__file__).parents[2] / "benchmarks"
NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def classifiers(load_program: Callable[[str], ModuleType]) -> ModuleType:
    return load_program("classifiers")


def rows(method: str, losses: dict[str, float]) -> list[dict[str, object]]:
    return [
        {
            "method": method,
            "label": "5 folds, 20 draws",
            "table": name,
            "scenario": "mcar20",
            "seed": 0,
            "log_loss": loss,
            "accuracy": 1 - loss / 2,
            "commit": "abc1234",
        }
        for name, loss in losses.items()
    ]


def test_the_section_of_made_up_figures(classifiers: ModuleType) -> None:
    found = [
        *rows("grey_model", {"a": 0.1, "b": 0.2, "c": 0.4}),
        *rows("grey_forest", {"a": 0.2, "b": 0.4, "c": 0.2}),
        *rows("draws_forest", {"a": 0.3, "b": 0.3, "c": 0.1}),
    ]
    earlier = [
        row | {"commit": "old"} for row in rows("native_boosting", dict.fromkeys("abc", 9.0))
    ]
    text = "\n".join(classifiers.section([*found, *earlier], NAMES, [0]))
    assert "| GreyClassifier | 1.67 |" in text
    assert "| GreyImputer, then random forest | 2.33 | 3 | 2 | 0.794 |" in text
    assert "random forest 2 of 3 (ratio of log losses 0.825)" in text
    assert "| BaggedDraws | – | – | 1.33 |" in text
    assert "| BaggedDraws, then random forest | 2.00 | 0.883 | 0.233 |" in text
    assert "one seed, honest folds (5 folds, 20 draws), on commit abc1234." in text
    assert "seen while greyfill was built" in text
    assert "seen" not in classifiers._caution(["exam:a"])[0]


def test_forests_follow_every_strategy_that_logistic_regression_follows(
    classifiers: ModuleType,
) -> None:
    more = {name for name in classifiers.WAYS if name.endswith("_forest")}
    linear = {name for name in PIPELINES if name.endswith("_linear")}
    assert {name.removesuffix("_forest") for name in more} == {
        name.removesuffix("_linear") for name in linear
    }
    assert not more & set(PIPELINES)  # worth takes as long as before


def test_the_section_finds_its_place(classifiers: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "worth.md"
    page.write_text("# T\n\n## One\n\na\n\n## A model on every draw\n\nb\n")
    for figure in ("1", "2"):
        classifiers.put(page, [classifiers.HEADING, "", figure, ""])
    starts = [line for line in page.read_text().splitlines() if line.startswith("## ")]
    assert starts == ["## One", classifiers.HEADING, "## A model on every draw"]
    assert "2" in page.read_text()
    assert "1" not in page.read_text()
