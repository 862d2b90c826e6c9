"""The walk without a browser: what the page shows is what the library and the command give."""

import asyncio
import copy
import errno
import io
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import polars as pl
import psutil
import pytest
from app.client import serving
from corpus.exports import EXPORTS

import greyfill
from greyfill.app.choices import Choices
from greyfill.app.private_folder import PREFIX, private_folder, remove_abandoned
from greyfill.app.questions import READ_SHEET
from greyfill.app.session import WorkerProcess, WorkError
from greyfill.app.workbench import Workbench
from greyfill.exceptions import GreyfillError, InvalidParameterError
from greyfill.text import clean

DATA = Path(greyfill.__file__).parent / "datasets" / "data"
HEPATITIS = (DATA / "hepatitis.csv").read_bytes()


@pytest.fixture(scope="module")
def filled(server):
    """Hepatitis, with its target, filled."""
    table = server.upload("hepatitis.csv", HEPATITIS)
    status, looked = server.json("POST", f"{table}/look", {"choices": {"target": "class"}})
    assert status == 200
    return table, looked, server.fill(table)


def download(server, table, what):
    status, headers, raw = server.ask("GET", f"{table}/files/{what}")
    assert status == 200, raw
    assert headers["content-disposition"].startswith("attachment")
    return raw


