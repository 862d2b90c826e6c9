"""``greyfill inspect``, ``compare``, ``report``, ``demo``, ``datasets`` and ``reproduce``."""

import io
import json
import shlex
import shutil
import subprocess

import polars as pl
import pytest
from corpus.exports import book
from rich.console import Console as RichConsole

from greyfill import evaluation
from greyfill.cli import impute_command
from greyfill.cli.console import ONCE, Console
from greyfill.cli.inspect_command import show
from greyfill.imputers.registry import FILE_METHODS
from greyfill.jobs.inspection import examine
from greyfill.jobs.options import TableOptions, complete_method
from greyfill.jobs.sheet import read_sheet
from greyfill.paper import ReproductionPlan
from greyfill.progress import Progress

ABOUT = ("--target", "outcome", "--ignore", "id", "--na-values", "?")


@pytest.fixture
def penguins(greyfill):
    greyfill("datasets", "penguins", "-o", "penguins.csv")
    return "penguins.csv"


def test_inspect_shows_columns_patterns_and_the_test(greyfill, penguins):
    done = greyfill("inspect", penguins, "--target", "class")
    assert done.stderr == ""
    for words in (
        "penguins.csv: 344 rows, 19 holes",
        "bill_length_mm",
        "classes of class: Adelie",
        "96.8 %  complete",
        "Little's test: χ²",
    ):
        assert words in done.stdout


def test_inspect_as_json(greyfill, penguins):
    numbers = json.loads(greyfill("inspect", penguins, "-t", "class", "--json").stdout)
    assert (numbers["holes"], numbers["rows_with_holes"], numbers["rows"]) == (19, 11, 344)
    columns = {c["name"]: c for c in numbers["columns"]}
    assert columns["sex"]["kind"] == "categorical"
    assert columns["flipper_length_mm"]["bits"] > columns["year"]["bits"]
    assert numbers["little_test"]["p_value"] <= 1


def test_not_a_number_is_a_hole_in_what_is_told(greyfill, folder):
    cells = [1.0, 3.0, float("nan"), float("nan"), float("nan")] * 8
    pl.DataFrame({"a": cells, "b": list(range(5)) * 8}).write_parquet("n.parquet")
    (about, _) = json.loads(greyfill("inspect", "n.parquet", "--json").stdout)["columns"]
    assert (about["holes"], about["values"], about["examples"]) == (24, 2, ["1.0", "3.0"])
    assert (about["low"], about["middle"], about["high"]) == (1, 2, 3)


def test_inspect_without_target_or_holes(greyfill, folder):
    (folder / "full.csv").write_bytes(b"a,b[red]\n1,x\n2,y\n")
    done = greyfill("inspect", "full.csv")
    assert "No cell is missing." in done.stdout
    assert "b[red]" in done.stdout
    assert "bits" not in done.stdout


def test_inspect_of_many_columns_ignored_ones_and_a_measured_target(greyfill, folder):
    rows = "\n".join(",".join([str(i), f"{i}.5", *["1"] * 101]) for i in range(4))
    names = ",".join(["id", "y", *(f"c{j}" for j in range(101))])
    (folder / "wide.csv").write_text(f"{names}\n{rows}\n")
    shown = greyfill("inspect", "wide.csv", "-t", "y", "--ignore", "id").stdout
    assert "c99" in shown
    assert "c100" not in shown
    assert "… and 1 more column" in shown
    assert "ignored: id" in shown
    assert "classes of y" not in shown


def test_inspect_measures_long_tables_on_some_of_their_rows(greyfill, penguins, monkeypatch):
    about = ("inspect", penguins, "-t", "class", "--json")
    every = json.loads(greyfill(*about).stdout)["columns"]
    monkeypatch.setattr("greyfill.report.summary.INFORMATION_ROWS", 100)
    some = json.loads(greyfill(*about).stdout)["columns"]
    assert [c["holes"] for c in every] == [c["holes"] for c in some]
    assert [c["bits"] for c in every] != [c["bits"] for c in some]
    assert [c["bits"] for c in some] == pytest.approx([c["bits"] for c in every], abs=0.25)


