"""``greyfill.fill``: one call, on every library and on files."""

from datetime import date, time
from io import BytesIO, TextIOWrapper

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context

import greyfill
from greyfill.exceptions import InvalidDataError, InvalidParameterError

RNG = np.random.default_rng(11)
N = 60
QUICK = {"n_cells": 20, "n_jobs": 1}


def table() -> dict[str, list]:
    """Cases, a number and a category that go together, a class; 16 holes beside those of cases."""
    x = RNG.normal(size=N).round(2)
    return {
        "case": [None if i % 9 == 4 else f"P{i:03}" for i in range(N)],
        "x": x.tolist(),
        "y": [None if i % 7 == 3 else round(float(2 * v), 1) for i, v in enumerate(x)],
        "side": [None if i % 8 == 5 else ("left" if v < 0 else "right") for i, v in enumerate(x)],
        "class": ["a" if v < 0.3 else "b" for v in x],
    }


CELLS = table()
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def as_pandas(frame):
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_of_any_library(library):
    frame = LIBRARIES[library](CELLS)
    filled = greyfill.fill(frame, "class", **QUICK)
    for result in (filled.table, filled.mask, filled.cells, filled.intervals, *filled.draws(2)):
        assert type(result) is type(frame)
    before, after, mask = map(as_pandas, (frame, filled.table, filled.mask))
    assert list(after.columns) == list(mask.columns) == list(CELLS)
    assert list(filled.left_alone) == ["case"]
    assert "'case' (an identifier: none of its 53 texts occurs twice)" in filled.notes[0]
    assert "fill=[…]" in filled.notes[0]
    expected = before.isna() & [False, True, True, True, False]
    assert (mask.to_numpy() == expected.to_numpy()).all()
    assert after.drop(columns="case").notna().all(axis=None)
    kept = after.where(~mask.to_numpy())
    assert kept.equals(before.where(~mask.to_numpy()))
    for draw in map(as_pandas, filled.draws(2)):
        assert draw.drop(columns="case").notna().all(axis=None)
        assert draw["class"].equals(before["class"])


def test_cells_tell_value_limits_error_and_donors():
    frame = pd.DataFrame(CELLS, index=[f"r{i}" for i in range(N)])
    filled = greyfill.fill(frame, "class", **QUICK)
    cells = filled.cells
    assert list(cells.columns) == [
        "row", "line", "column", "value", "low", "high", "levels", "error", "donors",
    ]  # fmt: skip
    assert len(cells) == filled.mask.to_numpy().sum() == 16
    for cell in cells.itertuples():
        assert filled.table[cell.column].iloc[cell.row] == cell.value
        assert filled.mask[cell.column].iloc[cell.row]
    numbers = cells[cells["column"] == "y"]
    assert (numbers["low"] <= numbers["high"]).all()
    assert (numbers["error"] > 0).all()
    first = cells.iloc[0]
    donors = filled.imputer.donors_of(int(first["row"]), first["column"])
    assert first["donors"].startswith(f"{donors['rows'][0]} ({donors['weights'][0]:.2f})")
    label = f"r{first['row']}"
    assert filled.imputer.donors_of(label, first["column"]) == donors
    assert filled.imputer.explain(label, first["column"]).row == first["row"]
    for strange in ("r99", (1, 2)):
        with pytest.raises(InvalidParameterError, match="no single row has the label"):
            filled.imputer.explain(strange, first["column"])
    assert filled.intervals[["row", "column"]].equals(cells[["row", "column"]])
    found = filled.imputer.intervals(frame[["case", "x", "y", "side"]])
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == ["row", "column", "low", "high", "levels"]
    assert len(found) == 16


@pytest.mark.parametrize("library", ["polars", "pyarrow", "numpy"])
def test_intervals_are_a_frame_of_the_users_library(library):
    frame = pl.DataFrame(CELLS).select("x", "y")
    X = {"polars": frame, "pyarrow": frame.to_arrow(), "numpy": frame.to_numpy()}[library]
    imputer = greyfill.GreyImputer(n_cells=20).fit(X)
    found, lists = imputer.intervals(X), imputer._interval_lists(X)
    assert type(found).__module__.startswith("polars" if library == "numpy" else library)
    named = found.to_pydict() if library == "pyarrow" else found.to_dict(as_series=False)
    assert list(named) == ["row", "column", "low", "high", "levels"]
    assert [*named.values()] == [*lists.values()]


