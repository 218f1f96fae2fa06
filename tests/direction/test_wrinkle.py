"""Skins on bodies that move: what makes them wrinkle, what does not, what holds them, and what is refused."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numba
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bunraku as bk
from bunraku.contracts import InputError, Points, Vector
from bunraku.direction.wrinkle import Handle, wrinkle, wrinkling_job
from bunraku.dynamics import EquilibriumSettings
from bunraku.geometry.tet_bar import tet_bar
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import dominant_wavelength

LENGTH, WIDE, CELLS = 0.48, 0.12, 32
BLOCK = tet_bar((CELLS, 8, 8), (LENGTH, WIDE, WIDE)).surface()
SMALL = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
FOAM = bk.SolidMaterial(young=1e5, poisson=0.3, density=60.0)
SKIN = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=6e-3)  # a hundred times as stiff: waves of 0.121 m
LAYERS = SkinOnSoft(6e-3, 1e7, 1e5)


def pressed(strain: float, frames: int = 9) -> bk.Animation:
    """The block, pressed evenly along its length."""
    times = np.linspace(0.0, 1.0, frames)
    shrunk = 1.0 - strain * times[:, None] * np.array([1.0, 0.0, 0.0])
    return bk.Animation(BLOCK, times, BLOCK.rest[None] * shrunk[:, None])


def run(body: Any = SMALL, **given: Any) -> bk.Take:
    asked: dict[str, Any] = {"skin": SKIN, "interior": FOAM, "threads": 1, **given}
    return wrinkle(body, **asked)


def test_a_body_that_moves_rigidly_has_a_smooth_skin() -> None:
    times = np.linspace(0.0, 1.0, 5)
    turns = Rotation.from_rotvec(np.outer(times, [0.7, -1.1, 2.0])).as_matrix()
    points = np.einsum("tij,nj->tni", turns, SMALL.rest) + np.outer(times, [0.3, 1.0, -2.0])[:, None]
    take = run(bk.Animation(SMALL, times, points))
    assert np.abs(take.animation.points - points).max() < 1e-9 * SMALL.size and take.report["converged"].all()
    assert take.surface is not None and np.array_equal(take.surface.points, points)


@pytest.mark.slow
def test_a_skin_wrinkles_beyond_its_onset_and_not_before() -> None:
    """The block is short, and its skin is pressed less than its interior: about half as much in the middle. Waves are
    as long as theory has them as far as can be told from the two in the middle; below the onset there are none."""
    middle = np.flatnonzero((BLOCK.rest[:, 1] == WIDE) & np.isclose(BLOCK.rest[:, 2], 0.5 * WIDE))
    along = middle[np.argsort(BLOCK.rest[middle, 0])][CELLS // 4 : -CELLS // 4 + 1]

    def waves(take: bk.Take) -> Vector:
        """Of the middle half of the top, less what bulges as a whole."""
        place, height = BLOCK.rest[along, 0], take.report["height"][-1][along]
        return height - np.polyval(np.polyfit(place, height, 2), place)

    assert waves(run(pressed(0.5 * LAYERS.onset, 2))).std() < 0.01 * SKIN.thickness
    take = run(pressed(4.0 * LAYERS.onset))
    assert take.report["converged"].all() and waves(take).std() > 0.5 * SKIN.thickness
    assert take.report["residual"].max() < 1e-9 and take.facts["wavelength"] == pytest.approx(LAYERS.wavelength)
    assert dominant_wavelength(waves(take), LENGTH / CELLS) == pytest.approx(
        LAYERS.wavelength, rel=0.25
    )  # half a wave in two


def ends(move: float) -> list[Handle]:
    """Both ends of the small block, one pushed along by so much [m] and turned."""
    still, taken = (np.flatnonzero(SMALL.rest[:, 0] == x) for x in (0.0, 0.4))
    times = np.linspace(0.0, 0.5, 5)
    middle = SMALL.rest[taken].mean(axis=0)
    points = middle + np.outer(times / 0.5, [move, 0.0, 0.0])
    turns = Rotation.from_rotvec(np.outer(times / 0.5, [0.5, 0.0, 0.0])).as_matrix()
    return [Handle(still, lambda time: SMALL.rest[still]), Handle(taken, bk.Path(times, points, rotations=turns))]


@pytest.mark.parametrize("two_way", [True, False])
def test_handles_are_met_and_the_rest_follows(two_way: bool) -> None:
    take = run(handles=ends(-0.02), cell=0.1, duration=0.5, rate=8.0, gravity=(0, 0, 0), two_way=two_way)
    assert take.report["handle_residual"].shape == (5, 2)
    assert take.report["handle_residual"].max() < 1e-9 and take.facts["interior"] == "lattice"
    assert take.surface is not None
    middle = np.isclose(SMALL.rest[:, 0], 0.2)
    moved = (take.surface.points[-1] - SMALL.rest)[middle]
    assert moved[:, 0].mean() == pytest.approx(-0.01, abs=0.003)  # half-way between its ends
    away = np.linalg.norm(take.animation.points[-1] - take.surface.points[-1], axis=1)
    assert 0.0 < away.max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("two_way", [True, False])
def test_large_handles_are_met_in_the_order_they_are_told(two_way: bool) -> None:
    """A hundred and more vertices on some fifty nodes, from the last to the first; turned, moved, stretched."""
    mesh = tet_bar((16, 6, 6), (0.4, 0.15, 0.15)).surface()
    still, taken = (np.flatnonzero(side)[::-1] for side in (mesh.rest[:, 0] < 0.05, mesh.rest[:, 0] > 0.31))
    turn = Rotation.from_rotvec([0.4, 0.1, 0.0]).as_matrix() * 1.1

    def way(time: float) -> Points:
        share = min(time / 0.25, 1.0)
        return mesh.rest[taken] @ ((1.0 - share) * np.eye(3) + share * turn).T + [0.0, 0.0, 0.05 * share]

    handles = [Handle(still, lambda time: mesh.rest[still]), Handle(taken, way)]
    asked: dict[str, Any] = {"handles": handles, "duration": 0.5, "rate": 8.0, "two_way": two_way, "threads": 1}
    job = wrinkling_job(mesh, skin=SKIN, interior=FOAM, cell=0.1, **asked)
    frame = next(islice(job.frames(), 2, None))
    assert len(taken) > 100 and frame.report["handle_residual"].max() < 1e-9


def test_a_motion_that_is_not_affine_is_met_by_the_skin_or_as_far_as_nodes_can() -> None:
    """An end that is pinched. A handle has the skin itself; where the skin is not felt it has the nodes, and it is told
    by how far they miss it, less than it was asked to move."""
    end = np.flatnonzero(SMALL.rest[:, 0] == 0.4)
    pinched = SMALL.rest[end] + 0.02 * np.cos(np.pi * SMALL.rest[end, 1:2] / 0.05) * [1.0, 0.0, 0.0]

    def missed(two_way: bool) -> float:
        job = wrinkling_job(
            SMALL, skin=SKIN, interior=FOAM, cell=0.2, handles=Handle(end, lambda time: pinched), duration=0.25,
            rate=8.0, two_way=two_way, threads=1,
        )  # fmt: skip
        return next(islice(job.frames(), 1, None)).report["handle_residual"].max()

    assert missed(True) < 1e-12 and 1e-4 < missed(False) < 0.04


def test_times_of_an_animation_are_its_own_unless_asked_for() -> None:
    five = bk.Animation(SMALL, np.array([1.0, 2.0, 3.5, 6.0]), np.repeat(SMALL.rest[None], 4, axis=0))
    asked: dict[str, Any] = {"skin": SKIN, "interior": FOAM, "threads": 1}
    assert wrinkling_job(five, **asked).times.tolist() == [1.0, 2.0, 3.5, 6.0]
    assert wrinkling_job(five, **asked, duration=2.5).times.tolist() == [1.0, 2.0, 3.5]
    assert wrinkling_job(five, **asked, rate=2.0).times == pytest.approx(np.arange(1.0, 6.1, 0.5))
    late = wrinkling_job(five, **asked, rate=1.0, duration=7.0)
    assert "the animation ends at 6 s, the shot at 8 s" in late.facts["warnings"][-1]


def test_a_first_balance_that_is_not_found_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(tolerance: float, length: float, limit: int) -> EquilibriumSettings:
        return EquilibriumSettings(tolerance, length, limit=1)

    monkeypatch.setattr("bunraku.direction.wrinkle.skin.EquilibriumSettings", once)
    pressed_at_once = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest * [0.8, 1, 1]] * 2))
    job = wrinkling_job(pressed_at_once, skin=SKIN, interior=FOAM, threads=1)
    first = next(job.frames())
    assert not first.report["converged"] and first.report["iterations"] == 1


def test_threads_are_those_of_the_kernels() -> None:
    wrinkling_job(STILL, skin=SKIN, interior=FOAM, threads=1)
    assert numba.get_num_threads() == 1


def test_a_body_that_nothing_holds_falls_with_its_skin() -> None:
    """Backward Euler of free fall: −g dt² (1 + 2 + … + k), for all that is inside and on it alike."""
    take = run(cell=0.2, duration=0.5, rate=8.0)
    fallen = (take.animation.points - SMALL.rest)[:, :, 1]
    k = np.arange(5)
    assert fallen == pytest.approx(np.repeat((-9.81 / 64.0 * k * (k + 1) / 2.0)[:, None], len(SMALL.rest), 1), abs=1e-8)


def test_a_run_taken_up_again_gives_the_same_bytes() -> None:
    asked: dict[str, Any] = {"handles": ends(-0.03), "cell": 0.2, "duration": 0.5, "rate": 8.0, "threads": 1}
    first = list(wrinkling_job(SMALL, skin=SKIN, interior=FOAM, **asked).frames())
    rest = wrinkling_job(SMALL, skin=SKIN, interior=FOAM, **asked).frames(after=first[2])
    for one, other in zip(first[3:], rest, strict=True):
        assert (
            one.points.tobytes() == other.points.tobytes()
            and one.report["height"].tobytes() == other.report["height"].tobytes()
        )


def test_what_may_not_be_meant_is_said() -> None:
    """Waves that the mesh cannot have, a skin that hardly wrinkles; it runs all the same."""
    thin = bk.ShellMaterial(young=1e7, thickness=5e-4)
    job = wrinkling_job(SMALL, skin=thin, interior=FOAM, cell=0.2, duration=0.1, rate=20.0, threads=1)
    (told,) = job.facts["warnings"]
    assert "the mesh cannot have them; edges of 0.0013 m would show them (bunraku check FILE" in told
    assert len(list(islice(job.frames(), 2))) == 2
    soft = bk.ShellMaterial(young=2e5, thickness=2e-2)
    first, second = wrinkling_job(SMALL, skin=soft, interior=FOAM, cell=0.2, threads=1).facts["warnings"]
    assert "only 2 times as stiff" in first and "they come out too long" in second


def test_what_a_lattice_does_not_see_of_a_body_is_said_in_its_facts() -> None:
    """Cells smaller than an edge; two blocks that go through each other."""
    twice = bk.TriMesh(
        np.vstack([SMALL.rest, SMALL.rest + [0.1, 0.05, 0.03]]), np.vstack([SMALL.faces, SMALL.faces + len(SMALL.rest)])
    )
    told = wrinkling_job(twice, skin=SKIN, interior=FOAM, cell=0.045, threads=1).facts["warnings"]
    assert any("cells of 0.045 m are smaller than the surface's edges of 0.05 m" in one for one in told)
    assert any("where the surface encloses 0.018 m³: the surface goes through itself" in one for one in told)


def test_badly_shaped_triangles_are_told_of_with_what_mends_them() -> None:
    """What they do to a skin: `test_slivers_let_a_skin_buckle_late`."""
    drawn_out = bk.TriMesh(SMALL.rest @ np.diag([8.0, 1.0, 1.0]), SMALL.faces)

    def told(mesh: bk.TriMesh) -> list[str]:
        job = wrinkling_job(mesh, skin=SKIN, interior=FOAM, cell=0.1, threads=1)
        return [one for one in job.facts["warnings"] if "five times as long as high" in one]

    (said,) = told(drawn_out)
    assert not told(SMALL) and "bunraku check FILE --repair OUT --remesh 0.0" in said


STILL = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest, SMALL.rest]))
OPEN = bk.TriMesh(SMALL.rest, SMALL.faces[1:])
HOLED = bk.TriMesh(np.where(np.arange(SMALL.point_count)[:, None] == 3, np.nan, SMALL.rest), SMALL.faces)
_WITH_ONE_MORE = bk.TriMesh(np.vstack([SMALL.rest, [[9.0, 9.0, 9.0]]]), SMALL.faces)
LOOSE = bk.Animation(_WITH_ONE_MORE, np.array([0.0, 1.0]), np.stack([_WITH_ONE_MORE.rest] * 2))


@pytest.mark.parametrize(
    ("body", "given", "sentence"),
    [
        (3, {}, "body"),
        (OPEN, {}, "open|closed|border"),
        (HOLED, {}, "body, vertices 3: .*not finite|body.*finite"),
        (bk.TriMesh(SMALL.rest, SMALL.faces[:0]), {}, "body: has no faces"),
        (SMALL, {"cell": 9.0}, "not above the body's own"),
        (SMALL, {"cell": 0.0}, "not above the body's own"),
        (SMALL, {"degree": 3}, "degree"),
        (SMALL, {"degree": 2.0}, "degree must be 1 or 2"),
        (SMALL, {"skin": bk.ShellMaterial(young=1e7, weft=1e6)}, "woven"),
        (SMALL, {"skin": "no such thing"}, "no such thing"),
        (SMALL, {"skin": bk.ShellMaterial(young=5e4)}, "softer than what it is on"),
        (SMALL, {"interior": bk.ShellMaterial(young=1e6)}, "material"),
        (SMALL, {"handles": Handle([999], lambda time: SMALL.rest[:1])}, "no such vertices"),
        (SMALL, {"handles": Handle([1, 2], lambda time: SMALL.rest[:1])}, "a point for each"),
        (SMALL, {"handles": Handle([1], lambda time: np.full((1, 3), np.nan))}, "no numbers"),
        (SMALL, {"handles": Handle([1], lambda time: SMALL.rest[1 : 2 + int(time > 0)])}, "a point for each"),
        (SMALL, {"handles": Handle([1], lambda time: "here")}, "gives no points"),  # type: ignore[arg-type,return-value]
        (SMALL, {"handles": Handle([1], lambda time: {}["where"])}, "gives no points .*KeyError: 'where' at 0 s"),
        (SMALL, {"handles": [Handle([k, 5], lambda time: SMALL.rest[:2]) for k in (1, 2)]}, r"handles\[0\] and"),
        (STILL, {"degree": 1}, "where its animation has it"),
        (STILL, {"cell": 0.1, "handles": Handle([1], lambda time: SMALL.rest[1:2])}, "has no handles"),
        (STILL, {"cell": 0.1, "two_way": False}, "is for two ways"),
        (STILL, {"contact": True}, "feels nothing that touches"),
        (SMALL, {"contact": True, "two_way": False}, "feels nothing that touches"),
        (SMALL, {"contact": "ball"}, "contact"),
        (SMALL, {"contact": bk.Contact(obstacles=[bk.sphere((0.2, 0.15, 0.07), 0.05)])}, "in the way of something"),
        (SMALL, {"contact": bk.Contact(parts={"skin": [0]})}, "for garments"),
        (SMALL, {"two_way": "yes"}, "two_way"),
        (STILL, {"rate": 1e5, "duration": 9e4}, "does not fit into memory"),
        (LOOSE, {}, "vert"),
        (SMALL, {"handles": "left"}, "handles"),
        (STILL, {"handles": Handle([1], lambda time: SMALL.rest[1:2])}, "where its animation has it"),
        (SMALL, {"duration": 0.0}, "duration"),
        (SMALL, {"rate": -1.0}, "rate"),
        (SMALL, {"substeps": 0}, "substeps"),
        (SMALL, {"spacing": -1.0}, "spacing"),
        (SMALL, {"gravity": (0, 1)}, "gravity"),
        (SMALL, {"foundation": "yes"}, "foundation"),
        (SMALL, {"coupling": "global"}, "unknown coupling .*'global'.*local, spectral"),
        (SMALL, {"coherence": -1.0}, "coherence must be a number"),
        (SMALL, {"coherence": "much"}, "coherence must be a number"),
        (SMALL, {"coherence": 1.0}, "keeps its waves by its inertia"),
    ],
)
def test_refusals(body: Any, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run(body, **given)


@pytest.mark.parametrize("vertices", [[], [0.5], "left", [np.nan], [3, 4, 3]])
def test_handles_that_take_hold_of_nothing(vertices: Any) -> None:
    with pytest.raises(InputError, match="takes hold of"):
        Handle(vertices, lambda time: SMALL.rest[:1])
    with pytest.raises(InputError, match="has a motion"):
        Handle([0], 3)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("two_way", [True, False])
def test_a_stop_names_no_node_as_if_it_were_a_vertex(two_way: bool) -> None:
    """There are more nodes than vertices here: who looks such a number up finds another point, or none."""
    tiny = tet_bar((3, 1, 1), (0.4, 0.15, 0.15)).surface()
    end = np.flatnonzero(tiny.rest[:, 0] == 0.4)
    far = Handle(end, lambda time: tiny.rest[end] + [1e7 * (time > 0.0), 0.0, 0.0])
    asked: dict[str, Any] = {"handles": far, "duration": 0.25, "rate": 8.0, "two_way": two_way, "threads": 1}
    job = wrinkling_job(tiny, skin=SKIN, interior=FOAM, cell=0.1, **asked)
    found = job.stepper.step(job.start, 0.125)
    assert not found.outcome.usable and found.evidence.get("vertex", 0) < tiny.point_count
