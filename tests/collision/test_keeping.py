"""What is certain of distances from how points move: never more than is true, and what is left out is never missed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import Generator
from scipy.spatial import KDTree

from bunraku import Animation, Contact, Obstacle, Pin, track
from bunraku.collision import Surfaces, clear, toolkit
from bunraku.collision.keeping import kept
from bunraku.contracts import Faces, Points, State
from bunraku.geometry import TriMesh
from bunraku.scenes.study import grid_mesh

CELL = 0.05


def _sheet(count: int = 21) -> tuple[Points, Faces]:
    mesh = grid_mesh(np.linspace(0.0, CELL * (count - 1), count), np.linspace(0.0, CELL * (count - 1), count))
    return np.array(mesh.rest), mesh.faces


def _turned(x: Points, angle: float) -> Points:
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T


def _way(random: Generator, x: Points) -> Points:
    """A turn, a stretch, waves of some length and noise, of sizes that differ by orders."""
    size = 10.0 ** random.uniform(-4, 0)
    phase, wave = random.uniform(0, 6, 3), random.uniform(0.5, 12.0, 3)
    out = _turned(x * (1.0 + 0.1 * random.normal() * size), random.normal() * min(3.0 * size, 2.0))
    out += 0.3 * size * np.sin(x @ random.normal(size=(3, 3)) * wave + phase) / wave
    return out + 10.0 ** random.uniform(-7, -3) * random.normal(size=x.shape) + random.normal(size=3) * size


def _nearest(begin: Points, end: Points, distance: float, share: float) -> float:
    """The least distance at a share of the way of vertices farther apart than another at its beginning."""
    x = begin + share * (end - begin)
    far = KDTree(x)
    for within in (distance, 4.0 * distance, 1e9):
        pairs = far.query_pairs(within, output_type="ndarray")
        pairs = pairs[np.linalg.norm(begin[pairs[:, 0]] - begin[pairs[:, 1]], axis=1) > distance]
        if len(pairs):
            return float(np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1).min())
    return np.inf


@pytest.mark.parametrize("on_the_way", [True, False])
def test_never_more_is_certain_than_is_true(on_the_way: bool) -> None:
    """Sheets flat, rolled up in layers and crumpled; whatever is said holds for all their vertices."""
    random, told = np.random.default_rng(5), 0
    flat, faces = _sheet()
    rolled = np.stack(
        [
            np.cos(6.0 * flat[:, 0]) * (0.15 + 0.06 * flat[:, 0]),
            np.sin(6.0 * flat[:, 0]) * (0.15 + 0.06 * flat[:, 0]),
            flat[:, 2],
        ],
        1,
    )
    for k in range(60):
        begin = (flat, rolled, _way(random, rolled))[k % 3]
        end, distance = _way(random, begin), CELL * random.uniform(0.3, 1.3)
        found = kept(begin, end, faces, len(begin), distance=distance, least=0.2 * distance, on_the_way=on_the_way)
        if found:
            told += 1
            assert 0.2 * distance < found <= distance
            for share in (0.25, 0.5, 0.75, 1.0) if on_the_way else (1.0,):
                assert _nearest(begin, end, distance, share) >= found * (1 - 1e-12)
    assert 15 <= told <= 55  # neither all nor nothing


def test_turns_and_carrying_cost_nothing() -> None:
    flat, faces = _sheet()
    turned = _turned(flat, 1.0) + [5.0, 0.0, 1.0]
    how = {"distance": 0.02, "least": 0.01}
    assert kept(flat, turned, faces, len(flat), on_the_way=False, **how) == pytest.approx(0.02, rel=2e-4)
    # On the straight way a turn draws everything together, at half of it to cos(1/2).
    found = kept(flat, turned, faces, len(flat), on_the_way=True, **how)
    assert 0.02 * np.cos(1.0) - 1e-5 <= found <= 0.02 * np.cos(0.5)


def test_what_is_squeezed_aslant_comes_together() -> None:
    flat, faces = _sheet()
    aslant = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    squeezed = flat - 0.8 * np.outer(flat @ aslant, aslant)
    for on_the_way in (True, False):
        found = kept(flat, squeezed, faces, len(flat), distance=0.02, least=1e-3, on_the_way=on_the_way)
        assert found == pytest.approx(0.2 * 0.02, rel=1e-3)


def test_a_point_alone_goes_with_all_others() -> None:
    """Its map is a number, wherever it is."""
    begin, faces = np.zeros((3, 3)), np.array([[0, 1, 2]])
    for on_the_way in (True, False):
        assert kept(begin, begin + 1.0, faces, 3, distance=0.02, least=0.01, on_the_way=on_the_way) == pytest.approx(
            0.02
        )
        assert kept(begin, begin + np.eye(3), faces, 3, distance=0.02, least=0.01, on_the_way=on_the_way) == 0.0


def test_what_comes_together_is_not_certain() -> None:
    flat, faces = _sheet()
    two = np.concatenate([flat, flat + [0.0, 0.03, 0.0]])
    both, n = np.concatenate([faces, faces + len(flat)]), len(two)
    nearer = np.array(two)
    nearer[len(flat) :, 1] -= 0.02
    how = {"distance": 0.02, "least": 0.012, "on_the_way": False}
    assert kept(two, nearer, both, n, **how) == 0.0
    assert kept(two, two - [0.0, 0.02, 0.0], both, n, **how) > 0.0
    # Nor if it is far away and fast.
    fast = np.array(two)
    fast[len(flat) :, 1] += 3.0
    assert kept(fast, nearer, both, n, **how) == 0.0
    # What does not count may: only the first sheet is the shell's, the second goes through a third.
    three = np.concatenate([flat + [0.0, 9.0, 0.0], two])
    moved = np.array(three)
    moved[2 * len(flat) :, 1] -= 0.06
    every = np.concatenate([faces, both + len(flat)])
    assert kept(three, moved, every, len(flat), **how) == pytest.approx(0.02)
    assert kept(three, moved, every, len(three), **how) == 0.0
    assert kept(two, np.where(np.arange(n)[:, None] == 7, np.nan, two), both, n, **how) == 0.0


def test_what_is_far_apart_may_meet() -> None:
    """Two small sheets meet from six of their sizes away, while a large one beside them stands: each for itself hardly
    moves against what is about it."""
    large, faces = _sheet()
    small, few = _sheet(2)
    begin = np.concatenate([large, small + [2.0, -0.15, 0.0], small + [2.0, 0.15, 0.0]])
    end = np.array(begin)
    end[len(large) :, 1] *= 0.01
    every = np.concatenate([faces, few + len(large), few + len(large) + len(small)])
    how = {"distance": 0.02, "least": 0.005, "on_the_way": False}
    assert kept(begin, end, every, len(begin), **how) == 0.0
    end[len(large) :, 1] = 0.9 * begin[len(large) :, 1]
    assert kept(begin, end, every, len(begin), **how) > 0.0


def test_faces_that_meet_far_from_their_corners() -> None:
    """Two triangles make a star: they meet in their middles, and corners that move alike are each for themselves."""
    angles = np.arange(3) * (2.0 * np.pi / 3.0)
    lower = np.stack([np.cos(angles), np.zeros(3), np.sin(angles)], axis=1)
    begin = np.concatenate([lower, lower * [-1.0, 1.0, -1.0] + [0.0, 0.03, 0.0]])
    faces = np.arange(6).reshape(2, 3)
    for down, is_certain in ((0.04, False), (0.002, True)):
        end = begin - np.where(np.arange(6) < 3, 0.0, down)[:, None] * [0.0, 1.0, 0.0]
        for on_the_way in (True, False):
            found = kept(begin, end, faces, 6, distance=0.02, least=0.015, on_the_way=on_the_way)
            assert (found > 0.0) == is_certain


def _swing(count: int = 9, frames: int = 8) -> tuple[TriMesh, Animation, Pin]:
    mesh = grid_mesh(np.linspace(0.0, 0.4, count), np.linspace(0.0, 0.4, count))
    still = Animation(mesh, np.arange(frames) / 24.0, np.repeat(mesh.rest[None], frames, axis=0))
    return mesh, still, Pin(np.flatnonzero(mesh.rest[:, 0] == 0.0))


def _looks(monkeypatch: pytest.MonkeyPatch, certain: bool) -> tuple[Points, int]:
    """Where a sheet that swings down onto a ball goes, and how often the toolkit looked for what is near."""
    asked = []
    whole = toolkit.Pairing._candidates
    monkeypatch.setattr(toolkit.Pairing, "_candidates", lambda self, x, reach: asked.append(1) or whole(self, x, reach))
    if not certain:
        monkeypatch.setattr(clear, "kept", lambda *_, **__: 0.0)
    mesh, still, pin = _swing()
    ball = TriMesh(np.array([[0.3, -0.25, 0.1], [0.35, -0.25, 0.3], [0.2, -0.3, 0.2]]), np.array([[0, 1, 2]]))
    contact = Contact(obstacles=[Obstacle(ball, name="ball")])
    take = track(still, mesh, None, material="cotton", pins=pin, contact=contact, threads=1, tolerance=1e-3)
    monkeypatch.undo()
    return take.animation.points, len(asked)


def test_a_swinging_sheet_goes_the_same_way_and_is_looked_at_less(monkeypatch: pytest.MonkeyPatch) -> None:
    points, looks = _looks(monkeypatch, certain=True)
    same, all_looks = _looks(monkeypatch, certain=False)
    assert np.array_equal(points, same)
    assert looks < 0.7 * all_looks


def test_what_is_known_is_of_its_place() -> None:
    flat, faces = _sheet(3)
    both = np.concatenate([faces, faces + 9])

    def apart(distance: float) -> Points:
        return np.concatenate([flat, flat + [0.0, distance, 0.0]])

    # Nothing is told of what candidates from where points were do not hold.
    pairing = toolkit.Pairing(apart(0.0215), both, reach=0.01, gap=1e-3, movable=18)
    assert not len(pairing.near(apart(0.0215)))
    x = pairing.columns(apart(0.0175))
    found = pairing._clear_within(x, pairing._candidates(x, 0.01), toolkit.KINDS["barrier"])
    assert 0.0 < found <= 0.0175
    # What was far apart elsewhere is no farther apart here than is said.
    seen, rough = clear.Clear(both, 18), apart(0.012)
    rough[9::2, 1] -= 0.011
    seen.see(apart(0.05), 0.05)
    assert not seen.stays(apart(0.012), rough, 1e-3, 0.01, 0.1)
    seen.see(apart(0.012) * [1.0, 5.0, 1.0], 0.05)
    assert seen.stays(apart(0.06), apart(0.059), 1e-3, 0.01, 0.1)


def _stepped(random: Generator, x: Points, size: float) -> Points:
    """Two sheets of nine points: each goes its way, is bent a little, and now and then all are carried far."""
    moves = size * random.normal(size=(2, 1, 3)) * [0.3, 1.0, 0.3]
    out = x + np.repeat(moves, 9, axis=0).reshape(18, 3) + 0.1 * size * random.normal(size=x.shape)
    return _turned(out, 0.3 * random.normal()) + random.normal(size=3) if random.random() < 0.3 else out


@pytest.mark.parametrize("plane", [False, True])
def test_walks_find_what_looks_at_every_place_find(plane: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Near pairs and free shares of sheets that come and go, in any order, are those of surfaces that know nothing."""
    random, (flat, faces), left_out, near = np.random.default_rng(3), _sheet(3), 0, 0
    both, certain = np.concatenate([faces, faces + 9]), clear.kept
    knobs = {"reach": 0.01, "gap": 1e-3, "movable": 18}
    knobs |= {"planes": [(np.array([0.0, 1.0, 0.0]), np.array([0.0, -0.02, 0.0]))]} if plane else {}
    for _ in range(12):
        x = np.concatenate([flat, flat + [0.0, random.uniform(0.015, 0.06), 0.0]])
        carried = toolkit.Pairing(x, both, **knobs)  # type: ignore[arg-type]
        for _ in range(10):
            fresh = toolkit.Pairing(x, both, **knobs)  # type: ignore[arg-type]
            reach, end = random.choice([0.01, 0.01, 0.02]), _stepped(random, x, 10.0 ** random.uniform(-3.5, -2.0))
            found = carried.near(x, reach)
            left_out += carried._found is None
            monkeypatch.setattr(clear, "kept", lambda *_, **__: 0.0)
            same = fresh.near(x, reach)
            assert found.closest() == pytest.approx(same.closest(), rel=1e-12)  # infinite if there is none
            near += len(same) > 0
            open_ = min(same.closest() - 1e-3, 0.01)
            goes = fresh.free_share(x, end, open_)
            monkeypatch.setattr(clear, "kept", certain)
            assert carried.free_share(x, end, open_) == pytest.approx(goes, rel=1e-9)
            x = x + 0.9 * goes * (end - x)
            if goes == 0.0:
                break
    assert near > 10 and (plane or left_out > 10)


