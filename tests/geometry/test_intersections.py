"""Which triangles cross: drawn by hand, against every pair asked one by one, and on real files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh_files import surface_of
from mesh_shapes import grid, sphere, torus

from bunraku.contracts import Array, Faces, Flags, Points
from bunraku.geometry import faces_through, intersecting_faces, triangulate
from bunraku.geometry.connectivity import same_place

FLOOR = [[0.0, 0, 0], [4, 0, 0], [0, 4, 0]]


@pytest.mark.parametrize(
    ("other", "meets", "crosses"),
    [
        ([[1, 1, -1], [1, 1, 1], [9, 9, 1]], True, True),  # an edge through the inside
        ([[1, 1, 0], [1, 1, 1], [2, 2, 1]], True, False),  # a corner on it
        ([[-1, 1, 0], [1, -1, 0], [-1, -1, 5]], True, False),  # an edge over its corner
        ([[1, 1, 1e-7], [1, 1, 1], [2, 2, 1]], False, False),  # a corner just above it
        ([[2, 0, 0], [4, 0, 1], [1, -1, -1]], True, False),  # a corner on its side
        ([[1, 1, 0], [2, 1, 0], [1, 2, 0]], True, True),  # inside it, in its plane
        ([[-1, 1, 0], [9, 1, 0], [9, 2, 0]], True, True),  # across it, in its plane
        ([[4, 0, 0], [4, 4, 0], [0, 4, 0]], True, False),  # beside it, in its plane, along a side
        ([[5, 0, 0], [6, 0, 0], [5, 1, 0]], False, False),  # in its plane, apart
        ([[0, 0, 1], [4, 0, 1], [0, 4, 1]], False, False),  # above it
        ([[0, 0, 0], [4, 0, 0], [0, 4, 0]], True, True),  # the same place
        ([[4, 4, -1], [4, 4, 1], [9, 9, 0]], False, False),  # through its plane, outside
        ([[1, 1, -1], [1, 1, -1], [1, 1, 1]], False, False),  # no area
    ],
)
def test_two_triangles_without_a_common_vertex(other: list[list[float]], meets: bool, crosses: bool) -> None:
    for scale in (1.0, 1e-8, 1e8):
        for away in (0.0, 3.0):
            x = (np.array([*FLOOR, *other], dtype=np.float64) + away) * scale
            faces = np.array([[0, 1, 2], [3, 4, 5]])
            for order in (faces, faces[::-1], faces[:, [1, 2, 0]], faces[:, ::-1]):
                assert intersecting_faces(x, order, touching=True).tolist() == [meets, meets]
                assert intersecting_faces(x, order).tolist() == [crosses, crosses]


@pytest.mark.parametrize(
    ("two", "crosses"),
    [
        ([[0, 5, 0], [5, 0, 3]], False),  # only the common vertex
        ([[3, 1, -1], [3, 1, 1]], True),  # through the inside
        ([[1, 1, -1], [1, 1, 1]], True),
        ([[9, 1, 0], [9, 2, 0]], True),  # in the plane, over it
        ([[-4, 0, 0], [0, -4, 0]], False),  # in the plane, opposite
        ([[0, 4.0, 0], [-4, 0, 0]], False),  # in the plane, beside it along a side
        ([[4, 0, 0], [0, 4, 0]], True),  # all of it again, its own corners
    ],
)
def test_two_triangles_with_a_common_vertex(two: list[list[float]], crosses: bool) -> None:
    x = np.array([*FLOOR, *two], dtype=np.float64)
    assert intersecting_faces(x, np.array([[0, 1, 2], [0, 3, 4]])).tolist() == [crosses, crosses]


@pytest.mark.parametrize(("fourth", "crosses"), [([4, 4, 0], False), ([1, 1, 1], False), ([1, 1, 0], True)])
def test_two_triangles_with_a_common_edge(fourth: list[float], crosses: bool) -> None:
    """Only one folded flat on the other."""
    x = np.array([*FLOOR, fourth], dtype=np.float64)
    assert intersecting_faces(x, np.array([[0, 1, 2], [1, 2, 3]])).tolist() == [crosses, crosses]


def test_the_same_three_vertices() -> None:
    assert intersecting_faces(np.array(FLOOR), np.array([[0, 1, 2], [0, 2, 1]])).all()


@pytest.mark.parametrize("shape", [grid(9, 7), sphere(3), torus()])
def test_clean_shapes_do_not_meet_themselves(shape: tuple[Points, Faces]) -> None:
    assert not intersecting_faces(*shape, touching=True).any()


def test_what_is_not_finite_meets_nothing() -> None:
    points, faces = sphere(1)
    points = points.copy()
    points[0] = np.nan
    assert not intersecting_faces(points, faces, touching=True).any()
    assert not intersecting_faces(points * np.nan, faces, touching=True).any()
    assert len(intersecting_faces(points, faces[:0])) == 0


def _pierced(x: Points, faces: Faces) -> Flags:
    """(f,) by linear algebra: an edge p + t (q − p) meets a + u (b − a) + v (c − a) inside both."""
    out = np.zeros(len(faces), dtype=bool)
    a, b, c = (x[faces[:, k]] for k in range(3))
    for k in range(3):
        p, q = x[faces[:, k]], x[faces[:, (k + 1) % 3]]
        matrix = np.empty((len(faces), len(faces), 3, 3))
        matrix[..., 0], matrix[..., 1] = (b - a)[None], (c - a)[None]
        matrix[..., 2] = (p - q)[:, None]
        right: Array = p[:, None] - a[None]
        own = np.arange(len(faces))
        matrix[own, own] = np.eye(3)  # an edge lies in its own plane
        u, v, t = np.moveaxis(np.linalg.solve(matrix, right[..., None])[..., 0], -1, 0)
        inside = (u > 0) & (v > 0) & (u + v < 1) & (t > 0) & (t < 1)
        inside &= ~(faces[:, None, :, None] == faces[None, :, None, :]).any(axis=(2, 3))
        out |= inside.any(axis=0) | inside.any(axis=1)
    return out


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.1, 1.5))
def test_triangles_at_random(seed: int, size: float) -> None:
    """In general position nothing touches, and every pair can be asked."""
    rng = np.random.default_rng(seed)
    x = (rng.random((40, 1, 3)) + size * rng.random((40, 3, 3)) * 0.5).reshape(-1, 3)
    faces = np.arange(120).reshape(-1, 3)
    np.testing.assert_array_equal(intersecting_faces(x, faces), _pierced(x, faces))
    np.testing.assert_array_equal(intersecting_faces(x, faces, touching=True), _pierced(x, faces))


def test_only_the_others_count_between_two_meshes() -> None:
    """Triangles that cross within either mesh do not count, nor does one that is not finite."""
    rng = np.random.default_rng(5)
    x = (rng.random((50, 1, 3)) + 0.4 * rng.standard_normal((50, 3, 3))).reshape(-1, 3)
    faces, others = np.arange(60).reshape(-1, 3), np.arange(60, 150).reshape(-1, 3)
    within = [_pierced(x, np.stack([face, other])).any() for face in faces for other in others]
    expected = np.any(np.array(within).reshape(len(faces), len(others)), axis=1)
    assert 0 < expected.sum() < len(faces) and intersecting_faces(x, faces)[~expected].any()
    np.testing.assert_array_equal(faces_through(x, faces, others), expected)
    lost = np.flatnonzero(expected)[0]
    x[faces[lost, 1]] = np.nan
    np.testing.assert_array_equal(faces_through(x, faces, others), expected & (np.arange(len(faces)) != lost))
    assert not faces_through(x, faces, others[:0]).any()
    standing, (floor, other) = np.array([*FLOOR, [1, 1, 0], [1, 1, 1], [2, 1, 1]]), np.arange(6).reshape(2, 1, 3)
    assert (
        faces_through(standing, floor, other, touching=True).all() and not faces_through(standing, floor, other).any()
    )


@pytest.mark.parametrize(
    ("name", "crossing", "touching"),
    [
        ("broken/self_intersecting_closed.obj", 334, 334),
        ("meshes/human_man.obj", 80, 80),
        ("broken/elephant_with_holes.off", 0, 0),
        ("sequences/kick_body/kick_body_frame0.obj", 434, 435),
        ("broken/degenerate_scan.off", 11, 11),
        ("garments/dress.obj", 4, 4),
        ("meshes/spot.obj", 0, 0),
        # MeshLab counts 825, 2958 and 672: touches some of the time. Nothing crosses in the first; its 896 faces touch
        # along cracks. The last is full of faces that overlap in one plane.
        ("broken/cracked_cad.stl", 0, 896),
        ("broken/hair_braid.obj", 2948, 2965),
        ("broken/openscad_nonmanifold.obj", 1173, 1386),
        pytest.param("broken/buddha_100k.obj", 114, 114, marks=pytest.mark.slow),
    ],
)
def test_files_as_meshlab_counts_them(name: str, crossing: int, touching: int) -> None:
    """Points of one position made one, as for the table in the data's README."""
    surface = surface_of(name)
    cut = triangulate(surface.points, surface.counts, surface.corners)
    faces = same_place(surface.points)[surface.corners[cut.corners]]
    assert int(intersecting_faces(surface.points, faces).sum()) == crossing
    assert int(intersecting_faces(surface.points, faces, touching=True).sum()) == touching