def test_inspect_asks_about_codes(greyfill, folder):
    rows = "\n".join(f"{i % 2},{i}" for i in range(20))
    (folder / "codes.csv").write_text(f"sex,age\n{rows}\n")
    assert "--categorical=sex" in greyfill("inspect", "codes.csv").stdout
    assert "categories?" not in greyfill("inspect", "codes.csv", "-c", "sex").stdout


def test_inspect_mistakes(fails):
    assert "no column 'klass' (--target)" in fails("inspect", "table.csv", "-t", "klass")
    assert "Cannot read gone.csv" in fails("inspect", "gone.csv")


def test_control_characters_stay_out_of_the_terminal(greyfill, folder):
    (folder / "evil.csv").write_bytes(b"a\x1b[31m,b\n1,x\n,y\n")
    done = greyfill("inspect", "evil.csv")
    assert "\x1b" not in done.stdout + done.stderr


def test_compare(greyfill, penguins):
    options = ("-m", "mean,class_mean", "--rates", "0.1", "--repeats", "2", "-j", "1")
    done = greyfill("compare", penguins, "-t", "class", *options)
    lines = [line for line in done.stderr.splitlines() if line != ONCE]  # a fresh clone compiles
    assert {line.partition(":")[0] for line in lines} == {"mean", "class_mean"}
    assert all("nrmse 10% 0." in line and "accuracy, honest 0." in line for line in lines)
    assert "2 methods × 1 case × 2 seeds" in done.stdout
    done = greyfill("compare", penguins, "-t", "class", *options, "--json")
    numbers = json.loads(done.stdout)
    assert done.stderr == ""
    assert {row["method"] for row in numbers["summary"]} == {"mean", "class_mean"}
    assert numbers["errors"] == []


def test_compare_by_column(greyfill, penguins):
    options = ("-m", "mean", "--rates", "0.1", "--repeats", "1", "-j", "1", "--by-column")
    done = greyfill("compare", penguins, *options)
    assert "nrmse by column" in done.stdout
    assert "bill_length_mm" in done.stdout
    numbers = json.loads(greyfill("compare", penguins, *options, "--json").stdout)
    assert {row["best"] for row in numbers["by_column"]} == {"mean"}


def test_compare_ends_with_1_if_a_method_failed(greyfill, penguins):
    options = ("-m", "mean", "-m", "class_mean", "--rates", "0.1", "--repeats", "1", "-j", "1")
    done = greyfill("compare", penguins, *options, exit_code=1)
    assert "class_mean failed: " in done.stdout
    assert done.stdout.index("mean") < done.stdout.index("class_mean")


def test_compare_runs_four_quick_methods_by_all_cores(greyfill, monkeypatch, folder):
    asked = {}

    def measure(X, y, compare=evaluation.compare, **options):
        asked.update(options)
        return compare(X, y, **{**options, "methods": ["mean"], "n_jobs": 1})

    monkeypatch.setattr(evaluation, "compare", measure)
    greyfill("compare", "table.csv", "--id", "id", "--repeats", "1", "--rates", "0.2")
    assert asked["methods"] is None
    assert asked["n_jobs"] == -1


def test_compare_shows_a_table_that_grows_in_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = io.StringIO()
    console = Console(RichConsole(file=shown, force_terminal=True, width=200))
    with console.board() as board:
        board.move(Progress("trials", 1, 4, 2.0, 6.0))
        board.add([["method", "nrmse"], ["grey", "0.1"]], "grey")
        first = shown.getvalue()
        board.add([["method", "nrmse"], ["grey", "0.1"], ["mean", "0.2"]], "mean")
    assert "trials, 1 of 4, 2 s, about 6 s left" in first
    assert "grey" in first
    assert "mean" not in first
    assert "mean" in shown.getvalue()


def test_compare_mistakes(fails, penguins):
    for arguments, words in (
        (("--methods", "mean,meen"), "'meen' (--methods). Did you mean mean"),
        (("--rates", "10"), "--rates must be shares between 0 and 1"),
        (("--rates", "ten"), "--rates must be shares between 0 and 1"),
        (("--jobs", "0"), "--jobs 0 cannot work"),
        (("--mechanism", "chance", "-m", "mean"), "'chance'"),
    ):
        assert words in fails("compare", penguins, "-t", "class", *arguments)


