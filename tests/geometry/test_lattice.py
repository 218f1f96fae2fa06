"""Lattices about closed surfaces: what their functions reproduce, what hangs together, and what is refused."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from mesh_shapes import mobius, sphere, torus, volume
from scipy.spatial.transform import Rotation

from bunraku.contracts import InputError
from bunraku.geometry import LEAST_FILL, Lattice, TriMesh, lattice_around, lattice_pieces
from bunraku.geometry.lattice_pieces import SAMPLES, pieces_inside
from bunraku.testing import block_surface

BALL = TriMesh(*sphere(3))
TWICE = TriMesh(np.concatenate([BALL.rest, BALL.rest + 0.1]), np.concatenate([BALL.faces, BALL.faces + len(BALL.rest)]))
"""two balls, one in the other for the most part"""
RING = TriMesh(*torus())
CELL = 0.1
FINE = CELL / SAMPLES


def blocks(*boxes: tuple[tuple[int, int, int], tuple[int, int, int]]) -> TriMesh:
    """The union of boxes, each by two corners, in eighths of a cell."""
    room = np.zeros(np.max([high for _, high in boxes], axis=0), dtype=bool)
    for low, high in boxes:
        room[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
    return block_surface(room, FINE)


def fork(length: int = 4) -> TriMesh:
    """Two prongs of three eighths of a cell with a gap of two between them, `length` cells long, on a handle of one."""
    handle = ((0, 0, 0), (8, 8, 8))
    prongs = [((8, low, 0), (8 * (1 + length), low + 3, 8)) for low in (0, 5)]
    return blocks(handle, *prongs)


FORK = fork()
LATTICES = [
    lattice_around(mesh, cell, degree=degree)
    for mesh, cell in ((BALL, 0.45), (RING, 0.3), (FORK, CELL))
    for degree in (1, 2)
]


@pytest.mark.parametrize("lattice", LATTICES)
def test_functions_sum_to_one_and_reproduce_what_is_affine(lattice: Lattice) -> None:
    assert np.asarray(lattice.embedding.sum(axis=1)) == pytest.approx(1.0, abs=1e-13)
    assert lattice.points(lattice.rest) == pytest.approx(lattice.surface.rest, abs=1e-13)
    affine, shift = np.random.default_rng(1).normal(size=(3, 3)), np.array([1.0, -2.0, 0.5])
    moved = lattice.points(lattice.rest @ affine.T + shift)
    assert moved == pytest.approx(lattice.surface.rest @ affine.T + shift, abs=1e-12)
    t = np.random.default_rng(2).uniform(0.0, 1.0, (len(lattice.elements), 3))
    values, gradients = lattice.functions(t)
    nodes = lattice.rest[lattice.elements]
    assert np.einsum("ka,kai->ki", values, nodes) == pytest.approx(lattice.corners + lattice.cell * t, abs=1e-12)
    slopes = np.einsum("kaj,kai->kij", gradients, nodes)
    assert slopes == pytest.approx(np.broadcast_to(np.eye(3), slopes.shape), abs=1e-11)


@pytest.mark.parametrize("lattice", LATTICES)
def test_a_body_is_inside_out_where_the_map_of_its_matter_turns_over(lattice: Lattice) -> None:
    """Affine maps keep or turn all of it; a fold about a plane turns what is on one side. Determinants of the whole
    gradients, at the same places, say the same."""
    assert not lattice.inside_out(lattice.rest @ np.diag([0.1, 2.0, 1.0])).any()
    assert lattice.inside_out(lattice.rest @ np.diag([-0.1, 2.0, 1.0])).all()
    middle = lattice.rest[:, 0].mean()
    folded = lattice.rest.copy()
    folded[:, 0] = (folded[:, 0] - middle) ** 2 / lattice.cell
    found, low = lattice.inside_out(folded), lattice.corners[:, 0]
    assert not found[low > middle + lattice.cell].any() and found.any()
    places = lattice.boxes[:, 0] + 0.5 * (lattice.boxes[:, 1] - lattice.boxes[:, 0])
    slopes = np.einsum("kaj,kai->kij", lattice.functions(places)[1], folded[lattice.elements])
    here = (np.linalg.det(slopes) < 0.0) & (lattice.volumes[:, 13] > 0.0)  # the middle one of the 27
    assert here.any() and found[here].all()


def joined(lattice: Lattice, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of elements in cells one after the other that share all the nodes that their cells share."""
    side = lattice.degree + 1
    nodes = np.moveaxis(lattice.elements.reshape(-1, side, side, side), axis + 1, 1)
    step = np.rint((lattice.corners[None] - lattice.corners[:, None]) / lattice.cell)
    first, second = np.nonzero((step == np.eye(3)[axis]).all(axis=2))
    same = (nodes[first, 1:] == nodes[second, :-1]).all(axis=(1, 2, 3))
    return first[same], second[same]


