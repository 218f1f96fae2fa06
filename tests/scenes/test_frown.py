"""A head that frowns: its shape, its muscles, and what they do to a skin."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import bunraku as bk
from bunraku.geometry import TriMesh, edges
from bunraku.geometry.doctor.remesh import remesh
from bunraku.geometry.enclosing import signed_volume
from bunraku.materials import SkinOnSoft
from bunraku.scenes.frown import FLESH, MUSCLES, Sculpted, brows, crown, edge_among, frowning, held, missing, skin_of
from bunraku.scenes.head import NECK, head, outside_head, skull
from bunraku.scenes.soft_shapes import Part

DATA = Path(os.environ.get("BUNRAKU_TEST_DATA") or Path(__file__).resolve().parents[2] / "../shared/data").resolve()
SCAN = DATA / "meshes/face_lee_perry_smith.glb"
COARSE = 0.006


def test_the_head_is_closed_and_finest_at_the_brows() -> None:
    mesh = head(COARSE)
    assert (edges(mesh.faces).face_count == 2).all() and 0.005 < signed_volume(mesh.rest, mesh.faces) < 0.01
    assert np.ptp(mesh.rest[:, 1]) == pytest.approx(0.32, abs=0.01) and mesh.rest[:, 1].min() > NECK - 1e-3
    assert np.abs(outside_head(mesh.rest)).max() < 0.5 * COARSE
    assert 0.7 * COARSE < edge_among(mesh, brows(mesh)) < 1.2 * COARSE < 0.25 * edge_among(mesh, held(mesh)["back"])
    back, eyes = held(mesh).values()
    assert not np.intersect1d(back, eyes).size


def test_muscles_are_inside_and_do_what_they_are_named_for() -> None:
    depths = outside_head(skull().rest)
    assert depths.max() < 0.0 and np.median(depths) == pytest.approx(-0.022, abs=1e-3)
    for name, one in MUSCLES.items():
        relaxed, move = one.relaxed, one.contracted - one.relaxed.rest
        assert (edges(relaxed.faces).face_count == 2).all() and outside_head(relaxed.rest).max() < 0.0, name
        volumes = [signed_volume(x, relaxed.faces) for x in (relaxed.rest, one.contracted)]
        assert 0.0 < volumes[0] == pytest.approx(volumes[1], rel=1e-9)
        far = np.argsort(np.linalg.norm(relaxed.rest - one.part.a, axis=1))
        origin, taken, side = move[far[:10]].mean(axis=0), move[far[-10:]].mean(axis=0), np.sign(one.part.b[0])
        along = {"procerus": -taken[1], "corrugator": -side * taken[0], "zygomatic": taken[1]}
        assert along[name.partition("_")[0]] > 0.008, name
        if name.startswith("corrugator"):  # the inner end of the brow comes down with the glabella, the outer one less
            assert origin[1] < 2.0 * taken[1] < -0.006
        else:
            assert np.linalg.norm(origin) < 0.003  # on the bone


def compression(mesh: TriMesh, x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(f,) by which share of itself each of the faces is shortest in its plane."""
    a, b = (np.stack([y[faces[:, k]] - y[faces[:, 0]] for k in (1, 2)], axis=2) for y in (mesh.rest, x))
    frame = np.linalg.qr(a)
    return 1.0 - np.linalg.svd(b @ np.linalg.inv(frame.R), compute_uv=False)[:, -1]


@pytest.mark.slow
def test_a_frown_wrinkles_the_brow() -> None:
    skin = skin_of(0.045)
    take = frowning(head(COARSE), skin, frames=3, threads=1, cell=0.036)
    assert take.surface is not None
    mesh, x = take.animation.mesh, take.surface.points[-1]
    assert take.report["converged"].all() and take.report["handle_residual"].max() < 1e-9
    between, top = brows(mesh), crown(mesh)
    # Pressed beyond the onset between the brows, not on the crown.
    assert isinstance(skin.young, float)
    layers = SkinOnSoft(skin.thickness, skin.young, FLESH.young)
    pressed = compression(mesh, x, mesh.faces)
    inside = [np.isin(mesh.faces, which).all(axis=1) for which in (between, top)]
    assert np.median(pressed[inside[0]]) > 1.5 * layers.onset and np.median(pressed[inside[1]]) < 0.5 * layers.onset
    height = np.abs(take.report["height"][-1])
    assert height[between].max() > 2.0 * height[top].max() and height[between].max() > 0.5 * layers.thickness
    # Brows come together, the glabella comes down, the mouth's corners go up.
    move = x - mesh.rest

    def moved(place: tuple[float, float, float]) -> np.ndarray:
        return move[np.linalg.norm(mesh.rest - place, axis=1) < 0.012].mean(axis=0)

    assert moved((0.045, 0.016, 0.092))[0] < -0.003 and moved((-0.045, 0.016, 0.092))[0] > 0.003
    assert moved((0.0, 0.010, 0.106))[1] < -0.003 and moved((0.040, -0.103, 0.072))[1] > 0.002
    assert all(0.0 < share < 75.0 for share in missing(take))


@pytest.mark.slow
@pytest.mark.skipif(not SCAN.exists(), reason="no scanned head: shared/data/meshes")
def test_a_scanned_head_frowns() -> None:
    """Two corrugators under its brows; nothing of it is kept."""
    scan = bk.read_mesh(SCAN, unit="m")
    mesh = remesh(scan.with_rest(0.046 * scan.rest), 0.009)  # the head is then 0.23 m from chin to crown
    assert (edges(mesh.faces).face_count == 2).all()

    def under(x: float, y: float) -> tuple[float, float, float]:
        near = np.hypot(mesh.rest[:, 0] - x, mesh.rest[:, 1] - y) < 0.009
        return x, y, float(mesh.rest[near, 2].max()) - 0.013

    pair = [
        Sculpted(Part(under(side * 0.008, 0.092), under(side * 0.040, 0.102), (0.007, 0.007)), 0.65) for side in (-1, 1)
    ]
    muscles = [bk.Muscle(one.relaxed, one.contracted, [[0.0, 0.0], [0.3, 1.0]], 60.0, anchored=True) for one in pair]
    back = np.flatnonzero((mesh.rest[:, 2] < 0.03) | (mesh.rest[:, 1] < 0.0))
    take = bk.wrinkle(
        mesh, skin=skin_of(0.05), interior=FLESH, cell=0.04, muscles=muscles, duration=0.3, rate=10.0,
        handles=bk.Handle(back, lambda time: mesh.rest[back]), gravity=(0.0, 0.0, 0.0), threads=1,
    )  # fmt: skip
    assert take.surface is not None and take.report["converged"].all()
    away, ways = take.report["muscle_residual"][-1], np.array(take.facts["muscle_ways"])
    assert (away < 0.75 * ways).all()
    where = [np.linalg.norm(mesh.rest - under(side * 0.035, 0.100), axis=1) < 0.02 for side in (-1, 1)]
    left, right = (float((take.surface.points[-1] - mesh.rest)[one, 0].mean()) for one in where)
    assert left > 0.002 and right < -0.002
    height = np.abs(take.report["height"][-1])
    assert height[mesh.rest[:, 1] > 0.15].max() < 0.3 * height[np.abs(mesh.rest[:, 1] - 0.1) < 0.03].max()
