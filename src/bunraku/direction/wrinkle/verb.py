"""`wrinkle`: a soft body with a thin, stiffer skin, in memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bunraku.contracts import State, Vector, input_error, many, need
from bunraku.direction.contact import Contact, as_contact
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.knobs import listed
from bunraku.geometry import TriMesh, check_physical, lumped_mass
from bunraku.geometry.topology import DRAWN_OUT, MOST_DRAWN_OUT, thinness
from bunraku.materials import MaterialBlend, ShellMaterial, SkinOnSoft, SolidMaterial, as_material, as_solid
from bunraku.motion import Animation, CurveLike, Growth
from bunraku.numerics import use_threads

from .coupling import Coupling, coupled
from .handles import Handle
from .interior import Interior, LatticeInterior
from .interiors import Given, interior_of
from .kicks import Kicks
from .muscles import Muscle
from .settings import GRAVITY, Stepper, WrinkleSettings, coupling_width, median_edge
from .skin import Skin
from .two_way import TwoWay
from .varying import blended, vertex_wavelengths
from .wrinkling import Wrinkled, WrinkleReport, Wrinkling

_log = logging.getLogger(__name__)
_RESOLVED, _GOOD = 2.0, 8.0
"""edges to a wave below which there is none, and from which on it is right"""
_MOST_POINTS = 200_000_000
"""of all frames together"""
_STIFFER = 10.0
"""times as stiff as the interior from which on a skin wrinkles before it is crushed: the onset is then below 12 %"""


def wrinkle(
    body: TriMesh | Animation, *, skin: ShellMaterial | MaterialBlend | str | Mapping[str, Any],
    interior: SolidMaterial | str | Mapping[str, Any], cell: float | None = None,
    handles: Sequence[Handle] | Handle = (), muscles: Sequence[Muscle] | Muscle = (), duration: float | None = None,
    rate: float | None = None,
    gravity: Sequence[float] = GRAVITY, substeps: int = 1, spacing: float | None = None,
    coupling: Coupling = "local", foundation: bool = True, coherence: float = 0.0,
    growth: CurveLike | Growth = 0.0, swelling: CurveLike = 0.0, degree: int = 2, two_way: bool | None = None,
    stepper: Stepper = "implicit", contact: Contact | bool | None = None, threads: int | None = None,
) -> Take:  # fmt: skip
    """Run a shot of a wrinkling skin in memory.

    Args:
        body: a closed fine mesh at rest, whose inside becomes a soft interior on a coarse lattice; or an animation
            of one (a character, a face, a take). That is the interior's motion as it is; with a `cell` or `two_way` a
            lattice follows it on average and gives way to its skin.
        skin: its material, with a thickness: a `ShellMaterial`, a preset's name or a preset with changes;
            a `MaterialBlend` of several has it thicker or stiffer in places.
        interior: what it is on: a `SolidMaterial`, a preset's name ("foam", "flesh" …) or a preset with changes.
        cell: [m] of the lattice; None: a tenth of the body's size.
        handles: parts of the surface that are taken somewhere. Without any the body falls.
        muscles: shapes inside the body that contract.
        duration: [s]; None: two seconds, or as long as the animation.
        rate: frames a second; None: 24, or the animation's own times.
        gravity: [m/s²]; an animation goes its way without.
        substeps: steps a frame.
        spacing: [m] between what of the skin is coupled on average; None: two and a half wavelengths, and
            no less than four edges of the mesh.
        coupling: "local", bumps that far apart; "spectral", natural waves of the whole skin.
        foundation: False leaves out the interior's resistance below that scale, which is what makes waves as long as
            the materials demand.
        coherence: how many times as much as the interior resists the skin is drawn to the waves it had, in a 24th of a
            second (in less by more); for animations whose waves jump. A skin that goes two ways has inertia, and takes
            none.
        growth: by which share the skin's lengths at rest grow on a body that does not, over time [s]; below zero it
            shrinks; a `Growth` has a map of the vertices too.
        swelling: by which share the interior's lengths at rest grow over time; below zero it dries, and its skin is
            too large for it.
        degree: 2, quadratic B-splines; 1, trilinear cells, which show as kinks.
        two_way: whether the interior feels how stiff its skin is; None: wherever it moves by its own mechanics.
        stepper: "implicit"; or "symplectic", explicit steps of the interior under a skin without inertia, which lose
            no energy and must be short: how short is said where they are not.
        contact: True or a `Contact`: the skin does not pass through itself or obstacles. It needs two ways.
        threads: of kernels and solver; None takes all cores.

    Returns:
        A `Take`: `animation` of the skin, `surface` where the interior has it, without wrinkles, and a `report` that
        has, per frame: `height` (t, n) [m] of the skin over the interior along its normals, `residual` (t, k) [m] of
        the averages, `handle_residual` (t, h) [m] of handles, or of the averages of an animation that is followed,
        `muscle_residual` (t, m) [m], `handle_force` (t, h, 3) [N] with which handles hold a skin that goes two ways,
        zero on the first frame, `inverted` cells, which are inside out somewhere, `iterations`,
        `interior_iterations`, `ridges` left, `converged`.
        `facts["warnings"]` says what may not be meant.
    """
    knobs: dict[str, Any] = {
        "gravity": gravity, "substeps": substeps, "spacing": spacing, "coupling": coupling,
        "foundation": foundation, "coherence": coherence, "growth": growth, "swelling": swelling,
        "two_way": two_way, "stepper": stepper, "threads": threads,
    }  # fmt: skip
    job = wrinkling_job(
        body, skin=skin, interior=interior, cell=cell, handles=handles, muscles=muscles, degree=degree,
        duration=duration, rate=rate, contact=contact, **knobs,
    )  # fmt: skip
    take = collect(job)
    report = dict(take.report)
    return replace(take, report=report, surface=Animation(job.mesh, job.times, report.pop("interior")))


def wrinkling_job(
    body: TriMesh | Animation, *, skin: Any, interior: Any, cell: float | None = None,
    handles: Sequence[Handle] | Handle = (), muscles: Sequence[Muscle] | Muscle = (), degree: int = 2,
    duration: float | None = None, rate: float | None = None, contact: Contact | bool | None = None, **settings: Any,
) -> Job:  # fmt: skip
    """The job behind `wrinkle`, with the same arguments: its frames can be stopped, inspected and resumed."""
    given = body.mesh if isinstance(body, Animation) else body
    need(TriMesh, "body", given, remedy="a TriMesh, or an Animation of one")
    check_physical(given, "body")
    inside, blend = as_solid(interior), blended(skin, given)
    outside = [as_material(skin)] if blend is None else blend.materials
    each = [_layers(one, inside) for one in outside]
    layers = min(each, key=lambda one: one.wavelength)
    knobs = _knobs(body, duration, rate, settings)
    use_threads(knobs.threads)
    times = _times(body, knobs, rate)
    warnings = [*_warnings(layers, given, moves=isinstance(body, Animation)), *_late(body, times)]
    for sentence in warnings:
        _log.warning("%s", sentence)
    moved = listed(Handle, "handles", handles), listed(Muscle, "muscles", muscles)
    waves = np.full(given.point_count, layers.wavelength) if blend is None else vertex_wavelengths(given, blend, layers)
    spacing = coupling_width(waves, given) if knobs.spacing is None else np.full(len(waves), float(knobs.spacing))
    on_it = _skin(given, layers, outside[0].areal_mass / outside[0].thickness, blend, spacing, knobs)
    under = interior_of(Given(body, inside, cell, *moved, degree), knobs, lumped_mass(given, on_it.areal_mass))
    wrinkled = _wrinkled(under, on_it, knobs, as_contact(contact))
    if isinstance(under, LatticeInterior):
        warnings += under.lattice.doubts  # which has told them itself
    facts = {
        "vertices": given.point_count, "size": given.size, "wavelength": layers.wavelength,
        "onset": min(one.onset for one in each), "edges_a_wave": layers.wavelength / median_edge(given),
        "spacing": float(np.median(spacing)),
        "regions": wrinkled.averages.shape[0], "two_way": _feels(wrinkled), "warnings": warnings,
        **under.facts(),
    }  # fmt: skip
    if blend is not None:
        facts["wavelengths"] = [float(waves.min()), float(waves.max())]
    start = wrinkled.start(float(times[0]))
    if isinstance(wrinkled, Wrinkling) and wrinkled.kicks is not None:
        facts["longest_step"] = _short_enough(wrinkled.kicks, start.value, times, knobs)
    return Job(given, times, knobs.substeps, start.value, wrinkled, WrinkleReport(wrinkled, start), facts)


def _skin(
    mesh: TriMesh, layers: SkinOnSoft, density: float, blend: MaterialBlend | None, spacing: Vector,
    knobs: WrinkleSettings,
) -> Skin:  # fmt: skip
    """The skin of a body, coupled to it at a spacing (n,) [m]."""
    growth, alike = Growth.of(knobs.growth), float(spacing[0])
    tests = coupled(mesh, alike if (spacing == alike).all() else spacing, knobs.coupling, knobs.threads)
    return Skin(
        mesh, layers, lambda time: mesh.rest, tests, knobs.foundation, density=density,
        threads=knobs.threads, growth=growth if growth.amount.values.any() else None, blend=blend,
    )  # fmt: skip


def _feels(wrinkled: Wrinkled) -> bool:
    """Whether the interior feels how stiff its skin is."""
    return isinstance(wrinkled, TwoWay) or (isinstance(wrinkled, Wrinkling) and wrinkled.kicks is not None)


def _short_enough(kicks: Kicks, start: State, times: Vector, knobs: WrinkleSettings) -> float:
    """[s] the longest explicit step that is stable at the start; refused where those asked for are longer."""
    longest, frame = kicks.longest(start), float(np.diff(times).max())
    if frame / knobs.substeps > longest:
        raise input_error(
            "explicit steps so long would blow up", where="stepper", got=f"{frame / knobs.substeps:.2g} s",
            allowed=f"up to {longest:.2g} s with these cells and materials",
            remedy=f"substeps = {int(np.ceil(1.1 * frame / longest))}, larger cells, or stepper = 'implicit'",
        )  # fmt: skip
    return longest


def _kicked(under: Interior, skin: Skin, knobs: WrinkleSettings, contact: Contact | None) -> Wrinkling:
    """Two ways, in explicit steps."""
    said = {"contact": contact is not None, "coherence": bool(knobs.coherence), "two_way": knobs.two_way is False}
    if any(said.values()):
        raise input_error(
            "explicit steps are of a free skin and a body that feels it",
            where=", ".join(name for name, is_said in said.items() if is_said),
            remedy="leave it out, or stepper = 'implicit'",
        )  # fmt: skip
    if not isinstance(under, LatticeInterior) or under.followed is not None:
        raise input_error(
            "an animated body does not step by itself", where="stepper", got=knobs.stepper, allowed="'implicit'",
            remedy="leave it out, or give the mesh alone: body.mesh",
        )  # fmt: skip
    return Wrinkling(under, skin, kicks=Kicks(under, skin))


def _wrinkled(under: Interior, skin: Skin, knobs: WrinkleSettings, contact: Contact | None) -> Wrinkled:
    """One way or two."""
    if knobs.stepper == "symplectic":
        return _kicked(under, skin, knobs, contact)
    if isinstance(under, LatticeInterior) and knobs.two_way is not False:
        if knobs.coherence:
            raise input_error(
                "a skin that moves with its body keeps its waves by its inertia", where="coherence",
                got=knobs.coherence, allowed="0", remedy="two_way = False",
            )  # fmt: skip
        if contact is not None and contact.thickness is None:
            contact = replace(contact, thickness=skin.thickest)
        return TwoWay(under, skin, contact)
    if contact is not None:
        raise input_error(
            "a body that does not feel its skin feels nothing that touches the skin", where="contact",
            remedy="two ways: a cell, or two_way",
        )  # fmt: skip
    return Wrinkling(under, skin, float(knobs.coherence))


def _layers(skin: ShellMaterial, interior: SolidMaterial) -> SkinOnSoft:
    """The skin on its interior; it is a solid sheet, alike in all directions and all the time."""
    set_by = {
        "keyed values": not skin.constant, "woven": skin.woven, "strain_limit": skin.limited,
        "yield_curvature": np.isfinite(skin.yield_curvature), "bend_scale": skin.bend_scale != 1.0,
    }  # fmt: skip
    found = [name for name, is_set in set_by.items() if is_set]
    if found:
        raise input_error(
            "a skin is an elastic solid sheet, alike in all directions and all the time", where="skin",
            got=", ".join(found), allowed="young, poisson, thickness, density",
            remedy="bk.ShellMaterial(young=…, poisson=…, thickness=…)",
        )  # fmt: skip
    young = skin.young
    assert isinstance(young, float)
    layers = SkinOnSoft(skin.thickness, young, interior.young, skin.poisson, interior.poisson)
    if layers.ratio < 1.0:
        raise input_error(
            "the skin is softer than what it is on, so it does not wrinkle", where="skin",
            got=f"{layers.ratio:.2g} times as stiff", allowed="from 1 times on", remedy="a stiffer skin",
        )  # fmt: skip
    return layers


def _knobs(
    body: TriMesh | Animation, duration: float | None, rate: float | None, settings: Mapping[str, Any]
) -> WrinkleSettings:
    """The settings; an animation lasts as long as it does where nothing else is said."""
    timing: dict[str, Any] = {"duration": duration, "rate": rate}
    if isinstance(body, Animation):
        if duration is None and body.frame_count < 2:
            raise input_error("the animation has one frame only", where="body", remedy="say a duration and a rate")
        if body.frame_count > 1:
            long = float(body.times[-1] - body.times[0])
            timing["duration"] = long if duration is None else duration
            timing["rate"] = (body.frame_count - 1) / long if rate is None else rate
    knobs = WrinkleSettings.of({**{k: v for k, v in timing.items() if v is not None}, **settings})
    given = body.mesh if isinstance(body, Animation) else body
    if knobs.count * given.point_count > _MOST_POINTS:
        raise input_error(
            "a take of so many frames does not fit into memory", where="rate",
            got=f"{knobs.count} frames of {given.point_count} vertices",
            allowed=f"up to {_MOST_POINTS // given.point_count} frames", remedy="a lower rate, or shorter",
        )  # fmt: skip
    return knobs


def _times(body: TriMesh | Animation, knobs: WrinkleSettings, rate: float | None) -> Vector:
    """(t,) of the frames: an animation's own, as long as it is asked for, unless a rate is."""
    if not isinstance(body, Animation):
        return knobs.times
    if rate is not None:
        return knobs.times + body.times[0]
    own = body.times[body.times <= body.times[0] + knobs.duration * (1.0 + 1e-9)]
    if len(own) < 2:
        raise input_error("the shot is shorter than the animation's frames", where="duration", got=knobs.duration)
    return own


