"""What is asked of a body, to look at beside what it did: the shape it would like to have, carried along its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bunraku.contracts import ContentStore, Points
from bunraku.geometry import TetMesh, check_tets, tet_lumped_mass
from bunraku.materials import as_solid
from bunraku.motion import Path

from .asked import keyed_rest
from .keys import KeyShape, check_keys
from .materials import Material
from .posing import whole_shape
from .rigid import best_rotation, centre
from .settings import SteerSettings


def directed_shapes(
    body: TetMesh, keys: Sequence[KeyShape], paths: Sequence[Path], material: Material, knobs: SteerSettings,
    cache: ContentStore | None = None,
) -> Iterator[Points]:  # fmt: skip
    """(n, 3) at each frame: the rest shape of that moment, turned as the body's own lies, or as the path of the whole
    body says, with its centre of mass on that path while it holds, and where it was left after."""
    check_tets(body, "body")
    solid = as_solid(material)
    check_keys(keys, body, 0.0, max(float(knobs.duration), float(knobs.times[-1])))
    shapes = [whole_shape(key, body, solid) for key in keys]
    rest = keyed_rest(body, solid, keys, shapes, None, knobs, cache)
    whole = next((path for path in paths if path.vertices is None), None)
    weights = tet_lumped_mass(body, 1.0)
    for time in knobs.times:
        shape = rest.at(float(time))
        middle = centre(shape, weights)
        turned = (shape - middle) @ best_rotation(shape, body.rest, weights).T
        at = centre(body.rest, weights)
        if whole is not None:
            at = whole.at(float(time))
            turned = turned @ whole.rotation(float(time)).T
        yield np.asarray(turned + at)
