"""Figures 5 and 6 of TRACKS: the regions set the length of the folds."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Flags, Integers
from bunraku.direction import Take
from bunraku.direction.track import painted, track
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation, ease

from .measures import mean_distance, wavelength
from .study import Panel, Study, grid_mesh, ripples

THIN = ShellMaterial(young=1e6, poisson=0.3, thickness=0.001, density=500.0, stretch_damping=5e-3, bend_damping=5e-3)
SHORTER = 0.12
"""share by which the guide shortens along x"""
COUNTS = (16, 64, 256, 1024)
"""regions of figure 6"""
_NOISE = 2e-4  # [m] heights from which folds grow


def shortening(vertices: int = 49, frame_count: int = 37, rate: float = 24.0) -> Animation:
    """The guide: a flat square sheet of one metre that becomes shorter along x within 0.4 s, and stays so.

    Folds begin fine and merge until they are as long as their regions let them: under 16 regions that takes all of the
    1.5 s, under 64 half of it.
    """
    side = np.linspace(-0.5, 0.5, vertices)
    mesh = grid_mesh(side, side)
    times = np.arange(frame_count) / rate
    shorter = 1.0 - SHORTER * ease(times, 0.0, 0.4)
    points = mesh.rest[None] * np.stack([shorter, np.ones_like(times), np.ones_like(times)], axis=1)[:, None]
    return Animation(mesh, times, points)


def blocks(mesh: TriMesh, across: int) -> Integers:
    """(n,) labels of across × across equal square regions of the unit sheet."""
    i, j = (np.clip(((mesh.rest[:, axis] + 0.5) * across).astype(int), 0, across - 1) for axis in (0, 2))
    return j * across + i


def uneven(threads: int | None = None, guide: Animation | None = None) -> Study:
    """Figure 5: even regions; then coarse ones on the left half, fine ones on the right."""
    guide = guide or shortening()
    mesh = guide.mesh
    left_vertices = mesh.rest[:, 0] < 0
    left = np.all(mesh.rest[mesh.faces, 0] <= 0, axis=1)
    mixed = np.where(left_vertices, blocks(mesh, 4), 16 + blocks(mesh, 16))
    rows, panels = [], [Panel("guide", guide, is_guide=True)]
    for name, labels in (("even, 64 regions", blocks(mesh, 8)), ("coarse left, fine right", mixed)):
        take = _folded(guide, labels, threads)
        panels.append(Panel.of(name, take))
        rows.append((name, tuple(_wavelength(take.animation, half) for half in (left, ~left))))
    return Study(tuple(panels), ("wavelength left m", "wavelength right m"), tuple(rows), (3, 9, 18, 36))


def resolution(threads: int | None = None, counts: tuple[int, ...] = COUNTS, guide: Animation | None = None) -> Study:
    """Figure 6: more regions hold the sheet closer to the guide and make its wrinkles finer."""
    guide = guide or shortening(vertices=65)
    rows, panels = [], [Panel("guide", guide, is_guide=True)]
    for count in counts:
        take = _folded(guide, blocks(guide.mesh, round(np.sqrt(count))), threads)
        panels.append(Panel.of(f"{count} regions", take))
        away = mean_distance(guide.mesh, take.animation.points[-1], guide.points[-1])
        rows.append((f"{count} regions", (1e3 * away, _wavelength(take.animation))))
    return Study(tuple(panels), ("from the guide mm", "wavelength m"), tuple(rows), (3, 9, 18, 36))


def _folded(guide: Animation, labels: Integers, threads: int | None) -> Take:
    mesh = guide.mesh
    tests = painted(mesh, labels, mesh, labels)
    return track(
        guide, mesh, tests, material=THIN, gravity=(0.0, 0.0, 0.0), start=ripples(mesh, _NOISE, seed=0),
        velocity="zero", threads=threads,
    )  # fmt: skip


def _wavelength(take: Animation, faces: Flags | None = None) -> float:
    """[m] of the last frame's heights."""
    return wavelength(take.mesh, take.points[-1, :, 1], faces)
