"""Matrices in the room that a kernel is given, their products and factors.

A kernel that makes no arrays compiles sooner and starts sooner: it carves matrices out of one flat
array. Products and factors come from the library that ``np.dot`` and ``np.linalg.cholesky`` call in
kernels, too; numba compiles some ten functions for each pair of kinds of arrays on the way there.
Where numba is not as we know it, its own functions are used.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils
from numba.np import arrayobj

from greyfill._search.jit import fast_inner
from greyfill._search.modules import is_known

intrinsic: Any = extending.intrinsic
TOOLS: Any = cgutils
ARRAYS: Any = arrayobj

YES: Any = np.bool_(True)
NO: Any = np.bool_(False)
"""Whether a matrix is turned; no literals, for each of which a kernel would be compiled anew."""

CHAR, POINTER = ir.IntType(8), ir.IntType(8).as_pointer()


def _call(builder: Any, name: str, *values: Any) -> Any:
    """A call of a function of numba's for numbers of double precision; returns its status."""
    values = ir.Constant(CHAR, ord("d")), *values
    kind = ir.FunctionType(ir.IntType(32), [value.type for value in values])
    return builder.call(TOOLS.get_or_insert_function(builder.module, kind, name), values)


def _letter(builder: Any, is_turned: Any) -> Any:
    return builder.select(is_turned, *(ir.Constant(CHAR, ord(letter)) for letter in "tn"))


def _number(builder: Any, value: float) -> Any:
    slot = TOOLS.alloca_once_value(builder, ir.Constant(ir.DoubleType(), value))
    return builder.bitcast(slot, POINTER)


def _begin(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return builder.bitcast(ARRAYS.make_array(kind)(context, builder, array).data, POINTER)


@intrinsic
def _view(typing, room, place, n_rows, n_columns):  # type: ignore[no-untyped-def]
    """A matrix that stands in a flat array, row after row, from a place on."""
    kind = types.Array(room.dtype, 2, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        room = ARRAYS.make_array(signature.args[0])(context, builder, args[0])
        view, (_, place, n_rows, n_columns) = ARRAYS.make_array(kind)(context, builder), args
        ARRAYS.populate_array(
            view, data=builder.gep(room.data, [place]), shape=(n_rows, n_columns),
            strides=(builder.mul(n_columns, room.itemsize), room.itemsize), itemsize=room.itemsize,
            meminfo=None,
        )  # fmt: skip
        return view._getvalue()

    return kind(room, types.intp, types.intp, types.intp), codegen


@intrinsic
def _gemm(typing, turn_a, turn_b, m, n, k, a, b, out):  # type: ignore[no-untyped-def]
    """Write a b row by row: the library goes by columns, for it this is b' a'."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        turn_a, turn_b, m, n, k, *arrays = args
        a, b, out = (
            _begin(context, builder, *pair) for pair in zip(signature.args[5:], arrays, strict=True)
        )
        width_a, width_b = builder.select(turn_a, m, k), builder.select(turn_b, k, n)
        letters = _letter(builder, turn_b), _letter(builder, turn_a)
        one, zero = _number(builder, 1.0), _number(builder, 0.0)
        return _call(
            builder, "numba_xxgemm", *letters, n, m, k, one, b, width_b, a, width_a, zero, out, n
        )

    return types.int32(types.boolean, types.boolean, *(types.intp,) * 3, a, b, out), codegen


@intrinsic
def _gemv(typing, is_turned, m, n, matrix, vector, out):  # type: ignore[no-untyped-def]
    """Write the product of a matrix of m rows, as the library sees it, and a vector."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        is_turned, m, n, *arrays = args
        matrix, vector, out = (
            _begin(context, builder, *pair) for pair in zip(signature.args[3:], arrays, strict=True)
        )
        letter = _letter(builder, is_turned)
        one, zero = _number(builder, 1.0), _number(builder, 0.0)
        return _call(builder, "numba_xxgemv", letter, m, n, one, matrix, m, vector, zero, out)

    return types.int32(types.boolean, types.intp, types.intp, matrix, vector, out), codegen


@intrinsic
def _dot(typing, n, a, b, out):  # type: ignore[no-untyped-def]
    """Write the product of two vectors."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pairs = zip(signature.args[1:], args[1:], strict=True)
        begins = (_begin(context, builder, *pair) for pair in pairs)
        return _call(builder, "numba_xxdot", ir.Constant(CHAR, 0), args[0], *begins)

    return types.int32(types.intp, a, b, out), codegen


@intrinsic
def _potrf(typing, n, matrix):  # type: ignore[no-untyped-def]
    """Write the Cholesky factor in place of the lower triangle, to the library the upper one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        begin = _begin(context, builder, signature.args[1], args[1])
        return _call(builder, "numba_xxpotrf", ir.Constant(CHAR, ord("U")), args[0], begin, args[0])

    return types.int32(types.intp, matrix), codegen


def _multiply(turn_a, turn_b, a, b, out):  # type: ignore[no-untyped-def]
    """Write a b; a or b may be given as its transpose."""
    m, n = out.shape
    k = a.shape[0] if turn_a else a.shape[1]
    if m == 0 or n == 0 or k == 0:
        for i in range(m):
            for j in range(n):
                out[i, j] = 0.0
    elif m == 1 and n == 1:
        _dot(k, a, b, out)
    elif n == 1:
        _gemv(not turn_a, a.shape[1], a.shape[0], a, b, out)
    elif m == 1:
        _gemv(turn_b, b.shape[1], b.shape[0], b, a, out)
    else:
        _gemm(turn_a, turn_b, m, n, k, a, b, out)


def _factorize(matrix):  # type: ignore[no-untyped-def]
    """Replace the lower triangle of a matrix by its Cholesky factor."""
    if len(matrix) > 0 and _potrf(len(matrix), matrix) != 0:
        raise np.linalg.LinAlgError("Matrix is not positive definite.")


def _plain_matrix(room, place, n_rows, n_columns):  # type: ignore[no-untyped-def]
    """A matrix that stands in a flat array, by numba's functions of numpy."""
    return room[place : place + n_rows * n_columns].reshape((n_rows, n_columns))


def _plain_multiply(turn_a, turn_b, a, b, out):  # type: ignore[no-untyped-def]
    """Write a b by numba's functions of numpy."""
    first, second = a, b
    if turn_a:
        first = a.T.copy()
    if turn_b:
        second = b.T.copy()
    out[:] = np.dot(first, second)


def _plain_factorize(matrix):  # type: ignore[no-untyped-def]
    """Replace a matrix by its Cholesky factor, by numba's functions of numpy."""
    matrix[:] = np.linalg.cholesky(matrix)


matrix: Any = _view if is_known() else fast_inner(_plain_matrix)
multiply: Any = fast_inner(_multiply if is_known() else _plain_multiply)
factorize: Any = fast_inner(_factorize if is_known() else _plain_factorize)