def test_what_was_certain_does_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs come in the same order, and steps are as long, whether or not earlier steps made it certain that there
    were none. Nor are they looked for by as many threads as steps are measured by, for their order would be any."""
    flat, faces = _sheet(9)
    monkeypatch.setattr(toolkit.numba, "get_num_threads", lambda: 2)
    threads, whole = [], toolkit.Pairing._leave_out_neighbours

    def looked(pairing: toolkit.Pairing, candidates: object) -> None:
        threads.append((candidates is pairing._found, toolkit.ipctk.get_num_threads()))
        whole(pairing, candidates)

    monkeypatch.setattr(toolkit.Pairing, "_leave_out_neighbours", looked)
    shell = TriMesh(np.concatenate([flat, flat + [0.0, 0.03, 0.0]]), np.concatenate([faces, faces + len(flat)]))

    def apart(distance: float) -> Points:
        return np.concatenate([flat, flat + [0.0, distance, 0.0]])

    found, rough = [], np.zeros((2 * len(flat), 3))
    rough[len(flat) :: 2, 1] = -0.0095  # short enough for what was looked for where it begins, and not certain
    for earlier in (False, True):
        surfaces = Surfaces(shell, reach=0.01, gap=1e-3)
        pairing = surfaces.pairings[0][0]
        assert isinstance(pairing, toolkit.Pairing)
        if earlier:
            assert not len(pairing.near(apart(0.022)))
        x, nearer = apart(0.014), apart(0.0105)
        touch = surfaces.at(State(0.0, x.reshape(-1), np.zeros(x.size)), 0.1)
        touch.scale(1.0)
        assert not len(pairing.near(x))
        assert earlier == (pairing._found is None)  # none was needed
        touch.max_step(x, rough)
        share = touch.max_step(x, apart(-0.01) - x)
        near = pairing.near(nearer).corners()
        assert pairing._looked is not None
        found.append((near, pairing._looked[0], share, touch.gradient(nearer)))
    assert len(found[0][0]) > 50 and 0.0 < found[0][2] < 1.0
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)
    assert {count for is_kept, count in threads if is_kept} == {1}
