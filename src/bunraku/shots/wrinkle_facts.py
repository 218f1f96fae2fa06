"""What frames of a wrinkling skin tell a shot: handles as regions, how the skin is pressed, how high its waves are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bunraku.contracts import Array, Faces, Points, Solution, State
from bunraku.direction import Job
from bunraku.direction.job import Reporter
from bunraku.direction.wrinkle import Handle
from bunraku.direction.wrinkle.interior import LatticeInterior
from bunraku.direction.wrinkle.two_way import TwoWay
from bunraku.direction.wrinkle.wrinkling import Wrinkling
from bunraku.energies import corner_gradients, strains
from bunraku.geometry import Lattice, TriMesh, lumped_mass
from bunraku.materials import ShellMaterial, SolidMaterial
from bunraku.motion import Growth

from .report import FORCE, HEIGHT, INTERIOR

_MOST = 99.0  # percent of the faces that are pressed less: a few slivers say nothing


@dataclass(frozen=True, eq=False)
class SkinReport:
    """What a frame says of itself, in a shot's words."""

    own: Reporter
    shell: TriMesh
    animated: bool = False
    """whether the body moves as a guide has it"""
    growth: Growth | None = None
    """of the skin, over time [s] since the first frame"""
    _since: list[float] = field(default_factory=lambda: [time.perf_counter()], repr=False)
    """[s] when the last frame was told"""

    def report(self, state: State, steps: list[Solution[State]]) -> Mapping[str, Array]:
        """`residual` (h,) [m] of the handles and `force` (h, 3) [N], where that is told, `highest` [m] of the waves,
        `compression` of the interior under its skin, `coupling` [m] by how much the averages of skin and interior
        differ, `following` [m] those of a guide and a body that follows it; and all else as it is."""
        told = dict(self.own.report(state, steps))
        handles = np.asarray(told.pop("handle_residual"))
        if self.animated:  # a guide is followed on average, where it is not taken as it is
            told["following"] = np.array(float(handles.max(initial=0.0)))
            handles = handles[:0]
        averages = np.asarray(told.pop("residual"))
        forces = {FORCE: told.pop("handle_force")} if "handle_force" in told else {}
        return told | forces | {
            "residual": handles,
            "held": np.ones(len(handles)),
            "seconds": np.array(self._spent() if steps else 0.0),
            "pin_residual": np.zeros(0),
            "highest": np.array(float(np.abs(told[HEIGHT]).max(initial=0.0))),
            "compression": np.array(self._pressed(np.asarray(told[INTERIOR]), state.time)),
            "coupling": np.array(float(averages.max(initial=0.0))),
        }  # fmt: skip

    def _spent(self) -> float:
        """[s] since the last frame was told, or the job began."""
        before, self._since[0] = self._since[0], time.perf_counter()
        return self._since[0] - before

    def _pressed(self, x: Points, time: float) -> float:
        """By how much the most pressed hundredth of the faces is shorter than it would be at rest, grown as it is at a
        time [s], with the interior at x."""
        gradients = corner_gradients(self.shell.rest, self.shell.faces)
        faces = self.shell.faces
        grown = 1.0 if self.growth is None else 1.0 + self.growth.on_faces(time, faces)
        return float(np.percentile(1.0 - (1.0 - compressions(x, faces, gradients)) / grown, _MOST))

    def facts(
        self, job: Job[Any], skin: ShellMaterial, interior: SolidMaterial, handles: Sequence[Handle],
        names: Sequence[str], muscles: Sequence[str],
    ) -> dict[str, Any]:  # fmt: skip
        """What a report says once: `names` of the handles, and of the muscles."""
        own = dict(job.facts)
        averages = own.pop("regions")
        stepper, close = job.stepper, []
        assert isinstance(stepper, Wrinkling | TwoWay)
        own["by_nodes"] = isinstance(stepper, Wrinkling) or not stepper.holds_skin
        if own["by_nodes"] and isinstance(stepper.interior, LatticeInterior):
            close = close_handles(stepper.interior.lattice, handles, names)
        weight = float(lumped_mass(self.shell, stepper.skin.areal_mass).sum())
        return own | {
            "regions": len(handles), "averages": averages, "faces": len(self.shell.faces),
            "close": close,
            "mass": weight + interior.density * own.get("volume", 0.0),
            "thickness": skin.thickness, "young": skin.young, "muscles": list(muscles),
        }  # fmt: skip


def compressions(x: Points, faces: Faces, gradients: Array) -> Array:
    """(f,) 1 − λ of the most pressed direction of faces at points x (n, 3), from corner gradients (f, 3, 2) of their
    rest shapes: λ² is the smaller eigenvalue of 1 + 2 E, with E Green's strain."""
    first, second, shear = strains(np.ascontiguousarray(x), faces, gradients).T
    square = 1.0 + first + second - np.hypot(first - second, shear)
    return 1.0 - np.sqrt(np.maximum(square, 0.0))


def close_handles(lattice: Lattice, handles: Sequence[Handle], names: Sequence[str]) -> list[list[str]]:
    """Pairs of handles that share nodes of the lattice, so that not both can have their way."""
    used = [set(np.unique(lattice.embedding[one.vertices].indices).tolist()) for one in handles]
    return [[names[j], names[k]] for k in range(len(used)) for j in range(k) if used[j] & used[k]]


@dataclass(frozen=True)
class Told:
    """Facts of a job in words."""

    interior: str
    waves: str


def told_facts(facts: Mapping[str, Any]) -> Told:
    """What will be simulated."""
    inside = "moved as its guide is"
    if facts["interior"] == "lattice":
        inside = f"{facts['elements']} cells of {facts['cell']:.3g} m inside"
    return Told(inside, waves(facts))


def waves(facts: Mapping[str, Any]) -> str:
    """What the materials demand and what the mesh shows of it."""
    if "wavelengths" in facts:
        short, long = (1e3 * one for one in facts["wavelengths"])
        lengths = f"waves of {short:.3g} to {long:.3g} mm, the shortest"
    else:
        lengths = f"waves of {1e3 * facts['wavelength']:.3g} mm, each"
    edges, onset = facts["edges_a_wave"], 100 * facts["onset"]
    return f"{lengths} over {edges:.2g} edges of the mesh, from {onset:.2g} % compression on"
