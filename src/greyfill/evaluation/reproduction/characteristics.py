"""Table 5, counted from the bundled tables beside the printed rows."""

from greyfill.evaluation.reproduction.facts import Size, size
from greyfill.evaluation.reproduction.grids import Entry, Grid, grid
from greyfill.evaluation.reproduction.paper import TABLE_5, Characteristics
from greyfill.evaluation.reproduction.scenarios import DROPPED_VOTE, scenario

COUNTED = {
    "iris": (("iris", ()),),
    "voting": (("votes", ()), ("votes", (DROPPED_VOTE,))),
    "hepatitis": (("hepatitis", ()),),
}
HEADS = (
    ("", "table"),
    ("", "instances"),
    ("", "features"),
    ("", "classes"),
    ("", "type"),
    ("missing", "cells"),
    ("missing", "% of feature cells"),
    ("missing", "% with the class column"),
    ("missing", "% printed"),
    ("", "verdict"),
)


def characteristics() -> Grid:
    """Build Table 5: a printed row, then a row for each way to count the table."""
    rows: list[list[Entry]] = []
    for name, printed in TABLE_5.items():
        rows.append(_printed_row(scenario(name).title, printed))
        for bundled, dropped in COUNTED[name]:
            found = size(bundled, dropped)
            title = f"{scenario(name).title}, counted{', one vote less' if dropped else ''}"
            rows.append(_counted_row(title, found, printed))
    return grid("Table 5: characteristics of the UCI tables", HEADS, rows)


def agreement(found: Size, printed: Characteristics) -> str:
    """Tell in which way of counting a table meets its printed row.

    >>> agreement(size("hepatitis"), TABLE_5["hepatitis"])
    'agrees if the class column counts'
    >>> agreement(size("votes"), TABLE_5["voting"])
    'differs'
    """
    same = (found.instances, found.features, found.classes, found.feature_type) == (
        printed.instances,
        printed.features,
        printed.classes,
        printed.feature_type,
    )
    if same and round(found.missing, 2) == printed.missing:
        return "agrees"
    if same and round(found.missing_with_class, 2) == printed.missing:
        return "agrees if the class column counts"
    return "differs"


def _printed_row(title: str, printed: Characteristics) -> list[Entry]:
    sizes = (printed.instances, printed.features, printed.classes, printed.feature_type)
    blanks = ("", "", "", f"{printed.missing:.2f}", "")
    return [Entry(str(text)) for text in (f"{title}, paper", *sizes, *blanks)]


def _counted_row(title: str, found: Size, printed: Characteristics) -> list[Entry]:
    verdict = agreement(found, printed)
    cells = (title, found.instances, found.features, found.classes, found.feature_type)
    shares = (found.missing_cells, f"{found.missing:.2f}", f"{found.missing_with_class:.2f}", "")
    tone = "bad" if verdict == "differs" else "good"
    return [*(Entry(str(text)) for text in (*cells, *shares)), Entry(verdict, tone=tone)]
