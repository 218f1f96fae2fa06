"""Contact and obstacles in a shot file: read, refused, laid out over the shot, run, resumed, told and checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from PIL import Image

from bunraku import Animation, InputError, read_shot, write_mesh
from bunraku.cli.performance import exit_code
from bunraku.collision import Obstacle, Plane, sphere
from bunraku.io import FrameCache, write_animation
from bunraku.render import STUDIO
from bunraku.scenes import crossing_arms
from bunraku.scenes.study import grid_mesh
from bunraku.shots import FrameDone, TakeResult, dry_run
from bunraku.shots.contact_spec import ContactTable
from bunraku.shots.intersections import count_intersections
from bunraku.shots.kept import kept
from bunraku.shots.prepare import prepare
from bunraku.shots.preview import OBSTACLE_PAINT, Pair, Preview
from bunraku.shots.provenance import settings
from bunraku.shots.scenery import Scenery

Files = Callable[..., Path]
BALL = {"role": "obstacle", "source": {"sphere": {"centre": [0, 3, 0], "radius": 0.2}}}
FLOOR = {"role": "obstacle", "source": {"plane": {"point": [0, -1, 0]}}}


@pytest.fixture
def with_objects(files: Files) -> Callable[..., Path]:
    """with_objects(contact, name={…}, …) writes the box's shot with further objects."""

    def write(contact: Any = True, shot: dict[str, Any] | None = None, **objects: dict[str, Any]) -> Path:
        path = files(shot=shot or {}, physics={"contact": contact} if contact is not None else {})
        path.write_text(path.read_text() + "\n" + tomli_w.dumps({"object": objects}), encoding="utf-8")
        return path

    return write


def _arms(folder: Path, **physics: Any) -> Path:
    """Arms that meet on the second of four frames."""
    guide = crossing_arms(72, along=9, across=3)
    write_animation(folder / "arms.usda", guide, rate=24.0, prim="/arms", frames=np.arange(1, 73))
    told = {
        "shot": {"frames": [22, 25]},
        "object": {"arms": {
            "guide": {"file": "arms.usda"}, "mesh": {"levels": 1},
            "material": {"young": 1e6, "thickness": 5e-4, "density": 400.0},
        }},
        "physics": {"substeps": 1, "tolerance": 1e-3, **physics}, "output": {"preview": False},
    }  # fmt: skip
    (folder / "arms.toml").write_text(tomli_w.dumps(told), encoding="utf-8")
    return folder / "arms.toml"


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> TakeResult:
    return read_shot(_arms(tmp_path_factory.mktemp("arms"), contact=True)).run(threads=1)


def test_a_shot_with_obstacles_reads_back(with_objects: Callable[..., Path], tmp_path: Path) -> None:
    write_mesh(tmp_path / "wall.obj", sphere((0, 2, 0), 0.3))
    rod = {"role": "obstacle", "source": {"capsule": {"from": [0, 2, 0], "to": [1, 2, 0], "radius": 0.1, "edge": 0.05}}}
    wall = {"role": "obstacle", "source": {"file": "wall.obj", "unit": "cm"}}
    contact = {"thickness": 0.001, "self": False, "reach": 0.02}
    shot = read_shot(with_objects(contact, ball=BALL, floor=FLOOR, rod=rod, wall=wall))
    assert list(shot.obstacles) == ["ball", "floor", "rod", "wall"] and list(shot.shells) == ["box"]
    told = shot.physics.contact
    assert isinstance(told, ContactTable)
    assert (told.thickness, told.self_contact, told.friction, told.press) == (0.001, False, 0.3, 0.02)
    for defaults in (False, True):
        shot.write(tmp_path / "again.toml", defaults=defaults)
        again = read_shot(tmp_path / "again.toml")
        assert (again.physics, again.object) == (shot.physics, shot.object)
    assert "press" not in shot.settings(tmp_path, defaults=False)["physics"]["contact"]
    with pytest.raises(InputError, match="overwrite an input"):
        shot.write(tmp_path / "wall.obj")


