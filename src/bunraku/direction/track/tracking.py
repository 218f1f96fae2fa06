"""Tracking: a shell that obeys a guide on average and is free below that scale [Bergou 2007]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Outcome, PhysicsStopped, Points, Solution, Sparse, State, Vector, input_error
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.pins import Pin, pin_constraint
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System, settle
from bunraku.energies import Bending, Drag, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, area_mass_matrix, check_physical, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial, as_material
from bunraku.motion import Animation, Curve, CurveLike
from bunraku.numerics import use_threads

Material = ShellMaterial | MaterialBlend | str
GRAVITY = (0.0, -9.81, 0.0)


class Tests(Protocol):
    """Test functions, as `hierarchy`, `clusters`, `painted` or `pointwise` make them."""

    @property
    def count(self) -> int: ...

    @property
    def prolongation(self) -> Sparse | None: ...

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]: ...


@dataclass(frozen=True)
class TrackSettings:
    """The knobs of `track`, with their defaults."""

    gravity: Sequence[float] = GRAVITY
    """[m/s²]"""
    substeps: int = 2
    """steps per guide interval"""
    iterations: int | None = None
    """Newton iterations a step: 1 is the paper's single step, None runs to convergence"""
    tolerance: float = 2e-4
    """converged when a Newton step moves nothing by more than this times the shell's size"""
    bending: Literal["plate", "hinge"] = "plate"
    """"plate": exact D on any mesh; "hinge": Discrete Shells, the paper's"""
    mass: Literal["lumped", "consistent"] = "lumped"
    start: Literal["guide", "rest", "settled"] = "guide"
    """the first pose: the guide's, the shell's rest shape, or the equilibrium under the first directions"""
    velocity: Literal["guide", "zero"] | Array = "guide"
    """at the first frame: the guide's, none, or (n, 3) [m/s]"""
    strength: CurveLike = 1.0
    """how firmly the guide is obeyed: 1 exactly, 0 not at all; may be keyed"""
    threads: int | None = None
    single: bool = True
    """single-precision factors with double-precision refinement"""


def track(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] = (), **settings: object,
) -> Take:  # fmt: skip
    """Run a tracked shot in memory; `settings` are the fields of `TrackSettings`.

    Args:
        guide: the animation to obey.
        shell: the fine mesh, in its rest shape.
        tests: the scale at which to obey; None simulates the shell without direction.
        material: a preset's name, a `ShellMaterial`, or a `MaterialBlend` over the shell's faces.
        pins: vertices held exactly.
    """
    return collect(tracking_job(guide, shell, tests, material=material, pins=pins, **settings))


def tracking_job(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] = (), **settings: object,
) -> Job:  # fmt: skip
    """The job behind `track`: its frames can be stopped, inspected and resumed."""
    knobs = _settings(settings)
    check_physical(guide.mesh, "guide")
    guide.check("guide")
    check_physical(shell, "shell")
    blend = _blend(material, shell)
    use_threads(knobs.threads)
    fields = blend.at(float(guide.times[0]))
    areal = fields.density * fields.thickness
    lumped = lumped_mass(shell, areal)
    mass = Mass(lumped, area_mass_matrix(shell, areal) if knobs.mass == "consistent" else None)
    averages = None if tests is None else _average_constraint(guide, shell, tests, lumped, knobs.strength)
    first = _first_pose(guide, shell, tests, knobs)
    pinned = [pin_constraint(pin, shell, first, lumped) for pin in pins]
    membrane, bending = Membrane(shell, blend), Bending(shell, blend, plate=knobs.bending == "plate")
    weight = GravityEnergy(lumped, np.asarray(knobs.gravity, dtype=np.float64))
    energies = (membrane, bending, weight, *([Drag(shell, blend)] if _has_drag(blend) else []))
    system = System(mass, energies, tuple(c for c in (averages, *pinned) if c is not None))
    newton = NewtonSettings(
        iterations=knobs.iterations, tolerance=knobs.tolerance, length=shell.size, single=knobs.single
    )
    stepper = ImplicitEuler(system, newton, threads=knobs.threads)
    start = _start(stepper, system, guide, shell, tests, knobs, first)
    reporter = _TrackReport(system, membrane, bending, weight, 0 if tests is None else tests.count, tuple(pinned))
    facts = {
        "vertices": shell.point_count, "faces": len(shell.faces), "regions": 0 if tests is None else tests.count,
        "size": shell.size, "mass": float(lumped.sum()), "bending": knobs.bending,
    }  # fmt: skip
    return Job(shell, guide.times, knobs.substeps, start, stepper, reporter, facts)


