"""Surfaces filled with tetrahedra: closed, dirty and open ones, the volume given back, the cache, every refusal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mesh_files import surface_of
from mesh_shapes import grid, mobius, sphere, torus, volume
from numpy.typing import NDArray

from bunraku.contracts import InputError
from bunraku.geometry import (
    Surface,
    TetMesh,
    TriMesh,
    check_tets,
    closest_points,
    tetrahedralise,
    tetrahedralised,
    tetwild,
)
from bunraku.geometry.enclosing import enclosed, signed_volume
from bunraku.geometry.inflating import inflated, moved, refitted
from bunraku.geometry.tetrahedralise import ENVELOPE, MOST_TETS, expected_tets


def cone(height: float, radius: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A closed cone with its tip up."""
    turn = np.arange(12) * np.pi / 6
    rim = np.stack([radius * np.cos(turn), radius * np.sin(turn), 0 * turn], axis=1)
    a, b = np.arange(12), (np.arange(12) + 1) % 12
    faces = [np.stack([a, b, 0 * a + 12], axis=1), np.stack([b, a, 0 * a + 13], axis=1)]
    return np.vstack([rim, [[0, 0, height], [0, 0, 0]]]), np.concatenate(faces)


X, F = sphere(2)
BALL = TriMesh(X, F)
FINE = TriMesh(*sphere(3))


class Shelf:
    """A cache in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Mapping[str, NDArray[Any]]] = {}

    def load(self, key: str) -> Mapping[str, NDArray[Any]] | None:
        return self.kept.get(key)

    def store(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.kept[key] = dict(arrays)


@pytest.fixture(scope="module")
def ball() -> TetMesh:
    """A ball as fTetWild fills it, before anything is given back."""
    x, tets = tetwild.run_tetwild(FINE.rest / FINE.size, FINE.faces, 0.1, 0.1 * ENVELOPE, 100.0)
    return TetMesh.oriented(x * FINE.size, tets)


def test_a_ball_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Positive tetrahedra, the surface's volume, near the surface; not a word, not a file."""
    monkeypatch.chdir(tmp_path)
    made = tetrahedralised(BALL)
    check_tets(made.body)
    assert (made.body.volumes > 0).all() and 200 < len(made.body.tets) < 3000
    assert made.volume_deviation == pytest.approx(0.0, abs=1e-6)
    assert made.body.volumes.sum() == pytest.approx(volume(X, F), rel=1e-6)
    assert 0.0 < made.furthest < made.envelope and made.envelope == pytest.approx(ENVELOPE * made.edge)
    assert made.quality.parts == 1 and made.quality.least > 0.2
    assert volume(made.body.surface().rest, made.body.surface().faces) > 0
    assert "volume +0.0%" in str(made).replace("-0.0%", "+0.0%")
    assert list(tmp_path.iterdir()) == [] and capfd.readouterr() == ("", "")


@pytest.mark.skipif(not tetwild.draws_alike(), reason="fTetWild draws the order of insertion by lot on this platform")
def test_the_same_surface_gives_the_same_body() -> None:
    """Made twice, each time in a process of its own, with nothing kept."""
    first, second = (tetrahedralise(BALL, edge=0.6) for _ in range(2))
    assert first.rest.tobytes() == second.rest.tobytes() and np.array_equal(first.tets, second.tets)


@pytest.mark.slow
def test_edges_have_the_length_asked_for() -> None:
    """In metres: half the edge is about eight times the tetrahedra, wherever and however large the ball is."""
    counts = [len(tetrahedralise(TriMesh(1e-3 * FINE.rest + [5, 0, 0], FINE.faces), edge=e).tets) for e in (6e-4, 3e-4)]
    assert counts[1] > 4 * counts[0]