def test_a_look_tells_columns_holes_and_guesses(filled):
    _, looked, _ = filled
    assert (looked["rows"], looked["holes"], looked["target"]) == (155, 167, "class")
    columns = {column["name"]: column for column in looked["columns"]}
    assert columns["PROTIME"]["holes"] == 67
    codes = columns["PROTIME"]["strip"]
    frame = pl.read_csv(io.BytesIO(HEPATITIS))
    bins = -(-frame.height // len(codes))
    holes = frame["PROTIME"].is_null()
    assert [c != "0" for c in codes] == [holes[i : i + bins].any() for i in range(0, 155, bins)]


def test_the_download_is_what_the_printed_lines_give(server, filled, tmp_path, monkeypatch):
    table, _, done = filled
    raw = download(server, table, "table")
    (tmp_path / "hepatitis.csv").write_bytes(HEPATITIS)
    assert done["command"] == "greyfill impute hepatitis.csv --target=class"
    words = done["command"].split()[1:]
    subprocess.run([sys.executable, "-m", "greyfill", *words, "-q"], cwd=tmp_path, check=True)
    assert (tmp_path / "hepatitis.filled.csv").read_bytes() == raw
    monkeypatch.chdir(tmp_path)
    frame = eval(done["python"], {"greyfill": greyfill}).table
    assert frame.equals(pl.read_csv(io.BytesIO(raw)))


def test_observed_cells_keep_every_byte(server, filled):
    before, after = HEPATITIS.splitlines(), download(server, filled[0], "table").splitlines()
    for old, new in zip(before, after, strict=True):
        for was, now in zip(old.split(b","), new.split(b","), strict=True):
            assert was in (b"", now)


def test_excel_marks_the_filled_cells_and_no_other(server, filled):
    book = openpyxl.load_workbook(io.BytesIO(download(server, filled[0], "excel")))
    frame = pl.read_csv(io.BytesIO(HEPATITIS))
    for j, name in enumerate(frame.columns):
        for i, is_hole in enumerate(frame[name].is_null()):
            cell = book.active.cell(i + 2, j + 1)
            assert (cell.fill.start_color.rgb == "FFFFFF99") == is_hole
            assert (cell.comment is not None) == is_hole
            assert cell.value is not None


def test_the_other_files(server, filled):
    mask = pl.read_csv(io.BytesIO(download(server, filled[0], "mask")))
    assert int(mask.sum().sum_horizontal().item()) == 167
    cells = pl.read_csv(io.BytesIO(download(server, filled[0], "cells")))
    assert cells.height == 167
    with zipfile.ZipFile(io.BytesIO(download(server, filled[0], "draws"))) as bundle:
        assert len(bundle.namelist()) == 5
    model = download(server, filled[0], "model")
    assert zipfile.is_zipfile(io.BytesIO(model))
    assert server.ask("GET", f"{filled[0]}/files/nothing")[0] == 422


def test_rows_are_paged_sorted_and_marked(server, filled):
    table = filled[0]
    asked = {"start": 0, "count": 20, "sort": "AGE", "falling": True, "holes": True}
    status, page = server.json("POST", f"{table}/ask/rows", asked)
    assert status == 200
    assert (len(page["rows"]), page["total"]) == (20, 75)
    ages = [int(row[page["columns"].index("AGE")]) for row in page["cells"]]
    assert ages == sorted(ages, reverse=True)
    frame = pl.read_csv(io.BytesIO(HEPATITIS))
    for row, line, marks in zip(page["rows"], page["lines"], page["marks"], strict=True):
        assert line == row + 2
        assert [mark == 1 for mark in marks] == [v is None for v in frame.row(row)]
    last = server.json("POST", f"{table}/ask/rows", {"start": 150, "count": 20})[1]
    assert last["rows"] == [150, 151, 152, 153, 154]


def test_a_cell_tells_limits_donors_and_why(server, filled):
    frame = pl.read_csv(io.BytesIO(HEPATITIS))
    row = frame["PROTIME"].is_null().arg_true()[0]
    status, cell = server.json("POST", f"{filled[0]}/ask/cell", {"row": row, "column": "PROTIME"})
    assert status == 200
    assert cell["line"] == row + 2
    assert cell["limits"].startswith("With probability 0.9")
    assert cell["range"]["low"] <= cell["range"]["value"] <= cell["range"]["high"]
    assert len(cell["donors"]) == 6
    for donor in cell["donors"]:
        assert donor["value"] == str(frame["PROTIME"][donor["row"]])
    assert cell["trust"]["word"]
    assert {effect["name"] for effect in cell["effects"]} <= {*frame.columns}


def test_the_effect_of_the_target_has_its_name(tmp_path, monkeypatch):
    rng = random.Random(1)
    rows = []
    for n in range(90):
        a, noise = rng.gauss(0, 1), rng.gauss(0, 0.3)
        size = round(5 * (n % 3) + a + noise, 1) if n % 6 else ""
        rows.append(f"{a:.2f},{size},{'abc'[n % 3]}")
    (tmp_path / "t.csv").write_text("\n".join(["a,size,kind", *rows]))
    monkeypatch.chdir(tmp_path)
    bench = Workbench("t.csv", lambda progress: None)
    bench.look({"target": "kind"})
    bench.fill()
    names = {effect["name"] for effect in bench.cell(0, "size")["effects"]}
    assert "kind" in names
    assert "y" not in names


def test_a_number_beside_dates_tells_its_range(tmp_path, monkeypatch):
    days = [f"{n % 28 + 1:02}.0{n % 9 + 1}.2024" if n % 6 else "" for n in range(40)]
    rows = [f"{day};{n % 7 if n % 5 else ''}" for n, day in enumerate(days)]
    (tmp_path / "visits.csv").write_text("\n".join(["day;stage", *rows]))
    monkeypatch.chdir(tmp_path)
    bench = Workbench("visits.csv", lambda progress: None)
    bench.look({})
    bench.fill()
    cell = bench.cell(5, "stage")
    assert (cell["range"]["ends"], len(cell["range"]["texts"])) == ([0.0, 6.0], 4)
    assert bench.cell(6, "day")["range"] is None


def test_lines_are_those_of_the_table_as_it_is_read_now(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},{n * 3 % 7 if n % 4 else ''}" for n in range(12)]
    Path("t.csv").write_text("\n".join(["a,b", *rows]))
    bench = Workbench("t.csv", lambda progress: None)
    bench.look({})
    assert bench.rows()["lines"] == list(range(2, 14))
    bench.look({"header": False})
    assert bench.rows()["lines"] == list(range(1, 14))
    bench.look({})
    bench.fill()
    assert bench.cell(4, "b")["line"] == 6


def test_another_sheet_may_be_longer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    for sheet, n_rows in ((book.active, 3), (book.create_sheet("two"), 9)):
        for row in [("a", "b"), *((n, n + 0.5 if n % 4 else None) for n in range(n_rows))]:
            sheet.append(row)
    book.save("t.xlsx")
    bench = Workbench("t.xlsx", lambda progress: None)
    (asked,) = [q for q in bench.look({})["questions"] if "two" in str(q["answers"])]
    assert "Sheet" not in asked["text"]  # the page keeps the question when another one is read
    assert len(bench.rows()["lines"]) == 3
    bench.look({"sheet": "two"})
    assert len(bench.rows()["lines"]) == 9


def test_pieces_are_those_of_the_report(server, filled):
    html = server.json("POST", f"{filled[0]}/ask/describe", {})[1]["html"]
    assert "How far to trust the fills" in html
    assert "style=" not in html


def test_two_tables_do_not_mix(server, filled):
    other = server.upload("hepatitis.csv", b"a,b\n1,2\n,3\n4,\n" + b"5,6\n" * 20)
    found = server.json("POST", f"{other}/look", {})[1]
    assert (found["rows"], found["holes"]) == (23, 2)
    server.fill(other)
    assert download(server, other, "table").startswith(b"a,b\n1,2\n")
    assert download(server, filled[0], "table").startswith(HEPATITIS[:40])
    assert server.json("DELETE", other)[0] == 200
    assert server.json("GET", other)[0] == 404
    assert not (Path(server.folder) / other.rpartition("/")[2]).exists()


def test_choices_reach_the_fill(server):
    table = server.upload("doses.csv", b"id,age,dose\n" + b"".join(
        b"%d,%s,%d\n" % (n, b"-9" if n % 7 == 0 else b"%d" % (20 + n % 50), n % 11)
        for n in range(1, 90)) + b"91,,\n")  # fmt: skip
    choices = {"ignored": ["id"], "na_values": ["age=-9"], "bounds": ["age=30:40"]}
    status, looked = server.json("POST", f"{table}/look", {"choices": choices})
    assert status == 200
    assert looked["holes"] == 14
    done = server.fill(table)
    assert done["command"] == (
        "greyfill impute doses.csv --ignore=id --na-values=age=-9 --bounds=age=30:40"
    )
    frame = pl.read_csv(io.BytesIO(download(server, table, "table")))
    fills = [frame["age"][n - 1] for n in range(7, 90, 7)]
    assert all(30 <= fill <= 40 for fill in fills)
    server.json("DELETE", table)


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_messy_exports_are_looked_at(export, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(export.name).write_bytes(export.make())
    bench = Workbench(export.name, lambda progress: None)
    looked = json.loads(json.dumps(bench.look({}), allow_nan=False))
    assert set(export.guesses) <= {guess["kind"] for guess in looked["guesses"]}
    assert len(bench.rows()["cells"]) == min(looked["rows"], 50)
    asked = {column for question in looked["questions"] for column in question["columns"]}
    guessed = [g for g in looked["guesses"] if g["kind"] != "lost"]
    assert {g["column"] for g in guessed if g["column"] is not None} <= asked
    details = {question["text"] for question in looked["questions"]}
    of_file = [g for g in guessed if g["column"] is None]
    words = {READ_SHEET if g["kind"] == "sheet" else clean(g["detail"], 300) for g in of_file}
    assert words <= details
    findings = {clean(found["text"], 500) for found in looked["findings"]}
    assert findings <= details


def test_merged_cells_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = openpyxl.Workbook()
    for row in [["a", "b"], ["x", 1], [None, 2], ["y", 3], ["y", 4]]:
        made.active.append(row)
    made.active.merge_cells("A2:A3")
    made.save("t.xlsx")
    looked = Workbench("t.xlsx", lambda progress: None).look({})
    assert "has merged cells: 'A2:A3'" in looked["notes"][0]


def answered(choices, question, n):
    """The choices with another answer, as the page makes them."""
    made = copy.deepcopy(choices)
    for name, value in (pair for answer in question["answers"] for pair in answer["set"]):
        if isinstance(made[name], list):
            made[name] = [v for v in made[name] if v != value]
        else:
            made[name] = False if name == "strict" else None
    for name, value in question["answers"][n]["set"]:
        made[name] = [*made[name], value] if isinstance(made[name], list) else value
    return made


MAY_BE_REFUSED = ("header", "strict", "delimiter", "decimal", "encoding", "sheet")


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_every_guess_and_finding_can_be_answered_and_taken_back(export, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(export.name).write_bytes(export.make())
    bench = Workbench(export.name, lambda progress: None)
    first = bench.look({})
    for question in first["questions"]:
        for n, answer in enumerate(question["answers"]):
            if n == question["chosen"]:
                continue
            try:
                choices = answered(first["choices"], question, n)
                found = bench.look(choices, first["questions"])
            except GreyfillError:
                assert answer["set"][0][0] in MAY_BE_REFUSED
                continue
            (same,) = [q for q in found["questions"] if q["key"] == question["key"]]
            assert same["chosen"] == n
            for name, value in answer["set"]:
                assert (
                    name in MAY_BE_REFUSED
                    or shlex.quote(str(value)).strip("'") in (found["command"])
                )
            back = bench.look(answered(found["choices"], same, question["chosen"]), [same])
            assert back["holes"] == first["holes"]
            assert back["command"] == first["command"]


def test_letters_that_are_not_western_are_a_choice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "город,возраст\n" + "Тверь,31\nПсков,\n" * 9
    Path("города.csv").write_bytes(text.encode("cp1251"))
    bench = Workbench("города.csv", lambda progress: None)
    first = bench.look({})
    (letters,) = [q for q in first["questions"] if q["text"].startswith("The letters")]
    n = [answer["text"] for answer in letters["answers"]].index("Cyrillic")
    found = bench.look(answered(first["choices"], letters, n), first["questions"])
    assert [column["name"] for column in found["columns"]] == ["город", "возраст"]
    assert "--encoding=cp1251" in found["command"]


@pytest.mark.parametrize(
    ("word", "answers"),
    [
        ("low", ["missing", "categories", "left alone"]),
        ("3E", ["categories", "left alone"]),  # a reading, which a fill would replace
    ],
)
def test_what_can_be_said_of_words_among_numbers(tmp_path, monkeypatch, word, answers):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"a,b\n{word},1\n" + "1,2\n2,\n3,4\n" * 9)
    (asked,) = [q for q in Workbench("t.csv", print).look({})["questions"] if word in q["text"]]
    assert [answer["text"] for answer in asked["answers"]] == answers
    assert asked["answers"][0]["set"] != asked["answers"][1]["set"]


def test_cancel_ends_the_process_and_keeps_the_table(server):
    rows = b"".join(
        b"%d,%d,%d,%d\n" % (n % 97, n * n % 89, n * 7 % 83, n % 5)
        if n % 3
        else b",%d,,%d\n" % (n, n % 5)
        for n in range(60_000)
    )
    table = server.upload("large.csv", b"a,b,c,d\n" + rows)
    assert server.json("POST", f"{table}/look", {})[0] == 200
    workers = {p.pid for p in psutil.Process(server.process.pid).children()}
    assert server.json("POST", f"{table}/fill", {})[0] == 202
    status, page = server.json("POST", f"{table}/ask/rows", {"start": 59_990})
    assert (status, len(page["rows"])) == (200, 10)  # rows are shown while it fills
    assert server.json("POST", f"{table}/fill", {})[0] == 409
    status, told = server.json("POST", f"{table}/cancel", {})
    assert (status, told["state"], told["error"]) == (200, "open", None)
    gone = workers - {p.pid for p in psutil.Process(server.process.pid).children()}
    assert len(gone) == 1
    assert server.json("GET", f"{table}/filled")[0] == 409
    assert server.json("POST", f"{table}/look", {})[1]["rows"] == 60_000
    server.json("DELETE", table)


def test_a_worker_that_dies_is_told_of_and_replaced(server):
    table = server.upload("doses.csv", b"a,b\n1,2\n,3\n4,\n" + b"5,6\n" * 20)
    assert server.json("POST", f"{table}/look", {})[0] == 200
    inside = os.path.join(table.rpartition("/")[2], "in")
    children = psutil.Process(server.process.pid).children()
    (worker,) = [child for child in children if child.cwd().endswith(inside)]
    worker.kill()
    psutil.wait_procs([worker], timeout=20)
    status, page = server.json("POST", f"{table}/ask/rows", {})
    while status == 422:  # the server may not know yet
        status, page = server.json("POST", f"{table}/ask/rows", {})
    assert page["total"] == 23
    assert server.fill(table)["filled"] == 2
    server.json("DELETE", table)


def test_a_worker_whose_answers_have_ended_takes_no_orders():
    async def ask() -> None:
        answers = asyncio.StreamReader()
        answers.feed_eof()  # it died, and nobody has been told yet
        worker = WorkerProcess(SimpleNamespace(returncode=None, stdout=answers, stdin=None))
        await worker._listener
        assert not worker.is_alive
        await asyncio.wait_for(worker.ask("rows"), 5)

    with pytest.raises(WorkError):
        asyncio.run(ask())


@pytest.mark.skipif(not hasattr(greyfill, "worth"), reason="this greyfill has no worth")
def test_worth_is_found_out_beside_the_fill(server, filled):
    table = filled[0]
    assert server.json("POST", f"{table}/worth", {})[0] == 202
    assert server.json("POST", f"{table}/worth", {})[0] == 409
    assert server.json("GET", table)[1]["judging"] is not None
    assert server.json("DELETE", f"{table}/worth")[0] == 200
    assert server.json("GET", table)[1]["judging"] is None
    assert server.json("GET", f"{table}/filled")[1]["filled"] == 167


def test_worth_is_refused_in_words_where_it_cannot_be_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("doses.csv").write_bytes(b"a,b\n1,2\n,3\n4,\n" + b"5,6\n" * 20)
    bench = Workbench("doses.csv", lambda progress: None)
    assert bench.look({})["has_worth"] == hasattr(greyfill, "worth")
    with pytest.raises(InvalidParameterError, match="Choose a target"):
        bench.worth()


def test_worth_leaves_alone_what_the_page_leaves_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"P{n},{n % 7 if n % 4 else ''},{'SML'[n % 3]},{'yn'[n % 2]}" for n in range(40)]
    Path("t.csv").write_text("\n".join(["case,x,size,y", *rows]))
    asked = []

    def weigh(X, y, **options):
        asked.append((X.columns, options["categorical_features"], options["ordinal_features"]))
        return SimpleNamespace(overview=lambda: ("", [], []))

    monkeypatch.setattr(greyfill, "worth", weigh)
    bench = Workbench("t.csv", lambda progress: None)
    for choices in ({}, {"categorical": ["size"]}, {"insisted": ["case"]}):
        bench.look({"target": "y", **choices})
        bench.worth()
    assert [columns for columns, _, _ in asked] == [["x", "size"]] * 2 + [["case", "x", "size"]]
    assert [levels for _, levels, _ in asked] == ["auto", ["size"], "auto"]


def wait_until(is_so):
    for _ in range(400):
        if is_so():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, "close"])
