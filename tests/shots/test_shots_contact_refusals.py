"""What a shot file with contact cannot mean, through the real command: one sentence with file and key, exit code 2, and
nothing written; what it may mean but most likely does not, warned of; and what its report says of its first frame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from bunraku import Animation, TriMesh, read_animation, read_shot, sphere
from bunraku.cli import main
from bunraku.contracts import InputError
from bunraku.io import write_animation
from bunraku.shots.prepare import prepare
from bunraku.shots.shot import shown
from bunraku.testing import sheet, survey_apart

BALL = sphere((0, -0.1, 0), 0.1, 0.1)


def _lying() -> TriMesh:
    """25 vertices with edges of 0.1 m, 3 cm above the origin."""
    flat = sheet(4, 4, length=0.4).rest - 0.2
    return TriMesh(np.stack([flat[:, 0], np.full(25, 0.03), -flat[:, 1]], axis=1), sheet(4, 4).faces)


def _moving(mesh: TriMesh, speed: float, frames: int) -> Animation:
    """Along y."""
    times = np.arange(frames) / 24.0
    return Animation(mesh, times, mesh.rest + speed * times[:, None, None] * np.array([0.0, 1.0, 0.0]))


def _shot(folder: Path, *, contact: Any = True, cloth: dict[str, Any] | None = None, **objects: Any) -> Path:
    """A sheet whose guide falls at 1 m/s for six frames."""
    write_animation(folder / "guide.usda", _moving(_lying(), -1.0, 6), prim="/cloth", frames=np.arange(1, 7))
    write_animation(folder / "hero.usda", _moving(BALL, 0.5, 6), prim="/hero", frames=np.arange(1, 7))
    write_animation(folder / "late.usda", _moving(BALL, 0.5, 3), prim="/hero", frames=np.arange(4, 7))
    own = {"guide": {"file": "guide.usda"}, "mesh": {"levels": 0}, "track": {"method": "clusters", "count": 4}}
    told = {
        "object": {"cloth": {**own, **(cloth or {})}} | {k: {"role": "obstacle", **v} for k, v in objects.items()},
        "physics": {"contact": contact}, "output": {"preview": False},
    }  # fmt: skip
    (folder / "s.toml").write_text(tomli_w.dumps(told), encoding="utf-8")
    return folder / "s.toml"


def _source(**told: Any) -> dict[str, Any]:
    return {"source": told}


FLOOR, HERO = _source(plane={}), _source(file="hero.usda")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"contact": {"reach": 0.5}}, "object.cloth: contact: reach is more than parts of the shell keep"),
        ({"roof": _source(plane={"point": [0, 1, 0]})}, "are up to 0.97 m behind roof: "),
        ({"twin": _source(file="guide.usda")}, "try: a rest shape or a first pose that is clear of twin"),
        ({"guide": HERO}, "object.guide: an obstacle of this name could not be told from what pins go to"),
        ({"start": HERO}, "object.start: an obstacle of this name could not be told from what pins go to"),
        ({"ball": _source(sphere={"centre": [0, -1, 0], "radius": 1e-9})}, "object.ball.source: the shape: "),
        ({"ball": _source(sphere={"centre": [0, -1, 0], "radius": 0.1, "edge": 1e-9})},
         "object.ball.source.sphere: the edge is too short for the radius (got 1e-09); allowed: at least 0.00123 m"),
        ({"cloth": {"seams": [{"stitches": [[0, 4]], "closed": 1}]}},
         "object.cloth.seams[0].closed: there is no time to close it in (got 1.0); allowed: a frame after 1"),
        ({"cloth": {"seams": [{"stitches": [[0, 1]]}]}}, "object.cloth.seams[0].stitches: a seam sews two corners"),
    ],
)  # fmt: skip
def test_refused_in_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], told: dict[str, Any], said: str
) -> None:
    path = _shot(tmp_path, **told)
    before = sorted(tmp_path.rglob("*"))
    assert main(["run", str(path), "--threads", "1", "--progress", "plain"]) == 2
    (line,) = [one for one in capfd.readouterr().err.splitlines() if one.startswith("bunraku: ")]
    assert line.startswith(f"bunraku: {shown(path)}: ") and said in line
    assert sorted(tmp_path.rglob("*")) == before


def test_a_shot_is_not_a_mesh(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _shot(tmp_path)
    assert main(["check", str(path)]) == 2
    assert f"{path}: is a shot, not a mesh; try: bunraku run {path} --dry-run" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"hero": _source(file="late.usda")}, "late.usda: moves on frames 4 to 6, and the shot has 1 to 6"),
        (
            {"cloth": {"seams": [{"stitches": [[0, 4]], "closed": 9}]}},
            "closed: frame 9 lies after the last one, 6",
        ),
        ({"hero": HERO}, ""),
    ],
)
def test_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture, told: dict[str, Any], said: str) -> None:
    prepare(read_shot(_shot(tmp_path, **told)))
    warned = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(warned) == (1 if said else 0) and all(said in one for one in warned)


@pytest.mark.slow
def test_a_first_pose_that_contact_kept_from_the_guide_is_said_to_be(tmp_path: Path) -> None:
    """From frame 4 on the guide has the ball in it: what is missed there is missed for contact, and the rest is met."""
    result = read_shot(_shot(tmp_path, hero=HERO)).run(threads=1, frames=(4, 6))
    report = json.loads((result.folder / "report.json").read_text())
    off = report["kept_off_by_contact"]
    assert any(4.0 in one["frames"] for one in off)
    assert report["per_frame"]["residual_m"][0] > 0.05  # the ball's top is 0.16 m above the guide there
    assert not any("Direction missed" in one for one in report["sentences"])
    assert any("regions from the guide on frames 4–6, at most" in one for one in report["sentences"])
    _check_report(tmp_path, result.folder, report)


def test_the_report_of_a_take_is_true(tmp_path: Path) -> None:
    result = read_shot(_shot(tmp_path, hero=HERO, floor=_source(plane={"point": [0, -0.25, 0]}))).run(threads=1)
    report = json.loads((result.folder / "report.json").read_text())
    assert report["intersections"]["total"] == 0
    _check_report(tmp_path, result.folder, report)


def _check_report(folder: Path, take: Path, report: dict[str, Any]) -> None:
    """Against the written file and the obstacle's own: nothing crosses, and vertices are no nearer than is said."""
    cloth, hero = read_animation(take / "cloth.usdc"), read_animation(folder / "hero.usda")
    ball = hero.points[[int(frame) - 1 for frame in report["frames"]]]
    faces = np.concatenate([cloth.mesh.faces, hero.mesh.faces + cloth.mesh.point_count])
    frames = [np.concatenate([x, y]) for x, y in zip(cloth.points, ball, strict=True)]
    found = survey_apart(faces, frames, shell=len(cloth.mesh.faces), movable=cloth.mesh.point_count, between=False)
    assert found.crossing.tolist() == report["intersections"]["per_frame"]
    gaps = np.linalg.norm(cloth.points[:, :, None] - ball[:, None], axis=3).min(axis=(1, 2))
    said, near = np.array(report["per_frame"]["closest"]), np.array(report["per_frame"]["pairs"]) > 0
    assert near.any()
    assert (said[near] <= gaps[near] + 1e-6).all()  # vertices are no nearer than the nearest pair; files are float32
    assert (said[near] > 4e-4).all()  # cotton's thickness stays open


