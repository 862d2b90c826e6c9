"""``greyfill impute`` leaves alone what it cannot fill, and what does not apply."""

import json

import polars as pl
import pytest
from rich.console import Console as RichConsole

from greyfill.cli.console import Console
from greyfill.exceptions import FileProblemError
from greyfill.files.csv_text import CsvPart

HEADER = "case,x,y,boat,seat\n"


@pytest.fixture
def titanic(folder):
    """Cases, a measurement, and two columns that do not apply to those without a boat."""
    lines = []
    for i in range(60):
        case = "" if i % 9 == 4 else f"P{i:03}"
        y = "" if i % 7 == 3 else f"{2 * (i % 11) + 0.25}"
        boat, seat = ("", "") if i % 3 == 0 else ("AB"[i % 2], "window" if i % 5 else "")
        lines.append(f"{case},{i % 11}.5,{y},{boat},{seat}\n")
    (folder / "people.csv").write_text(HEADER + "".join(lines))
    return [line.rstrip("\n").split(",") for line in lines]


def cells_of(folder, name="people.filled.csv"):
    return [line.split(",") for line in (folder / name).read_text().splitlines()[1:]]


def test_identifiers_stay_as_they_are(greyfill, folder, titanic):
    done = greyfill("impute", "people.csv", "--json")
    numbers = json.loads(done.stdout)
    filled = cells_of(folder)
    assert [row[0] for row in filled] == [row[0] for row in titanic]
    assert all(row[2] for row in filled)
    assert set(numbers["left_alone"]) == {"case", "seat"}  # a constant has one level
    assert {c["name"]: c["filled"] for c in numbers["columns"]} == {
        "case": 0, "x": 0, "y": 9, "boat": 20, "seat": 0,
    }  # fmt: skip
    (note,) = [note for note in numbers["notes"] if "Left alone" in note]
    assert "'case' (an identifier: none of its 53 texts occurs twice)" in note


def test_the_user_insists(greyfill, folder, titanic):
    greyfill("impute", "people.csv", "--fill", "case,seat")
    assert all(all(row) for row in cells_of(folder))


def test_new_rows_need_no_column_that_was_left_alone(greyfill, folder, titanic):
    greyfill("fit", "people.csv", "--save", "model")
    (folder / "new.csv").write_text("x,y,boat\n1.5,,A\n2.5,4,\n")
    done = greyfill("apply", "model", "new.csv")
    assert "3 holes" not in done.stderr
    assert all(all(row) for row in cells_of(folder, "new.filled.csv"))
    (folder / "other.csv").write_text("case,x,y,boat,seat\n7,1.5,,A,\n,2.5,4,,\n")
    done = greyfill("apply", "model", "other.csv")
    assert "left as they are, unknown to the imputer: case, seat" in done.stderr
    rows = cells_of(folder, "other.filled.csv")
    assert [(row[0], row[4]) for row in rows] == [("7", ""), ("", "")]
    assert all(row[2] and row[3] for row in rows)


def test_holes_that_do_not_apply(greyfill, folder, titanic):
    done = greyfill("impute", "people.csv", "--fill", "seat", "--dry-run")
    assert "20 rows lack these 2 columns together" not in done.stderr  # a fifth of seats apart
    more = ("--not-applicable", "boat", "--not-applicable", "seat=none")
    numbers = json.loads(greyfill("impute", "people.csv", *more, "--json").stdout)
    rows = cells_of(folder)
    assert [row[3] for row in rows] == [row[3] for row in titanic]
    assert [row[4] for row in rows] == [row[4] or "none" for row in titanic]
    by_name = {c["name"]: c for c in numbers["columns"]}
    assert (by_name["boat"]["holes"], by_name["boat"]["filled"]) == (20, 0)


def test_a_block_is_asked_about(greyfill, folder):
    rows = "".join(
        f"{i % 7},{i % 4 if i >= 12 else ''},{i % 3 if i >= 12 else ''}\n" for i in range(60)
    )
    (folder / "block.csv").write_text(f"a,b,c\n{rows}")
    done = greyfill("impute", "block.csv", "--dry-run", "--json")
    (note,) = [n for n in json.loads(done.stdout)["notes"] if "together" in n]
    assert note.startswith("12 rows lack these 2 columns together: 'b', 'c'.")
    assert "--not-applicable COLUMN keeps these cells empty" in note
    done = greyfill("impute", "block.csv", "--dry-run", "--json", "--not-applicable", "b,c")
    numbers = json.loads(done.stdout)
    assert not [n for n in numbers["notes"] if "together" in n]
    assert numbers["to_fill"] == 0
    assert "'b' does not apply to 12 rows: these cells stay empty." in " ".join(numbers["notes"])


