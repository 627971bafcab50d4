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

# Rows of a triangle that are cleared or mirrored at once.
TRIANGLE_ROWS = 64


def factor_upper(matrix: np.ndarray) -> bool:
    """Replace a symmetric matrix by its upper Cholesky factor; return whether it is definite.

    Only the upper triangle is read, and the part below the diagonal becomes zero. As in all these
    functions the matrix is in Fortran's order and double precision: the transpose of a usual
    array.
    """
    info = ctypes.c_int(0)
    n = _size(matrix)
    _routine("dpotrf")(b"U", n, _address(matrix), n, ctypes.byref(info))
    for rows in _triangle(len(matrix)):
        matrix[rows.stop :, rows] = 0.0
        np.copyto(matrix[rows, rows], 0.0, where=_below(rows.stop - rows.start))
    return info.value == 0


def invert_upper(upper: np.ndarray) -> None:
    """Replace an upper triangular matrix by its inverse."""
    info = ctypes.c_int(0)
    n = _size(upper)
    _routine("dtrtri")(b"U", b"N", n, _address(upper), n, ctypes.byref(info))


def invert_from_factor(upper: np.ndarray) -> None:
    """Replace the upper Cholesky factor of a matrix by the whole inverse of the matrix."""
    info = ctypes.c_int(0)
    n = _size(upper)
    _routine("dpotri")(b"U", n, _address(upper), n, ctypes.byref(info))
    _mirror(upper)


def square_of_upper(upper: np.ndarray) -> None:
    """Replace an upper triangular matrix U by the whole of U U'."""
    info = ctypes.c_int(0)
    n = _size(upper)
    _routine("dlauum")(b"U", n, _address(upper), n, ctypes.byref(info))
    _mirror(upper)


def multiply_by_upper(upper: np.ndarray, columns: np.ndarray, transposed: bool = False) -> None:
    """Replace columns, in Fortran's order, by U or U' times columns."""
    _apply("dtrmm", upper, columns, transposed)


def solve_upper(upper: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the inverse of an upper triangular matrix times columns."""
    solved = np.array(columns, dtype=np.float64, order="F")
    _apply("dtrsm", upper, solved, transposed=False)
    return solved


def _apply(name: str, upper: np.ndarray, columns: np.ndarray, transposed: bool) -> None:
    """Replace columns by a product of a triangular matrix, or its inverse, with them."""
    n, n_columns, one = _size(upper), ctypes.c_int(columns.shape[1]), ctypes.c_double(1.0)
    if columns.shape[0] != len(upper) or not columns.flags.f_contiguous:
        raise ValueError("The columns should be in Fortran's order and as long as the matrix.")
    sides = b"L", b"U", b"T" if transposed else b"N", b"N"
    sizes = n, ctypes.byref(n_columns), ctypes.byref(one)
    _routine(name)(*sides, *sizes, _address(upper), n, _address(columns), n)


def _mirror(upper: np.ndarray) -> None:
    """Copy the part above the diagonal to the part below."""
    for rows in _triangle(len(upper)):
        upper[rows.stop :, rows] = upper[rows, rows.stop :].T
        corner = upper[rows, rows]
        np.copyto(corner, corner.T.copy(), where=_below(len(corner)))


def _triangle(n: int) -> list[slice]:
    return [slice(start, min(start + TRIANGLE_ROWS, n)) for start in range(0, n, TRIANGLE_ROWS)]


@cache
def _below(n: int) -> np.ndarray:
    """Return which entries are below the diagonal; n is at most TRIANGLE_ROWS."""
    return np.asfortranarray(np.tri(n, k=-1, dtype=bool))


def _size(matrix: np.ndarray) -> Any:
    """Return a pointer to the size of a square matrix."""
    n, n_columns = matrix.shape
    if n != n_columns or not matrix.flags.f_contiguous:
        raise ValueError(
            f"A square matrix in Fortran's order is needed, but its shape is {matrix.shape}."
        )
    return ctypes.byref(ctypes.c_int(n))


def _address(array: np.ndarray) -> int:
    if array.dtype != np.float64 or not array.flags.writeable:
        raise ValueError(f"A writeable array of float64 is needed, but its type is {array.dtype}.")
    return array.__array_interface__["data"][0]


@cache
def _routine(name: str) -> Any:
    """Return a routine that takes addresses; ctypes releases Python's lock while it runs."""
    library = cython_blas if name in ("dtrmm", "dtrsm") else cython_lapack
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
