"""The folder in which a dataset is made before it gets its name, and what a crash leaves in it.

```
OUT.partial/plan.json   whose run it is: written first, removed last
            model/      what was learned
            parts/      partitions, filled; renamed to OUT when all are there
```

Only a folder with such a plan was made by a run; any other of that name is refused and stays.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from greyfill import persistence
from greyfill.distributed.donor_sample import FittedSample
from greyfill.distributed.parquet_files import ENDINGS, Partition, opened
from greyfill.exceptions import FileProblemError
from greyfill.files.atomic import DRAFTS, check_replaceable, put, writing
from greyfill.files.inputs import naming
from greyfill.files.locks import folder_lock

MODEL, ROWS, FILLS, CLASSES = "model.greyfill", "rows.npy", "fills.npy", "classes.parquet"
PLAN, FOLDERS = "plan.json", ("model", "parts")
MAKER = "greyfill impute --chunked"
"""What the plan of every run tells, so that no other folder is taken for that of a run."""


@dataclass(frozen=True)
class Staging:
    """The folder beside the output in which it is made."""

    folder: Path
    out: Path
    force: bool

    @classmethod
    def of(cls, out: str, force: bool) -> "Staging":
        """The one that belongs to an output."""
        return cls(Path(f"{os.path.normpath(out)}.partial"), Path(out), force)

    @contextmanager
    def open(self, fingerprint: str) -> Iterator[None]:
        """Go on with an unfinished run of the same kind, or throw it away; alone in the folder."""
        self._refuse_link(self.folder)
        self._check_output()
        with ExitStack() as held:
            with naming(os.fspath(self.folder), "write"):
                with suppress(FileExistsError):
                    self.folder.mkdir(parents=True)
                was_free = held.enter_context(folder_lock(self.folder))
            if was_free is False:
                raise FileProblemError(
                    f"Cannot write {self.out}: another run is making it in {self.folder}. Wait "
                    "until that one has ended, or name another output."
                )
            self._prepare(fingerprint)
            yield

    def _prepare(self, fingerprint: str) -> None:
        """Keep what an unfinished run of the same kind left, and nothing of any other."""
        with naming(os.fspath(self.folder), "write"):
            if self._found_run() != fingerprint:
                self._clear()
                self._plan(fingerprint)
            for name in FOLDERS:
                (self.folder / name).mkdir(exist_ok=True)
            for draft in self.folder.rglob(DRAFTS):
                draft.unlink()

    def _check_output(self) -> None:
        """Refuse an output that is there, unless it may be replaced and holds nothing else."""
        self._refuse_link(self.out)
        if self.out.exists() and not self.force:
            raise FileProblemError(
                f"Cannot write {self.out}: it exists already. To replace it, say so: --force "
                "(force=True)."
            )
        check_replaceable(os.fspath(self.out), ENDINGS)

    def _refuse_link(self, path: Path) -> None:
        if path.is_symlink():
            raise FileProblemError(
                f"Cannot write {path}: it is a symbolic link. Name a folder that is none."
            )

    def _found_run(self) -> str | None:
        """The fingerprint in the folder, None where there are at most drafts; refuse others."""
        names = os.listdir(self.folder) if self.folder.is_dir() else [self.folder.name]
        if all(fnmatch(name, DRAFTS) for name in names):
            return None
        with suppress(OSError, ValueError):
            plan = json.loads((self.folder / PLAN).read_text())
            if isinstance(plan, dict) and plan.get("maker") == MAKER:
                return str(plan.get("run"))
        raise FileProblemError(
            f"Cannot write {self.out}: it would be made in {self.folder}, which exists and is no "
            "unfinished run of this version of greyfill. Rename or remove that folder, or name "
            "another output."
        )

    def _plan(self, run: str) -> None:
        text = json.dumps({"maker": MAKER, "run": run})
        put(self.folder / PLAN, [text.encode()], force=True)

    def _clear(self) -> None:
        """Remove what a run made, and nothing else; when interrupted, no run goes on with it."""
        if not (self.folder / PLAN).exists():
            return
        self._plan("thrown away")
        for name in FOLDERS:
            if (self.folder / name).exists():
                shutil.rmtree(self.folder / name)
        (self.folder / PLAN).unlink()

    def is_fitted(self) -> bool:
        """Whether the imputer is fitted; it is written after all else that ``fit`` leaves."""
        return (self._model / MODEL).exists()

    def keep(self, fitted: FittedSample) -> None:
        """Write what was learned."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for name, numbers in ((ROWS, fitted.rows), (FILLS, fitted.values)):
            with writing(self._model / name, force=True) as stream:
                np.save(stream, numbers)
        with writing(self._model / CLASSES, force=True) as stream:
            pq.write_table(pa.table({"class": list(fitted.classes)}), stream)
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
        with naming(os.fspath(path), "write"):
            path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path, force=True) as stream:
            pq.write_table(table, stream)

    def publish(self) -> None:
        """Give the complete output its name; what came to stand there meanwhile stays."""
        self._check_output()
        with naming(os.fspath(self.out), "write"):
            if self.out.is_dir():
                shutil.rmtree(self.out)
            os.replace(self.folder / "parts", self.out)
            self._clear()
            with suppress(OSError):  # somebody else put something into it
                self.folder.rmdir()

    @property
    def _model(self) -> Path:
        return self.folder / "model"
