"""Workbooks and files of statistics programs: only holes change, and what is kept is kept."""

import io
import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path

import polars as pl
import pytest
from corpus.exports import EXPORTS, book
from files.csv_tables import first_values

from greyfill import files
from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError
from greyfill.files import sheets, statistics_formats
from greyfill.files.peek import peek_names

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("fastexcel")

ROWS = [
    ["made up", None, None, None],
    ["age", "when", "sex", "twice"],
    [34, date(2024, 1, 5), "f", "=A3*2"],
    ["NA", None, "=1+1", "=A4*2"],
    [None, None, None, None],
    [51, date(2024, 3, 1), None, None],
    [47, date(2024, 2, 1), "m", 3],
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = openpyxl.load_workbook(io.BytesIO(book(("Notes", [["hello"]]), ("Data", ROWS))))
    made["Data"]["A2"].font = openpyxl.styles.Font(bold=True)
    made["Data"].column_dimensions["B"].width = 33
    made.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_only_holes_of_one_sheet_are_written(path: Path, tmp_path: Path) -> None:
    source = files.read(path)
    assert source.frame["age"].to_list() == [34, None, 51, 47]
    assert source.frame["when"].dtype == pl.Date
    assert source.place(2, "sex").endswith("t.xlsx, sheet 'Data', row 6, column 'sex'")
    assert source.words == {"age": ("NA",)}
    filled = source.frame.with_columns(
        age=pl.Series([1, 40, 2, 3]), sex=pl.Series(["x", "=cmd()", "m", "x"]),
    )  # fmt: skip
    source.write(filled, tmp_path / "out.xlsx", about=lambda row, column: f"{column} of {row}")
    before, after = (openpyxl.load_workbook(p) for p in (path, tmp_path / "out.xlsx"))
    assert after.sheetnames == ["Notes", "Data"]
    changed = {}
    for old, new in zip(before["Data"].iter_rows(), after["Data"].iter_rows(), strict=True):
        for a, b in zip(old, new, strict=True):
            if a.value != b.value:
                changed[b.coordinate] = b.value
                assert b.fill.start_color.rgb.endswith(sheets.YELLOW)
                assert b.comment is not None
            else:
                assert b.comment is None
    assert changed == {"A4": 40, "C6": "m"}  # a formula without a value is left alone
    assert after["Data"]["A4"].comment.text == "age of 1"
    assert after["Data"]["A2"].font.bold
    assert after["Data"].column_dimensions["B"].width == 33
    assert after["Data"]["D3"].value == "=A3*2"


def test_merged_cells_stay_and_are_told(tmp_path: Path) -> None:
    rows = [["title"], ["region", "x", "y"], ["north", 1, 2], [None, 2, 3], [None, 4, None],
            ["south", 6, 7], ["west", 1, None]]  # fmt: skip
    made = openpyxl.load_workbook(io.BytesIO(book(("S", rows))))
    for merged in ("A1:C1", "A3:A5", "B7:C7"):
        made["S"].merge_cells(merged)
    made.save(tmp_path / "t.xlsx")
    source = files.read(tmp_path / "t.xlsx")
    assert source.frame["region"].to_list() == ["north", None, None, "south", "west"]
    (guess,) = source.guesses
    assert (guess.kind, *source.notes) == ("merged", guess.detail)
    assert "'S' has merged cells: 'A3:A5', 'B7:C7'. All but the first" in guess.detail
    source.write(source.frame.fill_null(9).fill_null("east"), tmp_path / "out.xlsx")
    after = openpyxl.load_workbook(tmp_path / "out.xlsx")["S"]
    expected = [tuple(row + [None] * (3 - len(row))) for row in rows]
    expected[4] = (None, 4, 9)
    assert list(after.iter_rows(values_only=True)) == expected
    assert sorted(map(str, after.merged_cells.ranges)) == ["A1:C1", "A3:A5", "B7:C7"]


def test_merged_cells_without_holes_are_not_told(tmp_path: Path) -> None:
    made = openpyxl.load_workbook(io.BytesIO(book(("S", [["t"], ["a", "b"], [1, 2], [None, 3]]))))
    made["S"].merge_cells("A1:B1")
    made["S"].merge_cells("E3:F9")
    made.save(tmp_path / "t.xlsx")
    assert files.read(tmp_path / "t.xlsx").notes == ()


def test_formulas_of_every_kind_stay(tmp_path: Path) -> None:
    formula = pytest.importorskip("openpyxl.worksheet.formula")
    rows = [["a", "b", "c"], *([i, i + 0.5, i] for i in range(8))]
    made = openpyxl.load_workbook(io.BytesIO(book(("S", rows))))
    sheet = made["S"]
    sheet["C4"] = formula.ArrayFormula("C4", "=SUM(A2:A3*B2:B3)")
    sheet["C6"], sheet["C7"] = formula.ArrayFormula("C6:C7", "=A6:A7*2"), None
    sheet["B8"] = formula.DataTableFormula("B8:B8", dt2D=False, r1="A2")
    sheet["A9"], sheet["B5"] = None, "=A5*2"
    made.save(tmp_path / "t.xlsx")
    source = files.read(tmp_path / "t.xlsx")
    assert [source.frame[c].null_count() for c in "abc"] == [1, 2, 3]
    source.write(source.frame.fill_null(77), tmp_path / "out.xlsx")
    after = openpyxl.load_workbook(tmp_path / "out.xlsx")["S"]
    assert after["A9"].value == 77
    assert after["B5"].value == "=A5*2"
    assert [after[place].value.text for place in ("C4", "C6")] == ["=SUM(A2:A3*B2:B3)", "=A6:A7*2"]
    assert after["C7"].value is None
    assert after["B8"].value.ref == "B8:B8"


def test_text_that_looks_like_a_formula_is_written_as_text(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(book(("S", [["a", "b"], ["x", 1], [None, 2], ["y", 3]])))
    source = files.read(tmp_path / "t.xlsx")
    source.write(source.frame.fill_null("=1+1"), tmp_path / "out.xlsx")
    assert openpyxl.load_workbook(tmp_path / "out.xlsx")["S"]["A3"].data_type == "s"


def test_truths_among_numbers_stay_truths(tmp_path: Path) -> None:
    rows = [["a", "b"], [True, True], [2, None], [None, False], [1.5, True]]
    (tmp_path / "t.xlsx").write_bytes(book(("Data", rows)))
    frame = files.read(tmp_path / "t.xlsx").frame
    assert frame["a"].to_list() == ["true", "2", None, "1.5"]
    assert frame["b"].to_list() == [True, None, False, True]


def test_numbers_stored_as_text_are_filled_as_text(tmp_path: Path) -> None:
    rows = [["price", "n"], ["4.196,72 €", 1], [None, 2], ["12,00 €", 3]]
    (tmp_path / "t.xlsx").write_bytes(book(("S", rows)))
    source = files.read(tmp_path / "t.xlsx")
    assert source.frame["price"].to_list() == [4196.72, None, 12.0]
    source.write(source.frame.fill_null(1234.5), tmp_path / "out.xlsx")
    assert openpyxl.load_workbook(tmp_path / "out.xlsx")["S"]["A3"].value == "1.234,50 €"


def test_times_of_day_have_no_day(tmp_path: Path) -> None:
    rows = [["start", "n"], [time(5, 6), 1], [None, 2], [time(0, 0), 3]]
    (tmp_path / "t.xlsx").write_bytes(book(("S", rows)))
    source = files.read(tmp_path / "t.xlsx")
    assert source.frame["start"].to_list() == [time(5, 6), None, time(0, 0)]
    source.write(source.frame.fill_null(time(7, 8)), tmp_path / "out.xlsx")
    filled = openpyxl.load_workbook(tmp_path / "out.xlsx")["S"]["A3"]
    assert (filled.value, filled.number_format) == (time(7, 8), "h:mm:ss")


@pytest.mark.parametrize("other", [datetime(2024, 1, 1, 5), 5, "x", True])
def test_durations_among_other_cells_are_refused_by_column(tmp_path: Path, other: object) -> None:
    rows = [["n", "spent"], [1, timedelta(hours=30)], [2, None], [3, other]]
    (tmp_path / "t.xlsx").write_bytes(book(("S", rows)))
    said = r"t\.xlsx: the sheet 'S' has durations, .* in the column 'spent'\. Give all"
    with pytest.raises(InvalidDataError, match=said):
        files.read(tmp_path / "t.xlsx")


def test_what_may_mean_missing_is_told_of_workbooks_too(tmp_path: Path) -> None:
    rows = [[99 if i % 9 == 0 else i % 8, "-" if i % 5 == 0 else "yes"] for i in range(30)]
    (tmp_path / "t.xlsx").write_bytes(book(("Data", [["score", "answer"], *rows])))
    (note,) = files.read(tmp_path / "t.xlsx").notes
    assert "may mean missing: 99 in 'score' (4); '-' in 'answer' (6). If it does" in note


def test_sheets_by_name_and_number(path: Path) -> None:
    assert files.read(path).frame.height == 4
    assert files.read(path, sheet="Data").guesses[0].kind == "missing"
    assert files.read(path, sheet="2").frame.height == 4
    with pytest.raises(
        InvalidParameterError, match=r"no sheet is called 'Dat' \(--sheet\).*'Data'"
    ):
        files.read(path, sheet="Dat")
    with pytest.raises(InvalidDataError, match="no rows"):
        files.read(path, sheet="1")


def test_batches_keep_the_workbook_too(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xlsx"
    with files.open_batches(path) as batches, batches.writing(out) as writer:
        for batch in batches:
            writer.write(batch, first_values(batch.frame))
        assert any("'Data' was read" in note for note in batches.notes)
    after = openpyxl.load_workbook(out)
    assert after.sheetnames == ["Notes", "Data"]
    assert after["Data"]["A4"].value == 34


@pytest.mark.parametrize("name", ["old.xls", "free.ods"])
def test_old_workbooks_are_written_as_new_ones(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(next(e.make() for e in EXPORTS if e.name == name))
    source = files.read(tmp_path / name)
    assert any("can only be read" in note for note in source.notes)
    source.write(first_values(source.frame), tmp_path / "out.xlsx")
    assert files.read(tmp_path / "out.xlsx").frame.equals(first_values(source.frame))
    with pytest.raises(InvalidParameterError, match=r"can only be read.*out\.xlsx"):
        source.write(source.frame, tmp_path / f"out{Path(name).suffix}")


def test_codes_labels_and_declarations_of_spss_stay(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    (tmp_path / "t.sav").write_bytes(next(e.make() for e in EXPORTS if e.name == "study.sav"))
    source = files.read(tmp_path / "t.sav")
    assert source.frame["sex"].to_list()[:6] == ["male", "female", None, "female", None, "male"]
    partly = source.frame["sex"].to_list()
    partly[4] = "female"
    source.write(source.frame.with_columns(sex=pl.Series(partly)), tmp_path / "out.sav")
    codes, meta = pyreadstat.read_sav(
        tmp_path / "out.sav", user_missing=True, output_format="polars"
    )
    assert codes["sex"].to_list()[:6] == [1.0, 2.0, 9.0, 2.0, 2.0, 1.0]  # 9 is a hole that stayed
    assert meta.variable_value_labels == {"sex": {1.0: "male", 2.0: "female", 9.0: "no answer"}}
    assert meta.missing_ranges == {"sex": [{"lo": 9.0, "hi": 9.0}]}


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_column_without_codes_keeps_its_type(ending: str, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path, out = tmp_path / f"t.{ending}", tmp_path / f"out.{ending}"
    empty = pl.Series([None, None], dtype=pl.Float64)
    frame = pl.DataFrame({"a": empty, "s": ["", ""], "b": [1.5, None]})
    getattr(pyreadstat, f"write_{ending}")(frame, path)
    source = files.read(path)
    source.write(source.frame.fill_null(2.5), out)
    read = getattr(pyreadstat, f"read_{ending}")
    before, after = (read(name)[1].readstat_variable_types for name in (path, out))
    assert (before["a"], before) == ("double", after)


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_of_codes_with_one_label_a_fill_takes_that_which_occurs(
    ending: str, tmp_path: Path
) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path, out = tmp_path / f"t.{ending}", tmp_path / f"out.{ending}"
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, None, 2, 1]})
    labels = {"b": {1: "yes", 2: "no", 3: "yes"}}
    getattr(pyreadstat, f"write_{ending}")(frame, path, variable_value_labels=labels)
    source = files.read(path)
    source.write(source.frame.with_columns(pl.col("b").fill_null("yes")), out)
    codes, _ = getattr(pyreadstat, f"read_{ending}")(out, output_format="polars")
    assert codes["b"].to_list() == [1, 1, 2, 1]


def test_statistics_formats_without_their_package(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(statistics_formats, "find_spec", lambda name: None)
    (tmp_path / "t.dta").write_bytes(b"<stata_dta>")
    with pytest.raises(FileProblemError, match=r"greyfill\[stats\]"):
        files.read(tmp_path / "t.dta")


@pytest.mark.parametrize("name", ["t.sav", "t.dta", "t.sas7bdat", "t.xlsx", "t.json", "t.arff"])
def test_damaged_files_are_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"{no such thing")
    with pytest.raises(InvalidDataError, match=name):
        files.read(tmp_path / name)


def test_a_panic_of_an_engine_is_an_error_with_the_name_of_the_file(monkeypatch, tmp_path) -> None:
    """Found by damaging files: a panic is no Exception, and each engine has a class of its own."""

    class PanicException(BaseException):
        pass

    class Engine:
        def read_excel(self, raw: bytes) -> None:
            raise PanicException("assertion failed")

    monkeypatch.setattr(sheets, "import_module", lambda name: Engine())
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidDataError, match=r"t\.xlsx cannot be read as excel: assertion"):
        files.read(tmp_path / "t.xlsx")


PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


def _with_pictures(path: Path, *, macros: bool = False) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    made = xlsxwriter.Workbook(path)
    data, plots = made.add_worksheet("Data"), made.add_worksheet("Plots")
    for i, row in enumerate([["a", "b"], *([n % 7, n * 1.5] for n in range(30)), [3, None]]):
        data.write_row(i, 0, row)
    for place, sheet in (("F2", data), ("B2", plots)):
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=Data!$A$2:$A$20"})
        sheet.insert_chart(place, chart)
    data.insert_image("F20", "pixel.png", {"image_data": io.BytesIO(PIXEL)})
    data.add_sparkline("E2", {"range": "Data!A2:A9"})
    plots.insert_textbox("J2", "hello")
    if macros:
        (path.parent / "vba.bin").write_bytes(b"macros of the user")
        made.add_vba_project(str(path.parent / "vba.bin"))
    made.close()


@pytest.mark.parametrize("name", ["t.xlsx", "t.xlsm"])
def test_charts_pictures_and_macros_stay_and_what_is_lost_is_told(tmp_path: Path, name) -> None:
    _with_pictures(tmp_path / name, macros=name.endswith("m"))
    source = files.read(tmp_path / name)
    lost = [note for note in source.notes if "lost" in note]
    assert [note.partition(", which are lost")[0] for note in lost] == [
        "The sheet 'Data' has sparklines",
        "The sheet 'Plots' has shapes and text boxes",
    ]
    out = tmp_path / f"out{name[1:]}"
    source.write(source.frame.fill_null(7.0), out)
    kept = zipfile.ZipFile(out)
    charts = [part for part in kept.namelist() if part.startswith("xl/charts/chart")]
    assert len(charts) == 2
    assert any(kept.read(part) == PIXEL for part in kept.namelist() if "media" in part)
    after = openpyxl.load_workbook(out)
    assert [len(after[s]._charts) for s in ("Data", "Plots")] == [1, 1]
    assert after["Data"]["B32"].value == 7.0
    if name.endswith("m"):
        assert kept.read("xl/vbaProject.bin") == b"macros of the user"
        assert b"macroEnabled" in kept.read("[Content_Types].xml")


@pytest.mark.parametrize(("source", "out"), [("t.xlsm", "o.xlsx"), ("t.xlsx", "o.xlsm")])
def test_macros_are_neither_lost_nor_made(tmp_path: Path, source, out) -> None:
    _with_pictures(tmp_path / source, macros=source.endswith("m"))
    read = files.read(tmp_path / source)
    with pytest.raises(InvalidParameterError, match="a workbook with macros stays one"):
        read.write(read.frame, tmp_path / out)
    read.write(read.frame, tmp_path / "o.csv")


def test_a_quick_look_finds_the_sheet_that_is_read(tmp_path: Path) -> None:
    data = book(("Notes", [["hello"]]), ("Data", ROWS))
    (tmp_path / "two.xlsx").write_bytes(data)
    (tmp_path / "gap.xlsx").write_bytes(book(("S", [["a", None, "a"], [1, 2, 3], [4, 5, 6]])))
    (tmp_path / "no.xlsx").write_bytes(data[:300])
    (tmp_path / "other.xlsx").write_bytes(b"a,b\n1,2\n")
    assert peek_names(str(tmp_path / "two.xlsx")) == ("age", "when", "sex", "twice")
    assert peek_names(str(tmp_path / "two.xlsx"), sheet="Notes") == ("hello",)
    for name in ("gap", "no"):
        assert peek_names(str(tmp_path / f"{name}.xlsx")) == ()


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_file_without_sheets_has_none_to_name(tmp_path: Path, name) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [2, 3]})
    files.Source("", files.Format.CSV, frame).write(frame, tmp_path / name)
    said = f"{name} is a .* file, which has no sheets: leave --sheet"
    with pytest.raises(InvalidParameterError, match=said):
        files.read(tmp_path / name, sheet="S")
    with (
        pytest.raises(InvalidParameterError, match=said),
        files.open_batches(tmp_path / name, sheet="S"),
    ):
        pass


