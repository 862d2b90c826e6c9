"""The section on whether imputing pays: only on request, in every format."""

import json
from typing import Any

import numpy as np

import greyfill
from greyfill import evaluation
from greyfill.report import render

QUICK = {"n_splits": 2, "repeats": 1, "n_inner": 2, "n_draws": 2, "progress": False}


def test_a_report_tells_it_on_request() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    report = greyfill.fill(X, y).report
    found = greyfill.worth(X, y, **QUICK)
    told = report.with_worth(found)
    for format in ("html", "markdown"):
        assert "Does imputing pay?" not in report.render(format)
        page = told.render(format)
        assert page.count("Does imputing pay?") == (2 if format == "html" else 1)
        assert page.count("GreyImputer, then logistic regression") >= 1
    assert found.verdict in told.render("html")
    again = json.loads(told.render("json"))
    assert again["worth"]["verdict"] == found.verdict
    assert render(again, "markdown") == told.render("markdown")
    assert "worth" not in report.summary


def test_the_command_has_it_on_request(tmp_path: Any, monkeypatch: Any) -> None:
    from typer.testing import CliRunner

    from greyfill.cli import app

    weigh = evaluation.worth
    monkeypatch.setattr(
        evaluation, "worth", lambda X, y, **o: weigh(X, y, **{**o, **QUICK, "n_jobs": 1})
    )
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7 if i % 4 else ''},{i % 5},{'yn'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,c,y", *rows]), encoding="utf-8")
    run = CliRunner().invoke
    done = run(app, ["report", "t.csv", "-t", "y", "--worth", "-o", "page.md", "--quiet"])
    assert done.exit_code == 0, done.stderr
    assert "## Does imputing pay?" in (tmp_path / "page.md").read_text(encoding="utf-8")
    done = run(app, ["report", "t.csv", "-t", "y", "--worth", "--json"])
    assert "verdict" in json.loads(done.stdout)["worth"]
    assert run(app, ["report", "t.csv", "--worth"]).exit_code == 2
