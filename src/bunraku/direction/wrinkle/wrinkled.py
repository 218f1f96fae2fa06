"""A skin on a body whose interior moves as it is told: one balance after another, each looked for from the one before.

One way only: the interior's lattice carries the skin, and the skin does not pull back.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Vector, input_error, is_between, need
from bunraku.direction.track.smooth import gaussians
from bunraku.geometry import Lattice, TriMesh, edges, vertex_normals
from bunraku.materials import SkinOnSoft
from bunraku.motion import Animation

from .skin import Skin

_log = logging.getLogger(__name__)
SPACING = 2.5
"""wavelengths between what is coupled on average"""
_LEAST_ACROSS = 3.0
"""how many such distances a body is across at least: fewer averages would leave it free to turn"""
_EDGES = 2.0
"""to a wavelength, below which there is nothing to see of a wave"""
_ENOUGH = 8.0
"""edges to a wavelength with which it is as long as it should be"""


@dataclass(frozen=True, eq=False)
class Wrinkled:
    """A skin in balance at some times."""

    animation: Animation
    """of the surface, with its wrinkles"""
    places: Array
    """(t, n, 3) where the interior has the surface's vertices [m]"""
    converged: Flags
    """(t,) whether the skin is in a stable balance"""
    iterations: Integers
    """(t,)"""

    @cached_property
    def heights(self) -> Array:
        """(t, n) how far the skin is from the interior's surface along its normals [m]."""
        faces = self.animation.mesh.faces
        normals = np.stack([vertex_normals(one, faces) for one in self.places])
        return np.einsum("tni,tni->tn", self.animation.points - self.places, normals)


def wrinkled(
    lattice: Lattice, times: Vector | Sequence[float], nodes: Array, layers: SkinOnSoft, *, spacing: float = SPACING,
    threads: int | None = None,
) -> Wrinkled:  # fmt: skip
    """The surface of a lattice as a skin in balance, with the nodes where they are told to be.

    Args:
        lattice: the interior; its surface at rest is the skin at rest.
        times: (t,) increasing [s].
        nodes: (t, n, 3) of the lattice [m].
        layers: the skin and what it is on.
        spacing: wavelengths between what is coupled on average.
        threads: as everywhere.
    """
    need(Lattice, "lattice", lattice)
    need(SkinOnSoft, "layers", layers)
    nodes = np.asarray(nodes, dtype=np.float64)
    if nodes.ndim != 3 or nodes.shape[1:] != lattice.rest.shape or not np.isfinite(nodes).all():
        raise input_error(
            "the lattice's nodes must be finite points, one row a node, at each time", where="nodes", got=nodes.shape,
            allowed=f"(times, {lattice.point_count}, 3)",
        )  # fmt: skip
    _check(layers, lattice.surface, spacing)
    mesh, places = lattice.surface, np.stack([lattice.points(one) for one in nodes])
    motion = Animation(mesh, np.asarray(times, dtype=np.float64), places, "linear")
    width = min(spacing * layers.wavelength, mesh.size / _LEAST_ACROSS)
    skin = Skin(mesh, layers, motion.at, gaussians(mesh, width), threads=threads)
    frames, converged, iterations = [], [], []
    before: Points | None = None
    for k, time in enumerate(motion.times):
        guess = places[k] if before is None else before + places[k] - places[k - 1]
        found = skin.at(float(time), guess)
        before = found.value.q.reshape(-1, 3)
        frames.append(before)
        converged.append(found.outcome.usable)
        iterations.append(found.stats["iterations"])
        if not converged[-1]:
            _log.warning("at %.4g s the skin found no balance: %s", time, found.outcome.value)
    animation = Animation(mesh, motion.times, np.stack(frames))
    return Wrinkled(animation, places, np.array(converged), np.array(iterations, dtype=np.int64))


def _check(layers: SkinOnSoft, mesh: TriMesh, spacing: float) -> None:
    """Refuse what does not wrinkle, and warn of waves that the surface is too coarse for."""
    if not is_between(spacing, 0.1, 1e3):
        raise input_error("spacing must be a number of wavelengths", got=repr(spacing), allowed="0.1 to 1000")
    if layers.ratio < 1.0:
        raise input_error(
            "the skin is softer than what it is on, so it does not wrinkle", where="layers",
            got=f"{layers.ratio:.2g} times as stiff", allowed="from 1 times on", remedy="a stiffer skin",
        )  # fmt: skip
    ends = mesh.rest[edges(mesh.faces).vertices]
    edge = float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)))
    if layers.wavelength < _EDGES * edge:
        _log.warning(
            "waves of %.3g m are shorter than two edges of the surface (%.3g m), so there will be none to see; edges "
            "of %.2g m would do", layers.wavelength, edge, layers.wavelength / _ENOUGH,
        )  # fmt: skip
