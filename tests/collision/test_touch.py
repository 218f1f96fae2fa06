"""Gradients and stiffness of contact: against differences, in closed cases, and by the laws they keep."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import ipctk
import numpy as np
import pytest
from pairs import DT, PAIRS, REACH, STIFFNESS, Scene, crowd, dense, single, triangles

from bunraku.collision import Obstacle, Plane, Surfaces, Touch, sphere
from bunraku.collision.barrier import slope
from bunraku.collision.toolkit import Pairing
from bunraku.collision.turning import leans, smoothing
from bunraku.contracts import Array, InputError, Points
from bunraku.testing import falls_as, sheet

GAPS = (0.0, 0.004)
SINGLE = (*PAIRS, "vertex, plane")


def gradient_falls(touch: Touch, x: Points, seed: int, scale: float) -> bool:
    """Whether differences of the value along a random direction approach the gradient as h²."""
    way = np.random.default_rng(seed).uniform(-1.0, 1.0, x.shape)
    steps = [scale * h for h in (1 / 256, 1 / 512, 1 / 1024)]
    wanted = float(np.sum(touch.gradient(x) * way))
    high, low = [touch.value(x + h * way) for h in steps], [touch.value(x - h * way) for h in steps]
    errors = [abs((a - b) / (2 * h) - wanted) for a, b, h in zip(high, low, steps, strict=True)]
    # A distance d of points of size one is right to 1e-16/d of itself, and b changes by some ten times that share.
    floors = [1e-15 / (0.1 * REACH) * max(high) * 10 / h for h in steps]
    assert abs(wanted) > 1e3 * errors[-1]
    return falls_as(2, steps, errors, floors)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("kind", SINGLE)
def test_gradient_of_a_pair(kind: str, gap: float) -> None:
    for share in (0.1, 0.4, 0.8):
        scene = single(kind, gap, share)
        for seed in range(3):
            assert gradient_falls(scene.touch(), scene.x, seed, min(share, 1 - share) * REACH)


def test_what_is_kept_of_a_place_is_of_that_place() -> None:
    """Whatever is asked in between, wherever the obstacles are by then, and also of points that are written over."""
    scene = crowd(friction=0.4, gap=0.004)
    touch, generator = scene.touch(), np.random.default_rng(5)
    places = [scene.x + 0.01 * REACH * generator.normal(size=scene.x.shape) for _ in range(4)]
    for k in generator.integers(0, 4, size=40):
        if k == 0:
            touch.advance(0.1)
        fresh = Scene(replace(scene.surfaces), scene.x).touch()
        fresh.gone = touch.gone
        ahead = float(generator.choice([0.0, 0.5]))
        assert touch.value(places[k], ahead) == pytest.approx(fresh.value(places[k], ahead), rel=1e-12)
        wanted = fresh.gradient(places[k])
        assert touch.gradient(places[k]) == pytest.approx(wanted, abs=1e-12 * np.abs(wanted).max())
    alone = single("vertex, face", 0.0, 0.5)
    touch, x = alone.touch(), alone.x.copy()
    before = touch.value(x)
    x[3:] += [0.0, 0.0, 0.1 * REACH]
    assert touch.value(x) < before


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_gradient_in_a_crowd(gap: float, friction: float) -> None:
    """Sheets, a ball on its way, two floors, and friction against what moved since the step began."""
    for seed in range(4):
        scene = crowd(friction=friction, gap=gap, seed=seed)
        touch = scene.touch()
        touch.advance(0.3)
        moved = np.random.default_rng(seed).uniform(-1.0, 1.0, scene.x.shape)
        x = scene.x + (0.02 * REACH) * moved
        assert len(touch.blocks(x)[0]) > 100
        assert gradient_falls(touch, x, seed + 10, 1e-3 * REACH)


def test_friction_opposes_what_slides_and_holds_what_stands() -> None:
    """A corner on a floor: µ F against the way where it slides, F from the place where the step began; half of it
    at (2 − y) y = ½ of the way that counts as still [Li 2020, eq. 14].
    """
    scene = single("vertex, plane", 0.0)
    surfaces = Surfaces(scene.surfaces.shell, (), scene.surfaces.planes, reach=REACH, friction=0.4, still=0.05)
    touch = Scene(surfaces, scene.x).touch()
    normal = surfaces.planes[0].normal
    force = float(np.linalg.norm(touch.pressure(scene.x)[0]))
    along = np.cross(normal, [0.0, 1.0, 0.0])
    along /= np.linalg.norm(along)
    for length, share in ((5.0, 1.0), (1.0, 1.0), (1 - np.sqrt(0.5), 0.5), (0.0, 0.0)):
        x = scene.x.copy()
        x[0] += length * 0.05 * DT * along
        rub = touch.gradient(x)[0] - touch.pressure(x)[0]
        assert rub == pytest.approx(0.4 * force * share * along, abs=1e-9 * force)
    assert force > 0.0


@pytest.mark.parametrize("length", [0.3, 0.99, 1.0, 4.0])
def test_the_stiffness_of_friction_is_its_force_over_the_way(length: float) -> None:
    """Along the way it opposes, and as much across it; none along the normal."""
    scene = single("vertex, plane", 0.0)
    (plane,) = scene.surfaces.planes
    along = np.cross(plane.normal, [0.0, 1.0, 0.0])
    way, across = np.zeros_like(scene.x), np.zeros_like(scene.x)
    way[0] = length * 0.05 * DT * along / np.linalg.norm(along)
    across[0] = np.cross(plane.normal, way[0])
    rough, smooth = (Scene(replace(scene.surfaces, friction=mu, still=0.05), scene.x).touch() for mu in (0.4, 0.0))
    x = scene.x + way
    rub = rough.gradient(x) - rough.pressure(x)
    stiffness = dense(scene, *rough.blocks(x)) - dense(scene, *smooth.blocks(x))
    size = np.abs(rub).max()
    assert size > 1e-3
    assert (stiffness @ way.reshape(-1)).reshape(-1, 3) == pytest.approx(rub, abs=1e-9 * size)
    turned = np.cross(plane.normal, rub[0])
    assert (stiffness @ across.reshape(-1)).reshape(-1, 3)[0] == pytest.approx(turned, abs=1e-9 * size)
    assert np.abs(stiffness[:3, :3] @ plane.normal).max() <= 1e-9 * np.abs(stiffness).max()


def differenced(function, x: Points, h: float) -> Array:
    """(m, 3n) central differences."""
    columns = []
    for k in range(x.size):
        way = np.zeros(x.size)
        way[k] = h
        high, low = function(x + way.reshape(-1, 3)), function(x - way.reshape(-1, 3))
        columns.append((np.ravel(high) - np.ravel(low)) / (2 * h))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("kind", [kind for kind in SINGLE if kind != "parallel edges"])
def test_stiffness_is_the_hessian_with_what_normals_turn_by_made_positive(kind: str, gap: float) -> None:
    """H = b'' ∇d ∇dᵀ + b' ∇²d, of the latter what is positive; ∇²d comes from differences of ∇d here."""
    scene = single(kind, gap)
    touch, x, distance = scene.touch(), scene.x, gap + 0.4 * REACH
    along = touch.stiffness(gap) * slope(distance, gap, REACH)

    def normals(at: Points) -> Array:
        """(n, 3) ∇d of the one pair, times its weight: the gradient over b'."""
        (away,) = (d for gaps in touch._gaps(touch._at(at, 0.0)) for d in gaps.distances)
        return touch.pressure(at) / (touch.stiffness(gap) * slope(away, gap, REACH))

    h = 1e-3 * REACH
    true, turning = differenced(touch.gradient, x, h), along * differenced(normals, x, h)
    blocks = dense(scene, *touch.blocks(x))
    size = np.abs(blocks).max()
    assert size > 0.1 * STIFFNESS
    values, vectors = np.linalg.eigh(0.5 * (turning + turning.T))
    positive = (vectors * values.clip(min=0.0)) @ vectors.T
    # Differences are wrong by h²/6 of a third derivative: (h/(0.4 reach))², some ten times.
    assert blocks == pytest.approx(true - turning + positive, abs=1e-4 * size)
    assert np.abs(positive).max() > 1e-3 * size or kind in ("vertex, plane", "vertex, vertex")


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(("kind", "pushed"), [("vertex, face", [3]), ("edges", [3, 4]), ("vertex, plane", [0])])
def test_stiffness_along_the_normal_is_exact(kind: str, gap: float, pushed: list[int]) -> None:
    """Where one side goes straight at the other nothing turns: the second difference of the value itself."""
    scene = single(kind, gap)
    touch, x = scene.touch(), scene.x
    normal = np.array([0.0, 0.0, 1.0]) if kind != "vertex, plane" else scene.surfaces.planes[0].normal
    way = np.zeros_like(x)
    way[pushed] = normal
    h = 1e-3 * REACH
    second = (touch.value(x + h * way) - 2 * touch.value(x) + touch.value(x - h * way)) / h**2
    found = way.reshape(-1) @ dense(scene, *touch.blocks(x)) @ way.reshape(-1)
    assert found == pytest.approx(second, rel=1e-4)
    assert found > 0.1 * STIFFNESS


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.6])
def test_how_stiff_nearly_parallel_edges_are_against_turning(share: float) -> None:
    """Exactly the second derivative of the smoothing where they are parallel, at least that where they are nearly so:
    along u × v (4/ε)(1 − 3σ), or nothing, and (4/ε)(1 − σ) across."""
    corners, generator = np.arange(4)[None], np.random.default_rng(5)
    u = generator.normal(size=3)
    across = np.cross(u, generator.normal(size=3))
    angle = np.arcsin(np.sqrt(1e-3 * share))
    v = 0.7 * (np.cos(angle) * u + np.sin(angle) * across * np.linalg.norm(u) / np.linalg.norm(across))
    x = np.array([[0.0, 0.0, 0.0], u, [0.1, 0.0, 0.2], v + [0.1, 0.0, 0.2]])
    assert smoothing(corners[0], x, x) == pytest.approx(share * (2.0 - share), abs=1e-12)
    vectors, h, most = leans(corners, x, x)[0], 1e-5, 4000.0  # 4/ε of edges of length one
    slack = []
    for way in generator.uniform(-1.0, 1.0, (200, 4, 3)):
        ahead, here, behind = (smoothing(corners[0], x + k * h * way, x) for k in (1, 0, -1))
        second = (ahead - 2 * here + behind) / h**2
        slack.append((float(np.sum((vectors @ way.reshape(-1)) ** 2)) - second) / most)
    # What is not counted: |u × v| over |u||v| is at most √(1e-3 σ), a thirtieth, twice.
    assert min(slack) >= -0.1 * np.sqrt(share) - 1e-3
    assert share > 0.0 or max(slack) < 1e-3
    assert np.sum(vectors**2, axis=1) * np.dot(u, u) / most == pytest.approx(
        [2.0 * max(1 - 3 * share, 0.0) * (1 + 1 / 0.49), 2.0 * (1 - share) * (1 + 1 / 0.49)], rel=0.01
    )


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_blocks_are_symmetric_and_positive(friction: float) -> None:
    """No eigenvalue below rounding, and none zero where something presses."""
    for gap in GAPS:
        scene = crowd(friction=friction, gap=gap)
        x = scene.x + 0.02 * REACH * np.random.default_rng(1).uniform(-1.0, 1.0, scene.x.shape)
        _, blocks = scene.touch().blocks(x)
        assert np.array_equal(blocks, blocks.transpose(0, 2, 1))
        values = np.linalg.eigvalsh(blocks)
        largest = values.max(axis=1)
        assert (values.min(axis=1) >= -1e-12 * largest).all()
        assert largest.max() > STIFFNESS / 10


