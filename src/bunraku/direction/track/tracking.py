"""Tracking: a shell that obeys a guide on average and is free below that scale [Bergou 2007]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bunraku.collision import Surfaces
from bunraku.constraints import LinearConstraint
from bunraku.contracts import Array, Points, input_error, need, real_array
from bunraku.direction.contact import Contact, as_contact
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.knobs import listed
from bunraku.direction.pins import Pin
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Gas, Wind
from bunraku.geometry import TriMesh, area_mass_matrix, axis_directions, check_physical, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial, as_material
from bunraku.motion import Animation, CurveLike, RestShapes
from bunraku.numerics import use_threads

from .air import air_of
from .averages import average_constraint, independent
from .forces import Forces
from .growing import put_on
from .holding import Holding, firmly_held, touching
from .layers import Ordered, in_order, order_after
from .report import TrackReport
from .seams import Seam
from .settings import GRAVITY, TrackSettings
from .start import correspondence, first_pose, start_state
from .test_functions import Tests
from .untangle import Untangled, apart, as_one_layer, relax, sew, untangle

Material = ShellMaterial | MaterialBlend | str | Mapping[str, Any]
Warp = Sequence[float] | Array
_GRAIN = (0.0, 1.0, 0.0)  # cloth is cut with its warp hanging down, unless told otherwise


def track(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), gravity: Sequence[float] = GRAVITY, substeps: int = 2,
    iterations: int | None = None, tolerance: float = TrackSettings.tolerance, bending: str = "plate",
    mass: str = "lumped", start: str | Points = "guide", velocity: str | Points = "guide", strength: CurveLike = 1.0,
    cap: CurveLike | Array | None = None, cap_pressure: CurveLike | None = None, stretch: float | None = None,
    enforcement: str = "position", rest: RestShapes | Points | None = None, warp: Warp | None = None,
    wind: Wind | None = None, pressure: CurveLike | None = None, gas: Gas | None = None,
    contact: Contact | bool | None = None, seams: Sequence[Seam] | Seam = (), threads: int | None = None,
    single: bool = True,
) -> Take:  # fmt: skip
    """Run a tracked shot in memory.

    Args:
        guide: the animation to obey.
        shell: the fine mesh, in its rest shape.
        tests: the scale at which to obey; None simulates the shell without direction.
        material: a preset's name, a preset with changes such as `{"preset": "cotton", "weight": 150}`, a
            `ShellMaterial`, or a `MaterialBlend` over the shell's faces.
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
        cap: the largest force of direction on a region [N]; beyond it the region yields and the report says by how
            much. One number, keys, or (k,) a region.
        cap_pressure: the same as a pressure on the region's area [Pa].
        stretch: the same as a strain: the guide bends the shell, but stretches it by no more than about this share.
        enforcement: "velocity" holds rates instead of positions, for comparison only.
        threads: of kernels and solver; None takes all cores.
        single: factorise in single precision and refine in double.
        rest: the shape without stress where it is not the shell's own: points (n, 3) [m], or `RestShapes` that change
            over time. Mass and test functions stay those of the shell.
        wind: a `Wind`; the material's own air drag is then felt relative to it.
        pressure: overpressure inside a closed shell [Pa]; may be keyed.
        gas: a `Gas` shut into a closed shell, instead of a given pressure.
        contact: True, or a `Contact` with thickness, friction and obstacles: then nothing passes through anything, and
            where the guide asks for that it yields; the report says where.
        seams: vertices sewn together; unless they say when, before the first frame.
        warp: where the warp of woven materials runs on the rest shape: one direction for all faces (3,), a direction
            (f, 3) or an angle from its first edge (f,) [rad] a face; None: the material blend's own, else upright.

    Returns:
        A `Take`. Its `report` has, per frame: `residual` (t, k) [m] distance of each region's average from the
        guide's; `force` (t, k, 3) [N] of direction on each region, at the end of the frame's last step; `held` (t, k)
        the strength it is held with, and where there are caps `cap` (t, k) [N]; `pin_residual`
        (t, p) [m], and of seams `seam_residual` (t, s) [m]; `kinetic`, `stretching`, `bending`, `gravity` (t,) [J];
        `iterations`, `converged`, `last_step` [m];
        with pressure or gas `volume` (t, c) [m³] and `pressure` (t, c) [Pa] of each closed piece; with wind `exposure`
        (t,), the share of the shell that it reaches; and where the material yields, `yielded` (t,), the share of faces
        (hinges) that have set.
    """
    knobs = {
        "gravity": gravity, "substeps": substeps, "iterations": iterations, "tolerance": tolerance,
        "bending": bending, "mass": mass, "start": start, "velocity": velocity, "strength": strength,
        "cap": cap, "cap_pressure": cap_pressure, "stretch": stretch, "enforcement": enforcement,
        "threads": threads, "single": single, "rest": rest,
    }  # fmt: skip
    given = {"warp": warp, "wind": wind, "pressure": pressure, "gas": gas, "contact": contact, "seams": seams}
    return collect(tracking_job(guide, shell, tests, material=material, pins=pins, **given, **knobs))


def tracking_job(
    guide: Animation, shell: TriMesh, tests: Tests | None, *, material: Material = "cotton",
    pins: Sequence[Pin] | Pin = (), warp: Warp | None = None, wind: Wind | None = None,
    pressure: CurveLike | None = None, gas: Gas | None = None, contact: Contact | bool | None = None,
    seams: Sequence[Seam] | Seam = (), **settings: object,
) -> Job:  # fmt: skip
    """The job behind `track`, with the same arguments: its frames can be stopped, inspected and resumed."""
    knobs = TrackSettings.of(settings)
    _check(guide, shell)
    blend = _along(warp, _blend(material, shell), shell)
    use_threads(knobs.threads)
    time = float(guide.times[0])
    mass = _mass(shell, blend, time, knobs)
    tests = None if tests is None else independent(tests)
    contact = as_contact(contact)
    press, layers = (None, ()) if contact is None else (contact.press, contact.layers)
    averages = [] if tests is None else [average_constraint(guide, shell, tests, mass.lumped, blend, knobs, press)]
    onto = correspondence(tests, guide, shell)
    first = first_pose(guide, shell, onto, knobs)
    pins, seams = listed(Pin, "pins", pins), listed(Seam, "seams", seams)
    surfaces, bodies = touching(contact, seams, shell, blend, time, pins, first)
    if surfaces is not None and not layers and (averages or pins):
        surfaces, layers = as_one_layer(surfaces, first, time)
    ordered = Ordered(first) if surfaces is None else in_order(surfaces, layers, first, time)
    first = ordered.points
    surfaces = None if surfaces is None else surfaces.sewn_from(first)
    holding = Holding(pins, seams, shell, guide, onto, mass.lumped, bodies)
    conditions = (*averages, *holding.at(first))
    air = air_of(shell, blend, first, time, wind, pressure, gas)
    forces = Forces.of(shell, blend, knobs, mass.lumped, firmly_held(shell, pins), air)
    newton = NewtonSettings(knobs.iterations, knobs.tolerance, shell.size, single=knobs.single)
    system = System(mass, forces.all, conditions, surfaces)
    weightless = replace(system, energies=forces.elastic)
    worn = None
    if layers and surfaces is not None and not apart(surfaces, first, time):
        worn = put_on(weightless, surfaces, layers, conditions, first, time, newton, knobs.threads)
    if worn is not None and surfaces is not None:
        begun, ordered = worn, order_after(surfaces, layers, first, worn.points, time)
    else:
        begun = _begun(system, conditions, surfaces, layers, first, time, newton, knobs)
    if worn is None and ordered.moves and surfaces is not None and apart(surfaces, begun.points, time):
        begun = relax(weightless, surfaces, conditions, begun.points, time, newton, knobs.threads)
    if holding.sewn_before:
        pulled = (*averages, *holding.at(begun.points, attached=False))
        begun = sew(weightless, surfaces, pulled, begun.points, time, newton, knobs.threads)
        conditions = (*averages, *holding.at(begun.points))  # what is attached is so where it has been sewn
        surfaces = None if surfaces is None else surfaces.sewn_from(begun.points)
        system = replace(system, constraints=conditions, contact=surfaces)
    # Steps that lead to the first pose, without inertia, have no error by their length to be measured by.
    balanced = replace(newton, balance=0.0 if contact is None else contact.balance)
    stepper = ImplicitEuler(system, balanced, threads=knobs.threads)
    start = start_state(stepper, system, guide, shell, tests, onto, knobs, begun.points)
    start = replace(start, memory={**start.memory, **begun.pinched})
    reporter = TrackReport(system, forces, 0 if tests is None else tests.count, conditions, len(pins))
    facts = _facts(shell, mass, reporter, knobs)
    if surfaces is not None:
        facts["contact"] = {"gap_m": float(surfaces.gap), "reach_m": float(surfaces.felt_within)}
    if layers and surfaces is not None:
        ordered = ordered.as_begun(surfaces, layers, begun.points, time)
        ordered.tell()
        facts["layers"] = ordered.facts
    return Job(shell, guide.times, knobs.substeps, start, stepper, reporter, facts)


def _check(guide: Animation, shell: TriMesh) -> None:
    """Both are what they should be, and can be simulated."""
    need(Animation, "guide", guide)
    need(TriMesh, "shell", shell)
    check_physical(guide.mesh, "guide")
    guide.check("guide")
    check_physical(shell, "shell")


def _mass(shell: TriMesh, blend: MaterialBlend, time: float, knobs: TrackSettings) -> Mass:
    fields = blend.at(time)
    areal = fields.density * fields.thickness
    lumped = lumped_mass(shell, areal)
    return Mass(lumped, area_mass_matrix(shell, areal) if knobs.mass == "consistent" else None)


def _begun(
    system: System, conditions: Sequence[LinearConstraint], surfaces: Surfaces | None, layers: Sequence[str],
    first: Points, time: float, newton: NewtonSettings, knobs: TrackSettings,
) -> Untangled:  # fmt: skip
    """The first pose (n, 3), untangled where it cuts itself or an obstacle."""
    if surfaces is None or apart(surfaces, first, time):
        return Untangled(first)
    return untangle(system, surfaces, conditions, first, time, newton, knobs.threads, layers)


def _facts(shell: TriMesh, mass: Mass, reporter: TrackReport, knobs: TrackSettings) -> dict[str, Any]:
    return {
        "vertices": shell.point_count, "faces": len(shell.faces), "regions": reporter.regions,
        "size": shell.size, "mass": float(mass.lumped.sum()), "bending": knobs.bending,
    }  # fmt: skip


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
    try:
        given = real_array(_GRAIN if warp is None else warp)
    except (TypeError, ValueError):
        allowed = "a direction (3,), or a direction or an angle a face"
        raise input_error("not a warp", where="warp", got=repr(warp)[:60], allowed=allowed) from None
    if given.shape == (3,):
        given = axis_directions(shell, given)
    return replace(blend, warp=given)
