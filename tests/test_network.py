"""Nothing needs a network at run time."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WATCH = """
import os, sys
def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.gethostbyname") or (
        event in ("socket.connect", "socket.sendto", "socket.bind")
        and isinstance(args[1], tuple)
    ):
        os.write(2, f"network: {event} {args}".encode())
        os._exit(99)
sys.addaudithook(watch)
from greyfill.cli import app
app(sys.argv[1:])
"""


def test_no_command_asks_for_an_address(tmp_path: Path) -> None:
    for arguments in (("demo", "-o", "demo"), ("datasets",), ("inspect", "demo/hepatitis.csv")):
        line = [sys.executable, "-c", WATCH, *arguments]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "report.html").exists()


def test_the_watch_sees_a_connection(tmp_path: Path) -> None:
    code = WATCH.replace("from greyfill.cli import app\napp(sys.argv[1:])", (
        "import socket\nsocket.create_connection(('127.0.0.1', 9))"
    ))  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 99


def test_the_demo_in_a_namespace_without_a_network(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rn", "true"], check=False).returncode:
        pytest.skip("needs a network namespace")
    line = [unshare, "-rn", sys.executable, "-m", "greyfill", "demo", "-o", "demo"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
