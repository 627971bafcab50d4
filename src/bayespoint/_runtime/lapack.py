"""LAPACK without Python's lock.

The wrappers of `scipy.linalg` hold the lock while LAPACK computes, so several threads would wait
for each other. These call the same routines of the same library, with the same bits.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

# Rows of a triangle that are cleared at once.
TRIANGLE_ROWS = 64


def factor_upper(matrix: np.ndarray, clear: bool = True) -> bool:
    """Replace a symmetric matrix by its upper Cholesky factor; return whether it is definite.

    Only the upper triangle is read, and the part below the diagonal becomes zero unless `clear` is
    false. As in all these functions the matrix is in Fortran's order and double precision: the
    transpose of a usual array, or a block of it.
    """
    info = ctypes.c_int(0)
    _routine("dpotrf")(b"U", *_square(matrix), ctypes.byref(info))
    for rows in _triangle(len(matrix)) if clear else ():
        matrix[rows.stop :, rows] = 0.0
        np.copyto(matrix[rows, rows], 0.0, where=_below(rows.stop - rows.start))
    return info.value == 0


def invert_upper(upper: np.ndarray) -> None:
    """Replace an upper triangular matrix by its inverse."""
    _routine("dtrtri")(b"U", b"N", *_square(upper), ctypes.byref(ctypes.c_int(0)))


def square_of_upper(upper: np.ndarray) -> None:
    """Replace an upper triangular matrix U by the upper triangle of U U'."""
    _routine("dlauum")(b"U", *_square(upper), ctypes.byref(ctypes.c_int(0)))


def multiply_by_upper(
    upper: np.ndarray,
    columns: np.ndarray,
    transposed: bool = False,
    from_right: bool = False,
    factor: float = 1.0,
) -> None:
    """Replace columns by U or U' times columns, times a factor; or by columns times U."""
    _apply("dtrmm", upper, columns, transposed, from_right, factor)


def divide_by_upper(upper: np.ndarray, columns: np.ndarray, transposed: bool = False) -> None:
    """Replace columns by the inverse of U or U' times columns."""
    _apply("dtrsm", upper, columns, transposed)


def solve_upper(upper: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the inverse of an upper triangular matrix times columns."""
    solved = np.array(columns, dtype=np.float64, order="F")
    divide_by_upper(upper, solved)
    return solved


def add_product(
    out: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    factor: float = 1.0,
    transposed: str = "",
) -> None:
    """Add left times right, times a factor, to `out`; the transpose of "left" or "right"."""
    shape = left.shape[::-1] if transposed == "left" else left.shape
    other = right.shape[::-1] if transposed == "right" else right.shape
    if (shape[0], other[1]) != out.shape or shape[1] != other[0]:
        raise ValueError(f"Shapes {shape} and {other} do not give a product of {out.shape}.")
    kinds = (b"T" if transposed == side else b"N" for side in ("left", "right"))
    sizes = (_integer(n) for n in (*out.shape, shape[1]))
    one = ctypes.byref(ctypes.c_double(1.0))
    times = ctypes.byref(ctypes.c_double(factor))
    given = *kinds, *sizes, times, *_block(left), *_block(right), one, *_block(out)
    _routine("dgemm")(*given)


def _apply(
    name: str,
    upper: np.ndarray,
    columns: np.ndarray,
    transposed: bool,
    from_right: bool = False,
    factor: float = 1.0,
) -> None:
    """Replace columns by a product of a triangular matrix, or its inverse, with them."""
    if columns.shape[1 if from_right else 0] != len(upper):
        raise ValueError("The columns should be as long as the matrix.")
    kinds = b"R" if from_right else b"L", b"U", b"T" if transposed else b"N", b"N"
    sizes = (_integer(n) for n in columns.shape)
    times = ctypes.byref(ctypes.c_double(factor))
    _routine(name)(*kinds, *sizes, times, *_square(upper)[1:], *_block(columns))


def _triangle(n: int) -> list[slice]:
    return [slice(start, min(start + TRIANGLE_ROWS, n)) for start in range(0, n, TRIANGLE_ROWS)]


@cache
def _below(n: int) -> np.ndarray:
    """Return which entries are below the diagonal; n is at most TRIANGLE_ROWS."""
    return np.asfortranarray(np.tri(n, k=-1, dtype=bool))


def _integer(n: int) -> Any:
    return ctypes.byref(ctypes.c_int(n))


def _square(matrix: np.ndarray) -> tuple[Any, int, Any]:
    """Return size, address and the distance of columns of a square matrix."""
    n, n_columns = matrix.shape
    if n != n_columns:
        raise ValueError(f"A square matrix is needed, but its shape is {matrix.shape}.")
    return _integer(n), *_block(matrix)


def _block(matrix: np.ndarray) -> tuple[int, Any]:
    """Return the address of a matrix and the distance of its columns."""
    if matrix.dtype != np.float64 or not matrix.flags.writeable:
        raise ValueError(f"A writeable array of float64 is needed, but its type is {matrix.dtype}.")
    (n, n_columns), (step, distance) = matrix.shape, matrix.strides
    if (n > 1 and step != matrix.itemsize) or (n_columns > 1 and distance < n * matrix.itemsize):
        raise ValueError("A matrix in Fortran's order is needed, or a block of one.")
    distance = distance // matrix.itemsize if n_columns > 1 else max(n, 1)
    return matrix.__array_interface__["data"][0], _integer(distance)


@cache
def _routine(name: str) -> Any:
    """Return a routine that takes addresses; ctypes releases Python's lock while it runs."""
    library = cython_blas if name in ("dgemm", "dtrmm", "dtrsm") else cython_lapack
    capsule = library.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = get_name(capsule)
    types = [
        ctypes.c_char_p if b"char" in part else ctypes.c_void_p for part in signature.split(b",")
    ]
    return ctypes.CFUNCTYPE(None, *types)(get_pointer(capsule, signature))
