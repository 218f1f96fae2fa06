"""Cells of a lattice as they are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_shapes import sphere, volume
from scipy.spatial.transform import Rotation

from bunraku.contracts import InputError
from bunraku.geometry import LatticeCells, TriMesh, face_areas, lattice_around, lattice_cells
from bunraku.testing import block_surface

ROOM = np.zeros((24, 8, 16), dtype=bool)
ROOM[:, :, :8] = True
ROOM[:8] = True
ANGLE = block_surface(ROOM, 0.1 / 8)
"""three cells and one more at a right angle to them, all full"""


def enclosed(cells: LatticeCells) -> float:
    """[m³] by what is drawn at rest."""
    return volume(cells.mesh.rest + 1.0, cells.mesh.faces)


def drawn(degree: int = 2) -> tuple[LatticeCells, np.ndarray]:
    lattice = lattice_around(ANGLE, 0.1, degree=degree)
    assert len(lattice.elements) == 4
    return lattice_cells(lattice, 3), lattice.rest


@pytest.mark.parametrize("degree", [1, 2])
def test_at_rest_cells_are_cubes_without_walls_between_them(degree: int) -> None:
    """4 cubes of 6 faces less two for each of 3 walls: 18 squares, which together enclose the body itself."""
    cells, nodes = drawn(degree)
    assert cells.points(nodes) == pytest.approx(cells.mesh.rest, abs=1e-14)
    areas = face_areas(cells.mesh.rest, cells.mesh.faces)
    assert areas.sum() == pytest.approx(0.18)
    assert areas[cells.on_rim].sum() == pytest.approx(0.18 * (1.0 - 0.93**2))
    assert enclosed(cells) == pytest.approx(4e-3)  # all look outwards
    low, high = ANGLE.rest.min(axis=0), ANGLE.rest.max(axis=0)
    assert cells.mesh.rest.min(axis=0) == pytest.approx(low) and cells.mesh.rest.max(axis=0) == pytest.approx(high)
    assert np.array_equal(np.unique(cells.elements), np.arange(4))


@pytest.mark.parametrize("degree", [1, 2])
def test_affine_nodes_give_affine_boxes(degree: int) -> None:
    cells, nodes = drawn(degree)
    stretch, shift = np.random.default_rng(5).normal(size=(3, 3)), np.array([1.0, 2.0, -3.0])
    moved = cells.points(nodes @ stretch.T + shift)
    assert moved == pytest.approx(cells.mesh.rest @ stretch.T + shift, abs=1e-12)


def test_bent_boxes_meet_and_do_not_kink_where_they_do() -> None:
    """Faces of neighbouring cells have points of their own, in the same places; quadratic ones go on in the same
    direction there, linear ones do not."""
    turned = {}
    for degree in (1, 2):
        cells, nodes = drawn(degree)
        angle = 4.0 * (nodes[:, 0] - nodes[:, 0].min())
        bent = Rotation.from_rotvec(angle[:, None] * [0.0, 0.0, 1.0]).apply(nodes + [0.0, 0.3, 0.0])
        x = cells.points(bent)
        _, same = np.unique(np.round(cells.mesh.rest, 9), axis=0, return_inverse=True)
        same = same.reshape(-1)
        mean = np.stack([np.bincount(same, x[:, k]) / np.bincount(same) for k in range(3)], axis=1)
        assert np.abs(x - mean[same]).max() < 1e-13
        rest = cells.mesh.rest - ANGLE.rest.min(axis=0)
        edge = (np.abs(rest[:, 1] - 0.1) < 1e-9) & (np.abs(rest[:, 2]) < 1e-9)  # along x, over all three cells
        line = np.unique(np.round(np.column_stack([rest[edge][:, 0], x[edge]]), 12), axis=0)
        slopes = np.diff(line[:, 1:], axis=0) / np.diff(line[:, 0])[:, None]
        border = int(np.abs(line[:, 0] - 0.1).argmin())
        turned[degree] = float(np.linalg.norm(slopes[border] - slopes[border - 1]))
    assert turned[2] < 0.3 * turned[1]


def test_cut_cells_are_drawn_whole_and_what_is_apart_stays_apart() -> None:
    ball = lattice_around(TriMesh(*sphere(3)), 0.45)
    assert ball.fill.min() < 0.5
    assert enclosed(lattice_cells(ball, 1)) == pytest.approx(len(ball.elements) * 0.45**3)
    room = np.zeros((16, 8, 8), dtype=bool)
    room[:8] = True
    room[8:, :3] = room[8:, 5:] = True
    fork = lattice_around(block_surface(room, 0.1 / 8), 0.1)
    assert len(fork.elements) == 3 and len(fork.pieces.links) == 2  # two prongs have a cell together
    cells = lattice_cells(fork, 1)
    assert face_areas(cells.mesh.rest, cells.mesh.faces).sum() == pytest.approx(15 * 0.01)  # each open to the handle


@pytest.mark.parametrize(("steps", "rim"), [(0, 0.1), (65, 0.1), (3, 0.0), (3, 0.5)])
def test_what_cannot_be_drawn_is_refused(steps: int, rim: float) -> None:
    with pytest.raises(InputError, match="cells cannot be drawn so"):
        lattice_cells(lattice_around(ANGLE, 0.1), steps, rim=rim)
