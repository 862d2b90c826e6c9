"""``greyfill impute``: what it writes, what it says, and what it refuses."""

import errno
import gzip
import json

import numpy as np
import polars as pl
import pytest

from greyfill import GreyImputer, frames, load
from greyfill.jobs import fill_job

ABOUT = ("--target", "outcome", "--ignore", "id", "--na-values", "?", "-m", "cgknn")
FILLED = b"""id,age,smear,size,dose,outcome\r
007,34,neg,S,1.50,well\r
008,61,pos,L,+2.5,ill\r
009,33,"neg",S,1.40,well\r
010,58,pos,L,2.40,ill\r
011,29,neg,M,1.50,well\r
012,66,pos,L,2.60,ill\r
013,63,pos,L,2.50,\r
"""


def test_only_holes_are_rewritten(greyfill, folder, listing):
    done = greyfill("impute", "table.csv", *ABOUT, "--ordinal", "size=S,M,L", "--k", "2")
    assert (folder / "table.filled.csv").read_bytes() == FILLED
    assert listing() == ["new.csv", "table.csv", "table.filled.csv"]
    assert done.stdout == ""
    for words in (
        "table.csv: 7 rows, 5 holes in 4 of 4 columns",
        "ordinal",
        "cgknn: k = 2; stable after 2 passes",
        "1 row has no label in 'outcome'",
        "wrote table.filled.csv",
    ):
        assert words in done.stderr


@pytest.mark.parametrize("target", [("--target", "outcome"), ("--ignore", "outcome")])
def test_grey_is_the_method_with_and_without_a_target(greyfill, folder, target):
    about = ("table.csv", *target, "--id", "id", "--na-values", "?", "-f")
    done = greyfill("impute", *about, "--save", "model")
    assert "grey: " in done.stderr
    assert "0 holes" not in done.stderr
    filled = (folder / "table.filled.csv").read_bytes()
    assert b"?" not in filled
    assert isinstance(load("model"), GreyImputer)
    greyfill("impute", *about, "--method", "grey")
    assert (folder / "table.filled.csv").read_bytes() == filled
    done = greyfill("fit", *about, "--save", "model")
    assert "grey: " in done.stderr
    greyfill("apply", "model", "new.csv")
    assert b",," not in (folder / "new.filled.csv").read_bytes()
    done = greyfill("report", *about, "-o", "page.md")
    assert "GreyImputer" in (folder / "page.md").read_text()


def test_a_measurement_can_be_the_target_and_is_no_surprise(greyfill, folder):
    rows = "\n".join(f"{i if i % 5 else ''},{i * 0.37:.2f}" for i in range(40))
    (folder / "priced.csv").write_text(f"a,price\n{rows}\n")
    done = greyfill("impute", "priced.csv", "-t", "price")
    assert "classes" not in done.stderr
    assert "wrote priced.filled.csv" in done.stderr


@pytest.mark.parametrize("method", ["grey", "cgknn", "missforest"])
def test_all_cores_give_the_same_as_one(greyfill, folder, monkeypatch, method):
    used = []

    def kept(choice, sheet, make=fill_job.make_imputer):
        imputer = make(choice, sheet)
        used.append(imputer.n_jobs)
        return imputer

    monkeypatch.setattr(fill_job, "make_imputer", kept)
    found = []
    for jobs in ((), ("--jobs", "1"), ("--jobs", "2")):
        more = ("-m", method, *jobs, "-f", "--save", "model", "--test", "new.csv")
        greyfill("impute", "table.csv", *ABOUT, *more)
        made = [(folder / name).read_bytes() for name in ("table.filled.csv", "new.filled.csv")]
        found.append(made)
    assert found[0] == found[1] == found[2]
    assert used == [1 if method == "missforest" else -1, 1, 2]


@pytest.mark.parametrize("more", [(), ("--test", "new.csv"), ("--save", "model")])
@pytest.mark.parametrize("method", ["cgknn", "grey"])
def test_a_table_is_encoded_once(greyfill, monkeypatch, method, more):
    learned, encode = [], frames.encode

    def counted(X, **options):
        learned.append(options.get("schema") is None)
        return encode(X, **options)

    monkeypatch.setattr(frames, "encode", counted)
    greyfill("impute", "table.csv", *ABOUT, "-m", method, *more)
    assert sum(learned) == 1


