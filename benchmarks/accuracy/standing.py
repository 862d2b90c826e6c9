"""How methods stand over tables: mean ranks by groups of tables, and one method against each."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import ranking
import tables
from text import counted, number, probability, table

Rows = list[dict[str, Any]]
MARGIN = 0.01
"""A rival that is ahead by more is named once more."""
NEXT = 3
"""Rivals that are held against a method scenario by scenario."""
HOW = (
    "The unit is the table: the scenarios and seeds of a table are averaged first. Mean ranks are "
    "among the methods with a result on every table, over the scenarios and seeds that all of them "
    "have. Then the first method against each, over the tables, scenarios and seeds of both: "
    "on how many tables it is better, the geometric mean of its score over the other's, and "
    "Wilcoxon's signed-rank test of the logarithm of that ratio with Holm's correction over the "
    "rows of the table."
)


def standing(
    board: ranking.Board, flagship: str, groups: Mapping[str, Iterable[str]] | None = None
) -> list[str]:
    """A table with a row for each method; lower scores are better.

    ``groups`` are titles and tables of further columns of mean ranks.
    """
    units = board.known_to(flagship).by_table()
    everywhere = units.complete()
    ranks = _ranks(everywhere, groups or {})
    overall = next(iter(ranks.values()), {})
    found = {duel.rival: duel for duel in ranking.duels(units, flagship)}
    lines = []
    for name in sorted(
        units.methods, key=lambda n: overall.get(n, -1 if n == flagship else np.inf)
    ):
        places = [number(by_name.get(name, np.nan), 2) for by_name in ranks.values()]
        lines.append((name, *places, *_tested(found.get(name))))
    heads = ("method", *ranks, "tables", f"{flagship} better on", "ratio", "p (Holm)")
    return [*table(heads, lines), *_ranked_over(units, everywhere, flagship)]


def _ranks(
    ranked: ranking.Board, groups: Mapping[str, Iterable[str]]
) -> dict[str, dict[str, float]]:
    """Titles and mean ranks, over all tables and over groups; none for a single method."""
    if len(ranked.methods) < 2:
        return {}
    found = {f"mean rank of {len(ranked.methods)}": ranked.ranks()}
    parts = {title: ranked.among(names) for title, names in groups.items()}
    return found | {f"{title} ({len(p.cases)})": p.ranks() for title, p in parts.items()}


def _ranked_over(units: ranking.Board, ranked: ranking.Board, flagship: str) -> list[str]:
    """What the mean ranks rest on, where that is not all: it depends on who is ranked."""
    known, shared = (~np.isnan(b.of(flagship)) for b in (units, ranked))
    unranked = [name for name in units.methods if name not in ranked.methods]
    lines: list[str] = []
    if len(ranked.methods) < 2:
        return ["No other method has a result on every table, so that none is ranked.", ""]
    if shared.sum() < known.sum():
        lines += [
            f"The mean ranks are over the {shared.sum()} of {known.sum()} runs of {flagship} (a "
            f"table, a scenario, a seed; {shared.any(axis=1).sum()} of {len(known)} tables) that "
            "all ranked methods have a result of."
        ]
    if unranked:
        lines += [f"Without a rank, for want of a result on a table: {', '.join(unranked)}."]
    return [" ".join(lines), ""] if lines else []


def _tested(duel: ranking.Duel | None) -> tuple[object, ...]:
    if duel is None:
        return ("", "", "", "")
    return duel.n_cases, duel.wins, number(duel.ratio, 3), probability(duel.p_holm)


def against_best(
    board: ranking.Board, flagship: str, rivals: Iterable[str], which: str = ""
) -> list[str]:
    """On each table the rival that does best there, chosen afterwards."""
    units = board.only([flagship, *rivals]).by_table()
    if flagship not in units.methods:
        return []
    found = ranking.best_rivals(units, flagship, [n for n in units.methods if n != flagship])
    lines = [
        (shown(case[0]), best.ours, best.name, best.theirs, best.ratio)
        for case, best in zip(units.cases, found, strict=True)
        if best is not None
    ]
    behind = [f"{name} ({ratio:.3f})" for name, *_, ratio in lines if ratio > 1.0]
    clearly = [name for name, *_, ratio in lines if ratio > 1.0 + MARGIN]
    cells = [(n, number(o), rival, number(t), number(r, 3)) for n, o, rival, t, r in lines]
    return [
        f"On each table the one of {len(units.methods) - 1} rivals of {flagship}{which} that errs "
        "least there, on the scenarios and seeds that both have; it is chosen afterwards, which "
        f"favors it. {flagship} errs more than it on {len(behind)} of {len(lines)} tables"
        f"{': ' if behind else ''}{', '.join(behind)}. It is behind by more than {MARGIN:.0%} on "
        f"{', '.join(clearly) or 'none'}.".replace("%", " %"),
        "",
        *table(("table", flagship, "best rival", "its error", "ratio"), cells),
    ]


def by_scenario(board: ranking.Board, flagship: str, titles: Mapping[str, str]) -> list[str]:
    """How the rivals that rank next stand in each scenario alone; ``titles`` are of scenarios."""
    ranks = board.known_to(flagship).by_table().ranks()
    rivals = sorted((name for name in ranks if name != flagship), key=ranks.__getitem__)[:NEXT]
    if flagship not in ranks or not rivals:
        return []
    lines = []
    for scenario, title in titles.items():
        found = {duel.rival: duel for duel in ranking.duels(board.in_scenario(scenario), flagship)}
        duels = (found[name] for name in rivals)
        lines.append((title, *(f"{d.wins} of {d.n_cases}, {number(d.ratio, 3)}" for d in duels)))
    return [
        f"{flagship} against the next in rank, scenario by scenario: the tables on which it is "
        "better, and the ratio.",
        "",
        *table(("scenario", *rivals), lines),
    ]


def shown(name: str) -> str:
    """The name of a table without the mark of its folder."""
    return name.removeprefix(tables.EXAM)


def failures(rows: Rows, seeds: Iterable[int]) -> list[str]:
    """The errors of each method, the same ones counted together."""
    counts: dict[tuple[str, str], list[str]] = {}
    wanted = set(seeds)
    for row in rows:
        if "error" in row and row["seed"] in wanted:
            where = counts.setdefault((row["method"], row["error"][:100].strip()), [])
            where.append(shown(row["table"]))
    lines = [
        f"* {method}, {counted(len(where), 'run')} ({', '.join(sorted(set(where)))}): {error}"
        for (method, error), where in sorted(counts.items())
    ]
    return [*lines, ""] if lines else ["None.", ""]


def matrix(board: ranking.Board, titles: Iterable[str]) -> list[str]:
    """Methods down, cases across under their titles, the lowest error of each case in bold."""
    means = board.means()
    best = np.array([np.nanmin(row) if (~np.isnan(row)).any() else np.nan for row in means])
    lines = [
        [
            name,
            *(
                f"**{number(error)}**" if error <= lowest else number(error)
                for error, lowest in zip(means[:, j], best, strict=True)
            ),
        ]
        for j, name in enumerate(board.methods)
        if not np.isnan(means[:, j]).all()
    ]
    return table(("method", *titles), lines)