def test_a_file_becomes_a_polars_frame_with_lines(tmp_path):
    path = tmp_path / "people.csv"
    lines = ["case,x,y,side,class", ""]  # an empty line is no row
    cells = [["" if v is None else str(v) for v in column] for column in CELLS.values()]
    lines += [",".join(row) for row in zip(*cells, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    filled = greyfill.fill(path, "class", **QUICK)
    assert isinstance(filled.table, pl.DataFrame)
    for row, line in filled.cells.select("row", "line").rows():
        assert line == row + 3
    donor = filled.imputer.donors_of(filled.cells["row"][0], filled.cells["column"][0])["rows"][0]
    assert filled.cells["donors"][0].startswith(f"{donor + 3} (")
    words = greyfill.fill(str(path), "class", missing_values="left", **QUICK)
    assert "left" not in words.table["side"].to_list()


def test_arrays_and_lists_have_no_names():
    X = np.column_stack([CELLS["x"], [np.nan if v is None else v for v in CELLS["y"]]])
    for given in (X, X.tolist()):
        filled = greyfill.fill(given, CELLS["class"], **QUICK)
        assert isinstance(filled.table, np.ndarray)
        assert (filled.mask == np.isnan(X)).all()
        assert isinstance(filled.cells, pl.DataFrame)
    with pytest.raises(InvalidParameterError, match="without column names"):
        greyfill.fill(X, "class")


@pytest.mark.parametrize(
    "names",
    [
        pd.RangeIndex(5),
        pd.Index([2019, 2020, 2021, 2022, 2023], name="year"),
        pd.MultiIndex.from_product([["a"], range(5)], names=["part", "place"]),
    ],
    ids=["numbers", "years", "two levels"],
)
def test_names_that_are_no_text_are_kept(names):
    frame = pd.DataFrame(CELLS).set_axis(names, axis=1)
    filled = greyfill.fill(frame, frame.iloc[:, 4], **QUICK, ignore=[4])
    drawn = filled.draws(1)[0]
    for one in (filled.table, filled.mask, drawn):
        assert one.columns.identical(names)
    assert filled.table.iloc[:, 1:].notna().all(axis=None)
    assert filled.mask.to_numpy().sum() == frame.iloc[:, 2:4].isna().to_numpy().sum()
    flagged = greyfill.fill(frame, frame.iloc[:, 4], **QUICK, indicators=True).table
    assert [*flagged.columns[:5]] == [*names]
    assert str(flagged.columns[-1]).startswith("missingindicator_")


def test_a_target_is_named_as_the_columns_are():
    frame = pd.DataFrame(CELLS).set_axis([10, 11, 12, 13, 14], axis=1)
    plain = greyfill.fill(pd.DataFrame(CELLS), "class", **QUICK).table
    assert (
        greyfill.fill(frame, 14, **QUICK).table.to_numpy()[:, 1:] == plain.to_numpy()[:, 1:]
    ).all()
    with pytest.raises(InvalidParameterError, match="target names columns that are not in"):
        greyfill.fill(frame, 15)


def test_a_place_that_is_the_name_of_another_column_is_refused():
    frame = pd.DataFrame(CELLS).set_axis([1, 2, 3, 4, 5], axis=1)
    words = r"ignore lists 1, which is the place of column '2' and the name of another.*'2' or '1'"
    with pytest.raises(InvalidParameterError, match=words):
        greyfill.fill(frame, 5, ignore=[1])
    for one in (["3"], [-3]):
        assert greyfill.fill(frame, 5, ignore=one, **QUICK).table[3].isna().any()


@pytest.mark.parametrize(
    "names",
    [pd.date_range("2020", periods=5), pd.MultiIndex.from_product([["a"], range(5)])],
    ids=["dates", "two levels"],
)
def test_a_target_may_have_a_name_that_is_no_text(names):
    frame = pd.DataFrame(CELLS).set_axis(names, axis=1)
    by_name = greyfill.fill(frame, names[4], method="mean")
    by_labels = greyfill.fill(frame, frame[names[4]], ignore=[4], method="mean")
    pd.testing.assert_frame_equal(by_name.table, by_labels.table)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_may_be_given_by_their_place(library):
    frame = LIBRARIES[library](CELLS)
    by_name = greyfill.fill(frame, "class", ignore=["x"], fill=["case"], **QUICK)
    by_place = greyfill.fill(frame, "class", ignore=[1], fill=[0], **QUICK)
    first = as_pandas(frame)[["class", "case", "x", "y", "side"]]  # places are not those of X
    named = {"fill": ["case"], "ordinal_features": ["side"], "bounds": {"y": (0, 1)}}
    placed = {"fill": [1], "ordinal_features": [-1], "bounds": {3: (0, 1)}}
    one, other = (greyfill.fill(first, "class", **given, **QUICK) for given in (named, placed))
    assert other.table.equals(one.table)
    assert other.imputer.schema_ == one.imputer.schema_
    assert other.left_alone == one.left_alone == {}
    apart = greyfill.fill(frame, "class", not_applicable={3: "none"}, **QUICK).table
    assert "none" in as_pandas(apart)["side"].unique()
    one = greyfill.fill(frame, "class", not_applicable="side", **QUICK)
    assert as_pandas(one.table)["side"].isna().sum() == sum(s is None for s in CELLS["side"])
    assert by_place.left_alone == by_name.left_alone == {}
    assert as_pandas(by_place.table).equals(as_pandas(by_name.table))


def test_cells_of_an_array_get_no_level():
    with pytest.raises(InvalidParameterError, match="not_applicable: only a frame has columns of"):
        greyfill.fill(np.array([[1.0, np.nan]] * 9), not_applicable={"x1": "none"})


def test_wishes():
    frame = pl.DataFrame(CELLS)
    all_filled = greyfill.fill(frame, "class", fill=["case"], **QUICK)
    assert all_filled.table.null_count().sum_horizontal().item() == 0
    assert all_filled.left_alone == {}
    kept = greyfill.fill(frame, "class", not_applicable=["y"], **QUICK)
    assert kept.table["y"].equals(frame["y"], null_equal=True)
    assert kept.table["side"].null_count() == 0
    assert not kept.mask["y"].any()
    assert set(kept.intervals["column"]) == {"side"}
    assert kept.draws(1)[0]["y"].equals(frame["y"], null_equal=True)
    level = greyfill.fill(frame, "class", not_applicable={"side": "none", "y": None}, **QUICK)
    assert level.table["side"].to_list() == [v or "none" for v in CELLS["side"]]
    assert level.table["y"].equals(frame["y"], null_equal=True)
    bounded = greyfill.fill(frame, "class", bounds={"y": (0, None)}, **QUICK)
    assert min(bounded.cells.filter(column="y")["value"].cast(float)) >= 0
    flagged = greyfill.fill(frame, "class", indicators=True, ignore=["case"], **QUICK)
    assert flagged.table.columns == [*CELLS, "missingindicator_y", "missingindicator_side"]
    assert flagged.left_alone == {}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_only_the_cells_of_a_block_do_not_apply(library):
    a, b = [float(i % 7) for i in range(60)], [i % 5 + 0.5 for i in range(60)]
    frame = pl.DataFrame({"a": a, "b": b, "c": [x + y for x, y in zip(a, b, strict=True)]})
    hidden = pl.int_range(pl.len()) < 12
    frame = frame.with_columns(pl.when(~hidden).then(pl.col("b", "c")))
    frame[30, "b"] = None
    X = {"pandas": frame.to_pandas, "polars": frame.clone, "pyarrow": frame.to_arrow,
         "numpy": frame.to_numpy}[library]()  # fmt: skip
    X = X.set_index(pd.Index(range(100, 160))) if library == "pandas" else X
    name = "x1" if library == "numpy" else "b"
    filled = greyfill.fill(X, not_applicable=[name], **QUICK)
    for table in (filled.table, filled.draws(1)[0]):
        column = table[:, 1] if library == "numpy" else pl.Series(table[name].to_numpy())
        assert np.isnan(np.asarray(column, dtype=float)).nonzero()[0].tolist() == list(range(12))
    assert any("does not apply to 12 rows" in note for note in filled.notes)
    mask = filled.mask if library == "numpy" else pl.DataFrame(filled.mask).to_numpy()
    assert mask[:, 1].nonzero()[0].tolist() == [30]
    if library == "pandas":
        assert filled.table.index.tolist() == X.index.tolist()


def test_insisted_columns_are_filled_but_fill_no_other():
    frame = pl.DataFrame(CELLS)
    insisted = greyfill.fill(frame, "class", fill=["case"], **QUICK)
    assert insisted.table["case"].null_count() == 0
    known = frame["case"].is_not_null()
    swapped = frame["case"].scatter(known.arg_true(), frame["case"].drop_nulls().reverse())
    other = greyfill.fill(frame.with_columns(swapped), "class", fill=["case"], **QUICK)
    assert insisted.table.drop("case").equals(other.table.drop("case"))
    assert insisted.imputer.left_alone_ == {}


def test_reasons_are_those_of_the_imputer():
    filled = greyfill.fill(pl.DataFrame(CELLS), "class", **QUICK)
    assert filled.imputer.left_alone_ == filled.left_alone != {}


def test_fall_backs_are_noted():
    frame = pl.DataFrame(CELLS).drop("case", "class")
    empty = pl.DataFrame([{"x": None, "y": None, "side": None}], schema=frame.schema)
    filled = greyfill.fill(pl.concat([frame, empty]), **QUICK)
    assert "3 cells stood in rows without any observed value" in filled.notes[-1]
    assert filled.imputer.fallback_counts_ == {"row_without_value": 3}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "klass"}, "target names columns that are not in the table: 'klass'"),
        ({"fill": ["nobody"]}, "fill names columns"),
        ({"ignore": ["nobody"]}, "ignore names columns"),
        ({"not_applicable": ["nobody"]}, "not_applicable names columns"),
        ({"not_applicable": {"y": "none"}}, "column 'y' holds Float64, so 'none' cannot be"),
        ({"not_applicable": {"side": " "}}, "the level for column 'side' is empty"),
        ({"not_applicable": {"side": 0}}, "the level 0 for column 'side' is no text"),
        ({"bounds": {"side": (0, 1)}}, "column 'side' holds no plain numbers"),
        ({"method": "nothing"}, "no method is called 'nothing'"),
        ({"n_trees": 3}, "the method 'grey' has no parameter 'n_trees'"),
    ],
)
def test_mistakes_are_answered_in_words(options, words):
    with pytest.raises(InvalidParameterError, match=words):
        greyfill.fill(pl.DataFrame(CELLS), **options)


