"""PARDISO from Intel's MKL through ctypes: the threaded `mkl` wheel, or the light `py-mkl-pardiso` one.

Both export the same entry point `pardiso_64`, so one wrapper serves. It gives what their Python faces
do not: single-precision factors, one symbolic analysis for many factorisations, the inertia, and
reproducible bytes.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Integers, Vector

_ANALYSE, _ANALYSE_AND_FACTOR, _FACTOR, _SOLVE, _RELEASE = 11, 12, 22, 33, -1
_SYMMETRIC_INDEFINITE, _SYMMETRIC_POSITIVE = -2, 2
_RIGHT_COUNT, _RIGHT, _LEFT = 10, 13, 14  # places among the arguments


class FactorisationError(ArithmeticError):
    """The matrix could not be factorised."""


def _threaded_library() -> Path | None:
    """`mkl_rt` of the `mkl` wheel, which pip puts outside site-packages."""
    folders = [Path(sys.prefix) / "lib", Path(sys.prefix) / "Library" / "bin"]
    for folder in folders:
        found = sorted([*folder.glob("libmkl_rt.so*"), *folder.glob("mkl_rt*.dll")])
        if found:
            return found[-1]
    return None


def _light_library() -> Path | None:
    spec = importlib.util.find_spec("pymklpardiso")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = sorted([*Path(folder).glob("_mkl_pardiso*.so"), *Path(folder).glob("_mkl_pardiso*.pyd")])
        if found:
            return found[0]
    return None


@cache
def _load(threaded: bool) -> ctypes.CDLL | None:
    path = _threaded_library() if threaded else _light_library()
    if path is None:
        return None
    # Must be in place before MKL picks its kernels: the same bytes for the same thread count and processor.
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        library.pardiso_64  # noqa: B018 (a missing symbol raises here)
    except (OSError, AttributeError):
        return None
    return library


def available(threaded: bool) -> bool:
    """Whether this PARDISO is installed and loads."""
    return _load(threaded) is not None


class Pardiso:
    """LDLᵀ (or LLᵀ) of one symmetric pattern, factorised many times."""

    def __init__(
        self, *, threads: int = 1, threaded: bool = True, single: bool = False, positive: bool = False,
        pivoting: bool = False, order: Integers | None = None, telling: bool = False,
    ) -> None:  # fmt: skip
        library = _load(threaded)
        if library is None:
            raise FactorisationError("MKL PARDISO is not installed")
        self._library = library
        self._threads = max(1, threads) if threaded else 1
        self._dtype = np.float32 if single else np.float64
        kind = "MKL PARDISO" if threaded else "MKL PARDISO (light wheel)"
        plural, precision = "" if self._threads == 1 else "s", ", single precision" if single else ""
        self.name = f"{kind}, {self._threads} thread{plural}{precision}"
        self._type = _SYMMETRIC_POSITIVE if positive else _SYMMETRIC_INDEFINITE
        self._handle = np.zeros(64, dtype=np.int64)
        self._settings = self._parameters(single, pivoting and not positive)
        self.order: Integers | None = None if self._settings[10] else order
        """(N,) in which unknowns are eliminated, where it is told beforehand, or to be told after the analysis"""
        self._settings[4] = 1 if self.order is not None else 2 if telling and not self._settings[10] else 0
        self._size = 0

    def _parameters(self, single: bool, pivoting: bool) -> Integers:
        p = np.zeros(64, dtype=np.int64)
        p[0] = 1  # the values below, not MKL's defaults
        p[1] = 2  # METIS ordering
        p[7] = 0  # refinement is ours, in double precision
        p[9] = 6 if single else 13  # pivots below 10⁻ᵏ of the norm are lifted to it
        # A quasi-definite matrix needs no pivots. One that is not gets scaling, weighted matching and Bunch–Kaufman
        # pivots, which look at the values in the analysis too.
        p[10] = p[12] = p[20] = 1 if pivoting else 0
        p[23] = 1 if self._threads > 1 else 0  # two-level parallel factorisation
        p[26] = 0  # do not check the pattern each time
        p[27] = 1 if single else 0
        p[34] = 1  # indices from zero
        return p

    def analyse(self, indptr: Integers, indices: Integers) -> None:
        """Take the pattern: CSR upper triangle with every diagonal entry stored."""
        self.release()
        self._indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        self._indices = np.ascontiguousarray(indices, dtype=np.int64)
        self._size = len(indptr) - 1
        self._values = np.ones(len(indices), dtype=self._dtype)
        self._right = np.zeros(self._size, dtype=self._dtype)
        self._left = np.zeros(self._size, dtype=self._dtype)
        if self._settings[4] == 2:
            self.order = np.zeros(self._size, dtype=np.int64)
        if self.order is not None:
            self.order = np.ascontiguousarray(self.order, dtype=np.int64)
        self._arguments = self._addresses()
        if not self._settings[12]:
            self._call(_ANALYSE)

    def factor(self, values: Vector) -> None:
        """Factorise for the values (nnz,) of the pattern."""
        if self._settings[12] and not np.isfinite(values).all():  # its matching would read where nothing is, and crash
            raise FactorisationError("the matrix has entries that are no numbers")
        self._values[:] = values
        self._call(_ANALYSE_AND_FACTOR if self._settings[12] else _FACTOR)

    def solve(self, b: Array) -> Array:
        """Solve A y = b for b (N,), or for every row of b (r, N) at once, to the precision of the factor."""
        if b.ndim == 2:
            return self._solve_rows(b)
        self._right[:] = b
        self._call(_SOLVE)
        return self._left.astype(np.float64)

    def _solve_rows(self, b: Array) -> Array:
        """One pass over the factor for many right-hand sides: it is the reading of the factor that takes time."""
        right = np.array(b, dtype=self._dtype, order="C")
        left = np.empty_like(right)
        given = list(self._arguments)
        given[_RIGHT_COUNT], given[_RIGHT], given[_LEFT] = _number(len(b)), _address(right), _address(left)
        if len(b):
            self._call(_SOLVE, tuple(given))
        return left.astype(np.float64, copy=False)

    def inertia(self) -> tuple[int, int]:
        """Numbers of positive and negative pivots of the last factor."""
        if self._type == _SYMMETRIC_POSITIVE:
            return self._size, 0
        return int(self._settings[21]), int(self._settings[22])

    @property
    def memory(self) -> int:
        """Bytes the factor takes at its peak."""
        p = self._settings
        return 1024 * int(max(p[14], p[15] + p[16]))

    def release(self) -> None:
        """Free MKL's memory."""
        if self._size:
            self._call(_RELEASE)
            self._size = 0

    def __del__(self) -> None:
        try:
            self.release()
        except Exception:  # the interpreter may be going down
            self._size = 0

    def _addresses(self) -> tuple[object, ...]:
        """What every call takes: the arrays stay where they are, so it is made once a pattern."""
        self._phase, self._error = ctypes.c_longlong(0), ctypes.c_longlong(0)
        return (
            _address(self._handle), _number(1), _number(1), _number(self._type), ctypes.byref(self._phase),
            _number(self._size), _address(self._values), _address(self._indptr), _address(self._indices),
            None if self.order is None else _address(self.order), _number(1), _address(self._settings), _number(0),
            _address(self._right), _address(self._left), ctypes.byref(self._error),
        )  # fmt: skip

    def _call(self, phase: int, arguments: tuple[object, ...] | None = None) -> None:
        self._phase.value, self._error.value = phase, 0
        # The thread count is MKL's, not the factor's, and a factor must meet the one it was analysed with. Releasing
        # does not touch it: the garbage collector may release one factor in the middle of another's call.
        if phase != _RELEASE and self._library is _load(True):
            self._library.MKL_Set_Num_Threads(ctypes.c_int(self._threads))
        self._library.pardiso_64(*(arguments or self._arguments))
        if self._error.value:
            reason = _REASONS.get(self._error.value, "")
            raise FactorisationError(f"PARDISO error {self._error.value} in phase {phase}: {reason}")


_REASONS = {
    -1: "inconsistent input",
    -2: "not enough memory",
    -3: "reordering failed",
    -4: "zero pivot",
    -7: "diagonal matrix is singular",
}


def _address(array) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _number(value: int):
    return ctypes.byref(ctypes.c_longlong(value))