def test_only_the_cells_of_a_block_do_not_apply(greyfill, folder):
    cells = [[i % 7, i % 4, "uvw"[i % 3]] if i >= 20 else [i % 7, "", ""] for i in range(60)]
    cells[30][1] = cells[40][2] = ""
    lines = "".join(",".join(map(str, row)) + "\n" for row in cells)
    (folder / "block.csv").write_text(f"a,b,c\n{lines}")
    more = ("--not-applicable", "b", "--not-applicable", "c=none", "--json")
    plan = json.loads(greyfill("impute", "block.csv", "--dry-run", *more).stdout)
    assert plan["to_fill"] == 2
    note = "'b' does not apply to 20 rows: these cells stay empty, 1 other hole of it counted"
    assert note in " ".join(plan["notes"])
    numbers = json.loads(greyfill("impute", "block.csv", *more).stdout)
    assert numbers["filled"] == 2
    rows = cells_of(folder, "block.filled.csv")
    assert [row[1:] for row in rows[:20]] == [["", "none"]] * 20
    assert rows[30][1] in set("0123")
    assert rows[40][2] in {"none", *"uvw"}


@pytest.mark.parametrize("option", ["--fill", "--not-applicable"])
def test_unknown_columns_are_refused(fails, titanic, option):
    assert f"has no column 'boot' ({option}). Did you mean 'boat'?" in fails(
        "impute", "people.csv", option, "boot"
    )


def test_numbers_have_no_level_of_their_own(fails, titanic):
    message = fails("impute", "people.csv", "--not-applicable", "y=none")
    assert "--not-applicable: column 'y' holds Float64, so 'none' cannot be a level" in message


def test_mask_cells_and_draws(greyfill, fails, folder, titanic, listing):
    more = ("--mask", "mask.csv", "--cells", "cells.parquet", "--draws", "2", "-t", "boat")
    numbers = json.loads(greyfill("impute", "people.csv", *more, "--json").stdout)
    assert numbers["draws"] == ["people.draw1.csv", "people.draw2.csv"]
    mask = [line.split(",") for line in (folder / "mask.csv").read_text().splitlines()]
    assert ",".join(mask[0]) + "\n" == HEADER
    filled = [["false", "false", str(not row[2]).lower(), "false", "false"] for row in titanic]
    assert mask[1:] == filled
    cells = pl.read_parquet(folder / "cells.parquet")
    lines = (folder / "people.filled.csv").read_text().splitlines()
    assert len(cells) == 9
    for line, value in cells.select("line", "value").rows():
        assert float(lines[line - 1].split(",")[2]) == value
    for name in numbers["draws"]:
        drawn = cells_of(folder, name)
        assert [[*r[:2], *r[3:]] for r in drawn] == [[*r[:2], *r[3:]] for r in titanic]
        assert all(row[2] for row in drawn)
    assert "people.draw1.csv: it exists already" in fails(
        "impute", "people.csv", "--draws", "1", "-o", "-"
    )
    before = listing()
    assert "--draws has no meaning for the method mean" in fails(
        "impute", "people.csv", "--draws", "3", "-m", "mean", "-f"
    )
    assert "need the name of a file" in fails("impute", "-", "--draws", "3", stdin=b"a\n1\n\n")
    assert listing() == before


def test_draws_stand_beside_the_output_and_are_named_after_it(greyfill, folder, titanic):
    (folder / "out").mkdir()
    greyfill("impute", "people.csv", "--draws", "2", "-o", "out/done.csv", "-q")
    names = ["done.csv", "done.draw1.csv", "done.draw2.csv"]
    assert sorted(path.name for path in (folder / "out").iterdir()) == names
    assert not list(folder.glob("*.draw*"))


def test_draws_are_all_or_none(greyfill, fails, folder, titanic, listing, monkeypatch):
    before, calls = listing(), []

    def broken(part, frame, pieces=CsvPart._pieces):
        calls.append(frame)
        if len(calls) == 3:
            raise FileProblemError("the disk is full")
        return pieces(part, frame)

    monkeypatch.setattr(CsvPart, "_pieces", broken)
    assert "the disk is full" in fails("impute", "people.csv", "-q", "--draws", "2")
    assert listing() == before