def test_no_features_are_refused():
    with pytest.raises(InvalidDataError, match="no column is left"):
        greyfill.fill(pl.DataFrame({"y": ["a", "b"]}), "y")


def test_methods_that_cannot_draw_say_so(tmp_path):
    filled = greyfill.fill(pl.DataFrame(CELLS), "class", method="mean")
    assert filled.intervals is None
    assert filled.cells["low"].null_count() == len(filled.cells)
    with pytest.raises(InvalidParameterError, match="MeanImputer cannot draw 5 tables"):
        filled.draws()
    chained = greyfill.fill(pl.DataFrame(CELLS), "class", method="mice", n_imputations=2, n_iter=1)
    assert len(chained.draws(2)) == 2
    with pytest.raises(InvalidParameterError, match="cannot draw 3 tables"):
        chained.draws(3)
    assert chained.report.save(tmp_path / "page.html").exists()


def test_help_opens_with_what_a_user_gets():
    first, second = greyfill.fill.__doc__.split("\n\n")[:2]
    assert first == "Fill the holes of a table, and tell which, by what, and how sure that is."
    assert second.strip().startswith("You get a `Filled`: ``table`` is your table without holes")


def test_dir_shows_no_imports():
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(greyfill))


def test_columns_to_leave_alone_are_named_in_ignore():
    with pytest.raises(InvalidParameterError, match=r"leave_alone .* in ignore"):
        greyfill.fill(pd.DataFrame(CELLS), "class", leave_alone=["side"], **QUICK)


