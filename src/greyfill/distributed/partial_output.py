"""The folder in which a dataset is made before it gets its name, and what a crash leaves in it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from greyfill import persistence
from greyfill.distributed.donor_sample import FittedSample
from greyfill.distributed.parquet_files import Partition, opened
from greyfill.exceptions import FileProblemError
from greyfill.files.inputs import naming

MODEL, ROWS, FILLS, CLASSES = "model.greyfill", "rows.npy", "fills.npy", "classes.parquet"
PLAN = "plan.json"


@dataclass(frozen=True)
class Staging:
    """The folder beside the output in which it is made."""

    folder: Path
    out: Path
    force: bool

    def open(self, fingerprint: str) -> None:
        """Go on with an unfinished run of the same kind; throw any other away."""
        if self.out.exists() and not self.force:
            raise FileProblemError(
                f"Cannot write {self.out}: it exists already. To replace it, say so: --force "
                "(force=True)."
            )
        for path in (self.out, self.folder):
            if path.is_symlink():
                raise FileProblemError(
                    f"Cannot write {path}: it is a symbolic link. Name a folder that is none."
                )
        plan = self.folder / PLAN
        if plan.exists() and plan.read_text() != fingerprint:
            shutil.rmtree(self.folder)
        with naming(os.fspath(self.folder), "write"):
            for name in ("model", "parts"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            plan.write_text(fingerprint)

    def is_fitted(self) -> bool:
        """Whether the imputer is fitted; it is written after all else that ``fit`` leaves."""
        return (self._model / MODEL).exists()

    def keep(self, fitted: FittedSample) -> None:
        """Write what was learned."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with naming(os.fspath(self._model), "write"):
            np.save(self._model / ROWS, fitted.rows)
            np.save(self._model / FILLS, fitted.values)
            pq.write_table(pa.table({"class": list(fitted.classes)}), self._model / CLASSES)
        persistence.save(fitted.imputer, self._model / MODEL)

    def fitted(self) -> FittedSample:
        """What was learned, in this run or in one that did not end."""
        rows = np.load(self._model / ROWS, allow_pickle=False)
        fills = np.load(self._model / FILLS, allow_pickle=False)
        with opened(os.fspath(self._model / CLASSES)) as file:
            classes = tuple(file.read()["class"].to_pylist())
        return FittedSample(persistence.load(self._model / MODEL), rows, fills, classes)

    def needs(self, partition: Partition) -> bool:
        """Whether a partition has not been written yet."""
        return not (self.folder / "parts" / partition.name).exists()

    def write(self, partition: Partition, table: Any) -> None:
        """Write a partition; it gets its name when it is complete."""
        import pyarrow.parquet as pq

        path = self.folder / "parts" / partition.name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.tmp")
        with naming(os.fspath(path), "write"):
            pq.write_table(table, draft)
            os.replace(draft, path)

    def publish(self) -> None:
        """Give the complete output its name."""
        with naming(os.fspath(self.out), "write"):
            if self.out.is_dir():
                shutil.rmtree(self.out)
            os.replace(self.folder / "parts", self.out)
            shutil.rmtree(self.folder)

    @property
    def _model(self) -> Path:
        return self.folder / "model"
