"""Figure 7 of [Kondo 2005]: the way and the spin of a rolling ball, given to bodies of other shapes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bunraku.contracts import Array
from bunraku.direction import Take
from bunraku.geometry import TetMesh, TriMesh
from bunraku.materials import SolidMaterial
from bunraku.motion import Path

from .soft_shapes import character, soft_ball, toy
from .steer_paths import dotted, surface_panel
from .steered import GROUND, SteeredScene, lowest
from .study import Study

RADIUS = 0.16
"""[m] of the ball"""
_SOFT = SolidMaterial(young=2.5e4, poisson=0.42, density=500.0, stiffness_damping=6e-3, law="neohookean")
_DURATION, _RATE = 1.75, 24.0
_DROP, _SPEED = 0.16, 1.5  # [m] over the ground, [m/s] forward


def rolling_ball(edge: float = 0.012, body_edge: float = 0.075) -> SteeredScene:
    """A soft ball thrown along x from a hand's height: it bounces, is gripped by the ground and rolls on."""
    return SteeredScene(
        soft_ball(RADIUS, edge), body_edge, _SOFT, _DURATION, _RATE, obstacles=(GROUND,), friction=0.8,
        wholly=True, velocity=(_SPEED, 0.0, 0.0), place=(0.0, _DROP, 0.0), substeps=2,
    )  # fmt: skip


def _sideways(mesh: TriMesh) -> TriMesh:
    """What looked along z looks along x, the way it rolls."""
    return TriMesh(mesh.rest @ np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), mesh.faces)


def recorded(take: Take[TetMesh]) -> Path:
    """The way of a ball and how it turned."""
    return Path.recorded(take, turning=True)


def on_the_way(surface: TriMesh, path: Path, edge: float | None = None) -> SteeredScene:
    """Another body on that way, as large as the ball is, that touches the ground."""
    size = float(np.ptp(surface.rest, axis=0).max())
    scale = 2.4 * RADIUS / size
    fitted = TriMesh((surface.rest - surface.rest.mean(axis=0)) * scale, surface.faces)
    return SteeredScene(
        fitted, edge or 0.1 * fitted.size, _SOFT, float(path.times[-1]), _RATE, path=path, obstacles=(GROUND,),
        friction=0.8, wholly=True, itself=True, substeps=2,
    )  # fmt: skip


def rolling_toy() -> SteeredScene:
    """A toy on the way of the ball, with its spin."""
    return on_the_way(_sideways(toy()), recorded(rolling_ball().take()))


def rolling(
    threads: int | None = None, bodies: Mapping[str, TriMesh] | None = None, ball: SteeredScene | None = None
) -> Study:
    """Figure 7: the ball, and two bodies on its way; generated ones, or the caller's meshes by name."""
    first = rolling_ball() if ball is None else ball
    take = first.take(threads)
    path = recorded(take)
    takes = {"ball": take}
    for name, surface in (bodies or {"toy": _sideways(toy()), "character": character()}).items():
        takes[name] = on_the_way(surface, path).take(threads)
    rows = []
    for name, one in takes.items():
        directed = one is not take
        off = float(one.report["residual"].max()) / RADIUS if directed else 0.0
        turned = float(one.report["rotation_residual"].max()) if directed else 0.0
        rows.append((name, (off, turned, _squash(one), 1e3 * lowest([one]), float(one.report["seconds"].sum()))))
    columns = "off the path, of radius", "off its turn rad", "least height, of rest", "lowest point mm", "seconds"
    turns = _turned(take) / (2.0 * np.pi)
    way = float(take.animation.points[-1].mean(axis=0)[0] - take.animation.points[0].mean(axis=0)[0])
    remarks = (f"the ball goes {way:.2f} m and turns {turns:.2f} times",)
    last = take.animation.frame_count - 1
    moments = tuple(round(share * last) for share in (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0))
    panels = [surface_panel(name, one, _sectors(first.surface) if one is take else None) for name, one in takes.items()]
    return Study(tuple(panels), columns, tuple(rows), moments, remarks, (dotted(path, 0.05, 0.014),))


def _sectors(ball: TriMesh) -> Array:
    """(f, 3) colours of a ball by which its spin about z is seen."""
    x, y, _ = ball.rest[ball.faces].mean(axis=1).T
    even = np.floor(np.arctan2(y, x) / (np.pi / 3.0)) % 2 == 0
    return np.where(even[:, None], (0.80, 0.16, 0.12), (0.90, 0.86, 0.78))


def _squash(take: Take[TetMesh]) -> float:
    """The least extent across the rest shape's smallest, on any frame: how flat it got."""
    x = take.animation.points
    return float(np.ptp(x[:, :, 1], axis=1).min() / np.ptp(take.animation.mesh.rest[:, 1]))


def _turned(take: Take[TetMesh]) -> float:
    """[rad] gone about z, frame by frame."""
    turns = take.report["rotation"]
    steps = np.einsum("tij,tkj->tik", turns[1:], turns[:-1])
    return float(np.abs(np.arctan2(steps[:, 1, 0], steps[:, 0, 0]).sum()))
