"""Garments: vertices attached to a body, and panels sewn around it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dress import coarser, read_dress
from scipy.spatial.transform import Rotation

from bunraku import Animation, Contact, InputError, Obstacle, Pin, Seam, Take, TriMesh, capsule, sphere, track
from bunraku.contracts import Flags, Integers, Points
from bunraku.direction.pins import Bodies, pin_constraint
from bunraku.direction.track.holding import touching
from bunraku.direction.track.seams import seam_constraints, sewn_pairs
from bunraku.geometry import closest_points, faces_through, intersecting_faces
from bunraku.materials import MaterialBlend, as_material
from bunraku.motion import ease
from bunraku.scenes.study import grid_mesh
from bunraku.scenes.tunic import dancing_mannequin, still_panels, tunic_panels

CLOTH = "cotton"


def _still(mesh: TriMesh, count: int = 3, rate: float = 24.0) -> Animation:
    return Animation(mesh, np.arange(count) / rate, np.repeat(mesh.rest[None], count, axis=0))


def _welded(shell: TriMesh, pairs: Integers) -> Integers:
    """Faces of the shell with sewn vertices taken for one."""
    one = np.arange(shell.point_count)
    one[pairs[:, 1]] = pairs[:, 0]
    return one[shell.faces]


def _check_sewn(take: Take, shell: TriMesh, pairs: Integers, bodies: list[Obstacle]) -> None:
    """Seams are closed on every frame, and no triangle meets another or a body."""
    for time, x in zip(take.animation.times, take.animation.points, strict=True):
        assert np.abs(x[pairs[:, 0]] - x[pairs[:, 1]]).max() < 1e-9 * shell.size
        assert not intersecting_faces(x, _welded(shell, pairs), touching=True).any()
        for body in bodies:
            points = np.concatenate([x, body.at(float(time))])
            assert not faces_through(points, shell.faces, body.mesh.faces + len(x), touching=True).any()


# Attachments


def _near_a_body(contact: Contact, shell: TriMesh, take: Take) -> Flags:
    """(t, n) vertices of the shell that have an element within reach of a body."""
    surfaces = contact.surfaces(shell, MaterialBlend.uniform(as_material(CLOTH), len(shell.faces)), 0.0)
    out = np.zeros(take.animation.points.shape[:2], dtype=bool)
    for own, time, x in zip(out, take.animation.times, take.animation.points, strict=True):
        for pairing, size in surfaces.pairings:
            corners = pairing.near(surfaces.together(x, float(time))[:size]).pairs().corners
            own[corners[(corners >= 0) & (corners < len(x))]] = True
    return out


def _turning(mesh: TriMesh) -> Obstacle:
    def motion(time: float) -> Points:
        turn = Rotation.from_rotvec(np.array([0.3, 1.0, -0.5]) * 2.0 * time)
        return turn.apply(np.array(mesh.rest)) + np.array([1.0, 0.5, 0.0]) * time**2

    return Obstacle(mesh, motion, "hero")


def test_attached_vertices_go_with_a_body_as_if_they_were_of_it() -> None:
    body = _turning(capsule((0, -0.2, 0), (0, 0.2, 0), 0.1, 0.05))
    shell = grid_mesh(np.linspace(-0.1, 0.1, 3), np.linspace(0.15, 0.35, 3))
    held = np.arange(3)
    still = _still(shell, 5)
    take = track(still, shell, None, material=CLOTH, pins=Pin(held, to=body), substeps=1, threads=1)
    # The body moves rigidly: so must the attached vertices, to the rounding of points one metre from the origin.
    for time, x in zip(still.times, take.animation.points, strict=True):
        frames = body.at(float(time))
        turn = Rotation.align_vectors(frames - frames.mean(axis=0), body.mesh.rest - body.mesh.rest.mean(axis=0))[0]
        rigid = turn.apply(shell.rest[held] - body.mesh.rest.mean(axis=0)) + frames.mean(axis=0)
        np.testing.assert_allclose(x[held], rigid, rtol=0, atol=1e-9)
    assert take.report["pin_residual"].max() < 1e-12


def test_attached_vertices_stay_clear_of_the_surface_they_are_attached_to() -> None:
    ball = Obstacle(sphere((0, 0, 0), 0.2, 0.05), name="hero")
    on, near, far = ball.mesh.rest[7], 1.001 * ball.mesh.rest[20], 1.5 * ball.mesh.rest[30]
    shell = TriMesh(np.stack([on, near, far]), np.array([[0, 1, 2]]))
    clear = 0.004
    pin = pin_constraint(
        Pin([0, 1, 2], to="hero"), shell, shell.rest, np.ones(3), _still(shell), None, Bodies((ball,), clear)
    )
    goals = pin.goals(0.0).reshape(-1, 3)
    found = closest_points(goals, ball.mesh).distances
    np.testing.assert_allclose(found[:2], clear, rtol=1e-6)
    np.testing.assert_allclose(goals[2], far, rtol=0, atol=1e-12)
    assert (np.linalg.norm(goals, axis=1) > 0.2).all()  # outside, also the one that lay on the surface


def test_attached_vertices_begin_where_they_feel_nothing_of_their_body() -> None:
    """Beyond the gap and the reach of contact: two millimetres above a ball they are lifted out of it."""
    ball = Obstacle(sphere((0, 0, 0), 0.15, 0.05), name="hero")
    shell = grid_mesh(np.linspace(-0.02, 0.02, 3), np.linspace(-0.02, 0.02, 3))
    shell = shell.with_rest(shell.rest + np.array([0.0, 0.152, 0.0]))
    blend = MaterialBlend.uniform(as_material(CLOTH), len(shell.faces))
    surfaces, bodies = touching(Contact(obstacles=[ball], thickness=0.001), (), shell, blend, 0.0, (), shell.rest)
    assert surfaces is not None
    pin = pin_constraint(Pin([4], to="hero"), shell, shell.rest, np.ones(9), _still(shell), None, bodies)
    goal = pin.goals(0.0)
    (away,) = closest_points(goal[None], ball.mesh).distances
    assert away == pytest.approx(0.001 + surfaces.felt_within, rel=1e-6) and away > 0.002


def test_attached_cloth_hangs_from_a_moving_body_and_touches_nothing() -> None:
    ball = sphere((0, 0, 0), 0.15, 0.05)
    body = Obstacle(ball, lambda time: ball.rest + np.array([0.1 * float(ease(time, 0.0, 0.125)), 0.0, 0.0]), "hero")
    shell = grid_mesh(np.linspace(-0.12, 0.12, 5), np.linspace(-0.06, 0.12, 4))
    shell = shell.with_rest(shell.rest + np.array([0.0, 0.155, 0.0]))
    held = np.flatnonzero(shell.rest[:, 2] < -0.05)
    contact = Contact(obstacles=[body], thickness=0.001)
    still = _still(shell, 4)
    take = track(
        still, shell, None, material=CLOTH, pins=Pin(held, to="hero"), contact=contact, threads=1, tolerance=1e-3,
        substeps=1,
    )  # fmt: skip
    away = take.animation.points[:, held] - np.array([0.1, 0.0, 0.0]) * ease(still.times, 0.0, 0.125)[:, None, None]
    missed = np.linalg.norm(away - away[0], axis=2)
    pressed = _near_a_body(contact, shell, take)[:, held]
    assert pressed[1:].any() and not pressed[1:].all()
    assert missed[~pressed].max() < 1e-9 * shell.size
    assert missed.max() < 1e-6 * shell.size  # what is pressed on gives way, if hardly
    assert take.animation.points[-1].mean(axis=0)[0] > 0.05  # the rest of the cloth is carried along
    for time, x in zip(still.times, take.animation.points, strict=True):
        points = np.concatenate([x, body.at(float(time))])
        assert not faces_through(points, shell.faces, ball.faces + len(x), touching=True).any()
        assert not intersecting_faces(x, shell.faces, touching=True).any()


def test_who_to_attach_to_must_be_there() -> None:
    shell = grid_mesh(np.linspace(0, 1, 2), np.linspace(0, 1, 2))
    contact = Contact(obstacles=[Obstacle(sphere((0, 3, 0), 0.2), name="hero")])
    with pytest.raises(InputError, match=r"unknown pin.to .*'her'.*'guide', 'hero'"):
        track(_still(shell), shell, None, pins=Pin([0], to="her"), contact=contact)


# Seams


def _two_panels(count: int = 3, away: float = 0.3) -> tuple[TriMesh, Integers]:
    """Two upright squares, side by side; the facing borders are sewn."""
    flat = grid_mesh(np.linspace(0, 0.2, count), np.linspace(0, 0.2, count))
    right = flat.rest + np.array([0.2 + away, 0.0, 0.02])
    first = np.flatnonzero(flat.rest[:, 0] > 0.2 - 1e-9)
    second = np.flatnonzero(flat.rest[:, 0] < 1e-9) + flat.point_count
    mesh = TriMesh(np.concatenate([flat.rest, right]), np.concatenate([flat.faces, flat.faces + flat.point_count]))
    return mesh, np.stack([first, second], axis=1)


def test_a_seam_is_closed_before_the_first_frame_without_weight() -> None:
    shell, pairs = _two_panels()
    take = track(_still(shell, 2), shell, None, material=CLOTH, seams=Seam(pairs), substeps=1, threads=1)
    x = take.animation.points
    assert np.abs(x[:, pairs[:, 0]] - x[:, pairs[:, 1]]).max() < 1e-9 * shell.size
    assert take.report["seam_residual"].shape == (2, 1) and take.report["seam_residual"].max() < 1e-9
    # Nothing pulled but the seam itself: equal panels meet half-way, and neither has fallen or been stretched.
    np.testing.assert_allclose(x[0].mean(axis=0), shell.rest.mean(axis=0), atol=1e-6)
    sides = np.linalg.norm(np.diff(x[0][shell.faces], axis=1), axis=2)
    rest = np.linalg.norm(np.diff(shell.rest[shell.faces], axis=1), axis=2)
    assert np.abs(sides / rest - 1.0).max() < 0.01


def test_a_seam_closes_while_the_shot_runs() -> None:
    shell, pairs = _two_panels()
    still = _still(shell, 7)
    closed = float(still.times[5])
    take = track(still, shell, None, material=CLOTH, gravity=(0, 0, 0), seams=Seam(pairs, closed=closed), threads=1)
    offset = shell.rest[pairs[:, 0]] - shell.rest[pairs[:, 1]]
    for time, x in zip(still.times, take.animation.points, strict=True):
        left = 1.0 - ease(time, 0.0, closed)
        np.testing.assert_allclose(x[pairs[:, 0]] - x[pairs[:, 1]], left * offset, rtol=0, atol=1e-9)


def test_vertices_may_be_sewn_to_places_between_others_and_all_to_each_other() -> None:
    shell, _ = _two_panels()
    # Three in one place by three stitches, of which one follows from the others; and one half-way along a border.
    seams = [Seam([[2, 9], [9, 0], [0, 2]]), Seam([[5, 12, 15]], shares=[0.25])]
    take = track(_still(shell, 1), shell, None, material=CLOTH, seams=seams, substeps=1, threads=1, gravity=(0, 0, 0))
    x = take.animation.points[-1]
    assert np.ptp(x[[2, 9, 0]], axis=0).max() < 1e-9
    np.testing.assert_allclose(x[5], 0.75 * x[12] + 0.25 * x[15], rtol=0, atol=1e-9)


def test_stitches_that_follow_from_others_or_from_pins_are_left_out() -> None:
    shell, pairs = _two_panels()
    double = [Seam(np.concatenate([pairs, pairs[:, ::-1]])), Seam(pairs)]
    held = np.zeros(shell.point_count, dtype=bool)
    held[pairs[0]] = True
    made = seam_constraints(double, shell, shell.rest, np.ones(shell.point_count), 0.0, held, None)
    assert [one.jacobian.shape[0] for one in made] == [3 * (len(pairs) - 1)]


@pytest.mark.parametrize(
    ("stitches", "more", "said"),
    [
        ([[0, 99]], {}, r"seams\[0\]: a seam must name vertices of the shell .*99"),
        ([[0, -1]], {}, "must name vertices of the shell"),
        ([[4, 4]], {}, "sews a vertex to itself"),
        ([0, 1], {}, "pairs of vertices"),
        ([[0.5, 1.0]], {}, "pairs of vertices"),
        ([[0, 1, 2]], {}, "a share a stitch"),
        ([[0, 1]], {"shares": [0.5]}, "a share a stitch"),
        ([[0, 1, 2]], {"shares": [1.5]}, "between 0 and 1"),
        ([[0, 9]], {"closed": float("nan")}, "time in seconds"),
    ],
)
def test_every_wrong_seam_is_refused(stitches: list, more: dict, said: str) -> None:
    shell, _ = _two_panels()
    with pytest.raises(InputError, match=said):
        track(_still(shell), shell, None, seams=Seam(stitches, **more))


def _tube(half: float) -> tuple[TriMesh, Integers]:
    """Two upright panels, one in front of the z axis and one behind, of twice a width [m]; their borders are sewn."""
    flat = grid_mesh(np.linspace(-half, half, 5), np.linspace(-0.1, 0.1, 3))
    front = flat.rest[:, [0, 2, 1]] + np.array([0.0, 0.0, 0.08])
    count = flat.point_count
    faces = np.concatenate([flat.faces, flat.faces[:, ::-1] + count])
    border = np.flatnonzero(np.abs(np.abs(flat.rest[:, 0]) - half) < 1e-9)
    shell = TriMesh(np.concatenate([front, front * np.array([1, 1, -1])]), faces)
    return shell, np.stack([border, border + count], axis=1)


def _pierced(count: int) -> tuple[Animation, Integers, Integers]:
    """Two sheets over each other; an edge of the upper one goes down through the lower one, a third of an element in
    from its edge there. Also the vertices of both edges."""
    one = grid_mesh(np.linspace(0.0, 0.4, 7), np.linspace(0.0, 0.4, 7))
    n, along = one.point_count, one.rest[:, 0]
    both = TriMesh(np.concatenate([one.rest, one.rest + [0, 0.02, 0]]), np.concatenate([one.faces, one.faces + n]))
    poses = np.repeat(both.rest[None], count, axis=0)
    share = np.arange(count)[:, None] / (count - 1)
    poses[:, n:, 0] += 0.02 * np.minimum(3.0 * share, 1.0)
    poses[:, n:, 1] -= 0.06 * share * np.exp(-((along / 0.08) ** 2))
    edge = np.flatnonzero(along == 0.0)
    return Animation(both, np.arange(count) / 24.0, poses), edge, edge + n


@pytest.mark.slow
@pytest.mark.parametrize("closed", [None, 10.0])
def test_a_seam_that_pins_keep_open_is_no_leave_to_pass_through(closed: float | None) -> None:
    """Both sides of it are pinned to a guide that leads one through the other, which stands."""
    guide, lower, upper = _pierced(6)
    shell, below = guide.mesh, np.arange(guide.mesh.point_count // 2)
    held = np.concatenate([below, upper])
    pin = Pin(held, to=guide, source=held)
    seam = Seam(np.stack([lower, upper], axis=1), closed=closed)
    assert intersecting_faces(guide.points[-1], shell.faces, touching=True).any()
    take = track(guide, shell, None, material=CLOTH, pins=[pin], seams=[seam], contact=True, threads=1)
    for x in take.animation.points:
        assert not intersecting_faces(x, shell.faces, touching=True).any()
    # Attached to a body they are drawn together first, and where they lie together they are one surface.
    blend = MaterialBlend.uniform(as_material(CLOTH), len(shell.faces))
    ball = Obstacle(sphere([0, -9, 0], 1.0), name="b")
    for pins, first, sewn in (
        ([pin], guide.points[0], 0), ([Pin(held, to="b")], guide.points[0], len(lower) if closed is None else 0),
        ([pin], np.tile(shell.rest[below], (2, 1)), len(lower)),
    ):  # fmt: skip
        found = touching(Contact(obstacles=[ball]), [seam], shell, blend, 0.0, pins, first)[0]
        assert found is not None and found.sewn is not None and len(found.sewn) == sewn


def test_a_tube_is_sewn_around_a_rod_and_slides_on_it() -> None:
    rod = Obstacle(capsule((0, -0.5, 0), (0, 0.5, 0), 0.05, 0.05), name="rod")
    shell, pairs = _tube(0.14)
    contact = Contact(obstacles=[rod], thickness=0.001)
    take = track(
        _still(shell, 3), shell, None, material=CLOTH, seams=Seam(pairs), contact=contact, threads=1, tolerance=1e-3,
        substeps=1,
    )  # fmt: skip
    _check_sewn(take, shell, pairs, [rod])


@pytest.mark.slow
def test_seams_of_what_is_too_tight_stay_open_until_they_may_press(caplog: pytest.LogCaptureFixture) -> None:
    """Two panels of 0.12 m around a rod of 0.1 m: a quarter shorter than it is around."""
    rod = Obstacle(capsule((0, -0.5, 0), (0, 0.5, 0), 0.05, 0.05), name="rod")
    shell, pairs = _tube(0.06)

    def apart(contact: Contact) -> float:
        take = track(
            _still(shell, 1), shell, None, material=CLOTH, seams=Seam(pairs), contact=contact, threads=1,
            tolerance=1e-3,
        )  # fmt: skip
        points = np.concatenate([take.animation.points[0], rod.mesh.rest])
        assert not faces_through(points, shell.faces, rod.mesh.faces + shell.point_count, touching=True).any()
        return float(np.abs(np.diff(take.animation.points[0][pairs], axis=1)).max())

    assert apart(Contact(obstacles=[rod], thickness=0.001)) > 0.01
    assert "a shorter contact.reach or more contact.press close them" in caplog.text
    caplog.clear()
    assert apart(Contact(obstacles=[rod], thickness=0.001, reach=0.002, press=0.5)) < 1e-9 * shell.size
    assert not caplog.text


@pytest.mark.slow
def test_a_tunic_is_sewn_around_a_mannequin_and_danced_in() -> None:
    frames, rate, edge = 13, 12.0, 0.05
    shell, pairs = tunic_panels(edge)
    body = dancing_mannequin(frames, rate, edge)
    take = track(
        still_panels(frames, rate, edge), shell, None, material=CLOTH, seams=Seam(pairs),
        contact=Contact(obstacles=[body]), threads=1, tolerance=4e-4,
    )  # fmt: skip
    _check_sewn(take, shell, pairs, [Obstacle(body.mesh, body.at)])
    # It hangs on the shoulders, and has been turned with them.
    middle = take.animation.points[:, : shell.point_count // 2].mean(axis=1)
    assert middle[-1, 1] > 0.9 and np.degrees(np.arctan2(middle[-1, 0], middle[-1, 2])) > 30.0


def test_stitches_hand_on_who_lies_beside_whom() -> None:
    three = Seam([[0, 1], [1, 2]])
    assert sewn_pairs([three], 5).tolist() == [[0, 1], [0, 2], [1, 2]]
    # 5 and 6 lie on the edge 3–4, of which 3 is sewn to 0.
    edge = [Seam([[5, 3, 4], [6, 3, 4]], shares=[0.3, 0.6]), Seam([[0, 3]])]
    found = {tuple(pair) for pair in sewn_pairs(edge, 7).tolist()}
    assert {(0, 3), (3, 5), (4, 5), (3, 6), (4, 6), (0, 5), (0, 6), (5, 6)} <= found
    assert not any(1 in pair or 2 in pair for pair in found)


DRESS = Path(__file__).parents[3] / "shared/data/garments/dress_sewing_panels.obj"


@pytest.mark.slow
@pytest.mark.skipif(not DRESS.exists(), reason="the test data's dress is not there")
def test_the_stitches_of_a_real_dress_close_all_at_once() -> None:
    """14 panels, 94 seams, stitches between vertices and onto edges, several of them in one place."""
    dress = coarser(read_dress(DRESS), 0.04)
    shell, seam = dress.mesh, dress.seam
    first = seam.weights(shell.point_count) @ shell.rest
    assert np.linalg.norm(first, axis=1).max() > 0.2
    take = track(_still(shell, 1), shell, None, material=CLOTH, seams=seam, threads=1, tolerance=1e-3)
    missed = np.linalg.norm(seam.weights(shell.point_count) @ take.animation.points[0], axis=1)
    # Those left out too, for they follow from the others; or nearly so: by less than a tenth of an edge.
    assert (missed < 1e-9 * shell.size).mean() > 0.98 and missed.max() < 0.1 * 0.04