@pytest.mark.parametrize("version", [5, 8])
@pytest.mark.parametrize("name", ["t.xpt", "t.unknown"])
def test_transport_files_of_sas_are_read_and_written_as_csv(tmp_path: Path, version, name) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"AGE": [31.5, None, 45.25], "SEX": ["m", "", "f"], "N": [1.0, 2.0, None]})
    pyreadstat.write_xport(
        frame.to_pandas(), str(tmp_path / name), table_name="T", file_format_version=version
    )
    source = files.read(tmp_path / name)
    assert source.format is files.Format.XPORT
    assert source.frame.rows() == [(31.5, "m", 1), (None, None, 2), (45.25, "f", None)]
    assert any("written as .csv" in note for note in source.notes)
    source.write(source.frame, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "AGE,SEX,N\n31.5,m,1\n,,2\n45.25,f,\n"
    with pytest.raises(InvalidParameterError, match="xport files can only be read"):
        source.write(source.frame, tmp_path / "out.xpt")


def with_words(folder: Path) -> Path:
    """A workbook whose cells say in words and numbers that they are missing."""
    rows = [["made up"], [], ["dose", "crp", "sex"]]
    rows += [[n / 2, 10 * n, "mw"[n % 2]] for n in range(1, 12)]
    rows[5][0], rows[7][1], rows[9][2] = "n.b.", -999, "fehlt"
    (folder / "words.xlsx").write_bytes(book(("Data", rows)))
    return folder / "words.xlsx"


WORDS = ("dose=n.b.", "-999", "fehlt")


def test_named_words_for_missing_are_holes_that_are_written(tmp_path: Path) -> None:
    path = with_words(tmp_path)
    source = files.read(path, na_values=WORDS)
    assert source.frame.schema == {"dose": pl.Float64, "crp": pl.Int64, "sex": pl.String}
    assert source.frame.null_count().row(0) == (1, 1, 1)
    filled = source.frame.with_columns(
        pl.col("dose").fill_null(7.5), pl.col("crp").fill_null(8), pl.col("sex").fill_null("w")
    )
    source.write(filled, tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert (sheet["A6"].value, sheet["B8"].value, sheet["C10"].value) == (7.5, 8, "w")
    assert (sheet["A7"].value, sheet["B7"].value, sheet["C7"].value) == (2, 40, "m")
    told = files.read(path, na_values=(*WORDS, "dose=?", "none")).notes
    assert sum("so it changed nothing" in note for note in told) == 2
    remembered = files.LearnedTypes(na_values=WORDS[:1])
    with (
        files.open_batches(path, na_values=WORDS[1:], learned=remembered) as parts,
        parts.writing(tmp_path / "later.xlsx") as writer,
    ):
        for part in parts:
            writer.write(part, filled)
    assert openpyxl.load_workbook(tmp_path / "later.xlsx").active["A6"].value == 7.5
    assert not parts.notes


def test_a_row_has_the_number_of_its_row_in_the_sheet(tmp_path: Path) -> None:
    path = with_words(tmp_path)
    assert files.read(path).lines()[[0, 4]].tolist() == [4, 8]
    with files.open_batches(path) as parts:
        assert parts.place(4, "crp").endswith("sheet 'Data', row 8, column 'crp'")


@pytest.mark.parametrize("name", ["t.sav", "t.dta"])
def test_coded_tables_have_their_named_words_filled(name: str, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    write = {"t.sav": pyreadstat.write_sav, "t.dta": pyreadstat.write_dta}[name]
    write(pl.DataFrame({"age": [34.0, -9.0, 51.0], "sex": ["m", "x", "w"]}), str(tmp_path / name))
    source = files.read(tmp_path / name, na_values=["age=-9", "x", "y"])
    assert source.frame.null_count().row(0) == (1, 1)
    filled = source.frame.with_columns(age=pl.lit(40), sex=pl.lit("m"))
    source.write(filled, tmp_path / f"out.{name}")
    assert files.read(tmp_path / f"out.{name}").frame.rows() == [(34, "m"), (40, "m"), (51, "w")]
    assert [note for note in source.notes if "'y'" in note]


def test_few_words_among_numbers_are_in_doubt(tmp_path: Path) -> None:
    path = with_words(tmp_path)
    source = files.read(path)
    assert source.frame["dose"].dtype == pl.String
    assert [(d.column, d.word, d.count) for d in source.doubts][:1] == [("dose", "n.b.", 1)]
    assert "though it may mean missing: 'n.b.' in 'dose' (1)" in source.notes[0]
    chosen = files.read(path, choose_types=lambda _names: (["dose"], []))
    assert not [doubt for doubt in chosen.doubts if doubt.column == "dose"]
