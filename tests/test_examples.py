"""Every program in ``examples/`` runs to its end; what it promises, it asserts itself."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("program", sorted(file.name for file in EXAMPLES.glob("*.py")))
def test_example_runs(
    program: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [program])
    runpy.run_path(str(EXAMPLES / program), run_name="__main__")
    assert capsys.readouterr().out
