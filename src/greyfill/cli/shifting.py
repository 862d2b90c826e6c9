"""What ``sensitivity`` does: read, shift, show."""

import io
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from greyfill import files
from greyfill.cli.choosing import MethodChoice
from greyfill.cli.filling import schema_of
from greyfill.cli.jobs import read_sheet
from greyfill.cli.names import did_you_mean
from greyfill.cli.noting import doubts, notes_on
from greyfill.cli.reading import Wishes
from greyfill.cli.showing import grid, tell_written
from greyfill.cli.voice import Console, page, print_json
from greyfill.evaluation import Sensitivity, sensitivity
from greyfill.exceptions import InvalidParameterError
from greyfill.text import clean

PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Question:
    """Which fills are shifted, how far, and what is asked about them."""

    column: str
    deltas: str | None = None
    level: str | None = None
    within: str | None = None
    threshold: float = 0.0
    classifier: str = "naive_bayes"
    plot: str | None = None
    force: bool = False

    def run(
        self, file: str, wishes: Wishes, choice: MethodChoice, *, json: bool, quiet: bool
    ) -> None:
        """Shift and print."""
        deltas = self._deltas()
        if self.plot is not None:
            self._check_plot(file)
        voice = Console(quiet or json)
        sheet = read_sheet(file, wishes, voice)
        if self.column not in sheet.features:
            raise InvalidParameterError(
                f"{sheet.name} has no column {self.column!r} (--column). "
                + did_you_mean(self.column, list(sheet.features), "There are")
            )
        with voice.working(f"shifting the fills of {clean(self.column)}"):
            found = sensitivity(
                choice.make(sheet),
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
        notes = [*sheet.source.notes, *notes_on(sheet), *doubts(sheet, schema_of(sheet).fields)]
        for note in notes:
            voice.note(clean(note, most=500))
        if self.plot is not None:
            self._draw(found, self.plot)
            tell_written(voice, self.plot)
        if json:
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

    def _draw(self, found: Sensitivity, name: str) -> None:
        picture = io.BytesIO()
        found.plot().figure.savefig(picture, format=Path(name).suffix[1:].lower(), dpi=150)
        files.put(name, [picture.getvalue()], force=self.force)

    def _check_plot(self, file: str) -> None:
        assert self.plot is not None
        if not self.plot.lower().endswith(PICTURES):
            raise InvalidParameterError(
                f"--plot {self.plot}: the name must end with one of {', '.join(PICTURES)}."
            )
        files.check_outputs([files.Output(self.plot)], [file], force=self.force)


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
    title, rows, remarks = found.overview()
    console, table = page(), grid(*rows[0], words=0)
    for row in rows[1:]:
        table.add_row(*row)
    console.print(Text(clean(title, most=500), "bold"), soft_wrap=True)
    console.print(table)
    for remark in remarks:
        console.print(Text(clean(remark, most=500)), soft_wrap=True)
