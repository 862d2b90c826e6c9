"""Files name types by tags, which outlive modules and classes; files of format 1 still load."""

import dataclasses
import json
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from persistence.archives import change_tree, parts_of

import greyfill
from greyfill.exceptions import PersistenceError
from greyfill.persistence.estimator_rules import _check_engine, state_types
from greyfill.persistence.tags import (
    IMPUTERS,
    OLD_FIELDS,
    OLD_NAMES,
    PARTS,
    TAGS,
    TYPES,
    declared_types,
)

FIXTURES = Path(__file__).parent / "fixtures"
KNOWN = {n: json.loads((FIXTURES / f"format{n}-answers.json").read_text()) for n in (1, 2)}
"""What each model answered when its file was written, and, in the first, the rows."""

SCHEMA = {
    "length": pl.Float64, "grade": pl.Enum(["low", "middle", "high"]), "color": pl.String,
    "mated": pl.Boolean, "eggs": pl.Int64,
}  # fmt: skip


def answers(model: Any) -> list[Any]:
    rows = pl.DataFrame(KNOWN[1]["rows"], schema=SCHEMA, orient="row")
    if isinstance(model, greyfill.GreyClassifier):
        return model.predict_proba(rows).tolist()
    if isinstance(model, greyfill.GreyRegressor):
        return [[number] for number in model.predict(rows).tolist()]
    return [list(row) for row in model.transform(rows).rows()]


def assert_alike(given: list[Any], known: list[Any]) -> None:
    """Equal but for the last bits, which the libraries of another machine may change."""
    for row, expected in zip(given, known, strict=True):
        for cell, value in zip(row, expected, strict=True):
            assert cell == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)


def names_in(path: Path) -> set[str]:
    """The types that a file names."""
    tree = parts_of(path)["tree.json"].decode()
    return set(re.findall(r'"\$(?:record|enum)": "([^"]*)"', tree))


SAVED = [(number, name) for number, known in KNOWN.items() for name in known["answers"]]


@pytest.mark.parametrize(("number", "name"), SAVED)
def test_files_of_every_format_answer_as_they_did_and_are_saved_with_tags(
    number: int, name: str, tmp_path: Path
) -> None:
    file = FIXTURES / f"format{number}-{name}.greyfill"
    assert json.loads(parts_of(file)["manifest.json"])["format"] == number
    model = greyfill.load(file)
    assert_alike(answers(model), KNOWN[number]["answers"][name])
    path = tmp_path / "again"
    model.save(path)
    assert json.loads(parts_of(path)["manifest.json"])["format"] == 2
    assert names_in(path) <= TYPES.keys()
    paths_of_modules = re.findall(rb"[a-z_]\w*\.[A-Za-z_]\w*", parts_of(path)["tree.json"])
    assert not paths_of_modules
    assert answers(greyfill.load(path)) == answers(model)


def test_the_files_of_format_1_hold_every_old_name() -> None:
    files = FIXTURES.glob("format1-*.greyfill")
    assert set().union(*map(names_in, files)) == OLD_NAMES.keys()


def test_old_names_lead_to_tags_and_no_tag_is_an_old_name() -> None:
    assert set(OLD_NAMES.values()) <= TYPES.keys()
    assert len(set(OLD_NAMES.values())) == len(OLD_NAMES)
    assert not OLD_NAMES.keys() & TYPES.keys()


def hints() -> Iterator[Any]:
    for kind in IMPUTERS.values():
        yield from state_types(kind).values()
    for parts in PARTS.values():
        yield from parts


def reachable() -> set[Any]:
    """The records and enumerations that a fitted imputer can hold, by declared types."""
    found: set[Any] = set()
    waiting = list(hints())
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        is_record = isinstance(hint, type) and dataclasses.is_dataclass(hint)
        if hint in found or not (is_record or (isinstance(hint, type) and issubclass(hint, Enum))):
            continue
        found.add(hint)
        if is_record:
            fields = [f.name for f in dataclasses.fields(hint) if not f.name.startswith("_")]
            waiting += [declared_types(hint)[name] for name in fields]
    return found


def test_every_type_in_an_imputer_has_one_tag() -> None:
    assert reachable() == set(TYPES.values())
    assert len(TAGS) == len(TYPES)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", tag) for tag in TYPES)


def test_every_imputer_has_a_rule_and_others_are_refused() -> None:
    no_rule = _check_engine.dispatch(object)
    assert all(_check_engine.dispatch(kind) is not no_rule for kind in IMPUTERS.values())
    with pytest.raises(greyfill.exceptions.PersistenceError, match="no rule for a str"):
        _check_engine("imputer", ())


def test_a_field_is_found_by_its_older_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    greyfill.KNNIImputer(1).fit([[1.0, 2.0], [5.0, 6.0]]).save(path)

    def change(tree) -> None:
        tree["state"]["_learned"] = tree["state"].pop("_fitted")
        donors = tree["state"]["_learned"]["fields"]["donors"]["fields"]
        donors["holes"] = donors.pop("missing")

    change_tree(path, change)
    with pytest.raises(PersistenceError, match="_learned"):
        greyfill.load(path)
    monkeypatch.setitem(OLD_FIELDS, "KNNIImputer", {"_learned": "_fitted"})
    with pytest.raises(PersistenceError, match="holes"):
        greyfill.load(path)
    monkeypatch.setitem(OLD_FIELDS, "table", {"holes": "missing"})
    assert greyfill.load(path).transform([[4.0, None]]).tolist() == [[4.0, 6.0]]
