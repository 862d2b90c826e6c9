"""The addresses of the page; what comes in is checked here, what is done is done by a worker."""

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from greyfill import __version__
from greyfill.app.guard import RefusedError, refusal
from greyfill.app.private_folder import plain_name
from greyfill.app.session import Tables

SHARED = ("greyfill.report", "templates")
ASSETS = {
    "page.css": (*SHARED, "page.css.jinja", "text/css"),
    "page.js": (*SHARED, "page.js", "text/javascript"),
    "app.css": ("greyfill.app", "static", "app.css", "text/css"),
    "app.js": ("greyfill.app", "static", "app.js", "text/javascript"),
    "icon.svg": ("greyfill.app", "static", "icon.svg", "image/svg+xml"),
}
ASKED: dict[str, dict[str, type]] = {
    "rows": {"start": int, "count": int, "first": int, "sort": str, "falling": bool, "holes": bool},
    "cell": {"row": int, "column": str},
    "describe": {},
    "draw": {},
}
"""What a client may ask of a worker, and of which types the answers need what."""


def make_routes(tables: Tables, stop: Callable[[], None]) -> Starlette:
    """The page over some tables; ``stop`` ends the server."""
    site = Site(tables, stop)
    one = "/api/tables/{id:str}"
    routes = [
        Route("/", site.page),
        Route("/static/{name:str}", site.asset),
        Route("/api/state", site.state),
        Route("/api/tables", site.upload, methods=["POST"]),
        Route("/api/bundled/{name:str}", site.open_bundled, methods=["POST"]),
        Route("/api/close", site.close, methods=["POST"]),
        Route(one, site.status, methods=["GET"]),
        Route(one, site.forget, methods=["DELETE"]),
        Route(one + "/look", site.look, methods=["POST"]),
        Route(one + "/fill", site.fill, methods=["POST"]),
        Route(one + "/cancel", site.cancel, methods=["POST"]),
        Route(one + "/worth", site.worth, methods=["POST"]),
        Route(one + "/worth", site.stop_worth, methods=["DELETE"]),
        Route(one + "/filled", site.filled, methods=["GET"]),
        Route(one + "/ask/{do:str}", site.ask, methods=["POST"]),
        Route(one + "/files/{what:str}", site.download, methods=["GET"]),
    ]
    handlers: dict[Any, Any] = {RefusedError: _refuse, HTTPException: _refuse_http}
    return Starlette(routes=routes, exception_handlers=handlers)