def test_pipe(greyfill, folder, listing):
    table = (folder / "table.csv").read_bytes()
    options = (*ABOUT, "--ordinal", "size=S,M,L", "-k", "2", "-q")
    done = greyfill("impute", "-", *options, stdin=table)
    assert (done.stdout_bytes, done.stderr) == (FILLED, "")
    assert listing() == ["new.csv", "table.csv"]


def test_tests_are_filled_without_labels(greyfill, folder):
    labeled = b"outcome,dose,smear,size,age,extra\n?!,2.5,,L,60,\n,,neg,,30,x\n"
    (folder / "labeled.tsv").write_bytes(labeled.replace(b",", b"\t"))
    done = greyfill("impute", "table.csv", *ABOUT, "--test", "new.csv", "--test", "labeled.tsv")
    assert "new.filled.csv (3 holes filled without labels)" in done.stderr
    new = (folder / "new.filled.csv").read_bytes().splitlines()
    assert new[:2] == [b"dose,smear,size,age", b"2.5,pos,L,60"]
    twin = (folder / "labeled.filled.tsv").read_bytes().splitlines()
    assert twin[1] == b"?!\t2.5\tpos\tL\t60\t"
    assert twin[2].split(b"\t")[1:5] == new[2].split(b",")
    assert twin[2].startswith(b"\t")


def test_everything_at_once_as_json(greyfill, folder, listing):
    done = greyfill(
        "impute", "table.csv", *ABOUT, "--test", "new.csv", "--report", "page.html",
        "--save", "model", "-o", "out.parquet", "--json",
    )  # fmt: skip
    numbers = json.loads(done.stdout)
    assert done.stderr == ""
    assert listing() == [
        "model", "new.csv", "new.filled.csv", "out.parquet", "page.html", "table.csv",
    ]  # fmt: skip
    assert (numbers["holes"], numbers["filled"], numbers["rows"]) == (5, 5, 7)
    assert numbers["output"] == "out.parquet"
    assert numbers["tests"][0]["filled"] == 3
    assert [c["kind"] for c in numbers["columns"]] == [
        "numeric", "categorical", "categorical", "numeric",
    ]  # fmt: skip
    frame = pl.read_parquet("out.parquet")
    assert frame["id"].to_list()[0] == "007"
    assert frame.drop("outcome").null_count().sum_horizontal().item() == 0
    assert frame["outcome"].null_count() == 1
    assert "<html" in (folder / "page.html").read_text()


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("t.csv.gz", pl.read_csv),
        ("t.parquet", pl.read_parquet),
        ("t.arrow", pl.read_ipc),
        ("t.jsonl", pl.read_ndjson),
    ],
)
def test_every_format_stays_what_it_is(greyfill, folder, name, read):
    greyfill("impute", "table.csv", *ABOUT, "-m", "iknn", "-o", name)
    greyfill("impute", name, *ABOUT, "-m", "iknn")
    first, second = (read(folder / n) for n in (name, name.replace("t.", "t.filled.")))
    assert first.equals(second)
    assert first.null_count().row(0) == (0, 0, 0, 0, 0, 1)


def test_dry_run_writes_nothing(greyfill, listing):
    done = greyfill("impute", "table.csv", *ABOUT, "--test", "new.csv", "--dry-run")
    assert listing() == ["new.csv", "table.csv"]
    assert done.stdout == ""
    for words in (
        "would fill 5 cells by cgknn, labels from 'outcome'",
        "left as they are: id",
        "would write table.filled.csv",
        "would write new.filled.csv",
    ):
        assert words in done.stderr
    plain = greyfill("impute", "table.csv", *ABOUT, "--labels", "none", "-n").stderr
    assert "would fill 5 cells by cgknn, labels unused" in plain
    numbers = json.loads(greyfill("impute", "table.csv", *ABOUT, "-n", "--json").stdout)
    assert numbers["to_fill"] == 5
    assert numbers["would_write"] == ["table.filled.csv"]
    assert listing() == ["new.csv", "table.csv"]


def test_only_the_first_of_many_columns_are_listed(greyfill, folder):
    names = [f"c{j}" for j in range(33)]
    rows = [",".join("" if i == j % 5 else str(i + j) for j in range(33)) for i in range(5)]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    done = greyfill("impute", "wide.csv", "--method", "knni", "-k", "1", "-o", "filled.csv")
    assert "33 holes in 33 of 33 columns" in done.stderr
    assert "… and 3 more columns" in done.stderr