def test_a_pinch_is_told_in_words(tmp_path: Path) -> None:
    """Two balls close on a sheet that stands still between them, 3 cm a frame each."""
    path = _shot(tmp_path, upper=_source(file="upper.usda"), lower=_source(file="lower.usda"))
    write_animation(tmp_path / "guide.usda", _moving(_lying(), 0.0, 6), prim="/cloth", frames=np.arange(1, 7))
    for name, height, speed in (("upper", 0.25, -0.72), ("lower", -0.2, 0.72)):
        ball = _moving(sphere((0, height, 0), 0.1, 0.05), speed, 6)
        write_animation(tmp_path / f"{name}.usda", ball, prim="/hero", frames=np.arange(1, 7))
    result = read_shot(path).run(threads=1)
    report = json.loads((result.folder / "report.json").read_text())
    pinched = np.array(report["per_frame"]["pinched"])
    assert pinched[-1] > 0 and not pinched[:4].any()  # the balls meet on the last frame
    (told,) = [one for one in report["sentences"] if one.startswith("Obstacles left no room")]
    frames = np.array(report["frames"])[pinched > 0]
    assert f"{frames[-1]:g}" in told and f"at most {pinched.max():g} vert" in told
    through = np.array(report["intersections"]["with_obstacles"])
    assert not through[pinched == 0].any() and not any(report["intersections"]["with_itself"])


def test_contact_said_in_full_is_no_change_to_a_take(tmp_path: Path) -> None:
    """`contact = true` is the table with its defaults; anything else in it is named, and what it was."""
    first = read_shot(_shot(tmp_path)).run(threads=1, frames=(1, 2))
    again = read_shot(_shot(tmp_path, contact={"friction": 0.3})).run(threads=1, frames=(1, 2), resume=True)
    assert again.already and again.folder == first.folder
    with pytest.raises(InputError, match=r"has changed since: physics\.contact\.friction was 0\.3, is 0\.9; try"):
        read_shot(_shot(tmp_path, contact={"friction": 0.9})).run(threads=1, frames=(1, 2), resume=True)
