"""Which way polygons run: formats that cannot say clockwise get counter-clockwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.geometry import Attribute, Scope, Surface


def outward(surface: Surface) -> Surface:
    """The surface with its corners counter-clockwise seen from outside; each polygon keeps its first corner."""
    if not surface.left_handed:
        return surface
    owner = np.repeat(np.arange(surface.polygon_count), surface.counts)
    starts, counts = surface.starts[owner], surface.counts[owner]
    turned = starts + (starts - np.arange(len(owner))) % counts
    attributes = tuple(
        Attribute(one.name, one.scope, one.flat()[turned]) if one.scope is Scope.CORNER else one
        for one in surface.attributes
    )
    return replace(surface, corners=surface.corners[turned], attributes=attributes, left_handed=False)
