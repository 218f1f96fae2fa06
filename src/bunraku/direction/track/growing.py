"""Garments put on bodies that they cut: the body is made thin until they are around it, then grows to its size.

Thin is what a body becomes when its shape diffuses over itself [Desbrun 1999]: limbs draw in to about their middle
lines, bumps go first, and how far it has gone is told by one length. Around the thin body the garment is where its file
has it; as the body grows back contact pushes the garment out, so it ends up outside whatever its first pose was.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.collision import Obstacle, Surfaces
from bunraku.constraints import LinearConstraint
from bunraku.contracts import Faces, Points
from bunraku.dynamics import NewtonSettings, System
from bunraku.geometry import TriMesh, cotangent_laplacian, lumped_mass

from .layers import is_body, mean_edge
from .untangle import STEP, Untangled, apart, lead

_log = logging.getLogger(__name__)
_FIRST = 0.2  # of the shell's mean edge: the length over which a body diffuses in the first stage
_MORE = 1.2  # times that, from stage to stage
_STAGES = 26  # to about 80 times the first
_STEPS = 2  # of a stage, as the body grows
_REST = 8  # steps at the end in which all stands


@dataclass(frozen=True, eq=False)
class _Thinning:
    """Obstacles at a moment, the bodies among them thinner from stage to stage."""

    obstacles: tuple[Obstacle, ...]
    stages: tuple[tuple[Points, ...], ...]
    """of each (n, 3), first as it is; one stage for what is no body"""

    def at(self, depth: int) -> list[Obstacle]:
        """All of them, standing as they are at a depth: a number of stages."""
        return self.growing(depth, 0.0, np.inf)

    def growing(self, depth: int, start: float, end: float) -> list[Obstacle]:
        """All of them, on their way from a depth at the time `start` [s] to their size at `end`."""

        def left(t: float) -> float:
            return depth if np.isinf(end) else depth * float(np.clip((end - t) / (end - start), 0.0, 1.0))

        return [
            replace(one, motion=lambda t, stages=stages: _between(stages, left(t)))
            for one, stages in zip(self.obstacles, self.stages, strict=True)
        ]


def put_on(
    system: System, surfaces: Surfaces, layers: Sequence[str], conditions: Sequence[LinearConstraint], first: Points,
    time: float, settings: NewtonSettings, threads: int | None,
) -> Untangled | None:  # fmt: skip
    """A shell around the bodies within its layers at a time [s], from points `first` (n, 3) that cut them.

    There is friction, or what is tight would slip off; `system` has no weight in it. None where no thinner bodies would
    be clear of the shell.
    """
    found = _thin_enough(surfaces, layers, first, time)
    if found is None:
        return None
    thinning, depth = found
    steps, end = _STEPS * depth, time - _REST * STEP
    growing = replace(surfaces, obstacles=thinning.growing(depth, end - steps * STEP, end))
    out = lead(replace(system, contact=growing), conditions, first, time, settings, threads, steps + _REST)
    _log.info(
        "the first pose cuts a body; made thin over %.3g m that grew into its garment in %d steps",
        _length(surfaces, depth), out.steps,
    )  # fmt: skip
    return out


def _thin_enough(surfaces: Surfaces, layers: Sequence[str], first: Points, time: float) -> tuple[_Thinning, int] | None:
    """Bodies thin enough to be clear of points `first` (n, 3), and how many stages that took."""
    if not apart(replace(surfaces, obstacles=()), first, time):
        return None  # it cuts itself, or is behind a plane: thinner bodies are no help
    flows = [_Flow(one.mesh.faces, one.at(time)) if is_body(one, layers) else None for one in surfaces.obstacles]
    stages = [(one.at(time),) for one in surfaces.obstacles]
    for depth in range(1, _STAGES):
        length = _length(surfaces, depth), _length(surfaces, depth - 1)
        stages = [
            known if flow is None else (*known, flow.thinner(known[-1], *length))
            for known, flow in zip(stages, flows, strict=True)
        ]
        found = _Thinning(tuple(surfaces.obstacles), tuple(stages))
        if apart(replace(surfaces, obstacles=found.at(depth)), first, time):
            return found, depth
    return None


def _length(surfaces: Surfaces, depth: int) -> float:
    """[m] over which bodies have diffused after some stages."""
    return mean_edge(surfaces.shell) * _FIRST * _MORE ** (depth - 1) if depth else 0.0


class _Flow:
    """The diffusion of a surface over itself, as it is in the beginning."""

    def __init__(self, faces: Faces, x: Points) -> None:
        mesh = TriMesh(x, faces)
        self._stiffness, self._mass = cotangent_laplacian(mesh), sparse.diags_array(lumped_mass(mesh))

    def thinner(self, x: Points, length: float, before: float) -> Points:
        """(n, 3) diffused over a length [m], from points x (n, 3) diffused over a shorter one: one implicit step."""
        matrix = self._mass + (length**2 - before**2) * self._stiffness
        return splu(sparse.csc_array(matrix)).solve(self._mass @ x)


def _between(stages: Sequence[Points], depth: float) -> Points:
    """(n, 3) on the straight ways from stage to stage; of what has one stage alone, that."""
    low = min(int(depth), len(stages) - 1)
    high = min(low + 1, len(stages) - 1)
    return stages[low] + (depth - int(depth)) * (stages[high] - stages[low])
