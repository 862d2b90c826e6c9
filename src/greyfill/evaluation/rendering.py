"""A comparison at a glance, as text and as HTML."""

from html import escape

import polars as pl

SHOWN_BY_CASE = ("nrmse",)
HIDDEN = ("rmse", "nrmse_all_cells", "wrong_share", "wasserstein", "memory_mib")
NOTHING = "–"

Rows = list[list[str]]


def overview(results: pl.DataFrame) -> tuple[str, Rows, list[str]]:
    """A title, a table of mean ± sd with its head, and remarks on failures.

    The NRMSE has a column for each data set, mechanism and rate; accuracies and seconds are
    averaged over all runs. The best NRMSE comes first.
    """
    cases = results.select("data", "mechanism", "rate").unique(maintain_order=True)
    methods = results["method"].unique(maintain_order=True)
    seeds = results["seed"].n_unique()
    title = f"{len(methods)} methods × {len(cases)} cases × {seeds} seeds; mean ± sd"
    columns: dict[str, pl.DataFrame] = {}
    for metric in results["metric"].unique(maintain_order=True):
        chosen = results.filter(pl.col("metric") == metric)
        if metric in SHOWN_BY_CASE:
            for case in cases.iter_rows(named=True):
                matches = [pl.col(name) == value for name, value in case.items()]
                columns[f"{metric} {_label(case, cases)}"] = chosen.filter(matches)
        elif metric not in HIDDEN and not metric.startswith("f1_"):
            columns[metric] = chosen
    order = _by_error(results, methods.to_list())
    rows = [[method, *(_cell(c, method) for c in columns.values())] for method in order]
    return title, [["method", *columns], *rows], _remarks(results)


def as_text(title: str, rows: Rows, remarks: list[str]) -> str:
    """Columns padded to equal width.

    >>> print(as_text("two", [["method", "nrmse"], ["mean", "0.2"]], []))
    two
    method  nrmse
    mean    0.2
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([title, *(line.rstrip() for line in padded), *remarks])


def as_html(title: str, rows: Rows, remarks: list[str]) -> str:
    """A plain HTML table, all text escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    notes = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}"
    )


def _label(case: dict[str, object], cases: pl.DataFrame) -> str:
    """What tells a case from the others; always its rate."""
    parts = [str(case[name]) for name in ("data", "mechanism") if cases[name].n_unique() > 1]
    return " ".join([*parts, f"{case['rate']:.0%}"])


def _by_error(results: pl.DataFrame, methods: list[str]) -> list[str]:
    errors = (
        results.filter(pl.col("metric") == "nrmse").group_by("method").agg(pl.col("value").mean())
    )
    means = dict(errors.iter_rows())
    return sorted(methods, key=lambda m: float("inf") if means.get(m) is None else means[m])


def _cell(chosen: pl.DataFrame, method: str) -> str:
    rows = chosen.filter(pl.col("method") == method)
    values = rows["value"].drop_nulls()
    if values.is_empty():
        return "failed" if rows["error"].count() else NOTHING
    mean, sd = values.to_numpy().mean(), values.std()
    return f"{mean:.4f}" if sd is None else f"{mean:.4f} ± {sd:.4f}"


def _remarks(results: pl.DataFrame) -> list[str]:
    failed = results.filter(pl.col("error").is_not_null())
    texts = failed.select("method", "error").unique(maintain_order=True)
    return [f"{method} failed: {error}" for method, error in texts.iter_rows()]
