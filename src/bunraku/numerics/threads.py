"""Threads: how many, and that idle ones sleep.

Numba's and MKL's thread pools run in turn on the same cores. By default each keeps its idle threads spinning for a
while, which starves the other. So idle threads must sleep at once;
this has to be said before either library starts.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bunraku.contracts import input_error

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
