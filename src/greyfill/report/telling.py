"""The cells of a column in a few words."""

from typing import Any

from greyfill.report import text
from greyfill.report.columns import OTHER


def tell(side: dict[str, Any], column: dict[str, Any]) -> str:
    """The observed or the imputed cells of a column in a few words.

    >>> tell({"count": 2, "mean": 1.5, "sd": 0.5}, {"kind": "numeric", "unit": "number"})
    '1.5 ± 0.5'
    >>> tell({"count": 4, "histogram": [1, 3]}, {"kind": "categorical", "bins": ["no", "yes"]})
    'yes (75.0 %)'
    """
    if side["count"] == 0:
        return "–"
    if column["kind"] == "numeric":
        mean, sd = text.value_in(side["mean"], column["unit"]), side["sd"]
        return mean if sd is None else f"{mean} ± {text.spread_in(sd, column['unit'])}"
    named = [
        n if label != OTHER else -1
        for n, label in zip(side["histogram"], column["bins"], strict=True)
    ]
    most = max(range(len(named)), key=named.__getitem__)
    label = text.isolated(text.shorten(column["bins"][most], 24))
    return f"{label} ({text.share(side['histogram'][most] / side['count'])})"
