"""Contact, obstacles, seams and attachments that cannot be: each refused in one sentence that says what to do."""

# wrong kinds are given on purpose
# pyright: reportArgumentType=false

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.geometry import TriMesh, intersecting_faces
from bunraku.testing import sheet

NAN, INF = float("nan"), float("inf")
BALL = bk.sphere((0, -0.1, 0), 0.1, 0.1)
FLOOR = bk.Plane((0, 0, 0), (0, 1, 0))


def lying(height: float = 0.03) -> TriMesh:
    """25 vertices, edges of 0.1 m, about the y axis."""
    flat = sheet(4, 4, length=0.4).rest - 0.2
    return TriMesh(np.stack([flat[:, 0], np.full(25, height), -flat[:, 1]], axis=1), sheet(4, 4).faces)


def still(mesh: TriMesh, frames: int = 3) -> bk.Animation:
    return bk.Animation(mesh, np.arange(frames) / 24, np.array([mesh.rest] * frames))


def lost() -> TriMesh:
    """One vertex is nowhere."""
    mesh = lying()
    return TriMesh(np.where(np.arange(25)[:, None] == 3, NAN, mesh.rest), mesh.faces)


def run(mesh: TriMesh | None = None, *, frames: int = 3, **told: Any) -> bk.Take:
    mesh = lying() if mesh is None else mesh
    return bk.track(still(mesh, frames), mesh, None, threads=1, **{"contact": True, **told})


def refused(what: Callable[[], Any], *said: str) -> None:
    """In one line."""
    with pytest.raises(InputError) as error:
        what()
    message = str(error.value)
    assert len(message.splitlines()) == 1
    for one in said:
        assert one in message


@pytest.mark.parametrize("value", [NAN, INF, -1.0, "0.1", True, 1e300, [1.0]])
@pytest.mark.parametrize("name", ["thickness", "friction", "press", "reach", "balance"])
def test_numbers_of_contact(name: str, value: Any) -> None:
    refused(lambda: bk.Contact(**{name: value}), f"contact: {name} must be a number (got", "allowed: ")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"friction": None}, "friction must be a number (got 'None'); allowed: 0 to 100"),
        ({"press": None}, "press must be a number (got 'None'); allowed: 0 to 10"),
        ({"reach": 0.0}, "reach must be a number (got 0.0); allowed: above 0"),
        ({"self_contact": "yes"}, "self_contact must be True or False (got 'yes')"),
        ({"self_contact": None}, "self_contact must be True or False (got 'None')"),
        ({"obstacles": None}, "contact.obstacles: not obstacles (got 'NoneType'); allowed: a TriMesh"),
        ({"obstacles": "hero"}, "contact.obstacles: not obstacles (got 'str')"),
        ({"obstacles": 5}, "contact.obstacles: not obstacles (got 'int')"),
        ({"obstacles": [BALL, None]}, "contact.obstacles[1]: not an obstacle (got 'NoneType')"),
        ({"obstacles": [TriMesh(BALL.rest, np.zeros((0, 3), int))]}, "contact.obstacles[0]: has no faces"),
        ({"obstacles": [TriMesh(BALL.rest, np.array([*BALL.faces, [0, 0, 1]]))]}, "obstacles[0], faces 32: faces with"),
        ({"obstacles": [TriMesh(BALL.rest * NAN, BALL.faces)]}, "contact.obstacles[0]"),
    ],
)
def test_contact(told: dict[str, Any], said: str) -> None:
    refused(lambda: bk.Contact(**told), said)


def test_all_obstacles_that_do_not_fit_are_named_at_once() -> None:
    with pytest.raises(InputError, match=r"(?s)obstacles\[0\].*\n.*obstacles\[2\]"):
        bk.Contact(obstacles=[None, BALL, "hero"])