def test_a_column_without_a_value_is_told():
    table = pd.DataFrame({"a": [1.0, 2.0, None, 4.0, 5.0], "empty": [None] * 5})
    filled = greyfill.fill(table, method="mean")
    (note,) = filled.notes
    assert note.startswith("Column 'empty' has no observed value, so it stays empty. Drop it, or")
    assert filled.table["empty"].isna().all()


@pytest.mark.parametrize("library", [*LIBRARIES, "numpy"])
def test_a_column_without_a_value_moves_no_other(library):
    before = np.array([[np.nan, i, 10.0 * i] for i in range(1, 7)])
    before[2, 1] = before[4, 2] = np.nan
    cells = {f"x{j}": [None if np.isnan(v) else v for v in before[:, j]] for j in range(3)}
    X = before if library == "numpy" else LIBRARIES[library](cells)
    filled = greyfill.fill(X, [0, 1] * 3, not_applicable=["x0", "x1"], indicators=True, **QUICK)
    (row,) = as_pandas(filled.cells).to_dict("records")
    assert (row["row"], row["column"]) == (4, "x2")
    assert np.argwhere(np.asarray(filled.mask)).tolist() == [[4, 2]]
    for table in (filled.table, *filled.draws(2)):
        after = table if library == "numpy" else as_pandas(table).to_numpy(float, na_value=np.nan)
        np.testing.assert_array_equal(np.where(np.isnan(before), np.nan, after[:, :3]), before)
        assert np.argwhere(np.isnan(after)).tolist() == [
            [0, 0],
            [1, 0],
            [2, 0],
            [2, 1],
            [3, 0],
            [4, 0],
            [5, 0],
        ]
        if table is filled.table:
            assert row["value"] == after[4, 2]


