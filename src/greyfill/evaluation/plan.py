"""What a comparison has to try, and by what key each trial is known."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np

from greyfill.evaluation.ampute import MECHANISMS
from greyfill.evaluation.classifiers import check_classifiers
from greyfill.evaluation.methods import make
from greyfill.evaluation.trials import PROTOCOLS, Data, Trial, metric_names
from greyfill.exceptions import InvalidParameterError


@dataclass(frozen=True)
class Plan:
    """The grid of a comparison; a value that makes no sense is refused before anything runs."""

    methods: dict[str, Any]
    rates: tuple[float, ...]
    mechanisms: tuple[str, ...]
    seeds: tuple[int, ...]
    classifiers: tuple[str, ...]
    protocols: tuple[str, ...]
    n_splits: int

    def __post_init__(self) -> None:
        check_classifiers(self.classifiers)
        _refuse_others("mechanism", self.mechanisms, MECHANISMS)
        _refuse_others("protocols", self.protocols, PROTOCOLS)
        if bad := [rate for rate in self.rates if not 0.0 < rate < 1.0]:
            raise InvalidParameterError(f"rates must lie between 0 and 1, got {bad[0]!r}")
        for name in ("methods", "rates", "mechanisms", "seeds"):
            if not getattr(self, name):
                raise InvalidParameterError(f"nothing to compare: there are no {name}")

    def trials(self, data: Data) -> list[Trial]:
        """All trials, with all their metrics wanted."""
        from greyfill import __version__

        print_of_data = _fingerprint(data)
        trials = []
        for case in product(self.mechanisms, self.rates, self.methods.items(), self.seeds):
            mechanism, rate, (label, method), seed = case
            wanted = metric_names(method, self.classifiers, self.protocols)
            about = [data.name, mechanism, rate, label, _described(method), seed, self.n_splits]
            key = _digest(json.dumps([print_of_data, *about, __version__]).encode())
            trials.append(Trial(mechanism, rate, label, seed, self.n_splits, key, wanted))
        return trials


def named_methods(methods: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Methods by the names that the results show.

    Parameters
    ----------
    methods
        Names of ``METHODS`` and transformers, which are called by their class, or a mapping of
        names of your own to either.

    >>> from greyfill import CGKNNImputer
    >>> named_methods(["mean", CGKNNImputer(3), CGKNNImputer(9)])
    {'mean': 'mean', 'CGKNNImputer': CGKNNImputer(n_neighbors=3),
     'CGKNNImputer_2': CGKNNImputer(n_neighbors=9)}
    """
    if isinstance(methods, str):
        raise InvalidParameterError(f"methods must be a list or a mapping, not {methods!r}")
    pairs = methods.items() if isinstance(methods, Mapping) else [(_name(m), m) for m in methods]
    named: dict[str, Any] = {}
    for name, method in pairs:
        _check(method)
        twins = sum(known.rpartition("_")[0] == name or known == name for known in named)
        named[f"{name}_{twins + 1}" if twins else name] = method
    return named


def _name(method: Any) -> str:
    return method if isinstance(method, str) else type(method).__name__


def _check(method: Any) -> None:
    if isinstance(method, str):
        make(method)
    elif isinstance(method, type) or not hasattr(method, "transform"):
        raise InvalidParameterError(f"a method is a name or a transformer, not {method!r}")


def _described(method: Any) -> str:
    """A method with all its parameters, as text that is the same in the next session."""
    if isinstance(method, str):
        return method
    parameters = sorted(method.get_params(deep=True).items())
    return f"{type(method).__module__}.{type(method).__qualname__}{parameters!r}"


def _fingerprint(data: Data) -> str:
    labels = np.empty(0) if data.labels is None else data.labels
    parts = (data.table.values.tobytes(), data.table.missing.tobytes(), labels.tobytes())
    return _digest(b"".join([repr(data.table.columns).encode(), *parts]))


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _refuse_others(parameter: str, given: Sequence[str], valid: Sequence[str]) -> None:
    if others := [value for value in given if value not in valid]:
        raise InvalidParameterError(f"{parameter}: {others[0]!r} is not one of {', '.join(valid)}")
