"""Parts of a body's surface that a shot gives names to."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import InputError, Integers
from bunraku.io import Outgoing

from .body_spec import BodyRegion
from .findings import Place
from .lists import vertices_at
from .painted import painted_points


def region_of_body(region: BodyRegion, going: Outgoing, place: Place) -> Integers:
    """(v,) vertices of the surface in a region; what is wrong is told to its place, and left out."""
    if region.painted is None:
        return vertices_at(region.vertices or (), going, place.at("vertices"))
    try:
        found = going.vertices_of(painted_points(going.surface, region.painted))
    except InputError as error:
        place.at("painted").pass_on(error)
        return np.zeros(0, dtype=np.int64)
    if (found < 0).all():
        place.at("painted").refuse("is painted on points of no face, which the body leaves out", got=region.painted)
    return np.unique(found[found >= 0])
