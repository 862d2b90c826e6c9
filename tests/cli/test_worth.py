"""``greyfill worth``: the verdict for people and as numbers, what is told and what is refused."""

import json

from greyfill import evaluation


def test_the_verdict_the_code_and_the_numbers(greyfill, folder, monkeypatch):
    asked = {}

    def weigh(X, y, worth=evaluation.worth, **options):
        asked.update(options)
        quick = {"n_splits": 2, "repeats": 1, "n_inner": 2, "n_draws": 2, "n_jobs": 1}
        return worth(X, y, **{**options, **quick})

    monkeypatch.setattr(evaluation, "worth", weigh)
    rows = [f"P{i},{i % 7 if i % 4 else ''},{'ab'[i % 3 % 2]},{'yn'[i % 2]}" for i in range(40)]
    (folder / "t.csv").write_text("\n".join(["case,x,c,y", *rows]), encoding="utf-8")
    options = ("t.csv", "--target", "y", "--repeats", "3", "--cache", "kept.parquet")
    done = greyfill("worth", *options)
    assert (asked["n_jobs"], asked["repeats"], asked["n_splits"]) == (-1, 3, 5)
    assert "note: Used, though no other row can tell: 'case'" in done.stderr
    assert "12 pipelines on 2 outer folds" in done.stdout
    assert "Imputing is worth " in done.stdout
    assert done.stdout.rstrip().endswith("model.fit(X, y)")
    numbers = json.loads(greyfill("worth", *options, "--json").stdout)
    assert numbers["verdict"] in " ".join(done.stdout.split())
    assert set(numbers["gains"]) == {"imputing", "reading"}
    assert len(numbers["pipelines"]) == 12
    assert (folder / "kept.parquet").exists()


def test_a_target_is_needed_and_the_table_is_no_cache(fails):
    assert "--target" in fails("worth", "table.csv")
    assert "table.csv" in fails("worth", "table.csv", "-t", "outcome", "--cache", "table.csv")
    assert "6 rows with a y" in fails("worth", "table.csv", "-t", "outcome", "--id", "id")


def test_identifiers_that_methods_are_compared_with_are_named(greyfill, folder):
    rows = [f"P{i},{i % 7},{'yn'[i % 2]}" for i in range(40)]
    (folder / "t.csv").write_text("\n".join(["case,x,y", *rows]), encoding="utf-8")
    done = greyfill("compare", "t.csv", "-t", "y", "--methods", "mean", "--repeats", "1")
    assert "note: Used, though no other row can tell: 'case'" in done.stderr