def test_one_obstacle_needs_no_list() -> None:
    assert [type(one) for one in bk.Contact(obstacles=BALL).obstacles] == [bk.Obstacle]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"mesh": None}, "hero.mesh: must be a TriMesh (got 'NoneType')"),
        ({"motion": "up"}, "hero: motion must be a function of time (got 'str')"),
        ({"motion": still(BALL)}, "try: of an Animation: motion=animation.at"),
        ({"friction": "much"}, "hero: friction must be a number (got 'much'); allowed: 0 to 100"),
        ({"friction": NAN}, "hero: friction must be a number (got nan)"),
        ({"name": 3}, "the name of an obstacle must be text"),
    ],
)
def test_obstacles(told: dict[str, Any], said: str) -> None:
    refused(lambda: bk.Obstacle(**{"mesh": BALL, "name": "hero", **told}), said)


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        (lambda t: BALL.rest[:5], "hero at 0 s: must keep its vertices while it moves (got '(5, 3) of float64')"),
        (lambda t: BALL.rest if t < 0.05 else np.tile(BALL.rest, (2, 1)), "(36, 3) of float64'); allowed: points (18,"),
        (lambda t: BALL.rest * NAN, "hero at 0 s, vertex 0: moves to where no point is (got [nan, nan, nan])"),
        (lambda t: BALL.rest / (t < 0.05), "vertex 0: moves to where no point is (got [inf"),
        (lambda t: BALL.rest * (1.0 if t < 0.05 else 1e9), "is (got [100000000.0, -100000000.0, 0.0]); allowed: coord"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_motions_that_lose_their_way(motion: Callable[[float], Any], said: str) -> None:
    refused(lambda: run(contact=bk.Contact(obstacles=[bk.Obstacle(BALL, motion, "hero")])), said)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bk.Plane("abc", (0, 1, 0)), "ground.point: three finite numbers are needed (got 'abc')"),
        (lambda: bk.Plane((0, 0, 0), "up"), "ground.normal: three finite numbers are needed (got 'up')"),
        (lambda: bk.Plane((0, 0, 0), (0, 0, 0)), "ground.normal: has no direction (got (0, 0, 0)); try: (0, 1, 0)"),
        (lambda: bk.Plane((0, 0, 0), (0, 1, 0), 3), "the name of a plane must be text (got '3')"),
        (lambda: bk.sphere("abc", 1.0), "centre: three finite numbers are needed (got 'abc')"),
        (lambda: bk.sphere((0, 0, 0), "1"), "the radius must be above zero (got '1'); allowed: metres, up to 1e+06"),
        (lambda: bk.sphere((0, 0, 0), True), "the radius must be above zero (got True)"),
        (lambda: bk.sphere((0, 0, 0), 1.0, "x"), "the edge must be above zero (got 'x')"),
        (lambda: bk.capsule((0, 0, 0), (0, 1, 0), 1e300), "the radius must be above zero (got 1e+300)"),
    ],
)
def test_simple_shapes(make: Callable[[], Any], said: str) -> None:
    refused(make, said)


def test_a_direction_may_have_any_length() -> None:
    for length in (1e-320, 1e-200, 1e300):
        assert bk.Plane((0, 0, 0), (0, length, 0)).normal.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bk.Seam([[0, 1], [2]]), "a seam has pairs of vertices"),
        (lambda: bk.Seam([[0, 1, 2]], shares=["x"]), "has a share a stitch"),
        (lambda: bk.Seam([[0, 1, 2]]), "(got 'no shares'); allowed: (1,) of numbers"),
        (lambda: bk.Seam([[0, 1]], shares=[0.5]), "allowed: shares=None"),
        (lambda: run(seams=bk.Seam([[0, 99]])), "seams[0]: a seam must name vertices of the shell (got '99')"),
        (lambda: run(seams=bk.Seam([[-1, 0]])), "seams[0]: a seam must name vertices of the shell (got '-1')"),
        (lambda: run(seams=bk.Seam([[3, 3]])), "seams[0]: a seam sews a vertex to itself (got '3')"),
        (lambda: run(seams=bk.Seam([[0, 1]])), "seams[0]: a seam sews two corners of a face together"),
        (lambda: run(seams=bk.Seam([[0, 24], [24, 1]])), "seams[0]: a seam sews two corners of a face together"),
        (lambda: run(seams=bk.Seam([[0, 4]], closed=0.0)), "seams[0].closed: there is no time to close it in"),
        (lambda: run(seams=bk.Seam([[0, 4]], closed=-1.0), contact=None), "seams[0].closed: there is no time"),
    ],
)
def test_seams(make: Callable[[], Any], said: str) -> None:
    refused(make, said)


