"""What the page refuses: whoever is not its user, and whatever is not a request of its own."""

import json
import os
import socket
from contextlib import closing
from pathlib import Path

import pytest
from app.client import serving

from greyfill.app.guard import Guard, RefusedError
from greyfill.app.server import _bound

TABLE = b"age,dose\n" + b"".join(b"%d,%d\n" % (20 + n, 2 * n) for n in range(30)) + b",7\n31,\n"


def listing(folder):
    return sorted(
        (os.path.relpath(path, folder), path.stat().st_size)
        for path in Path(folder).rglob("*")
        if path.is_file()
    )


def test_30_hostile_requests_are_refused_and_change_nothing(server, capsys):
    table = server.upload("doses.csv", TABLE)
    looked = server.json("POST", f"{table}/look", {})[1]
    before = server.json("GET", "/api/state")[1], listing(server.folder)
    ours, cookie = {"Host": server.host}, server.cookie

    def head(line, **headers):
        given = {**ours, "Cookie": cookie, "Connection": "close", **headers}
        lines = [line, *(f"{k.replace('_', '-')}: {v}" for k, v in given.items() if v is not None)]
        return "\r\n".join([*lines, "", ""]).encode()

    def post(path, body=b"{}", **headers):
        kind = {"Content_Type": "application/json", "Content_Length": len(body)}
        return head(f"POST {path} HTTP/1.1", **{**kind, **headers}) + body

    name, value = cookie.split("=")
    hostile = {
        "no cookie": head("GET /api/state HTTP/1.1", Cookie=None),
        "no cookie for the page": head("GET / HTTP/1.1", Cookie=None),
        "no cookie for a script": head("GET /static/app.js HTTP/1.1", Cookie=None),
        "wrong cookie": head("GET /api/state HTTP/1.1", Cookie=f"{name}={value[:-1]}x"),
        "short cookie": head("GET /api/state HTTP/1.1", Cookie=f"{name}={value[:-1]}"),
        "empty cookie": head("GET /api/state HTTP/1.1", Cookie=f"{name}="),
        "two cookies": head("GET /api/state HTTP/1.1", Cookie=f"{cookie}; {name}=x"),
        "cookie of another port": head("GET /api/state HTTP/1.1", Cookie=f"greyfill-1={value}"),
        "wrong token": head("GET /start/AAAA HTTP/1.1", Cookie=None),
        "no token": head("GET /start/ HTTP/1.1", Cookie=None),
        "token with letters beyond ASCII": head("GET /start/%C3%A4 HTTP/1.1", Cookie=None),
        "wrong Host": head("GET / HTTP/1.1", Host="evil.example"),
        "rebound Host": head("GET / HTTP/1.1", Host=f"evil.example:{server.port}"),
        "Host of another port": head("GET / HTTP/1.1", Host="127.0.0.1:1"),
        "localhost": head("GET / HTTP/1.1", Host=f"localhost:{server.port}"),
        "no Host": head("GET / HTTP/1.1", Host=None),
        "two Hosts": head(f"GET / HTTP/1.1\r\nHost: {server.host}", Host="evil.example"),
        "right token, wrong Host": head(f"GET {server.start} HTTP/1.1", Host="evil.example"),
        "spent token": head(f"GET {server.start} HTTP/1.1", Cookie=None),
        "foreign Origin": post(f"{table}/fill", Origin="https://evil.example"),
        "Origin null": post(f"{table}/fill", Origin="null"),
        "Origin of another port": post(f"{table}/fill", Origin="http://127.0.0.1:1"),
        "sent by another site": post("/api/close", Sec_Fetch_Site="cross-site"),
        "sent by another port": post("/api/close", Sec_Fetch_Site="same-site"),
        "form of another page": post("/api/close", b"a=1", Content_Type="text/plain",
                                     Origin="http://127.0.0.1:1"),
        "no JSON": post(f"{table}/look", b"{", Origin=f"http://{server.host}"),
        "JSON as text": post(f"{table}/look", Content_Type="text/plain"),
        "JSON that is no object": post(f"{table}/look", b"[1]"),
        "JSON that is deep": post(f"{table}/look", b"[" * 200_000),
        "unknown choice": post(f"{table}/look", b'{"choices": {"path": "/etc/passwd"}}'),
        "choice of another type": post(f"{table}/look", b'{"choices": {"target": 3}}'),
        "unknown column": post(f"{table}/look", b'{"choices": {"target": "/etc/passwd"}}'),
        "unknown question": post(f"{table}/ask/write", b'{"what": "table"}'),
        "folder as a parameter": post(f"{table}/ask/rows", b'{"folder": "/etc"}'),
        "no such cell": post(f"{table}/ask/cell", b'{"row": -1, "column": "age"}'),
        "path out of the assets": head("GET /static/../../../etc/passwd HTTP/1.1"),
        "encoded path": head("GET /static/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1"),
        "path as a table": head("GET /api/tables/..%2f..%2fetc HTTP/1.1"),
        "path as a file": head(f"GET {table}/files/..%2fin%2fdoses.csv HTTP/1.1"),
        "path as a bundled table": post("/api/bundled/..%2f..%2firis"),
        "table of somebody else": head("GET /api/tables/0123456789abcdef HTTP/1.1"),
        "absolute address": head("GET http://evil.example/ HTTP/1.1"),
        "proxy": head("CONNECT evil.example:443 HTTP/1.1"),
        "wrong method": head("PUT /api/state HTTP/1.1"),
        "socket": head("GET / HTTP/1.1", Upgrade="websocket", Connection="Upgrade", Cookie=None),
        "too long a table": head("POST /api/tables HTTP/1.1", Content_Length=1 << 40),
        "too long a question": head(f"POST {table}/look HTTP/1.1", Content_Length=1 << 30,
                                    Content_Type="application/json"),
        "two lengths": head("POST /api/close HTTP/1.1\r\nContent-Length: 2", Content_Length=3),
        "negative length": head("POST /api/close HTTP/1.1", Content_Length=-1),
        "too long a head": head("GET / HTTP/1.1", X_Pad="x" * 40_000),
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n",
        "slow head": b"GET / HTTP/1.1\r\nHost:",
        "silence": b"",
        "slow body": head(f"POST {table}/look HTTP/1.1", Content_Length=100,
                          Content_Type="application/json") + b"{",
    }  # fmt: skip
    answers = {what: server.raw(request) for what, request in hostile.items()}
    let_in = {what: status for what, status in answers.items() if 0 < status < 400}
    assert let_in == {}
    assert not any(status >= 500 for status in answers.values()), answers
    assert (server.json("GET", "/api/state")[1], listing(server.folder)) == before
    assert server.json("POST", f"{table}/look", {})[1] == looked
    with capsys.disabled():
        print(f"\n{len(hostile)} hostile requests: {len(hostile) - len(let_in)} refused, "
              "nothing changed")  # fmt: skip
    assert len(hostile) >= 30


