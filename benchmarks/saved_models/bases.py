"""Small fitted models of every estimator that can be saved, and new tables to ask them about."""

import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import greyfill as gf
from greyfill.exceptions import GreyfillError
from greyfill.persistence.tags import IMPUTERS
from saved_models.parts import Model, read

Row = list[Any]


def _number(rng: Random, label: int, far: bool) -> float:
    return 1e6 if far else rng.gauss(label, 1.0)


def _whole(rng: Random, label: int, far: bool) -> int:
    return 10**6 if far else rng.randint(0, 5) + label


def _word(rng: Random, label: int, far: bool) -> str:
    return "unseen" if far else rng.choice("abc") if rng.random() < 0.5 else "abc"[label]


def _size(rng: Random, label: int, far: bool) -> str:
    return "XL" if far else rng.choice(("S", "M", "L"))


def _flag(rng: Random, label: int, far: bool) -> bool:
    return rng.random() < 0.3 + 0.2 * label


def _day(rng: Random, label: int, far: bool) -> date:
    return date(2200, 1, 1) if far else date(2024, 1, 1) + timedelta(days=rng.randint(0, 90))


def _moment(rng: Random, label: int, far: bool) -> datetime:
    return datetime(2024, 1, 1) + timedelta(seconds=rng.randint(0, 10**6) + 10**8 * far)


def _thing(rng: Random, label: int, far: bool) -> Any:
    return "unseen" if far else rng.choice(("a", 1, 2.5, "b"))


Maker = Callable[[Random, int, bool], Any]
COLUMNS: dict[str, dict[str, Maker]] = {
    "numbers": {"p": _number, "q": _number, "r": _whole, "s": _number},
    "frame": {"num": _number, "whole": _whole, "word": _word, "size": _size, "flag": _flag,
              "day": _day},
    "things": {"num": _number, "thing": _thing, "word": _word, "when": _moment, "none": _number,
               "rank": _whole},
    "words": {"a": _word, "b": _word, "c": _flag, "d": _size},
}  # fmt: skip
EMPTY = {"none"}
FRAME = {"num": pl.Float64, "whole": pl.Int64, "word": pl.String,
         "size": pl.Enum(["S", "M", "L", "XL"]), "flag": pl.Boolean, "day": pl.Date}  # fmt: skip


def rows_of(kind: str, n: int, rng: Random, holes: float, far: bool = False) -> list[Row]:
    """Rows in the columns of a sort of table, with holes."""
    makers = COLUMNS[kind].items()
    out = []
    for i in range(n):
        row = [make(rng, i % 3, far) for _, make in makers]
        gone = [name in EMPTY or rng.random() < holes for name, _ in makers]
        out.append([None if g else value for g, value in zip(gone, row, strict=True)])
    return out


def table_of(kind: str, rows: list[Row]) -> Any:
    """Rows in the container that a sort of table comes in."""
    names = list(COLUMNS[kind])
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    if kind == "numbers":
        return np.array(rows, dtype=np.float64)
    if kind == "frame":
        return pl.DataFrame(columns, schema=FRAME)
    if kind == "words":
        return pd.DataFrame(columns, dtype=object)
    frame = pd.DataFrame({**columns, "thing": pd.Series(columns["thing"], dtype=object)})
    frame["word"] = pd.Categorical(columns["word"], categories=["a", "b", "c", "unseen"])
    frame["when"] = pd.to_datetime(pd.Series(columns["when"]))
    return frame.astype({"none": float, "rank": "Int64", "num": float})


def probes(kind: str) -> list[Any]:
    """New tables: holes everywhere, nothing observed, unseen levels, complete rows, one row."""
    rng = Random(f"probes of {kind}")
    width = len(COLUMNS[kind])
    holes = [[None] * width, *rows_of(kind, 4, rng, 0.5)]
    for j in range(width):
        row = rows_of(kind, 1, rng, 0.0)[0]
        holes.append([*row[:j], None, *row[j + 1 :]])
    strange = [*rows_of(kind, 1, rng, 0.0), *rows_of(kind, 2, rng, 0.4, far=True)]
    return [table_of(kind, rows) for rows in (holes, strange, rows_of(kind, 1, rng, 0.5))]


