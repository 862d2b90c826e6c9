"""The walk of one table through greyfill: which modules ``greyfill impute`` enters, in what order.

Fills a bundled table in a process of its own under ``sys.setprofile`` and prints two counts:
*entered*, the modules of which a function ran (what runs while a module is imported does not
count), and *loaded*, those that were imported at all. Prints how often ``frames.encode`` ran, too;
ends with 1 if that is not once, or if more modules are entered than the bar allows.

    python benchmarks/walk.py --method cgknn
"""

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

MOST_ENTERED = 46
ENCODE = ("frames.encoder", "encode")


class Walk:
    """Notes each function of greyfill that is called, but not while a module is imported."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.calls: dict[tuple[str, str], int] = {}
        self._importing = threading.local()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return"):
            return
        if code.co_name == "<module>":
            self._importing.depth = self._depth + (1 if event == "call" else -1)
        elif event == "call" and not self._depth and code.co_flags & inspect.CO_OPTIMIZED:
            path = Path(code.co_filename)
            if path.is_relative_to(self.package):
                module = ".".join(path.relative_to(self.package).with_suffix("").parts)
                key = module, code.co_name
                self.calls[key] = self.calls.get(key, 0) + 1

    @property
    def _depth(self) -> int:
        return getattr(self._importing, "depth", 0)


def walk(arguments: list[str]) -> dict[str, Any]:
    """Run the command in this process; the modules in the order of their first call."""
    import greyfill
    from greyfill.cli import app

    noted = Walk(Path(greyfill.__file__).parent)
    threading.setprofile(noted)
    sys.setprofile(noted)
    try:
        app(arguments, standalone_mode=False)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {
        "entered": list(dict.fromkeys(module for module, _ in noted.calls)),
        "loaded": sum(name.startswith("greyfill.") for name in sys.modules),
        "encoded": noted.calls.get(ENCODE, 0),
    }


def measured(method: str, table: str = "hepatitis", more: tuple[str, ...] = ()) -> dict[str, Any]:
    """The walk of a bundled table in a process of its own, kernels compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / f"{table}.csv")
        command = [sys.executable, "-m", "greyfill"]
        subprocess.run([*command, "datasets", table, "-o", file], check=True, capture_output=True)
        arguments = ["impute", file, "--target", "class", "--method", method, "--quiet", *more]
        done = subprocess.run(
            [sys.executable, __file__, "--inside", *arguments], check=True, capture_output=True
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Print the walk, and hold it to its bars."""
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(walk(sys.argv[2:])))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="grey")
    parser.add_argument("--table", default="hepatitis", help="a bundled table")
    given = parser.parse_args()
    found = measured(given.method, given.table)
    for place, module in enumerate(found["entered"], 1):
        print(f"{place:>3}  {module}")
    print(
        f"{given.method}: {len(found['entered'])} modules entered (a function of them was called; "
        f"imports do not count), {found['loaded']} loaded; frames.encode ran {found['encoded']}×"
    )
    return int(found["encoded"] != 1 or len(found["entered"]) > MOST_ENTERED)


if __name__ == "__main__":
    raise SystemExit(main())
