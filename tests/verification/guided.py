"""Tracked shells among things they may touch, with the way the solver took."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from solver_way import Solve, recorded_way, straight

from bunraku.collision import Surfaces
from bunraku.contracts import Flags, Points
from bunraku.direction.contact import Contact
from bunraku.direction.job import Frame, Job
from bunraku.direction.track.tracking import tracking_job
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation
from bunraku.testing import passings, survey_apart

CLOTH = ShellMaterial(young=2e5, poisson=0.3, thickness=2e-3, density=300, stretch_damping=5e-3, bend_damping=5e-3)


@dataclass(eq=False)
class Shot:
    """A finished shot, all its frames and the solves between them."""

    job: Job
    surfaces: Surfaces
    frames: list[Frame] = field(default_factory=list)
    solves: list[Solve] = field(default_factory=list)

    @property
    def residual(self) -> np.ndarray:
        """(t, k) [m]"""
        return np.array([frame.report["residual"] for frame in self.frames])

    @property
    def gave_way(self) -> Flags:
        """(t, k)"""
        return np.array([frame.report["gave_way"] for frame in self.frames], dtype=bool)

    def crossing(self) -> int:
        """Faces of the shell that cross or touch something, and vertices behind a plane, on all frames together."""
        shell = self.job.mesh
        planes = [(plane.normal, plane.point) for plane in self.surfaces.planes]
        frames = [self.surfaces.together(frame.points, frame.time) for frame in self.frames]
        found = survey_apart(
            self.surfaces.faces, frames, shell=len(shell.faces), movable=shell.point_count, planes=planes, between=False
        )
        return int(found.crossing.sum() + found.beyond.sum())

    def passing(self) -> int:
        """Straight pieces of the solver's way on which something passes through something."""
        count = self.job.mesh.point_count
        return sum(len(passings(a, b, self.surfaces.faces, movable=count)) > 0 for a, b in straight(self.solves))

    @property
    def way(self) -> list[Points]:
        """All places that the solver came to."""
        return [place for solve in self.solves for place in solve.places]


def shoot(
    guide: Animation, shell: TriMesh, tests, contact: Contact, material: ShellMaterial = CLOTH, **knobs: object
) -> Shot:
    """Run a shot to its end."""
    knobs = {"tolerance": 4e-4, "threads": 1, **knobs}
    job = tracking_job(guide, shell, tests, material=material, contact=contact, **knobs)  # type: ignore[arg-type]
    surfaces = job.stepper._system.contact  # type: ignore[attr-defined]
    with recorded_way() as way:
        frames = list(job.frames())
    return Shot(job, surfaces, frames, way)