def test_an_upload_without_a_length_ends_at_the_limit(server, monkeypatch):
    """A chunked body is counted as it comes; a small question is enough to show it."""
    table = server.upload("doses.csv", TABLE)
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    request = (
        f"POST {table}/look HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as stream:
        stream.sendall(request + chunk * 17)
        assert stream.recv(4096).split()[1] == b"413"


def test_no_other_machine_reaches_the_page():
    with closing(_bound(0)) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"


def test_the_printed_address_works_once():
    with serving() as own:
        cookie = own.sign_in().split(";")[0]
        own.cookie = None
        status, _, told = own.ask("GET", own.start)  # somebody who read it in a history
        assert status == 403
        assert b"it works once" in told
        assert own.ask("GET", own.start, headers={"Cookie": cookie})[0] == 303  # its own browser
        assert own.ask("GET", "/api/state", headers={"Cookie": cookie})[0] == 200


def test_each_address_works_once_and_for_itself():
    guard = Guard(None, 80, 1.0)
    tokens = [guard.new_address().rpartition("/")[2] for _ in range(2)]
    for token in tokens:
        assert guard._start(token, is_known=False).status_code == 303
        with pytest.raises(RefusedError):
            guard._start(token, is_known=False)


def test_the_cookie_is_for_this_page_alone():
    with serving() as own:
        cookie = own.sign_in()
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert own.start.rpartition("/")[2] not in cookie


def test_every_answer_has_a_strict_policy(server):
    for path, headers in (("/", {}), ("/api/state", {}), ("/nowhere", {}), ("/", {"Cookie": ""})):
        _, found, _ = server.ask("GET", path, headers=headers)
        policy = found["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert found["x-content-type-options"] == "nosniff"
        assert found["cache-control"] == "no-store"


def test_the_first_load_is_small(server):
    paths = [
        "/",
        *(f"/static/{n}" for n in ("page.css", "page.js", "app.css", "app.js", "icon.svg")),
    ]
    sizes = [len(server.ask("GET", path)[2]) for path in (*paths, "/api/state")]
    assert sum(sizes) < 300_000


def test_names_from_a_client_are_no_paths(server):
    table = server.upload("../../../tmp/evil.csv", TABLE)
    assert server.json("GET", table)[1]["name"] == "evil.csv"
    kept = [path for path, _ in listing(server.folder) if path.endswith("evil.csv")]
    assert kept == [os.path.join(table.rpartition("/")[2], "in", "evil.csv")]
    mode = os.stat(server.folder).st_mode & 0o777
    assert mode == 0o700


def test_errors_tell_no_path(server):
    table = server.upload("wrong.parquet", b"PAR1 no table at all PAR1")
    status, told = server.json("POST", f"{table}/look", {})
    assert status == 422
    assert "wrong.parquet" in told["error"]
    assert server.folder not in json.dumps(told)