def kink(lattice: Lattice, q: np.ndarray) -> tuple[float, float]:
    """The largest jump of places and of slopes where joined elements meet, with the nodes at q (n, 3)."""

    def seen(which: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, gradients = lattice.functions(t)
        own = q[lattice.elements[which]]
        return np.einsum("ka,kai->ki", values, own), np.einsum("kaj,kai->kij", gradients, own)

    jumps, pairs = np.zeros(2), 0
    for axis in range(3):
        first, second = joined(lattice, axis)
        pairs += len(first)
        t = np.random.default_rng(axis).uniform(0.0, 1.0, (len(first), 3))
        t[:, axis] = 1.0
        before = seen(first, t)
        t[:, axis] = 0.0
        after = seen(second, t)
        jumps = np.maximum(jumps, [np.abs(a - b).max(initial=0.0) for a, b in zip(before, after, strict=True)])
    assert pairs >= 8
    return float(jumps[0]), float(jumps[1])


@pytest.mark.parametrize("lattice", LATTICES)
def test_quadratic_functions_are_smooth_where_cells_meet_and_linear_ones_are_kinked(lattice: Lattice) -> None:
    q = lattice.rest + 0.1 * lattice.cell * np.random.default_rng(5).normal(size=lattice.rest.shape)
    place, slope = kink(lattice, q)
    assert place < 1e-13
    if lattice.degree == 2:
        assert slope < 1e-12
    else:
        assert slope > 0.1


@pytest.mark.parametrize(("degree", "nodes"), [(1, 4 * 3 * 3), (2, 5 * 4 * 4)])
def test_a_block_of_full_cells_has_the_nodes_of_a_plain_lattice(degree: int, nodes: int) -> None:
    lattice = lattice_around(blocks(((0, 0, 0), (24, 16, 16))), CELL, degree=degree)
    assert (len(lattice.elements), lattice.point_count) == (12, nodes)
    assert len(np.unique(np.rint(lattice.rest / (0.5 * CELL)), axis=0)) == nodes
    assert lattice.fill == pytest.approx(1.0, abs=1e-12)
    assert (lattice.least == 0.0).all() and lattice.split == 0 and len(lattice.weak) == 0


def tips(mesh: TriMesh, cells: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of either prong from so many cells after the handle's beginning on."""
    beyond = mesh.rest[:, 0] > cells * CELL + 1e-9
    upper = mesh.rest[:, 1] > 4 * FINE
    return np.flatnonzero(beyond & ~upper), np.flatnonzero(beyond & upper)


@pytest.mark.parametrize("degree", [1, 2])
def test_prongs_thinner_than_a_cell_stay_apart(degree: int) -> None:
    """Beyond the `degree` cells that share nodes with the handle, what moves one prong leaves the other."""
    lattice = lattice_around(FORK, CELL, degree=degree)
    assert lattice.split == 8
    low, high = tips(FORK, 1 + degree)
    q = lattice.rest.copy()
    q[np.unique(lattice.embedding[low].indices)] += [0.0, 0.0, 0.3]
    moved = lattice.points(q) - FORK.rest
    assert moved[low] == pytest.approx(np.broadcast_to([0.0, 0.0, 0.3], (len(low), 3)), abs=1e-13)
    assert np.abs(moved[high]).max() < 1e-14
    close = np.linalg.norm(FORK.rest[low][:, None] - FORK.rest[high][None], axis=2).min()
    assert close < 0.5 * CELL


def test_two_bodies_in_one_cell_share_no_node() -> None:
    apart = lattice_around(blocks(((0, 0, 0), (24, 3, 8)), ((0, 4, 0), (24, 8, 8))), CELL)
    halves = [np.unique(apart.embedding[apart.surface.rest[:, 1] * 8 // CELL <= 3.5].indices)]
    halves.append(np.setdiff1d(np.arange(apart.point_count), halves[0]))
    assert apart.split == 6 and len(halves[0]) == len(halves[1]) == 5 * 3 * 3
    one = lattice_around(blocks(((0, 0, 0), (24, 8, 8))), CELL)
    assert one.split == 0 and one.point_count == 5 * 3 * 3


def test_every_vertex_is_on_its_own_side_of_a_gap() -> None:
    """The two faces of the gap, an eighth of a cell apart, go with their own bodies."""
    mesh = blocks(((0, 0, 0), (24, 3, 8)), ((0, 4, 0), (24, 8, 8)))
    for turn in (np.eye(3), Rotation.from_rotvec([0.2, 0.3, -0.4]).as_matrix()):
        lattice = lattice_around(mesh.with_rest(mesh.rest @ turn.T), CELL)
        own = lattice.embedding.indices.reshape(mesh.point_count, -1)
        sides = [np.unique(own[chosen]) for chosen in (mesh.rest[:, 1] < 3.5 * FINE, mesh.rest[:, 1] > 3.5 * FINE)]
        assert len(np.intersect1d(sides[0], sides[1])) == 0


def test_a_part_that_is_inside_out_is_a_body_too() -> None:
    """Of two slabs an eighth of a cell apart one has its faces the other way round: nothing changes."""
    one, two = blocks(((0, 0, 0), (24, 4, 8))), blocks(((0, 0, 0), (24, 2, 8)))
    x = np.concatenate([one.rest, two.rest + [0.0, 5 * FINE, 0.0]])
    sound, mixed = (
        lattice_around(TriMesh(x, np.concatenate([one.faces, faces + len(one.rest)])), CELL)
        for faces in (two.faces, two.faces[:, ::-1])
    )
    assert np.array_equal(sound.elements, mixed.elements) and np.array_equal(sound.owners, mixed.owners)
    assert mixed.volumes == pytest.approx(sound.volumes, rel=1e-12)


@pytest.mark.parametrize(("mesh", "cell"), [(BALL, 0.3), (RING, 0.2), (FORK, CELL)])
def test_volume_and_mass_are_those_of_the_body(mesh: TriMesh, cell: float) -> None:
    exact = volume(mesh.rest, mesh.faces)
    lattice = lattice_around(mesh, cell)
    assert lattice.volumes.sum() == pytest.approx(exact, rel=1e-12)
    masses = lattice.masses(300.0)
    assert masses.sum() == pytest.approx(300.0 * exact, rel=1e-12) and masses.min() > 0.0
    # Each place stands for the body around it, so the centre of mass is right to a small part of a cell.
    a, b, c = (mesh.rest[mesh.faces[:, k]] for k in range(3))
    cones = np.einsum("fi,fi->f", a, np.cross(b, c)) / 6.0
    centre = cones @ (a + b + c) / 4.0 / exact
    assert masses @ lattice.rest / masses.sum() == pytest.approx(centre, abs=0.01 * cell)


@pytest.mark.parametrize("seed", range(3))
def test_samples_find_what_is_inside_however_it_is_turned(seed: int) -> None:
    """Of 12³ cells of eight samples each way about a ring the error is far below a per cent."""
    x = RING.rest @ Rotation.from_rotvec(np.random.default_rng(seed).normal(size=3)).as_matrix().T
    shape = np.full(3, 12)
    p = (x + 1.5) * (SAMPLES / 0.25)
    shares = pieces_inside(np.ascontiguousarray(p), np.array(RING.faces), shape).boxes()[1]
    assert shares.sum() * 0.25**3 == pytest.approx(volume(RING.rest, RING.faces), rel=2e-3)


def test_rays_through_edges_and_vertices_meet_the_surface_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cube whose every vertex and diagonal has a ray through it, without the shift that avoids that: of each two
    opposite sides the samples on one are inside."""
    mesh = block_surface(np.ones((6, 6, 6)), 1.0)
    monkeypatch.setattr(lattice_pieces, "_SHIFTS", ((0.0, 0.0),))
    found = pieces_inside(mesh.rest + 0.5, np.array(mesh.faces), np.ones(3, dtype=np.int64))
    assert (found.labels >= 0).sum() == 6**3
    assert found.boxes()[1].sum() == pytest.approx(6**3 / 8**3, rel=1e-12)


def test_a_hollow_body_is_hollow_and_the_winding_does_not_matter() -> None:
    inner = BALL.rest * 0.6
    faces = np.concatenate([BALL.faces, BALL.faces[:, ::-1] + len(inner)])
    hollow = TriMesh(np.concatenate([BALL.rest, inner]), faces)
    lattice = lattice_around(hollow, 0.25)
    assert lattice.volumes.sum() == pytest.approx((1 - 0.6**3) * volume(BALL.rest, BALL.faces), rel=1e-9)
    once = lattice_around(BALL, 0.45)
    mixed = BALL.faces.copy()
    mixed[::3] = mixed[::3, ::-1]
    for other in (BALL.faces[:, ::-1], mixed):
        again = lattice_around(TriMesh(BALL.rest, other), 0.45)
        assert np.array_equal(once.elements, again.elements)
        assert again.volumes == pytest.approx(once.volumes, rel=1e-12)


def test_a_plate_in_a_cell_has_its_places_of_integration_inside_it() -> None:
    lattice = lattice_around(blocks(((0, 0, 0), (24, 24, 2))), CELL)
    assert lattice.boxes[:, :, 2] == pytest.approx(np.broadcast_to([3 / 8, 5 / 8], (9, 2)), abs=1e-15)
    assert lattice.fill == pytest.approx(0.25, rel=1e-12)
    assert lattice.least == pytest.approx(LEAST_FILL * CELL**3, rel=1e-12)


def test_nodes_that_reach_hardly_any_of_the_body_are_counted() -> None:
    """Outermost nodes of cells that a ball hardly reaches: most of their mass is of what is everywhere."""
    lattice = lattice_around(BALL, 0.4)
    assert 0 < len(lattice.weak) < 0.2 * lattice.point_count
    bare = replace(lattice, least=np.zeros_like(lattice.least))
    little, nothing = (one.masses()[lattice.weak] for one in (lattice, bare))
    assert (nothing < 0.501 * little).all() and little.min() > 0.0
    assert len(bare.weak) == 0


KLEIN = np.stack(np.meshgrid(np.arange(8), np.arange(8), indexing="ij"), axis=-1).reshape(-1, 2)


def klein() -> TriMesh:
    """Closed, two faces to an edge, one side only."""

    def at(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return (i % 8) * 8 + np.where(i < 8, j, -j) % 8

    i, j = KLEIN.T
    a, b, c, d = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
    x = np.random.default_rng(0).normal(size=(64, 3))
    return TriMesh(x, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


def walled() -> TriMesh:
    """Two cubes that share a wall, which is there."""
    cube = block_surface(np.ones((1, 1, 1)), 1.0)
    x = np.concatenate([cube.rest, cube.rest + [1.0, 0.0, 0.0]])
    places, of = np.unique(x, axis=0, return_inverse=True)
    faces = np.concatenate([cube.faces, cube.faces + 8])
    kept = of.reshape(-1)[faces]
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return TriMesh(places, kept[np.sort(first)])


@pytest.mark.parametrize(
    ("mesh", "cell", "told"),
    [
        (TriMesh(BALL.rest, BALL.faces[1:]), 0.3, r"mesh: an open surface has no interior \(got '3 open edges"),
        (TriMesh(*mobius()), 0.3, "an open surface has no interior"),
        (walled(), 0.3, "edges with three or more faces"),
        (
            TriMesh(walled().rest, walled().faces[1:]), 0.3,
            r"(?s)an open surface has no interior.*\n.*edges with three or more faces",
        ),
        (klein(), 0.3, "a surface with one side only has no interior"),
        (TriMesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int)), 0.3, "has no faces"),
        (TriMesh(BALL.rest * np.nan, BALL.faces), 0.3, "not finite"),
        (BALL, 0.0, r"cell: cell must be a length above 0 .*\(got '0.0'\); allowed: up to 2 m"),
        (BALL, -0.1, "cell must be a length"),
        (BALL, np.nan, "cell must be a length"),
        (BALL, np.inf, "cell must be a length"),
        (BALL, "small", "cell must be a length"),
        (BALL, 2.1, "not above the body's own"),
        (BALL, 0.01, r"too many \(got '0.01 m, 8,000,000 cells .*; allowed: up to 100,000; try: cells from"),
        (TriMesh(BALL.rest * [1.0, 1.0, 1e-3], BALL.faces), 1.0, "so thin that no part of it is seen"),
        (BALL.rest, 0.3, "must be a TriMesh"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_body_is_refused(mesh: TriMesh, cell: float, told: str) -> None:
    with pytest.raises(InputError, match=told):
        lattice_around(mesh, cell)


def test_other_degrees_are_refused() -> None:
    with pytest.raises(InputError, match=r"degree: degree must be 1 or 2 \(got '3'\)"):
        lattice_around(BALL, 0.3, degree=3)


def test_more_elements_than_there_is_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_pieces, "MOST_PIECES", 20)
    with pytest.raises(InputError, match=r"cell: the body takes too many cells \(got 'more than 20'\)"):
        lattice_around(BALL, 0.3)


def test_rays_that_do_not_come_out_are_refused() -> None:
    p = np.ascontiguousarray((BALL.rest + 1.0) * (SAMPLES / 0.5))
    with pytest.raises(InputError, match=r"which side of the surface is inside could not be told \(got '\d+ rays"):
        pieces_inside(p, np.array(BALL.faces[:-100]), np.full(3, 4))


@pytest.mark.parametrize(
    ("mesh", "cell", "told"),
    [
        (blocks(((0, 0, 0), (8, 8, 8))), 0.01, "smaller than the surface's edges"),
        (TWICE, 0.45, "the surface goes through itself"),
        (blocks(((0, 0, 0), (8, 8, 8)), ((9, 9, 9), (10, 10, 10))), CELL, "too small to be elements"),
    ],
)  # fmt: skip
def test_what_is_doubtful_is_said(
    mesh: TriMesh, cell: float, told: str, caplog: pytest.LogCaptureFixture
) -> None:  # fmt: skip
    with caplog.at_level(logging.WARNING):
        lattice = lattice_around(mesh, cell)
    assert told in caplog.text
    assert lattice.points(lattice.rest) == pytest.approx(mesh.rest, abs=1e-12)


def test_parts_too_thin_to_be_seen_are_said_and_go_along(caplog: pytest.LogCaptureFixture) -> None:
    """A needle out of a ball: its tip is far from all that is sampled."""
    x = BALL.rest.copy()
    far = int(x[:, 0].argmax())
    x[far] = [2.5, 0.0, 0.0]
    mesh = TriMesh(x, BALL.faces)
    with caplog.at_level(logging.WARNING):
        lattice = lattice_around(mesh, 0.5)
    assert "too thin for the lattice to see" in caplog.text
    assert lattice.points(lattice.rest) == pytest.approx(x, abs=1e-12)