@pytest.mark.parametrize("library", LIBRARIES)
def test_folds_of_every_library_keep_their_spelling(library):
    levels = ["yes", "Yes", "no", "yes", "no", None] * 5
    frame = LIBRARIES[library]({"a": [1.0, 1.1, 5.0, 1.2, 5.1, 1.0] * 5, "b": levels})
    after = as_pandas(greyfill.fill(frame, fold=["b"], method="mean").table)["b"].to_list()
    assert after == [level or "yes" for level in levels]


def test_words_for_missing_are_holes_of_every_wish():
    levels = ["yes", "Yes", "no", "yes", "no", "?"] * 5
    frame = pl.DataFrame({"a": [1.0, 1.1, 5.0, 1.2, 5.1, 1.0] * 5, "b": levels})
    told = {"missing_values": "?"} | QUICK
    folded = greyfill.fill(frame, fold=["b"], **told)
    for table in (folded.table, *folded.draws(2)):
        assert table["b"].is_in(["yes", "Yes", "no"]).all()
        assert table["b"].to_list()[:5] == levels[:5]
    kept = greyfill.fill(frame, not_applicable=["b"], **told)
    assert kept.table["b"].to_list() == levels
    assert any("does not apply to 5 rows" in note for note in kept.notes)
    named = greyfill.fill(frame, not_applicable={"b": "none"}, **told)
    assert named.table["b"].to_list() == [level.replace("?", "none") for level in levels]


@pytest.mark.parametrize(
    ("missing_values", "n_holes"), [(-999, 5), (0, 5), ([0.0, -999.0], 10), ({"-999"}, 5)]
)
def test_missing_values_of_a_file_are_as_those_of_a_table(missing_values, n_holes, tmp_path):
    cells = [1, 2, -999, 4, 5, 0] * 5
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{v},x\n" for v in cells))
    told = {"method": "mean", "missing_values": missing_values, "ignore": "b"}
    filled = greyfill.fill(tmp_path / "t.csv", **told)
    assert filled.mask["a"].sum() == n_holes
    assert not filled.mask["b"].any()


