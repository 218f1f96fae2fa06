"""The rotation-strain warp: what it leaves alone, what it turns, its derivatives, and back again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from warped import Warped, bar

from bunraku.contracts import InputError, Outcome
from bunraku.dynamics import Warp, unwarp, unwarped, unwarped_speeds
from bunraku.dynamics.unwarp_kernels import fill_inverses, fill_unmeant
from bunraku.dynamics.warp_kernels import rotation_functions
from bunraku.geometry import TetMesh
from bunraku.testing import falls_as

ANGLES = [1e-9, 1e-3, 0.3, 1.0, 2.0, np.pi, 3.2, 2 * np.pi, 7.0, 20.0]
AXIS = np.array([0.36, -0.48, 0.8])


def about(points: np.ndarray, centre: np.ndarray, turn: np.ndarray) -> np.ndarray:
    return (points - centre) @ Rotation.from_rotvec(turn).as_matrix().T + centre


@pytest.mark.parametrize("angle", ANGLES)
def test_a_linearised_rotation_becomes_the_rotation(angle: float) -> None:
    """Of a free body, about any axis; the translation that comes with it passes."""
    given = bar(False)
    centre = given.mass @ given.mesh.rest / given.mass.sum()
    u = np.cross(angle * AXIS, given.mesh.rest - centre) + np.array([1.0, -2.0, 3.0])
    expected = about(given.mesh.rest, centre, angle * AXIS) + [1.0, -2.0, 3.0]
    assert np.abs(given.warp.points(u.astype(np.float64)) - expected).max() < 1e-13


@pytest.mark.parametrize("angle", ANGLES)
def test_so_does_one_about_an_axis_of_fixed_vertices(angle: float) -> None:
    given = bar(False)
    axis = np.flatnonzero(np.abs(given.mesh.rest[:, 1:]).max(axis=1) < 1e-9)
    turn = np.array([angle, 0.0, 0.0])
    points = Warp(given.mesh, given.mass, axis).points(np.cross(turn, given.mesh.rest))
    assert np.abs(points - about(given.mesh.rest, np.zeros(3), turn)).max() < 1e-13


@pytest.mark.parametrize("held", [False, True])
def test_it_is_the_least_squares_problem_it_says(held: bool) -> None:
    """Gradients by another route, exponentials by SciPy, the minimum by a dense solve over all gradients."""
    given = bar(held, (3, 2, 2), 4)
    mesh, count = given.mesh, given.mesh.point_count
    u = given.modes.displacements(given.pose(0.8))
    operator = np.zeros((3 * len(mesh.tets), count))
    goal = np.zeros((3 * len(mesh.tets), 3))
    for t, tet in enumerate(mesh.tets):
        affine = np.linalg.inv(np.column_stack([np.ones(4), mesh.rest[tet]]))[1:]  # (3, 4) gradients of the corners
        d = u[tet].T @ affine.T
        root = np.sqrt(mesh.volumes[t])
        operator[3 * t : 3 * t + 3, tet] = root * affine
        goal[3 * t : 3 * t + 3] = root * (expm(0.5 * (d - d.T)) @ (np.eye(3) + 0.5 * (d + d.T)) - np.eye(3)).T
    loose = np.setdiff1d(np.arange(count), given.warp.fixed)
    expected = np.zeros((count, 3))
    expected[loose] = np.linalg.lstsq(operator[:, loose], goal, rcond=None)[0]
    if not held:
        expected += given.mass @ (u - expected) / given.mass.sum()
    assert given.warp.displacements(u) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("held", [False, True])
def test_to_first_order_nothing_changes(held: bool) -> None:
    given = bar(held)
    v = given.modes.displacements(given.pose(1.0))
    assert given.warp.velocities(np.zeros_like(v), v) == pytest.approx(v, abs=1e-13)
    assert (given.warp.points(np.zeros_like(v)) == given.mesh.rest).all()
    assert (given.warp.displacements(v)[given.warp.fixed] == 0.0).all()


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("angle", [0.0, 1e-8, 0.5, 1.5, np.pi, 7.0])
def test_both_derivatives_fall_as_differences_do(held: bool, angle: float) -> None:
    """Central differences, h halved: the error falls by four."""
    given = bar(held)
    u, v, w = (given.modes.displacements(given.pose(a, seed)) for a, seed in ((angle, 1), (1.0, 2), (1.0, 3)))
    u = u + np.cross([angle, 0.0, 0.0], given.mesh.rest) * (given.mesh.rest[:, :1] > 0.05)
    warp, steps = given.warp, [1e-2, 5e-3, 2.5e-3]
    first, second = warp.velocities(u, v), warp.curvatures(u, v, w)
    errors, bent = [], []
    for h in steps:
        errors.append(np.abs((warp.points(u + h * v) - warp.points(u - h * v)) / (2 * h) - first).max())
        bent.append(np.abs((warp.velocities(u + h * w, v) - warp.velocities(u - h * w, v)) / (2 * h) - second).max())
    assert errors[0] > 1e-9 and bent[0] > 1e-9
    assert falls_as(2, steps, errors, [1e-12] * 3) and falls_as(2, steps, bent, [1e-11] * 3)
    assert second == pytest.approx(warp.curvatures(u, w, v), abs=1e-12)
    assert warp.accelerations(u, v, w) == pytest.approx(warp.curvatures(u, v, v) + warp.velocities(u, w), abs=1e-12)


def test_the_functions_of_the_angle_do_not_jump_and_are_their_own_derivatives() -> None:
    """Where the series hands over, and against high-order differences of the functions themselves."""
    for s in np.concatenate([np.logspace(-20, 2, 60), [1.0 - 1e-12, 1.0, 1.0 + 1e-12]]):
        a, b, c, db, dc = rotation_functions(s)
        angle = np.sqrt(s)
        assert a == pytest.approx(np.sinc(angle / np.pi), abs=1e-15)
        assert b == pytest.approx(0.5 * np.sinc(0.5 * angle / np.pi) ** 2, abs=2e-15)
        if s > 1e-3:
            assert c == pytest.approx((angle - np.sin(angle)) / angle**3, rel=1e-10)
            h = 1e-3 * s
            ahead, far, behind, back = (rotation_functions(s + k * h) for k in (1, 2, -1, -2))
            for place, slope in ((1, db), (2, dc)):
                found = (8 * (ahead[place] - behind[place]) - (far[place] - back[place])) / (12 * h)
                assert slope == pytest.approx(found, abs=3e-13 / h + 1e-9 * abs(slope))
    left, right = rotation_functions(np.nextafter(1.0, 0.0)), rotation_functions(1.0)
    assert np.abs(np.subtract(left, right)).max() < 2e-15
    assert rotation_functions(0.0) == pytest.approx((1.0, 1 / 2, 1 / 6, -1 / 24, -1 / 120), rel=1e-15)


@pytest.mark.parametrize("angle", [0.3, 2.0, 5.0])
def test_of_one_tetrahedron_the_derivative_is_inverted_exactly(angle: float) -> None:
    """Its gradients always fit together, so only the closed form is between a speed and its meaning."""
    rest = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.3, 1.1]])
    warp, generator = Warp(TetMesh(rest, np.array([[0, 1, 2, 3]])), np.ones(4)), np.random.default_rng(5)
    axis = generator.normal(size=3)
    u = np.cross(angle * axis / np.linalg.norm(axis), rest) + 0.2 * generator.normal(size=(4, 3))
    v = generator.normal(size=(4, 3))
    inverses, local = np.empty((1, 4, 3, 3)), np.empty((1, 4, 3))
    fill_inverses(warp.numbers(u), inverses)
    fill_unmeant(warp.velocities(u, v), warp.mesh.tets, warp.gradients, warp.volumes, inverses, local)
    assert warp.integrated(warp.scattered(local), v) == pytest.approx(v, abs=1e-9)


def test_many_at_once_are_each_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bunraku.dynamics.warp.ONE_THREAD", 0)  # one alone by several threads, as of a large body
    given = bar(False)
    u, v = (given.modes.displacements(np.stack([given.pose(a, s) for s in range(5)])) for a in (0.7, 1.0))
    assert given.warp.points(u)[3] == pytest.approx(given.warp.points(u[3]), abs=1e-14)
    assert given.warp.velocities(u, v)[2] == pytest.approx(given.warp.velocities(u[2], v[2]), abs=1e-13)
    assert given.warp.velocities(u[1], v)[2] == pytest.approx(given.warp.velocities(u[1], v[2]), abs=1e-13)


def test_parts_keep_their_own_mean() -> None:
    """Two parts, one held: what the other does is not seen by it."""
    small = bar(True, (3, 2, 2), 4)
    rest = np.concatenate([small.mesh.rest, small.mesh.rest + [2.0, 0.0, 0.0]])
    mesh = TetMesh(rest, np.concatenate([small.mesh.tets, small.mesh.tets + small.mesh.point_count]))
    warp = Warp(mesh, np.tile(small.mass, 2), small.warp.fixed)
    u = small.modes.displacements(small.pose(0.6))
    both = warp.displacements(np.concatenate([u, u + [0.0, 5.0, 0.0]]))
    assert both[: len(u)] == pytest.approx(small.warp.displacements(u), abs=1e-13)
    alone = Warp(small.mesh, small.mass).displacements(u)
    assert both[len(u) :] == pytest.approx(alone + [0.0, 5.0, 0.0], abs=1e-13)


def turned(given: Warped, angle: float) -> np.ndarray:
    """A displacement of a free body: bent, and turned as a whole."""
    bent = given.modes.displacements(given.pose(0.5))
    return bent + np.cross(angle * AXIS, given.mesh.rest) + [0.5, 0.0, 0.0]


@pytest.mark.parametrize(("held", "angle"), [(True, 0.2), (True, 1.0), (True, 2.5), (False, 1.0)])
def test_the_inverse_finds_the_displacement_back(held: bool, angle: float) -> None:
    """Also beyond π: the tip of the bar that is bent by 2.5 in the mean has gone further round."""
    given = bar(held)
    u = given.modes.displacements(given.pose(angle, 4)) if held else turned(given, angle)
    found = unwarped(given.warp, given.warp.points(u))
    assert found.outcome is Outcome.CONVERGED and found.stats["iterations"] < 12
    assert np.abs(given.warp.displacements(found.value) - given.warp.displacements(u)).max() < 1e-10 * given.mesh.size
    assert found.value == pytest.approx(u, abs=1e-8)
    v = given.modes.displacements(given.pose(1.0, 9))
    assert unwarped_speeds(given.warp, u, given.warp.velocities(u, v)) == pytest.approx(v, abs=1e-9)


def test_a_pose_is_handed_over_to_a_body_that_is_held_elsewhere() -> None:
    """Bent in the wall; then the other end is what stays, in a frame in which it is at rest."""
    given = bar(True)
    far = np.flatnonzero(given.mesh.rest[:, 0] > 0.79)
    u = given.modes.displacements(given.pose(0.5))
    points = given.warp.points(u)
    shift = (given.mass[far] @ (points - given.mesh.rest)[far]) / given.mass[far].sum()
    wanted = points - shift
    wanted[far] = given.mesh.rest[far]
    other = Warp(given.mesh, given.mass, far)
    found = unwarped(other, wanted)
    assert found.outcome is Outcome.CONVERGED
    assert np.abs(other.points(found.value) - wanted).max() < 1e-10 * given.mesh.size
    assert (found.value[far] == 0.0).all()


def test_a_start_says_which_turn_is_meant() -> None:
    """Nothing is known of whole turns; told nearly, a free body turned by 8 rad comes back as such."""
    given = bar(False)
    u = turned(given, 8.0)
    near = u + 1e-3 * given.modes.displacements(given.pose(1.0, 5))
    assert unwarped(given.warp, given.warp.points(u), near).value == pytest.approx(u, abs=1e-8)
    blind = unwarped(given.warp, given.warp.points(u))
    assert blind.outcome is Outcome.CONVERGED and np.abs(blind.value - u).max() > 0.1


def test_a_step_that_goes_too_far_is_shortened_and_a_bad_start_is_no_end() -> None:
    """From rest to a bar bent by a radian: one pose takes shorter steps, another only its own first guess."""
    given = bar(True, (3, 2, 2))  # where nothing is found as much as that is tried, which takes long on larger ones
    still = np.zeros(given.mesh.rest.shape)
    near, far = (given.modes.displacements(given.pose(1.0, seed)) for seed in (3, 2))
    reached = unwarp._newton(given.warp, given.warp.displacements(near), still)
    assert reached.outcome is Outcome.CONVERGED and reached.value == pytest.approx(near, abs=1e-8)
    assert not unwarp._newton(given.warp, given.warp.displacements(far), still).outcome.usable
    assert unwarped(given.warp, given.warp.points(far), still).value == pytest.approx(far, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["mirrored", "tangled"])
def test_points_that_no_displacement_means_are_told_so(how: str) -> None:
    """Every tetrahedron inside out, or points thrown about: a finite answer, how far it is off, and where most."""
    given = bar(True)
    thrown = np.random.default_rng(0).normal(size=given.mesh.rest.shape)
    points = given.mesh.rest * [1.0, 1.0, -3.0] if how == "mirrored" else given.mesh.rest + thrown
    found = unwarped(given.warp, points)
    assert found.outcome is Outcome.NOT_CONVERGED and np.isfinite(found.value).all()
    points[given.warp.fixed] = given.mesh.rest[given.warp.fixed]
    away = np.abs(given.warp.points(found.value) - points).max(axis=1)
    assert found.stats["missed"] == pytest.approx(away.max(), rel=1e-9) and away.max() > 0.1
    assert found.evidence["vertex"] == int(np.argmax(away))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: Warp(bar(True).mesh, bar(True).mass, np.arange(bar(True).mesh.point_count)), "all vertices are fixed"),
        (lambda: Warp(bar(True).mesh, bar(True).mass, np.array([-1])), "is no vertex"),
        (lambda: unwarped(bar(True).warp, np.full(bar(True).mesh.rest.shape, np.nan)), "finite points"),
        (lambda: unwarped(bar(True).warp, np.zeros((3, 3))), "finite points"),
    ],
)
def test_what_cannot_be_meant_is_refused(ask, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ask()


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("angle", [0.3, 2.5, 7.0])
def test_along_a_direction_is_that_of_the_whole(held: bool, angle: float) -> None:
    """Turns that are summed as series, and beyond; more moments than are taken at once, and no multiple of them."""
    given = bar(held)
    generator = np.random.default_rng(3)
    each = np.stack([given.modes.displacements(given.pose(angle * (k + 1) / 21, k)) for k in range(21)])
    ways = generator.normal(size=(21, 3))
    wanted = np.einsum("rni,ri->nr", given.warp.displacements(each), ways)
    found = given.warp.along(np.ascontiguousarray(np.moveaxis(each, 0, 2)), np.ascontiguousarray(ways.T))
    assert np.abs(wanted).max() > 0.1 and found == pytest.approx(wanted, abs=1e-12)