def test_what_fills_and_what_is_given_back(ball: TetMesh) -> None:
    """fTetWild takes some of the volume, drawing towards the surface gives most of it back, inflating the rest."""
    given, envelope = volume(FINE.rest, FINE.faces), 0.1 * ENVELOPE * FINE.size
    lost = 1.0 - ball.volumes.sum() / given
    near = refitted(ball, FINE, envelope)
    assert lost > 0.02 and abs(near.volumes.sum() / given - 1.0) < 0.3 * lost
    back = inflated(near, given, envelope)
    assert back.volumes.sum() == pytest.approx(given, rel=1e-7) and (back.quality >= 0.1).all()
    mean = lambda body: closest_points(FINE.rest, body.surface()).distances.mean()  # noqa: E731
    assert mean(back) < 0.6 * mean(ball)
    assert np.array_equal(back.tets, ball.tets)


def test_volume_that_was_never_there_is_not_made_up(ball: TetMesh) -> None:
    """A surface that counts some of its inside twice says a volume no body can have."""
    assert inflated(ball, 1.2 * float(ball.volumes.sum()), 0.1).rest is ball.rest


def test_drawing_never_turns_a_tetrahedron() -> None:
    """A node that would be pushed through the face opposite stays, as do its neighbours; others move."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    pair = TetMesh.oriented(rest, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    moves = np.array([[-0.1, -0.1, -0.1], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [-2, -2, -2]])
    out = moved(pair, moves, 0.05)
    assert (out.volumes > 0).all() and np.array_equal(out.rest - rest, np.vstack([moves[:1], np.zeros((4, 3))]))
    assert np.array_equal(moved(pair, 0.1 * moves, 0.05).rest, rest + 0.1 * moves)


@pytest.mark.slow
@pytest.mark.parametrize(
    "faces", [F[:, ::-1], np.where(np.arange(len(F))[:, None] % 2, F, F[:, ::-1])], ids=["inside out", "mixed"]
)
def test_faces_that_look_the_wrong_way_do_not_matter(faces: NDArray[np.int64]) -> None:
    made = tetrahedralised(TriMesh(X, faces), edge=0.8)
    assert made.volume_deviation == pytest.approx(0.0, abs=1e-5)


def test_a_hole_is_closed_and_said(caplog: pytest.LogCaptureFixture) -> None:
    """A ball without a cap of a few faces; its volume is not known, so nothing is said of it."""
    open_ball = TriMesh(X, F[X[F].mean(axis=1)[:, 2] > -0.9])
    made = tetrahedralised(open_ball, edge=0.8)
    assert made.volume_deviation is None and made.body.volumes.sum() == pytest.approx(volume(X, F), rel=0.1)
    assert caplog.text.count("holes of") == 1 and "are closed" in caplog.text


@pytest.mark.slow
def test_parts_and_hollows() -> None:
    """Two balls are two parts; a ball inside a ball, looking inwards, is a hollow."""
    two = tetrahedralised(TriMesh(np.vstack([X, X + 3.0]), np.vstack([F, F + len(X)])))
    assert two.quality.parts == 2 and two.body.part_count == 2
    assert any("2 parts" in one for one in two.quality.sentences())
    hollow = tetrahedralised(TriMesh(np.vstack([X, 0.5 * X]), np.vstack([F, F[:, ::-1] + len(X)])))
    assert hollow.body.volumes.sum() == pytest.approx(volume(X, F) * 7 / 8, rel=1e-4)


def test_a_surface_as_a_file_has_it() -> None:
    """Quads with split points: welded on the way."""
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=np.float64)
    quads = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
    split = Surface(corners[quads.reshape(-1)], np.full(6, 4), np.arange(24))
    assert tetrahedralise(split, edge=0.6).volumes.sum() == pytest.approx(1.0, rel=1e-6)


def one_triangle() -> TriMesh:
    return TriMesh(X[:3], np.array([[0, 1, 2]]))


def with_nan() -> TriMesh:
    x = X.copy()
    x[3, 1] = np.nan
    return TriMesh(x, F)


@pytest.mark.parametrize(
    ("mesh", "asked", "story"),
    [
        (TriMesh(*grid(4, 4)), {}, "the surface is open, so it has no inside .*holes of 100% of its area"),
        (one_triangle(), {}, "the surface is open"),
        (TriMesh(X, F[X[F].mean(axis=1)[:, 2] > 0]), {}, "holes of 51% of its area"),
        (TriMesh(*mobius()), {}, "one side only"),
        (TriMesh(np.zeros((0, 3)), np.zeros((0, 3), int)), {}, "mesh: has no faces"),
        (with_nan(), {}, "mesh, vertices 3: coordinates are not finite"),
        (BALL, {"edge": 0.0}, "edge: must be a length above 0"),
        (BALL, {"edge": float("nan")}, "edge: must be a length"),
        (BALL, {"edge": 5.0}, r"edge: .*up to 3.46 m; 0.346 m is the edge taken"),
        (BALL, {"edge": "small"}, "edge: must be a length"),
        (BALL, {"envelope": -1.0}, "envelope: must be a length"),
        (BALL, {"edge": 1e-3}, r"too many tetrahedra \(got 'about 3.*allowed: up to 1,000,000; try: edges from 0.0"),
        (BALL, {"edge": 0.05, "patience": 0.01}, "could not be filled .*not finished after 0.01 s"),
        (TriMesh(X * [1, 1, 1e-7], F), {}, "encloses nothing|thin"),
    ],
)  # fmt: skip
def test_refusals(mesh: TriMesh, asked: dict[str, Any], story: str) -> None:
    with pytest.raises(InputError, match=story) as refused:
        tetrahedralise(mesh, **asked)
    assert "\n" not in str(refused.value)


def test_without_the_wheel_a_sentence_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tetwild, "WHEEL", "no_such_wheel")
    with pytest.raises(InputError, match="'pytetwild', which is not installed; try: pip install pytetwild"):
        tetrahedralise(BALL)


def test_the_wheel_asks_for_nothing_else() -> None:
    """Neither PyVista nor VTK is imported, here or in the child; nor is the package itself here."""
    assert tetwild.wheel_version() is not None
    assert {"pyvista", "vtk", "pytetwild"} & set(sys.modules) == set()


def test_a_failure_in_the_child_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says where it can, its exit code where it cannot."""
    with pytest.raises(tetwild.TetWildFailed, match=r"ended with code -?[1-9]"):
        tetwild.run_tetwild(X, F + 10**8, 0.5, 0.1, 20.0)  # it reads where nothing is
    with monkeypatch.context() as elsewhere, pytest.raises(tetwild.TetWildFailed, match="ImportError: pytetwild"):
        elsewhere.setattr(sys, "path", [])
        tetwild.run_tetwild(X, F, 0.5, 0.1, 20.0)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(tetwild.TetWildFailed, match="ended with code"):
        tetwild.run_tetwild(X, F, 0.5, 0.1, 20.0)


