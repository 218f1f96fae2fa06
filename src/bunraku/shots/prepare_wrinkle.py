"""From a shot to a soft body with a skin that wrinkles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import Points, Sparse, Vector, many
from bunraku.direction import Frame, Job
from bunraku.direction.wrinkle import Handle, Muscle, wrinkling_job
from bunraku.geometry import TriMesh
from bunraku.io import local_origin
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.motion import Animation, Curve, Growth

from .contact import read_contact, read_obstacles
from .filling import Written, tried
from .frame_numbers import of_body, of_guide, refuse_single, resolved
from .kinds import since
from .prepared import Prepared
from .preroll import laid_out, moved
from .read_muscles import read_muscles
from .read_wrinkle import ReadSkin, read_blend, read_growing, read_handles, read_regions, read_skin, skin_inputs
from .refusals import refuse_settings
from .report import HEIGHT, INTERIOR
from .shot import Shot
from .wrinkle_facts import SkinReport, told_facts
from .wrinkle_spec import WrinkleObject

DISPLACEMENT = "displacement"
"""the primvar's name"""
_STEPS = "is not for skins: their balance is looked for until it is found"
_FOR_SHELLS = {
    "iterations": _STEPS, "tolerance": _STEPS, "bending": "is for shells", "mass": "is for shells and bodies",
    "start": "is for shells; a soft body begins at rest", "wind": "is for shells; it does not blow on skins yet",
}  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedWrinkle(Prepared):
    """A soft body with a skin that wrinkles on it."""

    table: WrinkleObject
    material: ShellMaterial
    """of the skin, where regions have none of their own"""
    blend: MaterialBlend | None
    """of all of them, where some have"""
    handles: tuple[Handle, ...]
    muscles: tuple[Muscle, ...]
    growing: Vector | None
    """(n,) by how much of its growth the skin grows at each vertex; None: by all of it"""

    @property
    def animated(self) -> bool:
        """Whether the body moves as a guide has it."""
        return self.table.guide is not None

    @property
    def noun(self) -> str:
        """What sentences call it."""
        return "body"

    @property
    def told(self) -> str:
        """The body without its waves."""
        return "without its skin"

    @property
    def shown(self) -> str:
        """And with them."""
        return "with its skin"

    @property
    def alike(self) -> bool:
        """Nothing but the waves differs."""
        return True

    @property
    def rounded(self) -> bool:
        """Skins are."""
        return True

    def beside(self, frame: Frame) -> Points:
        """(n, 3) where the interior has the skin."""
        return np.asarray(frame.report[INTERIOR])

    @property
    def reported_beside(self) -> str | None:
        """The interior moves by its own mechanics."""
        return INTERIOR

    def lengths(self, frame: Frame) -> Mapping[str, Vector]:
        """How high the skin is over the body, along its normals: to be layered on a mesh that moves as the body."""
        return {DISPLACEMENT: np.asarray(frame.report[HEIGHT])}

    @property
    def forces(self) -> bool:
        """How hard handles pull is told where they hold the skin itself."""
        table = self.table
        return bool(self.handles) and table.foundation and table.two_way is not False and table.stepper == "implicit"

    @property
    def goal(self) -> str:
        """What must be met."""
        return "its handles"

    @property
    def gap(self) -> str:
        """What a residual is."""
        return "distance of a handle from where it is to be"

    @property
    def regions(self) -> tuple[str, ...]:
        """A handle each."""
        return tuple(f"handle {one.region}" for one in self.table.handles)

    @property
    def functions(self) -> Sparse | None:
        """(h, n) the vertices of each handle."""
        if not self.handles:
            return None
        rows = np.zeros((len(self.handles), self.shell.point_count))
        for row, one in zip(rows, self.handles, strict=True):
            row[one.vertices] = 1.0
        return sparse.csr_array(rows)

    def held(self, time: float) -> Vector:
        """(h,) always."""
        return np.ones(len(self.handles))

    @property
    def apart(self) -> str:
        """What to do about what is in its way."""
        table = self.table
        if table.two_way is False:
            return ""
        as_it_is = self.animated and table.cell is None and not table.two_way
        return f"{'a cell, and ' if as_it_is else ''}physics.contact = true keeps it apart"

    def distances(self, x: Points, time: float) -> Vector | None:
        """A handle takes the interior along, which the skin alone does not tell."""
        return None

    def summary(self) -> list[str]:
        """Surface, materials, what the waves will be."""
        told = told_facts(self._begun.facts)
        return [
            f"object {self.written[0].name}: {self.table.source_key} {self.clip.path} of {self.shell.point_count} "
            f"vertices; {told.interior}; {many(len(self.handles), 'handle')}"
            + (f", {many(len(self.muscles), 'muscle')}" if self.muscles else ""),
            f"skin of {1e3 * self.material.thickness:.3g} mm, {self.material.young:.3g} Pa: {told.waves}",
            f"physics: {many(self.shot.physics.substeps, 'step')} a frame, each balanced",
        ]

    def rehearse(self, threads: int | None) -> None:
        """Begin a job: the lattice and the first balance."""
        self._rehearsed.append(self.make_job(threads))

    @cached_property
    def _rehearsed(self) -> list[Job[Any]]:
        return []

    @property
    def _begun(self) -> Job[Any]:
        if not self._rehearsed:
            self.rehearse(None)
        return self._rehearsed[-1]

    def make_job(self, threads: int | None) -> Job[Any]:
        """The job behind `wrinkle`, whose frames tell a shot what it needs to know."""
        table, physics = self.table, self.shot.physics
        given: dict[str, Any] = {
            "skin": self.blend or self.material, "interior": table.interior.material, "handles": self.handles,
            "muscles": self.muscles, "gravity": physics.gravity, "substeps": physics.substeps, "threads": threads,
            "contact": self.contact.contact, **table.settings,
        }  # fmt: skip
        for name in ("growth", "swelling"):
            given[name] = since(given[name], float(self.numbers[0]), self.clip.rate)
        given["growth"] = Growth(given["growth"], self.growing)
        if not self.animated:
            given |= {"duration": float(self.times[-1]), "rate": self.clip.rate}
        job = wrinkling_job(self.guide if self.animated else self.shell, **given)
        reporter = SkinReport(job.reporter, self.shell, self.animated, given["growth"])
        muscles = [one.called for one in table.muscles]
        facts = reporter.facts(job, self.material, table.interior.material, self.handles, self.regions, muscles)
        return replace(job, times=self.times, reporter=reporter, facts=facts)


