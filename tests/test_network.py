"""Nothing needs a network at run time."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WATCH = """
import _socket, os, sys
LOCAL = {int(getattr(_socket, "AF_UNIX", -1))}  # between processes of one machine
def watch(event, args):
    is_new = event == "socket.__new__" and int(args[1]) not in LOCAL
    is_lookup = event.startswith(("socket.get", "urllib.", "http.", "ftplib.", "smtplib."))
    is_addressed = event in ("socket.connect", "socket.sendto", "socket.bind") and isinstance(
        args[1], tuple
    )
    if is_new or is_addressed or (is_lookup and event != "socket.gethostname"):
        os.write(2, f"network: {event} {args}".encode())
        os._exit(99)
sys.addaudithook(watch)
"""
LIBRARY = """
import greyfill
from greyfill import MICEImputer, MissForestImputer, compare, datasets, load
data = datasets.load("hepatitis")
X, y = data.X[:60], data.y[:60]
few = {"n_cells": 10, "max_iter": 1}
for imputer in (greyfill.GreyImputer(**few), greyfill.CGKNNImputer(2), MICEImputer(2, n_iter=1),
                MissForestImputer(n_estimators=2, max_iter=1)):
    imputer.fit_transform(X, y)
    imputer.report_.save("page.html")
    imputer.save("model")
    load("model").transform(X)
model = greyfill.GreyClassifier(n_cells=10).fit(X, y)
model.save("model")
assert len(load("model").predict(X)) == 60
compare(X, y, methods=["knni", "mean"], rates=[0.1], repeats=1, n_splits=2, progress=False)
"""
COMMANDS = """
from greyfill.cli import app
FEW = "--method knni -k 2"
for arguments in ("demo -o demo", "datasets", "inspect demo/hepatitis.csv",
                  f"impute demo/hepatitis.csv -o filled.csv --report page.html --save m {FEW}",
                  "apply m demo/hepatitis.csv -o again.csv",
                  "compare demo/hepatitis.csv --methods mean --rates 0.1 --repeats 1"):
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


@pytest.mark.parametrize(
    ("work", "result"),
    [pytest.param(LIBRARY, "page.html", id="library"),
     pytest.param(COMMANDS, "again.csv", id="commands")],
)  # fmt: skip
def test_work_asks_for_no_address_and_needs_no_network(
    work: str, result: str, tmp_path: Path
) -> None:
    line = [*without_a_network(), sys.executable, "-c", WATCH + work]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / result).exists()


@pytest.mark.parametrize(
    "deed",
    ["socket.create_connection(('127.0.0.1', 9))", "socket.socket()", "socket.gethostbyname('a')"],
)
def test_the_watch_sees(deed: str) -> None:
    code = f"{WATCH}import socket\n{deed}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 99
