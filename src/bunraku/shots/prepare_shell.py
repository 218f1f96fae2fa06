"""From a shot to a shell that tracks: read its files, lay out its frames, and name everything that does not fit."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import InputError, Integers, Points, Sparse, Vector, many
from bunraku.direction import Job, Pin
from bunraku.direction.track import Tests, tracking_job
from bunraku.geometry import MOST_FACES, Surface, TriMesh, check_physical, first_few, subdivide
from bunraku.io import Clip, Outgoing, local_origin
from bunraku.materials import MaterialBlend
from bunraku.motion import Animation, Curve

from .air import ShotAir, read_air
from .carried import Carried, carried
from .cautions import caution
from .contact import read_contact
from .directing import shell_tests
from .findings import Place
from .frame_numbers import of_guide, resolved
from .garments import check_attached, read_seams, with_parts
from .inputs import InputFile, hashed, read_guide, read_rest, source_inputs
from .kinds import in_seconds
from .labels import Painted, labels_inputs
from .lists import listed, region_vertices, vertices_at
from .prepared import Prepared, Written
from .preroll import laid_out, moved
from .rest import rest_shapes
from .retime import retimed
from .shot import Shot
from .spec import ObjectTable, PinTable
from .warp import warp_directions

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedShell(Prepared):
    """A shell that tracks a guide."""

    tests: Tests | None
    prolongation: Sparse
    """(n_shell, n_guide) how the guide's pose becomes the shell's"""
    material: MaterialBlend
    air: ShotAir

    @property
    def table(self) -> ObjectTable:
        """The object's settings."""
        return self.shot.shells[self.written[0].name]

    @property
    def region_names(self) -> tuple[str, ...]:
        """Of clusters and painted regions; empty where regions lie around guide vertices."""
        return () if self.tests is None else self.tests.names

    @property
    def noun(self) -> str:
        """What sentences call it."""
        return "shell"

    @property
    def goal(self) -> str:
        """What must be met."""
        return "the guide"

    @property
    def gap(self) -> str:
        """What a residual is."""
        return "distance between a region's average and the guide's"

    @property
    def regions(self) -> tuple[str, ...]:
        """See `_named`."""
        return self._named

    @cached_property
    def _named(self) -> tuple[str, ...]:
        """A region by its number, or by the guide vertex it lies around, as the guide's file numbers its points."""
        if self.tests is None:
            return ()
        if self.region_names:
            return tuple(name if name.startswith("region") else f"region {name}" for name in self.region_names)
        return tuple(f"guide vertex {k}" for k in self.clip.welded.point_of_vertex[: self.tests.count])

    @property
    def functions(self) -> Sparse | None:
        """(k, n) the test functions."""
        return None if self.tests is None else self.tests.shell

    def held(self, time: float) -> Vector:
        """(k,) as the test functions say."""
        if self.tests is None:
            return np.zeros(0)
        return np.ones(self.tests.count) if self.tests.held is None else np.asarray(self.tests.held(time))

    def distances(self, x: Points, time: float) -> Vector | None:
        """(k,) [m] of the regions' averages from the guide's."""
        if self._averages is None:
            return None
        of_guide, of_shell = self._averages
        told, embedding = self.guide.at(time), None if self.tests is None else self.tests.embedding
        goals = of_guide @ told if embedding is None else of_shell @ embedding.points(told)
        return np.linalg.norm(of_shell @ x - goals, axis=1)

    @cached_property
    def _averages(self) -> tuple[Sparse, Sparse] | None:
        return None if self.tests is None else self.tests.averages(self.guide.mesh, self.shell)

    def summary(self) -> list[str]:
        """Guide, shell, material and pins."""
        clip, table, physics = self.clip, self.table, self.shot.physics
        regions = (
            "without a guide"
            if self.tests is None
            else f"{many(self.tests.count, 'region obeys', 'regions obey')} the guide"
        )
        parts = [table.material.preset or "a material of its own", *(f"region {name}" for name in table.regions)]
        steps = (
            "to convergence"
            if physics.iterations == "converge"
            else f"{many(int(physics.iterations), 'Newton iteration')} a step"
        )
        return [
            f"object {self.name}: guide {clip.path} of {clip.mesh.point_count} vertices, frames {clip.frames[0]:g} to "
            f"{clip.frames[-1]:g}; shell of {self.shell.point_count} vertices, {regions}",
            f"material: {', '.join(parts)}; {many(len(self.pins), 'pin')}",
            f"physics: {many(physics.substeps, 'step')} a frame, {steps}, {physics.bending} bending, "
            f"start = {physics.start}",
        ]

    def _start(self) -> dict[str, Any]:
        """First pose and velocity; without test functions the prolongation alone carries the guide's to the shell."""
        start = self.shot.physics.start
        if self.tests is not None or start != "guide":
            return {"start": start, "velocity": "zero" if self.preroll else "guide"}
        time = float(self.guide.times[0])
        moving = np.zeros_like(self.guide.mesh.rest) if self.preroll else self.guide.velocity(time)
        return {"start": self.prolongation @ self.guide.at(time), "velocity": self.prolongation @ moving}

    @property
    def caps(self) -> dict[str, Any]:
        """What `tracking_job` is told of the largest force of direction, over seconds."""
        track, rate = self.table.track, self.clip.rate
        return {
            "cap": in_seconds(track.cap, rate), "cap_pressure": in_seconds(track.cap_pressure, rate),
            "stretch": track.stretch,
        }  # fmt: skip

    def rehearse(self, threads: int | None) -> None:
        """Nothing: to untangle or sew a first pose may take minutes."""

    def make_job(self, threads: int | None) -> Job:
        """The job behind `track`."""
        physics = self.shot.physics
        job = tracking_job(
            self.guide, self.shell, self.tests, material=self.material, pins=self.pins, seams=self.seams,
            gravity=physics.gravity, substeps=physics.substeps,
            iterations=None if physics.iterations == "converge" else physics.iterations,
            tolerance=physics.tolerance, bending=physics.bending, mass=physics.mass, strength=self.strength,
            rest=self.rest, threads=threads, contact=self.contact.contact, **self.caps, **self.air.settings,
            **self._start(),
        )  # fmt: skip
        return replace(job, times=self.times)  # the guide may have samples between frames


