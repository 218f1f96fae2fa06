"""fTetWild, from the wheel `pytetwild`, in a process of its own [Hu 2020]; no other file knows it.

In a process of its own because it cannot be interrupted, because what it writes to the terminal must not get there, nor
the surface it leaves in the working folder, and because a fault in it must not take the artist's session along. That
costs about 0.2 s a call.

The package itself is never imported, only its module `pytetwild.pytetwild`: the package's own `__init__` wants PyVista
and with it VTK, of which nothing is needed here.

fTetWild inserts triangles in an order drawn from `std::random_device` and offers no seed. The same shot must give the
same bytes, so where it can be done (Linux on x86-64) the child lets that device answer with one number, always; on
other platforms the order stays drawn by lot.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

WHEEL = "pytetwild"
_ENERGY = 10.0
"""of the worst tetrahedron (AMIPS; 3 for a regular one) at which it is content"""
_DRAWN = 1
"""what the device of random numbers answers: any number would do"""
_DEVICE = "_ZNSt13random_device9_M_getvalEv"
"""`std::random_device::operator()` in the C++ library"""
_READ, _WRITE, _EXECUTE = 1, 2, 4


class TetWildFailed(Exception):
    """It gave no answer; the message says why in a few words."""


def wheel_version() -> str | None:
    """The version that is installed, if one is."""
    try:
        return version(WHEEL) if find_spec(WHEEL) is not None else None
    except PackageNotFoundError:
        return None


def draws_alike() -> bool:
    """Whether two bodies of one surface are the same."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def run_tetwild(
    x: NDArray[np.float64], faces: NDArray[np.int64], edge: float, envelope: float, patience: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nodes (n, 3) and tetrahedra (m, 4) inside triangles (f, 3) of points (k, 3).

    `edge` is the length it aims at and `envelope` how far the surface may move, in the unit of x. An interrupt ends it
    at once, as does `patience` [s].
    """
    header = {
        "path": [os.path.abspath(one) for one in sys.path],
        "points": len(x),
        "faces": len(faces),
        "edge": edge,
        "envelope": envelope,
    }
    message = b"".join([
        json.dumps(header).encode(), b"\n", np.ascontiguousarray(x, "<f8").tobytes(),
        np.ascontiguousarray(faces, "<i4").tobytes(),
    ])  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="bunraku-") as folder:
        answer, code = _asked(message, folder, patience)
    return _understood(answer, code)


def _asked(message: bytes, folder: str, patience: float) -> tuple[bytes, int]:
    """What the child in a folder of its own answers, and its exit code."""
    # Its own session, so that Ctrl-C reaches us first, and we end it; -P keeps this folder's names out of its path.
    child = subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).absolute())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True, cwd=folder,
    )  # fmt: skip
    try:
        answer, _ = child.communicate(message, timeout=patience)
    except subprocess.TimeoutExpired:
        raise TetWildFailed(f"not finished after {patience:g} s") from None
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    return answer, child.returncode


def _understood(answer: bytes, code: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    line, _, data = answer.partition(b"\n")
    if code != 0 or not line:
        raise TetWildFailed(f"ended with code {code}")
    header = json.loads(line)
    if "error" in header:
        raise TetWildFailed(str(header["error"]))
    nodes, tets = header["nodes"], header["tets"]
    x = np.frombuffer(data, "<f8", 3 * nodes).reshape(-1, 3)
    corners = np.frombuffer(data, "<i4", 4 * tets, 24 * nodes).reshape(-1, 4)
    return x.astype(np.float64), corners.astype(np.int64)


def _answer(header: dict[str, Any], data: bytes) -> bytes:
    """What the child sends back: a line about it, then the nodes and the tetrahedra."""
    x = np.frombuffer(data, "<f8", 3 * header["points"]).reshape(-1, 3).copy()
    faces = np.frombuffer(data, "<i4", 3 * header["faces"], 24 * header["points"]).reshape(-1, 3).copy()
    size = float(np.linalg.norm(np.ptp(x, axis=0)))
    fill = _without_pyvista()
    if draws_alike():
        _draw_alike()
    nodes, tets = fill(
        x, faces, edge_length_abs=header["edge"], epsilon=header["envelope"] / size, stop_energy=_ENERGY,
        num_threads=1, quiet=True,
    )  # fmt: skip
    line = json.dumps({"nodes": len(nodes), "tets": len(tets)}).encode()
    return b"".join([line, b"\n", nodes.astype("<f8").tobytes(), tets.astype("<i4").tobytes()])


def _without_pyvista() -> Any:
    """The wheel's function, its package's `__init__` left aside (with what Windows needs of it)."""
    spec = find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise ImportError(f"{WHEEL} is not installed")
    libraries = Path(spec.origin).parent.parent / f"{WHEEL}.libs"
    if sys.platform == "win32" and libraries.is_dir():
        os.add_dll_directory(str(libraries))
    sys.modules[WHEEL] = module_from_spec(spec)
    from pytetwild.pytetwild import tetrahedralize  # pyright: ignore[reportMissingImports]

    return tetrahedralize


def _draw_alike() -> None:
    """Let this process's device of random numbers answer with one number, where the system allows it.

    Its code is written over with "mov eax, number; ret". Only the child does it, which draws for nothing else.
    """
    try:
        device = ctypes.cast(ctypes.CDLL("libstdc++.so.6")[_DEVICE], ctypes.c_void_p).value or 0
    except (OSError, AttributeError):  # a C++ library of another kind
        return
    code = b"\xb8" + _DRAWN.to_bytes(4, "little") + b"\xc3"
    page = os.sysconf("SC_PAGE_SIZE")
    begin = device - device % page
    protect, length = ctypes.CDLL(None).mprotect, ctypes.c_size_t(device + len(code) - begin)
    if protect(ctypes.c_void_p(begin), length, _READ | _WRITE | _EXECUTE) == 0:
        ctypes.memmove(device, code, len(code))
        protect(ctypes.c_void_p(begin), length, _READ | _EXECUTE)


def _serve(given: BinaryIO, taken: BinaryIO) -> None:
    """The child's whole life."""
    header = json.loads(given.readline())
    sys.path[:] = header["path"]
    try:
        answer = _answer(header, given.read())
    except Exception as error:
        answer = json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}).encode() + b"\n"
    taken.write(answer)
    taken.flush()


def _begin() -> None:
    """Keep the pipe to the parent, and let nothing else be written to it."""
    pipe = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _serve(sys.stdin.buffer, pipe)


if __name__ == "__main__":
    _begin()
