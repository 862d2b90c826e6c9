"""What ``impute --chunked`` does: a Parquet dataset, one partition at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from greyfill import files
from greyfill.cli import showing
from greyfill.cli.choosing import MethodChoice
from greyfill.cli.names import STREAM, beside
from greyfill.cli.reading import Wishes
from greyfill.cli.voice import Console, print_json
from greyfill.exceptions import InvalidParameterError
from greyfill.text import plural


@dataclass(frozen=True)
class ChunkedJob:
    """A dataset, and the folder that it is filled into."""

    source: str
    output: str | None = None
    force: bool = False

    def run(
        self,
        wishes: Wishes,
        choice: MethodChoice,
        unusable: Mapping[str, Any],
        *,
        json: bool = False,
        quiet: bool = False,
    ) -> None:
        """Check, learn, fill each partition, tell."""
        self._check(unusable)
        from greyfill.distributed.parquet import impute_dataset, list_partitions

        voice = Console(quiet or json)
        first = list_partitions(self.source)[0].read()
        frame = pl.from_arrow(first)
        assert isinstance(frame, pl.DataFrame)
        sheet = wishes.sheet(files.Source(self.source, files.Format.PARQUET, frame))
        imputer = choice.make(sheet)
        numbers = impute_dataset(
            self.source,
            self.out,
            imputer,
            target=sheet.target,
            ignored=sheet.ignored,
            n_jobs=choice.jobs,
            force=self.force,
            report=voice.say,
        )
        voice.say(
            f"filled {numbers['filled']:,} cells in {plural(numbers['partitions'], 'partition')}, "
            f"k = {numbers['k']}, {plural(numbers['passes'], 'pass', 'passes')}"
        )
        showing.tell_written(voice, self.out)
        if json:
            print_json(numbers)

    @property
    def out(self) -> str:
        """Where the filled partitions go."""
        if self.output is not None:
            return self.output
        name = self.source.rstrip("/")
        return f"{name}.filled" if Path(name).is_dir() else beside(name, "filled")

    def _check(self, unusable: Mapping[str, Any]) -> None:
        for option, value in unusable.items():
            if value:
                raise InvalidParameterError(f"{option} does not work with --chunked.")
        if STREAM in (self.source, self.output):
            raise InvalidParameterError("--chunked needs folders, not standard input or output.")
        for module in ("distributed", "pyarrow"):
            if find_spec(module) is None:
                raise InvalidParameterError(
                    f"--chunked needs the package {module}: pip install 'greyfill[dask]'"
                )
