"""Skins in shots: handles met, waves told of, takes carried on, looked at, and laid on the motion of other takes."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import planned_bar
import pytest
from pxr import Usd, UsdGeom
from soft_bar import BAR, FOAM, LEFT, PUSH, RIGHT, SKIN, bar, wrinkled, write_bar

import bunraku as bk
from bunraku.cli.performance import exit_code
from bunraku.contracts import InputError
from bunraku.dynamics import NewtonSettings
from bunraku.geometry import Attribute, Scope, Surface, face_areas, vertex_normals
from bunraku.io import write_animation, write_mesh
from bunraku.materials import SkinOnSoft
from bunraku.shots import FrameDone, Overlays, Shot, TakeResult, dry_run, frames, open_take, read_shot
from bunraku.shots.kept import kept
from bunraku.shots.prepare_wrinkle import prepare_wrinkle
from bunraku.shots.run import TakeFolder
from bunraku.shots.wording import digits

LAYERS = SkinOnSoft(SKIN["thickness"], SKIN["young"], FOAM["young"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bar(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TakeResult:
    """A bar pushed together and turned, with its pictures."""
    place = tmp_path_factory.mktemp("soft")
    write_bar(place)
    return wrinkled(place, output={"preview": True, "formats": ["usda", "ply"]}).run(threads=1)


def texts(result: TakeResult, kind: str) -> str:
    return "\n".join(one.text for one in result.report.sentences if one.kind == kind)


@pytest.mark.slow
def test_handles_are_met_and_waves_are_told_of(made: TakeResult) -> None:
    report = made.report
    assert report.met is True and not report.missed and exit_code(made, strict=True) == 0
    assert report.arrays["residual"].shape == (3, 2) and report.arrays["residual"].max() < 1e-9 * BAR.size
    assert "Direction met on all 3 frames" in texts(made, "met") and "ended in a stable minimum" in texts(made, "met")
    notes, facts = texts(made, "note"), json.loads((made.folder / "report.json").read_text())["facts"]
    assert facts["wavelength"] == pytest.approx(LAYERS.wavelength) and facts["onset"] == pytest.approx(LAYERS.onset)
    assert "The materials demand waves of 121 mm, each over 2.4 edges of the mesh, from 2.4 % compression on." in notes
    assert "beyond that on frames 2–3" in notes and report.arrays["compression"][0] < 1e-9
    assert f"the body, {1e3 * report.arrays['highest'][-1]:.3g} mm" in notes
    assert "they come out too long; edges of 0.015 m would show them" in notes
    area, volume = 4 * 0.4 * 0.15 + 2 * 0.15**2, 0.4 * 0.15**2
    assert facts["mass"] == pytest.approx(area * 6e-3 * 1000.0 + volume * 60.0, rel=1e-6)
    assert "<th>handles</th><td>2</td>" in (made.folder / "index.html").read_text()
    for name in ("index.html", "preview.mp4", "contact_sheet.png", "forces.png", "ply"):
        assert (made.folder / name).exists()
    forces = report.arrays["force"]
    assert forces.shape == (3, 2, 3) and forces[2, 0, 0] > 0.0 > forces[2, 1, 0]  # pushed together
    most = np.linalg.norm(forces, axis=2)
    assert f"The largest force of direction is {digits(float(most.max()), 3)} N" in notes and "around handle" in notes
    assert read_shot(made.folder / "shot.toml").wrinkles["bar"].handles[1].keys[1].rotate == (20.0, 0.0, 0.0)
    assert json.loads((made.folder / "timings.json").read_text())["total_s"] > 0.0


def test_a_shot_does_what_python_does(made: TakeResult) -> None:
    """Two routes to the same frames: the shot file, and the verb with the same words."""
    middle = BAR.rest[RIGHT].mean(axis=0)

    def right(time: float) -> np.ndarray:
        share = 12.0 * time
        c, s = np.cos(np.radians(20.0 * share)), np.sin(np.radians(20.0 * share))
        about = (BAR.rest[RIGHT] - middle) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T
        return middle + about + np.array([-0.04 * share, 0.0, 0.0])

    mesh = bk.read_mesh(made.folder.parents[2] / "bar.obj", unit="m")
    handles = [bk.Handle(LEFT, lambda time: BAR.rest[LEFT]), bk.Handle(RIGHT, right)]
    take = bk.wrinkle(
        mesh, skin=bk.ShellMaterial(**SKIN), interior=bk.SolidMaterial(**FOAM), cell=0.1, duration=2.0 / 24.0,
        handles=handles, gravity=(0.0, 0.0, 0.0), threads=1,
    )  # fmt: skip
    assert take.surface is not None
    cache = TakeFolder(made.folder).cache()
    for k in range(2):  # to the last digits but for those in which the two say where a handle is
        np.testing.assert_allclose(kept(cache, k).points, take.animation.points[k], atol=1e-12)
        np.testing.assert_allclose(made.report.arrays["height"][k], take.report["height"][k], atol=1e-12)
    near = NewtonSettings().tolerance * BAR.size  # to which steps of the inside are solved
    np.testing.assert_allclose(kept(cache, 2).points, take.animation.points[2], atol=near)
    assert np.abs(take.report["height"][-1]).max() > 0.5 * SKIN["thickness"]


def test_the_height_lies_in_the_file_as_a_primvar(made: TakeResult) -> None:
    stage = Usd.Stage.Open(str(made.folder / "bar.usda"))
    shape = UsdGeom.Mesh(stage.GetPrimAtPath("/bunraku/bar"))
    height = UsdGeom.PrimvarsAPI(shape).GetPrimvar("displacement")
    assert height.GetInterpolation() == "vertex" and height.GetAttr().GetTimeSamples() == [1.0, 2.0, 3.0]
    told = np.array(height.Get(3.0))
    np.testing.assert_allclose(told, made.report.arrays["height"][-1], atol=1e-8)
    # It is the part along the body's normals of what the skin is away from the body.
    body = made.report.arrays["interior"][-1]
    away = np.array(shape.GetPointsAttr().Get(3.0), dtype=np.float64) - body
    np.testing.assert_allclose(np.sum(away * vertex_normals(body, BAR.faces), axis=1), told, atol=1e-6)


def test_a_take_is_carried_on_to_the_same_bytes(made: TakeResult, folder: Path) -> None:
    shot = wrinkled(folder, output={"formats": ["usda", "ply"]})

    def stop(event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shot.run(threads=1, progress=stop)
    result = shot.run(resume=True, threads=1)
    assert result.folder.name == "v001" and result.report.met is True
    for name in ("bar.usda", "frames/frame_000001.bkframe", "frames/frame_000002.bkframe"):
        assert (result.folder / name).read_bytes() == (made.folder / name).read_bytes()
    assert shot.run(resume=True, threads=1).already


def test_a_reviewer_sees_the_body_beside_its_skin_and_how_high_that_is(made: TakeResult) -> None:
    take = open_take(made.folder)
    overlays = Overlays(take)
    assert next(iter(overlays.kinds)) == "height"
    left = float(np.linalg.norm(made.report.arrays["force"][2, 0]))
    assert overlays.values("force", 2)[overlays.labels == 0] == pytest.approx(left)
    assert {"regions", "residual", "missed", "strain", "distance"} <= set(overlays.kinds)
    height = made.report.arrays["height"]
    np.testing.assert_array_equal(overlays.values("height", 2), height[2])
    low, high = overlays.scale("height")
    assert height.min() <= low < 0.0 < high <= height.max()
    np.testing.assert_allclose(take.guide(2), made.report.arrays["interior"][2], atol=1e-7)
    assert take.scene.regions == ("handle left", "handle right") and (overlays.labels == 1).sum() == len(RIGHT)
    assert overlays.values("missed", 2).max() == 0.0
    assert {"highest", "compression"} <= set(take.curves()) and take.curves()["force_N"][2] > 0.0
    prepared = prepare_wrinkle(Shot.of({"object": {"bar": bar()}}, folder=made.folder.parents[2]))
    frame = kept(TakeFolder(made.folder).cache(), 2)
    assert np.array_equal(prepared.beside(frame), made.report.arrays["interior"][2]) and prepared.alike


def test_a_dry_run_says_it_and_frames_come_lazily(folder: Path) -> None:
    shot = wrinkled(folder)
    lines = "\n".join(dry_run(shot, threads=1))
    assert "surface" in lines and "16 cells of 0.1 m inside; 2 handles" in lines
    assert "skin of 6 mm, 1e+07 Pa: waves of 121 mm" in lines and not (folder / "takes").exists()
    first = next(frames(shot, threads=1))
    assert first.number == 1 and np.abs(first.points - BAR.rest).max() < 1e-12


def test_handles_that_are_missed_are_said_to_be_and_why(folder: Path) -> None:
    late = [PUSH[0], {"region": "right", "keys": [{"frame": 0}, {"frame": 2, "move": [-0.004, 0.0, 0.0]}]}]
    result = wrinkled(folder, frames=(1, 2), handles=late).run(threads=1)
    (told,) = [one for one in result.report.sentences if one.text.startswith("Handle right is missed on 1 frame (1)")]
    assert "by up to 2 mm" in told.text and "begins at rest" in told.text and told.region == 1
    assert result.report.met is False and exit_code(result, strict=True) == 4
    end = np.flatnonzero(BAR.rest[:, 0] < 0.11)  # every other vertex of it pulls another way
    near = {"left": {"vertices": end[::2].tolist()}, "right": {"vertices": end[1::2].tolist()}}
    both = [PUSH[0], {"region": "right", "keys": [{"frame": 1}, {"frame": 2, "move": [-0.004, 0.0, 0.0]}]}]
    result = wrinkled(folder, frames=(1, 2), regions=near, handles=both, cell=0.15, two_way=False).run(threads=1)
    assert "force" not in result.report.arrays and not (result.folder / "forces.png").exists()  # nodes are held
    assert "it is less than two cells from handle right; smaller cells" in texts(result, "missed")


def test_a_skin_does_not_pass_through_what_is_in_its_way(folder: Path) -> None:
    """Lifted by its ends against a ball that stays; the report tells of the pairs, and that nothing cuts."""
    ball = {"role": "obstacle", "source": {"sphere": {"centre": [0.2, 0.22, 0.075], "radius": 0.06}}}
    up = [{"region": one, "keys": [{"frame": 1}, {"frame": 3, "move": [0.0, 0.02, 0.0]}]} for one in ("left", "right")]
    shot = wrinkled(folder, handles=up, others={"ball": ball}, physics={"contact": True})
    result = shot.run(threads=1)
    assert result.report.arrays["pairs"][-1] > 0 and result.report.arrays["closest"][-1] > SKIN["thickness"]
    found = result.report.measured.intersections
    assert found is not None and found.total == 0
    assert result.report.met is True


def test_a_path_takes_a_handle_along(folder: Path) -> None:
    middle = BAR.rest[RIGHT].mean(axis=0)
    rows = [[1.0, *middle, 0.0, 0.0, 0.0], [3.0, *(middle + [0.0, 0.01, 0.0]), 0.0, 0.0, 10.0]]
    prepared = prepare_wrinkle(wrinkled(folder, handles=[PUSH[0], {"region": "right", "path": {"points": rows}}]))
    goal = prepared.handles[1].goals(prepared.shell, 2.0 / 24.0)
    c, s = np.cos(np.radians(10.0)), np.sin(np.radians(10.0))
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    np.testing.assert_allclose(goal, middle + [0.0, 0.01, 0.0] + (BAR.rest[RIGHT] - middle) @ turn.T, atol=1e-12)


def rigid(path: Path) -> bk.Animation:
    """The bar carried and turned, as a file of frames 5 to 7."""
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    points = np.stack([BAR.rest @ np.linalg.matrix_power(turn, k).T + [0.1 * k, 0.0, 0.0] for k in range(3)])
    moving = bk.Animation(BAR, np.arange(3) / 24.0, points)
    write_animation(path, moving, frames=np.arange(5, 8), prim="/bar")
    return moving


def test_a_body_that_is_carried_has_a_smooth_skin(folder: Path) -> None:
    moving = rigid(folder / "moving.usdc")
    guide = {"file": "moving.usdc", "prim": "/bar"}
    shot = wrinkled(folder, frames=None, surface=None, guide=guide, handles=None, cell=None)
    result = shot.run(threads=1)
    assert result.report.measured.frames.tolist() == [5, 6, 7] and result.report.met is None
    assert result.report.arrays["highest"].max() < 1e-6 * BAR.size  # the file has single precision
    points = bk.read_animation(result.folder / "bar.usdc").points
    np.testing.assert_allclose(points, moving.points, atol=1e-6)
    notes = texts(result, "note")
    assert "The body goes as its guide has it" in notes and "The skin does not wrinkle" in notes
    assert "no wrinkles are to be expected" in notes and "No direction was asked for" not in notes


def test_a_skin_may_be_finer_than_the_motion_it_is_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarse character, carried and turned: a skin of four times as many faces goes along without a wrinkle, on a
    smooth surface near the character's points; and may be told no number of faces that nobody could wait for."""
    moving = rigid(folder / "moving.usdc")
    table = {"surface": None, "guide": {"file": "moving.usdc", "prim": "/bar"}, "handles": None, "cell": None}
    shot = wrinkled(folder, frames=None, levels=1, **table)
    result = shot.run(threads=1)
    assert result.report.measured.facts["faces"] == 4 * len(BAR.faces)
    assert result.report.arrays["highest"].max() < 1e-6 * BAR.size
    found = bk.read_animation(result.folder / "bar.usdc")
    assert found.mesh.point_count == BAR.point_count + 3 * len(BAR.faces) // 2
    corners = found.points[:, : BAR.point_count]  # the character's own come first, sharp ones rounded
    off, edges = (
        np.linalg.norm(corners - moving.points, axis=2),
        BAR.rest[BAR.faces] - BAR.rest[BAR.faces[:, [1, 2, 0]]],
    )
    assert off.max() < np.linalg.norm(edges, axis=2).mean() / 6.0  # as far as docs/wrinkle.md says
    (told,) = [one for one in prepare_wrinkle(shot)._begun.facts["warnings"] if "edges of the mesh" in one]
    assert told.endswith("(1 level more in a shot, or a finer mesh)")
    monkeypatch.setattr("bunraku.shots.read_wrinkle.MOST_FACES", 1000)
    with pytest.raises(InputError, match=r"bar\.levels: the skin would have too many faces .*try: 1 or less"):
        prepare_wrinkle(wrinkled(folder, frames=None, levels=2, **table))


