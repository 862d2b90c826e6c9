"""Changes of the tree: values, keys, lists, names of types, parameters, and odd attributes."""

import copy
import json
from random import Random
from typing import Any

from greyfill.persistence.tags import IMPUTERS
from saved_models.parts import AGAIN, DEEP, RAW, Model, Spot, pick

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 10, 2**31, -(2**31), 2**63, 2**63 - 1, 10**30, 500_000_000,
    0.5, 1e308, -1e308, -0.0, 5e-324, "", "x", "x" * 5000, "\ud800", "é\0", "NaN", "x0",
    f"{RAW}NaN", f"{RAW}-Infinity", f"{RAW}1e999", RAW + "9" * 5000, f"{DEEP}30", f"{DEEP}200000",
    [], [0], [[]], {}, {"a": 1}, {"$tuple": []}, {"$tuple": [1, 2]}, {"$tuple": ["x", None]},
    {"$set": []}, {"$set": [1, 2]}, {"$dict": []}, {"$dict": [[0, 0]]}, {"$dict": [["x0", 1]]},
    {"$text": "float", "value": "nan"}, {"$text": "float", "value": "inf"},
    {"$text": "decimal", "value": "sNaN"}, {"$text": "date", "value": "2024-01-01"},
    {"$text": "datetime", "value": "2024-01-01T00:00:00+00:00"}, {"$text": "bytes", "value": "00"},
    {"$text": "timedelta", "value": "1e30"}, {"$text": "time", "value": "10:00"},
    {"$objects": [1, None], "shape": [2]}, {"$objects": [], "shape": [0]},
    {"$array": "0.npy"}, {"$scalar": "0.npy"}, {"$array": "no.npy"}, {"$array": 3},
    {"$unknown": 1}, {"$enum": "kind", "value": "ordinal"},
)  # fmt: skip

ENUM_VALUES = (
    "numeric", "categorical", "ordinal", "float", "integer", "decimal", "boolean", "date",
    "datetime", "duration", "time", "text", "category", "mixed", "empty", "x", None, 0,
)  # fmt: skip

WORDS = (
    "donors", "weights", "none", "predictor", "soft", "all", "mean", "draw", "mask", "filled",
    "auto", "cv", "masked", "parzen", "ksg", "forest", "pair", "equal", "class", "pmm", "norm",
    "logreg", "polyreg", "polr", "sample", "same", "triangular", "gaussian", "numbers",
)  # fmt: skip
"""What options of the methods are called."""

ODD_ATTRIBUTES: tuple[tuple[str, Any], ...] = (
    ("_sklearn_output_config", {"$dict": [["transform", "pandas"]]}),
    ("_sklearn_output_config", {"$dict": [["transform", "nothing"]]}),
    ("_sklearn_output_config", 3), ("_sklearn_output_config", {"$dict": [["transform", None]]}),
    ("n_jobs", 2**31), ("n_jobs", "x"), ("_reported", {"$tuple": [1, 2, 3]}), ("_fill_table", 1),
    ("__class__", "x"), ("__dict__", {"$dict": []}), ("transform", 1), ("_training", 1),
    ("_unsaved", {"$tuple": []}), ("_response", 1), ("_repr_html_", 1), ("a b", 1), ("", 1),
    ("_estimator_type", "x"), ("feature_names_in_", {"$objects": ["a", "b"], "shape": [2]}),
    ("feature_names_in_", {"$objects": [1, None], "shape": [2]}), ("classes_", [0, 1]),
    ("n_features_in_", 2), ("_doc_link_module", 1), ("get_params", None), ("verbose", 1),
)  # fmt: skip


def any_value(rng: Random) -> Any:
    return copy.deepcopy(rng.choice(VALUES))


def told(node: Any) -> str:
    text = node if isinstance(node, str) else json.dumps(node)
    return repr(text) if len(text) < 60 else f"{text[:40]!r}… ({len(text)})"


def _put(spot: Spot, node: Any) -> str:
    old = told(spot.node)
    spot.put(node)
    return f"{spot.path} {old} -> {told(node)}"


def replace_scalar(model: Model, rng: Random) -> str | None:
    spots = [s for s in model.spots() if not isinstance(s.node, dict | list)]
    spot = pick(rng, spots)
    if spot is None:
        return None
    new = rng.choice(WORDS) if isinstance(spot.node, str) and rng.random() < 0.3 else any_value(rng)
    return _put(spot, new)