@pytest.mark.parametrize("tail", [["?x", "?x", "?X"], ["?x", "?X", "?X"]])
def test_a_word_for_missing_is_no_spelling_of_a_level(tail):
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0] * 6 + [1.0] * 3, "b": ["m", "m", "f"] * 6 + tail})
    filled = greyfill.fill(frame, fold=["b"], method="mean", missing_values="?x")
    is_hole = [level == "?x" for level in frame["b"]]
    assert filled.mask["b"].to_list() == is_hole
    assert filled.cells["row"].to_list() == [row for row, hole in enumerate(is_hole) if hole]
    expected = ["m" if hole else level for level, hole in zip(frame["b"], is_hole, strict=True)]
    assert filled.table["b"].to_list() == expected


def test_dates_truths_and_categories_of_a_file_may_mean_missing(tmp_path):
    columns = {
        "day": [date(2020, 1, 1), date(1900, 1, 1), date(2020, 1, 3)] * 5,
        "sex": pl.Series(["m", "?", "m"] * 5, dtype=pl.Categorical),
        "arm": pl.Series(["b", "b", "?"] * 5, dtype=pl.Enum(["?", "b"])),
        "ok": [True, False, False] * 5,
        "n": [1, 2, 3] * 5,
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    told = {"method": "mean", "missing_values": [date(1900, 1, 1), "?", True], "fill": ["sex"]}
    filled = greyfill.fill(tmp_path / "t.parquet", **told)
    wanted = {"day": 5, "sex": 5, "arm": 5, "ok": 5, "n": 0}
    assert filled.mask.sum().row(0, named=True) == wanted
    assert not any("No cell" in note for note in filled.notes)
    frame = greyfill.fill(pl.DataFrame(columns), **told)
    assert filled.table["day"].to_list() == frame.table["day"].to_list()


def test_categories_of_a_file_that_are_no_list_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n,y\n" * 20)
    with pytest.raises(InvalidParameterError, match="categorical_features must be 'auto' or a"):
        greyfill.fill(tmp_path / "t.csv", method="mean", categorical_features=1)


def test_an_ignored_column_may_hold_anything(tmp_path):
    (tmp_path / "t.csv").write_text(
        "a,b,crp,n\n"
        + "".join(f"{i % 7},{i % 5 or ''},{i / 3:.1f},{i}\n" for i in range(60))
        + "1,2,clotted,1\n"
    )
    with pytest.raises(InvalidDataError, match="crp"):
        greyfill.fill(tmp_path / "t.csv", method="mean")
    filled = greyfill.fill(tmp_path / "t.csv", method="mean", ignore=["crp"])
    assert filled.table["crp"][60] == "clotted"
    assert filled.table["b"].null_count() == 0
    path = tmp_path / "numbers.csv"
    path.write_text("a,n\n" + "".join(f"{i % 7 or ''},{i}\n" for i in range(60)))
    assert greyfill.fill(path, method="mean", ignore=["n"]).table["n"].dtype == pl.Int64


def test_an_ignored_column_of_a_file_may_be_given_by_its_place(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,crp\n" + "".join(f"{i % 7 or ''},{i}.5\n" for i in range(60)) + "1,low\n")
    assert greyfill.fill(path, method="mean", ignore=[1]).table["crp"][60] == "low"
    with pytest.raises(InvalidParameterError, match=r"ignore names columns .* 'crpp'"):
        greyfill.fill(path, method="mean", ignore=["crpp"])


def test_standard_input_is_read_once_whatever_is_ignored(monkeypatch):
    cells = "a,b\n" + "".join(f"{i % 7},{i}\n" for i in range(60)) + "low,1\n"
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(cells.encode())))
    with pytest.raises(InvalidDataError, match="line 62, column 'a'"):
        greyfill.fill("-", method="mean", ignore=["b"])


