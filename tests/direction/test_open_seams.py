"""Seams that close while the shot runs: no frame on the way passes through itself; and seams that leave no room."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, InputError, Pin, Seam, TriMesh, track
from bunraku.contracts import Integers, Points
from bunraku.direction.track.seams import check_seams
from bunraku.geometry import intersecting_faces
from bunraku.scenes.study import grid_mesh


def _over_each_other(across: int, down: int, away: float = 0.03) -> tuple[TriMesh, Integers]:
    """Two sheets of 0.3 × 0.2 m, and the vertices of one border of the lower."""
    one = grid_mesh(np.linspace(0.0, 0.3, across), np.linspace(0.0, 0.2, down))
    n = one.point_count
    mesh = TriMesh(np.concatenate([one.rest, one.rest + [0, away, 0]]), np.concatenate([one.faces, one.faces + n]))
    return mesh, np.flatnonzero(one.rest[:, 0] < 1e-9)


def _turned(x: Points, angle: float) -> Points:
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T


@pytest.mark.slow
def test_panels_that_turn_while_they_are_sewn_do_not_pass_through_each_other() -> None:
    """The stitches keep the direction they begin with while the panels turn by 200°: it leads through their faces."""
    shell, border = _over_each_other(4, 4)
    n, times = shell.point_count // 2, np.arange(7) / 24.0
    poses = [_turned(shell.rest, angle) for angle in np.linspace(0.0, -np.radians(200.0), len(times))]
    guide = Animation(shell, times, np.array(poses))
    far = np.flatnonzero(shell.rest[:, 0] > 0.15)
    seam = Seam(np.stack([border, border + n], axis=1), closed=float(times[-1]))
    take = track(
        guide, shell, None, material="cotton", pins=Pin(far, to=guide, source=far), seams=seam, contact=True,
        threads=1, gravity=(0, 0, 0),
    )  # fmt: skip
    apart = np.abs(take.animation.points[:, border] - take.animation.points[:, border + n]).max(axis=(1, 2))
    assert apart[0] == pytest.approx(0.03) and apart[-1] < 1e-3 and (apart > 1e-6).sum() >= len(times) - 1
    for x in take.animation.points[apart > 1e-6]:
        assert not intersecting_faces(x, shell.faces, touching=True).any()


def _laid(stitches: list, shares: list | None = None) -> str:
    """What is said of a seam of two sheets of 3 × 3 vertices."""
    shell, _ = _over_each_other(3, 3)
    with pytest.raises(InputError) as told:
        check_seams([Seam(stitches, shares=shares)], shell, 0.0)
    return str(told.value)


def test_seams_that_lay_faces_onto_faces_are_refused() -> None:
    shell, border = _over_each_other(3, 3)
    every = np.arange(9)
    a, b, c = shell.faces[0].tolist()
    assert "face 8 onto face 0 by stitches [0, 9]" in _laid(np.stack([every, every + 9], axis=1).tolist())
    assert "and 7 more faces" in _laid(np.stack([every, every + 9], axis=1).tolist())
    one = _laid([[a, a + 9], [b, b + 9], [c, c + 9]])
    assert one.startswith("seams[0]: seams lay whole faces onto others") and "more" not in one
    # Onto the sides of a face, and by several seams of which none does it alone.
    on_sides = _laid([[a + 9, a, b], [b + 9, b, c], [c + 9, c, a]], [0.5, 0.5, 0.5])
    assert "face 8 onto face 0" in on_sides
    with pytest.raises(InputError, match=r"seams: .*face 8 onto face 0 by seams\[0\] stitches .*; seams\[1\] stitches"):
        check_seams([Seam([[a, a + 9]]), Seam([[b, b + 9], [c, c + 9]])], shell, 0.0)
    check_seams([Seam(np.stack([border, border + 9], axis=1)), Seam([[2, 11]])], shell, 0.0)


def test_stitches_onto_edges_that_close_an_edge_are_refused() -> None:
    shell, _ = _over_each_other(3, 3)
    a, b, c = shell.faces[0].tolist()
    for stitches, shares in (
        ([[a + 9, a, b], [b + 9, a, b]], [0.5, 0.5]),
        ([[a + 9, a, b], [b + 9, b, a]], [0.25, 0.75]),  # the same place, told from the other end
        ([[a + 9, a, b], [b + 9, a, b], [c + 9, a, b]], [0.25, 0.5, 0.75]),  # all on one line
        ([[a + 9, a, b], [b + 9, a, b], [a, c, c + 9]], [0.5, 0.5, 0.5]),
    ):
        assert "sews two corners of a face together" in _laid(stitches, shares)
    # Two corners on one edge lie along it, as panels of different edges do.
    check_seams([Seam([[a + 9, a, b], [b + 9, a, b]], shares=[0.25, 0.75])], shell, 0.0)
    # Both ends of an edge in places that other stitches make one.
    with pytest.raises(InputError, match=r"seams: .*two corners of a face"):
        check_seams(
            [Seam([[a + 9, 7, 8]], shares=[0.5]), Seam([[c + 9, 16, 17]], shares=[0.5]), Seam([[7, 16], [8, 17]])],
            shell, 0.0,
        )  # fmt: skip
