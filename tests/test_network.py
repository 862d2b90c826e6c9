"""Nothing needs a network at run time."""

import shutil
import subprocess
import sys
from pathlib import Path

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
"""
COMMANDS = """
from greyfill.cli import app
for arguments in ("demo -o demo", "datasets", "inspect demo/hepatitis.csv"):
    try:
        app(arguments.split())
    except SystemExit as ended:
        assert not ended.code, arguments
"""


def without_a_network() -> list[str]:
    """How to start a program in a namespace that has no network, where the system has them."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rn", "true"], check=False).returncode:
        return []
    return [unshare, "-rn"]


def test_commands_ask_for_no_address_and_need_no_network(tmp_path: Path) -> None:
    line = [*without_a_network(), sys.executable, "-c", WATCH + COMMANDS]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "report.html").exists()


def test_the_watch_sees_a_connection() -> None:
    code = WATCH + "import socket\nsocket.create_connection(('127.0.0.1', 9))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 99
