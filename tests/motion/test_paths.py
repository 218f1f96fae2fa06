"""Paths: C² through their samples, exact at them, local; what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, InputError
from bunraku.geometry import TetMesh, TriMesh, tet_bar
from bunraku.motion import Animation, Path

TIMES = np.array([0.0, 0.3, 0.5, 1.0, 1.1, 1.6])
POINTS = np.random.default_rng(3).normal(size=(6, 3))
TURNS = Rotation.from_rotvec(np.random.default_rng(4).normal(size=(6, 3))).as_matrix()


def test_samples_are_met_bit_by_bit() -> None:
    path = Path(TIMES, POINTS, rotations=TURNS)
    for k, time in enumerate(TIMES):
        assert np.array_equal(path.at(time), POINTS[k])
        assert np.array_equal(path.rotation(time), TURNS[k])
    assert np.array_equal(path.at(-1.0), POINTS[0]) and np.array_equal(path.at(9.0), POINTS[-1])


def _differences(curve: object, time: float, side: float, h: float) -> tuple[Array, Array]:
    """First and second derivative of a curve from one side of a time, each O(h²)."""
    f = [np.asarray(curve(time + side * k * h)) for k in range(4)]  # type: ignore[operator]
    first = side * (-1.5 * f[0] + 2.0 * f[1] - 0.5 * f[2]) / h
    second = (2.0 * f[0] - 5.0 * f[1] + 4.0 * f[2] - f[3]) / h**2
    return first, second


@pytest.mark.parametrize("kind", ["points", "turns"])
@pytest.mark.parametrize("uneven", [False, True])
def test_the_curve_is_c2_at_its_samples(kind: str, uneven: bool) -> None:
    """Derivatives from the left and from the right agree, and nearer so the smaller the steps they are taken with."""
    times = np.array([0.0, 0.5, 0.6, 1.3, 1.45, 1.6]) if uneven else TIMES
    path = Path(times, POINTS, rotations=TURNS)
    for k in range(1, 5):

        def curve(time: float, k: int = k) -> Array:
            if kind == "points":
                return path.at(time)
            return Rotation.from_matrix(TURNS[k].T @ path.rotation(time)).as_rotvec()

        for order in (0, 1):
            jumps = []
            for h in (4e-3, 2e-3):
                left, right = (_differences(curve, times[k], side, h)[order] for side in (-1.0, 1.0))
                jumps.append(float(np.abs(right - left).max()))
            assert jumps[1] < 0.6 * jumps[0] + 1e-6, (kind, k, order, jumps)
    third = [np.diff([path.at(times[2] + s * k * 1e-2) for k in range(4)], 3, axis=0)[0] / (s * 1e-6) for s in (-1, 1)]
    assert np.abs(third[0] - third[1]).max() > 1.0  # the third does jump: the test can tell


def test_velocity_and_spin_are_the_curves_own() -> None:
    path, h = Path(TIMES, POINTS, rotations=TURNS), 1e-5
    for time in (0.0, 0.2, 0.5, 0.77, 1.1, 1.6):
        low, high = max(time - h, 0.0), min(time + h, 1.6)
        slope = (path.at(high) - path.at(low)) / (high - low)
        assert np.abs(path.velocity(time) - slope).max() < 1e-2 * max(1.0, np.abs(slope).max())
        turned = Rotation.from_matrix(path.rotation(high) @ path.rotation(low).T).as_rotvec() / (high - low)
        assert np.abs(path.spin(time) - turned).max() < 1e-2 * max(1.0, np.abs(turned).max())
    assert not path.velocity(2.0).any() and not path.spin(2.0).any()


def test_parabolas_and_steady_turns_are_reproduced() -> None:
    """Free flight and steady spin need no more than samples of themselves."""
    fall = np.stack([2.0 * TIMES, 1.0 - 4.9 * TIMES**2, TIMES], axis=1)
    turning = Rotation.from_rotvec(np.outer(TIMES, [0.3, 1.2, -0.4])).as_matrix()
    path = Path(TIMES, fall, rotations=turning)
    for time in np.linspace(0.0, 1.6, 23):
        assert np.allclose(path.at(time), [2.0 * time, 1.0 - 4.9 * time**2, time], rtol=0, atol=1e-13)
        exact = Rotation.from_rotvec(time * np.array([0.3, 1.2, -0.4])).as_matrix()
        assert np.allclose(path.rotation(time), exact, rtol=0, atol=1e-13)


def test_a_dash_throws_the_curve_nowhere_else() -> None:
    """A second's stand, half a metre in four frames, a stand again: it swings out no farther than with even times."""
    frames, way = np.array([0.0, 23.0, 27.0, 50.0]), np.array([0.0, 0.0, 0.5, 0.5])
    turns = Rotation.from_rotvec(np.outer(2.0 * way, [0, 1, 0])).as_matrix()
    for times in (frames / 24.0, np.arange(4.0)):
        path = Path(times, np.outer(way, [1, 0, 0]), rotations=turns)
        gone = np.linspace(times[0], times[-1], 400)
        x = np.array([path.at(t)[0] for t in gone])
        assert -0.07 < x.min() < -0.05 and 0.55 < x.max() < 0.57
        angle = np.array([Rotation.from_matrix(path.rotation(t)).as_rotvec()[1] for t in gone])
        assert -0.14 < angle.min() < -0.1 and 1.1 < angle.max() < 1.14