def test_report(greyfill, fails, folder):
    done = greyfill("report", "table.csv", *ABOUT, "-m", "cgknn", "-k", "2")
    assert "wrote table.report.html" in done.stderr
    assert (folder / "table.report.html").read_text().startswith("<!")
    greyfill("report", "table.csv", *ABOUT, "-m", "cgknn", "-k", "2", "-o", "page.md")
    assert (folder / "page.md").read_text().startswith("#")
    numbers = json.loads(
        greyfill("report", "table.csv", *ABOUT, "-m", "cgknn", "-k", "2", "--json").stdout
    )
    assert numbers["table"]["filled"] == 5
    assert "exists already" in fails("report", "table.csv", *ABOUT)
    assert "ends in .html" in fails("report", "table.csv", *ABOUT, "-o", "page.docx")
    assert "Only one" in fails("report", "table.csv", *ABOUT, "-o", "-", "--json")


def test_demo(greyfill, fails, folder, monkeypatch):
    done = greyfill("demo")
    made = folder / "greyfill-demo"
    assert sorted(path.name for path in made.iterdir()) == [
        ".greyfill-demo", "hepatitis.csv", "hepatitis.filled.csv", "report.html",
    ]  # fmt: skip
    assert "155 rows, 167 holes in 15 of 19 columns" in done.stderr
    assert "Open greyfill-demo/report.html in a browser." in done.stderr
    filled = pl.read_csv(made / "hepatitis.filled.csv")
    assert filled.null_count().sum_horizontal().item() == 0
    monkeypatch.setattr(impute_command, "write_report", lambda *_: None)
    assert json.loads(greyfill("demo", "--json").stdout)["filled"] == 167  # a demo may be renewed
    (made / "hepatitis.csv").write_text("mine")
    assert "hepatitis.csv: it exists already" in fails("demo")
    assert "Cannot make the folder" in fails("demo", "-o", "table.csv/below")


def test_datasets(greyfill, fails, folder):
    listed = greyfill("datasets").stdout
    assert all(name in listed for name in ("votes", "hepatitis", "penguins", "iris"))
    assert json.loads(greyfill("datasets", "--json").stdout)[0]["holes"] == 392
    assert len(greyfill("datasets", "iris").stdout.splitlines()) == 151
    greyfill("datasets", "votes", "-o", "votes.parquet")
    assert pl.read_parquet("votes.parquet").shape == (435, 17)
    assert "Did you mean 'votes'?" in fails("datasets", "vote")
    assert "exists already" in fails("datasets", "votes", "-o", "votes.parquet")


def test_completion_knows_the_methods():
    assert complete_method("") == list(FILE_METHODS)
    assert complete_method("mi") == ["miknn", "mice", "missforest", "misspalasso"]


def test_reproduce_tells_on_stderr_what_it_wrote(greyfill, folder, monkeypatch):
    tiny = ReproductionPlan(("iris",), (0.10,), range(1), ("class_mean",), passes=0, repeats=1)
    monkeypatch.setattr(ReproductionPlan, "quick", lambda seeds: tiny)
    done = greyfill("reproduce", "--quick", "--out", folder / "out", "--jobs", "1")
    assert done.stdout == ""
    assert f"wrote {folder / 'out' / 'reproduction.md'}" in done.stderr
    assert "the paper's 12 claims: 0 reproduced, 0 better, 0 worse, 1 undecided, 11" in done.stderr
    read = ("--ties", "smallest", "--holes", "filled", "--convention", "sd-table")
    greyfill("reproduce", "--quick", "--out", folder / "out", "--jobs", "1", *read)
    page = (folder / "out" / "reproduction.md").read_text("utf-8")
    assert "holes as filled, smallest of tied k" in page
    assert "in standard deviations of the column divided by all cells of the table" in page


def test_forensic_page_goes_to_stdout(greyfill, folder, monkeypatch):
    tiny = ReproductionPlan(("iris",), (0.10,), range(1), ("mice",), 0, 0, is_forensic=True)
    monkeypatch.setattr(ReproductionPlan, "forensic", lambda seeds: tiny)
    done = greyfill("reproduce", "--forensic", "--out", folder / "out", "--jobs", "1")
    assert "## What the printed MI can be" in done.stdout
    assert "claims" not in done.stderr
    assert (folder / "out" / "forensic.html").is_file()


