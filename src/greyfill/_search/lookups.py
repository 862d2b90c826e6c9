"""Numba's lookups of types, remembered while kernels are compiled.

To type ``a + b`` numba asks each of dozens of implementations whether it takes these types, each
time anew; the answer for a function that is not itself compiled is always the same. Functions of
numpy that numba compiles, such as ``np.empty``, it compiles again for kernels whose options differ
only in how Python calls them, which such a function never inherits. For each implementation
that it does not find at once it imports all its modules again; for the size of a type it lets LLVM
read a module; and after each step it finds anew how long variables live, which the last step needs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core import compiler, cpu, postproc, transforms
from numba.core.types import functions

FLAGS: Any = compiler.Flags
FUNCTION: Any = functions.BaseFunction
CONTEXT: Any = cpu.CPUContext
LIFETIMES: Any = postproc.PostProcessor
BLOCKS: Any = transforms

NEEDED = (
    (FLAGS, "options", "values"),
    (FUNCTION, "get_call_type", "get_impl_key"),
    (CONTEXT, "load_additional_registries", "get_abi_sizeof"),
    (LIFETIMES, "run"),
    (BLOCKS, "canonicalize_cfg"),
)
"""What is replaced here for a while, or called in its place."""

OF_CALLS = frozenset({"no_cpython_wrapper", "no_cfunc_wrapper", "release_gil"})
"""Options that say how Python calls a function."""

_ask: Any = getattr(FUNCTION, "get_call_type", None)
_load = cache(getattr(CONTEXT, "load_additional_registries", id))  # once for each context
_measure: Any = getattr(CONTEXT, "get_abi_sizeof", None)
_find_lifetimes: Any = getattr(LIFETIMES, "run", None)
_hash = hash(FLAGS())  # numba's is that of the names of the options, so one for all
_known: dict[Any, Any] = {}
_sizes: dict[Any, int] = {}


def _answer(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature that a function has for some types, remembered where nothing is compiled."""
    key = function, args
    if kws or key not in _known:
        found = _ask(function, context, args, kws)
        if kws or found is None or function.get_impl_key(found) is not function.typing_key:
            return found
        _known[key] = found
    found = _known[key]
    function._impl_keys[found.args] = function.typing_key
    return found


def _inherited(flags: Any) -> dict[str, Any]:
    return {name: value for name, value in flags._values.items() if name not in OF_CALLS}


def _are_equal(flags: Any, others: Any) -> Any:
    """Whether two sets of options are the same to a function that is compiled for a kernel."""
    if type(others) is not FLAGS:
        return NotImplemented
    return flags is others or _inherited(flags) == _inherited(others)


def _size(context: Any, kind: Any) -> int:
    """The bytes of a type of LLVM."""
    if kind not in _sizes:
        _sizes[kind] = _measure(context, kind)
    return _sizes[kind]


def _put_in_order(processor: Any, emit_dels: bool = False, **how: Any) -> None:
    """Order a kernel's blocks; how long variables live is found in the end."""
    code = processor.func_ir
    if emit_dels or not code.func_id.modname.startswith(str(__package__)):
        _find_lifetimes(processor, emit_dels=emit_dels, **how)
    else:
        code.blocks = BLOCKS.canonicalize_cfg(code.blocks)


@contextmanager
def remembered() -> Iterator[None]:
    """What was found once is not looked for again meanwhile."""
    changes = (
        (FUNCTION, "get_call_type", _answer),
        (CONTEXT, "load_additional_registries", _load),
        (CONTEXT, "get_abi_sizeof", _size),
        (LIFETIMES, "run", _put_in_order),
        (FLAGS, "__eq__", _are_equal),
        (FLAGS, "__hash__", lambda flags: _hash),
    )
    before = [owner.__dict__.get(name) for owner, name, _ in changes]
    for owner, name, new in changes:
        setattr(owner, name, new)
    try:
        yield
    finally:
        for (owner, name, _), old in zip(changes, before, strict=True):
            if old is None:
                delattr(owner, name)
            else:
                setattr(owner, name, old)
