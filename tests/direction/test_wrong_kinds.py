"""Whatever stands where something else should, Python says so in one short line, never by a traceback of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.geometry import tet_bar
from bunraku.scenes.study import grid_mesh

MESH = grid_mesh(np.linspace(0, 1, 3), np.linspace(0, 1, 3))
GUIDE = bk.Animation(MESH, np.arange(3) / 24.0, np.repeat(MESH.rest[None], 3, axis=0))
BODY = tet_bar((1, 1, 1), (1.0, 1.0, 1.0))
BALL = bk.sphere((0, 0, 0), 0.2, edge=0.1)
UP = np.array([0.0, 1.0, 0.0])
FREE = np.full(9, -1)
COTTON = bk.ShellMaterial(young=1e6)
WRONG: dict[str, Any] = {
    "an object": object(),
    "of different lengths": [[1, 2], [3]],
    "a number no float holds": 10**400,
    "a large array": np.full((60, 60), np.nan),
    "a mapping": {"a": 1},
    "objects": np.array([None, object()], dtype=object),
    "an array of words": np.array(["a", "b"]),
    "bytes": b"x",
}
"""what is right nowhere below"""

CALLS: dict[str, Callable[[Any], object]] = {
    "TriMesh.rest": lambda bad: bk.TriMesh(bad, MESH.faces),
    "TriMesh.faces": lambda bad: bk.TriMesh(MESH.rest, bad),
    "TetMesh.rest": lambda bad: bk.TetMesh(bad, BODY.tets),
    "TetMesh.tets": lambda bad: bk.TetMesh(BODY.rest, bad),
    "Animation.mesh": lambda bad: bk.Animation(bad, GUIDE.times, GUIDE.points),
    "Animation.times": lambda bad: bk.Animation(MESH, bad, GUIDE.points),
    "Animation.points": lambda bad: bk.Animation(MESH, GUIDE.times, bad),
    "Animation.interpolation": lambda bad: bk.Animation(MESH, GUIDE.times, GUIDE.points, bad),
    "Curve": bk.Curve.of,
    "Plane.point": lambda bad: bk.Plane(bad, UP),
    "sphere.centre": lambda bad: bk.sphere(bad, 0.2),
    "Wind.size": lambda bad: bk.Wind((1, 0, 0), size=bad),
    "Wind.velocity": lambda bad: bk.Wind(bad),
    "Wind.shelter": lambda bad: bk.Wind((1, 0, 0), shelter=bad),
    "Gas.pressure": bk.Gas,
    "ShellMaterial.young": lambda bad: bk.ShellMaterial(young=bad),
    "ShellMaterial.weight": lambda bad: bk.ShellMaterial(young=1e6, weight=bad),
    "SolidMaterial.young": lambda bad: bk.SolidMaterial(young=bad),
    "SolidMaterial.law": lambda bad: bk.SolidMaterial(young=1e6, law=bad),
    "MaterialBlend.by_vertex materials": lambda bad: bk.MaterialBlend.by_vertex(bad, np.ones((9, 1)), MESH.faces),
    "MaterialBlend.by_vertex weights": lambda bad: bk.MaterialBlend.by_vertex([COTTON], bad, MESH.faces),
    "MaterialBlend.by_vertex faces": lambda bad: bk.MaterialBlend.by_vertex([COTTON], np.ones((9, 1)), bad),
    "MaterialBlend.by_region base": lambda bad: bk.MaterialBlend.by_region(bad, [], FREE[:8], MESH.faces, on="faces"),
    "MaterialBlend.by_region labels": lambda bad: bk.MaterialBlend.by_region(COTTON, [], bad, MESH.faces, on="faces"),
    "MaterialBlend.by_region on": lambda bad: bk.MaterialBlend.by_region(COTTON, [], FREE, MESH.faces, on=bad),
    "KeyShape.time": lambda bad: bk.KeyShape(bad, None),
    "Flight.turn": lambda bad: bk.Flight(1.0, turn=bad),
    "scales.parts": lambda bad: bk.scales(GUIDE, 0.5, parts=bad),
    "painted.guide_labels": lambda bad: bk.painted(MESH, bad, MESH, np.zeros(9, dtype=int)),
    "pointwise.guide": lambda bad: bk.pointwise(bad, MESH, np.array([[0, 0]])),
    "pointwise.pairs": lambda bad: bk.pointwise(MESH, MESH, bad),
    "embed.carrier": lambda bad: bk.embed(MESH, bad),
    "track.bending": lambda bad: bk.track(GUIDE, MESH, None, bending=bad),
    "track.start": lambda bad: bk.track(GUIDE, MESH, None, start=bad),
    "track.cap": lambda bad: bk.track(GUIDE, *bk.hierarchy(MESH, 0), cap=bad),
    "track.stretch": lambda bad: bk.track(GUIDE, *bk.hierarchy(MESH, 0), stretch=bad),
    "track.iterations": lambda bad: bk.track(GUIDE, MESH, None, iterations=bad),
    "track.pins vertices": lambda bad: bk.track(GUIDE, MESH, None, pins=bk.Pin(bad)),
    "track.pins to": lambda bad: bk.track(GUIDE, MESH, None, pins=bk.Pin([0], to=bad)),
    "track.warp": lambda bad: bk.track(GUIDE, MESH, None, material="cotton", warp=bad),
    "steer.mass": lambda bad: bk.steer(BODY, mass=bad),
    "steer.body name": lambda bad: bk.steer([bk.Body(BODY, name=bad)]),
    "steer.cache": lambda bad: bk.steer(BODY, cache=bad),
    "wrinkle.degree": lambda bad: bk.wrinkle(BALL, skin=COTTON, interior="foam", degree=bad),
    "wrinkle.handles": lambda bad: bk.wrinkle(
        BALL, skin=COTTON, interior="foam", handles=bk.Handle([0], lambda time: bad)
    ),
    "Muscle.activation": lambda bad: bk.Muscle(BALL, BALL.rest, bad),
    "examine": bk.examine,
    "repair": bk.repair,
    "repair.remesh": lambda bad: bk.repair(bk.Surface.of(MESH), remesh=bad),
    "repair.weld_distance": lambda bad: bk.repair(bk.Surface.of(MESH), weld_distance=bad),
    "tet_quality": bk.tet_quality,
    "mend_tets": bk.mend_tets,
    "read_mesh.path": bk.read_mesh,
    "read_mesh.unit": lambda bad: bk.read_mesh("sheet.obj", unit=bad),
    "read_mesh.up_axis": lambda bad: bk.read_mesh("sheet.obj", up_axis=bad),
    "read_mesh.prim": lambda bad: bk.read_mesh("sheet.obj", bad),
    "read_mesh.sew": lambda bad: bk.read_mesh("sheet.obj", sew=bad),
    "read_animation.path": bk.read_animation,
    "read_animation.rate": lambda bad: bk.read_animation("sheet.usda", rate=bad),
    "read_animation.prim": lambda bad: bk.read_animation("sheet.usda", bad),
    "read_animation.faces": lambda bad: bk.read_animation("sheet.usda", faces=bad),
    "read_tets.path": bk.read_tets,
    "read_skeleton.path": bk.read_skeleton,
    "read_shot": bk.read_shot,
    "read_stages": bk.read_stages,
    "write_mesh.path": lambda bad: bk.write_mesh(bad, MESH),
    "write_mesh.shape": lambda bad: bk.write_mesh("new.obj", bad),
    "write_animation.animation": lambda bad: bk.write_animation("new.usda", bad),
    "write_animation.like": lambda bad: bk.write_animation("new.usda", GUIDE, like=bad),
    "write_animation.frames": lambda bad: bk.write_animation("new.usda", GUIDE, frames=bad),
    "write_animation.origin": lambda bad: bk.write_animation("new.usda", GUIDE, origin=bad),
    "write_animation.prim": lambda bad: bk.write_animation("new.usda", GUIDE, prim=bad),
    "write_animation.velocities": lambda bad: bk.write_animation("new.usda", GUIDE, velocities=bad),
}


@pytest.mark.parametrize("what", CALLS)
def test_one_short_line_says_what_is_of_the_wrong_kind(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bk.write_mesh("sheet.obj", MESH)
    bk.write_animation("sheet.usda", GUIDE)
    there = sorted(tmp_path.iterdir())
    for name, bad in WRONG.items():
        try:
            CALLS[what](bad)
        except bk.InputError as error:
            assert "\n" not in str(error) and len(str(error)) < 700, name
        else:
            pytest.fail(f"{name} is taken")
    assert sorted(tmp_path.iterdir()) == there


def test_masked_numbers_are_no_places() -> None:
    with pytest.raises(bk.InputError, match="three finite numbers"):
        bk.Plane(np.ma.masked_array([0.0, 1.0, 0.0], [False, True, False]), UP)
    with pytest.raises(bk.InputError, match="times must be real numbers"):
        bk.Animation(MESH, np.ma.masked_array(GUIDE.times, [False, True, False]), GUIDE.points)


def test_activations_are_bounded() -> None:
    with pytest.raises(bk.InputError, match="an activation is a number"):
        bk.Muscle(BALL, BALL.rest, [[0, 0], [1, 1e300]])
