"""The doctor's checks of single points, polygons and faces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.contracts import many
from bunraku.geometry.connectivity import collapsed
from bunraku.geometry.topology import (
    DRAWN_OUT,
    LARGEST_COORDINATE,
    MOST_DRAWN_OUT,
    SMALLEST_SIZE,
    THINNEST_FACE,
    repeated_faces,
)
from bunraku.geometry.trimesh import face_areas

from .findings import Finding, Kind, Severity, report
from .patient import Patient
from .polygon_shapes import polygon_shapes
from .slivers import THIN_FACE

_EQUAL_SIDES = 0.433
"""area over edge² of a triangle with equal sides"""


def _not_finite(patient: Patient) -> Iterator[Finding]:
    bad = np.flatnonzero(~patient.finite)
    if len(bad):
        lost = patient.surface.polygon_count - len(patient.numbers)
        yield report(
            Kind.NOT_FINITE, Severity.REFUSED, len(bad),
            f"{many(len(bad), 'point has', 'points have')} coordinates that are no numbers (NaN or infinite); "
            f"{many(lost, 'polygon uses', 'polygons use')} them. Such a mesh is not simulated.",
            "repair the file, or let the repair take these polygons out.", "points", bad,
        )  # fmt: skip


def _no_faces(patient: Patient) -> Iterator[Finding]:
    if not len(patient.raw):
        yield report(
            Kind.NO_FACES, Severity.REFUSED, 1,
            f"There is no face: {many(patient.surface.point_count, 'point')}, "
            f"{many(patient.surface.polygon_count, 'polygon')}. Nothing can be simulated.",
            "export the mesh with its faces.",
        )  # fmt: skip


def _scale(patient: Patient) -> Iterator[Finding]:
    points = patient.surface.points[patient.finite]
    largest = float(np.abs(points).max(initial=0.0))
    size = patient.size * patient.scale
    if largest > LARGEST_COORDINATE:
        yield report(
            Kind.SCALE, Severity.REFUSED, 1,
            f"The largest coordinate is {largest:.3g} m; beyond {LARGEST_COORDINATE:g} m it can only be a mistake.",
            "check the unit of the file.", largest=largest,
        )  # fmt: skip
    elif len(patient.raw) and size < SMALLEST_SIZE:
        yield report(
            Kind.SCALE, Severity.REFUSED, 1,
            f"The whole shape is {size:.3g} m across; below {SMALLEST_SIZE:g} m it can only be a mistake.",
            "check the unit of the file.", size=size,
        )  # fmt: skip


def _few_corners(patient: Patient) -> Iterator[Finding]:
    few = np.flatnonzero(patient.surface.counts < 3)
    if len(few):
        yield report(
            Kind.FEW_CORNERS, Severity.HANDLED, len(few),
            f"{many(len(few), 'polygon has', 'polygons have')} fewer than three corners. "
            "They have no surface and are left out of the physics.",
            "the repair can remove them.", "polygons", few,
        )  # fmt: skip


def _loose_points(patient: Patient) -> Iterator[Finding]:
    used = np.zeros(patient.surface.point_count, dtype=bool)
    used[patient.raw] = True
    loose = np.flatnonzero(~used & patient.finite)
    if len(loose):
        yield report(
            Kind.LOOSE_POINTS, Severity.HANDLED, len(loose),
            f"{many(len(loose), 'point belongs', 'points belong')} to no face. Physics leaves such points out; they "
            "are written back as they came.",
            "the repair can remove them.", "points", loose,
        )  # fmt: skip


def _zero_area(patient: Patient) -> Iterator[Finding]:
    flat = ~(patient.thin > THINNEST_FACE)
    count = int(flat.sum())
    if not count:
        return
    shut = int(collapsed(patient.place[patient.raw[flat]]).sum())
    opened = max(patient.physical_border - len(patient.borders.sides), 0)
    sentence = (
        f"{many(count, 'face has', 'faces have')} no area to speak of ({shut} with two corners on one spot, "
        f"{count - shut} with three corners on a line) and {'is' if count == 1 else 'are'} left out of the physics."
    )
    if opened:
        sentence += f" That leaves {many(opened, 'more border edge')}: the surface comes apart there."
    yield report(
        Kind.ZERO_AREA, Severity.CARE if opened else Severity.HANDLED, count, sentence,
        "let the repair close them by collapsing and flipping edges." if opened else "the repair can remove them.",
        "polygons", np.unique(patient.raw_polygons[flat]), on_one_spot=shut, edges_opened=opened,
    )  # fmt: skip


def _thin(patient: Patient) -> Iterator[Finding]:
    thin = (patient.thin > THINNEST_FACE) & (patient.thin <= THIN_FACE)
    count = int(thin.sum())
    if count:
        worst = float(patient.thin[thin].min())
        yield report(
            Kind.THIN, Severity.CARE, count,
            f"{many(count, 'face is a sliver', 'faces are slivers')}, the worst {1 / (2 * worst):.0f} times longer "
            "than high. Slivers are simulated, but stiffer than they should be, and they slow the solver down.",
            "let the repair remove slivers, or remesh.", "polygons", np.unique(patient.raw_polygons[thin]),
            thinnest=worst,
        )  # fmt: skip


def _drawn_out(patient: Patient) -> Iterator[Finding]:
    """Faces that are no slivers, but so many of them that shells and skins bend wrongly."""
    long = (patient.thin > THIN_FACE) & (patient.thin < DRAWN_OUT)
    count = int(long.sum())
    if count > MOST_DRAWN_OUT * len(long):
        even = patient.scale * np.sqrt(face_areas(patient.x, patient.raw).sum() / (_EQUAL_SIDES * len(long)))
        yield report(
            Kind.DRAWN_OUT, Severity.CARE, count,
            f"{many(count, 'face is', 'faces are')} more than five times longer than high, {count / len(long):.0%} of "
            "all. They bend too hard one way: wrinkles come late, too short, or along them.",
            f"remesh; with edges of {even:.2g} m there would be about as many faces.", "polygons",
            np.unique(patient.raw_polygons[long]), even=float(even),
        )  # fmt: skip


def _repeated(patient: Patient) -> Iterator[Finding]:
    again = patient.repeated
    count = int(again.sum())
    if count:
        merged = int(repeated_faces(patient.place[patient.raw]).sum())
        yield report(
            Kind.REPEATED, Severity.HANDLED, count,
            f"{many(count, 'face lies', 'faces lie')} on another with the same three points. Physics keeps one of "
            "each.",
            "the repair can remove them.", "polygons", np.unique(patient.raw_polygons[again]), merged=merged,
        )  # fmt: skip


def _polygons(patient: Patient) -> Iterator[Finding]:
    """Polygons of more than three corners that are bent or not convex."""
    shapes = polygon_shapes(patient.sound)
    bent = np.flatnonzero(shapes.bend > shapes.BENT)
    if len(bent):
        worst = float(shapes.bend.max())
        yield report(
            Kind.BENT, Severity.HARMLESS, len(bent),
            f"{many(len(bent), 'polygon is', 'polygons are')} not flat: corners leave the plane by up to "
            f"{100 * worst:.0f} % of the polygon's size. Physics cuts polygons into triangles, so which diagonal is "
            "taken shows there.",
            "nothing, or triangulate where it matters.", "polygons", patient.numbers[bent], worst=worst,
        )  # fmt: skip
    concave = np.flatnonzero(shapes.concave)
    if len(concave):
        yield report(
            Kind.CONCAVE, Severity.HANDLED, len(concave),
            f"{many(len(concave), 'polygon is', 'polygons are')} not convex. Physics cuts them so that no triangle "
            "lies outside.",
            "", "polygons", patient.numbers[concave],
        )  # fmt: skip


ELEMENT_CHECKS = (
    _not_finite, _no_faces, _scale, _few_corners, _loose_points, _zero_area, _thin, _drawn_out, _repeated, _polygons,
)  # fmt: skip
