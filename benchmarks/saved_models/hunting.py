"""Many files by several processes: which are next, what came of them, and what is told of it."""

import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from saved_models.keys import Key
from saved_models.trying import FAULTS
from saved_models.working import Worker

CORPUS = 400
"""Most mutated files that are changed further."""

DEEPEST = 4
"""Most mutations one on another."""

RESULTS = ("refused", "late", "answered", *FAULTS)
"""Refused when loaded, or in words by a model that was accepted; complete answers; faults."""

SHOWN = 3


@dataclass(frozen=True)
class Fault:
    """A file that must not do what it does."""

    key: Key
    reply: dict[str, Any]

    @property
    def group(self) -> tuple[str, ...]:
        reply = self.reply
        where = reply["where"] or f"asked for: {reply['step'] or '?'}"
        return self.key.estimator, reply["result"], reply["error"], where


@dataclass
class Hunt:
    """The files of a run; safe for several threads."""

    seed: int
    estimators: frozenset[str]
    mutations: int
    deadline: float
    guided: bool = False
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _corpus: list[Key] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _given: int = 0
    _index: int = -1

    def next_key(self) -> Key | None:
        """The next mutation, or None at the end."""
        with self._lock:
            if self._given >= self.mutations or time.monotonic() > self.deadline or self.errors:
                return None
            self._given += 1
            while True:
                self._index += 1
                rng = Random(f"base of {self.seed}:{self._index}")
                if self.guided and self._corpus and rng.random() < 0.5:
                    chosen = rng.choice(self._corpus)
                    return Key(self.seed, (*chosen.steps, self._index))
                key = Key(self.seed, (self._index,))
                if key.estimator in self.estimators:
                    return key

    def record(self, key: Key, reply: dict[str, Any]) -> None:
        with self._lock:
            self.counts.setdefault(key.estimator, Counter())[reply["result"]] += 1
            if reply["result"] in FAULTS:
                self.faults.append(Fault(key, reply))
            elif self.guided and self._is_new(key, reply) and len(key.steps) < DEEPEST:
                place = Random(str(key)).randrange(CORPUS)
                self._corpus[place : place + 1] = [key]

    def _is_new(self, key: Key, reply: dict[str, Any]) -> bool:
        """Whether nothing like it was seen: other words of refusal, or another change accepted."""
        told = reply["message"] or " ".join(" ".join(t.split()[:2]) for t in reply["told"])
        feature = re.sub(r"\d+|'[^']*'", "", f"{key.estimator} {reply['result']} {told}")
        if feature in self._seen:
            return False
        self._seen.add(feature)
        return True

    def run(self, worker: Worker) -> None:
        """Let one process try files until there are no more."""
        try:
            while (key := self.next_key()) is not None:
                self.record(key, worker.ask(key))
        except Exception as error:
            self.errors.append(error)
        finally:
            worker.close()


def hunt_by(hunt: Hunt, workers: list[Worker], report: Path | None, every: float = 20.0) -> None:
    """Run all processes; write the state of things into a file now and then."""
    threads = [threading.Thread(target=hunt.run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    told = time.monotonic()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.2)
        if report is not None and time.monotonic() - told > every:
            told = time.monotonic()
            report.write_text("\n".join(summary(hunt, is_done=False)) + "\n")
    if hunt.errors:
        raise hunt.errors[0]


def groups(faults: Iterable[Fault]) -> list[list[Fault]]:
    """Faults of one estimator, error and line together, the largest group first."""
    found: dict[tuple[str, ...], list[Fault]] = {}
    for fault in faults:
        found.setdefault(fault.group, []).append(fault)
    return sorted(found.values(), key=len, reverse=True)


def summary(hunt: Hunt, is_done: bool = True) -> Iterator[str]:
    """Groups of faults with keys to run them again, and a table of all results."""
    with hunt._lock:
        faults, counts = list(hunt.faults), {name: Counter(c) for name, c in hunt.counts.items()}
    for group in groups(faults):
        estimator, result, error, where = group[0].group
        yield f"{len(group)} × {estimator}: {result} {error} at {where}"
        for fault in group[:SHOWN]:
            yield f"    {fault.key}  {fault.reply['step']}: {fault.reply['message'][:110]!r}"
            yield from (f"        {words[:150]}" for words in fault.reply["told"])
    yield "" if is_done else "(still running)"
    yield "| estimator | mutations | " + " | ".join(RESULTS) + " |"
    yield "|---" * (len(RESULTS) + 2) + "|"
    for name in sorted(counts):
        yield _line(name, counts[name])
    yield _line("all", sum(counts.values(), Counter()))


def _line(name: str, counts: Counter[str]) -> str:
    cells = [str(counts[result]) for result in RESULTS]
    return f"| {name} | {counts.total()} | " + " | ".join(cells) + " |"
