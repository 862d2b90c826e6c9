"""The server: binds 127.0.0.1, prints the address with its token, runs until somebody ends it."""

import asyncio
import shutil
import socket
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from greyfill.app.guard import LONGEST_HEAD, Guard
from greyfill.app.private_folder import plain_name, private_folder
from greyfill.app.routes import make_routes
from greyfill.app.session import Tables
from greyfill.exceptions import FileProblemError
from greyfill.files.inputs import naming

PATIENCE = 15.0
"""Seconds that a client may take for the head of a request, or for the next part of its body."""
MOST_CONNECTIONS = 100


def serve(
    file: str | None = None, *, port: int = 0, browser: bool = True, patience: float = PATIENCE
) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C, a signal, or its own button ends it."""
    with private_folder() as root, _bound(port) as bound:
        tables = Tables(root)
        if file is not None:
            _add_file(tables, file)
        asyncio.run(_run(tables, bound, browser, patience))


async def _run(tables: Tables, bound: socket.socket, browser: bool, patience: float) -> None:
    def stop() -> None:
        server.should_exit = True

    port = bound.getsockname()[1]
    guard = Guard(make_routes(tables, stop), port, patience)
    protocol = type("Patient", (PatientProtocol,), {"patience": patience})
    config = uvicorn.Config(
        guard, http=protocol, ws="none", log_config=None, log_level="critical", access_log=False,
        server_header=False, lifespan="off", limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=1, h11_max_incomplete_event_size=LONGEST_HEAD,
    )  # fmt: skip
    server = uvicorn.Server(config)
    tables.prepare()
    ahead = asyncio.create_task(tables.look_ahead())
    sys.stdout.write(guard.new_address() + "\n")
    sys.stdout.flush()
    if browser:
        await asyncio.to_thread(webbrowser.open, guard.new_address())
    try:
        await server.serve(sockets=[bound])
    finally:
        ahead.cancel()
        closing = asyncio.create_task(tables.close())
        while not closing.done():  # Ctrl-C is raised again after the server, and must not end this
            with suppress(asyncio.CancelledError):
                await asyncio.shield(closing)


def _bound(port: int) -> socket.socket:
    """A socket on the loopback interface, and nowhere else."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen()  # who reads the address may connect at once, and waits
    except OSError as error:
        bound.close()
        raise FileProblemError(
            f"Cannot listen at port {port}: {error.strerror}. Choose another (--port), or none."
        ) from error
    return bound


def _add_file(tables: Tables, file: str) -> None:
    """Take a copy of a file, which the page shows first."""
    folder, name = tables.new_folder(), plain_name(Path(file).name)
    with naming(file, "read"), open(file, "rb") as source, open(folder / "in" / name, "xb") as copy:
        shutil.copyfileobj(source, copy)
    tables.add(folder, name)


class PatientProtocol(H11Protocol):
    """HTTP whose clients must send the head of a request in time."""

    patience = PATIENCE

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take some bytes; the head of the next request may begin with them."""
        is_new = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        super().data_received(data)
        if is_new:
            self._wait_for_head()

    def _wait_for_head(self) -> None:
        self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        is_waiting = self.cycle is None or bool(self.conn.trailing_data[0])
        if self.conn.their_state is h11.IDLE and is_waiting and not self.transport.is_closing():
            self.transport.close()