@pytest.mark.parametrize("gap", GAPS)
def test_forces_and_torques_sum_to_zero(gap: float) -> None:
    """Between free sheets, barrier and friction both: Σ f = 0, Σ x × f = 0 for the barrier."""
    scene = crowd(friction=0.4, gap=gap)
    alone = Scene(Surfaces(scene.surfaces.shell, reach=REACH, gap=gap, friction=0.4), scene.x)
    touch = alone.touch()
    x = scene.x + 0.02 * REACH * np.random.default_rng(1).uniform(-1.0, 1.0, scene.x.shape)
    rub = touch.gradient(x) - touch.pressure(x)
    for force in (touch.pressure(x), rub):
        assert np.abs(force).max() > 1e-3
        assert np.abs(force.sum(axis=0)).max() <= 1e-13 * np.abs(force).sum()
    torque = np.cross(x, touch.pressure(x))
    assert np.abs(torque.sum(axis=0)).max() <= 1e-13 * np.abs(torque).sum()


def test_pressure_is_on_both_sides() -> None:
    """What a ball feels is what the sheets feel, the other way: together nothing."""
    scene = crowd()
    surfaces = Surfaces(scene.surfaces.shell, scene.surfaces.obstacles, reach=REACH, self_contact=False)
    touch = Scene(surfaces, scene.x).touch()
    everything = touch._pressure(touch._at(scene.x, 0.0))
    count = surfaces.count
    assert np.abs(everything[count:]).max() > 1e-3
    assert np.abs(everything.sum(axis=0)).max() <= 1e-13 * np.abs(everything).sum()