def test_a_fit_on_a_table_without_holes_lists_no_columns(greyfill, folder):
    (folder / "whole.csv").write_text("a,b\n1,2\n3,4\n")
    done = greyfill("fit", "whole.csv", "--method", "knni", "-k", "1", "--save", "model")
    assert "whole.csv: 2 rows, 0 holes in 0 of 2 columns" in done.stderr
    assert "kind" not in done.stderr


def test_no_holes_is_a_copy(greyfill, folder):
    (folder / "full.csv").write_bytes(b"a;b\r\n1;x\r\n02;y")
    done = greyfill("impute", "full.csv", "--target", "b")
    assert "full.csv has no missing cell to fill; it was copied as it is." in done.stderr
    assert (folder / "full.filled.csv").read_bytes() == b"a;b\r\n1;x\r\n02;y"
    assert json.loads(greyfill("impute", "full.csv", "-t", "b", "-f", "--json").stdout)["copied"]
    (folder / "old.csv").write_bytes("a,b\n1,\xe9\n".encode("latin-1"))
    assert "old.csv is not UTF-8" in greyfill("impute", "old.csv", "-t", "b").stderr


def test_an_empty_column_stays_empty_and_is_told(greyfill, folder):
    (folder / "gap.csv").write_bytes(b"a,gap,c\n1,,x\n,,y\n3,,x\n4,,y\n")
    done = greyfill("impute", "gap.csv", "--target", "c", "-m", "cgknn")
    assert "Column 'gap' has no observed value, so it stays empty." in done.stderr
    assert (folder / "gap.filled.csv").read_bytes() == b"a,gap,c\n1,,x\n4,,y\n3,,x\n4,,y\n"


def test_input_is_replaced_only_by_force(greyfill, fails, folder):
    assert "it is the input" in fails("impute", "table.csv", *ABOUT, "-o", "table.csv")
    greyfill("impute", "table.csv", *ABOUT, "-o", "table.csv", "--force")
    assert b"010,58,pos,L,2.40,ill\r\n" in (folder / "table.csv").read_bytes()


def test_existing_output_is_an_error_before_the_work(fails, folder):
    (folder / "page.html").write_text("mine")
    (folder / "table.filled.csv").write_text("mine")
    assert "table.filled.csv: it exists already" in fails("impute", "table.csv", *ABOUT)
    line = fails("impute", "table.csv", *ABOUT, "-o", "x.csv", "--report", "page.html")
    assert "page.html: it exists already" in line
    assert (folder / "table.filled.csv").read_text() == "mine"


@pytest.mark.parametrize("method", ["iknn", "mean", "hot-deck", "sklearn_knn"])
def test_methods_without_labels(greyfill, folder, method):
    options = ("--ignore", "id,outcome", "--na-values", "?", "--method", method)
    greyfill("impute", "table.csv", *options)
    before, after = (
        [line.split(b",") for line in (folder / name).read_bytes().splitlines()]
        for name in ("table.csv", "table.filled.csv")
    )
    pairs = [(a, b) for x, y in zip(before, after, strict=True) for a, b in zip(x, y, strict=True)]
    assert all(a == b or a in (b"", b"?") for a, b in pairs)
    assert sum(a != b for a, b in pairs) == 5


def test_labels_none_needs_no_target(greyfill, folder):
    greyfill(
        "impute",
        "table.csv",
        "--id",
        "id",
        "--id",
        "outcome",
        "-m",
        "cgknn",
        "--labels",
        "none",
        "-q",
    )
    assert (folder / "table.filled.csv").exists()


