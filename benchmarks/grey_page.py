"""The sections of docs/performance.md about GreyImputer, from the figures of grey_cost.py."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from statistics import geometric_mean

from run import commit
from text import number, table

NOW, BEFORE = "GreyImputer", "before"
COMMIT = "fdd560e"
"""The version that BEFORE stands for."""

FILLS = "GreyImputer: a whole table"
ROWS = "GreyImputer: one new row"
ERRORS = "GreyImputer: errors of this version and of the earlier one"
ORDER = (FILLS, ROWS, ERRORS)

CALLS = ("transform, numpy", "transform, pandas", "transform, polars", "predict_proba")

Figures = Mapping[str, float]
Failures = Mapping[tuple[str, str], str]
"""(Table, contestant) → why there is no figure."""


def ratio(figures: Figures) -> float:
    """How many times as much the earlier version takes; NaN where one of the two is not known."""
    return figures.get(BEFORE, nan) / figures.get(NOW, nan)


def mean_ratio(ratios: Iterable[float]) -> float:
    """The geometric mean of those that are known; NaN without any."""
    known = [value for value in ratios if not isnan(value)]
    return geometric_mean(known) if known else nan


def digits(value: float) -> int:
    """Decimals that show two digits of a figure."""
    return 1 if value >= 10 else 2 if value >= 0.1 else 3


def shown(value: float) -> str:
    return number(value, digits(value))


def times(value: float) -> str:
    return "–" if isnan(value) else f"{value:.1f}×"


def over_the_bar(name: str, ratios: Mapping[str, float], bar: Sequence[str]) -> list[str]:
    """A sentence on the geometric mean over the tables of the bar; nothing without any ratio."""
    known = [table for table in bar if not isnan(ratios.get(table, nan))]
    if not known:
        return []
    mean = mean_ratio(ratios[table] for table in known)
    return [f"{name}: geometric mean over {', '.join(known)}: **{times(mean)}**.", ""]


def fills_section(
    found: Mapping[str, Figures], failed: Failures, bar: Sequence[str], notes: Sequence[str]
) -> list[str]:
    """Seconds of ``fit_transform`` by table and contestant."""
    ran = dict.fromkeys([*_names(found.values()), *(who for _, who in failed)])
    others = [name for name in ran if name not in (NOW, BEFORE)]
    contestants = [
        NOW,
        *([BEFORE] if any(BEFORE in row for row in found.values()) else []),
        *others,
    ]
    ratios = {name: ratio(row) for name, row in found.items()}
    lines = [
        (
            name,
            *(failed.get((name, who)) or shown(row.get(who, nan)) for who in contestants),
            *([times(ratios[name])] if BEFORE in contestants else []),
        )
        for name, row in found.items()
    ]
    heads = ("seconds", *contestants, *(["before / now"] if BEFORE in contestants else []))
    return [
        f"## {FILLS}", "",
        "`fit_transform(X, y)`, by `python benchmarks/grey_cost.py --before PYTHON`, where "
        "PYTHON has the earlier version. Each version has its own defaults: now `labels=\"cross\"` "
        "and fills on the grid of their column, before what is `labels=\"own\"` today, and no "
        "grid. Every contestant has one thread of a machine with two cores, in a process of its "
        "own; on a table they take turns, and of runs below a minute the best of three counts. "
        "Compare within this run alone, since the cores are parts of a shared machine. Tables "
        "named by their size are made up (rank 6 plus noise, "
        "two classes); 20 % of the observed cells are hidden, of 1000 × 1000 10 %. `sklearn` is "
        "given indicators of categories.",
        *_about_before(contestants), *notes, "",
        *table(heads, lines),
        *over_the_bar("Before / now", ratios, bar),
    ][:-1]  # fmt: skip


def rows_section(
    found: Mapping[str, Mapping[str, Figures]], bar: Sequence[str], notes: Sequence[str]
) -> list[str]:
    """Milliseconds of one row by table and call."""
    calls = [call for call in CALLS if any(call in by_call for by_call in found.values())]
    both = any(BEFORE in figures for by_call in found.values() for figures in by_call.values())
    lines = [(name, *(_call(by_call.get(c, {})) for c in calls)) for name, by_call in found.items()]
    groups = {"`transform`, numpy or pandas": CALLS[:2], **{f"`{c}`": (c,) for c in CALLS[2:]}}
    return [
        f"## {ROWS}", "",
        "Median milliseconds of `GreyImputer.transform` and `GreyClassifier.predict_proba` for one "
        "row with holes that was not in the training table, by "
        "`python benchmarks/grey_cost.py --before PYTHON --one-row`; one thread, the best of three "
        "rounds. The row is an array of numpy or a frame of one row, and so is the answer; "
        "`predict_proba` is given arrays of numeric tables and frames of pandas of the others. The "
        "made-up tables are linear and favor regressions on all donors (`selection_` tells): their "
        "rows do not show what a search among many donors costs.",
        *(["In brackets: before / now."] if both else []),
        *_about_before([BEFORE] if both else []), *notes, "",
        *table(("ms", *calls), lines),
        *(
            line
            for name, group in groups.items()
            for line in over_the_bar(f"{name}, before / now", _ratios(found, group), bar)
        ),
    ][:-1]  # fmt: skip


def _ratios(found: Mapping[str, Mapping[str, Figures]], calls: Sequence[str]) -> dict[str, float]:
    """The ratio of each table in the first of the calls that it has."""
    return {
        name: next((ratio(by_call[call]) for call in calls if call in by_call), nan)
        for name, by_call in found.items()
    }


def _call(figures: Figures) -> str:
    value = ratio(figures)
    return shown(figures.get(NOW, nan)) + ("" if isnan(value) else f" ({times(value)})")


def errors_section(
    found: Mapping[str, Sequence[Figures]], seeds: Sequence[int], scenarios: Sequence[str]
) -> list[str]:
    """NRMSE of both versions by table: means, and the geometric mean of now / before."""
    ratios = {name: mean_ratio(1 / ratio(case) for case in cases) for name, cases in found.items()}
    lines = [
        (name, *(number(_mean(cases, who)) for who in (NOW, BEFORE)), number(ratios[name], 3))
        for name, cases in found.items()
    ]
    return [
        f"## {ERRORS}", "",
        "NRMSE on hidden cells as on [Accuracy](accuracy.md), of both with what is "
        "`labels=\"own\"` today and without a grid (so not as they are timed above), by "
        "`python benchmarks/grey_cost.py --before PYTHON --accuracy`: the mean over cases, and the "
        f"geometric mean of now / before. Scenarios: {', '.join(scenarios)}; "
        f"seeds: {', '.join(map(str, seeds))}.",
        *_about_before([BEFORE]), "",
        *table(("NRMSE", NOW, BEFORE, "now / before"), lines),
        f"Geometric mean of the ratios of {len(ratios)} tables: "
        f"**{number(mean_ratio(ratios.values()))}**.",
    ]  # fmt: skip


def _mean(cases: Sequence[Figures], who: str) -> float:
    return sum(case[who] for case in cases) / len(cases)


def _about_before(contestants: Sequence[str]) -> list[str]:
    """Which states of the source a section compares."""
    return [f"*Before* is commit {COMMIT}, *now* {commit()}."] if BEFORE in contestants else []


def _names(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Keys of all rows, as they come."""
    return list(dict.fromkeys(name for row in rows for name in row))