def prepare_shell(shot: Shot) -> PreparedShell:
    """Read the shot's files; raises one InputError with everything that does not fit."""
    ((name, table),) = shot.shells.items()
    root = shot.place
    place = root.at("object").at(name)
    clip, guide_file = _read_clip(shot, table, place)
    clip, hung = _with_mesh(clip, table, place)
    numbers = of_guide(shot, clip, root.at("shot"), resampled=shot.shot.rate is not None and bool(table.guide.rig))
    _check_counts(shot, table, clip, numbers, root)
    shell, matrix = subdivide(clip.mesh, table.mesh.split)
    prolongation: Sparse = sparse.csr_array(matrix)
    _check_meshes(clip.mesh, shell, place)
    plain = Outgoing.of(clip, table.mesh.split)
    _check_place(plain, numbers, place)
    painted = Painted.of(table.labels, plain, place)
    going = plain if painted is None else painted.marked(plain, place)
    tests = shell_tests(clip, hung, table, shell, prolongation, going, painted, place)
    blended = rest_shapes(table.rest, clip, shell, prolongation, place.at("rest"))
    material = _with_warp(_material(table, shell, going, clip.rate, place), clip, table, place)
    if shot.physics.start == "settled" and tests is None and not table.pins:
        root.at("physics").at("start").refuse(
            "a shell that neither obeys a guide nor is pinned falls for ever and cannot settle", got="settled",
            remedy="'guide'",
        )  # fmt: skip
    air = read_air(shot, table, shell, clip.rate, root, place)
    contact = read_contact(shot, clip.rate, numbers, root)
    contact = with_parts(contact, table.regions, shell, going, root, place)
    held = [_held_vertices(pin, k, table, going, place) for k, pin in enumerate(table.pins)]
    check_attached(table.pins, contact, place)
    begin = float(numbers[0]) - shot.shot.preroll
    seams = read_seams(table.seams, shell, going, clip.rate, begin, place.at("seams"))
    place.raise_all()
    guide = laid_out(clip.animation, numbers, shot.shot.preroll, clip.rate, shell.rest[: clip.mesh.point_count])
    origin = local_origin(guide.points[shot.shot.preroll])
    guide, shell = moved(guide, -origin), shell.with_rest(shell.rest - origin)
    pins = [_pin(pin, v, guide, prolongation, clip.rate, origin) for pin, v in zip(table.pins, held, strict=True)]
    first = numbers[0] - shot.shot.preroll
    prepared = PreparedShell(
        shot=resolved(shot, numbers, {name: _with_levels(table)}), written=(Written(name, clip, plain),),
        inputs=_inputs(name, guide_file, table) + air.inputs + contact.inputs, air=air.about(origin),
        contact=contact.about(origin),
        guide=guide, shell=shell, tests=tests, prolongation=prolongation,
        rest=blended, material=material, pins=tuple(pins), seams=seams,
        strength=Curve.of(in_seconds(table.track.strength, clip.rate)),
        numbers=np.concatenate([np.arange(first, numbers[0]), numbers]), origin=origin, filling=None,
    )  # fmt: skip
    caution(prepared)
    return prepared


