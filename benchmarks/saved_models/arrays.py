"""Changes of single arrays: elements, order, type, shape, and the bytes of their files."""

import io
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from saved_models.parts import Model, Spot, packed, pick, unpacked

WHOLE = (-1, 0, 1, 2, 7, 500_000_000, 2**31, -(2**31), 2**31 - 1, 2**63 - 1, -(2**63) + 1, 255)
REAL = (
    np.nan, np.inf, -np.inf, 1e308, -1e308, 1.7e308, 5e-324, -1.0, 0.0, 1.0, 2.0, 5e8, 1e16,
    -1e-300, 0.5, 1e150, -1e155, 2.0**63,
)  # fmt: skip
DTYPES = (
    "f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "u8", "?", "c16", "U3", "S2", "M8[us]", "m8[D]",
    ">f8", ">i8", "O", "V8", "g", "a,b",
)  # fmt: skip


def changed_element(old: Any, rng: Random) -> Any:
    """Another value for an element, as far from it or as near as its type allows."""
    kind = np.asarray(old).dtype.kind
    if kind == "b":
        return not old
    if kind in "iu":
        number = int(old)
        return rng.choice((*WHOLE, number + 1, number - 1, -number, number + rng.randint(2, 40)))
    if kind == "f":
        number = float(old)
        near = (number + 1, number - 1, -number, number * 1e10, number + 1e-9, number * 1.5)
        return rng.choice((*REAL, *near))
    return rng.choice(("", "x", 0))


def edit_element(array: Any, rng: Random) -> Any:
    if array.size == 0:
        return None
    out = array.copy()
    flat = out.reshape(-1)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place = rng.choice((0, flat.size - 1, rng.randrange(flat.size), rng.randrange(flat.size)))
        flat[place] = np.array(changed_element(flat[place], rng)).astype(out.dtype)
    return out


def swap_elements(array: Any, rng: Random) -> Any:
    if array.size < 2:
        return None
    out = array.copy()
    flat = out.reshape(-1)
    one, other = rng.randrange(flat.size), rng.randrange(flat.size)
    flat[[one, other]] = flat[[other, one]]
    return out


def edit_whole(array: Any, rng: Random) -> Any:
    if array.ndim == 0:
        return None
    order = list(range(len(array)))
    rng.shuffle(order)
    element = array.reshape(-1)[0] if array.size else 0
    how: Callable[[], Any] = rng.choice((
        lambda: array[::-1], lambda: np.sort(array, axis=0), lambda: np.zeros_like(array),
        lambda: np.full_like(array, np.array(changed_element(element, rng)).astype(array.dtype)),
        lambda: array[order], lambda: -array, lambda: array * 2, lambda: np.ones_like(array),
        lambda: ~array, lambda: array - 1, lambda: np.flip(array, axis=-1),
        lambda: np.full_like(array, element),
    ))  # fmt: skip
    return how()


def change_dtype(array: Any, rng: Random) -> Any:
    name = rng.choice(DTYPES)
    if name == "a,b":
        return np.zeros(array.shape, dtype=[("a", "f8"), ("b", "i4")])
    if name == "V8":
        return np.zeros(array.shape, dtype="V8")
    return array.astype(name)


