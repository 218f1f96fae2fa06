"""The regions of a shot to look at: coloured on the shell in the guide's poses, from front and back, and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from bunraku.contracts import Integers, Points, Sparse, input_error, many
from bunraku.direction.track import Tests
from bunraku.geometry import TriMesh, subdivide, vertex_areas
from bunraku.render import (
    STUDIO,
    Camera,
    Image,
    contact_sheet,
    framing,
    lettered,
    moments,
    picture,
    seen_faces,
    write_png,
)

from .faces import face_weights, heaviest, label_colours
from .prepare_shell import PreparedShell, prepare_shell
from .shot import Shot

SIZE = (640, 640)  # [pixels] of each picture
_MOST_ROWS = 60
_MOST_NUMBERS = 40  # in a picture
_LETTERS = 1 / 32  # [of the height] of the numbers
_ROOM = 0.003  # share of the picture a region must cover to be numbered
_ENOUGH_FACES = 6_000  # with fewer the borders of regions would be jagged


@dataclass(frozen=True, eq=False)
class RegionSheet:
    """The regions of a shot whose files are read."""

    prepared: PreparedShell

    @staticmethod
    def of(shot: Shot) -> RegionSheet:
        """Read the shot's files; nothing is simulated."""
        if shot.bodies or shot.plans:
            raise input_error("a body has no guide whose regions could be shown", where=shot.name, allowed="a shell")
        return RegionSheet(prepare_shell(shot))

    def table(self) -> list[str]:
        """A line a region: its name, guide vertices in it, area on the shell, and the size of a square of that area."""
        return _table(self.prepared)

    def write(self, path: Path) -> None:
        """Write a sheet of pictures: the shell in four poses of the guide, its regions coloured and numbered, from
        front and back."""
        _write(self.prepared, path)


def _table(prepared: PreparedShell) -> list[str]:
    tests = _tests(prepared)
    areas = vertex_areas(prepared.shell.rest, prepared.shell.faces)
    area = np.asarray(tests.shell @ areas).reshape(-1)  # [m²] the integral of each test function
    vertices = np.diff(sparse.csr_array(tests.guide).indptr)
    names = _names(prepared, "vertex ")
    lines = [f"{'region':<24} vertices    area m²    size m"]
    for k in range(min(tests.count, _MOST_ROWS)):
        lines.append(f"{names[k][:24]:<24} {vertices[k]:8d} {area[k]:10.4g} {np.sqrt(max(area[k], 0.0)):9.3g}")
    if tests.count > _MOST_ROWS:
        lines.append(f"… and {tests.count - _MOST_ROWS} more")
    covered = np.minimum(np.asarray(tests.shell.sum(axis=0)).reshape(-1), 1.0)  # regions may lie within regions
    free = max(1.0 - float(covered @ areas / areas.sum()), 0.0)
    lines.append(f"{many(tests.count, 'region')}; {100 * round(free, 9):.3g} % of the area obeys nothing")
    return lines


def _names(prepared: PreparedShell, of_vertex: str = "") -> tuple[str, ...]:
    """Of the regions; around guide vertices the number in the guide's file, after `of_vertex`."""
    return prepared.region_names or tuple(f"{of_vertex}{k}" for k in prepared.clip.welded.point_of_vertex)


def _write(prepared: PreparedShell, path: Path) -> None:
    guide = prepared.clip.animation
    mesh, onto, labels = _painted_shell(prepared)
    chosen = [int(k) for k in moments(guide.frame_count, 4)]
    poses = [onto @ (prepared.prolongation @ guide.points[k]) for k in chosen]
    paint, names, rows = label_colours(labels), _names(prepared), []
    for side in (-1.0, 1.0):
        camera = framing(poses, aspect=SIZE[0] / SIZE[1], direction=(0.5 * side, -0.32, side))
        drawn = [picture(x, mesh.faces, camera, size=SIZE, style=STUDIO, paint=paint, both_sides=True) for x in poses]
        rows.append([_numbered(image, x, mesh, labels, names, camera) for image, x in zip(drawn, poses, strict=True)])
    captions = [f"frame {prepared.clip.frames[k]:g}" for k in chosen]
    write_png(path, contact_sheet(rows[0], rows[1], captions, titles=("front", "back")))


def _painted_shell(prepared: PreparedShell) -> tuple[TriMesh, Sparse, Integers]:
    """The shell, fine enough to show borders, how its poses become so, and the region of each of its faces (f,)."""
    levels, faces = 0, len(prepared.shell.faces)
    while faces * 4 ** (levels + 1) <= _ENOUGH_FACES:
        levels += 1
    mesh, onto = subdivide(prepared.shell, levels)
    tests = _tests(prepared)
    held = np.ones(tests.count) if tests.held is None else tests.held(float(prepared.times[0]))
    weights = face_weights(sparse.csr_array(tests.shell @ onto.T), mesh.faces)
    return mesh, onto, heaviest(weights, np.maximum(held, 1e-6))  # of regions within regions those that are held first


def _numbered(
    image: Image, x: Points, mesh: TriMesh, labels: Integers, names: tuple[str, ...], camera: Camera
) -> Image:
    """The picture with the names of the regions that have room in it, each where it is seen."""
    seen = seen_faces(x, mesh.faces, camera, SIZE)
    regions = np.where(seen >= 0, labels[seen], -1)
    pixels = np.bincount(regions[regions >= 0], minlength=len(names))
    large = np.argsort(-pixels, kind="stable")[:_MOST_NUMBERS]
    texts = []
    for k in large[pixels[large] > _ROOM * regions.size]:
        places = np.argwhere(regions == k)
        row, column = places[np.argmin(np.abs(places - places.mean(axis=0)).sum(axis=1))]
        texts.append((names[k], int(column), int(row)))
    return lettered(image, texts, letters=_LETTERS)


def face_regions(prepared: PreparedShell) -> Integers:
    """(f,) the region that weighs most on each face of the shell as it is drawn; −1: none."""
    return _painted_shell(prepared)[2]


def _tests(prepared: PreparedShell) -> Tests:
    if prepared.tests is None:
        raise input_error("the shot directs nothing, so there are no regions", got="method = 'none'")
    return prepared.tests