@dataclass(frozen=True)
class Base:
    """One model to start from."""

    estimator: str
    kind: str
    target: str = "classes"
    rows: int = 24
    settings: dict[str, Any] = field(default_factory=dict)

    def target_of(self) -> Any:
        if self.target == "none":
            return None
        if self.target == "numbers":
            return [float(i % 7) + i / 100 for i in range(self.rows)]
        labels = ["low", "mid", "high"]
        return [labels[i % (1 if self.target == "one" else 3)] for i in range(self.rows)]

    def fitted(self) -> Any:
        rows = rows_of(self.kind, self.rows, Random("rows"), 0.2)
        model = getattr(gf, self.estimator)(**self.settings)
        return model.fit(table_of(self.kind, rows), self.target_of())


def _family() -> list[Base]:
    keep = {"keep_empty_features": True, "add_indicator": True}
    ordered = {"n_neighbors": 2, "ordinal_features": ["size"]}
    out = []
    for name in ("CGKNN", "FWGKNN", "GBNN", "GKNN", "IKNN", "KNNI", "MIKNN", "SKNN"):
        one = f"{name}Imputer"
        out += [
            Base(one, "numbers", settings={"n_neighbors": 3}),
            Base(one, "frame", rows=40, settings={**ordered, "max_donors": 5}),
            Base(one, "things", settings={"n_neighbors": 4, "ordinal_features": ["rank"], **keep}),
        ]
    return out


def _parts() -> list[Base]:
    filled: dict[str, Any] = {
        "distance": gf.Grey(holes="filled"),
        "schedule": gf.UntilStable(1e-6, 20),
    }
    parts: tuple[tuple[str, dict[str, Any]], ...] = (
        ("numbers", filled), ("frame", {**filled, "unlabeled": "all"}),
        ("things", {"distance": "heom", "weights": "pair", "fill": "plain"}),
        ("words", {"schedule": "direct", "donors": "all_rows", "start": "global"}),
        ("frame", {"schedule": "sequential", "donors": "complete_rows", "start": "global",
                   "weights": "pair_ksg", "distance": gf.Grey(0.3)}),
        ("numbers", {"distance": gf.Heom(holes="filled"), "weights": "forest"}),
    )  # fmt: skip
    return [Base("NeighborImputer", kind, settings={"n_neighbors": 2, **p}) for kind, p in parts]


def _tuned() -> list[Base]:
    quick = {"n_cells": 10, "max_iter": 2}
    keep = {"keep_empty_features": True, "add_indicator": True, "ordinal_features": ["rank"]}
    grey = [
        Base("GreyImputer", kind, target, settings={**quick, **more})
        for kind, target, more in (
            ("numbers", "classes", {}), ("numbers", "none", {}), ("numbers", "numbers", {}),
            ("frame", "classes", {}), ("frame", "none", {}), ("things", "numbers", keep),
            ("words", "classes", {}),
        )
    ]  # fmt: skip
    models = [
        ("GreyClassifier", "classes"),
        ("GreyClassifier", "one"),
        ("GreyRegressor", "numbers"),
    ]
    return grey + [
        Base(name, kind, target, settings={"n_cells": 10})
        for name, target in models
        for kind in (("numbers", "frame", "things") if target != "one" else ("numbers",))
    ]


def _chained() -> list[Base]:
    quick: dict[str, Any] = {"n_imputations": 2, "n_iter": 2}
    keep = {"keep_empty_features": True, "add_indicator": True, "ordinal_features": ["rank"]}
    methods = {"x0": "norm", "x1": "sample", "x2": "mean"}
    levels = {"word": "polyreg", "size": "polr", "flag": "logreg", "num": "norm", "day": "pmm"}
    mice = [
        Base("MICEImputer", kind, settings={**quick, **more})
        for kind, more in (
            ("numbers", {}), ("numbers", {"methods": methods, "combine": "draw"}),
            ("frame", {"methods": levels, "ordinal_features": ["size"]}), ("things", keep),
            ("words", {"labels": "predictor"}),
        )
    ]  # fmt: skip
    forest: dict[str, Any] = {"n_estimators": 3, "max_iter": 2}
    return mice + [
        Base("MissForestImputer", kind, rows=30, settings={**forest, **more})
        for kind, more in (("numbers", {}), ("frame", {}), ("things", keep), ("words", {}))
    ]


