"""``greyfill warmup``, and what a command says while it compiles."""

import json
from typing import Any

import pytest

from greyfill import progress
from greyfill.cli import impute_command
from greyfill.cli.warmup_command import in_words
from greyfill.imputers import warmup
from greyfill.imputers.warmup import WarmUp


def test_the_folder_is_told(greyfill: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "warm_up", lambda: WarmUp(2.5, 20, 3, "/cache"))
    done = greyfill("warmup")
    expected = "20 kernels compiled, 3 found compiled, in 2.5 s; kept below /cache\n"
    assert (done.stdout, done.stderr) == ("", expected)
    assert json.loads(greyfill("warmup", "--json").stdout)["folder"] == "/cache"


def test_without_a_folder_the_remedy_is_told() -> None:
    assert "NUMBA_CACHE_DIR" in in_words(WarmUp(2.5, 20, 3, None))
    assert in_words(WarmUp(2.5, 0, 9, None)) == "0 kernels compiled, 9 found compiled, in 2.5 s"


@pytest.mark.parametrize(
    ("is_kept", "words"),
    [(True, "once on this machine"), (False, "no folder for compiled code can be")],
)
def test_compiling_is_told_once_and_on_stderr(
    greyfill: Any, monkeypatch: pytest.MonkeyPatch, is_kept: bool, words: str
) -> None:
    def compile_twice(job: Any, table: Any, choice: Any, printing: Any, wishes: Any) -> None:
        printing.console()
        progress.tell_of_compiling(is_kept=is_kept)
        progress.tell_of_compiling(is_kept=is_kept)

    monkeypatch.setattr(impute_command.ImputeJob, "run", compile_twice)
    done = greyfill("impute", "table.csv")
    assert done.stdout == ""
    assert done.stderr.count("compiling") == 1
    assert words in done.stderr
    for silent in ("--quiet", "--json"):
        assert greyfill("impute", "table.csv", silent).stderr == ""
    progress.tell_of_compiling(is_kept=is_kept)  # nobody watches any more
