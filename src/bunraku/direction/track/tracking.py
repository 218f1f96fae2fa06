"""Tracking: a shell that obeys a guide on average and is free below that scale [Bergou 2007]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Flags, Points, Vector, input_error
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.pins import Pin, pin_constraint
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Bending, Drag, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, area_mass_matrix, check_physical, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial, as_material
from bunraku.motion import Animation, Curve, CurveLike, RestShapes
from bunraku.numerics import use_threads

from .report import TrackReport
from .settings import GRAVITY, TrackSettings
from .start import first_pose, start_state, transfer
from .test_functions import Tests

Material = ShellMaterial | MaterialBlend | str


def track(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), gravity: Sequence[float] = GRAVITY, substeps: int = 2,
    iterations: int | None = None, tolerance: float = TrackSettings.tolerance, bending: str = "plate",
    mass: str = "lumped", start: str | Points = "guide", velocity: str | Points = "guide", strength: CurveLike = 1.0,
    threads: int | None = None, single: bool = True, rest: RestShapes | Points | None = None,
) -> Take:  # fmt: skip
    """Run a tracked shot in memory.

    Args:
        guide: the animation to obey.
        shell: the fine mesh, in its rest shape.
        tests: the scale at which to obey; None simulates the shell without direction.
        material: a preset's name, a `ShellMaterial`, or a `MaterialBlend` over the shell's faces.
        pins: vertices held exactly.
        gravity: [m/s²].
        substeps: steps per guide interval.
        iterations: Newton iterations a step; 1 is the paper's single step, None runs to convergence.
        tolerance: converged when a Newton step moves nothing by more than this times the shell's size.
        bending: "plate" has the right stiffness on any mesh; "hinge" is Discrete Shells, the paper's.
        mass: "lumped" or "consistent".
        start: "guide", "rest", "settled" (in equilibrium under the first directions), or points (n, 3) [m].
        velocity: "guide", "zero", or (n, 3) [m/s] at the first frame.
        strength: how firmly the guide is obeyed, 1 exactly, 0 not at all; may be keyed.
        threads: of kernels and solver; None takes all cores.
        single: factorise in single precision and refine in double.
        rest: the shape without stress where it is not the shell's own: points (n, 3) [m], or `RestShapes` that change
            over time. Mass and test functions stay those of the shell.

    Returns:
        A `Take`. Its `report` has, per frame: `residual` (t, k) [m] distance of each region's average from the
        guide's; `force` (t, k, 3) [N] of direction on each region, at the end of the frame's last step; `pin_residual`
        (t, p) [m]; `kinetic`, `stretching`, `bending`, `gravity` (t,) [J]; `iterations`, `converged`, `last_step` [m];
        and where the material yields, `yielded` (t,), the share of faces (hinges) that have set.
    """
    knobs = {
        "gravity": gravity, "substeps": substeps, "iterations": iterations, "tolerance": tolerance,
        "bending": bending, "mass": mass, "start": start, "velocity": velocity, "strength": strength,
        "threads": threads, "single": single, "rest": rest,
    }  # fmt: skip
    return collect(tracking_job(guide, shell, tests, material=material, pins=pins, **knobs))


def tracking_job(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), **settings: object,
) -> Job:  # fmt: skip
    """The job behind `track`, with the same arguments: its frames can be stopped, inspected and resumed."""
    knobs = TrackSettings.of(settings)
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
    first = first_pose(guide, shell, tests, knobs)
    pins = (pins,) if isinstance(pins, Pin) else tuple(pins)
    onto = transfer(tests, guide, shell)
    pinned = [pin_constraint(pin, shell, first, lumped, guide, onto) for pin in pins]
    rest = RestShapes([knobs.rest], [1.0]) if isinstance(knobs.rest, np.ndarray) else knobs.rest
    membrane = Membrane(shell, blend, rest)
    rigid = _clamped_faces(shell, pins)
    bending = Bending(shell, blend, plate=knobs.bending == "plate", rigid=rigid, rest=rest)
    weight = GravityEnergy(lumped, np.asarray(knobs.gravity, dtype=np.float64))
    bends = [bending] if bending.hinge_count else []  # single triangles have nothing to bend about
    energies = (membrane, *bends, weight, *([Drag(shell, blend)] if _has_drag(blend) else []))
    system = System(mass, energies, tuple(c for c in (averages, *pinned) if c is not None))
    newton = NewtonSettings(
        iterations=knobs.iterations, tolerance=knobs.tolerance, length=shell.size, single=knobs.single
    )
    stepper = ImplicitEuler(system, newton, threads=knobs.threads)
    start = start_state(stepper, system, guide, shell, tests, knobs, first)
    reporter = TrackReport(system, membrane, bending, weight, 0 if tests is None else tests.count, tuple(pinned))
    facts = {
        "vertices": shell.point_count, "faces": len(shell.faces), "regions": 0 if tests is None else tests.count,
        "size": shell.size, "mass": float(lumped.sum()), "bending": knobs.bending,
    }  # fmt: skip
    return Job(shell, guide.times, knobs.substeps, start, stepper, reporter, facts)


def _blend(material: Material, shell: TriMesh) -> MaterialBlend:
    if not isinstance(material, MaterialBlend):
        return MaterialBlend.uniform(as_material(material), len(shell.faces))
    if len(material.weights) != len(shell.faces):
        raise input_error(
            "the material blend belongs to another mesh", got=f"{len(material.weights)} faces",
            allowed=str(len(shell.faces)),
        )  # fmt: skip
    return material


def _clamped_faces(shell: TriMesh, pins: Sequence[Pin]) -> Flags:
    """(f,) faces all of whose vertices are firmly pinned: they move as told and must not bend like the rest."""
    held = np.zeros(shell.point_count, dtype=bool)
    for pin in pins:
        if pin.firm:
            held[np.asarray(pin.vertices)] = True
    return np.all(held[shell.faces], axis=1)


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