class Site:
    """All endpoints."""

    def __init__(self, tables: Tables, stop: Callable[[], None]) -> None:
        self._tables, self._stop = tables, stop
        self._assets = {name: (_asset(*place[:-1]), place[-1]) for name, place in ASSETS.items()}

    async def page(self, request: Request) -> Response:
        """The page itself; all else is asked by its script."""
        text = (files("greyfill.app") / "templates" / "app.html").read_text(encoding="utf-8")
        return Response(text.replace("{version}", __version__), media_type="text/html")

    async def asset(self, request: Request) -> Response:
        """Style and script."""
        found = self._assets.get(request.path_params["name"])
        if found is None:
            raise RefusedError(404, "There is no such file.")
        return Response(found[0], media_type=found[1])

    async def state(self, request: Request) -> Response:
        """The open tables, and those that are bundled."""
        return JSONResponse(
            {"tables": [t.status for t in self._tables.open.values()], "bundled": bundled()}
        )

    async def upload(self, request: Request) -> Response:
        """Take a table; its name is in a header, for the sake of its ending alone."""
        name = plain_name(unquote(request.headers.get("x-name", "")))
        folder = self._tables.new_folder()
        try:
            with open(folder / "in" / name, "xb") as file:
                async for part in request.stream():
                    file.write(part)
        except (RefusedError, ClientDisconnect, OSError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise RefusedError(507, "The table could not be kept: is the disk full?") from error
            raise
        return JSONResponse(self._tables.add(folder, name).status)

    async def open_bundled(self, request: Request) -> Response:
        """Open a bundled table."""
        name = request.path_params["name"]
        about = {table["name"]: table for table in bundled()}.get(name)
        if about is None:
            raise RefusedError(404, "No bundled table has this name.")
        folder = self._tables.new_folder()
        text = (files("greyfill.datasets") / "data" / f"{name}.csv").read_bytes()
        (folder / "in" / f"{name}.csv").write_bytes(text)
        return JSONResponse(self._tables.add(folder, f"{name}.csv", about["choices"]).status)

    async def status(self, request: Request) -> Response:
        """How far a table is."""
        return JSONResponse(self._table(request).status)

    async def forget(self, request: Request) -> Response:
        """Close a table."""
        await self._tables.remove(self._table(request).id)
        return JSONResponse({})

    async def look(self, request: Request) -> Response:
        """What is in a table, with new choices or as it was."""
        given = await _json(request)
        choices = given.get("choices")
        if set(given) - {"choices"} or not (choices is None or isinstance(choices, dict)):
            raise RefusedError(400, "choices must be an object")
        return JSONResponse(await self._table(request).look(choices))

    async def fill(self, request: Request) -> Response:
        """Begin to fill."""
        table = self._table(request)
        await table.fill()
        return JSONResponse(table.status, 202)

    async def cancel(self, request: Request) -> Response:
        """End a fill."""
        table = self._table(request)
        await table.cancel()
        return JSONResponse(table.status)

    async def worth(self, request: Request) -> Response:
        """Begin to find out whether imputing pays."""
        table = self._table(request)
        await table.judge()
        return JSONResponse(table.status, 202)

    async def stop_worth(self, request: Request) -> Response:
        """End that."""
        await self._table(request).stop_judging()
        return JSONResponse({})

    async def filled(self, request: Request) -> Response:
        """How a fill went."""
        found = self._table(request).filled
        if found is None:
            raise RefusedError(409, "The table is not filled yet.")
        return JSONResponse(found)

    async def ask(self, request: Request) -> Response:
        """Ask the worker of a table."""
        do, given = request.path_params["do"], await _json(request)
        if do not in ASKED:
            raise RefusedError(404, "That cannot be asked.")
        for name, value in given.items():
            if type(value) is not ASKED[do].get(name) and not (name == "sort" and value is None):
                raise RefusedError(400, f"{name!r} cannot be that.")
        if do == "cell" and len(given) != len(ASKED[do]):
            raise RefusedError(400, "A cell has a row and a column.")
        return JSONResponse(await self._table(request).ask(do, given))

    async def download(self, request: Request) -> Response:
        """A file to take home, always saved and never shown."""
        path: Path = await self._table(request).write(request.path_params["what"])
        shown = f"attachment; filename*=UTF-8''{quote(path.name)}"
        return FileResponse(
            path, media_type="application/octet-stream", headers={"content-disposition": shown}
        )

    async def close(self, request: Request) -> Response:
        """End the server."""
        self._stop()
        return JSONResponse({})

    def _table(self, request: Request) -> Any:
        return self._tables.get(request.path_params["id"])


def bundled() -> list[dict[str, Any]]:
    """The bundled tables, and what is to be chosen about them."""
    text = (files("greyfill.datasets") / "data" / "sources.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return [
        {
            "name": name,
            "description": about["description"],
            "choices": {
                "target": about["target"],
                "categorical": about["categorical_features"],
                "ordinal": about["ordinal_features"],
            },
        }
        for name, about in found.items()
        if (files("greyfill.datasets") / "data" / f"{name}.csv").is_file()
    ]


def _asset(package: str, folder: str, name: str) -> bytes:
    path = files(package) / folder / name
    if name.endswith(".jinja"):
        from jinja2 import Environment

        return Environment().from_string(path.read_text(encoding="utf-8")).render().encode()
    return path.read_bytes()


async def _json(request: Request) -> dict[str, Any]:
    """The body of a request, which must be an object."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RefusedError(415, "Send JSON.")
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise RefusedError(400, "That is no JSON.") from None
    if not isinstance(found, dict):
        raise RefusedError(400, "Send an object.")
    return found


async def _refuse(request: Request, error: RefusedError) -> Response:
    return refusal(dict(request.scope), error)


async def _refuse_http(request: Request, error: HTTPException) -> Response:
    return refusal(dict(request.scope), RefusedError(error.status_code, error.detail))