def test_seed_and_jobs_are_taken(greyfill, folder):
    options = (*ABOUT, "--method", "mice", "--seed", "7", "--jobs", "1", "-f")
    greyfill("impute", "table.csv", *options, "-o", "a.csv")
    greyfill("impute", "table.csv", *options, "-o", "b.csv")
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_a_name_with_a_comma_is_a_name(greyfill, folder):
    (folder / "comma.csv").write_bytes(b'"a,b",c,d,y\n1,2,3,u\n1,,4,v\n2,2,5,u\n')
    done = greyfill(
        "impute", "comma.csv", "-t", "y", "-m", "cgknn", "-c", "a,b", "-c", "c,d", "--json"
    )
    kinds = {c["name"]: c["kind"] for c in json.loads(done.stdout)["columns"]}
    assert kinds == {"a,b": "categorical", "c": "categorical", "d": "categorical"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("table.csv", "-t", "outcom"), "no column 'outcom' (--target). Did you mean 'outcome'?"),
        (("table.csv", "-t", "OUTCOME"), "Did you mean 'outcome'?"),
        (("table.csv", "-t", "outcome", "--ignore", "idd"), "no column 'idd' (--ignore)"),
        (("table.csv", "-t", "outcome", "-c", "age,siz"), "no column 'siz' (--categorical)"),
        (("table.csv", "-t", "outcome", "--ordinal", "siz=S,M"), "'siz' (--ordinal)"),
        (("table.csv", "-t", "outcome", "--ordinal", "age=S,M"), "levels cannot stand in"),
        (
            ("table.csv", "-t", "outcome", "--ordinal", "size=S,M"),
            "table.csv, line 3, column 'size': 'L' is",
        ),
        (("table.csv", "-t", "outcome", "--id", "outcome"), "both --target and --ignore"),
        (("table.csv", "-t", "outcome", "--id", "age", "-c", "age"), "it can have no kind"),
        (("table.csv", "-m", "cgknn"), "leave --method away: grey needs none, nor do gbnn, iknn"),
        (("table.csv", "-t", "outcome", "-m", "cgnn"), "'cgnn' (--method). Did you mean cgknn"),
        (("table.csv", "-t", "outcome", "-m", "median"), "There are grey, cgknn, fwgknn, gknn"),
        (("table.csv", "-t", "dose", "-m", "cgknn"), "holds measurements, not classes"),
        (("table.csv", "-t", "outcome", "-k", "none"), "--k must be a positive number or auto"),
        (("table.csv", "-t", "outcome", "-k", "0"), "--k must be a positive number or auto"),
        (("table.csv", "-t", "outcome", "-m", "mean", "-k", "3"), "--k has no meaning"),
        (("table.csv", "-k", "3"), "--k has no meaning for the method grey, which is taken if"),
        (("table.csv", "-k", "3"), "Leave it away, or name a method that takes it (--method): cgk"),
        (("table.csv", "--labels", "weights"), "--labels weights has no meaning for the method gr"),
        (("table.csv", "--labels", "predictor"), "takes it (--method): mice"),
        (("table.csv", "-t", "outcome", "--labels", "foo"), "--labels must be one of"),
        (("table.csv", "-t", "outcome", "-m", "mean", "--labels", "none"), "--labels has no"),
        (("table.csv", "-t", "outcome", "--labels", "some"), "'some'"),
        (("table.csv", "-t", "outcome", "--jobs", "0"), "--jobs 0 cannot work"),
        (
            ("table.csv", "-t", "outcome", "-m", "mean", "--save", "m"),
            "--save has no meaning for the method mean. Leave it away, or name",
        ),
        (("table.csv", "-t", "outcome", "--report", "page.pdf"), "ends in .html, .md or .json"),
        (("table.csv", "-t", "outcome", "-o", "-", "--json"), "Only one thing can go to"),
        (("table.csv", "-t", "outcome", "--save", "-"), "need the name of a file"),
        (("table.csv", "-t", "outcome", "--report", "table.filled.csv"), "written twice"),
        (("table.csv", "-t", "outcome", "-o", "no/where.csv"), "there is no folder"),
        (("table.csv", "-t", "outcome", "-o", "out.xyz"), "the extension '.xyz' is unknown"),
        (("table.csv", "-t", "outcome", "--test", "bad.csv"), "no column 'age', which the imputer"),
        (("missing.csv", "-t", "outcome"), "Cannot read missing.csv: there is no such file"),
        (
            (".", "-t", "outcome"),
            "Cannot read .: it is a folder. A folder of Parquet files is filled",
        ),
        (("stray.csv", "-t", "y"), "stray.csv, line 5, column 'a'"),
        (("ragged.csv", "-t", "y"), "ragged.csv, line 3: expected 2 cells"),
        (
            ("twice.csv", "-t", "y", "--strict"),
            "twice.csv, line 1: the column name 'a' appears 2 times",
        ),
        (("empty.csv", "-t", "y"), "empty.csv is empty"),
        (("header.csv", "-t", "y"), "has column names but no rows"),
        (("nolabels.csv", "-t", "y"), "the target 'y' has no label in any row"),
        (("only.csv", "-t", "y"), "no column left to impute"),
        (
            ("broken.csv", "-t", "y"),
            "broken.csv, line 3: byte 0xff at offset 11 is not valid utf-8",
        ),
        (("binary.csv", "-t", "y"), "binary.csv has a zero byte in line 2"),
        (("quote.csv", "-t", "y"), "quote.csv, line 2: a quote opens here"),
        (("ids.csv", "-t", "y", "--numeric", "b"), "no column 'b' (--numeric)"),
        (("table.csv", "-t", "outcome", "--numeric", "smear"), "line 2, column 'smear'"),
        (("table.csv", "-t", "outcome", "--encoding", "klingon"), "encoding 'klingon' is unknown"),
    ],
)
def test_mistakes_end_with_one_line(fails, folder, listing, arguments, words):
    for name, content in {
        "bad.csv": b"agee,smear,size,dose,id\n,a,b,3,4\n",
        "stray.csv": b"a,y\n1,u\n2,v\n3,u\nlots,v\n5,u\n",
        "ragged.csv": b"a,y\n1,u\n1,2,v\n",
        "twice.csv": b"a,a,y\n1,2,u\n",
        "empty.csv": b"",
        "header.csv": b"a,y\n",
        "nolabels.csv": b"a,y\n1,\n,\n",
        "only.csv": b"y\nu\n",
        "broken.csv": "a,y\n1,éé\n".encode() + b"\xff,v\n",
        "binary.csv": b"a,y\n1," + b"\0" * 9 + b"\n",
        "quote.csv": b'a,y\n"1,u\n',
        "ids.csv": b"a,y\n007,u\n,v\n",
    }.items():
        (folder / name).write_bytes(content)
    before = listing()
    assert words in fails("impute", *arguments)
    assert listing() == before