@pytest.mark.parametrize("wrong", [("--ties", "first"), ("--holes", "no"), ("--convention", "cm")])
def test_reproduce_refuses_words_without_meaning(fails, folder, wrong):
    told = fails("reproduce", "--out", folder / "out", *wrong)
    assert f"{wrong[0].strip('-')} must be one of" in told
    assert not (folder / "out").exists()


def test_reproduce_fails_before_the_work(fails, folder):
    fails("reproduce", "--out", folder / "table.csv" / "below")


def notes(greyfill, command, *arguments):
    """The notes of inspect or of impute as it would be done."""
    more = () if command == "inspect" else ("-m", "iknn", "--dry-run")
    return json.loads(greyfill(command, *arguments, *more, "--json").stdout)["notes"]


@pytest.mark.parametrize("command", ["inspect", "impute"])
def test_words_for_missing_that_no_cell_holds_are_noted(greyfill, folder, command):
    (folder / "marked.csv").write_bytes(b"a,b\n-999.0,x\n-1,y\n3.5,\n")
    pl.DataFrame({"a": [-999.0, -1.0, 3.5], "b": ["x", "y", None]}).write_parquet("marked.parquet")
    for name in ("marked.csv", "marked.parquet"):
        (note,) = notes(greyfill, command, name, "--na-values=-999,-1")
        assert note.startswith("No cell is '-999,-1' (--na-values")
        assert "comma" in note
        assert "--na-values -999 --na-values -1" in note
        (note,) = notes(greyfill, command, name, "--na-values=-999", "--na-values", "N/A")
        assert note.startswith("No cell is 'N/A'")
        assert "comma" not in note
        assert "once for each value" in note
        assert notes(greyfill, command, name, "--na-values=-999", "--na-values", "x") == []


@pytest.mark.parametrize("command", ["inspect", "impute"])
@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (["04.01.2021", "28.11.2021"], "dates that are not all YYYY-MM-DD"),
        (["28/01/2020", "1/2/20"], "dates that are not all YYYY-MM-DD"),
        (["2020/01/28", "2020/02/01"], "dates that are not all YYYY-MM-DD"),
        (["28.01.2020 10:30", "01.02.2020 11:00"], "dates that are not all YYYY-MM-DD"),
        (["08:15", "17:30"], "times of day"),
        (["8:15 am", "5:30 PM"], "times of day"),
        (["74%", "7.5 %"], "percentages"),
        (["$1,234", "$87"], "amounts"),
        (["9,819", "12,512"], "amounts"),
        (["12 EUR", "1.234,50 EUR"], "amounts"),
    ],
)
def test_other_forms_of_dates_and_numbers_are_noted(greyfill, folder, cells, name, command):
    rows = "\n".join(f'{i},"{cell}"' for i, cell in enumerate(cells))
    (folder / "forms.csv").write_text(f"i,x\n{rows}\n,\n")
    (note,) = notes(greyfill, command, "forms.csv", "--strict")
    assert note.startswith(f"Column 'x' looks like {name} (")
    assert "was read as categories" in note
    assert ("YYYY-MM-DD" if "dates" in name else "plain ones") in note
    assert notes(greyfill, command, "forms.csv", "--categorical", "x") == []
    assert notes(greyfill, command, "forms.csv", "--ignore", "x") == []


@pytest.mark.parametrize("command", ["inspect", "impute"])
def test_dates_of_two_forms_are_shown_in_both(greyfill, folder, command):
    (folder / "forms.csv").write_text("i,x\n0,2023-04-08\n1,24.10.2023\n2,11.11.2023\n,\n")
    (note,) = notes(greyfill, command, "forms.csv", "--strict")
    assert "dates that are not all YYYY-MM-DD ('2023-04-08', '24.10.2023')" in note


