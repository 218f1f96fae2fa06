"""Where the warp of a woven shell runs: along texture coordinates, a painted vector, or one axis."""

from __future__ import annotations

import logging

import numpy as np

from bunraku.contracts import Array, Points, input_error
from bunraku.geometry import UV, Attribute, Scope, axis_directions, first_few, laid_on_faces, texture_directions
from bunraku.io import Clip
from bunraku.io.axes import to_metres

_log = logging.getLogger(__name__)
_UPRIGHT = (0.0, 1.0, 0.0)


def warp_directions(clip: Clip, warp: str | tuple[float, ...] | None, levels: int) -> Points:
    """(f, 3) unit directions on the shell's rest faces; the four children of a face have its own.

    `warp` is 'uv', the name of an attribute of vectors, an axis (3,), or None: texture coordinates where there are any,
    else upright.
    """
    return np.repeat(_on_guide(clip, warp), 4**levels, axis=0)


def _on_guide(clip: Clip, warp: str | tuple[float, ...] | None) -> Points:
    if warp is None:
        warp = _UPRIGHT if clip.surface.attribute(UV) is None else UV
    if not isinstance(warp, str):
        return axis_directions(clip.mesh, np.array(warp, dtype=np.float64))
    attribute = clip.surface.attribute(warp)
    if attribute is None:
        known = [one.name for one in clip.surface.attributes]
        raise input_error(
            "the guide has no texture coordinates" if warp == UV else "the guide has no such attribute", got=warp,
            allowed=", ".join(known) or "nothing is painted on it", remedy="an axis such as [0, 1, 0]",
        )  # fmt: skip
    if attribute.name == UV:
        return _filled(clip, texture_directions(clip.mesh, _on_corners(clip, attribute, 2)), "texture coordinates")
    vectors = _on_corners(clip, attribute, 3).mean(axis=1)
    if clip.up_axis == "Z":  # painted in the file's axes; its points are Y-up by now
        vectors = to_metres(vectors, 1.0, clip.up_axis)
    return _filled(clip, laid_on_faces(clip.mesh, vectors), f"{attribute.name!r}")


def _on_corners(clip: Clip, attribute: Attribute, width: int) -> Array:
    """(f, 3, width) values at the corners of the guide's faces."""
    values = np.asarray(attribute.flat())
    if values.ndim != 2 or values.shape[1] < width or not np.issubdtype(values.dtype, np.floating):
        raise input_error(
            f"{attribute.name!r} says no direction", got=f"{values.dtype} {values.shape}",
            allowed=f"{width} numbers an element",
        )  # fmt: skip
    corners, polygons = clip.welded.corners, clip.welded.polygons
    rows = {
        Scope.WHOLE: np.zeros_like(corners),
        Scope.POLYGON: np.broadcast_to(polygons[:, None], corners.shape),
        Scope.POINT: clip.surface.corners[corners],
        Scope.CORNER: corners,
    }[attribute.scope]
    return values[rows, :width].astype(np.float64)


def _filled(clip: Clip, found: Points, what: str) -> Points:
    """Upright where nothing is said; refused where nothing is said anywhere."""
    missing = np.flatnonzero(~found.any(axis=1))
    if len(missing) == len(found):
        raise input_error(f"{what} give no direction on any face", remedy="an axis such as [0, 1, 0]")
    if len(missing):
        polygons = np.unique(clip.welded.polygons[missing])
        _log.warning(
            "%s: %s give no direction on %d of %d faces (polygons %s); the warp is upright there",
            clip.path, what, len(missing), len(found), first_few(polygons),
        )  # fmt: skip
        found[missing] = axis_directions(clip.mesh, np.array(_UPRIGHT))[missing]
    return found
