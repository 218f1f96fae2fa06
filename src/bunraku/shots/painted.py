"""Parts that were painted on a surface, by the name they have in its file."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Integers, Vector, input_error
from bunraku.geometry import Scope, Surface

IN = 0.5
"""of a painted weight, from 0 to 1, above which a point or polygon is in the part"""
_ROUNDED = 1e-6
"""by which weights in single precision may be beyond 0 and 1"""


def painted_points(surface: Surface, name: str) -> Integers:
    """(v,) points of a surface in a part: those of the polygons of a group or subset of that name, or where an
    attribute of points or polygons is above a half."""
    own = [one.polygons for one in surface.subsets if one.name == name]
    attribute = surface.attribute(name)
    if own:
        found = _points_of(surface, np.concatenate(own))
    elif attribute is None:
        known = [*(one.name for one in surface.subsets), *(one.name for one in surface.attributes)]
        allowed = ", ".join(dict.fromkeys(known)) or "none, nothing is painted on it"
        raise input_error("the surface has no such part", got=name, allowed=allowed)
    else:
        values = np.asarray(attribute.flat())
        if attribute.scope not in (Scope.POINT, Scope.POLYGON) or values.ndim != 1 or values.dtype.kind not in "biuf":
            raise input_error(
                "a part is painted as one number a point or polygon", got=f"{name}, per {attribute.scope.value}",
                allowed="a group, a subset, or weights from 0 to 1",
            )  # fmt: skip
        chosen = np.flatnonzero(np.asarray(values, dtype=np.float64) > IN)
        found = chosen if attribute.scope is Scope.POINT else _points_of(surface, chosen)
    if not len(found):
        raise input_error("nothing is in the part", got=name, allowed=f"weights above {IN:g} somewhere")
    return found


def painted_shares(surface: Surface, name: str) -> Vector | None:
    """(p,) by how much points of a surface are in a part that is painted with weights from 0 to 1, brushed softly say;
    None of any other part, whose points are in it or not."""
    attribute = surface.attribute(name)
    if attribute is None or attribute.scope is not Scope.POINT or any(one.name == name for one in surface.subsets):
        return None
    values = np.asarray(attribute.flat())
    if values.dtype.kind != "f" or values.ndim != 1:
        return None
    shares = values.astype(np.float64)
    if not ((shares >= -_ROUNDED) & (shares <= 1.0 + _ROUNDED)).all():
        raise input_error(
            "a skin that is painted has weights", got=f"{shares.min():.3g} to {shares.max():.3g}", allowed="0 to 1"
        )
    return np.clip(shares, 0.0, 1.0)


def _points_of(surface: Surface, polygons: Integers) -> Integers:
    chosen = np.zeros(surface.polygon_count, dtype=bool)
    chosen[polygons] = True
    return np.unique(surface.corners[np.repeat(chosen, surface.counts)])
