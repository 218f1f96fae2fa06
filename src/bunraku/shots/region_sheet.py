"""The regions of a shot to look at: coloured on the guide, seen from front and back, and as a table."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Sparse, input_error
from bunraku.geometry import face_areas
from bunraku.render import STUDIO, contact_sheet, framing, moments, picture, write_png

from .prepare import Prepared, prepare
from .shot import Shot

SIZE = (640, 640)  # [pixels] of each picture
_MOST_ROWS = 60
_FREE = (0.55, 0.55, 0.55)
_GOLDEN = 0.6180339887  # turns of the hue from one region to the next: neighbours in number are far in colour


@dataclass(frozen=True, eq=False)
class RegionSheet:
    """The regions of a shot whose files are read."""

    prepared: Prepared

    @staticmethod
    def of(shot: Shot) -> RegionSheet:
        """Read the shot's files; nothing is simulated."""
        return RegionSheet(prepare(shot))

    def table(self) -> list[str]:
        """A line a region: its name, the guide's vertices in it, its area and the size of a square of that area."""
        return _table(self.prepared)

    def write(self, path: Path) -> None:
        """Write a sheet of pictures: the guide at four moments in its regions' colours, from front and back."""
        _write(self.prepared, path)


def _table(prepared: Prepared) -> list[str]:
    labels = face_regions(prepared)
    areas = face_areas(prepared.clip.mesh.rest, prepared.clip.mesh.faces)
    count = _functions(prepared).shape[0]
    area = np.bincount(labels[labels >= 0], areas[labels >= 0], count)
    vertices = np.diff(sparse.csr_array(_functions(prepared)).indptr)
    names = prepared.region_names or tuple(f"vertex {k}" for k in prepared.clip.welded.point_of_vertex)
    lines = [f"{'region':<24} vertices    area m²    size m"]
    for k in range(min(count, _MOST_ROWS)):
        lines.append(f"{names[k][:24]:<24} {vertices[k]:8d} {area[k]:10.4g} {np.sqrt(area[k]):9.3g}")
    if count > _MOST_ROWS:
        lines.append(f"… and {count - _MOST_ROWS} more")
    free = float(areas[labels < 0].sum() / areas.sum())
    lines.append(f"{count} regions; {100 * free:.3g} % of the area obeys nothing")
    return lines


def _write(prepared: Prepared, path: Path) -> None:
    mesh, guide = prepared.clip.mesh, prepared.clip.animation
    paint = _colours(face_regions(prepared))
    chosen = [int(k) for k in moments(guide.frame_count, 4)]
    poses = [guide.points[k] for k in chosen]
    rows = []
    for side in (-1.0, 1.0):
        camera = framing(poses, aspect=SIZE[0] / SIZE[1], direction=(0.5 * side, -0.32, side))
        rows.append([picture(x, mesh.faces, camera, size=SIZE, style=STUDIO, paint=paint) for x in poses])
    captions = [f"frame {prepared.clip.frames[k]:g}" for k in chosen]
    write_png(path, contact_sheet(rows[0], rows[1], captions, titles=("front", "back")))


def face_regions(prepared: Prepared) -> Integers:
    """(f,) region of each of the guide's faces: that of most of its corners, the first of equals; −1: none."""
    functions, tests = _functions(prepared), prepared.tests
    if tests is not None and tests.held is not None:  # of regions within regions those that are held first
        held = tests.held(float(prepared.times[0]))
        functions = sparse.csr_array(sparse.diags_array(np.maximum(held, 1e-6)) @ functions)
    heaviest = functions.tocsc()
    vertex = np.full(prepared.clip.mesh.point_count, -1)
    order = np.argsort(heaviest.data, kind="stable")  # the heaviest of a vertex's regions is written last
    column = np.repeat(np.arange(len(vertex)), np.diff(heaviest.indptr))
    vertex[column[order]] = heaviest.indices[order]
    a, b, c = vertex[prepared.clip.mesh.faces].T
    return np.where((a == b) | (a == c), a, np.where(b == c, b, a))


def _functions(prepared: Prepared) -> Sparse:
    if prepared.tests is None:
        raise input_error("the shot directs nothing, so there are no regions", got="method = 'none'")
    return prepared.tests.guide


def _colours(labels: Integers) -> Array:
    """(f, 3) sRGB: a hue a region, grey where free."""
    count = int(labels.max(initial=-1)) + 1
    hues = [((_GOLDEN * k) % 1.0, 0.55 + 0.25 * (k % 2), 0.95 - 0.1 * (k % 3)) for k in range(count)]
    return np.array([*(colorsys.hsv_to_rgb(*one) for one in hues), _FREE])[labels]