def rising(gap: float, friction: float = 0.0) -> Scene:
    """A corner over a large triangle that comes up at it."""
    shell = triangles([[0.4, 0.3, gap + 0.5 * REACH], [0.5, 0.4, 0.9], [0.2, 0.5, 0.8]])
    floor = triangles([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.0]])
    speed = np.array([0.0, 0.0, 0.3 * REACH / DT])
    obstacle = Obstacle(floor, lambda t: floor.rest + speed * t)
    return Scene(Surfaces(shell, [obstacle], reach=REACH, gap=gap, friction=friction), shell.rest.copy())


@pytest.mark.parametrize("gap", GAPS)
def test_what_an_obstacle_on_its_way_will_change(gap: float) -> None:
    """`drive` is the derivative of the gradient along the obstacle's way; its slope of the energy likewise."""
    scene = rising(gap)
    for gone in (0.0, 0.5):
        touch = scene.touch()
        touch.advance(gone)
        h, x = 1e-4, scene.x
        changes, rises = [], []
        for share in (h, -h):
            moved = scene.touch()
            moved.gone = gone + share * (1.0 - gone)
            changes.append(moved.gradient(x))
            rises.append(moved.value(x))
        assert touch.drive(x) == pytest.approx((changes[0] - changes[1]) / (2 * h), rel=1e-5, abs=1e-9)
        assert touch.on_obstacles(x) == pytest.approx((rises[0] - rises[1]) / (2 * h), rel=1e-5)
        assert np.abs(touch.drive(x)).max() > 0.01
        ahead = scene.touch()
        ahead.advance(gone)
        ahead.advance(0.25)
        assert touch.value(x, 0.25) == ahead.value(x)
    touch.advance(1.0)
    assert touch.arrived
    assert not touch.drive(scene.x).any()
    assert touch.on_obstacles(scene.x) == 0.0