def _settings(given: Mapping[str, object]) -> TrackSettings:
    known = TrackSettings.__dataclass_fields__
    for name in given:
        if name not in known:
            raise input_error("unknown setting of track", got=name, allowed=", ".join(known))
    knobs = TrackSettings(**given)  # type: ignore[arg-type]
    gravity = np.asarray(knobs.gravity, dtype=np.float64)
    if gravity.shape != (3,) or not np.isfinite(gravity).all():
        raise input_error("gravity must be three finite numbers", got=knobs.gravity)
    _whole("substeps", knobs.substeps)
    if knobs.iterations is not None:
        _whole("iterations", knobs.iterations)
    if not 0 < knobs.tolerance < 1:
        raise input_error("tolerance must lie between 0 and 1", got=knobs.tolerance)
    _one_of("bending", knobs.bending, ("plate", "hinge"))
    _one_of("mass", knobs.mass, ("lumped", "consistent"))
    _one_of("start", knobs.start, ("guide", "rest", "settled"))
    strength = Curve.of(knobs.strength)
    if strength.values.min() < 0 or strength.values.max() > 1:
        raise input_error("strength must lie between 0 and 1", got=strength.values.tolist())
    return knobs


def _whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise input_error(f"{name} must be a whole number above zero", got=value, allowed="1, 2, 3, …")


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise input_error(f"unknown {name}", got=value, allowed=", ".join(allowed))


def _blend(material: Material, shell: TriMesh) -> MaterialBlend:
    if not isinstance(material, MaterialBlend):
        return MaterialBlend.uniform(as_material(material), len(shell.faces))
    if len(material.weights) != len(shell.faces):
        raise input_error(
            "the material blend belongs to another mesh", got=f"{len(material.weights)} faces",
            allowed=str(len(shell.faces)),
        )  # fmt: skip
    return material


def _has_drag(blend: MaterialBlend) -> bool:
    return any(Curve.of(material.drag).values.any() for material in blend.materials)


def _average_constraint(
    guide: Animation, shell: TriMesh, tests: Tests, lumped: Vector, strength: CurveLike
) -> LinearConstraint:
    of_guide, of_shell = tests.averages(guide.mesh, shell)
    jacobian = average_jacobian(of_shell)
    curve, rows = Curve.of(strength), jacobian.shape[0]
    goals: Callable[[float], Vector] = lambda time: (of_guide @ guide.at(time)).reshape(-1)  # noqa: E731
    return LinearConstraint(jacobian, goals, lambda time: np.full(rows, curve.at(time)), felt_mass(jacobian, lumped))


def _transfer(tests: Tests | None, guide: Animation, shell: TriMesh) -> Sparse | None:
    """How the guide's points become the shell's, where they correspond one by one."""
    if tests is not None and tests.prolongation is not None:
        return tests.prolongation
    if guide.mesh.point_count == shell.point_count and np.array_equal(guide.mesh.faces, shell.faces):
        return sparse.eye_array(shell.point_count, format="csr")
    return None


def _first_pose(guide: Animation, shell: TriMesh, tests: Tests | None, knobs: TrackSettings) -> Points:
    transfer = _transfer(tests, guide, shell)
    if knobs.start == "rest" or transfer is None:
        return np.array(shell.rest)
    return np.asarray(transfer @ guide.at(guide.times[0]))


