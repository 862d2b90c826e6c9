"""The whole performance page: docs/performance.md and its plot, from one run on this machine.

    python benchmarks/performance.py            about 15 minutes on two cores
    python benchmarks/performance.py --quick    about 5 minutes, smaller tables, writes to a folder
    python benchmarks/performance.py --only hardware    that section again

The first sections are those of grey_cost.py: it writes them, this program keeps them. Every
figure in a section is a ratio or a measurement of one run.
"""

import argparse
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

import grey_page
import limits
import matplotlib as mpl
import numpy as np
from harness import Measured, Scenario, race
from run import commit
from sections import again, kept

mpl.use("Agg")
import matplotlib.pyplot as plt

KNN = "sklearn KNNImputer"
ITERATIVE = "sklearn IterativeImputer"
OURS = ["CGKNN", "CGKNN, k by cv", "FWGKNN", "GKNN", "GBNN", "MI-KNN", "IKNN",
        "SKNN", "KNNI"]  # fmt: skip


def versions() -> str:
    names = ("greyfill", "numpy", "numba", "scikit-learn")
    shown = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()}, {shown}; commit {commit()}; two cores"


def table(results: dict[str, Measured], against: str | None = KNN) -> list[str]:
    """Markdown rows: seconds with spread, ratio, memory."""
    base = results.get(against or "", Measured())
    lines = ["| | seconds (least–most) | faster | MiB | of its memory |", "|---|---|---|---|---|"]
    for name, result in results.items():
        if result.error:
            lines.append(f"| {name} | {result.error} | | | |")
            continue
        span = f"{result.median:.2f} ({min(result.seconds):.2f}–{max(result.seconds):.2f})"
        faster = f"{base.median / result.median:.1f}×" if base.seconds else ""
        share = f"{result.memory / base.memory:.1%}" if base.seconds else ""
        memory = f"{result.memory:.0f} | {share}" if result.memory >= 0 else "– | –"
        lines.append(f"| {name} | {span} | {faster} | {memory} |")
    return lines


def headline(quick: bool) -> list[str]:
    scenario = Scenario(rows=3_000 if quick else 20_000)
    results = race(["GreyImputer", *OURS, KNN, ITERATIVE], scenario, repeats=1 if quick else 3)
    heading = f"## {scenario.rows} × {scenario.columns}, 10 % holes, two classes, skewed relevance"
    return [heading, "", *table(results)]


def slow_ones(quick: bool) -> list[str]:
    """Methods that need minutes where the neighbors need a second: a smaller table, run once."""
    scenario = Scenario(rows=300 if quick else 2_000)
    names = ["GreyImputer", "CGKNN", "CGKNN, k by cv", KNN, ITERATIVE, "MissForest", "MICE",
             "miceforest", "R VIM kNN", "hyperimpute"]  # fmt: skip
    limit = 30.0 if quick else 120.0
    results = race(names, scenario, repeats=1, limit=limit)
    heading = f"## {scenario.rows} × {scenario.columns}, beside slower methods"
    return [heading, "", *table(results)]


