"""The force of direction to look at: the shell at a few moments, every region as light as the guide pulls at it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.direction import Frame
from bunraku.render import GAP, STUDIO, Image, footed, framing, heat, legend, picture, rows_sheet

from .faces import face_weights, heaviest
from .prepared import Prepared

SIZE = (480, 540)  # [pixels] of each picture
_LEGEND = 36


def force_sheet(prepared: Prepared, frames: Sequence[Frame], numbers: Sequence[float], most: float) -> Image | None:
    """A picture a frame and the scale up to `most` [N] below; None where nothing is directed."""
    forces = [np.linalg.norm(frame.report["force"], axis=1) for frame in frames]
    if not most or prepared.functions is None:
        return None
    weights = face_weights(prepared.functions, prepared.shell.faces)
    camera = framing([prepared.vertices(frame.points) for frame in frames], aspect=SIZE[0] / SIZE[1])
    pictures = []
    for frame, force in zip(frames, forces, strict=True):
        regions = heaviest(weights, frame.report["held"])
        share = np.where(regions >= 0, np.append(force, 0.0)[regions] / most, 0.0)
        x, faces = prepared.vertices(frame.points), prepared.shell.faces
        pictures.append(picture(x, faces, camera, size=SIZE, style=STUDIO, paint=heat(share), both_sides=True))
    sheet = rows_sheet([pictures], [f"frame {number:g}" for number in numbers], ["force of direction"])
    return footed(sheet, legend(sheet.shape[1] - 2 * GAP, _LEGEND, "0 N", f"{most:.3g} N"))