def _late(body: TriMesh | Animation, times: Vector) -> list[str]:
    """A sentence where a body is looked at after its animation has ended."""
    if not isinstance(body, Animation) or times[-1] <= body.times[-1] + 1e-9:
        return []
    return [
        f"the animation ends at {body.times[-1]:g} s, the shot at {times[-1]:g} s: in between the body stands still"
    ]


def _warnings(layers: SkinOnSoft, mesh: TriMesh, *, moves: bool) -> list[str]:
    """What may not be meant; what moves is not remeshed, for that keeps its rest shape alone."""
    out, edge, shown = [], median_edge(mesh), layers.wavelength / _GOOD
    if layers.ratio < _STIFFER:
        out.append(
            f"the skin is only {layers.ratio:.3g} times as stiff as its interior: it wrinkles from {layers.onset:.0%} "
            "compression on, if at all"
        )
    if layers.wavelength < _GOOD * edge:
        none = "the mesh cannot have them" if layers.wavelength < _RESOLVED * edge else "they come out too long"
        out.append(
            f"waves of {layers.wavelength:.3g} m have {layers.wavelength / edge:.2g} edges of the mesh: {none}; "
            f"edges of {shown:.2g} m would show them ({_split(edge / shown) if moves else _remeshed(shown)})"
        )
    slivers = float(np.mean(thinness(mesh.rest, mesh.faces) < DRAWN_OUT))
    if slivers > MOST_DRAWN_OUT:
        out.append(
            f"{slivers:.0%} of the skin's triangles are more than five times as long as high, and such a skin bends "
            f"wrongly: waves come late, or are too short; "
            + ("a mesh of even ones moves better" if moves else f"{_remeshed(min(edge, shown))} makes even ones")
        )
    if layers.wavelength > mesh.size:
        out.append(f"waves of {layers.wavelength:.3g} m are longer than the body ({mesh.size:.3g} m)")
    return out


def _split(finer: float) -> str:
    """What makes edges so many times shorter."""
    return f"{many(int(np.ceil(np.log2(finer))), 'level')} more in a shot, or a finer mesh"


def _remeshed(edge: float) -> str:
    return f"bunraku check FILE --repair OUT --remesh {edge:.2g}"