@pytest.mark.parametrize("ends", ["", "T10:30:00.000", "T10:30:00Z", " 10:30"])
def test_dates_that_a_format_stores_as_texts_are_noted(greyfill, folder, ends):
    days = pl.DataFrame({"i": [0, 1, 2], "x": [f"2023-04-08{ends}", f"2023-11-11{ends}", None]})
    days.write_ndjson("days.jsonl")
    (note,) = notes(greyfill, "inspect", "days.jsonl")
    assert note.startswith("Column 'x' looks like dates that are stored as texts ('2023-04-08")
    days.write_csv("days.csv")
    found = json.loads(greyfill("inspect", "days.csv", "--json").stdout)
    assert found["columns"][1]["kind"] == ("datetime" if ends else "date")


@pytest.mark.parametrize("command", ["inspect", "impute"])
def test_forms_that_are_read_are_told(greyfill, folder, command):
    (folder / "forms.csv").write_text("a,b,c\n04.01.2021,74%,x\n28.11.2021,7.5%,y\n,8%,z\n")
    assert notes(greyfill, command, "forms.csv") == [
        "Read as dates, day first as '31.12.2025' in 'a' (2). If they are categories: "
        "--categorical COLUMN.",
        "Read as numbers, as '1234.5%' in 'b' (3). If they are categories: --categorical COLUMN.",
    ]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_the_command_survives_a_shell_whatever_the_names(greyfill, folder):
    name = "Größe\N{NO-BREAK SPACE}'cm\\\t"
    rows = "".join(f"{i % 2},{i % 7}\n" for i in range(40))
    (folder / "-t.csv").write_text(f'"{name}",x\n{rows},3\n', encoding="utf-8")
    told = json.loads(greyfill("inspect", "--json", "--", "-t.csv").stdout)["command"]
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {told}"], capture_output=True, check=True)
    assert said.stdout.decode().split("\0")[:-1] == [
        "greyfill", "impute", "./-t.csv", f"--categorical={name}"
    ]  # fmt: skip


def test_inspect_ends_with_a_command_that_can_be_pasted(greyfill, folder):
    rows = "".join(f"{i % 9}.5,{i % 2},{'neg' if i % 3 else 'Neg '}\n" for i in range(40))
    data = f"the dose,sex,it's\n{rows}<0.5,1,-\n-9,,pos\n"
    (folder / "my table.csv").write_text(data)
    numbers = json.loads(greyfill("inspect", "my table.csv", "--json").stdout)
    assert numbers["command"] == (
        "greyfill impute 'my table.csv' '--na-values=the dose=<0.5'"
        " '--na-values=the dose=-9' --categorical=sex '--na-values=it'\"'\"'s=-'"
        " '--fold=it'\"'\"'s'"
    )
    assert numbers["findings"][0]["options"] == [["--na-values", "the dose=<0.5"]]
    told = [f"{found['column']}: {found['text']}" for found in numbers["findings"]]
    start = "the dose: 1 cell is of another kind, taken as missing below: '<0.5' (1). If it is a"
    assert told[0].startswith(start)
    assert told[1].startswith("the dose: -9 stands apart from the others (0.5 … 8.5)")
    assert "it's: may mean missing, kept as a category: '-'" in told
    assert [found["cells"] for found in numbers["findings"]][1:4] == [1, 0, 1]
    assert "it's: levels that differ only by blanks or capitals: 'neg' (26) and 'Neg ' (14)" in told
    _, *arguments = shlex.split(numbers["command"])
    planned = json.loads(greyfill(*arguments, "--dry-run", "--json").stdout)
    assert {c["name"]: c["holes"] for c in planned["columns"]} == {
        "the dose": 2,
        "sex": 1,
        "it's": 1,
    }
    shown = greyfill("inspect", "my table.csv").stdout
    assert shown.splitlines()[-1] == f"  {numbers['command']}"


