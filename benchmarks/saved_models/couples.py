"""Changes of things that belong together, so that a check of one against the other still passes."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from saved_models.arrays import changed_element
from saved_models.parts import Model, Spot, names_member, pick
from saved_models.trees import any_value, told

SCALERS = ("range-scaler", "half-range-scaler")


def _fields(model: Model, rng: Random, *tags: str) -> dict[str, Any] | None:
    """The fields of a record of one of these types."""
    found = model.records(*tags)
    return rng.choice(found)["fields"] if found else None


def _edit(model: Model, node: Any, change: Callable[[Any], Any]) -> bool:
    """Change the array of a node, where there is one that can be changed so."""
    if not isinstance(node, dict) or not names_member(node, model):
        return False
    array = model.array(node)
    if array is None:
        return False
    try:
        with np.errstate(all="ignore"):
            model.put_array(node, change(array))
    except (TypeError, ValueError, IndexError, OverflowError):
        return False
    return True


def resize_axis(model: Model, rng: Random) -> str | None:
    """Every array with as many rows or columns loses one, or gets one; sometimes all but one do."""
    spots = [(spot, model.array(spot.node)) for spot in model.array_spots()]
    spots = [(spot, array) for spot, array in spots if array is not None and array.ndim]
    sizes = sorted({size for _, array in spots for size in array.shape if size > 1})
    if not sizes:
        return None
    size, how = rng.choice(sizes), rng.choice(("drop", "repeat", "half", "none", "reverse"))
    order = list(range(size))
    place = rng.randrange(size)
    new = {"drop": order[:place] + order[place + 1 :], "repeat": [*order, place], "none": [],
           "half": order[: size // 2], "reverse": order[::-1]}[how]  # fmt: skip
    left_out = rng.choice(spots)[0].path if rng.random() < 0.3 else None
    for spot, array in spots:
        if size in array.shape and spot.path != left_out:
            axis = array.shape.index(size)
            _edit(model, spot.node, lambda a, axis=axis: np.take(a, new, axis=axis))
    return f"resize_axis {how} of {size}, but {left_out}"


def same_element(model: Model, rng: Random) -> str | None:
    """The same element of all arrays of one shape."""
    spot = pick(rng, model.array_spots())
    array = model.array(spot.node) if spot else None
    if spot is None or array is None or array.size == 0:
        return None
    place, value = rng.randrange(array.size), changed_element(array.reshape(-1)[0], rng)

    def change(other: Any) -> Any:
        out = other.copy()
        out.reshape(-1)[place] = np.array(value).astype(out.dtype)
        return out

    for other in model.array_spots():
        found = model.array(other.node)
        if found is not None and found.shape == array.shape:
            _edit(model, other.node, change)
    return f"same_element [{place}] = {value} of all arrays {list(array.shape)}"


def same_key(model: Model, rng: Random) -> str | None:
    """Every field of one name, or every attribute that repeats it, with the same other value."""
    spots = [s for s in model.spots() if isinstance(s.key, str) and not s.key.startswith("$")]
    spots = [s for s in spots if not isinstance(s.node, dict | list)]
    if not spots:
        return None
    name = rng.choice(sorted({s.key.rstrip("_") for s in spots}))
    alike = [s for s in spots if s.key.rstrip("_") == name]
    old = alike[0].node
    near = [old + 1, old * 2, max(old - 1, 0)] if type(old) in (int, float) else []
    value = rng.choice(near) if near and rng.random() < 0.5 else any_value(rng)
    for spot in alike:
        spot.put(copy.deepcopy(value))
    return f"same_key {name} {told(old)} -> {told(value)}"


def same_number(model: Model, rng: Random) -> str | None:
    """Every whole number of one value in the tree, keys of dictionaries among them."""
    spots = [s for s in model.spots() if type(s.node) is int]
    spot = pick(rng, spots)
    if spot is None:
        return None
    old, new = spot.node, rng.choice((spot.node + 1, spot.node - 1, -1, 10**6, 2**40))
    for other in spots:
        if other.node == old:
            other.put(new)
    return f"same_number {old} -> {new}"


def same_text(model: Model, rng: Random) -> str | None:
    """A name everywhere it is written: of a column, a level, a class."""
    names = [s for s in model.spots() if s.key == "name" or "levels" in s.path or "class" in s.path]
    names = [s for s in names if isinstance(s.node, str)]
    spot = pick(rng, names)
    if spot is None:
        return None
    old = spot.node
    new = rng.choice((rng.choice(names).node, "", "new", "\ud800", None, 3, 1.5))
    for other in model.spots():
        if isinstance(other.node, str) and other.node == old:
            other.put(new)
    return f"same_text {told(old)} -> {told(new)}"


def more_levels(model: Model, rng: Random) -> str | None:
    """More or fewer levels of a column in its field and its column, and codes to match."""
    fields = [f["fields"] for f in model.records("field")]
    fields = [f for f in fields if isinstance(f.get("levels"), dict) and f["levels"].get("$tuple")]
    if not fields:
        return None
    chosen, done = rng.choice(fields), []
    levels = chosen["levels"]["$tuple"]
    grow = rng.random() < 0.6
    if rng.random() < 0.8:
        chosen["levels"]["$tuple"] = [*levels, "brand new"] if grow else levels[:-1]
        done.append("field")
    count = len(levels) + 1 if grow else len(levels) - 1
    for record in model.records("column"):
        if record["fields"].get("name") == chosen.get("name") and rng.random() < 0.9:
            record["fields"]["n_levels"] = count
            done.append("column")
    if rng.random() < 0.7:
        done += [_set_code(model, table, chosen.get("name"), count - 1) for table in
                 model.records("table")]  # fmt: skip
    return f"more_levels {chosen.get('name')!s:.20} {len(levels)} -> {count}: {done}"


def _set_code(model: Model, table: dict[str, Any], name: Any, code: int) -> str:
    """Write a code into the column of a table."""
    columns = table["fields"].get("columns")
    columns = columns.get("$tuple", []) if isinstance(columns, dict) else []
    if not isinstance(columns, list):
        return "nothing"
    names = [c["fields"].get("name") if isinstance(c, dict) and isinstance(c.get("fields"), dict)
             else None for c in columns]  # fmt: skip
    place = names.index(name) if name in names else -1

    def change(values: Any) -> Any:
        out = values.copy()
        out[:: max(len(out) // 3, 1), place] = code
        return out

    return "codes" if _edit(model, table["fields"].get("values"), change) else "nothing"


def other_kind(model: Model, rng: Random) -> str | None:
    """Another kind of one column, in the schema and in all tables."""
    names = [f["fields"].get("name") for f in model.records("field")]
    if not names:
        return None
    name = rng.choice(names)
    kind, n_levels = rng.choice((("numeric", 0), ("categorical", 2), ("ordinal", 3), ("numeric", 2),
                                 ("categorical", 0), ("categorical", 10**6)))  # fmt: skip
    levels = [f"l{i}" for i in range(min(n_levels, 5))]
    for record in (*model.records("field"), *model.records("column")):
        fields = record["fields"]
        if fields.get("name") == name:
            fields["kind"] = {"$enum": "kind", "value": kind}
            if "n_levels" in fields:
                fields["n_levels"] = n_levels
            if "levels" in fields:
                fields["levels"] = {"$tuple": list(levels)}
    if rng.random() < 0.5:
        for scaler in model.records(*SCALERS):
            _edit(model, scaler["fields"].get("is_categorical"), lambda a: a | (kind[0] == "c"))
    return f"other_kind {told(name)} {kind} of {n_levels} levels"


def odd_forest(model: Model, rng: Random) -> str | None:
    """Roots, children, features or classes of a forest that lead astray."""
    forest = _fields(model, rng, "forest")
    if forest is None:
        return None
    names = ("feature", "threshold", "left", "right", "value")
    how = rng.choice(("circle", "self", "root", "child", "feature", "longer", "codes", "no tree"))
    first = 0 if how == "circle" else 1
    if how in ("circle", "self"):
        for name in ("left", "right"):
            _edit(model, forest.get(name), lambda a: np.maximum(a * 0, np.arange(len(a)) * first))
    elif how == "root":
        _edit(model, forest.get("roots"), lambda a: a + rng.choice((len(a), -1, 10**6, 1)))
    elif how == "child":
        side, far = rng.choice(("left", "right")), rng.choice((1, -1, 10**6, -(10**6)))
        _edit(model, forest.get(side), lambda a: a + far)
    elif how == "feature":
        far = rng.choice((1, 3, 10**6, -5))
        _edit(model, forest.get("feature"), lambda a: np.where(a >= 0, a + far, a).astype(a.dtype))
    elif how == "longer":
        for name in names:
            _edit(model, forest.get(name), lambda a: np.concatenate([a, a[-1:]]))
    elif how == "codes":
        _edit(model, forest.get("value"), lambda a: a + rng.choice((1, 100, -50, 0.5)))
        forest["n_classes"] = rng.choice((0, 1, 2, 100, 10**7))
    else:
        _edit(model, forest.get("roots"), lambda a: a[:0])
    return f"odd_forest {how}"


def odd_tree(model: Model, rng: Random) -> str | None:
    """Branches, children and shares of a C4.5 tree that lead astray, or nowhere."""
    tree = _fields(model, rng, "quinlan-tree")
    if tree is None:
        return None
    name = rng.choice(("attribute", "child", "parts", "branches", "shares", "sums", "cut"))
    small, far = rng.choice((0.0, 5e-324, 1e-200)), rng.choice((1, -1, 2, 10**6))
    how: Callable[[Any], Any] = rng.choice((
        lambda a: np.where(np.arange(a.size).reshape(a.shape) > 0, small, a).astype(a.dtype),
        lambda a: np.full_like(a, small), lambda a: a + np.array(far, a.dtype),
        lambda a: np.roll(a, 1), lambda a: np.flip(a, axis=-1), lambda a: np.eye(*a.shape),
    ))  # fmt: skip
    return f"odd_tree {name}" if _edit(model, tree.get(name), how) else None


def odd_moments(model: Model, rng: Random) -> str | None:
    """Covariances that are nearly none: alike, hugely different, or of columns that are equal."""
    normal = _fields(model, rng, "joint-normal", "sparse-normal")
    covariance = None if normal is None else model.array(normal.get("covariance"))
    q = 0 if covariance is None or covariance.dtype.kind != "f" else len(np.atleast_1d(covariance))
    if normal is None or q == 0 or covariance.shape != (q, q):
        return None
    size = 10.0 ** rng.randint(-60, 60)
    sizes = np.array([10.0 ** rng.randint(-30, 30) for _ in range(q)])
    name, new = rng.choice((
        ("alike", np.ones((q, q)) * size), ("none", np.zeros((q, q))),
        ("scaled", covariance * size), ("rank one", np.outer(sizes, sizes)),
        ("uneven", covariance * np.outer(sizes, sizes)),
        ("diagonal", np.diag(sizes)), ("opposed", np.where(np.eye(q) > 0, 1.0, -1.0 / q)),
    ))  # fmt: skip
    _edit(model, normal["covariance"], lambda a: new)
    if rng.random() < 0.5:
        _edit(model, normal.get("mean"), lambda a: a * size)
    return f"odd_moments {name} {size:.0e}"


def odd_choice(model: Model, rng: Random) -> str | None:
    """Predictors of a tuned or chained column and the weights that belong to them."""
    choice = _fields(model, rng, rng.choice(("choice", "column-model")))
    if choice is None:
        return None
    how = rng.choice(("fewer", "more", "none", "far", "twice", "target", "order"))
    places = model.array(choice.get("predictors"))
    if places is None or places.ndim != 1 or len(places) == 0:
        return None
    order = {"fewer": slice(0, -1), "none": slice(0, 0), "order": slice(None, None, -1),
             "more": [*range(len(places)), 0]}.get(how, slice(None))  # fmt: skip
    weights = choice.get("weights")
    pairs = weights.get("$dict", []) if isinstance(weights, dict) else []
    nodes = [p[1] for p in pairs if isinstance(p, list) and len(p) == 2]
    for node in [choice.get("predictors"), *nodes]:
        _edit(model, node, lambda a: a[order])
    if how in ("far", "twice", "target"):
        target = choice.get("target", 0)
        new = {"far": rng.choice((len(places) + 5, 10**9, -1)), "twice": int(places[0]),
               "target": target if type(target) is int else 0}[how]  # fmt: skip
        _edit(model, choice["predictors"], lambda a: np.r_[a[:-1], new].astype(a.dtype))
    return f"odd_choice {how}"


def odd_pools(model: Model, rng: Random) -> str | None:
    """Donors of the classes and the labels that belong to them."""
    pools = [record["fields"] for record in model.records("row-pool")]
    if not pools:
        return None
    how = rng.choice(("no givers", "far", "one class", "labels", "takers", "all the same"))
    far = rng.choice((10**6, -1, 5, -(10**4)))
    for pool in pools:
        if how == "no givers":
            _edit(model, pool.get("givers"), lambda a: a[:0])
        elif how in ("far", "takers"):
            _edit(model, pool.get("givers" if how == "far" else "takers"), lambda a: a + far)
        elif how in ("one class", "labels"):
            pool["label"] = 0 if how == "one class" else far
        else:
            pool.update(copy.deepcopy(pools[0]))
    fitted = _fields(model, rng, "neighbors")
    if fitted is not None and how in ("one class", "labels"):
        _edit(model, fitted.get("labels"), lambda a: a * 0 + (0 if how == "one class" else far))
    return f"odd_pools {how} {far}"


def odd_scale(model: Model, rng: Random) -> str | None:
    """Ranges of the columns that have no width, too much, or run backwards."""
    scaler = _fields(model, rng, *SCALERS)
    if scaler is None:
        return None
    low, high = rng.choice(((0.0, 0.0), (1.0, -1.0), (-1e308, 1e308), (0.0, 5e-324), (1e308, 1e308),
                            (-1.7e308, 1.7e308), (0.0, 1e-310), (0.0, 1.0),
                            (1e18, 1e18 + 256)))  # fmt: skip
    whole = rng.random() < 0.5

    def put(value: float) -> Callable[[Any], Any]:
        return lambda a: np.full_like(a, value) if whole else np.r_[value, a[1:]]

    for name, value in (("low", low), ("high", high), ("center", (low / 2 + high / 2)),
                        ("half_range", high / 2 - low / 2)):  # fmt: skip
        _edit(model, scaler.get(name), put(value))
    return f"odd_scale {low} … {high} {'all' if whole else 'first'}"


def graft(model: Model, rng: Random) -> str | None:
    """A record of another model of the same estimator, with its arrays, in place of one's own."""
    if not model.siblings:
        return None
    other = rng.choice(model.siblings)
    spots = [s for s in model.spots() if _graftable(s)]
    spot = pick(rng, spots)
    if spot is None:
        return None
    name = spot.node.get("$record")
    given = [s for s in other.spots() if s.path == spot.path] if name is None else [
        s for s in other.spots() if isinstance(s.node, dict) and s.node.get("$record") == name
    ]  # fmt: skip
    source = pick(rng, given)
    if source is None:
        return None
    spot.put(_moved(source.node, other, model))
    return f"graft {source.path} -> {spot.path}"


def _graftable(spot: Spot) -> bool:
    """Records, arrays and whole attributes."""
    if not isinstance(spot.node, dict):
        return False
    return "$record" in spot.node or "$array" in spot.node or spot.path.count("/") == 3


def _moved(node: Any, source: Model, target: Model) -> Any:
    """A copy of a node whose arrays are members of the target."""
    holder = {"node": copy.deepcopy(node)}
    taken = Model({"tree": holder}, source.members, {})
    for spot in taken.array_spots():
        for tag in ("$array", "$scalar"):
            name = spot.node.get(tag)
            if isinstance(name, str) and name in source.members:
                new = f"g{len(target.members)}.npy"
                target.members[new] = source.members[name]
                spot.node[tag] = new
    return holder["node"]
