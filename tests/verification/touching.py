"""Free shells among things they may touch, stepped one by one, and what they weigh, press and hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.collision import Obstacle, Plane, Surfaces
from bunraku.contracts import Points, State, Vector
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Bending, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import Apart, survey_apart

FELT = ShellMaterial(young=2e5, poisson=0.3, thickness=2e-3, density=300.0, stretch_damping=0.01, bend_damping=0.02)
G = 9.81
DOWN = (0.0, -G, 0.0)


@dataclass(frozen=True, eq=False)
class Scene:
    """A shell without direction."""

    mesh: TriMesh
    obstacles: Sequence[Obstacle] = ()
    planes: Sequence[Plane] = ()
    gap: float = 2e-3
    friction: float = 0.0
    gravity: Sequence[float] = DOWN
    material: ShellMaterial = FELT
    tolerance: float = 1e-6
    still: float = 1e-3

    @cached_property
    def surfaces(self) -> Surfaces:
        return Surfaces(self.mesh, self.obstacles, self.planes, gap=self.gap, friction=self.friction, still=self.still)

    @cached_property
    def mass(self) -> Mass:
        return Mass(lumped_mass(self.mesh, self.material.areal_mass))

    @cached_property
    def energies(self) -> tuple[Membrane, Bending, GravityEnergy]:
        blend = MaterialBlend.uniform(self.material, len(self.mesh.faces))
        weight = GravityEnergy(self.mass.lumped, np.asarray(self.gravity, float))
        return Membrane(self.mesh, blend), Bending(self.mesh, blend), weight

    @cached_property
    def stepper(self) -> ImplicitEuler:
        settings = NewtonSettings(tolerance=self.tolerance, length=self.mesh.size)
        return ImplicitEuler(System(self.mass, self.energies, (), self.surfaces), settings, threads=1)

    def march(self, count: int, dt: float, x: Points | None = None, v: Points | None = None) -> Iterator[State]:
        """The start (default: the rest shape, at rest) and `count` steps; fails where one cannot be taken."""
        x = self.mesh.rest if x is None else x
        state = State(0.0, x.reshape(-1).copy(), np.zeros(x.size) if v is None else v.reshape(-1).copy())
        yield state
        for _ in range(count):
            solution = self.stepper.step(state, dt)
            assert solution.outcome.usable, solution.outcome
            state = solution.value
            yield state

    def pushed(self, before: State, after: State) -> Vector:
        """(3,) [N] what everything it touched pushed the shell with at the end of a step, friction included."""
        touch = self.surfaces.at(before, after.time - before.time)
        touch.inertia = float(self.mass.lumped.mean()) / (after.time - before.time) ** 2  # as the step had it
        touch.advance(1.0)
        return -touch.gradient(after.q.reshape(-1, 3)).sum(axis=0)

    def kinetic(self, state: State) -> float:
        v = state.velocity.reshape(-1, 3)
        return 0.5 * float(np.sum(v * self.mass.times(v)))

    def energy(self, state: State, dt: float) -> float:
        """[J] kinetic, elastic, of gravity and of the barrier, of a state that a step of length dt [s] has led to."""
        x = state.q.reshape(-1, 3)
        membrane, bending, weight = self.energies
        own = membrane.elastic(0.0).value(x) + bending.elastic(0.0).value(x) + weight.value(x)
        touch = self.surfaces.at(state, dt)
        touch.inertia = float(self.mass.lumped.mean()) / dt**2
        return self.kinetic(state) + own + touch.value(x)

    def survey(self, states: Sequence[State], between: bool = True) -> Apart:
        """The independent check on the shell with its obstacles."""
        frames = [self.surfaces.together(state.q.reshape(-1, 3), state.time) for state in states]
        planes = [(plane.normal, plane.point) for plane in self.planes]
        return survey_apart(
            self.surfaces.faces, frames, shell=len(self.mesh.faces), movable=self.mesh.point_count, planes=planes,
            between=between,
        )  # fmt: skip


def level(mesh: TriMesh, height: float) -> TriMesh:
    """A sheet of z = 0 laid into y = height, about the origin."""
    centre = 0.5 * (mesh.rest.min(axis=0) + mesh.rest.max(axis=0))
    x = mesh.rest - centre
    return TriMesh(np.stack([x[:, 0], np.full(len(x), height), -x[:, 1]], axis=1), mesh.faces)