def test_pairs_are_the_toolkit_s() -> None:
    """Corners, kinds and distances of each pair against the toolkit's own reading of it."""
    scene = crowd(gap=0.001)
    kinds = set()
    for near, (pairing, size) in zip(scene.touch()._at(scene.x, 0.0).nears, scene.surfaces.pairings, strict=True):
        pairs, all_of = near.pairs(), near.collisions
        found = [*all_of.vv_collisions, *all_of.ev_collisions, *all_of.fv_collisions, *all_of.ee_collisions,
                 *all_of.pv_collisions]  # fmt: skip
        gaps = scene.touch()._measured(near, scene.surfaces.together(scene.x, 0.0))
        points = np.asfortranarray(scene.surfaces.together(scene.x, 0.0)[:size])
        assert isinstance(pairing, Pairing)
        edges, faces = pairing.mesh.edges, pairing.mesh.faces
        assert len(pairs.corners) == len(found) == len(all_of) > 0
        for k in range(len(found)):
            own = [int(v) for v in found[k].vertex_ids(edges, faces) if v >= 0]
            assert sorted(own) == sorted(v for v in pairs.corners[k].tolist() if v >= 0)
            corners = found[k].dof(points, edges, faces)
            assert gaps.distances[k] ** 2 == pytest.approx(found[k].compute_distance(corners), rel=1e-9)
            kinds.add((len(own), bool(pairs.edges[k])))
            if pairs.edges[k]:
                level = found[k].mollifier(corners, found[k].eps_x)
                assert gaps.shares[k] == pytest.approx(found[k].weight * level, rel=1e-9)
            else:
                assert gaps.shares[k] == found[k].weight
    assert kinds >= {(1, False), (3, False), (4, False), (4, True)}
    assert ipctk.__version__ >= "1.6"


def test_planes_are_felt_as_far_as_surfaces_are() -> None:
    """Value and force fall to zero at the reach without a jump, from each of several planes by itself."""
    for gap in GAPS:
        for which in range(2):
            scene = single("vertex, plane", gap)
            own = scene.surfaces.planes[0]
            far = Plane(own.point - 3.0, np.ones(3))
            planes = [own, far] if which == 0 else [far, own]
            surfaces = Surfaces(scene.surfaces.shell, (), planes, reach=REACH, gap=gap)
            forces = []
            for share in (1.01, 0.99, 0.9, 0.7, 0.5, 0.3, 0.1):
                x = scene.x + (share - 0.4) * REACH * own.normal
                touch = Scene(surfaces, x).touch()
                forces.append(float(touch.gradient(x)[0] @ own.normal))
                assert forces[-1] == pytest.approx(
                    touch.stiffness(gap) * slope(gap + share * REACH, gap, REACH), rel=1e-6
                )
                assert len(touch._gaps(touch._at(x, 0.0))[-1].distances) == (share < 1.0)
            assert forces[0] == 0.0
            assert all(later < earlier for earlier, later in pairwise(forces))


