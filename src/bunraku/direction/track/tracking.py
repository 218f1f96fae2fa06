"""Tracking: a shell that obeys a guide on average and is free below that scale [Bergou 2007]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Flags, Points, Vector, input_error
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.pins import Pin, pin_constraint
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Bending, Drag, GravityEnergy, Membrane, StrainLimit
from bunraku.geometry import TriMesh, area_mass_matrix, axis_directions, check_physical, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial, as_material
from bunraku.motion import Animation, Curve, CurveLike
from bunraku.numerics import use_threads

from .report import TrackReport
from .settings import GRAVITY, TrackSettings
from .start import first_pose, start_state, transfer
from .test_functions import Tests

Material = ShellMaterial | MaterialBlend | str
Warp = Sequence[float] | Array
_GRAIN = (0.0, 1.0, 0.0)  # cloth is cut with its warp hanging down, unless told otherwise


def track(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), gravity: Sequence[float] = GRAVITY, substeps: int = 2,
    iterations: int | None = None, tolerance: float = TrackSettings.tolerance, bending: str = "plate",
    mass: str = "lumped", start: str | Points = "guide", velocity: str | Points = "guide", strength: CurveLike = 1.0,
    threads: int | None = None, single: bool = True, warp: Warp | None = None,
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
        warp: where the warp of woven materials runs on the rest shape: one direction for all faces (3,), a direction
            (f, 3) or an angle from its first edge (f,) [rad] a face; None: the material blend's own, else upright.

    Returns:
        A `Take`. Its `report` has, per frame: `residual` (t, k) [m] distance of each region's average from the
        guide's; `force` (t, k, 3) [N] of direction on each region, at the end of the frame's last step; `pin_residual`
        (t, p) [m]; `kinetic`, `stretching`, `bending`, `gravity` (t,) [J]; `iterations`, `converged`, `last_step` [m].
    """
    knobs = {
        "gravity": gravity, "substeps": substeps, "iterations": iterations, "tolerance": tolerance,
        "bending": bending, "mass": mass, "start": start, "velocity": velocity, "strength": strength,
        "threads": threads, "single": single,
    }  # fmt: skip
    return collect(tracking_job(guide, shell, tests, material=material, pins=pins, warp=warp, **knobs))


def tracking_job(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), warp: Warp | None = None, **settings: object,
) -> Job:  # fmt: skip
    """The job behind `track`, with the same arguments: its frames can be stopped, inspected and resumed."""
    knobs = TrackSettings.of(settings)
    check_physical(guide.mesh, "guide")
    guide.check("guide")
    check_physical(shell, "shell")
    blend = _along(warp, _blend(material, shell), shell)
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
    membrane = Membrane(shell, blend)
    bending = Bending(shell, blend, plate=knobs.bending == "plate", rigid=_clamped_faces(shell, pins))
    weight = GravityEnergy(lumped, np.asarray(knobs.gravity, dtype=np.float64))
    bends = [bending] if bending.hinge_count else []  # single triangles have nothing to bend about
    limits = [StrainLimit(shell, blend)] if blend.limited else []
    energies = (membrane, *bends, weight, *limits, *([Drag(shell, blend)] if _has_drag(blend) else []))
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


def _along(warp: Warp | None, blend: MaterialBlend, shell: TriMesh) -> MaterialBlend:
    """The blend with the direction of its warp, where a material of it is woven."""
    if not blend.woven or (warp is None and blend.warp is not None):
        return blend
    given = np.asarray(_GRAIN if warp is None else warp, dtype=np.float64)
    if given.shape == (3,):
        given = axis_directions(shell, given)
    return replace(blend, warp=given)


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