@pytest.mark.parametrize("noise", [1e-16, 3e-16, 1e-15, 3e-15, 1e-14, 1e-10])
def test_a_flat_sheet_with_rounding_errors_touches_nothing(noise: float) -> None:
    """Triangles side by side in nearly one plane: volumes are noise there, and tell nothing of who is beside whom."""
    grid, rng = np.linspace(-0.2, 0.2, 5), np.random.default_rng(0)
    x, z = np.meshgrid(grid, grid, indexing="ij")
    index = np.arange(25).reshape(5, 5)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    faces = np.concatenate([np.stack([a, d, b], axis=1), np.stack([d, c, b], axis=1)])
    for _ in range(20):
        points = np.stack([x.ravel(), 0.03 + noise * rng.normal(size=25), z.ravel()], axis=1)
        assert not intersecting_faces(points, faces, touching=True).any()


def test_every_way_to_touch_is_found() -> None:
    """An upright triangle that stands on another with a corner or a side: inside it, on a side, on a corner, along one;
    turned at random, for then no coordinate is exact."""
    below = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    feet = {"inside": (0.3, 0.3), "side": (0.5, 0.0), "slope": (0.5, 0.5), "corner": (0.0, 0.0), "beside": (0.6, 0.6)}
    rng = np.random.default_rng(3)
    for where, (u, v) in feet.items():
        for _ in range(50):
            turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            top = [[u, v, 0.7], [u, v, 0.9]] + rng.uniform(-0.3, 0.3, (2, 3)) * [1.0, 1.0, 0.0]
            above = np.array([[u, v, 0.0], *top])
            points = np.concatenate([below, above]) @ turn.T
            touches = intersecting_faces(points, np.array([[0, 1, 2], [3, 4, 5]]), touching=True).all()
            assert touches == (where != "beside"), where
