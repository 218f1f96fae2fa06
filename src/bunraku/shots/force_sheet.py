"""The force of direction to look at: the shell at a few moments, every region as light as the guide pulls at it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from bunraku.contracts import Integers, Sparse, Vector
from bunraku.direction import Frame
from bunraku.render import GAP, PAPER, STUDIO, Image, framing, heat, legend, picture, rows_sheet

from .prepare import Prepared

SIZE = (480, 540)  # [pixels] of each picture
_LEGEND = 36


def force_sheet(prepared: Prepared, frames: Sequence[Frame], numbers: Sequence[float]) -> Image | None:
    """A picture a frame and the scale in newtons below; None where nothing is directed."""
    forces = [np.linalg.norm(frame.report["force"], axis=1) for frame in frames]
    most = max((float(one.max(initial=0.0)) for one in forces), default=0.0)
    if not most:
        return None
    weights = _face_weights(prepared)
    camera = framing([frame.points for frame in frames], aspect=SIZE[0] / SIZE[1])
    pictures = []
    for frame, force in zip(frames, forces, strict=True):
        regions = _heaviest(weights, frame.report["held"])
        share = np.where(regions >= 0, np.append(force, 0.0)[regions] / most, 0.0)
        pictures.append(picture(frame.points, prepared.shell.faces, camera, size=SIZE, style=STUDIO, paint=heat(share)))
    sheet = rows_sheet([pictures], [f"frame {number:g}" for number in numbers], ["force of direction"])
    below = legend(sheet.shape[1] - 2 * GAP, _LEGEND, "0 N", f"{most:.3g} N")
    framed = np.full((_LEGEND + GAP, sheet.shape[1], 3), PAPER, dtype=np.uint8)
    framed[:_LEGEND, GAP : GAP + below.shape[1]] = below
    return np.concatenate([sheet, framed], axis=0)


def _face_weights(prepared: Prepared) -> Sparse:
    """(f, k) how much each region weighs on each of the shell's faces."""
    assert prepared.tests is not None
    faces = prepared.shell.faces
    rows = np.repeat(np.arange(len(faces)), 3)
    corners = sparse.csr_array(
        (np.full(rows.size, 1 / 3), (rows, faces.reshape(-1))), shape=(len(faces), prepared.shell.point_count)
    )
    return sparse.csr_array(corners @ prepared.tests.shell.T)


def _heaviest(weights: Sparse, held: Vector) -> Integers:
    """(f,) the region that weighs most on each face, as firmly as each is `held` (k,); −1 where none does."""
    count = weights.shape[0]
    firm = weights.data * held[weights.indices]  # of regions within regions that which is held
    found = np.full(count, -1)
    order = np.argsort(firm, kind="stable")  # the heaviest of a face's regions is written last
    order = order[firm[order] > 0.0]
    face = np.repeat(np.arange(count), np.diff(weights.indptr))
    found[face[order]] = weights.indices[order]
    return found
