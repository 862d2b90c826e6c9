"""The claims of the paper, and those that we add to them, as data."""

from functools import partial

from greyfill.paper import verdicts as rule
from greyfill.paper.printed import METHODS, NO_IMPUTATION, TABLES, PrintedTable
from greyfill.paper.runs import CONVENTIONS, ReproductionPlan
from greyfill.paper.verdicts import Claim, Setting, percent

SIMULATED = ("table1", "table3")
UCI = ("iris", "voting", "hepatitis")
MOST = 0.501  # of the settings: more than half
PROTOCOLS = {
    "paper": "paper's protocol",
    "honest": "honest protocol",
}


def claims(plan: ReproductionPlan) -> dict[str, tuple[Claim, ...]]:
    """List every claim that a run can decide, by the section of the page that shows it.

    The paper makes 43; those on the honest protocol, and on a second reading of the RMSE, are ours.

    >>> found = [claim for part in claims(ReproductionPlan.full()).values() for claim in part]
    >>> len(found), sum(claim.is_ours for claim in found)
    (60, 17)
    """
    low, high = _settings(TABLES["table1"], plan)
    return {
        "overall": _overall(plan),
        "cubes": (
            *rmse_claims(TABLES["table1"], plan),
            *_accuracy_claims(TABLES["table2"]),
            Claim(
                "Table 1, text",
                "The advantage of CGKNN is clearer for higher percentages of missing values",
                partial(rule.growing_advantage, low, high),
            ),
        ),
        "gaussian": (*rmse_claims(TABLES["table3"], plan), *_accuracy_claims(TABLES["table4"])),
        **{name: rmse_claims(TABLES[name], plan) for name in UCI},
        "information": (
            Claim(
                "Section 3",
                "MI of the cubes: 0.40 for x1, 0.28 for x2, 0.21 for x3",
                rule.toy_bits,
            ),
            Claim(
                "Section 3",
                "x1, x2, x3 rank in this order by MI; noise has almost none (read as: below "
                f"{rule.NOISE_BITS} bits)",
                rule.toy_order,
            ),
        ),
        "passes": _figure_7(),
        "start": (
            Claim(
                "Section 1",
                "CGKNN takes much less time to initialize than FWGKNN (read as: at most half)",
                rule.starts_faster,
            ),
        ),
    }


def _overall(plan: ReproductionPlan) -> tuple[Claim, ...]:
    """Sentences about several tables at once: who takes which place, where, and how often."""
    first = "CGKNN outperforms all the other algorithms in simulated settings"
    most = "In almost all cases CGKNN performs better than the others (read as: in three of four)"
    worst = "MICE performs the worst in most cases"
    next_worst = "MissForest follows MICE as the worst in most cases (read as: second worst)"
    return (
        _often("Section 5", first, "cgknn", 0, SIMULATED, 1.0, plan),
        _often("Section 4", most, "cgknn", 0, UCI, 0.75, plan),
        _often("Section 4", worst, "mice", -1, UCI, MOST, plan),
        _often("Section 4", next_worst, "missforest", -2, UCI, MOST, plan),
    )


def _often(
    source: str,
    text: str,
    method: str,
    place: int,
    names: tuple[str, ...],
    share: float,
    plan: ReproductionPlan,
) -> Claim:
    settings = tuple(setting for name in names for setting in _settings(TABLES[name], plan))
    rows = [row for name in names for row in TABLES[name].figures.values()]
    printed = sum(sorted(METHODS, key=row.__getitem__)[place] == method for row in rows)
    return Claim(source, text, partial(rule.often, method, place, settings, printed, share))


def rmse_claims(table: PrintedTable, plan: ReproductionPlan) -> tuple[Claim, ...]:
    """CGKNN is lowest (where the paper prints it in bold), and its printed figure is met."""
    found: list[Claim] = []
    first, *others = plan.conventions(table.scenario)
    for rate in table.rates:
        printed = table.figures[rate]["cgknn"]
        where, text = f"{table.short}, {percent(rate)}", f"CGKNN's RMSE is {printed:.4f}"
        setting = Setting(table.scenario, rate, first)
        if table.bold[rate] == "cgknn":
            found.append(Claim(where, "CGKNN has the lowest RMSE", partial(rule.best, setting)))
        found.append(Claim(where, text, partial(rule.printed_figure, setting, printed)))
        for metric in others:
            other = partial(rule.printed_figure, Setting(table.scenario, rate, metric), printed)
            found.append(Claim(where, f"{text}, read as {CONVENTIONS[metric]}", other, True))
    return tuple(found)


def _settings(table: PrintedTable, plan: ReproductionPlan) -> list[Setting]:
    convention = plan.conventions(table.scenario)[0]
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
            found += [
                Claim(where, f"CGKNN {text} ({words})", decide, protocol == "honest")
                for text, decide in rules.items()
            ]
    return tuple(found)


def _figure_7() -> tuple[Claim, ...]:
    found = [
        Claim(
            f"Figure 7, {percent(rate)}",
            f"CGKNN outperforms FWGKNN and GKNN in accuracy on Iris ({words})",
            partial(rule.final_best, rate, protocol),
            protocol == "honest",
        )
        for rate in TABLES["iris"].rates
        for protocol, words in PROTOCOLS.items()
    ]
    text = (
        f"CGKNN's accuracy converges quite fast (read as: from pass {rule.SETTLED_PASS} at the "
        f"latest, the mean stays within {rule.SETTLED_POINTS} points of its last value)"
    )
    return (*found, Claim("Figure 7", text, rule.settles_fast))
