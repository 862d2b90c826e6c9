"""Progress: what a callback gets and how often, and how people see it."""

import io
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import greyfill
from greyfill import progress
from greyfill.progress import LEAST_SECONDS, Meter, Progress, metered, rich_bar


class Clock:
    """A clock that is moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_time_left_follows_from_the_share_of_all_known_steps() -> None:
    told: list[Progress] = []
    clock = Clock()
    meter = Meter(told.append, clock)
    meter.begin("pass 1 of 2", 4, ahead=4)
    clock.now += 2
    meter.advance()
    clock.now += 2
    meter.advance(3)
    clock.now += 2
    meter.begin("pass 2 of 2", 4)
    clock.now += 2
    meter.advance(4)
    assert told == [
        Progress("pass 1 of 2", 0, 4, 0.0, None),
        Progress("pass 1 of 2", 1, 4, 2.0, 14.0),
        Progress("pass 1 of 2", 4, 4, 4.0, 4.0),
        Progress("pass 2 of 2", 0, 4, 6.0, 6.0),
        Progress("pass 2 of 2", 4, 4, 8.0, 0.0),
    ]


def test_a_stage_that_ends_early_counts_with_what_was_done() -> None:
    told: list[Progress] = []
    clock = Clock()
    meter = Meter(told.append, clock)
    meter.begin("pass 1 of 2", 10)
    clock.now += 3
    meter.advance(3)
    meter.begin("pass 2 of 2", 10)
    clock.now += 1
    meter.advance()
    assert told[-1] == Progress("pass 2 of 2", 1, 10, 4.0, 9.0)


def test_at_most_twenty_calls_a_second_but_for_the_last_of_a_stage() -> None:
    told: list[Progress] = []
    clock = Clock()
    meter = Meter(told.append, clock)
    meter.begin("tuning", 1_000)
    for _ in range(1_000):
        clock.now += 0.001
        meter.advance()
    assert LEAST_SECONDS == 0.05
    assert 19 <= len(told) <= 22
    assert told[-1].done == 1_000
    meter.advance()  # one too many is neither counted nor told
    assert told[-1].done == 1_000
    assert len(told) <= 22


def test_threads_may_count_at_once_and_the_callback_is_called_by_one_at_a_time() -> None:
    inside: list[int] = []
    done: list[int] = []

    def callback(state: Progress) -> None:
        inside.append(1)
        assert len(inside) == 1
        done.append(state.done)
        inside.pop()

    meter = Meter(callback)
    meter.begin("columns", 4_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: meter.advance(), range(4_000)))
    assert done == sorted(done)
    assert done[-1] == 4_000


def test_without_a_callback_nothing_is_done() -> None:
    def fail() -> float:
        raise AssertionError("no time is read")

    meter = Meter(None, lambda: 0.0)
    meter._clock = fail
    meter.begin("pass 1", 3)
    meter.advance()


def test_an_exception_of_the_callback_ends_the_work() -> None:
    def stop(state: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Meter(stop).begin("pass 1", 3)


def test_all_callbacks_are_told_and_none_is_needed() -> None:
    first: list[Progress] = []
    second: list[Progress] = []
    with metered("X", first.append, None, second.append) as meter:
        meter.begin("a", 1)
    assert first == second
    assert len(first) == 1
    with metered("X", None) as meter:
        meter.begin("a", 1)
        assert meter._callback is None


def test_a_log_has_the_ends_of_stages_where_there_is_no_terminal(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "greyfill"), metered("GreyImputer", verbose=1) as meter:
        meter.begin("pass 1 of 2", 2)
        meter.advance()
        meter.advance()
    assert [record.name for record in caplog.records] == ["greyfill"]
    assert caplog.messages[0].startswith("[GreyImputer] pass 1 of 2, 2 of 2, 0 s")
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def in_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> pytest.CaptureFixture[str]:
    """Standard error as if it were a terminal."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    return capsys


def test_a_bar_of_rich_where_there_is_no_tqdm(
    in_terminal: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    with metered("GreyImputer", verbose=1) as meter:
        meter.begin("pass 1 of 2", 2)
        meter.advance(2)
    out, err = in_terminal.readouterr()
    assert out == ""
    assert "GreyImputer: pass 1 of 2" in err
    assert "━" in err


def test_a_bar_of_tqdm_where_there_is_one(
    in_terminal: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bars: list[Any] = []

    class Bar:
        def __init__(self, desc: str, leave: bool) -> None:
            self.total, self.n, self.texts, self.closed = None, 0, [desc], False
            bars.append(self)

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            self.closed = True

        def reset(self, total: Any) -> None:
            self.total = total

        def set_description_str(self, text: str) -> None:
            self.texts.append(text)

    auto = ModuleType("tqdm.auto")
    auto.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    monkeypatch.setattr(progress, "find_spec", lambda name: name)
    with metered("GreyImputer", verbose=1) as meter:
        meter.begin("pass 1 of 2", 3)
        meter.advance(3)
    (bar,) = bars
    assert (bar.total, bar.n, bar.closed) == (3, 3, True)
    assert bar.texts == ["GreyImputer", *["GreyImputer: pass 1 of 2"] * 2]
    assert in_terminal.readouterr() == ("", "")


def test_no_name_steers_a_terminal() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=200)
    with rich_bar("filling [red]\x1b[2J.csv", console) as show:
        show(Progress("column [b]\x1b]0;title\x07", 1, 2, 1.0, 130.0))
    text = shown.getvalue()
    assert "filling [red]" in text
    assert "column [b]" in text
    assert "about 2 min left" in text
    assert "\x1b[2J" not in text
    assert "\x1b]0;" not in text


@pytest.mark.parametrize("verbose", [0, 1])
def test_imputers_log_what_verbose_prints(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], verbose: int
) -> None:
    X = np.array([[1.0, 2.0], [np.nan, 3.0], [2.0, np.nan], [4.0, 1.0]])
    with caplog.at_level(logging.INFO, "greyfill"):
        greyfill.IKNNImputer(1, verbose=verbose).fit(X)
    printed = capsys.readouterr().err.splitlines()
    assert caplog.messages
    assert all(line.startswith("[IKNNImputer] ") for line in caplog.messages)
    assert printed == (caplog.messages if verbose else [])


def test_who_watches_is_told_once_of_compiling() -> None:
    told: list[bool] = []
    progress.watch_compiling(told.append)
    progress.tell_of_compiling(is_kept=True)
    progress.tell_of_compiling(is_kept=True)
    assert told == [True]
    progress.watch_compiling(told.append)
    progress.watch_compiling(None)
    progress.tell_of_compiling(is_kept=False)
    assert told == [True]
