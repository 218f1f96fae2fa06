"""Fixtures every room's tests share: a small sheet, a plain material, random states."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from kernels import forget_stale

from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import sheet

settings.register_profile("bunraku", deadline=None)  # the first example may have to compile a kernel
settings.load_profile("bunraku")


def pytest_configure() -> None:
    """Before any worker begins, kernels that call changed ones of other files are thrown away.

    Bodies that tests make are kept apart from the user's own. A shell that runs the suite in the background lets it
    ignore Ctrl-C, and all that it starts: tests that interrupt processes would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("BUNRAKU_CACHE", str(Path(tempfile.gettempdir()) / "bunraku-test-cache"))
    if "PYTEST_XDIST_WORKER" not in os.environ:
        forget_stale(Path(__file__).resolve().parents[1] / "src" / "bunraku")


@pytest.fixture
def cloth() -> TriMesh:
    """A flat sheet of 3 × 2 cells: twelve vertices, twelve faces."""
    return sheet(3, 2, length=0.3)


@pytest.fixture
def soft() -> ShellMaterial:
    """Soft enough that a twentieth of a second resolves its waves on a sheet of a few cells."""
    return ShellMaterial(young=2e4, poisson=0.3, thickness=5e-3, density=400.0)


@pytest.fixture
def damped(cloth: TriMesh) -> MaterialBlend:
    """Two damped materials painted from one side of the cloth to the other: every face differs."""
    first = ShellMaterial(
        young=2e4, poisson=0.3, thickness=5e-3, density=400, stretch_damping=0.01, bend_damping=0.03, drag=0.2
    )
    second = ShellMaterial(
        young=8e4, poisson=0.1, thickness=3e-3, density=700, stretch_damping=0.04, bend_damping=0.01, drag=0.1
    )
    share = cloth.rest[:, 0] / cloth.rest[:, 0].max()
    return MaterialBlend.by_vertex((first, second), np.column_stack([1.0 - share, share]), cloth.faces)