def test_an_unknown_column_in_a_pipe(fails, folder):
    table = (folder / "table.csv").read_bytes()
    line = fails("impute", "-", "--target", "klass", stdin=table)
    assert "standard input has no column 'klass' (--target)" in line
    line = fails("impute", "-", "--target", "outcome", "--id", "idd", stdin=table)
    assert "standard input has no column 'idd'" in line


def test_a_disk_that_is_full(fails, folder, listing):
    (folder / "full.csv").symlink_to("/dev/full")
    before = listing()
    for command in (("impute", "table.csv", *ABOUT), ("report", "table.csv", *ABOUT)):
        (folder / "full.html").unlink(missing_ok=True)
        (folder / "full.html").symlink_to("/dev/full")
        out = "full.csv" if command[0] == "impute" else "full.html"
        assert f"Cannot write {out}: the disk is full" in fails(*command, "-o", out, "-q", "-f")
    (folder / "full.html").unlink()
    assert listing() == before


def test_places_without_permission(fails, folder, listing, monkeypatch):
    """Root may do everything, so the system's answer is given by hand."""

    def refuse(*_):
        raise PermissionError(errno.EACCES, "denied")

    before = listing()
    with monkeypatch.context() as patched:
        patched.setattr("greyfill.files.atomic.open_draft", refuse)
        line = fails("impute", "table.csv", *ABOUT, "-q")
    assert "Cannot write table.filled.csv: permission denied" in line
    monkeypatch.setattr("greyfill.files.inputs._seekable", refuse)
    assert "Cannot read table.csv: permission denied" in fails("impute", "table.csv", *ABOUT)
    assert listing() == before


def test_identifiers_are_quantities_if_the_user_says_so(greyfill, folder):
    (folder / "ids.csv").write_bytes(b"a,y\n007,u\n,u\n009,u\n012,v\n")
    done = greyfill("impute", "ids.csv", "-t", "y", "-m", "cgknn", "-k", "2", "-o", "-")
    assert "--numeric" in done.stderr
    done = greyfill(
        "impute", "ids.csv", "-t", "y", "-m", "cgknn", "-k", "2", "-o", "-", "--numeric", "a"
    )
    assert done.stdout.splitlines() == ["a,y", "007,u", "8,u", "009,u", "012,v"]


def test_no_picture_no_matplotlib(command):
    done = command(
        "impute", "table.csv", *ABOUT, "--report", "page.md",
        before="import atexit\natexit.register(lambda: print('matplotlib' in sys.modules))",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"False\n")


