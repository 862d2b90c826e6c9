"""A reproduction from end to end, as small as it can be."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from greyfill import __version__
from greyfill.exceptions import InvalidParameterError
from greyfill.paper import ReproductionPlan, reproduce, runs
from greyfill.paper.reproduction import command, measure, write_page
from greyfill.paper.results import RUNS, Results
from greyfill.paper.runs import SCENARIOS, FillRun, PassesRun, Reading, paper_settings

METHODS = ("cgknn", "class_mean", "mean")
TINY = ReproductionPlan(("iris",), (0.10,), range(1), METHODS, passes=1, repeats=1)
FIGURES = ("rmse-iris", "information-iris", "passes")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return reproduce(tmp_path_factory.mktemp("out"), plan=TINY, jobs=1)


def test_all_files_are_written(done):
    folder = done.files[0].parent
    for path in done.files:
        assert path.stat().st_size > 0
    for name in FIGURES:
        assert (folder / f"img/reproduction/{name}.svg").read_text().startswith("<svg")
    markdown = (folder / "reproduction.md").read_text()
    linked = re.findall(r"\]\((img/reproduction/.+?\.svg)\)", markdown)
    assert linked
    assert all((folder / link).is_file() for link in linked)


def test_raw_results_hold_the_runs(done):
    runs = pl.read_parquet(done.files[0].parent / "data/reproduction/runs.parquet")
    assert runs.schema == pl.Schema(RUNS)
    assert set(runs["method"]) == set(METHODS)
    cell = done.results.cell("iris", 0.10, "cgknn", "range-hidden")
    assert 0.05 < cell.mean < 0.2


def test_page_stands_alone_and_names_its_command(done):
    html = (done.files[0].parent / "reproduction.html").read_text()
    assert f"greyfill reproduce --seeds 1 --out {done.files[0].parent.name}" in html
    assert "<svg role=" in html
    assert not re.search(r"<(script|link|img)\b", html)
    assert "0.0950" in html  # the paper's figure for CGKNN


def test_page_names_the_commit_that_measured(done, tmp_path):
    plan = replace(TINY, methods=("mean",), passes=0)
    write_page(replace(done.results, commit="1234abc"), plan, tmp_path, "")
    assert f"greyfill {__version__} of commit 1234abc" in (tmp_path / "reproduction.md").read_text()
    write_page(replace(done.results, commit=""), plan, tmp_path, "")
    assert f"greyfill {__version__}, Python" in (tmp_path / "reproduction.html").read_text()


def test_ids_in_the_page_are_unique_across_figures(done):
    html = (done.files[0].parent / "reproduction.html").read_text()
    clips = re.findall(r'<clipPath id="(.+?)"', html)
    assert clips
    assert len(clips) == len(set(clips))


def test_same_seeds_same_results(done):
    again = measure(TINY, jobs=1)
    assert again.runs.equals(done.results.runs)
    assert again.passes.equals(done.results.passes)
    assert again.information.equals(done.results.information)


def test_methods_that_are_not_there_are_rows():
    run = FillRun("iris", 0.10, 0, "nobody", accuracy=False)
    (record,) = run.run()
    assert record["value"] is None
    assert "nobody" in record["error"]


def test_text_is_escaped(tmp_path):
    row = ("iris", 0.10, 0, "mice", "", "range-hidden", None, "ValueError: <script>|x</script>")
    results = Results(runs=pl.DataFrame([row], schema=RUNS, orient="row"))
    plan = ReproductionPlan(("iris",), (0.10,), range(1), ("mice",), passes=0, repeats=0)
    write_page(results, plan, tmp_path, "greyfill reproduce <b>")
    html = (tmp_path / "reproduction.html").read_text()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "reproduce &lt;b&gt;" in html
    markdown = (tmp_path / "reproduction.md").read_text()
    assert "<script>" not in markdown
    assert r"&lt;script>\|x" in markdown


@pytest.mark.parametrize("name", SCENARIOS)
def test_natural_holes_are_never_truth(name):
    case = SCENARIOS[name].case(0.10, seed=1)
    assert not (case.mask & case.truth.missing).any()
    assert (case.table.missing == (case.mask | case.truth.missing)).all()
    share = case.mask.sum() / (~case.truth.missing[:, case.mask.any(axis=0)]).sum()
    assert share == pytest.approx(0.10, abs=0.005)


def test_holes_of_the_simulations_lie_where_the_paper_puts_them():
    assert SCENARIOS["cubes"].case(0.2, 0).mask.any(axis=0).nonzero()[0].tolist() == [0]
    assert SCENARIOS["gaussian"].case(0.2, 0).mask.any(axis=0).nonzero()[0].tolist() == [3, 4]


def test_plans():
    runs = ReproductionPlan.full().runs()
    fills = [run for run in runs if isinstance(run, FillRun)]
    assert len({(r.scenario, r.rate) for r in fills}) == 13
    assert len({(r.method, r.reading.key(r.method)) for r in fills}) == 11 + 2 * 5
    forensic = ReproductionPlan.forensic().runs()
    assert not any(isinstance(run, PassesRun) or run.accuracy for run in forensic)
    assert len(forensic) == 13 * 20 * 7
    assert {r.scenario for r in fills if r.accuracy} == {"cubes", "gaussian"}
    assert len([r for r in runs if isinstance(r, PassesRun)]) == 3 * 3 * 20
    assert runs[0].method == "missforest"
    assert {r.rate for r in ReproductionPlan.quick().runs()} == {0.10}
    with pytest.raises(InvalidParameterError, match="seed"):
        ReproductionPlan.full(0)
    with pytest.raises(InvalidParameterError, match="'moon' is not one of cubes, gaussian, iris"):
        ReproductionPlan(("moon",), (0.1,), range(1), ("cgknn",), 0, 0)
    with pytest.raises(InvalidParameterError, match="convention must be one of"):
        ReproductionPlan(("iris",), (0.1,), range(1), ("cgknn",), 0, 0, convention="cm")
    with pytest.raises(InvalidParameterError, match="ties must be one of"):
        Reading("first")
    with pytest.raises(InvalidParameterError, match="holes must be one of"):
        Reading(holes="guessed")
    with pytest.raises(InvalidParameterError, match="nobody"):
        ReproductionPlan(("iris",), (0.1,), range(1), ("nobody",), 0, 0)


def test_switches_reach_the_imputers_and_the_command():
    own = paper_settings("gknn", Reading("smallest", "sources"), max_iter=7)
    assert (own.n_neighbors, own.distance.holes, own.schedule.max_iter) == (
        "cv_smallest",
        "filled",
        7,
    )
    assert paper_settings("cgknn", Reading(holes="sources")).n_neighbors == "cv"
    assert type(paper_settings("cgknn", Reading(holes="sources"))).__name__ == "CGKNNImputer"
    plan = replace(TINY, reading=Reading("smallest", "filled"), convention="sd-table")
    assert command(Path("out"), plan, quick=True) == (
        "greyfill reproduce --quick --seeds 1 --ties smallest --holes filled "
        "--convention sd-table --out out"
    )


def test_a_page_in_another_reading_judges_that_reading(tmp_path):
    plan = replace(TINY, reading=Reading("smallest", "filled"), passes=0, methods=("cgknn",))
    results = measure(plan, jobs=1)
    keys = set(results.runs["reading"])
    assert keys == {"largest/mask", "smallest/mask", "largest/filled", "smallest/filled"}
    shown = results.cell("iris", 0.10, "cgknn", "range-hidden").mean
    row = results.runs.filter(reading="smallest/filled", metric="range-hidden")
    assert shown == row["value"][0]
    write_page(results, plan, tmp_path, "")
    text = (tmp_path / "reproduction.md").read_text()
    assert "holes as filled, smallest of tied k" in text
    assert f"{shown:.4f}" in text


def test_the_forensic_page_stands_alone(tmp_path):
    plan = ReproductionPlan(("iris",), (0.1, 0.2), range(2), ("mice",), 0, 0, is_forensic=True)
    row = ("iris", 0.10, 0, "mice", "", "range-hidden", 0.1, None)
    results = Results(runs=pl.DataFrame([row], schema=RUNS, orient="row"))
    pages, verdicts = write_page(results, plan, tmp_path, "greyfill reproduce --forensic")
    assert [page.name for page in pages] == ["forensic.md", "forensic.html"]
    assert verdicts == ()
    text = pages[0].read_text()
    assert "Figures that recur" in text
    assert "claims" not in text.partition("## How")[0]


def test_an_extended_page_has_all_methods_as_more_rows(tmp_path, monkeypatch):
    plan = replace(TINY, passes=0, methods=("mean",)).extended
    assert {"mean", "grey", "shell", "opt-cv", "mlp", "mice"} <= set(plan.methods)
    assert not {"sklearn_knn", "native", "miceforest"} & set(plan.methods)
    assert "--extended" in command(tmp_path, plan, quick=True)
    few = replace(plan, methods=("mean", "shell", "hot-deck", "knni"))
    results = measure(few, jobs=1)
    assert results.others == ["knni", "hot-deck", "shell"]
    shown = results.cell("iris", 0.10, "shell", "range-hidden")
    monkeypatch.setattr(runs, "SYSTEMS", few.methods)
    pages, _ = write_page(results, few, tmp_path, "greyfill reproduce --extended")
    assert [page.name for page in pages] == ["extended.md", "extended.html"]
    assert f"| shell | {shown.mean:.4f}" in pages[0].read_text()
    with pytest.raises(InvalidParameterError, match="exclude each other"):
        reproduce(tmp_path, forensic=True, extended=True)