def growth(quick: bool, folder: Path) -> list[str]:
    sizes = [1_000, 3_000, 10_000] if quick else [1_000, 10_000, 100_000, 300_000, 1_000_000]
    skewed, equal, knn = {}, {}, {}
    for n in sizes:
        skewed[n] = race(["CGKNN"], Scenario(rows=n), 1, limit=900)["CGKNN"]
        if n <= 100_000:
            equal[n] = race(["GKNN"], Scenario(rows=n, relevant=0), 1, limit=900)["GKNN"]
        if n <= 10_000:
            knn[n] = race([KNN], Scenario(rows=n), 1, limit=300)[KNN]
    curves = {"CGKNN, skewed weights": skewed, "GKNN, equal weights": equal, KNN: knn}
    _plot(curves, folder / "growth.svg")
    top = [n for n in sizes if n >= sizes[-1] // 10]
    exponent = _slope(top, [skewed[n].median for n in top])
    lines = [
        "## Growth with the number of rows", "", "![seconds against rows](img/growth.svg)", "",
        "| rows | " + " | ".join(curves) + " |", "|---|" + "---|" * len(curves),
    ]  # fmt: skip
    for n in sizes:
        cells = [
            f"{c[n].median:.2f} s" if n in c and c[n].seconds else "–" for c in curves.values()
        ]
        lines.append(f"| {n:,} | " + " | ".join(cells) + " |")
    return [
        *lines,
        "",
        f"Fitted growth exponent of CGKNN from {top[0]:,} to {top[-1]:,} rows: **{exponent:.2f}** "
        "(1 is linear, 2 is all pairs).",
    ]


def _slope(sizes: list[int], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _plot(curves: dict[str, dict[int, Measured]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, points in curves.items():
        sizes = [n for n in points if points[n].seconds]
        axes.loglog(sizes, [points[n].median for n in sizes], marker="o", label=name)
    axes.set(xlabel="rows (20 columns, 10 % holes)", ylabel="seconds of fit_transform")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def shapes(quick: bool) -> list[str]:
    n = 2_000 if quick else 5_000
    lines = ["## Shapes", "", f"| {n} rows | CGKNN | {KNN} | faster |", "|---|---|---|---|"]
    cases = {f"{p} columns": Scenario(rows=n, columns=p) for p in (10, 20, 50, 200)}
    cases |= {f"{rate:.0%} holes": Scenario(rows=n, rate=rate) for rate in (0.05, 0.1, 0.3)}
    for name, scenario in cases.items():
        results = race(["CGKNN", KNN], scenario, repeats=1)
        ours, theirs = results["CGKNN"], results[KNN]
        ratio = theirs.median / ours.median
        lines.append(f"| {name} | {ours.median:.2f} s | {theirs.median:.2f} s | {ratio:.0f}× |")
    return lines


def large(quick: bool) -> list[str]:
    n = 20_000 if quick else 1_000_000
    result = race(["CGKNN"], Scenario(rows=n, mixed=True), 1, limit=900)["CGKNN"]
    shown = result.error or f"{result.median:.0f} s and {result.memory:.0f} MiB beyond the table"
    return [f"## {n:,} × 20 mixed columns, 10 % holes", "", f"CGKNN, k = 10: {shown}."]


def cap(quick: bool) -> list[str]:
    """What a cap on donors gains and costs, by the error on hidden cells."""
    from greyfill import CGKNNImputer

    n = 4_000 if quick else 100_000
    scenario = Scenario(rows=n)
    names = ["CGKNN", "CGKNN, 2000 donors a class"]
    results = race(names, scenario, repeats=1)
    X, y = scenario.make()
    rng = np.random.default_rng(1)
    X[:, 3] = np.where(np.isnan(X[:, 2]), X[:, 3], X[:, 2] + 0.3 * X[:, 3])  # a column to learn
    hidden = (rng.random(n) < 0.1) & ~np.isnan(X[:, 3])
    holed = X.copy()
    holed[hidden, 3] = np.nan
    errors = []
    for most in (None, 2_000):
        imputer = CGKNNImputer(n_neighbors=10, max_donors=most, n_jobs=2)
        filled = imputer.fit_transform(holed, y)
        errors.append(float(np.sqrt(np.mean((filled[hidden, 3] - X[hidden, 3]) ** 2))))
    times = [results[name].median for name in names]
    return [
        "## A cap on donors", "",
        f"`max_donors=2000` on {n:,} × 20: {times[1]:.2f} s instead of {times[0]:.2f} s; root mean "
        f"square error on hidden cells of one column {errors[1]:.4f} instead of {errors[0]:.4f} "
        f"({errors[1] / errors[0] - 1:+.1%}). It is an approximation and off by default.",
    ]  # fmt: skip


def hardware(quick: bool) -> list[str]:
    measured = limits.rates()
    limit = measured["bare division loop"]
    lines = ["## The hardware's limit", "", "| one core | G (pair · column)/s | of the limit |"]
    lines.append("|---|---|---|")
    lines += [
        f"| {name} | {rate / 1e9:.2f} | {rate / limit:.0%} |" for name, rate in measured.items()
    ]
    median, high = limits.one_row()
    cold, warm = limits.first_call()
    return [
        *lines, "",
        "The limit is a loop that does one division for each pair and column and nothing else "
        "(`benchmarks/limits.py`). Where pruning cannot help (20 independent columns, equal "
        f"weights), the search costs {limits.fallback_cost():.2f}× the plain scan.", "",
        "CGKNN, one row with 20 000 donors × 20 columns, numpy in and out: median "
        f"{median:.2f} ms, 95 % below {high:.2f} ms.", "",
        f"CGKNN, first call in a new process: {warm:.2f} s with a warm cache, {cold:.1f} s where "
        "nothing was ever compiled.",
    ]  # fmt: skip


def introduction() -> list[str]:
    return [
        "# Performance", "",
        "`GreyImputer` first, by `python benchmarks/grey_cost.py`, whose sections name their "
        "commit; all below it by `python benchmarks/performance.py`.", "",
        versions() + ".", "",
        "Each run is a process of its own, contestants take turns, and compilation is not "
        "counted. Memory is what the call needed beyond what the process held before it. In "
        "`performance.py` ours are given both cores (`n_jobs=2`), the others have their defaults, "
        "and neighbor methods, scikit-learn's too, take ten neighbors; in `grey_cost.py` all have "
        "one thread. The tables of `performance.py` have independent "
        "columns but for those that shift with the class, those of `grey_cost.py` linear ones, so "
        "that the seconds of the two cannot be compared. Nothing else ran here, but the cores are "
        "parts of a shared machine, which is quicker on some days: the first rate of *The "
        "hardware's limit* tells how quick it was.",
    ]  # fmt: skip


ONLY = {"hardware": hardware, "headline": headline}
"""Sections that can be written again on their own."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=ONLY, help="one section again")
    options = parser.parse_args()
    quick = options.quick
    docs = Path(tempfile.mkdtemp()) if quick else Path(__file__).parents[1] / "docs"
    page = docs / "performance.md"
    if options.only:
        again(page, [*ONLY[options.only](quick), "", f"This section is of commit {commit()}."])
    else:
        sections = [
            introduction(), *kept(page, grey_page.ORDER), headline(quick), slow_ones(quick),
            growth(quick, docs / "img"), shapes(quick), large(quick), hardware(quick), cap(quick),
        ]  # fmt: skip
        page.write_text("\n\n".join("\n".join(section) for section in sections) + "\n")
    print(page)


if __name__ == "__main__":
    main()