def prepare_wrinkle(shot: Shot) -> PreparedWrinkle:
    """Read the shot's files; raises one InputError with everything that does not fit."""
    ((name, table),) = shot.wrinkles.items()
    root = shot.place
    place = root.at("object").at(name)
    refuse_settings(shot, root, _FOR_SHELLS)
    refuse_single(shot, root)
    material = tried(lambda: table.skin.on(table.interior.material, table.wavelength), place.at("skin"))
    root.raise_all()
    assert material is not None
    read = read_skin(name, table, shot)
    clip = read.clip
    numbers = of_body(shot, clip.rate) if table.guide is None else of_guide(shot, clip, root.at("shot"))
    origin = local_origin(clip.mesh.rest)
    matrix, faces = read.finer
    shell = TriMesh(matrix @ (clip.mesh.rest - origin), faces)
    first = float(numbers[0])
    regions = read_regions(read, place)
    blend = read_blend(read, material, shell, regions, place)
    handles = read_handles(read, shell, regions, clip.rate, first, shot.output.folder, origin, place)
    growing = read_growing(read, place)
    muscles = read_muscles(table.muscles, clip.rate, first, shot.output.folder, origin, place.at("muscles"))
    inputs = skin_inputs(read, shot.output.folder, place)
    seen = read_contact if shot.physics.contact else read_obstacles  # what is not felt is drawn all the same
    obstacles = seen(shot, clip.rate, numbers, root)
    root.raise_all()
    return PreparedWrinkle(
        shot=resolved(shot, numbers), written=(Written(name, clip, read.going),), inputs=(*inputs, *obstacles.inputs),
        guide=_guide(read, shell, numbers, origin), shell=shell, rest=None, pins=(), seams=(), strength=Curve.of(1.0),
        numbers=numbers, origin=origin, contact=obstacles.about(origin).from_zero(first / clip.rate), filling=None,
        first=first, table=table, material=material, blend=blend, handles=tuple(handles), muscles=tuple(muscles),
        growing=growing,
    )  # fmt: skip


def _guide(read: ReadSkin, shell: TriMesh, numbers: Vector, origin: Vector) -> Animation:
    """How the body moves where that is given, its first frame at 0 s; else as it stands before anything moves."""
    clip = read.clip
    if read.table.guide is None:
        times = (numbers - numbers[0]) / clip.rate
        return Animation(shell, times, np.broadcast_to(shell.rest, (len(times), *shell.rest.shape)))
    seen = moved(laid_out(clip.animation, numbers, 0, clip.rate, clip.mesh.rest), -origin)
    times = seen.times - numbers[0] / clip.rate
    if not read.table.levels:
        return replace(seen, times=times)
    return Animation(shell, times, np.stack([read.finer[0] @ x for x in seen.points]))