def test_a_soft_body_may_have_a_finer_skin_than_its_file(folder: Path) -> None:
    """Handles that are numbered have the numbered points; those that are painted have what lies between, too."""
    weight = np.isin(np.arange(BAR.point_count), RIGHT).astype(np.float32)
    surface = replace(Surface.of(BAR), attributes=(Attribute("right", Scope.POINT, weight),))
    write_mesh(folder / "painted.usdc", surface)
    table = {"surface": {"file": "painted.usdc"}, "regions": {"right": {"painted": "right"}}, "levels": 1}
    push = [{"region": "right", "keys": [{"frame": 1}, {"frame": 3, "move": [-0.02, 0.0, 0.0]}]}]
    result = wrinkled(folder, frames=(1, 3), handles=push, **table).run(threads=1)
    assert result.report.met is True and result.report.measured.facts["faces"] == 4 * len(BAR.faces)
    assert result.report.measured.facts["interior"] == "lattice"
    assert len(prepare_wrinkle(wrinkled(folder, handles=push, **table)).handles[0].vertices) > len(RIGHT)


def test_a_skin_grows_where_that_is_painted(folder: Path) -> None:
    """By as much as is painted, more and more towards the right end; where the file has no such paint it is said."""
    share = BAR.rest[:, 0] / 0.4
    surface = replace(Surface.of(BAR), attributes=(Attribute("ripe", Scope.POINT, share.astype(np.float32)),))
    write_mesh(folder / "ripe.usdc", surface)
    table = {"surface": {"file": "ripe.usdc"}, "handles": None, "growth_painted": "ripe", "growth": [[1, 0], [3, 0.1]]}
    shot = wrinkled(folder, **table)
    found = prepare_wrinkle(shot)
    assert found.growing == pytest.approx(share, abs=1e-6)
    result = shot.run(threads=1)
    x = bk.read_animation(result.folder / "bar.usdc").points[-1]

    def grown(which: Any) -> float:
        """Of faces, the root of how much larger they are."""
        faces = BAR.faces[which]
        return float(np.sqrt(face_areas(x, faces).sum() / face_areas(BAR.rest, faces).sum()))

    middle = BAR.rest[BAR.faces, 0].mean(axis=1)
    assert grown(middle > 0.3) > 1.02 and grown(middle < 0.1) < 1.01
    # The body gives way; where it stayed all of it would be 0.1/1.1 at the right end.
    assert 0.04 < result.report.arrays["compression"][-1] < 0.1 / 1.1
    with pytest.raises(InputError, match=r"bar\.growth_painted: the surface has no such part \(got 'raw'\)"):
        prepare_wrinkle(wrinkled(folder, **{**table, "growth_painted": "raw"}))