def change_shape(array: Any, rng: Random) -> Any:
    axis = rng.randrange(array.ndim) if array.ndim else 0
    how: Callable[[], Any] = rng.choice((
        lambda: array[:-1], lambda: array[: len(array) // 2], lambda: array[:0],
        lambda: np.concatenate([array, array[-1:]]), lambda: np.concatenate([array, array]),
        lambda: array.T, lambda: array.reshape(-1), lambda: array.reshape(-1, 1),
        lambda: array.reshape(1, *array.shape), lambda: array.reshape(-1)[0],
        lambda: np.asfortranarray(array), lambda: array[..., np.newaxis],
        lambda: np.delete(array, rng.randrange(array.shape[axis]), axis=axis),
        lambda: np.repeat(array, 2, axis=axis), lambda: np.zeros((0, 5)), lambda: np.zeros((5, 0)),
        lambda: array[1:], lambda: np.zeros(3000), lambda: array.reshape(array.shape[::-1]),
    ))  # fmt: skip
    return how()


def edit_header(part: bytes, rng: Random) -> bytes:
    """Another shape, version or description in the file of an array, its data as they were."""
    array = unpacked(part)
    shape = array.shape if array is not None else (3,)
    size = int(np.prod(shape, dtype=np.int64))
    told = rng.choice((
        (size + 1,), (2**40,), (2**62, 4), (-1,), (size, 0), (1,) * 40, (2**20, 2**12), (), "x",
        (size - 1,), (True,), (1.5,),
    ))  # fmt: skip
    descr = rng.choice(("<f8", "<i8", "|O", "|b1", "<U100000000", "zzz", [["a", "<f8"]]))
    fields = {"descr": "<f8" if array is None else array.dtype.str, "fortran_order": False,
              "shape": shape}  # fmt: skip
    fields.update(
        rng.choice(({"shape": told}, {"descr": descr}, {"fortran_order": True}, {"x": 1}))
    )
    text = (repr(fields) + " " * 40 + "\n").encode()
    version = rng.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\11\0"))
    data = part[10 + int.from_bytes(part[8:10], "little") :]
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


def flip_bytes(part: bytes, rng: Random) -> bytes:
    out = bytearray(part or b"\0")
    first = 0 if rng.random() < 0.2 else min(128, len(out) - 1)
    for _ in range(rng.choice((1, 1, 2, 8))):
        out[rng.randrange(first, len(out))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        del out[rng.randrange(len(out)) :]
    return bytes(out)


OF_ARRAYS = (edit_element,) * 8 + (swap_elements, edit_whole, edit_whole, change_dtype,
                                   change_shape, change_shape)  # fmt: skip
OF_BYTES = (edit_header, flip_bytes, flip_bytes)


def change_array(model: Model, rng: Random) -> str | None:
    """One array in another state."""
    spot = pick(rng, model.array_spots())
    if spot is None:
        return None
    name = _member(spot)
    if rng.random() < 0.12:
        edit = rng.choice(OF_BYTES)
        model.members[name] = edit(model.members[name], rng)
        return f"{edit.__name__} {spot.path}"
    array, change = unpacked(model.members[name]), rng.choice(OF_ARRAYS)
    if array is None:
        return None
    try:
        with np.errstate(all="ignore"):
            new = change(array, rng)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if new is None:
        return None
    model.members[name] = packed(new)
    return f"{change.__name__} {spot.path} {told_change(array, np.asanyarray(new))}"


def told_change(old: Any, new: Any) -> str:
    """What is different, in few words."""
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"{old.dtype}{list(old.shape)} -> {new.dtype}{list(new.shape)}"
    places = np.flatnonzero(old.reshape(-1) != new.reshape(-1))[:3]
    old, new = old.reshape(-1), new.reshape(-1)
    return ", ".join(f"[{i}] {old[i]!s:.20} -> {new[i]!s:.20}" for i in places) or "same"


def _member(spot: Spot) -> str:
    return str(spot.node.get("$array", spot.node.get("$scalar")))


def swap_arrays(model: Model, rng: Random) -> str | None:
    """Two places that name each other's array, or the same one; of equal shape more often."""
    one = pick(rng, model.array_spots())
    if one is None:
        return None
    others = [s for s in model.array_spots() if _member(s) != _member(one)]
    array = unpacked(model.members[_member(one)])
    if rng.random() < 0.7 and array is not None:
        alike = [(s, unpacked(model.members[_member(s)])) for s in others]
        others = [s for s, a in alike if a is not None and a.shape == array.shape]
    other = pick(rng, others)
    if other is None:
        return None
    first, second = dict(one.node), dict(other.node)
    one.put(second)
    if rng.random() < 0.6:
        other.put(first)
    return f"swap_arrays {one.path} with {other.path}"


def change_members(model: Model, rng: Random) -> str | None:
    """Parts that are missing, too many, or of another kind."""
    names = list(model.members)
    if not names:
        return None
    name, how = rng.choice(names), rng.choice(("drop", "add", "empty", "pickle", "npz", "text"))
    if how == "drop":
        del model.members[name]
    elif how == "add":
        model.members[rng.choice(("../x.npy", "999.npy", "a/b", "x" * 300))] = b"x"
    else:
        buffer = io.BytesIO()
        np.savez(buffer, a=np.zeros(3))
        contents = {"empty": b"", "pickle": b"\x80\x04N.", "npz": buffer.getvalue(), "text": b"1 2"}
        model.members[name] = contents[how]
    return f"change_members {how} {name}"
