"""Clamping as an artist does it: two rows of vertices are pinned."""

from __future__ import annotations

import numpy as np
import pytest
from cantilever import elastica

from bunraku.direction import Pin
from bunraku.direction.track import track
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation


def strip_along_x(cells: int, across: int, edge: float) -> TriMesh:
    """A strip in the plane y = 0 that begins at x = −edge, alternating diagonals."""
    i, j = np.meshgrid(np.arange(cells + 1), np.arange(across + 1), indexing="ij")
    rest = np.stack([(i - 1) * edge, 0.0 * i, j * edge], axis=2).reshape(-1, 3)
    a = (i[:-1, :-1] * (across + 1) + j[:-1, :-1]).reshape(-1)
    b, c, d = a + across + 1, a + 1, a + across + 2
    odd = ((i + j)[:-1, :-1] % 2).reshape(-1)[:, None].astype(bool)
    first = np.where(odd, np.stack([a, c, b], 1), np.stack([a, c, d], 1))
    second = np.where(odd, np.stack([b, c, d], 1), np.stack([a, d, b], 1))
    return TriMesh(rest.astype(np.float64), np.concatenate([first, second]))


def test_two_pinned_rows_clamp_at_the_inner_row() -> None:
    """A heavy strip against the elastica (qL³/D = 10): faces inside the clamp are rigid, so the error falls as h².

    With faces that bend like the rest it would be 7 % at 16 edges.
    """
    n, thickness, young = 16, 0.02, 1e6
    edge = 1.0 / n
    mesh = strip_along_x(n + 1, 4, edge)  # one cell more: the clamp
    rigidity = young * thickness**3 / 12
    density = 10.0 * rigidity / (9.81 * thickness)
    soft = ShellMaterial(young=young, poisson=0.0, thickness=thickness, density=density)
    held = np.flatnonzero(mesh.rest[:, 0] < 1e-9)
    pins = [Pin(held)]
    guide = Animation(mesh, np.arange(2.0), np.stack([mesh.rest, mesh.rest]))
    take = track(guide, mesh, None, material=soft, pins=pins, start="settled", tolerance=1e-7, threads=1)
    tip = take.animation.points[0][mesh.rest[:, 0] > 1 - 1e-9].mean(axis=0)
    drop, reach = elastica(10.0)
    assert -tip[1] == pytest.approx(drop, rel=0.02)
    assert tip[0] == pytest.approx(reach, rel=0.02)
