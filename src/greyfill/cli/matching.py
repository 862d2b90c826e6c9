"""What ``compare`` does: read, compare, show."""

import os
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from greyfill.cli.jobs import read_sheet
from greyfill.cli.names import did_you_mean
from greyfill.cli.reading import Wishes
from greyfill.cli.showing import grid
from greyfill.cli.voice import Console, page, print_json
from greyfill.evaluation import METHODS, Comparison, compare
from greyfill.evaluation.compare import DEFAULT_METHODS, file_of
from greyfill.evaluation.comparison import overview
from greyfill.exceptions import InvalidParameterError
from greyfill.files.atomic import Output, check_distinct
from greyfill.text import clean

HEADS = {
    "accuracy_naive_bayes_honest": "accuracy, honest",
    "accuracy_naive_bayes_paper": "accuracy, paper",
}


@dataclass(frozen=True)
class CompareJob:
    """The methods to compare, and how."""

    methods: tuple[str, ...] = ()
    rates: str = "0.1,0.2"
    mechanism: str = "mcar"
    repeats: int = 3
    jobs: int = 1
    seed: int = 0
    cache: str | None = None

    def run(self, file: str, wishes: Wishes, *, json: bool, quiet: bool) -> bool:
        """Compare and print; whether a method failed."""
        if self.jobs == 0:
            raise InvalidParameterError("--jobs 0 cannot work; give a number, or -1 for all cores.")
        names, rates = self._names(), self._rates()
        if self.cache is not None:
            check_distinct([Output(os.fspath(file_of(self.cache)))], [file])
        voice = Console(quiet or json)
        sheet = read_sheet(file, wishes, voice)
        result = compare(
            sheet.X,
            sheet.y,
            methods=names,
            rates=rates,
            mechanism=self.mechanism,
            repeats=self.repeats,
            n_jobs=self.jobs,
            random_state=self.seed,
            cache=self.cache,
            progress=voice.in_terminal,
            name=sheet.name,
            **sheet.kinds,
        )
        for note in sheet.source.notes:
            voice.note(clean(note, most=500))
        if json:
            print_json(_numbers(result))
        else:
            _show(result)
        return len(result.errors) > 0

    def _names(self) -> tuple[str, ...]:
        """The methods, from options that may hold several with commas."""
        names = tuple(n.strip() for given in self.methods for n in given.split(",") if n.strip())
        for name in names:
            if name not in METHODS:
                raise InvalidParameterError(
                    f"No method is called {name!r} (--methods). "
                    + did_you_mean(name, list(METHODS), "There are", most=99).replace("'", "")
                )
        return tuple(dict.fromkeys(names)) or DEFAULT_METHODS

    def _rates(self) -> tuple[float, ...]:
        try:
            rates = tuple(float(rate) for rate in self.rates.split(","))
        except ValueError:
            rates = ()
        if not rates or not all(0 < rate < 1 for rate in rates):
            raise InvalidParameterError(
                f"--rates must be shares between 0 and 1, such as 0.1,0.2, not {self.rates!r}."
            )
        return rates


def _numbers(result: Comparison) -> dict[str, Any]:
    return {"summary": result.summary().to_dicts(), "errors": result.errors.to_dicts()}


def _show(result: Comparison) -> None:
    title, rows, remarks = overview(result.results)
    console, table = page(), grid(*(HEADS.get(head, head) for head in rows[0]))
    for column in table.columns:
        column.no_wrap = False
    for row in rows[1:]:
        table.add_row(Text(row[0], "cyan"), *row[1:])
    console.print(Text(title, "bold"))
    console.print(table)
    for remark in remarks:
        console.print(Text(clean(remark, most=500), "yellow"), soft_wrap=True)
