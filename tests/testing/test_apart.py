"""The independent check of surfaces that must stay apart: planted crossings are found, free motion is free."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest

from bunraku.collision.toolkit import Pairing
from bunraku.contracts import Points
from bunraku.geometry import TriMesh
from bunraku.testing import CheckFailed, check_apart, icosphere, passings, sheet, survey_apart

FLOOR = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
FACES = np.arange(6).reshape(2, 3)


def two(other: list[list[float]]) -> Points:
    return np.concatenate([FLOOR, np.array(other, dtype=np.float64)])


OVER = two([[0.2, 0.2, 0.1], [0.3, 0.3, 0.9], [0.1, 0.4, 0.8]])
"""a corner over a triangle"""
CROSSED = two([[0.5, -0.4, 0.1], [0.5, 0.5, 0.1], [0.5, -0.4, 0.9]])
"""an edge across a side"""


def moved(x: Points, which: list[int], way: list[float]) -> Points:
    out = x.copy()
    out[which] += way
    return out


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_planted_passings_are_found(scale: float, flip: bool) -> None:
    """Through a face and out again far away, edges through each other, a corner that just touches and turns back."""
    ways = {
        "through the face": (OVER, moved(OVER, [3, 4, 5], [0.0, 0.0, -2.0])),
        "barely through": (OVER, moved(OVER, [3, 4, 5], [0.0, 0.0, -0.1 - 1e-9])),
        "fast": (OVER, moved(OVER, [3, 4, 5], [10.0, 5.0, -70.0])),
        "edges": (CROSSED, moved(CROSSED, [3, 4, 5], [0.0, 0.0, -0.2])),
        "past the middle only": (
            two([[-1, 0.25, 0.1], [-2, 0.2, 0.5], [-2, 0.3, 0.4]]),
            two([[1.5, 0.25, -0.1], [1.5, 0.2, -0.5], [1.5, 0.3, -0.4]]),
        ),
        "the face comes": (OVER, moved(OVER, [0, 1, 2], [0.0, 0.0, 0.3])),
    }
    for name, (begin, end) in ways.items():
        if flip:
            begin, end = end, begin
        found = passings(scale * begin + 0.3 * scale, scale * end + 0.3 * scale, FACES)
        assert len(found) > 0, name


def test_free_motion_is_free() -> None:
    """Near misses by a billionth, sliding over and past, and all together whatever they do."""
    ways = {
        "to a billionth": (OVER, moved(OVER, [3, 4, 5], [0.0, 0.0, -0.1 + 1e-9])),
        "sliding": (OVER, moved(OVER, [3, 4, 5], [-3.0, 0.4, -0.0999])),
        "past the side": (moved(OVER, [3, 4, 5], [-1.0, 0, 0]), moved(OVER, [3, 4, 5], [-1.0, 0, -3.0])),
        "edges": (CROSSED, moved(CROSSED, [3, 4, 5], [3.0, 0.0, -0.1 + 1e-9])),
        "together": (OVER, OVER + [5.0, -3.0, 2.0]),
        "standing": (OVER, OVER),
    }
    for name, (begin, end) in ways.items():
        assert passings(begin, end, FACES) == (), name
        assert len(passings(begin, end, FACES, gap=0.2)) > 0 or name == "past the side"


def test_a_gap_is_kept_or_not() -> None:
    """At 0.1 above a face: a gap of 0.0999 is free, one of 0.1001 is not."""
    end = moved(OVER, [3, 4, 5], [0.05, 0.05, 0.0])
    assert passings(OVER, end, FACES, gap=0.0999) == ()
    assert len(passings(OVER, end, FACES, gap=0.1001)) == 1
    assert [int(v) for v in passings(OVER, end, FACES, gap=0.1001)[0]] == [3, 0]


def test_grazing_errs_on_the_side_of_finding() -> None:
    """A corner that comes down to a face and touches it, within rounding, is found; so is one that starts on it."""
    for end in (moved(OVER, [3], [0.1, 0.0, -0.1]), moved(OVER, [3], [0.0, 0.0, -0.1 + 1e-17])):
        assert len(passings(OVER, end, FACES)) > 0
    on = two([[0.2, 0.2, 0.0], [0.3, 0.3, 0.9], [0.1, 0.4, 0.8]])
    assert len(passings(on, OVER, FACES)) > 0


def test_obstacles_do_not_count_among_themselves() -> None:
    end = moved(OVER, [3, 4, 5], [0.0, 0.0, -2.0])
    assert passings(OVER, end, FACES, movable=0) == ()
    assert len(passings(OVER, end, FACES, movable=3)) > 0
    frames = [two([[0.2, 0.2, -0.5], [0.3, 0.3, 0.9], [0.1, 0.4, 0.8]])] * 2
    far = TriMesh(np.concatenate([[[9.0, 9, 9], [9, 8, 9], [8, 9, 9]], frames[0]]), np.arange(9).reshape(3, 3))
    found = survey_apart(far.faces, [far.rest] * 2, shell=1, movable=3)
    assert found.clean
    assert not survey_apart(far.faces, [far.rest] * 2).clean


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_the_toolkit(seed: int) -> None:
    """On random motions of two sheets and a ball, large and small: the same answer as another method's."""
    generator = np.random.default_rng(seed)
    low, ball = sheet(5, 5, length=1.0), icosphere(1, 0.2)
    parts = [low.rest, low.rest + [0.03, 0.02, 0.1], ball.rest + [0.5, 0.5, 0.4]]
    sizes = np.cumsum([0, *(len(part) for part in parts)])
    faces = np.concatenate([low.faces, low.faces + sizes[1], ball.faces + sizes[2]])
    x = np.concatenate(parts)
    pairing = Pairing(x, faces, reach=0.01, gap=0.0, movable=len(x))
    answers = []
    for size in (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1):
        end = x + size * generator.normal(size=x.shape)
        answers.append(len(passings(x, end, faces)) > 0)
        begin, stop = pairing.columns(x), pairing.columns(end)
        free = ipctk.is_step_collision_free(pairing.mesh, begin, stop, 0.0, None, ipctk.TightInclusionCCD())
        assert answers[-1] == (not free)
    assert not answers[0] and answers[-1]


