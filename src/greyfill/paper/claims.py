"""The claims of the paper, as data."""

from functools import partial

from greyfill.paper import verdicts as rule
from greyfill.paper.printed import METHODS, NO_IMPUTATION, TABLES, PrintedTable
from greyfill.paper.runs import SCENARIOS
from greyfill.paper.verdicts import Claim, Setting, percent

SIMULATED = ("table1", "table3")
UCI = ("iris", "voting", "hepatitis")
MOST = 0.501  # of the settings: more than half
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
    low, high = _settings(TABLES["table1"])
    return {
        "overall": _overall(),
        "cubes": (
            *_rmse_claims(TABLES["table1"]),
            *_accuracy_claims(TABLES["table2"]),
            Claim(
                "Table 1, text",
                "The advantage of CGKNN is clearer for higher percentages of missing values",
                partial(rule.growing_advantage, low, high),
            ),
        ),
        "gaussian": (*_rmse_claims(TABLES["table3"]), *_accuracy_claims(TABLES["table4"])),
        **{name: _rmse_claims(TABLES[name]) for name in UCI},
        "information": (
            Claim(
                "Section 3",
                "MI of the cubes: 0.40 for x1, 0.28 for x2, 0.21 for x3",
                rule.toy_bits,
            ),
            Claim(
                "Section 3",
                "x1, x2, x3 rank in this order by MI; noise has almost none",
                rule.toy_order,
            ),
        ),
        "passes": _figure_7(),
        "start": (
            Claim(
                "Section 1",
                "CGKNN takes much less time to initialize than FWGKNN",
                rule.starts_faster,
            ),
        ),
    }


def _overall() -> tuple[Claim, ...]:
    """Sentences about several tables at once: who takes which place, where, and how often."""
    first = "CGKNN outperforms all the other algorithms in simulated settings"
    most = "In almost all cases CGKNN performs better than the others (read as: in three of four)"
    worst = "MICE performs the worst in most cases"
    next_worst = "MissForest follows MICE as the worst in most cases (read as: second worst)"
    return (
        _often("Section 5", first, "cgknn", 0, SIMULATED, 1.0),
        _often("Section 4", most, "cgknn", 0, UCI, 0.75),
        _often("Section 4", worst, "mice", -1, UCI, MOST),
        _often("Section 4", next_worst, "missforest", -2, UCI, MOST),
    )


def _often(
    source: str, text: str, method: str, place: int, names: tuple[str, ...], share: float
) -> Claim:
    settings = tuple(setting for name in names for setting in _settings(TABLES[name]))
    rows = [row for name in names for row in TABLES[name].figures.values()]
    printed = sum(sorted(METHODS, key=row.__getitem__)[place] == method for row in rows)
    return Claim(source, text, partial(rule.often, method, place, settings, printed, share))


def _rmse_claims(table: PrintedTable) -> tuple[Claim, ...]:
    """CGKNN is lowest (where the paper prints it in bold), and at or below its printed figure."""
    found: list[Claim] = []
    second = SCENARIOS[table.scenario].second
    for setting in _settings(table):
        rate, printed = setting.rate, table.figures[setting.rate]["cgknn"]
        where = f"{table.short}, {percent(rate)}"
        if table.bold[rate] == "cgknn":
            found.append(Claim(where, "CGKNN has the lowest RMSE", partial(rule.best, setting)))
        text = "CGKNN reaches its printed RMSE"
        found.append(Claim(where, text, partial(rule.at_most, setting, printed)))
        if second is not None:
            other = Setting(table.scenario, rate, second)
            text = f"{text}, read as {CONVENTIONS[second]}"
            found.append(Claim(where, text, partial(rule.at_most, other, printed)))
    return tuple(found)


def _settings(table: PrintedTable) -> list[Setting]:
    convention = SCENARIOS[table.scenario].convention
    return [Setting(table.scenario, rate, convention) for rate in table.rates]


def _accuracy_claims(table: PrintedTable) -> tuple[Claim, ...]:
    """CGKNN is most accurate, and better than no imputation, under both protocols."""
    found: list[Claim] = []
    for rate in table.rates:
        for protocol, words in PROTOCOLS.items():
            setting = Setting(table.scenario, rate, f"accuracy_{protocol}", lower_is_better=False)
            where = f"{table.short}, {percent(rate)}"
            rules = {
                "has the highest accuracy": partial(rule.best, setting),
                "improves on no imputation": partial(rule.beats, setting, NO_IMPUTATION),
            }
            found += [Claim(where, f"CGKNN {text} ({words})", r) for text, r in rules.items()]
    return tuple(found)


def _figure_7() -> tuple[Claim, ...]:
    found = [
        Claim(
            f"Figure 7, {percent(rate)}",
            f"CGKNN outperforms FWGKNN and GKNN in accuracy on Iris ({words})",
            partial(rule.final_best, rate, protocol),
        )
        for rate in TABLES["iris"].rates
        for protocol, words in PROTOCOLS.items()
    ]
    text = (
        "CGKNN's accuracy converges quite fast (read as: from pass 3 at the latest, the mean stays "
        "within 0.5 points of its last value)"
    )
    return (*found, Claim("Figure 7", text, rule.settles_fast))
