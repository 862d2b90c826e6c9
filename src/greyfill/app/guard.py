"""What is refused before any route is asked, and the headers of every answer.

A page from elsewhere must not reach the server, whatever address it has (DNS rebinding: Host), and
must not make a browser act in the user's name (CSRF: Origin, Sec-Fetch-Site, a cookie that is
SameSite=Strict). Who has no cookie needs the token, and both are compared in constant time.
"""

import asyncio
from collections.abc import Iterable
from secrets import compare_digest, token_urlsafe
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from greyfill.exceptions import GreyfillError

MOST_UPLOADED, MOST_ASKED = 1 << 30, 1 << 20
"""Bytes of a table, and of any other request."""

LONGEST_HEAD = 1 << 14

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
START = "/start/"
ASK = (
    "This page belongs to whoever started it. Open the address that `greyfill app` printed in its "
    "terminal; it works once. Was it opened before, go back to that browser, or start greyfill app "
    "again."
)


class RefusedError(GreyfillError):
    """A request that is not answered: a status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Guard:
    """Wraps the routes of a server at ``http://127.0.0.1:port``.

    There are two tokens, for the address that is printed and for the browser that the server itself
    starts. Each works once, since others may see it later: in a history, a log, or the arguments of
    that browser. Who brings one gets the cookie, which is good as long as the server runs.
    """

    def __init__(self, app: Any, port: int, patience: float) -> None:
        self._app, self._patience = app, patience
        self._host, self._origin = f"127.0.0.1:{port}", f"http://127.0.0.1:{port}"
        self._cookie_name, self._cookie = f"greyfill-{port}", token_urlsafe(32)
        self._tokens: list[str] = []

    def new_address(self) -> str:
        """Where a browser starts, once."""
        self._tokens.append(token_urlsafe(32))
        return f"{self._origin}{START}{self._tokens[-1]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        sent = _with_headers(send)
        try:
            answer = self._check(scope)
            if answer is not None:
                await answer(scope, receive, sent)
                return
            await self._app(scope, self._bounded(scope, receive), sent)
        except RefusedError as refused:
            await refusal(scope, refused)(scope, receive, sent)

    def _check(self, scope: Scope) -> Response | None:
        """A redirect for who brings the token; None for who is known; an error for all others."""
        headers, path = scope["headers"], scope["path"]
        if sum(len(name) + len(value) for name, value in headers) > LONGEST_HEAD:
            raise RefusedError(431, "The head of the request is too long.")
        if _all(headers, b"host") != [self._host]:
            raise RefusedError(421, "This server answers to its own address only.")
        if set(_all(headers, b"origin")) - {self._origin}:
            raise RefusedError(403, "A page from elsewhere may not ask this.")
        if path.startswith(START) and scope["method"] == "GET":
            return self._start(path.removeprefix(START), is_known=self._has_cookie(headers))
        if set(_all(headers, b"sec-fetch-site")) - {"same-origin", "none"}:
            raise RefusedError(403, "A page from elsewhere may not ask this.")
        if not self._has_cookie(headers):
            raise RefusedError(403, ASK)
        return None

    def _has_cookie(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        pairs = [c.strip().partition("=") for h in _all(headers, b"cookie") for c in h.split(";")]
        given = [value for name, _, value in pairs if name == self._cookie_name]
        return len(given) == 1 and _same(given[0], self._cookie)

    def _start(self, token: str, *, is_known: bool) -> Response:
        """Let in who brings a token, which is spent by that, or was here before."""
        left = [known for known in self._tokens if not _same(token, known)]
        if len(left) == len(self._tokens) and not is_known:
            raise RefusedError(403, ASK)
        self._tokens = left
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie_name, self._cookie, httponly=True, samesite="strict")
        return answer

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """The body of a request, if it is not too long and comes in time."""
        is_upload = scope["path"] == "/api/tables"
        most = MOST_UPLOADED if is_upload else MOST_ASKED
        told = _all(scope["headers"], b"content-length")
        if any(not n.isdecimal() or int(n) > most for n in told):
            raise _too_large(most)
        seen, is_whole = 0, False

        async def part() -> Message:
            nonlocal seen, is_whole
            try:
                patience = None if is_whole else self._patience  # then only for the end
                message = await asyncio.wait_for(receive(), patience)
            except TimeoutError:
                raise RefusedError(408, "The request did not come in time.") from None
            seen += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if seen > most:
                raise _too_large(most)
            return message

        return part


def _too_large(most: int) -> RefusedError:
    return RefusedError(
        413, f"That is too large for the page: at most {most >> 20:,} MB. Use `greyfill impute`."
    )


def refusal(scope: Scope, error: RefusedError) -> Response:
    """A refusal in words, as JSON where a script asks."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": str(error)}, error.status)
    return PlainTextResponse(f"{error}\n", error.status)


def _all(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def _same(given: str, secret: str) -> bool:
    return compare_digest(given.encode(), secret.encode())


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {name for name, _ in message["headers"]}
            more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in known]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return sent
