"""A process for one table: takes orders from the server, line by line, and answers them.

An order is ``{"id": 3, "do": "rows", "with": {…}}``; an answer has the same id and ``ok`` or
``error``, a sentence; ``progress`` comes in between. There is a thread for each kind of work, so
that rows are shown while a fill runs. When the orders end, so does the process, and it removes the
folder of the server: either that did it already, or it was killed.
"""

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable
from queue import Queue
from typing import Any

LANES = {
    "look": "work", "fill": "work", "rows": "page", "cell": "page", "write": "files",
    "describe": "report", "draw": "report", "worth": "work",
}  # fmt: skip
"""Which thread does what: one fill at a time, and no plot beside another."""

Tell = Callable[[dict[str, Any]], None]


def main(root: str) -> None:
    """Serve one table until standard input ends."""
    tell = _answers()
    lanes: dict[str, Queue[dict[str, Any]]] = {lane: Queue() for lane in set(LANES.values())}
    bench: list[Any] = []
    threading.Thread(target=_warm_up, args=(lanes["work"],), daemon=True).start()
    for lane in lanes.values():
        threading.Thread(target=_serve, args=(lane, bench, tell), daemon=True).start()
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "open":
            bench[:] = [order["with"]]
        else:
            lanes[LANES[order["do"]]].put(order)
    shutil.rmtree(root, ignore_errors=True)
    os._exit(0)  # whatever the threads are doing


def _answers() -> Tell:
    """Writes lines to what was standard output; what a library prints goes to standard error."""
    out, lock = os.fdopen(os.dup(1), "w", encoding="utf-8"), threading.Lock()
    os.dup2(2, 1)

    def tell(answer: dict[str, Any]) -> None:
        line = json.dumps(answer, allow_nan=False)
        with lock:
            out.write(line + "\n")
            out.flush()

    return tell


def _serve(lane: "Queue[dict[str, Any]]", bench: list[Any], tell: Tell) -> None:
    while True:
        order = lane.get()
        try:
            done = getattr(_bench(bench, tell), order["do"])(**order["with"])
            tell({"id": order["id"], "ok": done})
        except Exception as error:  # a sentence for the page, whatever it was
            tell({"id": order["id"], "error": _in_words(error)})
        lane.task_done()


_opening = threading.Lock()


def _bench(bench: list[Any], tell: Tell) -> Any:
    """The workbench, made by whoever needs it first."""
    from greyfill.app.workbench import Workbench

    with _opening:
        if isinstance(bench[0], dict):
            os.chdir(bench[0]["folder"])  # so that messages name the file alone
            bench[0] = Workbench(
                bench[0]["name"], lambda progress: tell({"id": None, "progress": progress})
            )
        return bench[0]


def _in_words(error: Exception) -> str:
    from greyfill.exceptions import GreyfillError
    from greyfill.files.inputs import in_words

    if isinstance(error, GreyfillError | OSError | MemoryError):
        return in_words(error)
    return f"greyfill could not do that ({type(error).__name__}). Nothing was changed."


def _warm_up(work: "Queue[dict[str, Any]]") -> None:
    """Load what a fill needs before anybody asks for one, when there is nothing else to do."""
    from greyfill.app import workbench  # noqa: F401

    work.join()
    import warnings

    import numpy as np

    from greyfill.imputers.grey import GreyImputer

    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(24, 3)), np.arange(24) % 3])
    X[rng.random(X.shape) < 0.2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GreyImputer(categorical_features=[3], n_jobs=1).fit(X, np.arange(24) % 2)


if __name__ == "__main__":
    main(sys.argv[1])
