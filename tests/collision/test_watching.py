"""What may be near is found, with the toolkit's own search for judge, and hardly anything else is."""

import ipctk
import numpy as np
import pytest

from bunraku.collision.parts import Meeting
from bunraku.collision.toolkit import Pairing
from bunraku.geometry import TriMesh
from bunraku.scenes.study import grid_mesh

REACH, GAP = 0.03, 0.002


def square(side: int) -> TriMesh:
    """Half a metre, of side² vertices."""
    lines = np.linspace(0.0, 0.5, side)
    return grid_mesh(lines, lines)


def crumpled(mesh: TriMesh, seed: int, height: float = 0.06) -> np.ndarray:
    """(n, 3) a sheet folded over and shaken: much of it is near."""
    x, random = mesh.rest.copy(), np.random.default_rng(seed)
    x[:, 0] = np.abs(x[:, 0] - x[:, 0].mean())
    return x + height * random.standard_normal(x.shape)


def sheets(count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Points and faces of sheets on each other, and the vertices of one."""
    mesh = square(6)
    x = np.concatenate([crumpled(mesh, seed, 0.02) + [0.0, 0.0, 0.05 * seed] for seed in range(count)])
    faces = np.concatenate([mesh.faces + k * mesh.point_count for k in range(count)])
    return x, faces, mesh.point_count


def found_by_toolkit(pairing: Pairing, x: np.ndarray) -> set[tuple[int, ...]]:
    """Corners of the pairs that the toolkit finds by itself."""
    mine = pairing.near(x)
    mine.collisions = ipctk.NormalCollisions()
    mine.collisions.build(pairing.mesh, pairing.columns(x), REACH, GAP)
    return rows(mine.corners())


def rows(corners: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(sorted(row)) for row in corners.tolist()}


@pytest.mark.parametrize("seed", range(4))
def test_the_same_pairs_are_near_as_for_the_toolkit_alone(seed: int) -> None:
    mesh = square(9)
    x = crumpled(mesh, seed)
    pairing = Pairing(mesh.rest, mesh.faces, reach=REACH, gap=GAP, movable=mesh.point_count)
    found = rows(pairing.near(x).corners())
    assert len(found) > 100
    assert found == found_by_toolkit(pairing, x)


@pytest.mark.parametrize("among", [True, False])
@pytest.mark.parametrize("meeting", [None, (True, [(0, 1)]), (False, [(0, 1), (2, 2)]), (True, [(0, 0), (1, 2)])])
def test_who_ignores_whom_is_as_the_toolkit_has_it(among: bool, meeting: tuple[bool, list] | None) -> None:
    x, faces, one = sheets(3)  # two of the shell and an obstacle, with a loose vertex of its own
    x = np.concatenate([x, x[:1] + [0.0, 0.01, 0.01]])
    said = None
    if meeting is not None:
        labels = np.minimum(np.arange(len(x)) // one, 2)
        said = Meeting(labels, meeting[1], alone=meeting[0])
    pairing = Pairing(
        x, faces, reach=REACH, gap=GAP, movable=2 * one, among_movable=among, meeting=said
    )  # fmt: skip
    assert rows(pairing.near(x).corners()) == found_by_toolkit(pairing, x)


def test_a_list_serves_the_places_around_it() -> None:
    mesh = square(9)
    pairing = Pairing(mesh.rest, mesh.faces, reach=REACH, gap=GAP, movable=mesh.point_count)
    x, random = crumpled(mesh, 7), np.random.default_rng(8)
    pairing.near(x)
    known = pairing._found
    for _ in range(5):
        way = random.standard_normal(x.shape)
        place = x + 0.7 * REACH * way / np.linalg.norm(way, axis=1)[:, None]
        assert rows(pairing.near(place).corners()) == found_by_toolkit(pairing, place)
    assert pairing._found is known  # and was not made again
    pairing.near(x + [0.0, REACH, 0.0])
    assert pairing._found is not known


@pytest.mark.parametrize("far", [0.02, 0.3])
def test_what_comes_near_on_its_way_is_looked_at(far: float) -> None:
    mesh = square(8)
    pairing = Pairing(mesh.rest, mesh.faces, reach=REACH, gap=GAP, movable=mesh.point_count)
    for seed in range(4):
        x = crumpled(mesh, seed, 0.01)
        end = x + far * np.random.default_rng(20 + seed).standard_normal(x.shape)
        faced, lined = pairing._on_the_way(x, end)
        found = rows(np.column_stack([faced[:, 1], mesh.faces[faced[:, 0]]]))
        found |= rows(np.column_stack([pairing.edges[lined[:, 0]], pairing.edges[lined[:, 1]]]))
        for share in np.linspace(0.0, 1.0, 21):
            near = ipctk.Candidates()
            place = pairing.columns(x + share * (end - x))
            near.build(pairing.mesh, place, GAP)
            touching = _within(near, pairing, mesh, place)
            assert touching <= found


def _within(near: ipctk.Candidates, pairing: Pairing, mesh: TriMesh, x: np.ndarray) -> set[tuple[int, ...]]:
    """Corners of the elements that are within the gap, or through each other as far as distances tell."""
    out = set()
    for one in near.fv_candidates:
        corners = (one.vertex_id, *mesh.faces[one.face_id])
        if ipctk.point_triangle_distance(*(x[k] for k in corners)) <= GAP**2:
            out.add(tuple(sorted(int(k) for k in corners)))
    for one in near.ee_candidates:
        corners = (*pairing.edges[one.edge0_id], *pairing.edges[one.edge1_id])
        if ipctk.edge_edge_distance(*(x[k] for k in corners)) <= GAP**2:
            out.add(tuple(sorted(int(k) for k in corners)))
    return out


def test_a_sheet_that_lies_open_has_no_list() -> None:
    mesh = square(20)
    edge = 0.5 / 19
    pairing = Pairing(mesh.rest, mesh.faces, reach=0.1 * edge, gap=0.0, movable=mesh.point_count)
    assert not pairing._may_meet(mesh.rest, mesh.rest, 0.6 * edge)[0].size
    assert not len(pairing.candidates(pairing.columns(mesh.rest), 0.1 * edge))