def test_debug_shows_the_traceback(greyfill, folder):
    from typer.testing import CliRunner

    from greyfill.cli import app

    done = CliRunner().invoke(app, ["impute", "missing.csv", "-t", "y", "--debug"])
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("greyfill: Cannot read missing.csv")


def test_notes_about_the_target(greyfill, folder):
    rows = "\n".join(f"{i % 7 if i % 5 else ''},c{i}" for i in range(40))
    (folder / "many.csv").write_text(f"a,y\n{rows}\n")
    done = greyfill("impute", "many.csv", "-t", "y", "-m", "cgknn", "-k", "1")
    assert "has 40 classes in 40 rows. Is it the column of the classes?" in done.stderr
    assert "fall-back: " in done.stderr
    measured = "\n".join(f"{i % 7 if i % 5 else ''},{i * i}" for i in range(40))
    (folder / "prices.csv").write_text(f"a,y\n{measured}\n")
    assert "classes" not in greyfill("impute", "prices.csv", "-t", "y").stderr
    shown = greyfill("inspect", "prices.csv", "-t", "y").stdout
    assert "y holds measurements, not classes" in shown


def test_any_extension_is_read_by_content_and_kept(greyfill, folder, listing):
    for name in ("t.data", "t.names.gz", "t.odd"):
        raw = (folder / "table.csv").read_bytes()
        (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        greyfill("impute", name, *ABOUT, "-k", "2", "-q")
    assert {"t.filled.data", "t.filled.names.gz", "t.filled.odd"} <= set(listing())


@pytest.mark.parametrize("name", ["x.docx", "x.png.gz"])
def test_unknown_extensions_of_outputs_are_refused(fails, folder, name):
    message = fails("impute", "table.csv", "-t", "outcome", "-o", name)
    assert message.startswith(f"greyfill: {name}: the extension '.{name.split('.')[1]}' ")
    for known in (".csv", ".parquet", ".jsonl", ".xlsx"):
        assert known in message


@pytest.mark.parametrize(("name", "other"), [("x.xls", "x.xlsx"), ("x.sas7bdat", "x.csv")])
def test_formats_that_can_only_be_read_are_no_outputs(fails, folder, name, other):
    message = fails("impute", "table.csv", "-t", "outcome", "-o", name)
    assert f"can only be read. Name another output, such as {other}" in message
    assert "cannot become a spss file" in fails("impute", "table.csv", *ABOUT, "-o", "x.sav")


def test_guesses_are_recorded_and_a_model_remembers_them(greyfill, folder):
    raw = (folder / "table.csv").read_bytes().replace(b"neg", b"NA", 1).replace(b"34", b"n/a")
    (folder / "words.csv").write_bytes(raw)
    about = ("-t", "outcome", "--ignore", "id", "-m", "cgknn", "-k", "2", "--json")
    told = json.loads(
        greyfill("impute", "words.csv", *about, "--save", "m", "--report", "p.md").stdout
    )
    assert [(g["column"], g["cells"]) for g in told["guesses"]] == [("age", 1), ("smear", 3)]
    assert told["notes"][0].startswith(
        "Taken as missing: 'n/a' in 'age' (1); '?', 'NA' in 'smear' (3). If"
    )
    page = (folder / "p.md").read_text()
    assert "Taken for granted" in page
    assert "Taken as missing" in page
    (folder / "later.csv").write_bytes(b"dose,smear,size,age\n2.5,NA,L,60\n")
    greyfill("apply", "m", "later.csv", "-q")
    assert b"NA" not in (folder / "later.filled.csv").read_bytes()
    done = greyfill("impute", "words.csv", *about[:-1], "--strict", "-f", exit_code=2)
    assert "'n/a'" in done.stderr


def test_words_for_one_column(greyfill, folder):
    (folder / "codes.csv").write_bytes(b"a,b,y\n-9,-9,u\n1,2,v\n2,3,u\n3,1,v\n,4,u\n")
    about = ("-t", "y", "-m", "iknn", "-k", "1", "--json")
    told = json.loads(greyfill("impute", "codes.csv", *about, "--na-values", "a=-9").stdout)
    assert {c["name"]: c["holes"] for c in told["columns"]} == {"a": 2, "b": 0}


def test_numbers_with_signs_are_told_to_be_written_plainly(fails, folder):
    (folder / "shares.csv").write_bytes(b"pct,y\n" + b"74%,a\n75%,b\n" * 8)
    message = fails("impute", "shares.csv", "-t", "y", "--numeric", "pct", "--strict")
    assert "this cell and 15 more do not: '74%'" in message
    assert "If it is a number, write it plainly, as 74 or 1234.5." in message
    (folder / "one.csv").write_bytes(b"n,y\n" + b"74,a\n" * 8 + b"old,b\n")
    message = fails("impute", "one.csv", "-t", "y")
    assert "this cell does not: 'old'. If it stands" in message


def test_a_name_without_extension_is_filled_beside(greyfill, folder, listing):
    (folder / "votes").write_bytes((folder / "table.csv").read_bytes())
    greyfill("impute", "votes", "-t", "outcome", "--na-values", "?", "-m", "cgknn", "-q")
    assert "votes-filled" in listing()


def test_column_with_one_observed_value_has_a_report(greyfill, folder):
    (folder / "t.csv").write_text("a,b\n1,1\n,2\n,3\n")
    greyfill("impute", "t.csv", "--method", "grey", "--report", "r.html")
    assert "Usual error" in (folder / "r.html").read_text("utf-8")


def test_what_tuning_had_no_time_for_is_told(greyfill, folder):
    rows = "".join(f"{i % 7},{(i * 5) % 11},{i % 3 or ''}\n" for i in range(60))
    (folder / "long.csv").write_text("a,b,c\n" + rows)
    done = greyfill("impute", "long.csv", "--time", "0.000001", "-o", "hurried.csv")
    told = " ".join(done.stderr.split())
    assert "Tuning ended in time (--time): 1 of 1 column did not try" in told
    assert "regressions on neighbors" in told
    assert "(--time)" not in greyfill("impute", "long.csv", "-o", "patient.csv").stderr
    refused = greyfill("impute", "long.csv", "--method", "cgknn", "--time", "9", exit_code=2)
    assert "--time has no meaning for the method cgknn" in " ".join(refused.stderr.split())
    refused = greyfill("impute", "long.csv", "--time", "0", exit_code=2)
    assert "positive number of seconds" in " ".join(refused.stderr.split())


@pytest.fixture
def noisy(folder):
    """Eleven columns of noise, a column that follows one of them, and holes in all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    X[:, 11] = X[:, 0] + 0.1 * rng.normal(size=60)
    holes = rng.random(X.shape) < 0.08
    holes[:, 0] = False
    names = [f"c{j}" for j in range(12)]
    rows = [
        ",".join("" if hole else f"{x:.3f}" for x, hole in zip(*cells, strict=True))
        for cells in zip(X, holes, strict=True)
    ]
    (folder / "noisy.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    return "noisy.csv"


def test_how_far_the_fills_can_be_trusted(greyfill, noisy):
    done = greyfill("impute", noisy, "-o", "out.csv")
    assert "treat them as guesses" in done.stderr
    assert "The best fills are those of “c11”" in done.stderr
    trust = done.stderr[done.stderr.index("explains") :]
    assert trust.count("no better than a guess") == 8
    assert "… and 3 more columns" in trust
    assert done.stdout == ""
    assert greyfill("impute", noisy, "-o", "out.csv", "-f", "--quiet").stderr == ""
    told = json.loads(greyfill("impute", noisy, "-o", "out.csv", "-f", "--json").stdout)["trust"]
    assert len(told["sentences"]) == 3
    assert told["columns"][-1]["column"] == "c11"
    assert told["columns"][-1]["word"] == "good"
    other = greyfill("impute", noisy, "-o", "out.csv", "-f", "--method", "knni")
    assert "trust" not in other.stderr
    assert "explains" not in other.stderr


def test_fills_by_own_labels_are_told(greyfill, folder):
    rows = "".join(f"{i % 7},{i % 3 or ''},{'ab'[i % 2]}\n" for i in range(40))
    (folder / "classes.csv").write_text("a,b,y\n" + rows)
    for labels, is_told in (("cross", False), ("own", True), ("none", False)):
        about = ("classes.csv", "--target", "y", "--labels", labels, "-f")
        told = " ".join(greyfill("impute", *about).stderr.split())
        assert ("Rows were filled with the help of their own label" in told) is is_told