def test_frames_are_looked_at_one_by_one() -> None:
    """A frame that crosses, a way that passes, a floor that is broken: each is counted where it is."""
    through, below = moved(OVER, [3, 4, 5], [0.0, 0.0, -0.3]), moved(OVER, [3, 4, 5], [0.0, 0.0, -2.0])
    found = survey_apart(
        FACES, [OVER, through, OVER, below, below], planes=[(np.array([0.0, 0, 1]), np.array([0, 0, -0.5]))]
    )
    assert found.crossing.tolist() == [0, 2, 0, 0, 0]
    assert [count > 0 for count in found.passing] == [True, True, True, False]
    assert found.beyond.tolist() == [0, 0, 0, 3, 3]
    with pytest.raises(
        CheckFailed, match="2 faces cross on frame index 1, 1 such in all; 3 vertices are behind a plane"
    ):
        check_apart(
            FACES, [OVER, through, OVER, below, below], planes=[(np.array([0.0, 0, 1]), np.array([0, 0, -0.5]))]
        )
    assert check_apart(FACES, [OVER, moved(OVER, [3, 4, 5], [0.1, 0.0, 0.1])]).clean


def test_on_a_plane_or_within_its_gap_is_beyond_it() -> None:
    """Vertices of the lower triangle at heights 0; only the movable ones are asked."""
    floor = [(np.array([0.0, 0.0, 1.0]), np.zeros(3))]
    just = moved(OVER, [0], [0.0, 0.0, 1e-12])
    for x, gap, movable, count in ((OVER, 0.0, 6, 3), (just, 0.0, 6, 2), (just, 0.05, 6, 3), (just, 0.05, 2, 2)):
        found = survey_apart(FACES, [x], planes=floor, gap=gap, movable=movable, between=False)
        assert found.beyond.tolist() == [count]


@pytest.mark.parametrize(
    ("other", "met"),
    [
        ([[0.2, 0.2, 0.0], [0.3, 0.3, 0.9], [0.1, 0.4, 0.8]], True),  # a corner on the face
        ([[0.3, -0.1, 0.0], [0.3, 0.4, 0.0], [0.3, 0.1, 0.5]], True),  # an edge in its plane
        ([[0.1, 0.1, 0.0], [0.3, 0.1, 0.0], [0.1, 0.3, 0.0]], True),  # inside it
        ([[1.0, 0.0, 0.0], [1.5, 0.2, 0.1], [1.4, -0.2, 0.2]], True),  # corner on corner, two vertices
        ([[0.2, 0.2, 1e-9], [0.3, 0.3, 0.9], [0.1, 0.4, 0.8]], False),  # just above
    ],
)
def test_touching_counts_on_a_frame(other: list[list[float]], met: bool) -> None:
    assert bool(survey_apart(FACES, [two(other)]).crossing[0]) == met


def test_neighbours_may_have_their_vertices_in_common() -> None:
    """A sheet touches itself along every edge and is clean; folded through itself it is not."""
    cloth = sheet(6, 6, length=1.0)
    bent = cloth.rest + np.stack([np.zeros(49), np.zeros(49), 0.2 * np.sin(5 * cloth.rest[:, 0])], axis=1)
    assert check_apart(cloth.faces, [cloth.rest, bent]).clean
    u = 2.6 * cloth.rest[:, 0] - 1.3
    loop = np.stack([u**2 - 1, cloth.rest[:, 1], u * (u**2 - 1)], axis=1)  # through itself at u = ±1
    assert survey_apart(cloth.faces, [loop]).crossing[0] > 0


def test_what_is_sewn_may_meet_at_its_seam_and_nowhere_else() -> None:
    """Corner on corner, two vertices in one place; and a third triangle through both."""
    meeting = two([[1.0, 0.0, 0.0], [1.5, 0.2, 0.1], [1.4, -0.2, 0.2]])
    seam = np.array([[1, 3]])
    assert survey_apart(FACES, [meeting]).crossing.tolist() == [2]
    assert check_apart(FACES, [meeting], sewn=seam).clean
    through = np.concatenate([meeting, [[0.2, 0.2, -0.5], [0.3, 0.3, 0.9], [0.1, 0.4, 0.8]]])
    faces = np.arange(9).reshape(3, 3)
    assert survey_apart(faces, [through], sewn=seam).crossing.tolist() == [2]
    with pytest.raises(CheckFailed, match="2 faces cross"):
        check_apart(faces, [through], sewn=seam)