def test_a_moved_knot_changes_only_what_is_near() -> None:
    """Bits, not roundings, two samples away: that is what lets an edit keep frames."""
    times = np.arange(8) * 0.25
    path = Path(times, np.random.default_rng(5).normal(size=(8, 3)))
    other = path.moved(5, [0.0, 2.0, 0.0])
    assert all(np.array_equal(path.at(t), other.at(t)) for t in np.linspace(0.0, times[3], 40))
    assert not np.array_equal(path.at(0.9), other.at(0.9)) and not np.array_equal(path.at(1.4), other.at(1.4))


def test_few_samples() -> None:
    straight = Path(np.arange(2.0), np.array([[0, 0, 0], [2.0, 0, 0]]))
    assert np.allclose(straight.at(0.25), [0.5, 0, 0]) and np.allclose(straight.velocity(0.7), [2, 0, 0])
    still = Path(np.array([0.5]), np.array([[1.0, 2, 3]]))
    assert still.holds(-1.0) and still.holds(7.0) and np.array_equal(still.at(3.0), [1, 2, 3])
    assert not straight.holds(1.1) and straight.holds(1.0) and not straight.holds(-0.1)


def test_quaternions_are_x_y_z_w() -> None:
    quarter = np.array([[0, 0, 0, 1], [0, 0, np.sqrt(0.5), np.sqrt(0.5)]])
    path = Path(np.arange(2.0), np.zeros((2, 3)), rotations=quarter)
    assert np.allclose(path.rotation(1.0) @ [1, 0, 0], [0, 1, 0])
    assert np.allclose(path.spin(0.5), [0, 0, np.pi / 2])


def test_a_path_is_taken_from_a_spline() -> None:
    """On the spline at every time it is asked to be, and near it between."""
    knots = np.array([[0, 0, 0], [1.0, 1, 0], [2, 0, 1], [3, 1, 1], [4, 0, 0]])
    spline = make_interp_spline(np.linspace(0.0, 1.0, 5), knots, k=3)
    times = np.arange(25) / 24.0
    path = Path.along(spline, times, [3, 4], hold="compensation")
    assert np.array_equal(path.points, spline(times)) and path.hold == "compensation"
    between = times[:-1] + 0.5 / 24.0
    assert np.abs(np.stack([path.at(t) for t in between]) - spline(between)).max() < 2e-3
    for curve in (3.0, lambda time: "here", lambda time: (time, 0.0)):
        with pytest.raises(InputError, match=r"curve|a point a sample"):
            Path.along(curve, times)  # type: ignore[arg-type]


