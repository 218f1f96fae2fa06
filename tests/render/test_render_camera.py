"""One camera sees a whole shot."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.render import Camera, framing

SIZE = (1600, 900)


def _shot(seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.normal(size=(5, 40, 3)) * [2.0, 1.0, 3.0], generator.normal(size=(3, 7, 3)) + [1.0, 4.0, 0.0]]


@pytest.mark.parametrize("direction", [(-0.5, -0.32, -1.0), (1.0, 0.4, 0.1), (0.0, -1.0, 0.0)])
@pytest.mark.parametrize("margin", [0.02, 0.1])
def test_framing_holds_every_point_and_is_the_nearest(direction: tuple[float, float, float], margin: float) -> None:
    shot = _shot(1)
    camera = framing(shot, direction=direction, aspect=SIZE[0] / SIZE[1], margin=margin)
    u, v, depth = camera.project(np.concatenate([a.reshape(-1, 3) for a in shot]), SIZE).T
    free = np.array([u.min() / SIZE[0], 1 - u.max() / SIZE[0], v.min() / SIZE[1], 1 - v.max() / SIZE[1]])
    assert depth.min() > 0
    assert free.min() > margin - 1e-9
    # Nearest: on one axis both sides touch the margin.
    assert min(free[:2].max(), free[2:].max()) < margin + 1e-9


def test_framing_holds_the_ground_below() -> None:
    x = np.array([[0.0, 2.0, 0.0], [1.0, 3.0, 0.0], [0.0, 3.0, 1.0]])
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    with_ground, without = framing([x], ground=0.0), framing([x])
    u, v, _ = with_ground.project(corners, SIZE).T
    assert 0 < u.min() and u.max() < SIZE[0] and 0 < v.min() and v.max() < SIZE[1]
    assert without.project(corners, SIZE)[:, 1].max() > SIZE[1]


def test_framing_keeps_its_digits_far_from_the_origin() -> None:
    shot, far = _shot(2)[0], np.array([1e5, -2e5, 3e5])
    here = framing([shot]).project(shot.reshape(-1, 3), SIZE)
    there = framing([shot + far]).project((shot + far).reshape(-1, 3), SIZE)
    np.testing.assert_allclose(there[:, :2], here[:, :2], rtol=0, atol=1e-4)  # [pixels]


def test_framing_leaves_out_what_is_not_finite() -> None:
    shot = _shot(3)[0]
    broken = np.concatenate([shot.reshape(-1, 3), [[np.nan, 0, 0], [np.inf, 1, 1]]])
    assert framing([broken]) == framing([shot])


@pytest.mark.parametrize("points", [np.full((4, 3), 7.0), np.zeros((0, 3)), np.full((2, 3), np.nan)])
def test_framing_of_a_point_or_of_nothing_is_a_camera(points: np.ndarray) -> None:
    camera = framing([points])
    middle = points[:1] if np.isfinite(points[:1]).all() and len(points) else np.zeros((1, 3))
    np.testing.assert_allclose(camera.project(middle, SIZE)[0, :2], [800, 450], atol=1e-6)
    assert np.isfinite(framing([]).eye).all()


def test_projection_by_hand() -> None:
    # 90° vertical: at depth 1 the picture is 2 high, so 450 pixels are one metre.
    camera = Camera((0, 0, 0), (0, 0, -1), field_of_view=90.0)
    np.testing.assert_allclose(camera.project(np.array([[0.0, 0.0, -1.0], [1.0, 0.5, -2.0]]), SIZE),
                               [[800, 450, 1], [800 + 225, 450 - 112.5, 2]])  # fmt: skip


@pytest.mark.parametrize(
    "numbers",
    [
        {"eye": (0, 0, 0), "target": (0, 0, 0)},
        {"eye": (0, 0, np.nan), "target": (0, 0, 0)},
        {"eye": (0, 0, 1), "target": (0, 0, 0), "field_of_view": 180.0},
        {"eye": (0, 0, 1), "target": (0, 0, 0), "field_of_view": 0.0},
    ],
)
def test_impossible_cameras_are_refused(numbers: dict) -> None:
    with pytest.raises(InputError):
        Camera(**numbers)
