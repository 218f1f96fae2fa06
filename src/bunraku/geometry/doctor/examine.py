"""What a surface is like, what is wrong with it, what bunraku does about it and what the artist can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bunraku.contracts import Points, need
from bunraku.geometry.connectivity import census, collapsed
from bunraku.geometry.surface import Surface
from bunraku.geometry.topology import thinness
from bunraku.geometry.trimesh import face_areas

from .checks_of_elements import ELEMENT_CHECKS
from .checks_of_shape import SHAPE_CHECKS
from .checks_of_wiring import WIRING_CHECKS
from .findings import Diagnosis, Finding, Quality
from .patient import Patient, prepare

CHECKS: tuple[Callable[[Patient], Iterator[Finding]], ...] = (*ELEMENT_CHECKS, *WIRING_CHECKS, *SHAPE_CHECKS)


def examine(surface: Surface) -> Diagnosis:
    """Look at a surface as a file has it. Any surface may be looked at, whatever its numbers are."""
    need(Surface, "surface", surface)
    with np.errstate(all="ignore"):  # the patient may have any numbers
        patient = prepare(surface)
        findings = [finding for check in CHECKS for finding in check(patient)]
        return _diagnosis(patient, findings)


def _diagnosis(patient: Patient, findings: list[Finding]) -> Diagnosis:
    x, scale = patient.x, patient.scale
    faces = patient.sewn
    used = x[np.unique(faces)]
    low, high = (used.min(axis=0) * scale, used.max(axis=0) * scale) if len(used) else (np.zeros(3), np.zeros(3))
    merged = patient.place[patient.raw]
    border = patient.borders
    return Diagnosis(
        points=patient.surface.point_count, polygons=patient.surface.polygon_count, triangles=len(patient.raw),
        pieces=patient.piece_count, border_loops=border.count, border_edges=len(border.sides),
        border_length=float(border.length.sum()) * scale, closed=len(faces) > 0 and not len(border.sides),
        genus=patient.genus, low=_triple(low), high=_triple(high), size=float(np.linalg.norm(high - low)),
        area=float(face_areas(x, faces).sum()) * scale**2,
        raw=census(x, patient.raw, len(x)),
        merged=census(x, merged[~collapsed(merged)], len(np.unique(patient.place))),
        quality=_quality(patient), findings=tuple(findings),
    )  # fmt: skip


def _triple(values: Points) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _quality(patient: Patient) -> Quality | None:
    if not len(patient.lengths):
        return None
    thin = thinness(patient.x, patient.sewn)
    lengths = patient.lengths * patient.scale
    low, high = np.percentile(lengths, [1, 99])
    return Quality(
        thinnest=float(thin.min()), thin_hundredth=float(np.percentile(thin, 1)), median=float(np.median(thin)),
        shortest_edge=float(lengths.min()), median_edge=float(np.median(lengths)), longest_edge=float(lengths.max()),
        unevenness=float(high / max(low, 1e-300)),
    )  # fmt: skip