@pytest.mark.slow
def test_stitches_between_pins_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bunraku"):
        run(seams=bk.Seam([[0, 4], [20, 24]]), pins=bk.Pin([0, 4]), frames=1)
    said = [one.getMessage() for one in caplog.records if "pinned" in one.getMessage()]
    assert len(said) == 1 and said[0].startswith("seams[0]: 1 stitches lie between vertices that are pinned")


@pytest.mark.parametrize(
    ("pin", "said"),
    [
        (lambda: bk.Pin([0], axes=3), "pin.axes must name one, two or three of x, y and z (got 3)"),
        (lambda: bk.Pin([0], to=FLOOR), "a plane has no places to be attached to"),
        (lambda: bk.Pin([0], to=lying()), "pin.to must be 'guide', the name of an obstacle"),
        (lambda: bk.Pin([0], to=still(lying()), source=["a"]), "pin.source: a pin needs one vertex"),
        (lambda: bk.Pin([0], to=still(lying()), source=[NAN]), "pin.source: a pin needs one vertex"),
        (lambda: bk.Pin([0], to=still(lying()), source=[0.5]), "(got '0.5'); allowed: 1 of 0 to 24"),
        (lambda: bk.Pin([0], to=(0, 1e300, 0)), "pin.to: coordinates are too large (got '1e+300 m'); allowed: up"),
        (lambda: bk.Pin([0], to=still(lost()), source=[0]), "pin.to, vertices 3: coordinates are not finite (got [nan"),
        (lambda: bk.Pin([0], to="bal"), "unknown pin.to (got 'bal'); allowed: 'guide', 'ball'"),
    ],
)
def test_attachments(pin: Callable[[], bk.Pin], said: str) -> None:
    contact = bk.Contact(obstacles=[bk.Obstacle(BALL, name="ball")])
    refused(lambda: run(pins=pin(), contact=contact), said)


def test_a_name_that_two_obstacles_have_says_nothing() -> None:
    twins = [bk.Obstacle(bk.sphere((x, -0.1, 0), 0.05, 0.05), name="hand") for x in (-0.1, 0.1)]
    refused(lambda: run(pins=bk.Pin([0], to="hand"), contact=bk.Contact(obstacles=twins)), "several obstacles have")
    run(pins=bk.Pin([0], to=twins[1]), contact=bk.Contact(obstacles=twins), frames=1)


@pytest.mark.parametrize("iterations", [1, 7])
def test_iterations_are_not_ignored(iterations: int) -> None:
    refused(lambda: run(iterations=iterations), f"every step runs until it has converged (got {iterations})")
    run(iterations=iterations, contact=None, frames=1)