def _read_clip(shot: Shot, table: ObjectTable, place: Place) -> Any:
    """(clip, its file), or (None, None) after a refusal."""
    try:
        return read_guide(table.guide, shot.shot.rate, shot.output.folder)
    except InputError as error:
        place.at("guide").pass_on(error)
        return None, None


def _with_mesh(clip: Clip, table: ObjectTable, place: Place) -> tuple[Clip, Carried | None]:
    """The clip, retimed, with the rest shape of `mesh.file` where that has the guide's points and polygons; or the clip
    of that file as the guide carries it."""
    try:
        rest = read_rest(table.mesh)
    except InputError as error:
        rest = place.at("mesh").pass_on(error)
    place.raise_all()
    try:
        clip = retimed(clip, table.guide.retime)
    except InputError as error:
        place.at("guide").pass_on(error)
    place.raise_all()
    if rest is None:
        return clip, None
    if rest.same_topology(clip.surface):
        return _at_rest(clip, rest), None
    found = None
    try:
        found = carried(clip, table.mesh)
    except InputError as error:
        place.at("mesh").pass_on(error)
    if table.track.method == "pointwise":
        place.at("track").at("method").refuse("needs a mesh that has the guide's vertices", got="pointwise")
    place.raise_all()
    assert found is not None
    return found.clip, found


def _at_rest(clip: Clip, rest: Surface) -> Clip:
    """The clip with another rest shape: averages over guide and shell are then weighted by the same areas."""
    mesh = clip.mesh.with_rest(rest.points[clip.welded.point_of_vertex])
    return replace(
        clip, surface=clip.surface.with_points(rest.points), welded=replace(clip.welded, mesh=mesh),
        animation=replace(clip.animation, mesh=mesh),
    )  # fmt: skip


def _check_counts(shot: Shot, table: ObjectTable, clip: Clip, numbers: Vector, root: Place) -> None:
    """Refuse, before anything large is made, what cannot be meant or cannot be written."""
    faces, levels = len(clip.mesh.faces), table.mesh.split
    if faces * 4**levels > MOST_FACES:
        root.at("object").at(*shot.shells).at("mesh").at("levels").refuse(
            "the shell would have too many faces", got=f"{levels}, which makes {faces * 4**levels}",
            allowed=f"up to {MOST_FACES:g} faces", remedy=f"{max(levels - 1, 0)} or less",
        )  # fmt: skip
        root.raise_all()
    whole = bool((numbers == np.round(numbers)).all())
    if {"obj", "ply"} & set(shot.output.formats) and not whole:
        root.at("output").at("formats").refuse(
            "OBJ and PLY files are numbered by whole frames, and the guide's are not", got=f"frame {numbers[0]:g}",
            remedy="write 'usdc', or give shot.frames",
        )  # fmt: skip
    absent = ~np.isclose(numbers[:, None], clip.frames[None], rtol=0, atol=1e-6).any(axis=1)
    absent &= (numbers > clip.frames[0]) & (numbers < clip.frames[-1])  # others are refused
    if absent.any():
        _log.warning(
            "%s: the guide has no sample on %d of %d frames; there it moves on a smooth curve through its samples, not "
            "in straight lines between them",
            clip.path, int(absent.sum()), len(numbers),
        )  # fmt: skip
    between = len(clip.frames) > 1 and float(np.diff(clip.frames).min()) < 1.0 - 1e-6
    if between and len(numbers) == 1 and shot.shot.frames is None:
        root.at("object").at(*shot.shells).at("guide").refuse(
            "all samples of the guide lie within one frame, so only one frame would be written",
            got=f"{len(clip.frames)} samples from {clip.frames[0]:g} to {clip.frames[-1]:g} at {clip.rate:g} frames/s",
            remedy="export it with timeCodesPerSecond as its frame rate",
        )  # fmt: skip
    elif between:
        _log.warning(
            "%s: the guide has samples between frames; all of them shape its motion, but only the %d whole steps from "
            "frame %g at %g frames/s are written",
            clip.path, len(numbers), numbers[0], clip.rate,
        )  # fmt: skip


