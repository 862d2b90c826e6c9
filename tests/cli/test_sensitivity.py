"""``greyfill sensitivity``: the numbers, the picture, and what is refused."""

import json

ABOUT = ("--target", "outcome", "--ignore", "id", "--na-values", "?", "-k", "1")
QUESTION = ("sensitivity", "table.csv", *ABOUT, "--classifier", "none", "--method", "cgknn")


def test_numbers_in_json(greyfill, folder):
    done = greyfill(*QUESTION, "--column", "age", "--deltas=-1,2", "--within", "well", "--json")
    told = json.loads(done.stdout)
    assert [step["delta"] for step in told["shifts"]] == [-1, 0, 2]
    assert (told["imputed"], told["rows"], told["within"]) == (1, 7, "well")
    # the hole is the only one of the class "well" (34, 29 and the fill): each sd moves a third
    slope = told["shifts"][2]["estimate"] - told["shifts"][1]["estimate"]
    assert abs(slope - told["shifts"][2]["amount"] / 3) < 1e-9
    assert (told["draws"], told["interval_tipping_point"]) == (1, None)
    assert "point estimate" in told["notes"][0]


def test_draws_of_the_default_method(greyfill, folder):
    about = ("--target", "outcome", "--ignore", "id", "--na-values", "?", "--classifier", "none")
    question = ("sensitivity", "table.csv", *about, "--column", "age", "--deltas=-1")
    told = json.loads(greyfill(*question, "--draws", "3", "--json").stdout)
    assert told["draws"] == 3
    assert told["shifts"][0]["low"] < told["shifts"][0]["estimate"] < told["shifts"][0]["high"]
    assert "interval of 3 draws" in greyfill(*question, "--draws", "3").stdout


def test_names_are_no_markup_in_tables(greyfill, folder):
    rows = "".join(f"{['low', 'x[/]', ''][i % 3]},{i % 9},{'ab'[i % 2]}\n" for i in range(90))
    (folder / "m.csv").write_text(f"r,z,y\n{rows}")
    question = ("sensitivity", "m.csv", "-t", "y", "--column", "r", "--classifier", "none")
    assert "fills x[/]" in greyfill(*question, "--level", "x[/]", "--draws", "2").stdout


def test_a_continuous_target(greyfill, folder):
    rows = "\n".join(f"{i % 5 or ''},{i % 5 + i / 7:.3f}" for i in range(40))
    (folder / "dose.csv").write_text(f"dose,pressure\n{rows}\n")
    question = ("sensitivity", "dose.csv", "--target", "pressure", "--column", "dose")
    done = greyfill(*question, "--draws", "3", "--deltas=1")
    assert "estimate = slope of y on dose" in done.stdout
    assert "accuracy" not in done.stdout


def test_a_table_and_a_picture(greyfill, folder, listing):
    done = greyfill(*QUESTION, "--column", "smear", "--level", "pos", "--plot", "tips.png")
    assert "estimate = share of pos" in done.stdout
    assert "odds ×" in done.stdout
    assert "wrote tips.png" in done.stderr
    assert (folder / "tips.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_refused_before_the_work(fails, folder):
    assert "did you mean" in fails(*QUESTION, "--column", "agee").lower()
    assert "--draws" in fails(*QUESTION, "--column", "age", "--draws", "0")
    assert "--deltas" in fails(*QUESTION, "--column", "age", "--deltas", "one")
    assert ".png" in fails(*QUESTION, "--column", "age", "--plot", "tips.txt")
    (folder / "tips.png").write_bytes(b"old")
    assert "tips.png" in fails(*QUESTION, "--column", "age", "--plot", "tips.png")
    assert (folder / "tips.png").read_bytes() == b"old"


def test_warnings_are_notes(greyfill, folder, recwarn):
    rows = "\n".join(f"{'' if i % 9 == 4 else f'P{i:03}'},{i % 5 or ''},{i % 2}" for i in range(60))
    (folder / "cases.csv").write_text(f"case,dose,sick\n{rows}\n")
    question = ("sensitivity", "cases.csv", "--target", "sick", "--column", "dose", "--deltas=1")
    line = (*question, "--classifier", "none", "-m", "knni", "-k", "3")
    assert "note: Used, though no other row can tell" in greyfill(*line).stderr
    assert any("'case'" in note for note in json.loads(greyfill(*line, "--json").stdout)["notes"])
    assert not [w for w in recwarn if "whose holes" in str(w.message)]
