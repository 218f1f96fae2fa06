"""What cannot be planned is refused in a sentence; what is strange is planned, and finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planned import BASE, BLOCK, PULLED, RUBBER, TOP, block, posed

from bunraku.contracts import InputError
from bunraku.direction.plan import Flight, Key, Phase, chain, plan
from bunraku.geometry import TetMesh, tet_bar
from bunraku.materials import SolidMaterial

KEY = posed(0.5, PULLED)
OTHER = Key(0.5, TOP, BLOCK.rest[TOP] + [0.1, 0.0, 0.0])

REFUSED: dict[str, tuple[tuple[Key, ...], dict[str, Any], str]] = {
    "no keys": ((), {}, "nothing is asked for"),
    "a key after the end": ((posed(1.5, PULLED),), {}, "key at 1.5 s: a key lies outside the motion.*0 to 1 s"),
    "a key before the beginning": ((posed(-0.1, PULLED),), {}, "outside the motion"),
    "keys that contradict": ((KEY, OTHER), {}, "two keys at one time ask for different places"),
    "a fixed vertex keyed": ((Key(0.5, [0, 1], np.zeros((2, 3))),), {}, "asks for vertices that are fixed.*0, 1"),
    "all fixed": ((KEY,), {"fixed": np.arange(BLOCK.point_count)}, "all vertices are fixed"),
    "no such fixed": ((KEY,), {"fixed": [4000]}, r"fixed must name vertices of the body \(got '4000'\)"),
    "fixed by name": ((KEY,), {"fixed": ["foot"]}, "fixed must be a list of whole numbers"),
    "no such vertex": ((Key(0.5, [4000], np.zeros((1, 3))),), {}, "a key must name vertices of the body"),
    "no time": ((KEY,), {"duration": 0.0}, "a motion needs a duration"),
    "no modes": ((KEY,), {"modes": 0}, "modes must be a whole number above zero"),
    "too many modes": ((KEY,), {"modes": 10_000}, "more modes than the body has.*allowed: 1 to"),
    "damping below zero": ((KEY,), {"damping": (-1.0, 0.0)}, "damping must be two numbers"),
    "one damping": ((KEY,), {"damping": 0.1}, "damping must be two numbers"),
    "no truth": ((KEY,), {"warp": "yes"}, "warp must be True or False"),
    "half free": ((KEY,), {"free": (True,)}, "free must be True or False, or two of them"),
    "materials without tets": ((KEY,), {"material": [RUBBER, RUBBER]}, "several materials need to know"),
    "tets without materials": ((KEY,), {"of_tet": np.zeros(len(BLOCK.tets), int)}, "several materials need to know"),
    "no such material": (
        (KEY,),
        {"material": [RUBBER], "of_tet": np.ones(len(BLOCK.tets), int)},
        "of every tetrahedron",
    ),
    "a speed beyond light": (
        (Key(0.5, TOP, velocities=(1e300, 0, 0)),),
        {},
        "a speed beyond all bounds.*up to 1e[+]06 m/s",
    ),
    "keys that contradict on a circle": (
        (posed(0.0, PULLED), Key(1.0, TOP, BLOCK.rest[TOP])),
        {"circular": True},
        "two keys at one time ask for different places",
    ),
    "keys that no frame shows apart": (
        (KEY, Key(0.5 + 1e-8, TOP, BLOCK.rest[TOP])),
        {},
        "two keys nearer in time than any frame ask for different places.*m in 1e-08 s.*further apart in time",
    ),
    "keys that no frame of a circle shows apart": (
        (posed(0.0, PULLED), Key(1.0 - 1e-7, TOP, BLOCK.rest[TOP])),
        {"circular": True},
        "two keys nearer in time than any frame ask for different places.*m in 1e-07 s",
    ),
    "a circle with ends": ((KEY,), {"circular": True, "free": (False, True)}, "a circular motion has no ends"),
    "damping of truths": ((KEY,), {"damping": (True, False)}, "damping must be two numbers"),
    "no material": ((KEY,), {"material": []}, "a body is made of something"),
    "ragged tets": ((KEY,), {"material": [RUBBER, RUBBER], "of_tet": [[1], [2, 3]]}, "of every tetrahedron"),
    "too much gravity": ((KEY,), {"gravity": (0, -1e300, 0)}, "gravity is beyond all bounds"),
    "no threads": ((KEY,), {"threads": 0}, "threads must be a whole number above zero"),
    "threads by name": ((KEY,), {"threads": "two"}, "threads must be a whole number above zero"),
    "nothing to keep in": ((KEY,), {"cache": "here"}, "nothing that modes could be kept in"),
    "a duration no float holds": ((KEY,), {"duration": 10**400}, "a motion needs a duration"),
    "a ground that is true": ((KEY,), {"ground": True}, "ground must be a height"),
    "another motion": ((KEY,), {"before": KEY}, "before: must be a Motion"),
    "a key far away": ((Key(0.5, TOP, np.full((len(TOP), 3), 1e12)),), {}, "key at 0.5 s"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_cannot_be_planned_is_refused(what: str) -> None:
    keys, given, said = REFUSED[what]
    with pytest.raises(InputError, match=said):
        block(*keys, **given)


NO_KEYS: dict[str, tuple[dict[str, Any], str]] = {
    "no time": ({"time": np.nan}, "a key needs a time in seconds"),
    "nothing said": ({"time": 0.5, "vertices": [1]}, "neither where nor how fast"),
    "a vertex twice": ({"time": 0.5, "vertices": [1, 1], "positions": np.zeros((2, 3))}, "none twice"),
    "half a vertex": ({"time": 0.5, "vertices": [1.5], "positions": np.zeros((1, 3))}, "whole numbers"),
    "too few places": ({"time": 0.5, "vertices": [1, 2], "positions": np.zeros((1, 3))}, r"allowed: \(2, 3\)"),
    "numbers that are none": ({"time": 0.5, "vertices": [1], "positions": [[np.nan, 0, 0]]}, "numbers that are none"),
    "complex places": ({"time": 0.5, "vertices": [1], "positions": np.zeros((1, 3), complex)}, "must be finite"),
    "truths for places": ({"time": 0.5, "vertices": [1], "positions": [[True, False, True]]}, "must be finite"),
    "places no float holds": ({"time": 0.5, "vertices": [1], "positions": [[10**400, 0, 0]]}, "must be finite"),
    "a time no float holds": ({"time": 10**400, "positions": (0, 0, 0)}, "a key needs a time in seconds"),
    "a weight no float holds": ({"time": 0.5, "positions": (0, 0, 0), "weight": 10**400}, "how firmly"),
    "a true weight": ({"time": 0.5, "positions": (0, 0, 0), "weight": True}, "how firmly"),
    "no weight": ({"time": 0.5, "positions": (0, 0, 0), "weight": 0.0}, "how firmly"),
    "turns without end": (
        {"time": 0.5, "vertices": [1], "positions": np.zeros((1, 3)), "turn": (0, 1e5, 0)},
        "key at 0.5 s: a key asks for a turn beyond all bounds.*1e[+]05 rad.*-10000 to 10000 rad",
    ),
    "weight below zero": ({"time": 0.5, "positions": (0, 0, 0), "weight": -np.inf}, "how firmly"),
}


@pytest.mark.parametrize("what", list(NO_KEYS))
def test_what_is_no_key_is_refused(what: str) -> None:
    given, said = NO_KEYS[what]
    with pytest.raises(InputError, match=said):
        Key(**given)


def test_all_findings_are_told_at_once() -> None:
    with pytest.raises(InputError) as told:
        block(posed(2.0, PULLED), Key(0.5, [0], np.zeros((1, 3))))
    assert len(str(told.value).splitlines()) == 2


SOFT = SolidMaterial(young=1e5, poisson=0.3, density=1000.0)
STRANGE: dict[str, tuple[TetMesh, dict[str, Any]]] = {
    "free and undamped": (BLOCK, {"fixed": (), "damping": (0.0, 0.0)}),
    "a thousand oscillations": (BLOCK, {"fixed": BASE, "duration": 2000.0, "damping": (0.0, 0.0)}),
    "a blink": (BLOCK, {"fixed": BASE, "duration": 1e-4}),
    "one fixed vertex": (BLOCK, {"fixed": [0]}),
    "overdamped": (BLOCK, {"fixed": BASE, "damping": (1e4, 10.0)}),
    "a hinge of two vertices": (BLOCK, {"fixed": BASE[:2]}),
    "three in a line": (BLOCK, {"fixed": BASE[:3]}),
    "free and heavy": (BLOCK, {"fixed": (), "damping": (0.0, 0.0), "gravity": (0, -9.81, 0)}),
    "far from the origin": (BLOCK.with_rest(BLOCK.rest + 1e5), {"fixed": BASE}),
    "tiny": (BLOCK.with_rest(1e-3 * BLOCK.rest), {"fixed": BASE}),
    "round and round": (BLOCK, {"fixed": BASE, "circular": True, "damping": (0.0, 0.0)}),
    "free at both ends": (BLOCK, {"fixed": BASE, "free": [True, True]}),
}


@pytest.mark.parametrize("what", list(STRANGE))
def test_what_is_strange_is_planned_and_finite(what: str) -> None:
    body, given = STRANGE[what]
    duration = given.get("duration", 1.0)
    key = Key(0.5 * duration, TOP, body.rest[TOP] + body.size * np.array([0.02, 0.05, 0.0]))
    motion = plan(body, key, **{"material": SOFT, "duration": duration, "modes": 15, **given})
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert np.isfinite(motion.points(share * duration)).all()
        assert np.isfinite(motion.velocities(share * duration)).all()
    met = motion.report["keys"][0]
    assert met.missed < 1e-3 * body.size + met.unreachable and met.unreachable < 5e-3 * body.size


def test_a_single_tetrahedron_moves_in_all_its_modes() -> None:
    one = TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))
    for fixed, modes in (((), 12), ((0,), 9), ((0, 1), 6), ((0, 1, 2), 3)):
        motion = plan(one, Key(0.5, [3], [[0.1, 0.05, 1.1]]), fixed=fixed, material=SOFT, duration=1.0, modes=modes)
        assert motion.report["met"] and motion.report["modes"] == modes
        with pytest.raises(InputError, match=f"allowed: 1 to {modes}"):
            plan(one, Key(0.5, [3], [[0, 0, 1]]), fixed=fixed, material=SOFT, modes=modes + 1)


def test_so_many_modes_are_so_many() -> None:
    """Exactly the lowest k, also where fewer than all rigid ones are asked for: translations come first."""
    for modes in (1, 3, 6, 7, 20):
        motion = block(KEY, fixed=(), modes=modes)
        assert motion.report["modes"] == modes == len(motion.coordinates(0.2))
    moved = block(KEY, fixed=(), modes=3).points(0.5) - BLOCK.rest
    assert np.abs(moved - moved[0]).max() < 1e-12 and np.abs(moved).max() > 0.01


def test_pieces_jump_stand_and_are_handed_on() -> None:
    """Two pieces that do not touch, in as many modes as asked for in flight; one stands while the other is loose."""
    one = tet_bar((1, 3, 1), (0.1, 0.3, 0.1))
    both = TetMesh(
        np.concatenate([one.rest, one.rest + [1.0, 0.0, 0.0]]), np.concatenate([one.tets, one.tets + one.point_count])
    )
    base = np.flatnonzero(both.rest[:, 1] < 1e-9)
    left = base[both.rest[base, 0] < 0.5]
    jump = chain(
        both, [Phase(0.3, base, Key(0.3, None, velocities=(0.0, 1.0, 0.0))), Flight(0.15)], material=SOFT, modes=8
    )
    assert jump.motions[1].report["modes"] == 8 + 2  # and the pose and velocity that are handed on
    lean = Key(0.3, np.flatnonzero(both.rest[:, 1] > 0.29), both.rest[both.rest[:, 1] > 0.29] + [0.03, 0.0, 0.0])
    stands = chain(both, [Phase(0.3, base, lean), Phase(0.3, left, rest=True)], material=SOFT, modes=8)
    for each in (jump, stands):
        x = [each.points(t) for t in (each.begins[1] - 1e-9, each.begins[1], each.duration)]
        assert np.isfinite(x).all() and np.abs(x[1] - x[0]).max() < 1e-7


def test_a_body_in_pieces_moves_piece_by_piece() -> None:
    one = tet_bar((1, 3, 1), (0.1, 0.3, 0.1))
    both = TetMesh(
        np.concatenate([one.rest, one.rest + [1.0, 0.0, 0.0]]), np.concatenate([one.tets, one.tets + one.point_count])
    )
    base = np.flatnonzero(both.rest[:, 1] < 1e-9)
    top = np.flatnonzero((both.rest[:, 1] > 0.3 - 1e-9) & (both.rest[:, 0] < 0.5))
    motion = plan(
        both, Key(0.5, top, both.rest[top] + [0.05, 0.0, 0.0]), fixed=base, material=SOFT, duration=1.0, modes=20
    )
    other = motion.points(0.5)[one.point_count :] - both.rest[one.point_count :]
    assert motion.report["met"] and np.abs(other).max() < 1e-3


FEET, UP = BASE, Key(0.5, None, velocities=(0, 1.0, 0))
CHAINS: dict[str, tuple[Any, str]] = {
    "nothing": ([], "a chain begins with a phase"),
    "a flight first": ([Flight(0.5)], "a chain begins with a phase"),
    "nothing to stand on": ([Phase(1.0, (), KEY)], "stands on vertices that are fixed"),
    "something else": ([Phase(1.0, FEET, KEY), "fly"], r"phases\[1\]: not a phase"),
    "a height never reached": (
        [Phase(0.5, FEET, UP), Flight(5.0)], r"phases\[1\]: flight: the centre of mass never comes to that height"
    ),
    "a name": ("jump", "a chain begins with a phase"),
    "a key where it begins": ([Phase(1.0, FEET, posed(0.0, PULLED))], r"phases\[0\]: key at 0 s: .*says nothing there"),
    "a key where it rests": ([Phase(0.5, FEET, KEY, rest=True)], "has no key at its end"),
    "feet that are none": (
        [Phase(0.5, FEET, UP), Flight(0.4, [4000], [[0, 0, 0]])], r"phases\[1\]: flight: a key must name"
    ),
    "a landing faster than light": (
        [Phase(0.5, FEET, UP), Flight(0.4, BASE, None, (1e300, 0, 0))], r"phases\[1\]: flight: .*beyond all bounds"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", list(CHAINS))
def test_what_is_no_chain_is_refused(what: str) -> None:
    phases, said = CHAINS[what]
    with pytest.raises(InputError, match=said):
        chain(BLOCK, phases, material=RUBBER, modes=8)


def test_all_phases_are_looked_at_before_any_is_planned() -> None:
    with pytest.raises(InputError) as told:
        chain(BLOCK, [Phase(1.0, (), KEY), Flight(0.4, [4000], [[0, 0, 0]]), Phase(1.0, [4000])], material=RUBBER)
    assert [line[:11] for line in str(told.value).splitlines()] == ["phases[0]: ", "phases[1]: ", "phases[2]: "]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"warp": "yes"}, "warp must be True or False"), ({"attach": 1}, "attach must be True or False"),
        ({"ground": "floor"}, "ground must be a height"), ({"threads": -1}, "threads must be a whole number"),
        ({"cache": 3}, "nothing that modes could be kept in"), ({"before": "x"}, "before: must be a Chain"),
        ({"gravity": (0, -1e300, 0)}, "gravity is beyond all bounds"), ({"modes": 0}, "modes must be a whole number"),
        ({"gravity": (0, -1e-9, 0)}, "the flight takes too long"),
    ],
)  # fmt: skip
def test_knobs_of_a_chain_that_mean_nothing(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        chain(BLOCK, [Phase(0.5, FEET, UP), Flight(0.4)], **{"material": RUBBER, "modes": 8, **given})


@pytest.mark.parametrize("time", [np.nan, np.inf, None, "1", 10**400, np.array([0.1, 0.2])])
def test_a_moment_that_is_none(time: Any) -> None:
    alone, several = block(KEY, modes=4), chain(BLOCK, [Phase(0.5, FEET, UP)], material=RUBBER, modes=4)
    for ask in (alone.points, alone.velocities, alone.force, several.points, several.velocities):
        with pytest.raises(InputError, match="a time must be a finite number of seconds"):
            ask(time)


def test_a_key_cannot_be_changed_behind_its_back() -> None:
    own = TOP.copy()
    key = Key(0.5, own, BLOCK.rest[TOP])
    own[0] = 0
    assert key.vertices is not None and key.vertices[0] == TOP[0]
    with pytest.raises(ValueError, match="read-only"):
        key.vertices[0] = 0


def test_what_is_no_phase_is_refused() -> None:
    with pytest.raises(InputError, match="a phase needs a duration"):
        Phase(0.0, FEET)
    with pytest.raises(InputError, match="three numbers"):
        Flight(0.5, turn=(1.0, 2.0))
    with pytest.raises(InputError, match="are of vertices"):
        Flight(0.5, positions=BLOCK.rest[BASE])
    with pytest.raises(InputError, match=r"^flight: a key's weight"):
        Flight(0.5, BASE, BLOCK.rest[BASE], weight=-1)
