"""What GreyImputer costs: a whole table, one new row; beside peers and an earlier version.

    python benchmarks/grey_cost.py                      both, and peers; with --before half an hour
    python benchmarks/grey_cost.py --one-row            one new row alone
    python benchmarks/grey_cost.py --before PYTHON      and the greyfill of that interpreter
    python benchmarks/grey_cost.py --before PYTHON --accuracy --seeds 0..1    errors of both
    python benchmarks/grey_cost.py --large              and 1 000 000 × 20
    python benchmarks/grey_cost.py --tables iris wine   these alone; the page stays as it is
    python benchmarks/grey_cost.py --tables iris --page and they are on the page, alone

PYTHON is an interpreter with pandas and pyarrow in whose environment the earlier version was
installed (``pip install FOLDER`` of a checkout of it). Prints Markdown and puts it on
docs/performance.md. Real tables come from scikit-learn and the folder ``GREYFILL_DATA``, peers
from this environment and the folder ``GREYFILL_PEERS``; what is not there is named and left out.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

import cases
import grey_page
import tables
from cases import Case
from grey_page import BEFORE, NOW
from methods import PEERS
from run import several
from sections import again
from workers import Npz, PeerError, Worker

from greyfill.evaluation.trials import Data
from greyfill.missingness import hide, mcar
from greyfill.table import Column, Kind, Table

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
SLOW_SECONDS = 60.0
"""What takes longer is run once; of two versions both, so that neither has more tries."""

RIVALS = ("sklearn KNN", "sklearn Iterative", "R missForest", "R missRanger", "miceforest")


@dataclass(frozen=True)
class Made:
    """A made-up table: rank 6 plus noise, two classes."""

    rows: int
    columns: int
    rate: float = 0.2

    def case(self, name: str) -> Case:
        rng, labels = np.random.default_rng(0), np.arange(self.rows) % 2
        factors = rng.normal(size=(self.rows, 6))
        factors[:, 0] += labels
        cells = factors @ rng.normal(size=(6, self.columns))
        cells += 0.3 * rng.normal(size=cells.shape)
        columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(self.columns))
        table = Table(cells, np.zeros(cells.shape, dtype=bool), columns)
        mask = mcar(table, self.rate, random_state=rng)
        return Case(Data(name, table, labels), hide(table, mask), mask)


SHAPES = {
    "100 × 5": Made(100, 5),
    "300 × 13": Made(300, 13),
    "300 × 100": Made(300, 100),
    "300 × 300": Made(300, 300),
    "1000 × 20": Made(1_000, 20),
    "1000 × 1000": Made(1_000, 1_000, 0.1),
    "10000 × 20": Made(10_000, 20),
    "20000 × 20": Made(20_000, 20),
    "100000 × 20": Made(100_000, 20),
}
LARGE = {"1000000 × 20": Made(1_000_000, 20)}
OF_FOLDER = ("hepatitis", "voting", "soybean", "german-credit", "horse-colic")
REAL = (*tables.OF_SKLEARN, *OF_FOLDER)
BAR = (*REAL, "1000 × 20", "300 × 100")
NOT_BEFORE = ("1000 × 1000",)
"""Where the earlier version is not run: a fill takes it ten minutes."""


def case_of(name: str) -> Case:
    made = (SHAPES | LARGE).get(name)
    return made.case(name) if made else cases.make(name, "mcar20", 0)


class Version(Worker):
    """GreyImputer in the greyfill that an interpreter has."""

    def __init__(self, python: list[str], limit: float) -> None:
        super().__init__(NOW, "", limit)
        self._python = python

    def command(self) -> list[str]:
        return [*self._python, str(HERE / "grey_worker.py")]

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = super().ask(request)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer


Contestants = dict[str, Callable[[], dict[str, float]]]


def in_turns(contestants: Contestants) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """The least of every figure over three rounds, and why a contestant has none."""
    least: dict[str, dict[str, float]] = {}
    failed: dict[str, str] = {}
    for name in 3 * list(contestants):
        rivals = (NOW, BEFORE) if name in (NOW, BEFORE) else (name,)
        slowest = max(least.get(rival, {}).get("seconds", 0.0) for rival in rivals)
        if name in failed or slowest > SLOW_SECONDS:
            continue
        try:
            answer = contestants[name]()
        except PeerError as error:
            failed[name] = str(error)
        else:
            best = least.get(name, answer)
            least[name] = {key: min(best[key], value) for key, value in answer.items()}
    return {name: found for name, found in least.items() if name not in failed}, failed


@dataclass(frozen=True)
class Field:
    """Both versions, if there are two, and the peers that are installed."""

    versions: dict[str, Version]
    peers: dict[str, Worker]

    def answers(self, name: str, work: str, folder: Path, with_peers: bool = False) -> Any:
        """What ``in_turns`` finds when all do one work with a table."""
        case = case_of(name)
        request = Npz(folder).write(case, 0) | {"do": work}
        contestants: Contestants = {
            who: lambda version=version: version.ask(request)
            for who, version in self.versions.items()
            if who == NOW or name not in NOT_BEFORE
        }
        if with_peers:
            contestants |= {
                who: lambda peer=peer: _seconds(peer, case) for who, peer in self.peers.items()
            }
        return in_turns(contestants)


def _seconds(peer: Worker, case: Case) -> dict[str, float]:
    return {"seconds": peer.fill(case, 0)[1]["seconds"]}


def installed(name: str) -> bool:
    """Whether a peer can be run here."""
    home, environment = Path(os.environ.get("GREYFILL_PEERS", "peers")), PEERS[name].environment
    if environment == "R":
        return bool(shutil.which("Rscript")) and (home / "rlib" / name.removeprefix("R ")).exists()
    return not environment or (home / environment / "bin" / "python").exists()


def fills(field: Field, names: Sequence[str], notes: list[str]) -> list[str]:
    """Seconds of ``fit_transform`` with every table."""
    found: dict[str, dict[str, float]] = {}
    why: dict[tuple[str, str], str] = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            measured, failed = field.answers(name, "whole_table", Path(folder), with_peers=True)
        found[name] = {who: figures["seconds"] for who, figures in measured.items()}
        why |= {(name, who): _briefly(text) for who, text in failed.items()}
        print(name, found[name], failed, file=sys.stderr, flush=True)
    why |= {(name, BEFORE): "not run" for name in NOT_BEFORE}
    return grey_page.fills_section(found, why, BAR, notes)


def _briefly(error: str) -> str:
    """The limit that was passed, or that the contestant failed."""
    words = error.removeprefix("no answer within ").removesuffix(" of computing")
    return f"over {words}" if words != error else "failed"


def one_row(field: Field, names: Sequence[str], notes: list[str]) -> list[str]:
    """Milliseconds of one new row of every table."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            measured, failed = field.answers(name, "one_row", Path(folder))
        calls = dict.fromkeys(call for figures in measured.values() for call in figures)
        found[name] = {
            call: {who: figures[call] for who, figures in measured.items()} for call in calls
        }
        print(name, found[name], failed, file=sys.stderr, flush=True)
    return grey_page.rows_section(found, BAR, notes)


