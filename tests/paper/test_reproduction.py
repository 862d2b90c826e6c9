"""A reproduction from end to end, as small as it can be."""

import re

import polars as pl
import pytest

from greyfill.exceptions import InvalidParameterError
from greyfill.paper import ReproductionPlan, reproduce
from greyfill.paper.reproduction import measure, write_page
from greyfill.paper.results import RUNS, Results
from greyfill.paper.runs import SCENARIOS, FillRun, PassesRun

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
        assert (folder / f"img/reproduction/{name}.png").read_bytes().startswith(b"\x89PNG")
    markdown = (folder / "reproduction.md").read_text()
    linked = re.findall(r"\]\((img/reproduction/.+?\.png)\)", markdown)
    assert linked
    assert all((folder / link).is_file() for link in linked)


def test_raw_results_hold_the_runs(done):
    runs = pl.read_parquet(done.files[0].parent / "data/reproduction/runs.parquet")
    assert runs.schema == pl.Schema(RUNS)
    assert set(runs["method"]) == set(METHODS)
    cell = done.results.cell("iris", 0.10, "cgknn", "nrmse")
    assert 0.05 < cell.mean < 0.2


def test_page_stands_alone_and_names_its_command(done):
    html = (done.files[0].parent / "reproduction.html").read_text()
    assert f"greyfill reproduce --seeds 1 --out {done.files[0].parent.name}" in html
    assert "<svg role=" in html
    assert not re.search(r"<(script|link|img)\b", html)
    assert "0.0950" in html  # the paper's figure for CGKNN


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
    row = ("iris", 0.10, 0, "mice", "nrmse", None, "ValueError: <script>|x</script>")
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
    assert {r.scenario for r in fills if r.accuracy} == {"cubes", "gaussian"}
    assert len([r for r in runs if isinstance(r, PassesRun)]) == 3 * 3 * 20
    assert runs[0].method == "missforest"
    assert {r.rate for r in ReproductionPlan.quick().runs()} == {0.10}
    with pytest.raises(InvalidParameterError, match="seed"):
        ReproductionPlan.full(0)
    with pytest.raises(InvalidParameterError, match="'moon' is not one of cubes, gaussian, iris"):
        ReproductionPlan(("moon",), (0.1,), range(1), ("cgknn",), 0, 0)
    with pytest.raises(InvalidParameterError, match="nobody"):
        ReproductionPlan(("iris",), (0.1,), range(1), ("nobody",), 0, 0)