def test_an_interrupt_ends_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while it works."""
    born: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen):
        def communicate(self, *given: Any, **more: Any) -> Any:
            if not born:
                born.append(self)
                raise KeyboardInterrupt
            return super().communicate(*given, **more)

    monkeypatch.setattr(tetwild.subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        tetwild.run_tetwild(X, F, 0.01, 0.001, 100.0)
    assert born[0].returncode is not None and born[0].returncode != 0


def test_a_body_is_made_once() -> None:
    """The same surface and lengths give the same bytes; anything else is made anew; what is damaged too."""
    shelf = Shelf()
    first = tetrahedralised(BALL, edge=0.9, cache=shelf)
    again = tetrahedralised(BALL, edge=0.9, cache=shelf)
    assert not first.from_cache and again.from_cache and len(shelf.kept) == 1
    assert again.body.rest.tobytes() == first.body.rest.tobytes() and np.array_equal(again.body.tets, first.body.tets)
    assert str(again) == str(first) and again.furthest == first.furthest
    assert not tetrahedralised(BALL, edge=0.8, cache=shelf).from_cache
    assert not tetrahedralised(BALL, edge=0.9, envelope=0.2, cache=shelf).from_cache
    assert not tetrahedralised(TriMesh(1.01 * X, F), edge=0.9, cache=shelf).from_cache
    for key in shelf.kept:
        shelf.kept[key] = {"rest": np.zeros((4, 3)), "tets": np.array([[0, 1, 2, 3]])}
    assert not tetrahedralised(BALL, edge=0.9, cache=shelf).from_cache


def test_a_part_that_is_lost_is_looked_for(
    ball: TetMesh, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A ball with a horn that is not in the body: once more with half the envelope, unless that was asked for."""
    tip, base = cone(height=1.2, radius=0.08)
    horned = TriMesh(np.vstack([FINE.rest, tip + [0, 0, 0.95]]), np.vstack([FINE.faces, base + FINE.point_count]))
    middle, tried = 0.5 * (horned.rest.min(axis=0) + horned.rest.max(axis=0)), []

    def hornless(x: Any, faces: Any, edge: float, envelope: float, patience: float) -> Any:
        tried.append(envelope * horned.size)
        return (ball.rest - middle) / horned.size, ball.tets

    monkeypatch.setattr(sys.modules["bunraku.geometry.tetrahedralise"], "run_tetwild", hornless)
    made = tetrahedralised(horned)
    assert tried == pytest.approx([ENVELOPE * made.edge, 0.5 * ENVELOPE * made.edge])
    assert made.envelope == pytest.approx(tried[1]) and made.furthest == pytest.approx(1.15, abs=0.05)
    assert "a thin part was lost: the surface reaches 1.1" in caplog.text
    tried.clear()
    tetrahedralised(horned, envelope=0.1)
    assert tried == pytest.approx([0.1])