def errors(field: Field, names: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """NRMSE of both versions, with the holes of docs/accuracy.md."""
    found: dict[str, list[dict[str, float]]] = {}
    for name, scenario, seed in product(names, cases.SCENARIOS, seeds):
        case = cases.make(name, scenario, seed)
        with tempfile.TemporaryDirectory() as folder:
            exchange = Npz(Path(folder))
            request = exchange.write(case, seed) | {"do": "by_codes"}
            error = {}
            for who, version in field.versions.items():
                filled, _ = exchange.read(case, version.ask(request))
                error[who] = float(case.judge(filled)["nrmse"])  # type: ignore[arg-type]
        found.setdefault(name, []).append(error)
        print(name, scenario, seed, error, file=sys.stderr, flush=True)
    return grey_page.errors_section(found, seeds, list(cases.TITLES.values()))


def available(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tables that are here, and a note on those that are not."""
    here = bool(os.environ.get("GREYFILL_DATA"))
    absent = [name for name in names if name not in (*SHAPES, *LARGE, *tables.OF_SKLEARN)]
    if here or not absent:
        return list(names), []
    note = f"Left out, since `GREYFILL_DATA` is not set: {', '.join(absent)}."
    return [name for name in names if name not in absent], [note]


def refuse_one_version(versions: dict[str, Version]) -> None:
    """End if both interpreters have one and the same package."""
    packages = [version.ask({"do": "where"})["package"] for version in versions.values()]
    if len(set(packages)) < len(packages):
        sys.exit(f"the interpreter of --before has this version too: {packages[0]}")


def parts(options: argparse.Namespace, field: Field) -> list[list[str]]:
    """The sections that were asked for."""
    chosen = options.tables
    if options.accuracy:
        names, notes = available(chosen or tables.RANKED)
        return [[*errors(field, names, options.seeds), *notes]]
    names, notes = available(chosen or [*REAL, *SHAPES, *(LARGE if options.large else ())])
    sections = [] if options.one_row else [fills(field, names, [*notes, *_absent_peers(field)])]
    return [*sections, one_row(field, names, notes)]


def _absent_peers(field: Field) -> list[str]:
    absent = [name for name in RIVALS if name not in field.peers]
    return [f"Not installed, and left out: {', '.join(absent)}."] if absent else []


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--before", metavar="PYTHON", help="interpreter with an earlier version")
    parser.add_argument("--accuracy", action="store_true", help="errors of both versions alone")
    parser.add_argument("--one-row", action="store_true", help="one new row alone")
    parser.add_argument("--large", action="store_true", help="1 000 000 × 20 too")
    parser.add_argument("--seeds", type=several, default=[0, 1], help="of --accuracy: 0..4 or 1,5")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a peer's fill")
    parser.add_argument("--tables", nargs="+", metavar="TABLE", help="these alone")
    parser.add_argument("--page", action="store_true", help="with --tables: write the page, too")
    return parser


def parsed(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The options, if they go together."""
    parser = arguments()
    options = parser.parse_args(given)
    if options.accuracy and not options.before:
        parser.error("--accuracy compares with an earlier version: name its --before PYTHON")
    known = tables.ALL if options.accuracy else (*REAL, *SHAPES, *LARGE)
    unknown = [name for name in options.tables or [] if name not in known]
    if unknown:
        parser.error(f"--tables: no {', '.join(unknown)} among {', '.join(known)}")
    return options


def main() -> None:
    options = parsed()
    pythons = {NOW: [sys.executable]}
    if options.before:  # -E: what PYTHONPATH adds is not the earlier version
        pythons[BEFORE] = [options.before, "-E"]
    with ExitStack() as stack:
        enter = stack.enter_context
        versions = {who: enter(Version(python, 3600.0)) for who, python in pythons.items()}
        refuse_one_version(versions)
        peers = {
            name: enter(Worker(name, PEERS[name].environment, options.limit))
            for name in RIVALS
            if installed(name)
        }
        for section in parts(options, Field(versions, peers)):
            print("\n".join(section) + "\n")
            if options.page or not options.tables:
                again(PAGE, section, grey_page.ORDER)


if __name__ == "__main__":
    main()
