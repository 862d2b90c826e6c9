"""What ``apply`` does, as a list of named steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from greyfill import files, persistence
from greyfill.cli import showing
from greyfill.cli.choosing import LARGE
from greyfill.cli.filling import Numbers, fill_new
from greyfill.cli.jobs import open_new
from greyfill.cli.names import STREAM, beside
from greyfill.cli.reading import Wishes
from greyfill.cli.remembering import learned_by
from greyfill.cli.voice import Console, print_json
from greyfill.exceptions import InvalidParameterError, PersistenceError
from greyfill.files.formats import layout_of
from greyfill.text import clean


@dataclass(frozen=True)
class ApplyJob:
    """A saved imputer, the files to fill, and where they go."""

    model: str
    inputs: tuple[str, ...]
    output: str | None = None
    jobs: int | None = None
    force: bool = False

    def run(
        self,
        ignored: Sequence[str],
        na_values: Sequence[str],
        json: bool,
        quiet: bool,
        **csv: Any,
    ) -> None:
        """Check, load, fill each file, tell."""
        voice = Console(quiet or json)
        self._check(json)
        imputer = load_model(self.model)
        wishes = Wishes(ignored=ignored, na_values=na_values, **csv)
        told = [self._fill(name, wishes, imputer, voice) for name in self.inputs]
        if json:
            print_json({"model": self.model, "files": told})

    def _fill(self, name: str, wishes: Wishes, imputer: Any, voice: Console) -> Numbers:
        learned = learned_by(imputer, self.model)
        with open_new(name, wishes, imputer.schema_, learned, voice) as batches:
            self._set_jobs(imputer, batches.height)
            numbers = fill_new(imputer, batches, self._out(name), self.force, voice)
        showing.tell_columns(voice, numbers, "holes", "filled")
        if numbers["left_as_they_are"]:
            names = ", ".join(clean(c) for c in numbers["left_as_they_are"])
            voice.say(f"left as they are, unknown to the imputer: {names}")
        showing.tell_notes(voice, numbers)
        showing.tell_written(voice, self._out(name), f"{numbers['seconds']:.1f} s")
        return numbers

    def _out(self, name: str) -> str:
        return beside(name, "filled") if self.output is None else self.output

    def _set_jobs(self, imputer: Any, n_rows: int) -> None:
        if "n_jobs" in imputer.get_params(deep=False):
            few = self.jobs is None and n_rows < LARGE
            imputer.set_params(n_jobs=1 if few else self.jobs or -1)

    def _check(self, json: bool) -> None:
        if self.output is not None and len(self.inputs) > 1:
            raise InvalidParameterError(
                "Several files cannot be written to one. Leave --output away to write each beside "
                "its input."
            )
        outputs = [files.Output(self._out(name), name) for name in self.inputs]
        for name in (*self.inputs, *(output.name for output in outputs)):
            layout_of(name)
        printed = [files.Output(STREAM)] if json else []
        files.check_outputs([*printed, *outputs], [self.model], force=self.force)


def load_model(name: str) -> Any:
    """A saved imputer that knows its columns by name."""
    imputer = persistence.load(name)
    if not hasattr(imputer, "feature_names_in_"):
        raise PersistenceError(
            f"{name}: this imputer was fitted on an array without column names, so columns of a "
            "file cannot be told apart. Use it in Python, or fit it with greyfill fit."
        )
    return imputer
