"""The doctor's checks of how points and faces hang together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.contracts import many
from bunraku.geometry.connectivity import collapsed, paired_sides
from bunraku.geometry.topology import edges, repeated_faces

from .findings import Finding, Kind, Severity, report
from .patient import Patient


def _duplicate_points(patient: Patient) -> Iterator[Finding]:
    double = np.flatnonzero(patient.finite & (patient.place != np.arange(len(patient.place))))
    if not len(double):
        return
    used = np.zeros(len(patient.x), dtype=bool)
    used[patient.raw] = True
    count = len(double)
    sewn = len(np.unique(patient.raw)) - len(np.unique(patient.sewing[patient.raw]))
    loose = int((~used[double]).sum())
    touch = max(count - sewn - loose, 0)
    parts = [
        f"{sewn} of them {'is' if sewn == 1 else 'are'} along seams and will be sewn" if sewn else "",
        f"{touch} only {'touches and stays' if touch == 1 else 'touch and stay'} apart" if touch else "",
        f"{many(loose, 'belongs', 'belong')} to no face" if loose else "",
    ]
    yield report(
        Kind.DUPLICATE_POINTS, Severity.HANDLED if sewn else Severity.HARMLESS, count,
        f"{many(count, 'point lies', 'points lie')} exactly on others. {'; '.join(p for p in parts if p)}.",
        "move points that should not be joined apart, or merge by hand those that should be." if touch else "",
        "points", double, sewn=sewn, touching=touch,
    )  # fmt: skip


def _cracks(patient: Patient) -> Iterator[Finding]:
    cracks = patient.cracks
    count = len(cracks.near) + len(cracks.on_edges)
    if count:
        yield report(
            Kind.CRACKS, Severity.CARE, count,
            f"The surface is torn by cracks too narrow to see: {many(len(cracks.near), 'border point')} almost on "
            f"another, {many(len(cracks.on_edges), 'border point')} on the edge of a neighbour that has no point there "
            f"(widest gap {cracks.widest * patient.scale:.2g} m). Physics leaves them open: the cloth comes apart.",
            "let the repair close cracks.", "points", cracks.torn,
            near=len(cracks.near), on_edges=len(cracks.on_edges), widest=cracks.widest * patient.scale,
        )  # fmt: skip


def _crowded_edges(patient: Patient) -> Iterator[Finding]:
    crowded = patient.edges.face_count > 2
    merged = patient.place[patient.raw]
    merged = merged[~(collapsed(merged) | repeated_faces(merged))]
    raw, all_merged = (int((edges(f).face_count > 2).sum()) for f in (patient.raw, merged))
    count = int(crowded.sum())
    if not count and not all_merged:
        return
    faces = crowded[patient.edges.of_face].any(axis=1)
    if count:
        sentence = (
            f"{many(count, 'edge has', 'edges have')} three or more faces, like a pocket on a coat. Physics bends "
            "each pair of faces there."
        )
    else:
        sentence = (
            f"No edge has more than two faces, but {many(all_merged, 'edge')} would if all points on one spot were "
            "merged. bunraku does not merge them."
        )
    yield report(
        Kind.CROWDED_EDGES, Severity.HANDLED if count else Severity.HARMLESS, count or all_merged, sentence,
        "nothing, if a fin, pocket or collar is meant; else remove the faces inside." if count else "",
        "polygons", np.unique(patient.polygons[faces]), raw=raw, merged=all_merged, sewn=count,
    )  # fmt: skip


def _winding(patient: Patient) -> Iterator[Finding]:
    sides = paired_sides(patient.sewn, patient.edges)
    one_sided = patient.orientation.one_sided
    against = sides.pairs[~sides.agree]
    against = against[~one_sided[against[:, 0] // 3]]
    if len(against):
        turn = patient.orientation.turn
        yield report(
            Kind.WINDING, Severity.CARE, len(against),
            f"{many(len(against), 'edge joins', 'edges join')} faces that disagree about which side is outside. "
            "Bending takes it into account; shading, thickness and air pressure do not.",
            f"turn {many(int(turn.sum()), 'face')} round, or let the repair do it.", "polygons",
            np.unique(patient.polygons[turn]), faces_to_turn=int(turn.sum()),
        )  # fmt: skip
    if one_sided.any():
        strips = len(np.unique(patient.orientation.patch[one_sided]))
        yield report(
            Kind.ONE_SIDED, Severity.HARMLESS, strips,
            f"{many(strips, 'piece has', 'pieces have')} only one side, like a Möbius strip: its faces cannot agree "
            "about the outside. Bending works; pressure does not.",
            "nothing, if it is meant.", "polygons", np.unique(patient.polygons[one_sided]),
        )  # fmt: skip


def _pinched(patient: Patient) -> Iterator[Finding]:
    count = len(patient.pinched)
    if count:
        yield report(
            Kind.PINCHED, Severity.HARMLESS, count,
            f"At {many(count, 'point')} two parts of the surface hang together by that point alone. Physics treats it "
            "as a ball joint.",
            "nothing, if it is meant; else split the point.", "points", patient.pinched,
        )  # fmt: skip


WIRING_CHECKS = (_duplicate_points, _cracks, _crowded_edges, _winding, _pinched)