def test_one_doubt_about_many_columns_is_one_line(greyfill, folder):
    names = [f"q{j}" for j in range(6)]
    levels = [[("no", "yes", "-")[(i // (j + 1)) % 3] for j in range(3)] for i in range(40)]
    scores = [[99 if i % 9 == j else (i + j) % 8 for j in range(3)] for i in range(40)]
    lines = [",".join(map(str, [*a, *b])) for a, b in zip(levels, scores, strict=True)]
    (folder / "survey.csv").write_text("\n".join([",".join(names), *lines]))
    shown = greyfill("inspect", "survey.csv").stdout
    assert "q0, q1, q2: may mean missing, kept as a category: '-' (" in shown
    assert "q3, q4, q5: 99 stands apart from the others (0 … 7)" in shown
    assert shown.splitlines()[-1] == "  greyfill impute survey.csv --na-values=- --na-values=99"
    (folder / "survey.csv").write_text("\n".join([",".join(names), *lines, "no,no,no,1,2,99"]))
    (told,) = notes(greyfill, "impute", "survey.csv")
    assert told.startswith("Kept as a value, though it may mean missing: '-' in 'q0' (")
    assert "99 in 'q3' (5), 'q4' (5), 'q5' (6). If it does: --na-values" in told
    kinds = ("-c", "q0,q1,q2", "--numeric", "q3,q4,q5")
    assert notes(greyfill, "impute", "survey.csv", *kinds) == []
    found = json.loads(greyfill("inspect", "survey.csv", *kinds, "--json").stdout)
    assert found["findings"] == []
    assert "--na-values" not in found["command"]


def test_a_word_that_makes_numbers_of_a_workbook_a_text_is_offered_as_missing(greyfill, folder):
    openpyxl = pytest.importorskip("openpyxl")
    rows = [["title"], [], ["sugar", "crp"], *([n * 7 % 31, n % 9 + 0.5] for n in range(40))]
    rows[9][0], rows[12][1] = "n.b.", "<0.5"
    (folder / "lab.xlsx").write_bytes(book(("Cover", [["a"]]), ("Lab", rows)))
    found = json.loads(greyfill("inspect", "lab.xlsx", "--json").stdout)
    assert found["left_alone"] == {"sugar": found["left_alone"]["sugar"]}  # because of the word
    texts = {finding["column"]: finding["text"] for finding in found["findings"][::-1]}
    assert texts["sugar"] == "may mean missing, kept as a category: 'n.b.'"
    assert "kept as a category: '<0.5'. If it is a limit of measurement" in texts["crp"]
    words = ("--na-values=sugar=n.b.", "--na-values=crp=<0.5")
    assert shlex.split(found["command"]) == ["greyfill", "impute", "lab.xlsx", *words]
    assert any("'n.b.' in 'sugar' (1)" in note for note in notes(greyfill, "impute", "lab.xlsx"))
    greyfill("impute", "lab.xlsx", *words, "--cells", "cells.csv", "--force", "--quiet")
    cells = pl.read_csv(folder / "cells.csv").select("line", "column").rows()
    assert cells == [(10, "sugar"), (13, "crp")]
    sheet = openpyxl.load_workbook(folder / "lab.filled.xlsx")["Lab"]
    assert isinstance(sheet["A10"].value, int)
    assert isinstance(sheet["B13"].value, int | float)


@pytest.mark.parametrize("name", ["PLZ", "zip", "zipcode", "postal_code"])
def test_postal_codes_may_be_categories(greyfill, folder, name):
    rows = "".join(f"{10115 + 977 * (n % 13)},{n % 5}\n" for n in range(60))
    (folder / "t.csv").write_text(f"{name},zippers\n{rows},\n")
    found = json.loads(greyfill("inspect", "t.csv", "--json").stdout)
    assert found["command"] == f"greyfill impute t.csv --categorical={name}"
    greyfill(*shlex.split(found["command"])[1:], "--quiet")
    assert (
        int((folder / "t.filled.csv").read_text().splitlines()[-1].split(",")[0]) - 10115
    ) % 977 == 0


@pytest.mark.parametrize("word", ["3E", "\N{MINUS SIGN}3.1", "about 40"])
def test_readings_among_numbers_are_not_offered_as_missing(greyfill, folder, word):
    """A fill would take the place of a value that is there."""
    rows = "".join(f"{n % 3},{word if n % 9 == 4 else n % 5}\n" for n in range(40))
    (folder / "t.csv").write_text(f"arm,asa\n{rows}1,\n", encoding="utf-8")
    found = json.loads(greyfill("inspect", "t.csv", "--json").stdout)
    assert found["command"] == "greyfill impute t.csv --categorical=asa"
    greyfill(*shlex.split(found["command"])[1:], "--quiet")
    assert (folder / "t.filled.csv").read_text(encoding="utf-8").count(word) >= 4


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_units_below_the_names_are_not_offered_as_missing(greyfill, folder, kind):
    """A fill of their cells would make a row of the table of them."""
    rows = [
        ["case", "age", "kg"],
        ["", "years", "kg"],
        *([f"c{n}", n % 7, n + 0.5] for n in range(40)),
    ]
    if kind == "csv":
        (folder / "w.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        refused = greyfill("impute", "w.csv", exit_code=2).stderr
        assert "line 2, column 'age'" in refused
        assert "If the row has units or more names, delete it" in refused
    else:
        (folder / "w.xlsx").write_bytes(book(("Data", rows)))
    found = json.loads(greyfill("inspect", f"w.{kind}", "--json").stdout)
    told = {finding["column"]: finding["text"] for finding in found["findings"][::-1]}
    assert {*told} == {"age", "kg"}
    assert told["age"].startswith("the first row has 'years' where the others have values. If the")
    assert found["command"] == f"greyfill impute w.{kind}"


def test_readings_and_truths_among_numbers_of_a_workbook_are_not_offered_as_missing(
    greyfill, folder
):
    pytest.importorskip("openpyxl")
    rows = [["house", "arm"], *([n * 7 % 31, n % 3] for n in range(40))]
    rows[9][0], rows[12][1] = "12a", True
    (folder / "houses.xlsx").write_bytes(book(("Data", rows)))
    found = json.loads(greyfill("inspect", "houses.xlsx", "--json").stdout)
    assert found["command"] == "greyfill impute houses.xlsx"
    assert not any("'true'" in finding["text"] for finding in found["findings"])
    assert not any("may mean missing" in note for note in notes(greyfill, "impute", "houses.xlsx"))


def test_a_word_that_another_column_means_is_said_by_column(greyfill, folder):
    codes = ["99" if i % 9 == 0 else f"{i % 5}" for i in range(40)]
    rows = "\n".join(f"{code},{code},{90 + i}" for i, code in enumerate(codes))
    (folder / "two.csv").write_text(f"a,b,age\n{rows}\n")
    found = json.loads(greyfill("inspect", "two.csv", "--json").stdout)
    assert found["command"] == "greyfill impute two.csv --na-values=a=99 --na-values=b=99"


def test_inspect_gives_no_bits_to_identifiers(greyfill, folder):
    rows = "".join(f"p{i},{i % 2},{'uv'[i % 2]}\n" for i in range(60))
    (folder / "who.csv").write_text(f"who,x,y\n{rows}")
    numbers = json.loads(greyfill("inspect", "who.csv", "-t", "y", "--json").stdout)
    bits = {c["name"]: c["bits"] for c in numbers["columns"]}
    assert bits["who"] == 0
    assert bits["x"] > 0.5


@pytest.mark.parametrize("width", [44, 60, 80, 200])
def test_inspect_fits_any_terminal(folder, width):
    rows = "".join(
        f"p{i},{i}.5,{'a long level' if i % 2 else 'b'},2024-01-0{i % 9 + 1}\n" for i in range(30)
    )
    (folder / "t.csv").write_text(f"who,x,level,day\n{rows},NA,,\n")
    options, out = TableOptions(target="level"), io.StringIO()
    sheet = read_sheet("t.csv", options, Console(RichConsole(file=io.StringIO())), lenient=True)
    page = Console(RichConsole(file=out, width=width, highlight=False))
    show(examine(sheet, options), page)
    lines = out.getvalue().splitlines()
    assert all(word in out.getvalue() for word in ("who", "level", "greyfill impute"))
    assert max(map(len, lines[1:-1])) <= max(width, 60)


@pytest.mark.parametrize(
    "cells", [["PAT001", "PAT002"], ["98-76-54", "1-2-3"], ["a 5%", "b"], ["3:1:4:1", "v1.2.3"]]
)
def test_other_texts_are_not_taken_for_dates_or_numbers(greyfill, folder, cells):
    (folder / "texts.csv").write_text("x,i\n" + "".join(f"{cell},1\n" for cell in cells))
    assert notes(greyfill, "inspect", "texts.csv") == []


@pytest.mark.parametrize("command", ["inspect", "impute"])
def test_what_is_left_alone_is_noted(greyfill, folder, command):
    def write(n_rows, last):
        words = [f"name {i}" for i in range(n_rows - 1)] + [last]
        rows = "".join(f"{word},{i % 3},\n" for i, word in enumerate(words))
        (folder / "named.csv").write_text(f"who,n,hole\n{rows},7,1\n")

    write(20, "somebody")
    (note,) = notes(greyfill, command, "named.csv", "--ignore", "hole")
    assert "'who' (an identifier: none of its 20 texts occurs twice)" in note
    assert "--fill COLUMN" in note
    assert notes(greyfill, command, "named.csv", "--ignore", "who,hole") == []
    (note,) = notes(greyfill, command, "named.csv", "--ignore", "who")
    assert "'hole' (it holds one value only)" in note
    about_target = notes(greyfill, command, "named.csv", "-t", "who", "--ignore", "hole")
    assert not [note for note in about_target if "left alone" in note.lower()]
    write(19, "somebody")
    assert notes(greyfill, command, "named.csv", "--ignore", "hole") == []


def test_dates_in_both_orders_are_never_suggested_as_missing(greyfill, folder):
    days = ["25/12/2024", "06/04/2025", "04/06/2025", "", "31/01/2025"] * 8 + ["12/25/2024"] * 2
    lines = "".join(f"{n % 7},{day}\n" for n, day in enumerate(days))
    (folder / "mixed.csv").write_text(f"a,when\n{lines}")
    command = json.loads(greyfill("inspect", "mixed.csv", "--json").stdout)["command"]
    assert shlex.split(command)[1:] == ["impute", "mixed.csv", "--categorical=when"]
    greyfill(*shlex.split(command)[1:], "--method", "mean")
    filled = (folder / "mixed.filled.csv").read_text()
    assert filled.count("12/25/2024\n") == 2


@pytest.mark.parametrize("never", ["00/00/0000", "31/04/2025", "99/99/9999"])
def test_days_that_never_were_are_suggested_as_missing(greyfill, folder, never):
    days = ["25/12/2024", "06/04/2025", "04/06/2025", "", "31/01/2025"] * 8 + [never] * 2
    lines = "".join(f"{n % 7},{day}\n" for n, day in enumerate(days))
    (folder / "never.csv").write_text(f"a,when\n{lines}")
    command = json.loads(greyfill("inspect", "never.csv", "--json").stdout)["command"]
    assert shlex.split(command)[1:] == ["impute", "never.csv", f"--na-values=when={never}"]
    greyfill(*shlex.split(command)[1:], "--method", "mean")
    assert never not in (folder / "never.filled.csv").read_text()


@pytest.mark.parametrize(("word", "is_limit"), [("<0.5", True), ("> 200", True), ("low", False)])
def test_limits_of_measurement_are_told(greyfill, folder, word, is_limit):
    lines = "".join(f"{n},{n * 7 % 11}.5\n" for n in range(40))
    (folder / "limits.csv").write_text(f"a,b\n{lines}7,{word}\n")
    (found,) = json.loads(greyfill("inspect", "limits.csv", "--json").stdout)["findings"]
    assert ("limit of measurement" in found["text"]) == is_limit


@pytest.mark.parametrize("word", ["<=5", ">=90"])
def test_the_command_about_a_limit_with_an_equals_sign_works(greyfill, folder, word):
    lines = "".join(f"{n},{n * 7 % 11}.5\n" for n in range(40))
    (folder / "limits.csv").write_text(f"a,crp\n{lines}7,{word}\n8,\n")
    command = json.loads(greyfill("inspect", "limits.csv", "--json").stdout)["command"]
    assert shlex.split(command)[1:] == ["impute", "limits.csv", f"--na-values=crp={word}"]
    greyfill(*shlex.split(command)[1:], "--method", "mean")
    assert word not in (folder / "limits.filled.csv").read_text()


def test_messages_of_the_command_name_flags_only(greyfill, fails, folder):
    (folder / "t.csv").write_text("a,b\n1,2\n,3\n2,4\n")
    assert fails("impute", "t.csv", "--sheet", "S").endswith("has no sheets: leave --sheet away.")
    greyfill("impute", "t.csv", "--method", "mean")
    assert "say so: --force." in fails("impute", "t.csv", "--method", "mean")
