"""The claims of the paper, as data."""

from greyfill.paper.printed import METHODS, NO_IMPUTATION, PrintedTable, tables
from greyfill.paper.scenarios import scenario
from greyfill.paper.verdicts import (
    AtMost,
    Beats,
    Best,
    Claim,
    FinalBest,
    GrowingAdvantage,
    Often,
    Setting,
    SettlesFast,
    StartsFaster,
    ToyInformation,
    ToyOrder,
)

UCI = ("iris", "voting", "hepatitis")
PROTOCOLS = {
    "paper": "paper's protocol",
    "honest": "honest protocol",
}
CONVENTIONS = {
    "rmse": "root mean square error over hidden cells in original units",
    "nrmse": "root mean square error over hidden cells on the [0, 1] scale (NRMSE)",
    "nrmse_all_cells": "the same error divided by all cells of the table",
}


def claims() -> dict[str, tuple[Claim, ...]]:
    """List every claim that a run can decide, by the section of the page that shows it.

    >>> [claim.source for claim in claims()["cubes"]][:2]
    ['Table 1, 10 %', 'Table 1, 10 %']
    """
    return {
        "overall": _overall(),
        "cubes": (*_simulation("table1", "table2"), _growing(tables()["table1"])),
        "gaussian": _simulation("table3", "table4"),
        **{name: _rmse_claims(tables()[name]) for name in UCI},
        "information": (
            ToyInformation("Section 3", "MI of the cubes: 0.40 for x1, 0.28 for x2, 0.21 for x3"),
            ToyOrder("Section 3", "x1, x2, x3 rank in this order by MI; noise has almost none"),
        ),
        "passes": _figure_7(),
        "start": (
            StartsFaster("Section 1", "CGKNN takes much less time to initialize than FWGKNN"),
        ),
    }


def _growing(table: PrintedTable) -> Claim:
    low, high = _settings(table)
    text = "The advantage of CGKNN is clearer for higher percentages of missing values"
    return GrowingAdvantage("Table 1, text", text, (low, high))


def _simulation(errors: str, accuracies: str) -> tuple[Claim, ...]:
    return (*_rmse_claims(tables()[errors]), *_accuracy_claims(tables()[accuracies]))


def _settings(table: PrintedTable) -> list[Setting]:
    convention = scenario(table.scenario).convention
    return [Setting(table.scenario, rate, convention) for rate in table.rates]


def _source(table: PrintedTable, rate: float) -> str:
    return f"{table.short}, {100 * rate:.0f} %"


def _rmse_claims(table: PrintedTable) -> tuple[Claim, ...]:
    """CGKNN is lowest (where the paper prints it in bold), and at or below its printed figure."""
    found: list[Claim] = []
    for setting in _settings(table):
        rate, printed = setting.rate, table.figures[setting.rate]["cgknn"]
        where = _source(table, rate)
        if table.bold[rate] == "cgknn":
            found.append(Best(where, "CGKNN has the lowest RMSE", setting))
        found.append(AtMost(where, "CGKNN reaches its printed RMSE", setting, printed))
        second = scenario(table.scenario).second
        if second is not None:
            other = Setting(table.scenario, rate, second)
            text = f"CGKNN reaches its printed RMSE, read as {CONVENTIONS[second]}"
            found.append(AtMost(where, text, other, printed))
    return tuple(found)


def _accuracy_claims(table: PrintedTable) -> tuple[Claim, ...]:
    """CGKNN is most accurate, and better than no imputation, under both protocols."""
    found: list[Claim] = []
    for rate in table.rates:
        for protocol, words in PROTOCOLS.items():
            setting = Setting(table.scenario, rate, f"accuracy_{protocol}", lower_is_better=False)
            where = _source(table, rate)
            found += [
                Best(where, f"CGKNN has the highest accuracy ({words})", setting),
                Beats(where, f"CGKNN improves on no imputation ({words})", setting, NO_IMPUTATION),
            ]
    return tuple(found)


def _overall() -> tuple[Claim, ...]:
    """Sentences about several tables at once."""
    simulated = tuple(s for name in ("table1", "table3") for s in _settings(tables()[name]))
    uci = tuple(s for name in UCI for s in _settings(tables()[name]))
    text = (
        "CGKNN outperforms all the other algorithms in simulated settings",
        "In almost all cases CGKNN performs better than the others (read as: in three of four)",
        "MICE performs the worst in most cases",
        "MissForest follows MICE as the worst in most cases (read as: second worst)",
    )
    count, half = _printed_count, 0.501
    toys = count(("table1", "table3"), "cgknn", 1)
    return (
        Often("Section 5", text[0], simulated, toys, "cgknn", 1, share=1.0),
        Often("Section 4", text[1], uci, count(UCI, "cgknn", 1), "cgknn", 1, share=0.75),
        Often("Section 4", text[2], uci, count(UCI, "mice", -1), "mice", -1, share=half),
        Often("Section 4", text[3], uci, count(UCI, "missforest", -2), "missforest", -2, half),
    )


def _printed_count(names: tuple[str, ...], method: str, place: int) -> int:
    """In how many columns of printed tables the method takes the place."""
    at = place - 1 if place > 0 else place
    rows = [row for name in names for row in tables()[name].figures.values()]
    return sum(sorted(METHODS, key=row.__getitem__)[at] == method for row in rows)


def _figure_7() -> tuple[Claim, ...]:
    found: list[Claim] = [
        FinalBest(
            f"Figure 7, {100 * rate:.0f} %",
            f"CGKNN outperforms FWGKNN and GKNN in accuracy on Iris ({PROTOCOLS[protocol]})",
            rate,
            protocol,
        )
        for rate in tables()["iris"].rates
        for protocol in PROTOCOLS
    ]
    text = (
        "CGKNN's accuracy converges quite fast (read as: from pass 3 at the latest, the mean stays "
        "within 0.5 points of its last value)"
    )
    return (*found, SettlesFast("Figure 7", text))
