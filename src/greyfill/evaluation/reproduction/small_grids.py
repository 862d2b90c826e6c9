"""The smaller tables of the pages: information, Figure 7 in numbers, time, misprints, settings."""

import polars as pl

from greyfill.evaluation.reproduction.figure_verdicts import start_ratios
from greyfill.evaluation.reproduction.figure_verdicts import toy_information as toy_cells
from greyfill.evaluation.reproduction.grids import Grid, grid, measured, percent
from greyfill.evaluation.reproduction.paper import (
    LABELS,
    METHODS,
    TOY_INFORMATION,
    PrintedTable,
    repeated_figures,
    tables,
)
from greyfill.evaluation.reproduction.results import Cell, Results
from greyfill.evaluation.reproduction.runs import CURVES, paper_settings
from greyfill.evaluation.reproduction.scenarios import scenario
from greyfill.evaluation.reproduction.verdicts import signed


def toy_information(results: Results) -> Grid:
    """Show the printed information of the cubes beside ours."""
    bits, weights = toy_cells(results, "bits"), toy_cells(results, "weight")
    rows = [
        [name, bits[name].show(3), weights[name].show(3), f"{printed:.2f}"]
        for name, printed in TOY_INFORMATION.items()
    ]
    noise = [name for name in bits if name not in TOY_INFORMATION]
    top = max(noise, key=lambda name: bits[name].mean)
    rows.append([f"largest of {len(noise)} noise columns ({top})", bits[top].show(3),
                 weights[top].show(3), "almost 0"])  # fmt: skip
    heads = [("", "column"), ("ours", "bits"), ("ours", "weight"), ("", "paper")]
    return grid("Information of the columns of the cubes, before holes are made", heads, rows)


def implied_shares(results: Results, table: PrintedTable) -> Grid:
    """Turn printed RMSE into the share of wrong categories that each reading implies.

    Over hidden cells RMSE² is that share; over all cells RMSE² = rate · share.
    """
    rows = []
    for rate in measured(results, table):
        printed = table.figures[rate]["cgknn"]
        ours = results.cell(table.scenario, rate, "cgknn", "wrong_share")
        rows.append(
            [
                percent(rate),
                f"{printed:.4f}",
                f"{100 * printed**2:.1f} %",
                f"{100 * printed**2 / rate:.1f} %",
                f"{100 * ours.mean:.1f} %" if ours else "not available",
            ]
        )
    heads = (
        ("", "rate"),
        ("", "printed RMSE of CGKNN"),
        ("wrong cells that it implies", "if over hidden cells"),
        ("wrong cells that it implies", "if over all cells"),
        ("", "wrong cells, ours"),
    )
    return grid("What the printed figures of Voting would mean", heads, rows)


def final_accuracies(results: Results) -> Grid:
    """Figure 7 in numbers: start fill, one pass, and the last pass."""
    rates = sorted(results.passes["rate"].unique())
    last = int(results.passes["passes"].max())  # type: ignore[arg-type]
    kinds = (("paper", 0), ("paper", 1), ("paper", last), ("honest", 1), ("honest", last))
    rows = [
        [f"{percent(rate)}, {LABELS[m]}", *(_accuracy(results, rate, m, *kind) for kind in kinds)]
        for rate in rates
        for m in CURVES
    ]
    names = ("start fill", "pass 1", f"pass {last}", "pass 1", f"pass {last}")
    heads = [(f"{p} protocol", n) for (p, _), n in zip(kinds, names, strict=True)]
    return grid("Accuracy (%) on Iris after some passes", [("", "rate, method"), *heads], rows)


def _accuracy(results: Results, rate: float, method: str, protocol: str, passes: int) -> str:
    rows = results.passes.filter(
        pl.col("rate").eq(rate),
        pl.col("method").eq(method),
        pl.col("protocol").eq(protocol),
        pl.col("passes").eq(passes),
    )
    cell = Cell.of(rows["accuracy"])
    return cell.show(2) if cell else "not available"


def start_seconds(results: Results) -> Grid:
    """Milliseconds for the weights of both methods, and their ratio."""
    medians = results.timings.group_by("scenario", "method", "targets", maintain_order=True).agg(
        pl.col("seconds").median()
    )
    found = {(s, m): (t, 1000 * seconds) for s, m, t, seconds in medians.iter_rows()}
    rows = [
        [
            scenario(name).title,
            str(found[name, "cgknn"][0]),
            f"{found[name, 'cgknn'][1]:.1f}",
            f"{found[name, 'fwgknn'][1]:.1f}",
            f"{ratio:.1f}",
        ]
        for name, ratio in start_ratios(results).items()
    ]
    heads = [("", "table"), ("", "columns with holes"), ("milliseconds", "CGKNN"),
             ("milliseconds", "FWGKNN"), ("", "FWGKNN ÷ CGKNN")]  # fmt: skip
    return grid("Time to compute the column weights", heads, rows)


def oddities() -> Grid:
    """List printed figures that cannot all be right: bold but not best, or printed twice."""
    rows = []
    for table in tables().values():
        for rate, bold in table.bold.items():
            best, row = table.best(rate), table.figures[rate]
            if bold != best:
                rows.append(
                    [
                        f"{table.short}, {percent(rate)}",
                        f"{LABELS[bold]} is bold with {row[bold]:.4f}, but {LABELS[best]} has "
                        f"{row[best]:.4f} ({signed(row[best] - row[bold], 4)})",
                    ]
                )
    for (figure, rate, method), places in repeated_figures().items():
        where = f"{' and '.join(places)}, {percent(rate)}"
        rows.append([where, f"{LABELS[method]} has the same figure in both, {figure:.4f}"])
    heads = (("", "where"), ("", "what"))
    return grid("Figures that stand out in the paper's own tables", heads, rows, prose=True)


def settings() -> Grid:
    """Tell how each method of the paper was set; parameters that are not named do not matter."""
    telling = ("n_neighbors", "max_iter", "n_imputations", "n_iter", "combine", "n_estimators",
               "labels")  # fmt: skip
    rows = []
    for method, label in METHODS.items():
        try:
            parameters = paper_settings(method).get_params(deep=False)
        except AttributeError:  # a method that this version lacks
            parameters = {}
        text = ", ".join(f"{key}={parameters[key]!r}" for key in telling if key in parameters)
        rows.append([label, text or "not available"])
    heads = (("", "method"), ("", "parameters"))
    return grid("Settings of the methods", heads, rows, prose=True)
