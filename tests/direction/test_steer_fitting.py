"""A shape of the fine surface becomes a shape of the body that carries it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku import InputError
from bunraku.direction.steer import fitted
from bunraku.geometry import enclose, subdivide, tet_bar

BODY = tet_bar((8, 3, 3), (0.8, 0.3, 0.3))
CAGE = enclose(subdivide(BODY.surface(), 1)[0], BODY)


def test_a_shape_the_body_can_take_is_found_again() -> None:
    angle = 1.5 * BODY.rest[:, 0]
    turned = np.einsum(
        "nij,nj->ni", Rotation.from_rotvec(np.outer(angle, [1, 0, 0])).as_matrix(), BODY.rest - [0, 0.15, 0.15]
    )
    shape = turned @ Rotation.from_rotvec([0, 2.0, 0.5]).as_matrix().T + [3, 2, 1]
    found = fitted(CAGE, CAGE.points(shape))
    assert np.abs(CAGE.points(found) - CAGE.points(shape)).max() < 2e-3 * BODY.size
    assert np.abs(found - shape).max() < 2e-2 * BODY.size


def test_rest_is_found_exactly_enough() -> None:
    found = fitted(CAGE, CAGE.surface.rest)
    assert np.abs(found - BODY.rest).max() < 1e-6 * BODY.size


def test_a_surface_of_another_kind_or_inside_out_is_refused() -> None:
    with pytest.raises(InputError, match="finite points, one row a vertex"):
        fitted(CAGE, CAGE.surface.rest[:-1])
    off = CAGE.surface.rest.copy()
    off[3, 1] = np.nan
    with pytest.raises(InputError, match=r"points 3: .*finite .*nan"):
        fitted(CAGE, off)
    with pytest.raises(InputError, match=r"inside out|mirrored"):
        fitted(CAGE, CAGE.surface.rest * [1, 1, -1])


def test_a_shape_the_body_cannot_follow_is_refused() -> None:
    with pytest.raises(InputError, match=r"cannot follow|inside out|no volume"):
        fitted(CAGE, CAGE.surface.rest * [1, 0, 1])
