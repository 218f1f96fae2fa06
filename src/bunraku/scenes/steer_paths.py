"""The figures of [Kondo 2005] about ways and paths: a bar between two shapes (5), one path held four ways (6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.collision import Obstacle, sphere
from bunraku.contracts import Array, Integers, Points
from bunraku.direction import Take
from bunraku.direction.steer import Grip, pose
from bunraku.direction.steer.interpolate import transition
from bunraku.direction.steer.rigid import aligned
from bunraku.geometry import TetMesh, TriMesh, enclose, join_surfaces, tet_lumped_mass, tet_volumes, tetrahedralise
from bunraku.materials import SolidMaterial
from bunraku.motion import HOLDS, Animation, Hold, Path

from .easing import eased
from .soft_shapes import rounded_bar, star
from .steered import Hand, SteeredScene
from .study import Panel, Study

RUBBERY = SolidMaterial(young=2e4, poisson=0.45, density=1000.0, stiffness_damping=5e-3, law="neohookean")
_LONG, _WIDE = 0.60, 0.12  # [m] of the bar
_END = 0.15  # share of the bar that is taken in the hand at each end
TWIST, BEND = 1.1 * np.pi, 0.5 * np.pi  # [rad] of the key
_SHARES = 25  # pictures of the way
_DAMPING = 8.0
_NEAR = 3
_OVER = (0.08, 0.16)  # of the body's size: held over its centre of mass it hangs, held below it would topple


def bar_surface(edge: float = 0.0085) -> TriMesh:
    """A rounded bar about the origin, along y."""
    return rounded_bar((0.5 * _WIDE, 0.5 * _LONG, 0.5 * _WIDE), 0.015, edge)


def twisted_and_bent(body: TetMesh, material: SolidMaterial = RUBBERY, twist: float = TWIST) -> Points:
    """(n, 3) a bar along y, bent into a quarter of a circle and then twisted by `twist` [rad]."""
    height = body.rest[:, 1]
    ends = np.flatnonzero(height < -(0.5 - _END) * _LONG), np.flatnonzero(height > (0.5 - _END) * _LONG)
    free = (1.0 - 2.0 * _END) * _LONG
    radius = free / BEND
    # What is between the hands becomes a quarter of a circle: its end goes so far, and turns by so much.
    way = np.array([radius * (1.0 - np.cos(BEND)), radius * np.sin(BEND) - free, 0.0])
    pivot = np.array([0.0, 0.5 * free, 0.0])
    bent = pose(body, [Grip(ends[0]), Grip(ends[1], way, (0.0, 0.0, -BEND), pivot=pivot)], material=material)
    along = np.array([np.sin(BEND), np.cos(BEND), 0.0])
    middle = pivot + way
    return pose(
        body, [Grip(ends[0]), Grip(ends[1], rotate=twist * along, pivot=middle)], points=bent, material=material
    )


def straight(body: TetMesh, key: Points, share: float) -> Points:
    """(n, 3) linear interpolation of points, the key laid over the rest shape as well as it can be."""
    goal = aligned(key, body.rest, tet_lumped_mass(body, 1.0))
    return (1.0 - share) * body.rest + share * goal


def bar_ways(threads: int | None = None, surface: TriMesh | None = None, edge: float = 0.04) -> Study:
    """Figure 5: half way from a bar to its twisted and bent key, by points and by the physics-oriented way."""
    fine = bar_surface() if surface is None else surface
    body = tetrahedralise(fine, edge=edge)
    key = twisted_and_bent(body)
    way = transition(body, body.rest, key, RUBBERY, _DAMPING)
    cage, shares = enclose(fine, body), np.linspace(0.0, 1.0, _SHARES)
    both = {
        "linear": [straight(body, key, share) for share in shares],
        "physics-oriented": [way.at(share) for share in shares],
    }
    panels = [
        Panel(name, Animation(fine, shares, np.stack([cage.points(x) for x in shapes])))
        for name, shapes in both.items()
    ]
    rows = [(name, (*_volumes(body, shapes[_SHARES // 2]), 0.0)) for name, shapes in both.items()]
    rows[1] = (rows[1][0], (*rows[1][1][:2], way.seconds))
    columns = "volume error % mid-way", "smallest tet, of its own", "seconds"
    remarks = (f"{len(body.tets)} tetrahedra, {len(fine.faces)} polygons, {len(way.shares)} shapes on the way",)
    return Study(tuple(panels), columns, tuple(rows), (0, 6, 12, 18, 24), remarks)


def _volumes(body: TetMesh, x: Points) -> tuple[float, float]:
    """[%] by how much the volume is off, and the smallest of the ratios of tetrahedra."""
    now = tet_volumes(x, body.tets)
    return 100.0 * float(now.sum() / body.volumes.sum() - 1.0), float((now / body.volumes).min())


def curved_path(duration: float = 2.5, rest: float = 0.6) -> tuple[Array, Array]:
    """(t,) [s] and (t, 3) [m] a wave that begins and ends at rest, then stays for `rest` [s]."""
    times = np.linspace(0.0, duration, 41)
    share = eased(times / (duration - rest))
    where = np.stack([-0.45 + 0.9 * share, 0.14 * np.sin(2.0 * np.pi * share), np.zeros_like(share)], axis=1)
    return times, where


def middle_tet(body: TetMesh) -> Integers:
    """(4,) the nodes of a tetrahedron a little over the centre of mass and as upright over it as there is one, so that
    the body hangs; of the best few that with the heaviest nodes."""
    mass = tet_lumped_mass(body, 1.0)
    heavy = mass[body.tets]
    middle = np.einsum("ma,mai->mi", heavy / heavy.sum(axis=1, keepdims=True), body.rest[body.tets])
    over = middle - mass @ body.rest / mass.sum()
    low, high = _OVER[0] * body.size, _OVER[1] * body.size
    # Beside the vertical it would hang askew, by the angle of this slope.
    slope = np.linalg.norm(over[:, [0, 2]], axis=1) / np.clip(over[:, 1], low, None)
    slope += 10.0 * np.maximum(low - over[:, 1], over[:, 1] - high).clip(0.0) / body.size
    near = np.argsort(slope)[:_NEAR]
    return body.tets[near[int(np.argmax(heavy[near].sum(axis=1)))]]


def path_scene(surface: TriMesh | None = None, edge: float = 0.055) -> SteeredScene:
    """A soft star that is led along a wave, through the air."""
    soft = SolidMaterial(young=4e3, poisson=0.42, density=500.0, stiffness_damping=6e-3, law="neohookean")
    top = Hand((-1.0, 0.09, -1.0), (1.0, 1.0, 1.0))
    times, where = curved_path()
    # Put back after a step, a part of mass m carries a body M by moving M/m times as far as that fell: short steps.
    return SteeredScene(
        star() if surface is None else surface, edge, soft, float(times[-1]), path=Path(times, where), substeps=16,
        blow=(top, (1.6, 0.0, 0.0)),
    )  # fmt: skip


def held(scene: SteeredScene, hold: Hold, *, part: bool) -> SteeredScene:
    """The scene with its path held that way, for the whole body or for the tetrahedron in its middle."""
    assert scene.path is not None
    vertices = middle_tet(scene.body) if part else None
    return replace(scene, tetrahedra=scene.body, path=replace(scene.path, hold=hold, vertices=vertices))


def path_ways(threads: int | None = None, scene: SteeredScene | None = None) -> Study:
    """Figure 6: one path, for the whole body and for one tetrahedron, each held both ways."""
    own = path_scene() if scene is None else scene
    panels, rows = [], []
    for part in (False, True):
        for hold in HOLDS[::-1]:
            take = held(own, hold, part=part).take(threads)
            name = f"{'one tetrahedron' if part else 'whole body'}, {hold}"
            panels.append(surface_panel(name, take))
            off = float(take.report["residual"].max()) / own.body.size
            force = np.linalg.norm(take.report["force"][1:, 0], axis=1)
            rows.append((name, (off, largest_stretch(take), float(force.max()), float(force.mean()))))
    columns = "residual over size", "largest stretch", "largest force N", "mean force N"
    weight = 9.81 * own.material.density * float(own.body.volumes.sum())
    remarks = (f"{len(own.body.tets)} tetrahedra; the body weighs {weight:.3g} N",)
    assert own.path is not None
    return Study(
        tuple(panels), columns, tuple(rows), (0, 12, 20, 28, 36, 44, 58), remarks, (dotted(own.path, 0.03, 0.012),)
    )


def surface_panel(name: str, take: Take[TetMesh], paint: Array | None = None) -> Panel:
    """The fine surface of a take, with what it tells of its steps, perhaps in colours of its own (f, 3)."""
    assert take.surface is not None
    short = int(np.sum(np.logical_not(take.report["converged"])))
    return Panel(name, take.surface, unconverged=short, paint=paint)


def dotted(path: Path, apart: float, thick: float) -> Obstacle:
    """A path to be looked at: beads of a thickness [m], so far `apart` [m]."""
    times = np.linspace(path.times[0], path.times[-1], 40 * len(path.times))
    way = np.stack([path.at(float(time)) for time in times])
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    places = np.interp(np.arange(0.0, gone[-1] + 1e-9, apart), gone, times)
    bead = sphere((0.0, 0.0, 0.0), 0.5 * thick, 0.4 * thick)
    beads = [TriMesh(bead.rest + path.at(float(time)), bead.faces) for time in places]
    return Obstacle(join_surfaces(beads), name="path")


def largest_stretch(take: Take[TetMesh]) -> float:
    """The largest length over its rest length, in any direction, of any tetrahedron on any frame."""
    body = take.animation.mesh
    edges = np.swapaxes(body.rest[body.tets[:, 1:]] - body.rest[body.tets[:, :1]], 1, 2)
    inverse = np.linalg.inv(edges)
    most = 0.0
    for x in take.animation.points:
        now = np.swapaxes(x[body.tets[:, 1:]] - x[body.tets[:, :1]], 1, 2) @ inverse
        most = max(most, float(np.linalg.svd(now, compute_uv=False)[:, 0].max()))
    return most