def test_a_path_is_taken_from_an_animation() -> None:
    """The middle by volume, not by vertices; the best turn with it."""
    rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -3.0]])
    body = TetMesh.oriented(rest, np.array([[0, 1, 2, 3], [0, 1, 2, 4]]))
    centre = np.array([[0.25, 0.25, 0.25], [0.25, 0.25, -0.75]]).T @ [0.25, 0.75]
    turn = Rotation.from_rotvec([0.0, 0.4, 0.0]).as_matrix()
    animation = Animation(body, np.array([0.0, 1.0]), np.stack([rest, rest @ turn.T + [1, 0, 0]]))
    path = Path.of(animation, turning=True)
    assert np.allclose(path.points[0], centre) and np.allclose(path.points[1], turn @ centre + [1, 0, 0])
    assert np.allclose(path.rotation(1.0), turn)
    locator = Animation(TriMesh(np.zeros((2, 3)), np.zeros((0, 3), int)), np.array([0.0, 1.0]), np.ones((2, 2, 3)))
    part = Path.of(locator, [7, 8], source=[1])
    assert np.array_equal(part.points, np.ones((2, 3))) and list(part.vertices) == [7, 8]  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no such vertices"):
        Path.of(locator, [7, 8])


def test_the_middle_of_a_closed_surface_is_that_of_its_volume() -> None:
    """A body's surface goes where the body does; that of an open one, or of a sheet, by its area."""
    bar = tet_bar((4, 2, 2), (0.6, 0.2, 0.2))
    body = bar.with_rest(bar.rest * np.stack([np.ones(len(bar.rest)), *2 * [1.0 - bar.rest[:, 0]]], axis=1))
    motion = np.stack([body.rest, body.rest @ Rotation.from_rotvec([0.3, 0, 1]).as_matrix().T + [5, 2, 0]])
    own, skin = Path.of(Animation(body, np.arange(2.0), motion)), body.surface()
    outer = motion[:, body.surface_vertices]
    whole = Path.of(Animation(skin, np.arange(2.0), outer))
    assert np.allclose(whole.points, own.points, rtol=0, atol=1e-12)
    away = Path.of(Animation(TriMesh(skin.rest, skin.faces[1:]), np.arange(2.0), outer)).points - own.points
    assert 0.01 < np.linalg.norm(away, axis=1).max() < 0.1
    flat = Animation(skin, np.arange(2.0), outer * [1, 0, 1])
    assert np.isfinite(Path.of(flat).points).all()


@pytest.mark.parametrize(
    ("times", "points", "given", "said"),
    [
        ([0, 0], np.zeros((2, 3)), {}, "sample 1: times must increase"),
        ([0, 1], np.zeros((3, 3)), {}, "a time and a point a sample"),
        ([], np.zeros((0, 3)), {}, "a time and a point a sample"),
        ([0, 1], [[0, 0, 0], [0, np.nan, 0]], {}, "sample 1: points must be finite"),
        ([0, np.inf], np.zeros((2, 3)), {}, "sample 1"),
        ([0, 1], "no", {}, "must be numbers"),
        ([0, 1], np.zeros((2, 3)) + 1j, {}, "must be numbers"),
        ([0, 1], np.ma.masked_less(np.zeros((2, 3)), 1.0), {}, "must be numbers"),
        ([0, 1], np.full((2, 3), 1e200), {}, "path: coordinates are too large"),
        ([0], np.zeros((1, 3)), {"rotations": [np.eye(3) * np.nan]}, "sample 0"),
        ([0, 1], np.zeros((2, 3)), {"hold": "glue"}, "unknown hold"),
        ([0, 1], np.zeros((2, 3)), {"vertices": [1, 1]}, "named twice"),
        ([0, 1], np.zeros((2, 3)), {"vertices": [0.5]}, "whole numbers"),
        ([0, 1], np.zeros((2, 3)), {"vertices": []}, "whole numbers"),
        ([0, 1], np.zeros((2, 3)), {"rotations": np.eye(3)}, "a rotation a sample"),
        ([0], np.zeros((1, 3)), {"rotations": [np.diag([1, 1, -1])]}, "mirrors"),
        ([0], np.zeros((1, 3)), {"rotations": [np.eye(3) * 1.1]}, "stretched"),
        ([0], np.zeros((1, 3)), {"rotations": [np.eye(3)], "vertices": [0]}, "whole body"),
    ],
)  # fmt: skip
def test_what_is_no_path_is_refused(times: object, points: object, given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Path(times, points, **given)  # type: ignore[arg-type]
