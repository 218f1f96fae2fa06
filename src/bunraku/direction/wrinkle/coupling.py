"""What of a skin is coupled to its interior: bumps, each in its place, or natural waves, which are everywhere."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bunraku.contracts import Vector, input_error
from bunraku.direction.track import gaussians
from bunraku.direction.track.spectral import spectral
from bunraku.direction.track.test_functions import TestFunctions
from bunraku.geometry import TriMesh

Coupling = Literal["local", "spectral"]
COUPLINGS: tuple[Coupling, ...] = get_args(Coupling)


def check_coupling(coupling: object) -> None:
    """Refuse what is none."""
    if not isinstance(coupling, str) or coupling not in COUPLINGS:
        raise input_error("unknown coupling", where="coupling", got=coupling, allowed=", ".join(COUPLINGS))


def coupled(
    mesh: TriMesh, spacing: float | Vector, coupling: Coupling = "local", threads: int | None = None
) -> TestFunctions:
    """The test functions of a coupling, about a `spacing` [m] apart; where that varies (n,), of bumps."""
    check_coupling(coupling)
    if coupling == "spectral" and np.ndim(spacing):
        raise input_error(
            "natural waves are spread alike over the whole skin, and this one's vary", where="coupling", got=coupling,
            allowed="'local'", remedy="one material, or a spacing",
        )  # fmt: skip
    return gaussians(mesh, spacing) if coupling == "local" else spectral(mesh, float(spacing), threads=threads)
