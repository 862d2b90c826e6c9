"""Every program in ``examples/`` runs, and prints what the page *Examples* shows below it."""

import re
import runpy
from pathlib import Path

import pytest
from printed import flat, pattern_of

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted(file.name for file in (ROOT / "examples").glob("*.py"))
SHOWN = dict(
    re.findall(
        r'--8<-- "examples/(\w+\.py)"\n```\n\n```text\n(.*?)^```$',
        (ROOT / "docs" / "examples.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
)


def test_every_program_is_on_the_page_with_its_output() -> None:
    assert sorted(SHOWN) == PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS)
def test_example_prints_what_the_page_shows(
    program: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [program])
    runpy.run_path(str(ROOT / "examples" / program), run_name="__main__")
    printed = capsys.readouterr().out
    assert pattern_of(SHOWN[program]).fullmatch(flat(printed)), printed
