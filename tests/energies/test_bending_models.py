"""The two bending models on equilateral triangles, where both can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.energies import Bending, plate_compliance
from bunraku.geometry import TriMesh, hinges
from bunraku.materials import MaterialBlend, ShellMaterial

THICKNESS = 0.01


def unit_rigidity(poisson: float) -> ShellMaterial:
    """D = 1."""
    return ShellMaterial(young=12 * (1 - poisson**2) / THICKNESS**3, poisson=poisson, thickness=THICKNESS)


def hexagon() -> TriMesh:
    """Six equilateral triangles of side one around a vertex: each direction of edge twice."""
    angles = np.arange(6) * np.pi / 3
    rest = np.vstack([[0.0, 0.0, 0.0], np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])])
    return TriMesh(rest, np.array([[0, 1 + k, 1 + (k + 1) % 6] for k in range(6)]))


@pytest.mark.parametrize("direction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("curvatures", "exact"),
    [((1.0, 0.0), 0.5), ((1.0, 1.0), 2 / 3), ((1.0, -1.0), 4 / 3)],
    ids=["cylinder", "bowl", "saddle"],
)
def test_equilateral_hinges_are_a_plate_with_poisson_minus_one_third(
    direction: float, curvatures: tuple[float, float], exact: float
) -> None:
    """½ D [(1 − ν) K:K + ν tr²K] per area with ν = −1/3, in any direction. A spoke owns a third of its two triangles.

    Slopes of 1e-4 leave an error of their square.
    """
    mesh, small = hexagon(), 1e-4
    u = np.array([np.cos(direction), np.sin(direction)])
    v = np.array([-u[1], u[0]])
    x = mesh.rest.copy()
    x[:, 2] = 0.5 * small * (curvatures[0] * (x[:, :2] @ u) ** 2 + curvatures[1] * (x[:, :2] @ v) ** 2)
    energy = Bending(mesh, MaterialBlend.uniform(unit_rigidity(0.3), 6), plate=False).elastic(0.0)
    area = 6 * 2 / 3 * np.sqrt(3) / 4
    assert energy.value(x) / area / small**2 == pytest.approx(exact, rel=1e-6)


def test_compliance_of_an_equilateral_plate() -> None:
    """By hand: side 1, D = 1, ν = 0.3 gives C_ii = 0.62388 and C_ij = −0.20091 a face."""
    mesh = hexagon()
    local = plate_compliance(mesh, hinges(mesh), np.ones(6), np.full(6, 0.3)).local
    for face in local:
        held = np.flatnonzero(np.diag(face))
        assert np.diag(face)[held] == pytest.approx(np.full(2, 0.62388), abs=5e-6)
        assert face[held[0], held[1]] == pytest.approx(-0.20091, abs=5e-6)


def test_two_faces_share_one_moment() -> None:
    """A single hinge of two equilateral triangles: C = 2 · 0.62388, so the energy is ½ θ²/C for side one."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, np.sqrt(0.75), 0], [0.5, -np.sqrt(0.75), 0]])
    mesh = TriMesh(rest, np.array([[0, 1, 2], [1, 0, 3]]))
    x = rest.copy()
    x[3] = [0.5, -np.sqrt(0.75) * np.cos(0.4), np.sqrt(0.75) * np.sin(0.4)]
    energy = Bending(mesh, MaterialBlend.uniform(unit_rigidity(0.3), 2)).elastic(0.0)
    assert energy.value(x) == pytest.approx(0.5 * 0.4**2 / (2 * 0.62388), rel=1e-5)
    assert energy.moments(x) == pytest.approx([np.sign(energy.rotations(x)[0]) * 0.4 / (2 * 0.62388)], rel=1e-5)


def pocket(order: tuple[int, ...], flipped: tuple[bool, ...]) -> TriMesh:
    """Three strips of two triangles that share the edge 0–1, and two faces beyond each: faces in any order."""
    rest = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0.1, 0.2], [-1, 0.2, 0], [0.2, 0.3, 1], [1.2, 1, 0], [-1, 1.2, 0.3]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 0, 4], [1, 2, 5], [3, 1, 6]])
    turned = np.where(np.array(flipped)[:, None], faces[:, ::-1], faces)
    return TriMesh(rest, turned[list(order)])


@pytest.mark.parametrize("plate", [True, False])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (2, 0, 1, 4, 3), (1, 3, 2, 0, 4), (4, 2, 3, 1, 0)])
@pytest.mark.parametrize("flipped", [(False,) * 5, (False, True, False, False, True), (True, False, True, True, False)])
def test_where_three_faces_meet_the_energy_knows_no_order(
    plate: bool, order: tuple[int, ...], flipped: tuple[bool, ...]
) -> None:
    """k − 1 moments an edge are a basis: which faces were paired, and how they are wound, cannot matter."""
    x = pocket((0, 1, 2, 3, 4), (False,) * 5).rest + 0.1 * np.random.default_rng(3).normal(size=(7, 3))

    def energy(mesh: TriMesh) -> float:
        return Bending(mesh, MaterialBlend.uniform(unit_rigidity(0.3), 5), plate=plate).elastic(0.0).value(x)

    expected = energy(pocket((0, 1, 2, 3, 4), (False,) * 5))
    assert expected > 1e-3
    assert energy(pocket(order, flipped)) == pytest.approx(expected, rel=1e-9)


def test_an_angle_is_followed_beyond_a_half_turn() -> None:
    """A face turned by 200° in two pieces of 100°: followed between them its angle is 200°, at once it is −160°."""
    mesh = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0]]), np.array([[0, 1, 2], [1, 0, 3]]))

    def folded(degrees: float) -> np.ndarray:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        x = np.array(mesh.rest)
        x[3] = [0.0, -c, s]
        return x

    bending = Bending(mesh, MaterialBlend.uniform(ShellMaterial(young=1e6), 2))
    straight, led = bending.elastic(0.0), bending.elastic(0.0)
    led.follow(folded(100.0))
    at_once = float(straight.rotations(folded(200.0))[0])
    followed = float(led.rotations(folded(200.0))[0])
    assert abs(np.degrees(followed)) == pytest.approx(200.0) and np.degrees(at_once) == pytest.approx(
        np.degrees(followed) - np.sign(followed) * 360.0
    )
    memory = led.follow(folded(200.0))
    assert abs(np.degrees(memory["bending.angles"][0])) == pytest.approx(200.0)
    assert not bending.rest_angles.any()  # the shell's own rest angles are not touched