def _start(
    stepper: ImplicitEuler, system: System, guide: Animation, shell: TriMesh, tests: Tests | None,
    knobs: TrackSettings, first: Points,
) -> State:  # fmt: skip
    time = float(guide.times[0])
    velocity = _first_velocity(guide, shell, tests, knobs)
    state = State(time, first.reshape(-1).copy(), velocity.reshape(-1).copy())
    state = replace(state, memory=system.remember(state))
    apart = tests is not None and _transfer(tests, guide, shell) is None
    if knobs.start == "settled" or (knobs.start == "guide" and apart):
        if not system.constraints:
            raise input_error(
                "a shell without tests or pins falls for ever and cannot settle", remedy="start = 'guide'"
            )
        solution = settle(stepper, state, tolerance=1e-4 * shell.size)
        if not solution.outcome.usable:
            raise PhysicsStopped(f"the shell could not be brought to its first pose: {solution.outcome.value}")
        return solution.value
    return state


def _first_velocity(guide: Animation, shell: TriMesh, tests: Tests | None, knobs: TrackSettings) -> Points:
    if isinstance(knobs.velocity, np.ndarray):
        given = np.asarray(knobs.velocity, dtype=np.float64)
        if given.shape != shell.rest.shape or not np.isfinite(given).all():
            raise input_error("velocity must be finite, one row a shell vertex", got=given.shape)
        return given
    _one_of("velocity", knobs.velocity, ("guide", "zero"))
    if knobs.velocity == "zero" or knobs.start == "rest":
        return np.zeros_like(shell.rest)
    transfer = _transfer(tests, guide, shell)
    moving = guide.velocity(float(guide.times[0]))
    if transfer is not None:
        return np.asarray(transfer @ moving)
    return np.broadcast_to(moving.mean(axis=0), shell.rest.shape)


@dataclass(frozen=True, eq=False)
class _TrackReport:
    """Residuals, forces of direction and energies of a frame."""

    system: System
    membrane: Membrane
    bending: Bending
    weight: GravityEnergy
    regions: int
    pins: tuple[LinearConstraint, ...]

    def report(self, state: State, steps: list[Solution[State]]) -> dict[str, Array]:
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        rows = 3 * self.regions
        last = steps[-1].stats if steps else None
        residual = last["residual"] if last else self._start_residual(state)
        force = -last["multipliers"][:rows] if last else np.zeros(rows)
        return {
            "residual": np.linalg.norm(residual[:rows].reshape(-1, 3), axis=1),
            "pin_residual": self._of_pins(residual[rows:]),
            "force": force.reshape(-1, 3),
            "kinetic": np.array(0.5 * float(np.sum(v * self.system.mass.times(v)))),
            "stretching": np.array(self.membrane.elastic(state.time).value(x)),
            "bending": np.array(self.bending.elastic(state.time, state.memory.get("bending.angles")).value(x)),
            "gravity": np.array(self.weight.value(x)),
            "iterations": np.array(sum(step.stats["iterations"] for step in steps)),
            "converged": np.array(all(step.outcome is Outcome.CONVERGED for step in steps)),
            "last_step": np.array(max((step.stats["last_step"] for step in steps), default=0.0)),
            "seconds": np.array(sum(step.stats["seconds"]["total"] for step in steps)),
        }

    def _of_pins(self, residual: Vector) -> Vector:
        """(p,) the largest distance of a pinned coordinate from its goal, per pin [m]."""
        sizes = [pin.jacobian.shape[0] for pin in self.pins]
        parts = np.split(residual, np.cumsum(sizes)[:-1]) if sizes else []
        return np.array([np.abs(part).max(initial=0.0) for part in parts])

    def _start_residual(self, state: State) -> Vector:
        tiny = 1e-9  # goals at the start itself: a step of no length
        rows = [c.at(replace(state, time=state.time - tiny), tiny) for c in self.system.constraints]
        return np.concatenate([np.zeros(0), *(r.residual(state.q.reshape(-1, 3)) for r in rows)])