def test_contact_is_off_unless_it_is_asked_for(files: Files) -> None:
    assert prepare(read_shot(files())).contact.contact is None
    assert prepare(read_shot(files(physics={"contact": False}))).contact.contact is None
    whole = prepare(read_shot(files(physics={"contact": True}))).contact.contact
    assert whole is not None and whole.thickness is None and whole.self_contact and whole.balance == 0.0
    balanced = prepare(read_shot(files(physics={"contact": {"balance": 0.3}}))).contact.contact
    assert balanced is not None and balanced.balance == 0.3


@pytest.mark.parametrize(
    ("contact", "objects", "said"),
    [
        (False, {"ball": BALL}, "object.ball.role: an obstacle is felt only with contact, and contact is off"),
        (None, {"ball": BALL}, "try: [physics] contact = true"),
        ({"self": False}, {}, "physics.contact.self: the shell feels neither itself nor an obstacle"),
        (True, {"ball": {"source": BALL["source"]}}, "object.ball.role: is missing: source is for 'obstacle'"),
        (True, {"ball": {"role": "obstacle"}}, "object.ball.source: is missing"),
        (True, {"a": {"role": "obstacle", "source": {}}}, "object.a.source: needs one of several keys (got 'none')"),
        (True, {"a": {"role": "obstacle", "source": {"plane": {}, "take": "x/v001"}}}, "(got 'take, plane')"),
        (True, {"a": {"role": "obstacle", "source": {"plane": {}, "unit": "m"}}}, "a.source.unit: tells about a file"),
        (True, {"a": {"role": "obstacle", "source": {"plane": {"normal": [0, 0, 0]}}}}, "normal: has no direction"),
        (True, {"a": {"role": "obstacle", "source": {"sphere": {"centre": [0, 0, 0]}}}}, "sphere.radius: is missing"),
        (True, {"a": {"role": "obstacle", "source": {"capsule": {"from": [0, 0, 0], "to": [9, 0, 0], "radius": 1e-6}}}},
         "is too thin for its length"),
        (True, {"a": {"role": "obstacle", "source": {"take": "box/v009"}}}, "takes/box/v009: there is no such take"),
        (True, {"a": {**BALL, "guide": {"take": "x/v1"}}}, "object.a.guide: unknown key"),
        (True, {"a": {**FLOOR, "friction": -0.5}}, "object.a.friction: "),
        (True, {"a": {**FLOOR, "thickness": -0.01}}, "object.a.thickness: "),
    ],
)  # fmt: skip
def test_refusals(with_objects: Callable[..., Path], contact: Any, objects: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        prepare(read_shot(with_objects(contact, **objects)))
    lines = str(refused.value).splitlines()
    assert len(lines) == 1 and said in lines[0]


def test_a_dry_run_says_what_touches(with_objects: Callable[..., Path]) -> None:
    told = dry_run(read_shot(with_objects({"thickness": 0.002}, ball=BALL, floor=FLOOR)))
    assert "contact: 2 mm stay open, friction 0.3, it feels itself; obstacles: ball, floor" in told
    assert not any("contact" in line for line in dry_run(read_shot(with_objects(None))))


def test_a_number_of_iterations_cannot_be_asked_for_with_contact(files: Files) -> None:
    with pytest.raises(InputError, match=r"physics\.iterations: with contact every step runs until it has converged"):
        read_shot(files(physics={"contact": True, "iterations": 1}))
    with pytest.raises(InputError, match="obstacles only, and nothing is simulated"):
        path = files(physics={"contact": True})
        path.write_text(tomli_w.dumps({"object": {"ball": BALL}, "physics": {"contact": True}}))
        read_shot(path)


def test_obstacles_stand_where_their_file_says(
    with_objects: Callable[..., Path], files: Files, tmp_path: Path, guide: Animation
) -> None:
    """In metres, Y up, seen from the shot's own origin; another file is another take."""
    far = replace(guide, mesh=guide.mesh.with_rest(guide.mesh.rest + 5000.0), points=guide.points + 5000.0)
    files(guide=far)
    write_mesh(tmp_path / "wall.obj", sphere((100, 200, 300), 50))
    wall = {"role": "obstacle", "source": {"file": "wall.obj", "unit": "cm", "up_axis": "Z"}}
    ready = prepare(read_shot(with_objects(True, ball=BALL, floor=FLOOR, wall=wall)))
    ball, stone = ready.contact.obstacles
    (floor,) = ready.contact.planes
    assert ready.origin[0] > 1000.0 and (ball.name, stone.name, floor.name) == ("ball", "wall", "floor")
    assert stone.at(3.0).mean(axis=0) + ready.origin == pytest.approx([1.0, 3.0, -2.0], abs=1e-9)  # (x, z, −y)
    assert ball.at(0.0).mean(axis=0) + ready.origin == pytest.approx([0.0, 3.0, 0.0], abs=1e-9)
    assert floor.point + ready.origin == pytest.approx([0.0, -1.0, 0.0], abs=1e-9)
    before = settings(ready)
    assert "object.wall.source (its file)" in before["inputs"] and ready.contact.prims == {"wall": ""}
    (tmp_path / "wall.obj").rename(tmp_path / "stone.obj")  # the same file elsewhere is the same take
    again = {"role": "obstacle", "source": {"file": "stone.obj", "unit": "cm", "up_axis": "Z"}}
    assert settings(prepare(read_shot(with_objects(True, ball=BALL, floor=FLOOR, wall=again)))) == before
    write_mesh(tmp_path / "wall.obj", sphere((100, 200, 300), 60))
    assert settings(prepare(read_shot(with_objects(True, ball=BALL, floor=FLOOR, wall=wall)))) != before


def test_a_floor_has_a_thickness_and_a_friction_of_its_own(with_objects: Callable[..., Path]) -> None:
    ice = {**FLOOR, "thickness": 0.01, "friction": 0.02}
    first, second = prepare(read_shot(with_objects(True, floor=FLOOR, ice=ice))).contact.planes
    assert (first.name, first.thickness, first.friction) == ("floor", None, None)
    assert (second.name, second.thickness, second.friction) == ("ice", 0.01, 0.02)


def test_moving_obstacles_keep_to_the_shots_frames(with_objects: Callable[..., Path], tmp_path: Path) -> None:
    """Frame by frame with the guide, retimed where asked, held outside their range, from rest through a preroll."""
    mesh = sphere((0, 3, 0), 0.2)
    poses = np.stack([mesh.rest + [0.1 * k, 0, 0] for k in range(1, 4)])  # frames 2, 3, 4
    ball = Animation(mesh, np.arange(2, 5) / 24.0, poses, "linear")
    write_animation(tmp_path / "ball.usda", ball, rate=24.0, prim="/ball", frames=np.arange(2, 5))
    plain = {"role": "obstacle", "source": {"file": "ball.usda"}}
    back = {"role": "obstacle", "source": {"file": "ball.usda", "retime": [[1, 4], [5, 2]]}}
    path = with_objects(True, {"preroll": 4}, plain=plain, back=back)
    ready = prepare(read_shot(path))
    here, there = ready.contact.obstacles
    assert settings(ready)["plain (its prim)"] == "/ball"

    def ahead(obstacle: Obstacle, frame: float) -> float:
        return float((obstacle.at(frame / 24.0) + ready.origin - mesh.rest)[:, 0].mean())

    assert [ahead(here, k) for k in (1, 2, 3, 4, 6)] == pytest.approx([0.1, 0.1, 0.2, 0.3, 0.3], abs=1e-6)
    assert [ahead(there, k) for k in (1, 3, 5)] == pytest.approx([0.3, 0.2, 0.1], abs=1e-6)
    start = ahead(here, -3)  # the preroll's first frame is the rest shape, which the file says itself
    assert start == pytest.approx(float((here.mesh.rest + ready.origin - mesh.rest)[:, 0].mean()), abs=1e-9)


def test_a_finished_take_may_stand_in_the_way(with_objects: Callable[..., Path], files: Files) -> None:
    read_shot(files(name="first")).run(threads=1)
    path = with_objects(True, ghost={"role": "obstacle", "source": {"take": "first/latest"}})
    ready = prepare(read_shot(path))
    (ghost,) = ready.contact.obstacles
    assert ghost.mesh.point_count == ready.shell.point_count
    assert ghost.at(6 / 24.0)[4:8] == pytest.approx(ready.guide.points[-1][4:8], abs=0.2)


def test_what_contact_keeps_from_the_guide_is_told_and_is_missed_direction(take: TakeResult) -> None:
    report = json.loads((take.folder / "report.json").read_text())
    assert report["intersections"] == {
        "total": 0, "per_frame": [0] * 4, "with_itself": [0] * 4, "with_obstacles": [0] * 4
    }  # fmt: skip
    off = report["kept_off_by_contact"]
    assert off and all(set(one["frames"]) <= {23.0, 24.0, 25.0} and one["max_m"] > 0.0 for one in off)
    residual = np.asarray(take.report.arrays["residual"])
    assert max(one["max_m"] for one in off) == residual.max() > 1e-3
    assert report["direction_met"] is False and report["missed_frames"] == [23.0, 24.0, 25.0]
    assert exit_code(take, strict=True) == 4 and exit_code(take, strict=False) == 0
    told = [f"{one.kind}: {one.text}" for one in take.report.sentences]
    assert any(f"missed: Contact kept {len(off)} of 27 regions from the guide on frames 23–25" in one for one in told)
    assert sum("was kept from the guide by contact on frames 2" in one for one in told) == min(len(off), 5)
    assert any(line.startswith("met: No triangle of the shell passes through anything") for line in told)
    near = next(line for line in told if "near pairs" in line)
    assert near.startswith("note: Surfaces were near each other on frames 23–25")
    page = (take.folder / "index.html").read_text()
    assert "kept from the guide by contact" in page and "Near pairs" in page and "direction missed" in page


def test_without_contact_the_same_guide_passes_through_itself(tmp_path: Path) -> None:
    shot = read_shot(_arms(tmp_path))
    result = shot.run(threads=1)
    found = result.report.measured.intersections
    assert found is not None and found.total > 0 and found.with_itself[0] == 0 and not found.with_obstacles.any()
    told = [f"{one.kind}: {one.text}" for one in result.report.sentences]
    assert any("note: The shell passes through itself on frames" in line and "contact = true" in line for line in told)
    assert exit_code(result, strict=True) == 0  # nobody asked for anything else
    quiet = replace(shot, output=replace(shot.output, checked=False))
    assert quiet.run(tmp_path / "quiet", threads=1).report.measured.intersections is None
    assert json.loads((tmp_path / "quiet/report.json").read_text())["intersections"] is None


def test_a_take_in_two_halves_has_the_same_bytes(take: TakeResult, tmp_path: Path) -> None:
    """Stopped while surfaces touch: what contact carries from step to step is kept with the frame."""

    def stop(event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == 24:
            raise KeyboardInterrupt

    shot = read_shot(_arms(tmp_path, contact=True))
    with pytest.raises(KeyboardInterrupt):
        shot.run(threads=1, progress=stop)
    result = shot.run(resume=True, threads=1)
    for name in ("arms.usdc", "report.json", *(f"frames/frame_{k:06d}.bkframe" for k in range(4))):
        assert (result.folder / name).read_bytes() == (take.folder / name).read_bytes()
    memory = kept(_cache(result), 3).state.memory
    assert {"contact.stiffness", "contact.pairs", "contact.free_force"} <= set(memory)
    assert np.issubdtype(memory["contact.pairs"].dtype, np.integer) and len(memory["contact.pairs"])


def _cache(result: TakeResult) -> Any:
    return FrameCache(result.folder / "frames")


def test_a_sheet_falls_on_obstacles_and_through_none(tmp_path: Path) -> None:
    flat = grid_mesh(np.linspace(-0.2, 0.2, 5), np.linspace(-0.2, 0.2, 5))
    mesh = flat.with_rest(flat.rest + [0, 0.06, 0])
    still = Animation(mesh, np.arange(1, 5) / 24.0, np.repeat(mesh.rest[None], 4, axis=0))
    write_animation(tmp_path / "sheet.usda", still, rate=24.0, prim="/sheet")
    ball = sphere((0, -0.1, 0), 0.1, 0.05)
    rising = Animation(ball, np.arange(1, 5) / 24.0, np.stack([ball.rest + [0, 0.03 * k, 0] for k in range(4)]))
    write_animation(tmp_path / "ball.usda", rising, rate=24.0, prim="/ball")
    told = {
        "object": {
            "sheet": {"guide": {"file": "sheet.usda"}, "mesh": {"levels": 0}, "track": {"method": "none"}},
            "ball": {"role": "obstacle", "source": {"file": "ball.usda"}}, "floor": FLOOR,
        },
        "physics": {"contact": {"thickness": 0.002}, "tolerance": 1e-3, "substeps": 1}, "output": {"preview": False},
    }  # fmt: skip
    (tmp_path / "sheet.toml").write_text(tomli_w.dumps(told))
    result = read_shot(tmp_path / "sheet.toml").run(threads=1)
    found = result.report.measured.intersections
    assert found is not None and found.total == 0 and result.report.met is None
    assert result.report.arrays["pairs"].max() > 0  # the ball has arrived
    ready, last = prepare(read_shot(tmp_path / "sheet.toml")), kept(_cache(result), 3)

    def lowered(by: float) -> Any:
        moved = replace(last.state, q=(last.points - [0, by, 0]).reshape(-1))
        return count_intersections(ready, [replace(last, state=moved)])

    assert lowered(0.0).total == 0  # and the checker can find something:
    through = lowered(0.03)
    assert through.with_obstacles[0] > 0 and through.with_itself[0] == 0 and through.either[0] == through.total
    assert lowered(2.0).with_obstacles[0] == len(ready.shell.faces)  # all of it below the floor
    report = replace(result.report, measured=replace(result.report.measured, intersections=through))
    assert report.crossed and exit_code(replace(result, report=report), strict=True) == 4


@pytest.mark.slow
def test_the_preview_draws_obstacles_in_a_neutral_colour(tmp_path: Path) -> None:
    flat = grid_mesh(np.linspace(-0.2, 0.2, 3), np.linspace(-0.2, 0.2, 3))
    ball = Obstacle(sphere((0.0, 0.25, 0.0), 0.1, 0.05))
    slope = Plane((0.0, -0.2, 0.0), (1.0, 1.0, 0.0))  # type: ignore[arg-type]
    scenery = Scenery((ball,), (slope, Plane((0.0, -0.3, 0.0), (0.0, 1.0, 0.0))))  # type: ignore[arg-type]
    things, faces = scenery.around(flat.rest)
    assert scenery.floor == pytest.approx(-0.3) and len(things) == 2  # the level plane is the ground
    assert Scenery(ground=0.1).floor == 0.1 and replace(scenery, ground=-0.5).floor == pytest.approx(-0.3)
    square = things[1].at(0.0)
    assert (square - slope.point) @ slope.normal == pytest.approx(np.zeros(4), abs=1e-12)
    assert faces.max() == ball.mesh.point_count + 3
    points = np.concatenate([one.at(0.0) for one in things])

    def grey(name: str, with_faces: Any, there: Any) -> float:
        """The share of the result's picture that is dark and of no hue."""
        pair = Pair(1.0, flat.rest, flat.rest, there)
        film = Preview(flat.faces, flat.faces, np.array([1.0]), lambda k: pair, "t", 24.0, with_faces, scenery.floor)
        film.make(tmp_path / f"{name}.mp4", tmp_path / f"{name}.png", lambda k, count: None)
        sheet = np.asarray(Image.open(tmp_path / f"{name}.png"), dtype=float)
        half = sheet[sheet.shape[0] // 2 :]
        return float(((np.ptp(half, axis=2) < 12) & (half.mean(axis=2) < 120)).mean())

    bare, drawn = grey("bare", np.zeros((0, 3), np.int64), np.zeros((0, 3))), grey("drawn", faces, points)
    assert drawn > bare + 0.05 and np.ptp(OBSTACLE_PAINT) < 0.02 < np.ptp(STUDIO.front)


@pytest.mark.parametrize(("way", "size"), [(0.0, (640, 720)), (3.0, (1280, 360))])
def test_what_travels_is_shown_in_wide_pictures(way: float, size: tuple[int, int]) -> None:
    flat = grid_mesh(np.linspace(-0.2, 0.2, 3), np.linspace(-0.2, 0.2, 3))

    def pair(k: int) -> Pair:
        there = flat.rest[:, [0, 2, 1]] + [way * k / 4, 0.0, 0.0]  # it stands
        return Pair(1.0 + k, there, there)

    film = Preview(flat.faces, flat.faces, np.arange(1.0, 6.0), pair, "t", 24.0)
    assert film.view().size == size
