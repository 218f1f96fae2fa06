"""Which direct solver to use."""

from __future__ import annotations

import importlib.util
import os

from bunraku.contracts import Factorisation, Integers, input_error

from . import pardiso
from .fallbacks import Qdldl, SuperLu
from .threads import default_threads

_BACKENDS = ("mkl", "light", "qdldl", "superlu")


def installed() -> list[str]:
    """Names of the backends that can be used here, best first."""
    there = {
        "mkl": lambda: pardiso.available(threaded=True),
        "light": lambda: pardiso.available(threaded=False),
        "qdldl": lambda: importlib.util.find_spec("qdldl") is not None,
        "superlu": lambda: True,
    }
    return [name for name in _BACKENDS if there[name]()]


def choose(
    backend: str | None = None, *, threads: int | None = None, single: bool = False, positive: bool = False,
    pivoting: bool = False, order: Integers | None = None, telling: bool = False,
) -> Factorisation:  # fmt: skip
    """A solver: the named one, else BUNRAKU_SOLVER, else the best that is installed.

    `positive` for positive definite matrices; `pivoting` for indefinite ones that are not quasi-definite enough.
    `order` (N,) is one of elimination that suits the pattern, as a solver that is `telling` finds it for another matrix
    of the same neighbours; solvers that cannot take it find their own.
    """
    backend = backend or os.environ.get("BUNRAKU_SOLVER") or installed()[0]
    if backend not in installed():
        raise input_error(
            "unknown or missing linear solver", got=backend, allowed=", ".join(installed()),
            remedy="pip install 'bunraku[mkl]' for the threaded one",
        )  # fmt: skip
    if backend in ("mkl", "light"):
        return pardiso.Pardiso(
            threads=threads or default_threads(), threaded=backend == "mkl", single=single, positive=positive,
            pivoting=pivoting, order=order, telling=telling,
        )  # fmt: skip
    return Qdldl() if backend == "qdldl" else SuperLu()


def order_of(factor: Factorisation) -> Integers | None:
    """(N,) in which a solver that is `telling` eliminates unknowns, once it has analysed; None where it tells none."""
    return factor.order if isinstance(factor, pardiso.Pardiso) else None
