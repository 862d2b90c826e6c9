"""One table of the page: its process, its folder, what it does just now and how far it is."""

import asyncio
import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

from greyfill.app.guard import RefusedError

LONGEST_LINE = 1 << 28
ENDED = (
    "The work on this table ended by itself, most likely because memory ran out. Close other "
    "programs, or fill it with the command."
)


class WorkError(RefusedError):
    """What a worker could not do, in words."""

    def __init__(self, why: str) -> None:
        super().__init__(422, why)


class WorkerProcess:
    """A process that takes orders."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process, self._ids = process, count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self.progress: dict[str, Any] = {}
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, root: Path) -> "WorkerProcess":
        """A new process, which ends with this one and then removes the folder."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "greyfill.app.worker", os.fspath(root),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=LONGEST_LINE, start_new_session=True,
        )  # fmt: skip
        return cls(process)

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            answer = json.loads(line)
            if "progress" in answer:
                self.progress = self.progress | answer["progress"]
            waiting = self._waiting.pop(answer["id"] or 0, None)
            if waiting is None or waiting.done():
                continue
            if "error" in answer:
                waiting.set_exception(WorkError(answer["error"]))
            else:
                waiting.set_result(answer["ok"])
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(WorkError(ENDED))
        self._waiting.clear()

    @property
    def is_alive(self) -> bool:
        """Whether it takes orders: the end of its answers may be seen before its own."""
        return self._process.returncode is None and not self._listener.done()

    async def ask(self, do: str, **given: Any) -> Any:
        """Have something done, and wait for it."""
        if not self.is_alive:
            raise WorkError(ENDED)
        order, answer = next(self._ids), asyncio.get_running_loop().create_future()
        self._waiting[order] = answer
        await self._send({"id": order, "do": do, "with": given})
        return await answer

    async def open(self, folder: Path, name: str) -> None:
        """Name the table."""
        await self._send({"id": 0, "do": "open", "with": {"folder": str(folder), "name": name}})

    async def _send(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        with suppress(ConnectionError):
            await self._process.stdin.drain()

    def kill(self) -> None:
        """End it now, with all processes that it started."""
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    async def ended(self) -> None:
        """Wait until it is gone."""
        await self._process.wait()
        await self._listener


class TableSession:
    """A table that somebody opened."""

    def __init__(self, tables: "Tables", folder: Path, name: str, choices: dict[str, Any]) -> None:
        self.id, self.name, self.folder = folder.name, name, folder
        self._tables, self._first = tables, choices
        self._worker: WorkerProcess | None = None
        self._filling: asyncio.Task[None] | None = None
        self._opening, self._looking = asyncio.Lock(), asyncio.Lock()
        self._reads: WorkerProcess | None = None
        self._judging: WorkerProcess | None = None
        self._judgement: asyncio.Task[None] | None = None
        self.judged: dict[str, Any] | None = None
        self.looked: dict[str, Any] | None = None
        self.filled: dict[str, Any] | None = None
        self.error: str | None = None

    async def worker(self) -> WorkerProcess:
        """Its process; a new one if there is none, or none any more."""
        async with self._opening:
            if self._worker is None or not self._worker.is_alive:
                self._worker = await self._tables.spare()
                await self._worker.open(self.folder / "in", self.name)
            return self._worker

    async def _reader(self) -> WorkerProcess:
        """Its process, which has read the table."""
        worker = await self.worker()
        async with self._looking:
            if self._reads is not worker:
                await self._read(worker, self.looked["choices"] if self.looked else self._first)
        return worker

    async def _read(self, worker: WorkerProcess, choices: dict[str, Any]) -> dict[str, Any]:
        asked = self.looked["questions"] if self.looked else []
        found: dict[str, Any] = await worker.ask("look", choices=choices, asked=asked)
        self.looked, self._reads = found, worker
        return found

    @property
    def status(self) -> dict[str, Any]:
        """What the page shows: what is done, and how far it is."""
        is_filling = self._filling is not None and not self._filling.done()
        state = "filling" if is_filling else "filled" if self.filled else "open"
        progress = self._worker.progress if self._worker is not None and is_filling else {}
        judging = None if self._judging is None else self._judging.progress
        return {"id": self.id, "name": self.name, "state": state, "error": self.error,
                "progress": progress, "judging": judging, "judged": self.judged}  # fmt: skip

    async def look(self, choices: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read it with new choices; without any, what is known of it."""
        self._refuse_if_filling()
        async with self._looking:
            if choices is None and self.looked is not None:
                return self.looked
            found = await self._read(await self.worker(), choices or self._first)
            self.filled, self.error, self.judged = None, None, None
            return found

    def _refuse_if_filling(self) -> None:
        if self._filling is not None and not self._filling.done():
            raise RefusedError(409, "The table is being filled. Wait, or cancel it.")

    async def fill(self) -> None:
        """Begin to fill it."""
        self._refuse_if_filling()
        worker = await self._reader()
        worker.progress, self.error, self.filled = {}, None, None
        self._filling = asyncio.create_task(self._fill(worker))

    async def _fill(self, worker: WorkerProcess) -> None:
        try:
            self.filled = await worker.ask("fill")
        except WorkError as error:
            if worker is self._worker:
                self.error = str(error)

    async def cancel(self) -> None:
        """End a fill at once; the next question is answered by a new process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            await worker.ended()
        if self._filling is not None:
            await self._filling
        self.filled, self.error = None, None

    async def judge(self) -> None:
        """Begin to find out whether imputing pays, in a process of its own: the fill stays."""
        if self._judging is not None:
            raise RefusedError(409, "That is being found out already.")
        self._refuse_if_filling()
        chosen = (await self.look())["choices"]
        self._judging = await self._tables.spare()
        self.judged = None
        self._judgement = asyncio.create_task(self._judge(self._judging, chosen))

    async def _judge(self, worker: WorkerProcess, choices: dict[str, Any]) -> None:
        try:
            await worker.open(self.folder / "in", self.name)
            await worker.ask("look", choices=choices)
            self.judged = await worker.ask("worth")
        except WorkError as error:
            if worker is self._judging:
                self.judged = {"error": str(error)}
        await self.stop_judging()

    async def stop_judging(self) -> None:
        """End it."""
        worker, self._judging = self._judging, None
        if worker is not None:
            worker.kill()
            await worker.ended()

    async def ask(self, do: str, given: dict[str, Any]) -> Any:
        """Have something done that changes nothing."""
        return await (await self._reader()).ask(do, **given)

    async def write(self, what: str) -> Path:
        """A file to take home."""
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        made = await self.ask("write", {"what": what, "folder": str(out)})
        return out / str(made["name"])

    async def close(self) -> None:
        """Forget it, and remove what was kept of it."""
        await self.stop_judging()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            await worker.ended()
        shutil.rmtree(self.folder, ignore_errors=True)


MOST_TABLES = 8
LATER = 8.0
"""Seconds after which the next process is started, so that it does not slow down this one."""


class Tables:
    """All open tables, and a process that waits for the next one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._spare: asyncio.Task[WorkerProcess] | None = None
        self._next: asyncio.TimerHandle | None = None
        self.open: dict[str, TableSession] = {}

    def prepare(self) -> None:
        """Start a process ahead of time."""
        if self._spare is None:
            self._spare = asyncio.create_task(WorkerProcess.start(self._root))

    async def look_ahead(self) -> None:
        """Read the tables that were given at the start, before a browser asks for them."""
        for table in self.open.values():
            with suppress(RefusedError):  # it is told when somebody asks
                await table.look()

    async def spare(self) -> WorkerProcess:
        """The process that waits; another one takes its place when this one has begun."""
        self.prepare()
        taken, self._spare = self._spare, None
        assert taken is not None
        self._next = asyncio.get_running_loop().call_later(LATER, self.prepare)
        worker = await taken
        # It may have waited for long, and been ended by somebody who needed its memory.
        return worker if worker.is_alive else await WorkerProcess.start(self._root)

    def new_folder(self) -> Path:
        """A folder for one more table."""
        if len(self.open) >= MOST_TABLES:
            raise RefusedError(409, f"{MOST_TABLES} tables are open. Close one of them first.")
        folder = self._root / token_hex(8)
        (folder / "in").mkdir(parents=True, mode=0o700)
        return folder

    def add(self, folder: Path, name: str, choices: dict[str, Any] | None = None) -> TableSession:
        """Open the file of this name in the folder."""
        table = TableSession(self, folder, name, choices or {})
        self.open[table.id] = table
        return table

    def get(self, id: str) -> TableSession:
        """An open table."""
        if id not in self.open:
            raise RefusedError(404, "This table is not open any more.")
        return self.open[id]

    async def remove(self, id: str) -> None:
        """Close a table."""
        table = self.get(id)
        del self.open[id]
        await table.close()

    async def close(self) -> None:
        """Close them all."""
        if self._next is not None:
            self._next.cancel()
        for id in list(self.open):
            await self.remove(id)
        if self._spare is not None:
            worker = await self._spare
            worker.kill()
            await worker.ended()