def _check_place(going: Outgoing, numbers: Vector, place: Place) -> None:
    try:
        going.check_place(numbers)
    except InputError as error:
        place.at("guide").pass_on(error)


def _check_meshes(guide: TriMesh, shell: TriMesh, place: Place) -> None:
    for mesh, key in ((guide, "guide"), (shell, "mesh")):
        try:
            check_physical(mesh, "the mesh")
        except InputError as error:
            place.at(key).pass_on(error)


def _material(table: ObjectTable, shell: TriMesh, going: Outgoing, rate: float, place: Place) -> MaterialBlend:
    """The object's material and the regions' own: sharp for faces, blended around vertices."""
    own = {name: region for name, region in table.regions.items() if region.material is not None}
    on_vertices = np.zeros((shell.point_count, len(own) + 1))
    on_faces = np.zeros((len(shell.faces), len(own) + 1))
    for column, (name, region) in enumerate(own.items(), start=1):
        where = place.at("regions").at(name)
        if region.faces is not None:
            polygons = listed(region.faces, going.surface.polygon_count, where.at("faces"))
            on_faces[going.faces_of(polygons), column] = 1.0
        else:
            on_vertices[region_vertices(region, going, where), column] = 1.0
    for claimed, what in ((on_vertices, "vertices"), (on_faces, "faces")):
        twice = np.flatnonzero(claimed.sum(axis=1) > 1)
        if len(twice):
            place.at("regions").refuse(f"{what} lie in two regions with materials", got=first_few(twice))
    on_vertices[:, 0] = on_vertices.sum(axis=1) == 0
    weights = on_vertices[shell.faces].mean(axis=1)
    sharp = on_faces.any(axis=1)
    weights[sharp] = on_faces[sharp]
    materials = [table.material, *(region.material for region in own.values() if region.material)]
    return MaterialBlend(tuple(spec.at(rate) for spec in materials), weights)


def _with_warp(blend: MaterialBlend, clip: Clip, table: ObjectTable, place: Place) -> MaterialBlend:
    """The blend with the direction of its warp, where a material is woven or the shot says one."""
    if not blend.woven and table.warp is None:
        return blend
    try:
        return replace(blend, warp=warp_directions(clip, table.warp, table.mesh.split))
    except InputError as error:
        place.at("warp").pass_on(error)
        return blend


def _held_vertices(pin: PinTable, k: int, table: ObjectTable, going: Outgoing, place: Place) -> Integers:
    """(v,) of the k-th pin; what is wrong is told to its place, or to its region's, in the object's."""
    if pin.region is not None:
        return region_vertices(table.regions[pin.region], going, place.at("regions").at(pin.region))
    return vertices_at(pin.vertices or (), going, place.at("pins").entry(k).at("vertices"))


def _pin(pin: PinTable, vertices: Integers, guide: Animation, prolongation: Sparse, rate: float, origin: Vector) -> Pin:
    to = None
    if pin.to == "guide":
        rows = prolongation[vertices]
        points = np.stack([rows @ pose for pose in guide.points])
        to = replace(guide, mesh=TriMesh(points[0], np.zeros((0, 3), np.int64)), points=points)
    elif isinstance(pin.to, str):
        to = None if pin.to == "start" else pin.to  # the name of an obstacle
    else:
        to = np.broadcast_to(np.array(pin.to) - origin, (len(vertices), 3))
    return Pin(vertices, pin.axes, to, strength=in_seconds(pin.strength, rate))


def _with_levels(table: ObjectTable) -> ObjectTable:
    return replace(table, mesh=replace(table.mesh, levels=table.mesh.split))


def _inputs(name: str, guide: Path, table: ObjectTable) -> tuple[InputFile, ...]:
    found = source_inputs(f"object.{name}.guide", guide, table.guide)
    named = {"mesh": table.mesh.file, "rest": None if table.rest is None else table.rest.file}
    for key, path in named.items():
        found = found + (hashed(f"object.{name}.{key}", path) if path is not None else [])
    return (*found, *labels_inputs(name, table.labels))
