"""A kernel and what it calls are one module: the same results, and machine code of one only."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from greyfill._search import jit, modules
from greyfill._search.modules import Fragment, ModuleCompiler


@jit.fast_inner
def root_of(values, place):  # type: ignore[no-untyped-def]
    if values[place] < 0.0:
        raise ValueError("no root")
    return np.sqrt(values[place])


@njit
def plain(value):  # type: ignore[no-untyped-def]
    return value + 1.0


def sum_of_roots(values):  # type: ignore[no-untyped-def]
    total = np.zeros(1)
    for place in range(len(values)):
        total[0] += plain(root_of(values, place))
    return total


def outer():  # type: ignore[no-untyped-def]
    return njit(pipeline_class=ModuleCompiler, fastmath=True, error_model="numpy")(sum_of_roots)


def test_only_the_kernel_becomes_machine_code() -> None:
    kernel = outer()
    assert kernel(np.array([4.0, 9.0]))[0] == 7.0
    (inner,) = root_of.overloads.values()
    assert isinstance(inner.library, Fragment)
    assert not inner.library.is_built
    (found,) = kernel.overloads.values()
    assert type(found.library) is modules.KernelCode


def test_arrays_that_a_kernel_makes_are_freed() -> None:
    kernel, given = outer(), np.array([4.0, 9.0])
    kernel(given)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        kernel(given)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


def test_a_function_that_python_calls_too_has_its_own_code() -> None:
    outer()(np.array([4.0]))
    assert plain(1.0) == 2.0


def test_an_error_of_a_fragment_is_raised_and_later_calls_work() -> None:
    kernel = outer()
    with pytest.raises(ValueError, match="no root"):
        kernel(np.array([-1.0]))
    assert kernel(np.array([1.0]))[0] == 2.0


def test_after_a_kernel_that_cannot_be_compiled_all_is_as_before() -> None:
    generator = root_of.targetctx.codegen()
    kind = generator._library_class
    with pytest.raises(Exception, match="absent"):
        njit(pipeline_class=ModuleCompiler)(lambda value: value.absent)(1.0)
    assert gc.isenabled()
    assert generator._library_class is kind is not Fragment


def test_a_numba_that_compiles_in_another_way_does_so() -> None:
    code = (
        "from numba.core import compiler\n"
        "del compiler.CompileResult._find_referenced_environments\n"
        "from greyfill._search import jit\n"
        "print(jit.COMPILER.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.split() == ["Compiler"]


def test_a_numba_that_was_not_tried_compiles_in_its_own_way(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    assert modules.kernel_compiler() is ModuleCompiler
    monkeypatch.setattr(modules, "TESTED", ((0, 1), (0, 2)))
    assert modules.kernel_compiler() is modules.COMPILER
