"""Pictures: light, shadow, and what must never break them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from render_shapes import grid, sphere

from bunraku.contracts import Faces, InputError, Points
from bunraku.geometry import TriMesh
from bunraku.render import (
    GUIDE,
    STUDIO,
    Camera,
    Style,
    drawing,
    framing,
    ground,
    lettered,
    light,
    picture,
    raster,
    seen_faces,
    shade,
)
from bunraku.render.light import ball_directions, depth_maps, sky_visibility
from bunraku.render.shade import KEY_TINT
from bunraku.render.surface import surface

SIZE = (320, 180)
FRONT = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
TRIANGLE = np.array([[-0.8, -0.6, 0.0], [0.8, -0.6, 0.0], [0.0, 0.8, 0.0]])
ONE = np.array([[0, 1, 2]])
KEY_ONLY = Style(front=(0.7, 0.7, 0.7), key=1.0, fill=0.0, sky=0.0, rim=0.0, sheen=0.0, cavity=0.0)


def _wrinkled(amplitude: float, n: int = 80) -> tuple[Points, Faces]:
    """A square metre with wrinkles 6 cm long."""
    x, faces = grid(n)
    x[:, 1] = amplitude * np.sin(2 * np.pi * (x[:, 0] + 0.3 * x[:, 2]) / 0.06)
    return x, faces


def _srgb(linear: np.ndarray) -> np.ndarray:
    return 255.0 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _linear(value: float) -> float:
    return ((value + 0.055) / 1.055) ** 2.4


def test_back_faces_have_another_colour_and_hide_what_is_behind() -> None:
    style = replace(STUDIO, front=(0.2, 0.8, 0.2), back=(0.8, 0.2, 0.2))
    x = np.concatenate([TRIANGLE, TRIANGLE - [0, 0, 1]])
    outside_near = np.array([[0, 1, 2], [5, 4, 3]])
    inside_near = np.array([[2, 1, 0], [3, 4, 5]])
    for faces, channel in [(outside_near, 1), (inside_near, 0), (inside_near[::-1], 0)]:
        pixel = picture(x, faces, FRONT, size=SIZE, style=style)[90, 160]
        assert int(np.argmax(pixel)) == channel and pixel[channel] > pixel[1 - channel] + 40


def test_paint_may_be_on_both_sides() -> None:
    paint = np.array([[0.1, 0.1, 0.9]])
    for both, channel in [(True, 2), (False, int(np.argmax(STUDIO.back)))]:
        pixel = picture(TRIANGLE, ONE[:, ::-1], FRONT, size=SIZE, paint=paint, both_sides=both)[90, 160]
        assert int(np.argmax(pixel)) == channel


def test_each_pixel_knows_the_nearest_face_and_letters_stand_where_they_are_put() -> None:
    x = np.concatenate([TRIANGLE - [0, 0, 1], 0.2 * TRIANGLE, [[np.nan] * 3]])
    seen = seen_faces(x, np.array([[0, 1, 6], [0, 1, 2], [5, 4, 3]]), FRONT, SIZE)
    assert seen.shape == (180, 320) and seen[90, 160] == 2 and seen[60, 160] == 1 and seen[5, 5] == -1
    image = lettered(np.full((100, 200, 3), 90, dtype=np.uint8), [("8", 150, 40)], letters=0.2)
    rows, columns = np.nonzero(image.min(axis=2) > 240)
    assert abs(rows.mean() - 40) < 3 and abs(columns.mean() - 150) < 3 and len(rows) > 20


def test_a_sphere_is_shaded_as_its_normals_say() -> None:
    x, faces = sphere(24)
    camera = Camera((0.0, 0.0, 9.0), (0.0, 0.0, 0.0))
    image = picture(x, faces, camera, size=(240, 240), style=KEY_ONLY).astype(float)
    # The ray through each pixel's middle meets the unit sphere at 9 + t d.
    rays = np.linalg.inv(camera.projection((240, 240))) @ _pixel_middles(240)
    rays /= np.linalg.norm(rays, axis=0)
    along = -9.0 * rays[2]
    inside = along**2 - 80.0
    normal = np.array([[0.0], [0.0], [9.0]]) + rays * (along - np.sqrt(np.maximum(inside, 0.0)))
    toward = np.array(KEY_ONLY.light) / np.linalg.norm(KEY_ONLY.light) @ normal
    # Not at the contour (anti-aliased) nor where the light only grazes (the sphere's own soft shadow begins).
    clear = (inside > 0.02) & (toward > 0.3)
    assert clear.sum() > 5000
    for c in range(3):
        expected = _srgb(_linear(0.7) * KEY_TINT[c] * toward[clear])
        error = np.abs(image[:, :, c].reshape(-1)[clear] - expected)
        assert error.max() < 3.0  # a half for rounding, the rest for facets: cos(π/96) and depth maps
    dark = (inside > 0.02) & (toward < -0.05)
    assert image.reshape(-1, 3)[dark].max() == 0


def _pixel_middles(side: int) -> np.ndarray:
    v, u = np.meshgrid(np.arange(side) + 0.5, np.arange(side) + 0.5, indexing="ij")
    return np.stack([u, v, np.ones_like(u)]).reshape(3, -1)


def test_smooth_and_flat_faces_differ() -> None:
    x, faces = sphere(4)
    smooth = picture(x, faces, FRONT, size=SIZE, style=KEY_ONLY)
    flat = picture(x, faces, FRONT, size=SIZE, style=replace(KEY_ONLY, smooth=False))
    # Colours across one row: a ramp, or a few steps.
    assert len(np.unique(flat[90, 130:190, 0])) < 15 < len(np.unique(smooth[90, 130:190, 0]))


def test_the_guide_shows_its_edges() -> None:
    x, faces = grid(4, 2.0)
    x = x[:, [0, 2, 1]] * [1, -1, 1]
    with_edges = picture(x, faces, FRONT, size=SIZE, style=GUIDE)
    without = picture(x, faces, FRONT, size=SIZE, style=replace(GUIDE, edges=None))
    darker = with_edges.astype(int).sum(axis=2) < without.astype(int).sum(axis=2) - 60
    pixel = FRONT.project(np.array([[0.0, 0.25, 0.0], [0.3, 0.1, 0.0]]), SIZE)[:, :2].astype(int)
    assert darker[pixel[0, 1], pixel[0, 0] - 1 : pixel[0, 0] + 1].any()  # on the edge x = 0
    assert not darker[pixel[1, 1], pixel[1, 0]]  # inside a face


def test_two_millimetres_of_wrinkle_on_a_metre_are_visible() -> None:
    ranges = []
    for amplitude in (0.0, 0.002):
        x, faces = _wrinkled(amplitude)
        image = picture(x, faces, framing([x], ground=-0.01, aspect=16 / 9), size=(640, 360), ground=-0.01)
        row = image[180, 270:370].astype(float).mean(axis=1)
        ranges.append(np.ptp(row - np.linspace(row[0], row[-1], len(row))))
    assert ranges[0] < 4.0
    assert ranges[1] > 15.0  # of 255: nobody has to search


def test_curvature_of_a_sphere() -> None:
    x, faces = sphere(20, radius=0.5)
    inner = np.zeros((6, 21, 21), dtype=bool)
    inner[:, 2:-2, 2:-2] = True  # away from the seams, where grids do not share their normals
    # 1/radius, positive: a ridge seen from outside.
    np.testing.assert_allclose(surface(x, faces).cavity[inner.reshape(-1)], 2.0, rtol=0.02)
    np.testing.assert_allclose(surface(x, faces[:, ::-1]).cavity[inner.reshape(-1)], -2.0, rtol=0.02)


def test_a_wall_takes_half_the_sky_from_its_foot() -> None:
    floor, faces = grid(30, 20.0)
    wall = floor[:, [1, 0, 2]] * [1, 1, 1] + [0.0, 10.0, 0.0]
    x, both = np.concatenate([floor, wall]), np.concatenate([faces, faces[:, ::-1] + len(floor)])
    maps = depth_maps(x, both, ball_directions(256), 256)
    points = np.array([[0.4, 0.0, 0.0], [-9.9, 0.0, 0.0]])
    share = sky_visibility(points, np.array([[0.0, 1.0, 0.0]] * 2), np.ones(256), maps)
    # Seen from its foot an endless wall hides half of the cosine-weighted sky; from ten metres under a fifth.
    assert abs(share[0, 0] - 0.5) < 0.05
    assert 0.8 < share[1, 0] < 0.99


def _plate(height: float) -> tuple[Points, Faces]:
    x, faces = grid(6, 0.6)
    return x + [0.0, height, 0.0], faces


def test_the_shadow_lies_where_the_light_throws_it_and_nowhere_else() -> None:
    camera = Camera((0.0, 2.0, 6.0), (0.0, 0.3, 0.0))
    x, faces = _plate(0.5)
    empty = picture(x, ONE[:0], camera, size=SIZE, ground=0.0).astype(int).sum(axis=2)
    shaded = picture(x, faces, camera, size=SIZE, ground=0.0).astype(int).sum(axis=2)
    side, up, toward = STUDIO.light  # the camera looks along −z, so these are x, y and z
    dropped = np.array([[-side / up * 0.5, 0.0, -toward / up * 0.5], [-1.6, 0.0, 0.0]])
    (u, v), (far_u, far_v) = camera.project(dropped, SIZE)[:, :2].astype(int)
    assert shaded[v, u] < empty[v, u] - 60
    assert abs(shaded[far_v, far_u] - empty[far_v, far_u]) < 6


def test_a_larger_light_and_a_longer_way_soften_the_shadow() -> None:
    def penumbra(height: float, softness: float) -> int:
        x, faces = _plate(height)
        maps = depth_maps(x, faces, light.cone_directions((0.0, 1.0, 0.0), softness, 16), 384)
        spacing = 2 * np.radians(softness) / 4
        share = ground.ground_light(x, 0.0, maps, spacing=spacing, reach=6.0, resolution=256)
        middle = share.share[128]
        return int(((middle > 0.05) & (middle < 0.95)).sum() * share.step[0] * 1000)  # [mm]

    # Twice h tan(softness), on both sides.
    for height, softness in [(0.5, 5.0), (1.0, 5.0), (1.0, 10.0)]:
        expected = 4000 * height * np.tan(np.radians(softness))
        assert 0.5 * expected < penumbra(height, softness) < 1.5 * expected


def test_the_ground_hides_what_lies_below_but_not_what_lies_on_it() -> None:
    camera = Camera((0.0, 3.0, 6.0), (0.0, 0.0, 0.0))
    style = replace(STUDIO, front=(0.1, 0.9, 0.1))
    x, faces = grid(8)
    for height, green in [(0.0, True), (-0.3, False)]:
        r, g, _ = picture(x + [0.0, height, 0.0], faces, camera, size=SIZE, ground=0.0, style=style)[90, 160].astype(
            int
        )
        assert bool(g > r + 40) is green


def test_the_same_bytes_for_any_number_of_threads() -> None:
    x, faces = _wrinkled(0.01, 30)
    camera, before = framing([x], ground=-0.1), numba.get_num_threads()
    images = []
    try:
        for threads in (1, 2, 2):
            numba.set_num_threads(min(threads, before))
            images.append(picture(x, faces, camera, size=SIZE, ground=-0.1))
    finally:
        numba.set_num_threads(before)
    assert images[0].tobytes() == images[1].tobytes() == images[2].tobytes()
    assert len(np.unique(images[0])) > 50


def test_far_from_the_origin_the_picture_is_the_same() -> None:
    x, faces = _wrinkled(0.01, 30)
    far = np.array([1e5, 1e5, -1e5])
    here = picture(x, faces, framing([x], ground=-0.1), size=SIZE, ground=-0.1)
    there = picture(x + far, faces, framing([x + far], ground=1e5 - 0.1), size=SIZE, ground=1e5 - 0.1)
    different = np.abs(here.astype(int) - there).max(axis=2) > 2
    assert different.mean() < 0.002  # single samples on outlines may fall to the other side


def test_broken_points_take_only_their_triangles_away() -> None:
    x = np.concatenate([TRIANGLE, TRIANGLE * 0.3 + [1.2, 0.0, 0.0]])
    alone = picture(x, ONE, FRONT, size=SIZE, ground=-1.0)
    for value in (np.nan, np.inf, -np.inf, 1e300):
        broken = x.copy()
        broken[4, 1] = value
        image = picture(broken, np.array([[0, 1, 2], [3, 4, 5]]), FRONT, size=SIZE, ground=-1.0)
        assert image.tobytes() == alone.tobytes()
    assert alone.tobytes() != picture(x, np.array([[0, 1, 2], [3, 4, 5]]), FRONT, size=SIZE, ground=-1.0).tobytes()


@pytest.mark.parametrize(
    ("x", "faces"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3), dtype=int)),
        (TRIANGLE, []),
        (TRIANGLE, [[0, 0, 1], [2, 2, 2]]),
        (np.full((3, 3), np.nan), ONE),
        (np.zeros((3, 3)), ONE),
        (TRIANGLE * 1e11, ONE),
        (TRIANGLE * [1, 0, 1], ONE),
        (TRIANGLE + [0.0, 0.0, 4.0], ONE),  # through the eye
    ],
)
def test_nothing_breaks_the_picture(x: Points, faces: Faces) -> None:
    for camera in (FRONT, framing([x])):
        image = picture(x, faces, camera, size=(64, 36), ground=-0.5)
        assert image.shape == (36, 64, 3) and image.std() < 128


def test_the_label_is_burnt_in_at_the_lower_left_only() -> None:
    plain = picture(TRIANGLE, ONE, FRONT, size=(640, 360))
    labelled = picture(TRIANGLE, ONE, FRONT, size=(640, 360), label="jump v003 1042")
    rows, columns = np.nonzero((plain != labelled).any(axis=2))
    assert rows.min() > 320 and rows.max() < 359 and 0 < columns.min() and columns.max() < 200
    assert labelled[rows, columns].max() > 240 and labelled[rows, columns].min() < 60  # light on dark
    other = picture(TRIANGLE, ONE, FRONT, size=(640, 360), label="jump v003 1043")
    assert (other != labelled).any()
    long = picture(TRIANGLE, ONE, FRONT, size=(640, 360), label="jump " * 30)
    assert (long[:, 630:] == plain[:, 630:]).all()  # set smaller to fit


@pytest.mark.parametrize(
    ("x", "faces", "options"),
    [
        (TRIANGLE, [[0, 1, 3]], {}),
        (TRIANGLE, [[0, 1, -1]], {}),
        (TRIANGLE, [[0, 1, 2, 0]], {}),
        (TRIANGLE, [[0.0, 1.0, 2.0]], {}),
        (TRIANGLE[:, :2], ONE, {}),
        (TRIANGLE, ONE, {"size": (0, 10)}),
        (TRIANGLE, ONE, {"size": (10, 100_000)}),
        (TRIANGLE, ONE, {"samples": 3}),
    ],
)
def test_what_makes_no_sense_is_refused(x: Points, faces: Faces, options: dict) -> None:
    with pytest.raises(InputError):
        picture(x, faces, FRONT, **options)


def test_kernels_are_compiled_once() -> None:
    mesh = TriMesh(*_plate(0.2))  # its arrays are read-only
    x: Any = mesh.rest.astype(np.float32)
    faces: Any = mesh.faces.astype(np.int32)
    images = [
        picture(mesh.rest, mesh.faces, FRONT, size=(64, 36)),
        picture(x, faces, FRONT, size=(64, 36), ground=-1.0),
        picture(np.asfortranarray(mesh.rest), mesh.faces, FRONT, size=(64, 36), style=replace(GUIDE, key=1)),
    ]
    kernels = [
        value
        for module in (raster, light, ground, shade, drawing)
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    assert len(images) == 3 and len(kernels) > 10
    for kernel in kernels:
        assert len(kernel.signatures) <= 1, f"{kernel.__name__} was compiled for {kernel.signatures}"


def test_paint_colours_faces_and_nothing_else() -> None:
    x, faces = sphere(3)
    camera = framing([x])
    plain = picture(x, faces, camera, size=SIZE)
    same = np.tile(STUDIO.front, (len(faces), 1))
    assert np.array_equal(picture(x, faces, camera, size=SIZE, paint=same), plain)
    halves = np.where(x[faces].mean(axis=1)[:, :1] > 0, [[0.9, 0.1, 0.1]], [[0.1, 0.1, 0.9]])
    seen = picture(x, faces, camera, size=SIZE, paint=halves).astype(int)
    red, blue = (seen[..., 0] - seen[..., 2] > 60), (seen[..., 2] - seen[..., 0] > 60)
    assert red.sum() > 500 and blue.sum() > 500
    assert np.flatnonzero(red.any(axis=0)).mean() > np.flatnonzero(blue.any(axis=0)).mean()  # +x is right
    broken = np.vstack([x, [[np.nan] * 3]])
    lost = np.vstack([[[0, 1, len(x)]], faces])  # a face that is not drawn must not shift the colours
    again = picture(broken, lost, camera, size=SIZE, paint=np.vstack([[[0.0, 1.0, 0.0]], halves]))
    assert np.array_equal(again, seen)
    with pytest.raises(InputError, match="a colour a face"):
        picture(x, faces, camera, size=SIZE, paint=halves[1:])