def test_how_open_a_surface_is() -> None:
    """A box without its lid is a fifth open; a closed torus is not, and its volume is known."""
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=np.float64)
    sides = np.array([[0, 2, 3], [0, 3, 1], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2],
                      [1, 3, 7], [1, 7, 5]])  # fmt: skip
    box = enclosed(TriMesh(corners, sides))
    assert box.open_share == pytest.approx(0.2) and box.volume is None
    ring = torus()
    found = enclosed(TriMesh(ring[0] + 7.0, ring[1][:, ::-1]))
    assert found.open_share == 0.0 and found.volume == pytest.approx(volume(*ring))
    assert signed_volume(ring[0], found.faces) == pytest.approx(volume(*ring))


def test_expected_counts_are_of_the_right_order() -> None:
    made = tetrahedralised(BALL, edge=0.5)
    inside = enclosed(BALL)
    about = expected_tets(inside.volume or 0.0, inside.area, BALL.size, made.edge, made.envelope)
    assert 1 / 4 < about / len(made.body.tets) < 4 and about < MOST_TETS


@pytest.mark.parametrize("name", ["meshes/horse.obj", pytest.param("meshes/hand.obj", marks=pytest.mark.slow)])
def test_real_animals(name: str) -> None:
    """Some hundred tetrahedra, the volume to a thousandth, one part, the surface where it was."""
    made = tetrahedralised(surface_of(name))
    assert 200 < len(made.body.tets) < 1500 and made.quality.parts == 1 and made.quality.least > 0.1
    assert made.volume_deviation == pytest.approx(0.0, abs=1e-3)
    assert made.furthest < 5.0 * made.envelope


@pytest.mark.parametrize(
    "name",
    [
        "broken/self_intersecting_closed.obj",
        pytest.param("broken/elephant_with_holes.off", marks=pytest.mark.slow),
        pytest.param("broken/openscad_nonmanifold.obj", marks=pytest.mark.slow),
        pytest.param("broken/cracked_cad.stl", marks=pytest.mark.slow),
        pytest.param("meshes/armadillo.obj", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_dirty_surfaces_are_filled(name: str) -> None:
    """Crossings, holes, cracks, crowded edges."""
    made = tetrahedralised(surface_of(name))
    check_tets(made.body)
    assert len(made.body.tets) > 100 and made.quality.usable


def test_a_braid_of_open_strips_is_refused() -> None:
    with pytest.raises(InputError, match="the surface is open"):
        tetrahedralise(surface_of("broken/hair_braid.obj"))