def test_a_planned_take_has_a_skin_put_on(tmp_path: Path) -> None:
    """Several hands, one figure: what was planned is the motion of the body under the skin."""
    planned_bar.write_bar(tmp_path)
    plan = planned_bar.planned(tmp_path, frames=(1, 13), keys=[{**planned_bar.LEAN, "frame": 7}]).run()
    table: dict[str, Any] = {
        "role": "wrinkle", "guide": {"take": "bar/latest"}, "interior": "foam", "wavelength": 0.4,
        "skin": {"thickness": 0.01},
    }  # fmt: skip
    settings = {"object": {"coat": table}, "output": {"preview": False}, "physics": {"substeps": 1}}
    shot = Shot.of(settings, folder=tmp_path, source=tmp_path / "coat.toml")
    result = shot.run(frames=(5, 7), threads=1)
    assert result.report.measured.facts["wavelength"] == pytest.approx(0.4)
    below = bk.read_animation(plan.folder / "bar.usdc").points[4:7]
    np.testing.assert_allclose(result.report.arrays["interior"], below, atol=1e-6)
    assert result.report.arrays["compression"].max() > 0.01 and result.report.arrays["highest"].max() > 1e-4
    read = json.loads((result.folder / "provenance.json").read_text())["inputs"]
    assert read_shot(result.folder / "shot.toml").wrinkles["coat"].guide is not None
    assert read[0]["key"] == "object.coat.guide" and Path(read[0]["path"]).name == "bar.usdc"


def test_explicit_steps_in_a_shot_have_the_nodes_in_hand_and_tell_no_forces(folder: Path) -> None:
    jelly = {"young": 5e3, "poisson": 0.3, "density": 1000.0}
    soft: dict[str, Any] = {"interior": jelly, "skin": {**SKIN, "young": 5e5, "thickness": 2e-3}, "frames": (1, 2)}
    result = wrinkled(folder, stepper="symplectic", physics={"substeps": 4}, **soft).run(threads=1)
    report = result.report
    assert report.met is True and report.arrays["residual"].max() < 1e-9 * BAR.size
    assert "The skin is in stable balance on every frame" in texts(result, "met")
    assert "force" not in report.arrays and not report.arrays["interior_iterations"].any()
    facts = json.loads((result.folder / "report.json").read_text())["facts"]
    assert facts["two_way"] is True and 1 / 24 / 4 < facts["longest_step"] < 0.03
