"""Levels that differ by blanks or capitals are one to the method, and two in the file."""

import polars as pl
import pytest

TWINS = ("yes", "yes", "yes", " yes", "YES", "no", "no", "No")


@pytest.fixture
def answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 8},{'' if n % 9 == 4 else TWINS[n % 8]}" for n in range(90)]
    (tmp_path / "answers.csv").write_text("\n".join(["x,answer", *rows]) + "\n")
    return tmp_path / "answers.csv"


def test_folded_levels_are_one_and_observed_cells_keep_every_byte(greyfill, answers, tmp_path):
    greyfill("impute", "answers.csv", "--fold", "answer")
    before, after = (
        [line.split(",")[1] for line in path.read_text().splitlines()]
        for path in (answers, tmp_path / "answers.filled.csv")
    )
    assert all(was in ("", now) for was, now in zip(before, after, strict=True))
    fills = {now for was, now in zip(before, after, strict=True) if not was}
    assert fills == {"yes", "no"}


def test_folded_levels_of_new_rows(greyfill, answers, tmp_path):
    greyfill("fit", "answers.csv", "--fold", "answer", "--save", "m.greyfill")
    (tmp_path / "new.csv").write_text("x,answer\n0,\n5,  NO\n5,\n")
    done = greyfill("apply", "m.greyfill", "new.csv")
    assert "never saw" not in done.stderr
    found = pl.read_csv(tmp_path / "new.filled.csv")["answer"].to_list()
    assert found == ["yes", "  NO", "no"]


def test_folding_numbers_is_refused(fails, answers):
    assert "no levels to take as one (--fold)" in fails("impute", "answers.csv", "--fold", "x")
