"""Threads: how many, and that idle ones sleep.

Numba's and MKL's thread pools run in turn on the same cores. By default each keeps its idle threads spinning for a
while, which starves the other. So idle threads must sleep at once;
this has to be said before either library starts.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from bunraku.contracts import Vector, input_error

os.environ.setdefault("KMP_BLOCKTIME", "0")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _keep_kernels_somewhere() -> None:
    """Numba refuses to import cached kernels where it can write neither beside the package nor in a home folder
    (containers of a farm): give it a folder of this user's among the temporary ones.
    """
    home = os.path.expanduser("~")
    writable = os.access(Path(__file__).parent, os.W_OK) or (os.path.isdir(home) and os.access(home, os.W_OK))
    if not writable:
        user = os.getuid() if hasattr(os, "getuid") else 0
        os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"bunraku-kernels-{user}"))


_keep_kernels_somewhere()


def default_threads() -> int:
    """BUNRAKU_THREADS, else the number of cores this process may use."""
    given = os.environ.get("BUNRAKU_THREADS")
    if given:
        if not given.isdigit() or int(given) < 1:
            raise input_error("BUNRAKU_THREADS must be a whole number above zero", got=given)
        return int(given)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def use_threads(threads: int | None) -> int:
    """Set the number of threads of the element kernels; returns the number in use."""
    import numba

    wanted = threads or default_threads()
    numba.set_num_threads(max(1, min(wanted, numba.config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]
    return wanted


def inner(a: Vector, b: Vector) -> float:
    """Σ aᵢ bᵢ without BLAS, for what is summed between solves: from ten thousand entries on OpenBLAS takes all threads,
    which spin afterwards (see `one_blas_thread`) and whose number changes the last digits."""
    return float(np.einsum("i,i->", a, b))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy's and SciPy's own BLAS (OpenBLAS) with one thread for a while.

    Its idle threads spin instead of sleeping, on the cores that the direct solver and the element kernels are about to
    use: many small products between solves then take ten times as long as with one thread. Where the libraries are
    not those of the wheels (conda, a distribution) nothing is changed.
    """
    with _ONE.lock:
        _ONE.users += 1
        if _ONE.users == 1:
            _ONE.before = [read() for read, _ in _blas_controls()]
            for _, write in _blas_controls():
                write(1)
    try:
        yield
    finally:
        with _ONE.lock:
            _ONE.users -= 1
            if not _ONE.users:  # the last of all threads that asked for it
                for (_, write), count in zip(_blas_controls(), _ONE.before, strict=True):
                    write(count)


class _OneThread:
    """Who has asked for one thread, and how many there were before."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.before: list[int] = []


_ONE = _OneThread()


@cache
def _blas_controls() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """How to read and set the number of threads of each OpenBLAS that came with a wheel."""
    import numpy
    import scipy

    found = []
    for home in (Path(str(package.__file__)).parent for package in (numpy, scipy)):
        for folder in (home.with_name(home.name + ".libs"), home / ".dylibs"):
            for path in sorted(folder.glob("*openblas*")):
                library = ctypes.CDLL(str(path))
                pairs = ((_symbol(library, "get", ending), _symbol(library, "set", ending)) for ending in ("", "64_"))
                found += [(read, write) for read, write in pairs if read and write]
    return found


def _symbol(library: ctypes.CDLL, verb: str, ending: str) -> Callable[..., int] | None:
    for prefix in ("scipy_", ""):
        try:
            return getattr(library, f"{prefix}openblas_{verb}_num_threads{ending}")
        except AttributeError:
            continue
    return None