def test_an_ended_server_leaves_nothing_behind(how):
    with serving(str(DATA / "hepatitis.csv")) as server:
        server.sign_in()
        state = server.json("GET", "/api/state")[1]
        assert [t["name"] for t in state["tables"]] == ["hepatitis.csv"]
        folder = Path(server.folder)
        workers = psutil.Process(server.process.pid).children()
        assert len(list(folder.rglob("hepatitis.csv"))) == 1
        if how == "close":
            assert server.ask("POST", "/api/close", {})[0] == 200
        else:
            server.process.send_signal(how)
        server.process.wait(20)
        assert wait_until(lambda: not folder.exists())
        _, alive = psutil.wait_procs(workers, timeout=20)
        assert alive == []


def test_folders_of_dead_servers_are_removed_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = tmp_path / f"{PREFIX}{os.getpid()}-abc"  # this process has the number of a dead one
    other = tmp_path / f"{PREFIX}mine"
    for folder in (dead, other):
        folder.mkdir()
        (folder / "table.csv").write_text("a\n")
    with private_folder() as alive:
        assert sorted(tmp_path.iterdir()) == sorted([alive, other])
    assert list(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize("step", [-3600.0, 1.0])
def test_the_folder_of_a_running_server_stays_when_the_clock_is_set(step, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    born = psutil.Process.create_time
    with private_folder() as alive:
        monkeypatch.setattr(psutil.Process, "create_time", lambda self: born(self) + step)
        remove_abandoned()
        assert alive.is_dir()


@pytest.mark.parametrize("problem", [errno.ENOLCK, errno.ENOTSUP])
def test_without_locks_a_folder_stays_while_there_is_its_process(problem, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("fcntl.flock", refuse)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f"{PREFIX}{gone.pid}-abc").mkdir()
    with private_folder() as alive:
        remove_abandoned()
        assert list(tmp_path.iterdir()) == [alive]


def test_the_command_prints_one_line(tmp_path):
    words = [sys.executable, "-m", "greyfill", "app", "--no-browser"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = process.stdout.readline().decode()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert line.startswith("http://127.0.0.1:")
    assert (out, err, process.returncode) == (b"", b"", 0)


def test_a_file_that_is_not_there_is_told(tmp_path):
    words = [sys.executable, "-m", "greyfill", "app", str(tmp_path / "none.csv"), "--no-browser"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "there is no such file" in done.stderr


def test_a_taken_port_is_told(server):
    words = [sys.executable, "-m", "greyfill", "app", "--no-browser", "--port", str(server.port)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"Cannot listen at port {server.port}" in done.stderr


def test_choices_go_to_json_and_back():
    plain = {"target": "y", "ignored": ["id"], "na_values": ["?"], "bounds": ["a=0:1"],
             "method": "mean", "header": False}  # fmt: skip
    chosen = Choices.read(plain)
    assert Choices.read(json.loads(json.dumps(chosen.to_dict()))) == chosen
    assert chosen.command("t.csv") == (
        "greyfill impute t.csv --target=y --ignore=id '--na-values=?' --no-header --bounds=a=0:1 "
        "--method=mean"
    )
