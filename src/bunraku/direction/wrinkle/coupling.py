"""What of a skin is coupled to its interior: bumps, each in its place, or natural waves, which are everywhere."""

from __future__ import annotations

from typing import Literal, get_args

from bunraku.contracts import input_error
from bunraku.direction.track import gaussians
from bunraku.direction.track.spectral import spectral
from bunraku.direction.track.test_functions import TestFunctions
from bunraku.geometry import TriMesh

Coupling = Literal["local", "spectral"]


def coupled(mesh: TriMesh, spacing: float, coupling: Coupling = "local", threads: int | None = None) -> TestFunctions:
    """The test functions of a coupling, about a `spacing` [m] apart."""
    if coupling not in get_args(Coupling):
        raise input_error("unknown coupling", where="coupling", got=coupling, allowed=", ".join(get_args(Coupling)))
    return gaussians(mesh, spacing) if coupling == "local" else spectral(mesh, spacing, threads=threads)
