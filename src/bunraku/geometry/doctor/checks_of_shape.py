"""The doctor's checks of borders, pieces and the shape as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.contracts import many
from bunraku.geometry.connectivity import collapsed
from bunraku.geometry.intersections import meetings
from bunraku.geometry.trimesh import face_areas

from .findings import Finding, Kind, Severity, report
from .fragments import fragment_faces
from .holes import SMALL_HOLE, small_holes
from .outside import inside_out
from .patient import Patient

MANY_BORDERS = 8
"""a piece: a garment has a hem, a neck, sleeves"""
UNEVEN = 50.0
"""long edges over short ones: beyond it the time step suits one of them only"""


def _inside_out(patient: Patient) -> Iterator[Finding]:
    inward = inside_out(patient.x, patient.sewn, patient.edges, patient.orientation)
    if inward.any():
        count = len(np.unique(patient.orientation.patch[inward]))
        yield report(
            Kind.INSIDE_OUT, Severity.CARE, count,
            f"{many(count, 'closed part is', 'closed parts are')} inside out: the faces look inwards. Shading, "
            "thickness and air pressure will be on the wrong side.",
            "turn the faces round, or let the repair do it.", "polygons", np.unique(patient.polygons[inward]),
        )  # fmt: skip


def _holes(patient: Patient) -> Iterator[Finding]:
    border = patient.borders
    if not border.count:
        return
    torn = np.isin(patient.sewn.reshape(-1)[border.sides], patient.cracks.torn)
    crack = 2 * np.bincount(border.loop[torn], minlength=border.count) > border.edge_counts
    small = small_holes(border, patient.pieces, patient.piece_sizes, SMALL_HOLE) & ~crack
    first = np.zeros(border.count, np.int64)
    first[border.loop[::-1]] = patient.sewn.reshape(-1)[border.sides[::-1]]
    counts, lengths = border.edge_counts, border.length * patient.scale
    if small.any():
        number = int(small.sum())
        yield report(
            Kind.HOLES, Severity.CARE, number,
            f"{many(number, 'small hole')} of {int(counts[small].min())} to {int(counts[small].max())} edges, the "
            f"longest rim {lengths[small].max():.3g} m. Physics keeps them: cloth frays there, closed shapes leak.",
            "let the repair fill them, unless they are meant.", "points", first[small],
            edges=int(counts[small].sum()), longest=float(lengths[small].max()),
        )  # fmt: skip
    large = ~small & ~crack
    if large.any():
        number = int(large.sum())
        usual = number <= MANY_BORDERS * patient.piece_count
        yield report(
            Kind.OPEN, Severity.HARMLESS, number,
            f"The surface is open along {many(number, 'border')} ({many(int(counts[large].sum()), 'edge')}, "
            f"{lengths[large].sum():.3g} m in all, the longest {lengths[large].max():.3g} m)"
            f"{', as cloth is.' if usual else ', more than cloth usually has.'}",
            "" if usual else "fill them, if the shape should be closed.", "points", first[large],
            edges=int(counts[large].sum()), length=float(lengths[large].sum()), not_simple=int((~border.simple).sum()),
        )  # fmt: skip


def _pieces(patient: Patient) -> Iterator[Finding]:
    count = patient.piece_count
    if count < 2:
        return
    faces = np.bincount(patient.pieces, minlength=count)
    area = np.bincount(patient.pieces, face_areas(patient.x, patient.sewn), minlength=count)
    share = float(area.max() / max(area.sum(), 1e-300))
    first = np.full(count, -1)
    first[patient.pieces[::-1]] = patient.polygons[::-1]
    yield report(
        Kind.PIECES, Severity.HARMLESS, count,
        f"The surface is {count} pieces that do not hang together; the largest has {100 * share:.0f} % of the area. "
        "Without direction each falls by itself.",
        "sew them, if they should hang together.", "polygons", first, largest=share,
    )  # fmt: skip
    leftover = fragment_faces(patient.x, patient.sewn, patient.pieces)
    tiny = np.bincount(patient.pieces[leftover], minlength=count) > 0
    if tiny.any():
        number = int(tiny.sum())
        yield report(
            Kind.FRAGMENTS, Severity.CARE, number,
            f"{many(number, 'piece is a', 'pieces are')} tiny {'fragment' if number == 1 else 'fragments'} of up to "
            f"{many(int(faces[tiny].max()), 'face')}, left over by a scan or a cut.",
            "delete them, or let the repair remove fragments.", "polygons", first[tiny], faces=int(faces[tiny].sum()),
        )  # fmt: skip


MOST_CORNERS_CROSSED = 500
"""polygons with more corners are not tried: each of their triangles meets all the others"""


def _crossings(patient: Patient) -> Iterator[Finding]:
    small = patient.surface.counts[patient.polygons] <= MOST_CORNERS_CROSSED
    met = np.zeros(len(patient.sewn), dtype=np.int64)
    met[small] = meetings(patient.x, patient.place[patient.sewn[small]])
    crossing, touching = met == 2, met == 1
    if crossing.any():
        number, every = int(crossing.sum()), int(crossing.sum())
        if patient.repeated.any():  # other programs count a face that lies on its copy as well
            faces = patient.place[patient.raw]
            every = int((meetings(patient.x, faces[~collapsed(faces)]) == 2).sum())
        counted = f" ({every} with those that lie on their own copies)" if every > number else ""
        yield report(
            Kind.CROSSING, Severity.CARE, number,
            f"{many(number, 'face passes', 'faces pass')} through others{counted}. Where collisions are on, the "
            "surface starts out tangled there.",
            "part the layers by hand (sculpt, relax); the repair does not.", "polygons",
            np.unique(patient.polygons[crossing]), with_repeated=every,
        )  # fmt: skip
    if touching.any():
        number = int(touching.sum())
        yield report(
            Kind.TOUCHING, Severity.HARMLESS, number,
            f"{many(number, 'face touches', 'faces touch')} others without passing through: corners that lie on "
            "edges or faces they do not belong to.",
            "join them, if they should hang together.", "polygons", np.unique(patient.polygons[touching]),
        )  # fmt: skip


def _uneven(patient: Patient) -> Iterator[Finding]:
    lengths = patient.lengths[patient.lengths > 0]
    if not len(lengths):
        return
    low, high = np.percentile(lengths, [1, 99])
    if high > UNEVEN * low:
        yield report(
            Kind.UNEVEN, Severity.CARE, int((lengths < high / UNEVEN).sum()),
            f"Edge lengths differ by a factor of {high / low:.0f} ({low * patient.scale:.2g} m to "
            f"{high * patient.scale:.2g} m, leaving out the most extreme hundredths). Wrinkles cannot be finer than "
            "the long edges, and the short ones cost time.",
            "remesh to one edge length.", ratio=float(high / low),
        )  # fmt: skip


SHAPE_CHECKS = (_inside_out, _holes, _pieces, _crossings, _uneven)