QUICK = {"max_iter": 3, "n_iter": 2, "n_imputations": 2, "n_estimators": 3, "n_hidden": 4,
         "n_prototypes": 2, "penalty": 0.1, "n_init": 1}  # fmt: skip
"""What makes a fit quick, for every method that has a parameter of this name."""

OTHERWISE: dict[str, Any] = {
    "donor": "nearest", "cells": "class", "order": "score", "noise": True, "combine": "draw",
    "value": "prototype", "labels": "none", "bootstrap": False, "n_clusters": 2, "fuzziness": 1.5,
}  # fmt: skip
"""What some methods do if asked to."""


def _others(known: set[str]) -> list[Base]:
    """Whatever else a file may hold: each by its defaults, and once otherwise."""
    keep = {"keep_empty_features": True, "add_indicator": True, "ordinal_features": ["rank"],
            "bounds": {"num": (-2.0, 2.0)}, "leave_alone": ["when"]}  # fmt: skip
    kinds: dict[str, dict[str, Any]] = {
        "numbers": {}, "frame": {"ordinal_features": ["size"], **OTHERWISE}, "things": keep,
        "words": {},
    }  # fmt: skip
    return [
        Base(name, kind, settings={n: v for n, v in {**QUICK, **more}.items() if n in takes})
        for name, maker in IMPUTERS.items()
        if name not in known
        for takes in [maker().get_params()]
        for kind, more in kinds.items()
    ]


OLDER = (*_family(), *_parts(), *_tuned(), *_chained())
BASES = (*OLDER, *_others({base.estimator for base in OLDER}))
ESTIMATORS = tuple(dict.fromkeys(base.estimator for base in BASES))


@dataclass(frozen=True)
class Ready:
    """A base as it was saved, what is asked of it, and cells that its ``fit`` filled."""

    number: int
    base: Base
    model: Model
    tables: list[Any]
    cells: list[list[int]]

    @property
    def name(self) -> str:
        return f"{self.base.estimator}#{self.number} ({self.base.kind}, {self.base.target})"


def build(folder: Path, estimators: set[str]) -> None:
    """Fit and save the bases of some estimators."""
    for number, base in enumerate(BASES):
        if base.estimator in estimators and not (folder / f"{number}.json").exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = base.fitted()
                model.save(folder / f"{number}.greyfill")
                cells = explained_cells(model)
            (folder / f"{number}.json").write_text(json.dumps(cells))


def explained_cells(model: Any, most: int = 3) -> list[list[int]]:
    """Filled cells of the training table that have donors; rows beyond max_donors have none."""
    rows, columns, _ = getattr(model, "cell_spreads_", ((), (), ()))
    cells: list[list[int]] = []
    for row, column in zip(rows, columns, strict=True):
        with suppress(GreyfillError):
            model.donors_of(int(row), int(column))
            cells.append([int(row), int(column)])
    return cells[:: max(len(cells) // most, 1)][:most]


def ready(folder: Path) -> dict[int, Ready]:
    """The bases of a folder by number; those of one estimator are siblings."""
    tables = {kind: probes(kind) for kind in COLUMNS}
    found = {}
    for number, base in enumerate(BASES):
        if (folder / f"{number}.json").exists():
            cells = json.loads((folder / f"{number}.json").read_text())
            model = read(folder / f"{number}.greyfill")
            found[number] = Ready(number, base, model, tables[base.kind], cells)
    for one in found.values():
        one.model.siblings.extend(
            other.model
            for other in found.values()
            if other is not one and other.base.estimator == one.base.estimator
        )
    return found