def test_points_on_a_floor_do_not_feel_each_other_twice() -> None:
    """Self-contact belongs to surfaces alone: without it two points 0.3 of the reach apart feel nothing of a floor that
    is far away.
    """
    upper = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.3], [0.0, 0.1, 0.3]]
    mesh = triangles(upper, [[0.0, 0.0, -0.3 * REACH], [0.1, 0.0, -1.0], [0.0, 0.1, -1.0]])
    floor = Plane(np.array([0.0, 0.0, -2.0]), np.array([0.0, 0.0, 1.0]))
    touch = Scene(Surfaces(mesh, (), [floor], reach=REACH, self_contact=False), mesh.rest).touch()
    assert touch.value(mesh.rest) == 0.0
    assert touch.report(mesh.rest) == {"pairs": 0, "closest": 0.0, "pinched": 0}


def test_without_self_contact_only_obstacles_are_felt() -> None:
    """Also where there are obstacles."""
    scene = crowd()
    surfaces = Surfaces(scene.surfaces.shell, scene.surfaces.obstacles, reach=REACH, self_contact=False)
    touch = Scene(surfaces, scene.x).touch()
    corners, _ = touch.blocks(scene.x)
    pairs = touch._gaps(touch._at(scene.x, 0.0))[0].corners
    assert len(corners) > 0
    assert ((pairs >= surfaces.count).any(axis=1)).all()
    low = sheet(4, 3, length=0.4).point_count
    assert not touch.touched(scene.x)[low:].any()  # the upper sheet is out of the ball's reach
    assert touch.touched(scene.x)[:low].any()


def test_an_obstacle_has_a_friction_of_its_own() -> None:
    whole = crowd(friction=0.2)
    step = 1e-3 * np.random.default_rng(5).uniform(-1.0, 1.0, whole.x.shape)

    def rubs(shell: float, ball: float | None, *, alone: bool) -> tuple[Points, Array, float]:
        (one,) = whole.surfaces.obstacles
        surfaces = replace(whole.surfaces, friction=shell, obstacles=[replace(one, friction=ball)])
        surfaces = replace(surfaces, planes=(), self_contact=False) if alone else surfaces
        touch = replace(whole, surfaces=surfaces).touch()
        x = whole.x + step
        return touch.gradient(x) - touch.pressure(x), dense(whole, *touch.blocks(x)), touch.value(x)

    # With nothing but the ball to rub on, the shell's own friction does not matter.
    smooth, rough = rubs(0.0, None, alone=True), rubs(0.7, None, alone=True)
    assert np.abs(rough[0] - smooth[0]).max() > 1e-4
    for own, other in zip(rubs(0.2, 0.7, alone=True), rough, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-12 * np.abs(other).max())
    # And beside others it rubs in addition: friction is linear in its coefficients.
    for all_, bare, ball, none in zip(
        rubs(0.2, 0.7, alone=False), rubs(0.2, 0.0, alone=False), rough, smooth, strict=True
    ):
        np.testing.assert_allclose(all_ - bare, ball - none, rtol=0, atol=1e-12 * np.abs(all_).max())


def test_a_corner_on_an_obstacle_rubs_with_the_obstacle_s_friction() -> None:
    """Force and stiffness, where the corner is the shell's: as if all had the obstacle's."""
    scene = rising(0.0)
    (one,) = scene.surfaces.obstacles
    step = np.array([1e-3, 2e-3, 0.0])
    found = []
    for shell, floor in ((0.2, 0.7), (0.7, None), (0.2, None)):
        surfaces = replace(scene.surfaces, friction=shell, obstacles=[replace(one, friction=floor)])
        touch = replace(scene, surfaces=surfaces).touch()
        x = scene.x + step
        found.append([touch.gradient(x) - touch.pressure(x), dense(scene, *touch.blocks(x))])
    for own, all_, shells in zip(*found, strict=True):
        np.testing.assert_allclose(own, all_, rtol=0, atol=1e-12 * np.abs(all_).max())
        assert np.abs(shells - all_).max() > 1e-4


def test_a_wrong_friction_is_refused() -> None:
    with pytest.raises(InputError, match="hero: friction must be a number"):
        Obstacle(sphere([0, 0, 0], 1.0, 0.5), name="hero", friction=-1.0)