@pytest.mark.parametrize("given", [pd.Index(["x", "y"]), np.array(["x", "y"]), ("x", "y")])
def test_columns_may_be_listed_by_anything(given):
    frame = pd.DataFrame(CELLS)
    ignored = greyfill.fill(frame, "class", ignore=given, method="mean")
    assert ignored.table[["x", "y"]].equals(frame[["x", "y"]])
    assert greyfill.fill(frame, "class", fill=given, method="mean").table["y"].notna().all()
    assert greyfill.fill(frame, "class", ignore=None, method="mean").table["y"].notna().all()


def test_labels_beside_a_file_with_lists(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"a": 1, "n": [1]}, {"a": null, "n": [2]}, {"a": 3, "n": []}]')
    filled = greyfill.fill(path, np.array([0, 0, 1]), method="mean")
    assert filled.table.to_dict(as_series=False) == {"a": [1, 2, 3], "n": [[1], [2], []]}


def test_one_numeric_column_needs_no_list(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,b\n" + "".join(f"{i:05d},{i % 3}\n" for i in range(30)))
    found = greyfill.fill(path, method="mean", numeric_columns="zip", strict=True)
    assert found.table["zip"].dtype == pl.Int64


def test_a_category_that_looks_like_an_identifier_helps_to_fill_others():
    group = [i % 3 for i in range(100)]
    zips = [f"z{i}" if i < 55 else f"g{g}" for i, g in enumerate(group)]
    x = [None if i % 10 == 4 else 100.0 * g + i % 7 for i, g in enumerate(group)]
    frame = pl.DataFrame({"zip": zips, "x": x, "z": [i % 11 for i in range(100)]})
    muted = greyfill.fill(frame, fill=["zip"], **QUICK)
    told = greyfill.fill(frame, fill=["zip"], categorical_features=["zip"], **QUICK)
    wrong, right = (
        max(abs(table["x"][i] - 100.0 * group[i]) for i in range(64, 100, 10))
        for table in (muted.table, told.table)
    )
    assert right < 20 < wrong


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_for_all_output_changes_no_table(library):
    frame = LIBRARIES[library](CELLS)
    with config_context(transform_output="pandas" if library == "polars" else "polars"):
        filled = greyfill.fill(frame, "class", method="knni")
    assert type(filled.table) is type(frame)


def test_truths_stay_truths_among_cells_of_one_kind():
    frame = pl.DataFrame({"flag": [True, None, False, True], "n": [1, 2, None, 4]})
    assert greyfill.fill(frame[["flag"]], method="mean").cells["value"].to_list() == [True]
    for columns in (["flag", "n"], ["n", "flag"]):
        filled = greyfill.fill(frame[columns], method="mean")
        assert sorted(filled.cells["value"]) == ["2", "True"]


def test_notes_about_a_file_name_parameters_of_python(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i % 5 if i % 4 else 'NA'},{i % 3}\n" for i in range(30)))
    (note,) = greyfill.fill(path, method="mean").notes
    assert note.endswith("If it is a value there: categorical_features=[COLUMN].")


def test_what_is_said_about_a_file_is_as_in_the_command(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"0{i % 5};{i},5;{i % 9 + 1}/2/2024;{'' if i % 4 else 'x'}" for i in range(30)]
    path.write_bytes("\n".join([*rows, "001;;1/2/2024;é;y"]).encode("cp1252"))
    told = {"delimiter": ";", "decimal": ",", "encoding": "cp1252", "header": False,
            "date_order": "mdy", "ragged": True, "numeric_columns": ["column_1"]}  # fmt: skip
    table = greyfill.fill(path, method="mean", **told).table
    assert table.shape == (31, 4)
    assert table["column_1"].to_list()[:3] == [0, 1, 2]
    assert table["column_2"].null_count() == 0
    assert table["column_3"][1].month == 2
    with pytest.raises(InvalidDataError, match=r"found 5\..*\(delimiter=\)\. ragged=True reads"):
        greyfill.fill(path, method="mean", **told | {"ragged": False})
    with pytest.raises(InvalidParameterError, match="numeric_columns"):
        greyfill.fill(path, method="mean", **told | {"numeric_columns": ["nope"]})
    with pytest.raises(InvalidParameterError, match="leave sheet= away"):
        greyfill.fill(path, method="mean", sheet=2)
    with pytest.raises(InvalidParameterError, match="delimiter: only for a file, and the table is"):
        greyfill.fill(pl.DataFrame({"a": [1, None]}), delimiter=";")
    path.write_text("a,b\n" + "".join(f"{i % 5 if i % 4 else 'NA'},{i % 3}\n" for i in range(30)))
    with pytest.raises(InvalidDataError, match=r"missing_values=\['NA'\]"):
        greyfill.fill(path, method="mean", strict=True)


def test_a_sheet_is_chosen_by_name_or_number(tmp_path):
    from corpus.exports import book

    table = [["a", "b"], *([i, i % 3 or None] for i in range(12))]
    (tmp_path / "t.xlsx").write_bytes(book(("one", table), ("two", [["c", "d"], *table[1:]])))
    for sheet in ("two", 2):
        filled = greyfill.fill(tmp_path / "t.xlsx", method="mean", sheet=sheet)
        assert filled.table.columns == ["c", "d"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_levels_that_differ_by_blanks_and_capitals_are_one_for_the_fill_alone(library):
    levels = ["yes", " Yes", "no", "yes", "NO", None, "yes", "no"] * 4
    table = {"a": [1.0, 1.1, 5.0, 1.2, 5.1, 1.0, 1.1, 5.2] * 4, "b": levels}
    frame = pd.DataFrame(table, index=range(9, 41)) if library == "pandas" else pl.DataFrame(table)
    filled = greyfill.fill(frame, fold=["b"], **QUICK)
    wanted = [level or "yes" for level in levels]
    for one in (filled.table, *filled.draws(2)):
        after = list(one["b"])
        assert [a for a, b in zip(after, levels, strict=True) if b is not None] == [
            b for b in levels if b is not None
        ]
    assert list(filled.table["b"]) == wanted
    assert sorted(filled.imputer.schema_.fields[1].levels) == ["no", "yes"]
    with pytest.raises(InvalidParameterError, match=r"'a' holds Float64.*\(fold\)"):
        greyfill.fill(frame, fold=["a"], **QUICK)
    with pytest.raises(InvalidParameterError, match="fold"):
        greyfill.fill(frame, fold=["c"], **QUICK)


def test_printed_it_shows_the_table_and_what_was_done():
    filled = greyfill.fill(
        pl.DataFrame({"a": [1.0, None, 3.0], "b": [2.0, 4.0, 6.0]}), method="mean"
    )
    shown = str(filled)
    assert shown.startswith(str(filled.table))
    assert "1 cell filled by MeanImputer in " in shown
    assert all(note in shown for note in filled.notes)


@pytest.mark.parametrize("cells", [[1, "a", None], [True, False, None], [1, 2, None]])
@pytest.mark.parametrize("dtype", ["object", "category"])
def test_a_level_makes_no_text_of_other_cells(cells, dtype):
    frame = pd.DataFrame({"c": pd.Series(cells * 10, dtype=dtype), "x": [0.5, 1.5, 2.5] * 10})
    with pytest.raises(InvalidParameterError, match=r"column 'c' holds (1|True|False), which is"):
        greyfill.fill(frame, not_applicable={"c": "none"}, method="mean")


@pytest.mark.parametrize("day", [date(2024, 1, 1), time(6, 30)])
def test_limits_of_moments_that_are_categories_are_moments(day):
    other = date(2024, 2, 1) if isinstance(day, date) else time(18, 5, 10)
    frame = pl.DataFrame({"x": [i % 4 for i in range(30)], "at": [day, None, other] * 10})
    filled = greyfill.fill(frame, categorical_features=["at"], **QUICK)
    levels = {level for shown in filled.intervals["levels"] for level in shown.split(", ")}
    assert levels <= {str(day), str(other)}
    told = filled.report.summary["columns"][1]
    assert (told["unit"], set(told["bins"])) == ("number", {str(day), str(other)})
    assert told["observed"]["histogram"] == [10, 10]
