"""The README repeats figures of the pages, and a program tells where it does not."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def readme_figures() -> Any:
    program = ROOT / "benchmarks" / "readme_figures.py"
    spec = importlib.util.spec_from_file_location("readme_figures", program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_of_the_readme_stand_on_their_pages(readme_figures: Any) -> None:
    assert readme_figures.missing_figures(ROOT) == []


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        ("1 000 000 rows | 0.27 s", []),
        ("1 000 000 rows | 0.28 s", ["0.28"]),
        ("1 000 000 rows | 7 s", ["7 s"]),
        ("claims | 11 better", ["11 better"]),
        ("claims | 11 reproduced, 2 better", []),
        ("rows | 100 000", ["100000"]),
    ],
)
def test_a_figure_that_differs_is_named(
    readme_figures: Any, tmp_path: Path, row: str, missing: list[str]
) -> None:
    head = "# x\n\n## Measured\n\n| what | figure | page |\n|---|---|---|\n"
    (tmp_path / "README.md").write_text(f"{head}| {row} | [page](docs/page.md) |\n\n## Next\n| 5 |")
    (tmp_path / "docs").mkdir()
    page = "1,000,000 × 20\n| CGKNN | 0.27 (0.25–0.35) | 27 s |\n11 reproduced, 2 better of 1000"
    (tmp_path / "docs" / "page.md").write_text(page, encoding="utf-8")
    found = readme_figures.missing_figures(tmp_path)
    assert [text.split("'")[1] for text in found] == missing
    assert all("docs/page.md" in text for text in found)