def replace_any(model: Model, rng: Random) -> str | None:
    spot = pick(rng, model.spots())
    return None if spot is None else _put(spot, any_value(rng))


def nudge_number(model: Model, rng: Random) -> str | None:
    spots = [s for s in model.spots() if type(s.node) in (int, float)]
    spot = pick(rng, spots)
    if spot is None:
        return None
    old = spot.node
    near = (old + 1, old - 1, -old, old * 2, old / 2, float(old), old + 7, old * 10**6, 0, True)
    try:
        return _put(
            spot, rng.choice(near if isinstance(old, float) else (*near, old // 2, old + 2))
        )
    except OverflowError:
        return None


def _with_keys(model: Model, least: int) -> list[Spot]:
    return [s for s in model.spots() if isinstance(s.node, dict) and len(s.node) >= least]


def change_keys(model: Model, rng: Random) -> str | None:
    """A key that is missing, new, written otherwise, or there twice."""
    spot = pick(rng, _with_keys(model, 1))
    if spot is None:
        return None
    key, how = rng.choice(list(spot.node)), rng.choice(("delete", "add", "rename", "again"))
    if how == "delete":
        del spot.node[key]
    elif how == "add":
        key, value = rng.choice((*ODD_ATTRIBUTES, ("_late", {"$dict": []}), ("_layouts", 1)))
        spot.node[key] = copy.deepcopy(value)
    elif how == "rename":
        others = [k for s in _with_keys(model, 1) for k in s.node]
        names = [f"{key}_", key.upper(), rng.choice(others), "$record", "\ud800"]
        new = rng.choice(names)
        changed = {(new if k == key else k): node for k, node in spot.node.items()}
        spot.put(changed)
    else:
        spot.node[f"{AGAIN}{key}"] = any_value(rng)
    return f"change_keys {how} {spot.path}/{key:.40}"


def odd_attribute(model: Model, rng: Random) -> str | None:
    state = model.tree.get("state") if isinstance(model.tree, dict) else None
    if not isinstance(state, dict):
        return None
    key, value = rng.choice(ODD_ATTRIBUTES)
    value = any_value(rng) if rng.random() < 0.2 else copy.deepcopy(value)
    state[key] = value
    return f"state[{key!r}] = {told(value)}"


def copy_node(model: Model, rng: Random) -> str | None:
    """A node in the place of another, of the same sort more often than not."""
    to = pick(rng, model.spots())
    if to is None:
        return None
    spots = model.spots()
    if rng.random() < 0.7:
        spots = [s for s in spots if _sort(s.node) == _sort(to.node) and s.node is not to.node]
    source = pick(rng, spots)
    if source is None:
        return None
    node = copy.deepcopy(source.node)
    to.put(node)
    return f"copy_node {source.path} -> {to.path}"


def swap_nodes(model: Model, rng: Random) -> str | None:
    one = pick(rng, model.spots())
    alike = [s for s in model.spots() if one and s.path == one.path and s.node is not one.node]
    other = pick(rng, alike)
    if one is None or other is None:
        return None
    first, second = copy.deepcopy(one.node), copy.deepcopy(other.node)
    one.put(second)
    other.put(first)
    return f"swap_nodes {one.path}"


def _sort(node: Any) -> str:
    """The tag of a node, or its Python type."""
    if isinstance(node, dict):
        return str(next(iter(node), ""))
    return type(node).__name__


def swap_types(model: Model, rng: Random) -> str | None:
    """The name of another type, known or not, with the content as it was."""
    spots = [s for s in model.spots() if s.key in ("$record", "$enum", "$imputer")]
    spot = pick(rng, spots)
    if spot is None:
        return None
    known = sorted({str(s.node) for s in spots if s.key == spot.key})
    names = list(IMPUTERS) if spot.key == "$imputer" else known
    return _put(spot, rng.choice((*names, *names, "builtins.eval", "table", "x", None, 3, [])))


def change_enum(model: Model, rng: Random) -> str | None:
    spots = [s for s in model.spots() if isinstance(s.node, dict) and "$enum" in s.node]
    spot = pick(rng, spots)
    if spot is None:
        return None
    spot.node["value"] = new = rng.choice(ENUM_VALUES)
    return f"change_enum {spot.path} -> {new!r}"


def change_list(model: Model, rng: Random) -> str | None:
    """A list that is shorter, longer, in another order, or empty."""
    spots = [s for s in model.spots() if isinstance(s.node, list) and s.node]
    spot = pick(rng, spots)
    if spot is None:
        return None
    parts, place = list(spot.node), rng.randrange(len(spot.node))
    how = rng.choice(("shorten", "lengthen", "shuffle", "empty", "double", "new"))
    if how == "shorten":
        del parts[place]
    elif how == "lengthen":
        parts.insert(place, copy.deepcopy(parts[place]))
    elif how == "shuffle":
        rng.shuffle(parts)
    elif how == "new":
        parts.insert(place, any_value(rng))
    else:
        parts = [] if how == "empty" else [*parts, *copy.deepcopy(parts)]
    spot.put(parts)
    return f"change_list {how} {spot.path} ({place})"


TAGS = ("$tuple", "$set", "$dict", "$array", "$scalar", "$objects", "$record", "$text", "$enum")


def change_tag(model: Model, rng: Random) -> str | None:
    """Tuples as lists or sets, arrays as scalars, and so on."""
    spots = [s for s in model.spots() if _sort(s.node).startswith("$") or isinstance(s.node, list)]
    spot = pick(rng, spots)
    if spot is None:
        return None
    old, tag = spot.node, rng.choice(TAGS)
    if isinstance(old, list):
        new: Any = {tag: old}
    elif rng.random() < 0.4:
        new = old[_sort(old)]  # the content without its tag
    else:
        new = {(tag if key == _sort(old) else key): part for key, part in old.items()}
    spot.put(new)
    return f"change_tag {spot.path} {_sort(old)} -> {_sort(new)}"


PARAMETERS: dict[str, tuple[Any, ...]] = {
    "labels": ("donors", "weights", "none", "predictor"), "unlabeled": ("soft", "all"),
    "combine": ("mean", "draw"), "n_neighbors": (1, 2, 10**6, 0, -1, "auto", "cv", 1.5),
    "n_jobs": (None, -1, 0, 2, 2**31, -(2**31), "x", 1.5), "max_iter": (1, 0, -1, 10**9),
    "tol": (0.0, -1.0, 1e308, f"{RAW}NaN", 0), "add_indicator": (True, False, 2, "x"),
    "keep_empty_features": (True, False, 2, "x"), "verbose": (1, "x"), "max_donors": (1, 0, 10**9),
    "missing_values": ([0], "?", ["a", None], {"$set": [1]}, {"$text": "float", "value": "nan"},
                       [[1]], {"$dict": []}, {"$array": "0.npy"}),
    "categorical_features": ([0], [], ["a"], [99], {"$array": "0.npy"}), "random_state": (None, -1),
    "ordinal_features": ([0], {"$dict": [["a", [1, 2]]]}), "n_imputations": (0, 1, 3, 10**9),
    "n_iter": (0, 1, 10**9), "n_cells": (0, 10**9), "n_estimators": (0, 10**9),
    "max_features": (0, 10**9), "methods": ({"$dict": [["x0", "mean"]]}, 3),
    "distance": ("grey", "heom", "x"), "schedule": ("once", "direct", "sequential", "x"),
    "donors": ("all_rows", "x"), "start": ("global", "x"), "fill": ("plain", "x"),
    "weights": ("equal", "pair_ksg", "x"),
}  # fmt: skip


def change_parameter(model: Model, rng: Random) -> str | None:
    parameters = model.tree.get("parameters") if isinstance(model.tree, dict) else None
    if not isinstance(parameters, dict) or not parameters:
        return None
    name = rng.choice(list(parameters))
    choices = PARAMETERS.get(name, VALUES)
    new = any_value(rng) if rng.random() < 0.2 else copy.deepcopy(rng.choice(choices))
    return _put(Spot(parameters, name, f"parameters/{name}"), new)


def rename_column(model: Model, rng: Random) -> str | None:
    """A column with the name of another, of none, or with an impossible one."""
    spots = [s for s in model.spots() if s.key == "name" and isinstance(s.node, str)]
    spot = pick(rng, spots)
    if spot is None:
        return None
    names = [s.node for s in spots]
    new = rng.choice((*names, "", "\ud800", "\0", "x" * 3000, "missingindicator_x0", 3, None))
    return _put(spot, new)