def test_bounds(greyfill, fails, folder, titanic):
    greyfill("impute", "people.csv", "--bounds", "y=:3", "-q")
    fills = [float(r[2]) for r, old in zip(cells_of(folder), titanic, strict=True) if not old[2]]
    assert max(fills) <= 3
    for words, item in (
        ("--bounds must be COLUMN=LOW:HIGH", "y=3"),
        ("--bounds must be COLUMN=LOW:HIGH", "y=a:b"),
        ("has no column 'z' (--bounds)", "z=0:1"),
        ("--bounds: column 'boat' holds no plain numbers", "boat=0:1"),
        ("--bounds: column 'y' has 2 as its least and 1 as its largest", "y=2:1"),
    ):
        assert words in fails("impute", "people.csv", "-f", "--bounds", item)


def test_new_rows_are_told_of(greyfill, folder, titanic):
    greyfill("fit", "people.csv", "--save", "model", "-q")
    (folder / "new.csv").write_text("x,y,boat\n1.5,,Z\n2.5,4,Q\n,,\n1.5,3,A\n")
    notes = json.loads(greyfill("apply", "model", "new.csv", "--json").stdout)["files"][0]["notes"]
    assert notes == [
        "Levels that the imputer never saw match no donor: 'boat' (2 cells).",
        "1 row without any observed value got what is usual in each column.",
    ]


def test_notes_end_lines_between_words(capsys):
    note = "Left alone, neither filled nor used: " + "an identifier " * 30
    console = Console(RichConsole(width=80, force_terminal=True, color_system=None))
    console.show_notes([note])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()) == f"note: {note}".strip()


def test_an_edited_demo_is_not_replaced(greyfill, fails, folder):
    greyfill("demo", "-q")
    greyfill("demo", "-q")  # nobody edited it
    page = folder / "greyfill-demo" / "hepatitis.filled.csv"
    page.write_text(page.read_text() + "mine\n")
    assert "exists already" in fails("demo")
    assert page.read_text().endswith("mine\n")


def test_indicators_stand_behind_every_row(greyfill, fails, folder, titanic):
    line = ("impute", "people.csv", "-m", "knni", "-k", "1", "-q", "-f")
    greyfill(*line, "-o", "plain.csv")
    greyfill(*line, "-o", "flags.csv", "--indicators", "--save", "model", "--draws", "0")
    plain, flags = ((folder / n).read_text().splitlines() for n in ("plain.csv", "flags.csv"))
    holed = [0, 2, 3, 4]
    names = [f"missingindicator_{HEADER.strip().split(',')[j]}" for j in holed]
    assert flags[0] == ",".join([plain[0], *names])
    for old, new, cells in zip(plain[1:], flags[1:], titanic, strict=True):
        assert new == ",".join([old, *("01"[not cells[j]] for j in holed)])

    (folder / "new.csv").write_text("y,x,boat\n,1.5,A\n4,2.5,\n")
    greyfill("apply", "model", "new.csv", "-q", "-o", "applied.csv")
    flagged = pl.read_csv(folder / "applied.csv")
    assert flagged["missingindicator_y"].to_list() == [1, 0]
    assert flagged["missingindicator_boat"].to_list() == [0, 1]

    (folder / "new.csv").write_text("y,x,boat,missingindicator_y\n,1.5,A,7\n")
    assert "already has one" in fails("apply", "model", "new.csv", "-q", "-o", "applied.csv", "-f")
    (folder / "taken.csv").write_text("x,y,missingindicator_y\n" + "1,2,0\n2,,1\n" * 9)
    taken = ("impute", "taken.csv", "-m", "mean", "--indicators", "--target", "missingindicator_y")
    assert "already has one" in fails(*taken, "-q")


def test_mice_draws_as_many_tables_as_asked_for(greyfill, folder, titanic):
    greyfill("impute", "people.csv", "-q", "-m", "mice", "--draws", "7")
    drawn = [tuple(row[2] for row in cells_of(folder, f"people.draw{n}.csv")) for n in range(1, 8)]
    assert all(map(all, drawn))
    assert len(set(drawn)) > 1  # of few levels, two may agree by chance
