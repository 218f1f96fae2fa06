"""Tracking: a shell that obeys a guide on average and is free below that scale [Bergou 2007]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Vector, input_error
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.pins import Pin, pin_constraint
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Bending, Drag, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, area_mass_matrix, check_physical, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial, as_material
from bunraku.motion import Animation, Curve, CurveLike
from bunraku.numerics import use_threads

from .report import TrackReport
from .settings import TrackSettings
from .start import first_pose, start_state
from .test_functions import Tests

Material = ShellMaterial | MaterialBlend | str


def track(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), **settings: object,
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
    pins: Sequence[Pin] | Pin = (), **settings: object,
) -> Job:  # fmt: skip
    """The job behind `track`: its frames can be stopped, inspected and resumed."""
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
    pinned = [pin_constraint(pin, shell, first, lumped) for pin in pins]
    membrane, bending = Membrane(shell, blend), Bending(shell, blend, plate=knobs.bending == "plate")
    weight = GravityEnergy(lumped, np.asarray(knobs.gravity, dtype=np.float64))
    energies = (membrane, bending, weight, *([Drag(shell, blend)] if _has_drag(blend) else []))
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
