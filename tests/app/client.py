"""A server of the page in a process of its own, and a client that speaks plain HTTP to it."""

import json
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import psutil

PROGRAM = (
    "from greyfill.app.server import serve; serve({file!r}, browser=False, patience={patience})"
)


class Server:
    """Knows the address; answers of `ask` are a status, headers and bytes."""

    def __init__(self, process):
        self.process = process
        self.address = process.stdout.readline().decode().strip()
        parts = urlsplit(self.address)
        self.host, self.port, self.start = parts.netloc, parts.port, parts.path
        self.cookie = None

    @property
    def folder(self):
        """The private folder, from the arguments of a worker."""
        for child in psutil.Process(self.process.pid).children():
            words = child.cmdline()
            if "greyfill.app.worker" in words:
                return words[-1]
        raise AssertionError("no worker runs")

    def ask(self, method, path, body=None, headers=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        given = {"Origin": f"http://{self.host}"} if method != "GET" else {}
        if self.cookie:
            given["Cookie"] = self.cookie
        if isinstance(body, dict):
            body, given["Content-Type"] = json.dumps(body), "application/json"
        try:
            connection.request(method, path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def sign_in(self):
        status, headers, _ = self.ask("GET", self.start)
        assert status == 303
        self.cookie = headers["set-cookie"].split(";")[0]
        return headers["set-cookie"]

    def json(self, method, path, body=None, headers=None):
        status, _, raw = self.ask(method, path, body, headers)
        return status, json.loads(raw)

    def upload(self, name, raw):
        status, told = self.json("POST", "/api/tables", raw, {"X-Name": quote(name)})
        assert status == 200, told
        return f"/api/tables/{told['id']}"

    def fill(self, table):
        assert self.json("POST", f"{table}/fill", {})[0] == 202
        while (told := self.json("GET", table)[1])["state"] == "filling":
            time.sleep(0.05)
        assert told["error"] is None
        return self.json("GET", f"{table}/filled")[1]

    def raw(self, request):
        """Send bytes as they are; the status of the answer, 0 if the server only closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as stream:
            try:
                stream.sendall(request)
                answer = stream.recv(65536)
            except ConnectionError:
                return 0
        return int(answer.split()[1]) if answer else 0


@contextmanager
def serving(file=None, patience=15.0):
    program = PROGRAM.format(file=file, patience=patience)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        yield Server(process)
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
