"""``greyfill sensitivity``: what happens if holes are not missing at random."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from greyfill.cli import options as o
from greyfill.cli.options import MethodChoice, OutputOptions, TableOptions
from greyfill.exceptions import InvalidParameterError
from greyfill.text import clean

if TYPE_CHECKING:
    from greyfill.evaluation import Sensitivity

PICTURES = (".png", ".svg", ".pdf")


@o.with_options
def sensitivity(
    file: o.File,
    column: Annotated[
        str,
        typer.Option(
            "--column", metavar="COLUMN", help="The column whose imputed cells are shifted.",
            rich_help_panel=o.COLUMNS,
        ),
    ],
    table: TableOptions,
    choice: MethodChoice,
    printing: OutputOptions,
    deltas: Annotated[
        str | None,
        typer.Option(
            "--deltas", metavar="NUMBERS", rich_help_panel=o.METHOD,
            help="Shifts, in standard deviations or log odds; write --deltas=-1,1,2.",
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            "--level", metavar="VALUE", rich_help_panel=o.METHOD,
            help="Of a categorical column: the value whose odds are moved. Else the second of two.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            "--within", metavar="CLASS", help="Shift only rows of this class.",
            rich_help_panel=o.METHOD,
        ),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold", metavar="NUMBER", rich_help_panel=o.METHOD,
            help="The estimate tips when it crosses this.",
        ),
    ] = 0.0,
    classifier: Annotated[
        str,
        typer.Option(
            "--classifier", metavar="NAME", rich_help_panel=o.METHOD,
            help="naive_bayes, logistic_regression, gradient_boosting, or none.",
        ),
    ] = "naive_bayes",
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot", metavar="PICTURE", help="A .png, .svg or .pdf file.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
) -> None:  # fmt: skip
    """Shift the imputed cells of a column, and see which conclusions tip.

    Imputation assumes that what is missing is like what is observed in similar rows. Here its
    fills are moved away from that, step by step. The estimate is the mean of the column, or the
    share of a level, in the second class minus that in the first; the accuracy is
    cross-validated without the labels of the test rows.
    """
    job = ShiftJob(column, deltas, level, within, threshold, classifier, plot)
    job.run(file, table, choice, printing)


@dataclass(frozen=True)
class ShiftJob:
    """Which fills are shifted, how far, and what is estimated from them."""

    column: str
    deltas: str | None = None
    level: str | None = None
    within: str | None = None
    threshold: float = 0.0
    classifier: str = "naive_bayes"
    plot: str | None = None

    def run(
        self, file: str, table: TableOptions, choice: MethodChoice, printing: OutputOptions
    ) -> None:
        """Shift and print."""
        from greyfill.cli.console import Console, print_json
        from greyfill.cli.sheet import check_fits, read_sheet

        choice.check()
        deltas = self._deltas()
        if self.plot is not None:
            self._check_plot(file, printing.force)
        console = Console.on_stderr(printing.silent)
        sheet = read_sheet(file, table, console)
        if self.column not in sheet.features:
            raise InvalidParameterError(
                f"{sheet.name} has no column {self.column!r} (--column). "
                + o.did_you_mean(self.column, sheet.features, "There are")
            )
        check_fits(choice, sheet)
        from greyfill.cli.fill_job import make_imputer, schema_of
        from greyfill.evaluation import sensitivity as shift

        with console.working(f"shifting the fills of {clean(self.column)}"):
            found = shift(
                make_imputer(choice, sheet),
                sheet.X,
                sheet.y,
                self.column,
                deltas,
                level=self.level,
                within=self.within,
                threshold=self.threshold,
                classifier=None if self.classifier == "none" else self.classifier,
                random_state=choice.seed,
            )
        console.show_notes(sheet.notes(schema_of(sheet).fields))
        if self.plot is not None:
            _draw(found, self.plot, printing.force)
            console.show_written(self.plot)
        if printing.json:
            print_json(numbers_of(found))
        else:
            show(found)

    def _deltas(self) -> list[float] | None:
        if self.deltas is None:
            return None
        try:
            return [float(delta) for delta in self.deltas.split(",")]
        except ValueError:
            raise InvalidParameterError(
                f"--deltas must be numbers with commas between them, such as --deltas=-1,1,2, "
                f"not {self.deltas!r}."
            ) from None

    def _check_plot(self, file: str, force: bool) -> None:
        from greyfill import files

        assert self.plot is not None
        if not self.plot.lower().endswith(PICTURES):
            raise InvalidParameterError(
                f"--plot {self.plot}: the name must end with one of {', '.join(PICTURES)}."
            )
        files.check_outputs([files.Output(self.plot)], [file], force=force)


def _draw(found: Sensitivity, name: str, force: bool) -> None:
    from greyfill import files

    picture = io.BytesIO()
    found.plot().figure.savefig(picture, format=Path(name).suffix[1:].lower(), dpi=150)
    files.put(name, [picture.getvalue()], force=force)


def numbers_of(found: Sensitivity) -> dict[str, object]:
    """The result as plain data."""
    return {
        "column": found.column,
        "level": found.level,
        "within": found.within,
        "estimate": found.target,
        "threshold": found.threshold,
        "imputed": found.n_imputed,
        "rows": found.n_rows,
        "tipping_point": found.tipping_point,
        "shifts": found.table.to_dicts(),
    }


def show(found: Sensitivity) -> None:
    """Print it for a person."""
    from greyfill.cli.console import grid, page

    title, rows, remarks = found.overview()
    console, table = page(), grid(*rows[0], words=0)
    for row in rows[1:]:
        table.add_row(*row)
    console.say(clean(title, most=500), "bold")
    console.show(table)
    for remark in remarks:
        console.say(clean(remark, most=500))