@pytest.mark.parametrize(
    ("contact", "said"),
    [
        ({"obstacles": [FLOOR], "thickness": 0.034},
         "the shell is 0.03 m from ground, where its thickness keeps 0.034 m open: .*contact.thickness below 0.03 m"),
        ({"obstacles": [bk.Obstacle(BALL, name="ball", thickness=0.06)]},
         "the shell is 0.03 m from ball, where its thickness keeps 0.06 m open: .*try: ball.thickness below 0.03 m"),
        ({"obstacles": [FLOOR], "parts": {"coat": [0]}, "between": bk.Between("coat", "ground", thickness=0.04)},
         "the shell is 0.03 m from ground, where its thickness keeps 0.04 m open: .*contact.between below 0.03 m"),
        ({"obstacles": [bk.Plane((0, 1, 0), (0, 1, 0), "roof")]},
         "vertices 0, 1, 2, 3, 4 and 20 more are up to 0.97 m behind roof: .*try: .* clear of roof"),
        ({"obstacles": [bk.Obstacle(lying(), name="coat")]},
         "faces 0, 1, 2, 3, 4 and 27 more and coat: .*try: .* clear of coat"),
        ({"obstacles": [bk.Obstacle(bk.sphere((0, 0, 0), 0.1, 0.05), name="ball")]}, "faces .* and ball: "),
    ],
)  # fmt: skip
def test_what_is_in_the_way_is_named(contact: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        run(contact=bk.Contact(**contact))
    assert re.match(said, str(error.value)) and "there is no clean pose to begin from" in str(error.value)


def test_faces_that_cut_edge_on_edge_are_named() -> None:
    """A sheet and its mirror image: nowhere does an edge go through the inside of a face."""
    one = lying()
    both = TriMesh(np.concatenate([one.rest, one.rest[:, [1, 0, 2]]]), np.concatenate([one.faces, one.faces + 25]))
    with pytest.raises(InputError, match=r"^faces \d+ and \d+, "):
        run(both)


def test_the_warning_of_a_thickness_that_does_not_fit_tells_both(caplog: pytest.LogCaptureFixture) -> None:
    """Parts of the sheet are 0.1 m / √2 apart: opposite a diagonal."""
    with caplog.at_level(logging.WARNING, "bunraku"):
        run(contact=bk.Contact(thickness=0.3), frames=1)
    (said,) = [one.getMessage() for one in caplog.records]
    assert "0.0707 m apart at rest: half of that, not the thickness of 0.3 m, is kept open" in said


def test_a_shell_that_does_not_feel_itself_keeps_its_thickness(caplog: pytest.LogCaptureFixture) -> None:
    """Two sheets a hundredth of a millimetre apart: only with themselves would they have less."""
    one = lying()
    both = TriMesh(np.concatenate([one.rest, one.rest + [0, 1e-5, 0]]), np.concatenate([one.faces, one.faces + 25]))
    with caplog.at_level(logging.WARNING, "bunraku"):
        take = run(both, contact=bk.Contact(thickness=0.02, self_contact=False, obstacles=[FLOOR]), frames=4)
    assert not caplog.records
    assert take.animation.points[..., 1].min() > 0.02


@pytest.mark.parametrize("reach", [0.3, 10.0, 1e6])
def test_a_reach_in_which_the_shell_would_feel_itself_at_rest(reach: float) -> None:
    refused(
        lambda: run(contact=bk.Contact(reach=reach, thickness=0.0)),
        "contact: reach is more than parts of the shell keep from each other at rest",
        f"(got '{reach:g} m'); allowed: up to 0.0707 m; try: leave it out",
    )
    run(contact=bk.Contact(reach=0.07, thickness=0.0), frames=2)


def test_a_reach_of_more_than_an_edge_where_the_shell_does_not_feel_itself() -> None:
    told = bk.Contact(reach=0.3, thickness=0.0, self_contact=False, obstacles=[FLOOR])
    refused(lambda: run(contact=told), "contact: reach is more than the mean edge of the shell (got '0.3 m')")


@pytest.mark.parametrize("reach", [1e-12, 1e-5])
def test_a_reach_that_no_step_resolves(reach: float) -> None:
    """A thousandth of the mean edge of 0.1 m (2 + √2) / 3."""
    refused(lambda: run(contact=bk.Contact(reach=reach)), f"(got '{reach:g} m'); allowed: from 0.000114 m; try: leave")


def test_the_first_frame_tells_what_is_near() -> None:
    """A sheet starts 1.5 cm above a floor, within the reach of a fifth of its edges."""
    take = run(lying(0.015), contact=bk.Contact(obstacles=[FLOOR]), gravity=(0, 0, 0))
    assert int(take.report["pairs"][0]) == 25
    assert take.report["closest"][0] == pytest.approx(0.015, rel=1e-12)


@pytest.mark.parametrize("name", ["pins", "seams"])
@pytest.mark.parametrize("value", [None, 3])
def test_what_is_no_list_of_pins_or_seams_is_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"{name} must be one or several of a kind \(got .*\(\) for none"):
        run(**{name: value})


@pytest.mark.slow
def test_a_first_pose_to_which_several_turns_lead_is_reached() -> None:
    """The right half folded flat onto the left: turned about the fold, the sheet fits it as well as it does lying."""
    mesh = lying()
    folded = mesh.rest * np.where(mesh.rest[:, :1] > 0.02, [-1.0, 1.0, 1.0], 1.0)
    guide = bk.Animation(mesh, np.arange(2) / 24, np.stack([folded] * 2))
    take = bk.track(guide, mesh, bk.clusters(guide, 4), contact=True, threads=1)
    assert not intersecting_faces(take.animation.points[-1], mesh.faces, touching=True).any()
