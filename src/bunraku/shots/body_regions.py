"""Parts of a body's surface that a shot gives names to."""

from __future__ import annotations

from bunraku.contracts import Integers
from bunraku.io import Outgoing

from .body_spec import BodyRegion
from .findings import Place
from .lists import painted_vertices, vertices_at
from .wrinkle_spec import SkinRegion


def region_of_body(region: BodyRegion | SkinRegion, going: Outgoing, place: Place) -> Integers:
    """(v,) vertices of the surface in a region; what is wrong is told to its place, and left out."""
    if region.painted is None:
        return vertices_at(region.vertices or (), going, place.at("vertices"))
    return painted_vertices(region.painted, going, place, "body")
