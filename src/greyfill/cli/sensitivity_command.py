"""``greyfill sensitivity``: what happens if holes are not missing at random."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions
from greyfill.exceptions import InvalidParameterError
from greyfill.jobs.options import (
    COLUMNS,
    METHOD,
    OUTPUT,
    MethodChoice,
    TableOptions,
    did_you_mean,
    option,
)
from greyfill.text import clean

if TYPE_CHECKING:
    from greyfill.evaluation import Sensitivity

PICTURES = (".png", ".svg", ".pdf")


DELTAS = "Shifts, in standard deviations or log odds; write --deltas=-1,1,2."
LEVEL = "Of a categorical column: the value whose odds are moved. Else the second of two."
DRAWS = "Draws to pool, of a method that draws (grey, mice); 1 for a single fill."
CLASSIFIER = "naive_bayes, logistic_regression, gradient_boosting, or none."


@dataclass(frozen=True)
class ShiftJob:
    """Which fills are shifted, how far, and what is estimated from them."""

    file: o.File
    column: Annotated[
        str,
        option(COLUMNS, "COLUMN", "The column whose imputed cells are shifted.", "--column"),
    ]
    deltas: Annotated[str | None, option(METHOD, "NUMBERS", DELTAS, "--deltas")] = None
    level: Annotated[str | None, option(METHOD, "VALUE", LEVEL, "--level")] = None
    within: Annotated[
        str | None, option(METHOD, "CLASS", "Shift only rows of this class.", "--within")
    ] = None
    threshold: Annotated[
        float, option(METHOD, "NUMBER", "The estimate tips when it crosses this.", "--threshold")
    ] = 0.0
    draws: Annotated[int, option(METHOD, "NUMBER", DRAWS, "--draws")] = 20
    classifier: Annotated[str, option(METHOD, "NAME", CLASSIFIER, "--classifier")] = "naive_bayes"
    plot: Annotated[
        str | None, option(OUTPUT, "PICTURE", "A .png, .svg or .pdf file.", "--plot")
    ] = None

    def run(self, table: TableOptions, choice: MethodChoice, printing: OutputOptions) -> None:
        """Shift and print."""
        choice.check()
        from greyfill.cli.console import print_overview
        from greyfill.jobs.sheet import notes_on_used, read_sheet

        deltas = self._deltas()
        self._check(printing.force)
        console = printing.console()
        sheet = read_sheet(self.file, table, console, choice)
        if self.column not in sheet.features:
            raise InvalidParameterError(
                f"{sheet.name} has no column {self.column!r} (--column). "
                + did_you_mean(self.column, sheet.features, "There are")
            )
        from greyfill.column_notes import collected_warnings
        from greyfill.evaluation import sensitivity as shift
        from greyfill.jobs.fill_job import FillJob, make_imputer, schema_of

        with (
            console.working(f"shifting the fills of {clean(self.column)}"),
            collected_warnings() as messages,
        ):
            found = shift(
                make_imputer(choice, sheet),
                sheet.X,
                sheet.y,
                self.column,
                deltas,
                level=self.level,
                within=self.within,
                threshold=self.threshold,
                n_draws=self.draws,
                classifier=None if self.classifier == "none" else self.classifier,
                random_state=choice.seed,
            )
        messages += notes_on_used(FillJob(sheet, choice).left_alone)
        console.show_notes([*sheet.notes(schema_of(sheet).fields), *messages])
        if self.plot is not None:
            self._draw(found, self.plot, printing.force)
            console.show_written(self.plot)
        printing.print_json(numbers_of(found, messages))
        if not printing.json:
            print_overview(*found.overview())

    @staticmethod
    def _draw(found: Sensitivity, name: str, force: bool) -> None:
        from greyfill import files

        picture = io.BytesIO()
        found.plot().figure.savefig(picture, format=Path(name).suffix[1:].lower(), dpi=150)
        files.put(name, [picture.getvalue()], force=force)

    def _check(self, force: bool) -> None:
        """Refuse what could not be done or written, before any work is done for it."""
        from greyfill import files

        if self.draws < 1:
            raise InvalidParameterError(f"--draws must be 1 or more, not {self.draws}.")
        if self.plot is not None:
            if not self.plot.lower().endswith(PICTURES):
                raise InvalidParameterError(
                    f"--plot {self.plot}: the name must end with one of {', '.join(PICTURES)}."
                )
            files.check_outputs([files.Output(self.plot)], [self.file], force=force)

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


@o.with_options
def sensitivity(
    job: ShiftJob, table: TableOptions, choice: MethodChoice, printing: OutputOptions
) -> None:
    """Shift the imputed cells of a column, and see which conclusions tip.

    Imputation assumes that what is missing is like what is observed in similar rows. Here its
    fills are moved away from that, step by step. The estimate is the mean of the column, or the
    share of a level, in the second class minus that in the first; of a continuous target, its
    slope on the column. Its interval is pooled over several draws; the accuracy is cross-validated
    without the labels of the test rows.
    """
    job.run(table, choice, printing)


def numbers_of(found: Sensitivity, messages: Sequence[str] = ()) -> dict[str, object]:
    """The result as plain data."""
    return {
        "column": found.column,
        "level": found.level,
        "within": found.within,
        "estimate": found.target,
        "threshold": found.threshold,
        "imputed": found.n_imputed,
        "rows": found.n_rows,
        "draws": found.n_draws,
        "confidence": found.confidence,
        "tipping_point": found.tipping_point,
        "interval_tipping_point": found.interval_tipping_point,
        "notes": [*found.notes, *messages],
        "shifts": found.table.to_dicts(),
    }
