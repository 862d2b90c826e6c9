"""Peers in environments of their own, each asked through a pipe, with a limit on its time."""

import contextlib
import csv
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from cases import Case

HERE = Path(__file__).parent / "peers"
SECONDS_BETWEEN_LOOKS = 2.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class PeerError(Exception):
    """The peer could not fill the table: its own words."""


class LateError(PeerError):
    """Its time was over."""


class Worker:
    """A process that fills one table after the other; it is started anew after a time-out."""

    def __init__(self, method: str, environment: str, limit: float) -> None:
        self._method, self._environment, self._limit = method, environment, limit
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def fill(self, case: Case, seed: int, draws: int = 0) -> tuple[np.ndarray, dict[str, Any]]:
        """The filled cells, or so many draws of them, and what the peer said of the run."""
        with tempfile.TemporaryDirectory() as folder:
            exchange = _Csv(Path(folder)) if self._in_r else Npz(Path(folder))
            answer = self.ask(exchange.write(case, seed) | {"draws": draws})
            if "error" in answer:
                raise PeerError(answer["error"])
            return exchange.read(case, answer)

    @property
    def _in_r(self) -> bool:
        return self._environment == "R"

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, which came in time."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._started()
        pipes = self._process.stdin, self._process.stdout
        assert pipes[0] is not None
        assert pipes[1] is not None
        print(json.dumps(request), file=pipes[0], flush=True)
        start = _cpu_seconds(self._process.pid)
        while not select.select([pipes[1]], [], [], SECONDS_BETWEEN_LOOKS)[0]:
            if _cpu_seconds(self._process.pid) - start > self._limit:
                self._stop()
                raise LateError(f"no answer within {self._limit:.0f} s of computing")
        line = pipes[1].readline()
        if not line:
            raise PeerError(f"the process ended with code {self._process.wait()}")
        return dict(json.loads(line))

    def _started(self) -> "subprocess.Popen[str]":
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        threads = dict.fromkeys(THREADS, "1")
        return subprocess.Popen(
            self.command(),
            stdin=pipe,
            stdout=pipe,
            stderr=quiet,
            text=True,
            env={**os.environ, **threads},
        )

    @property
    def is_installed(self) -> bool:
        """Whether there is an interpreter for it."""
        return shutil.which(self.command()[0]) is not None

    def command(self) -> list[str]:
        """What is started, and what it is called with."""
        home = Path(os.environ.get("GREYFILL_PEERS", "peers"))
        if self._in_r:
            return ["Rscript", str(HERE / "worker.R"), self._method, str(home / "rlib")]
        python = (
            str(home / self._environment / "bin/python") if self._environment else sys.executable
        )
        return [python, str(HERE / "worker.py"), self._method]

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()  # type: ignore[union-attr]
            self._process = None


def _cpu_seconds(pid: int) -> float:
    """Seconds that a process has computed; they do not pass while it is stopped or waits."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Npz:
    """Tables as arrays of numpy."""

    def __init__(self, folder: Path) -> None:
        self._table, self._filled = folder / "table.npz", folder / "filled.npy"

    def write(self, case: Case, seed: int) -> dict[str, Any]:
        table = case.table
        np.savez(
            self._table,
            cells=np.where(table.missing, np.nan, table.values),
            kinds=[column.kind.value for column in table.columns],
            n_levels=[column.n_levels for column in table.columns],
            labels=case.data.labels,
            seed=seed,
        )
        return {"table": str(self._table), "filled": str(self._filled)}

    def read(self, case: Case, answer: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        return np.load(self._filled), answer


class _Csv:
    """Tables as text: n, o or c before the number of each column, and the class as y."""

    def __init__(self, folder: Path) -> None:
        self._table, self._filled = folder / "table.csv", folder / "filled.csv"

    def write(self, case: Case, seed: int) -> dict[str, Any]:
        table, labels = case.table, case.data.labels
        assert labels is not None
        names = [f"{column.kind.value[0]}{j}" for j, column in enumerate(table.columns)]
        codes = [column.n_levels > 0 for column in table.columns]
        with self._table.open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*names, "y"])
            for cells, holes, label in zip(table.values, table.missing, labels, strict=True):
                row = [
                    "NA" if hole else int(cell) if is_code else repr(float(cell))
                    for cell, hole, is_code in zip(cells, holes, codes, strict=True)
                ]
                writer.writerow([*row, int(label)])
        return {"table": str(self._table), "filled": str(self._filled), "seed": seed}

    def read(self, case: Case, answer: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        """Holes that were left get the mean or mode of their column, and are counted."""
        from greyfill._neighbors.start import column_centers

        filled = np.genfromtxt(self._filled, delimiter=",", skip_header=1)
        if len(filled) > case.table.n_rows:  # draws, one below the other
            filled = filled.reshape(-1, *case.table.values.shape)
        left = case.table.missing & ~np.isfinite(filled)
        filled = np.where(left, column_centers(case.table), filled)
        return filled, {**answer, "rescued": int(left.sum())}
