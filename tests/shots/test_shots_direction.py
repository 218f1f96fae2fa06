"""What a shot may ask of the guide: scales, caps, outlines, other meshes, other timing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.geometry import subdivide
from bunraku.io import write_mesh
from bunraku.motion import Animation
from bunraku.scenes import box_mesh
from bunraku.shots import cautions, read_shot
from bunraku.shots.prepare import Prepared, prepare
from bunraku.shots.region_sheet import face_regions


@pytest.fixture
def fine(guide: Animation) -> Animation:
    """The turning box with 98 vertices of its own."""
    mesh, prolongation = subdivide(guide.mesh, 2)
    return Animation(mesh, guide.times, np.stack([prolongation @ pose for pose in guide.points]))


@pytest.fixture
def made(files):
    """made(track={…}, Animation, …) prepares a shot."""

    def make(track: dict[str, Any], motion: Animation | None = None, **box: Any) -> Prepared:
        return prepare(read_shot(files(guide=motion, box={"track": track, **box})))

    return make


def residuals(prepared: Prepared) -> tuple[np.ndarray, np.ndarray]:
    """(t, k) residual and held of all frames."""
    found = list(prepared.job(threads=1).frames())
    held = np.stack([frame.report["held"] for frame in found])
    return np.stack([frame.report["residual"] for frame in found]), held


def refusal(files, **tables: Any) -> str:
    with pytest.raises(InputError) as caught:
        prepare(read_shot(files(**tables)))
    return str(caught.value)


def test_gaussians(made, fine: Animation) -> None:
    prepared = made({"method": "gaussians", "width": 0.4}, fine, mesh={"levels": 0})
    assert prepared.tests is not None and 4 < prepared.tests.count < 30
    assert residuals(prepared)[0].max() < 1e-12
    assert face_regions(prepared).min() >= 0


def test_pointwise(made) -> None:
    prepared = made({"method": "pointwise"}, mesh={"levels": 2})
    last = list(prepared.job(threads=1).frames())[-1]
    assert np.abs(last.points[:8] - prepared.guide.points[-1]).max() < 1e-12


def test_a_keyed_scale_and_a_part_of_its_own(made, fine: Animation) -> None:
    mesh = fine.mesh
    top = np.flatnonzero(mesh.rest[mesh.faces][:, :, 1].min(axis=1) > mesh.rest[:, 1].max() - 1e-6)
    prepared = made(
        {"method": "clusters", "scale": [[1, 0.6], [5, 0.2, "smooth"]]}, fine, mesh={"levels": 0},
        regions={"lid": {"faces": top.tolist(), "scale": 0.15}},
    )  # fmt: skip
    tests = prepared.tests
    assert tests is not None and tests.nested and any(name.startswith("lid ") for name in tests.names)
    residual, held = residuals(prepared)
    assert residual[held >= 1.0].max() < 1e-12 < residual[held < 0.5].max()
    assert (held[0] == 1.0).sum() < (held[-1] == 1.0).sum()
    assert face_regions(prepared).min() >= 0


def test_a_part_named_by_points_on_a_finer_shell(made, fine: Animation) -> None:
    bottom = np.flatnonzero(fine.mesh.rest[:, 1] < fine.mesh.rest[:, 1].min() + 1e-6).tolist()
    prepared = made(
        {"method": "clusters", "count": 2}, fine, mesh={"levels": 1},
        regions={"foot": {"vertices": bottom, "scale": 0.25}},
    )  # fmt: skip
    assert prepared.tests is not None and sum(name.startswith("foot ") for name in prepared.tests.names) == 4
    assert prepared.tests.count == 6 and prepared.shell.point_count == 386


def test_caps(made) -> None:
    prepared = made({"cap": 0.5}, mesh={"levels": 2})
    frames = list(prepared.job(threads=1).frames())
    force = np.stack([np.linalg.norm(frame.report["force"], axis=1) for frame in frames])
    assert 0.49 < force.max() <= 0.5 * (1 + 1e-9)
    assert made({"stretch": 0.01}).table.track.stretch == 0.01
    assert made({"cap_pressure": [[1, 100], [6, 10]]}).caps["cap_pressure"][1] == (0.25, 10.0)


def test_the_outline(made, fine: Animation) -> None:
    prepared = made({"silhouette": {"camera": [0.0, 0.0, 30.0], "elsewhere": 0.1}}, fine, mesh={"levels": 0})
    residual, held = residuals(prepared)
    assert held.min() < 0.2 and held.max() == 1.0
    assert residual[held == 1.0].max() < 1e-12


def test_any_mesh_goes_with_the_guide(made, tmp_path: Path) -> None:
    """A finer box of its own wiring, a little larger than the guide: carried, directed, and written as it is."""
    own, _ = subdivide(box_mesh(), 2)
    own = own.with_rest(1.02 * own.rest)
    write_mesh(tmp_path / "own.obj", own)
    for method in ({}, {"method": "clusters", "count": 6}, {"method": "gaussians", "width": 0.4}):
        prepared = made(method, mesh={"file": "own.obj", "unit": "m"})
        assert prepared.shell.point_count == 98 and prepared.written[0].going.surface.point_count == 98
        assert len(prepared.inputs) == 2
        frames = list(prepared.job(threads=1).frames())
        assert max(frame.report["residual"].max() for frame in frames) < 1e-12
        np.testing.assert_allclose(frames[0].points + prepared.origin, own.rest, atol=1e-6)
    names = made({}, mesh={"file": "own.obj", "unit": "m"}).region_names
    assert names[3] == "of guide vertex 3" and len(names) == 8


def test_points_need_the_guides_own_vertices(files, tmp_path: Path) -> None:
    write_mesh(tmp_path / "own.obj", subdivide(box_mesh(), 2)[0])
    said = refusal(files, box={"track": {"method": "pointwise"}, "mesh": {"file": "own.obj", "unit": "m"}})
    assert "track.method: needs a mesh that has the guide's vertices" in said


def test_any_mesh_may_be_subdivided_too(made, tmp_path: Path) -> None:
    own, _ = subdivide(box_mesh(), 1)
    write_mesh(tmp_path / "own.obj", own)
    prepared = made({}, mesh={"file": "own.obj", "unit": "m", "levels": 1})
    assert prepared.shell.point_count == 98 and residuals(prepared)[0].max() < 1e-12


def test_retiming(made, files, guide: Animation) -> None:
    slow = made({}, guide, guide={"file": "guide.usda", "prim": "/box", "retime": [[101, 1], [111, 6]]})
    assert slow.numbers.tolist() == list(range(101, 112))
    np.testing.assert_allclose(slow.guide.points[4] + slow.origin, guide.points[2], atol=1e-6)  # twice as slow
    back = made({}, guide, guide={"file": "guide.usda", "prim": "/box", "retime": [[1, 6], [6, 1]]})
    np.testing.assert_allclose(back.guide.points + back.origin, guide.points[::-1], atol=1e-6)
    held = made({}, guide, guide={"file": "guide.usda", "prim": "/box", "retime": [[1, 3], [9, 3]]})
    assert np.ptp(held.guide.points, axis=0).max() < 1e-9
    for keys, story in [
        ([[1, 1]], "at least two keys"), ([[1, 1], [5, 99]], r"no such frame (got 99.0); allowed: 1 to 6"),
        ([[1, 1], [1.5, 2]], "at least two whole frames"),
    ]:  # fmt: skip
        assert story in refusal(files, box={"guide": {"file": "guide.usda", "prim": "/box", "retime": keys}})


def test_a_very_fine_shell_is_warned_of(made, caplog: pytest.LogCaptureFixture, monkeypatch) -> None:
    monkeypatch.setattr(cautions, "_MANY", 97)
    made({}, mesh={"levels": 1})
    assert not caplog.text
    made({}, mesh={"levels": 2})
    assert "98 vertices (the guide's 8, split 2 times) and 8 regions" in caplog.text
    assert "try: mesh = { levels = 1 }" in caplog.text


def test_caps_that_cannot_carry_the_shell_are_warned_of(made, caplog: pytest.LogCaptureFixture) -> None:
    """Eight regions; what they may pull with together is compared with the shell's weight."""
    fields = made({}).material.at(0.0)
    area = 2 * (0.5 * 0.5 + 2 * 0.5 * 0.7)  # [m²] of the box
    weight = 9.81 * area * float(fields.density[0] * fields.thickness[0])
    made({"cap": 1.01 * weight / 8})
    made({"cap": 0.5 * weight / 8}, pins=[{"vertices": [0]}])
    assert not caplog.text
    made({"cap": [[1, weight], [6, 0.5 * weight / 8]]})
    assert "track.cap: the caps of all 8 regions together allow" in caplog.text
    assert f"at frame 6, less than the shell's weight of {weight:.2g} N" in caplog.text
    assert "on 1 of 6 frames; try: at least 4 times as much" in caplog.text
    caplog.clear()
    made({"cap_pressure": 0.99 * weight / area})
    assert "track.cap_pressure" in caplog.text and "on 6 of 6 frames" in caplog.text


@pytest.mark.parametrize(
    ("box", "story"),
    [
        ({"track": {"method": "gaussians"}}, "gaussians need a width"),
        ({"track": {"width": 0.1}}, "track.width: is for gaussians"),
        ({"track": {"cap": 1, "stretch": 0.1}}, "only one of cap, cap_pressure and stretch"),
        ({"track": {"method": "none", "cap": 1}}, "nothing is directed"),
        ({"track": {"cap": -1}}, "track.cap: is out of range"),
        ({"track": {"silhouette": {"camera": [0, 1]}}}, "camera: is a list of the wrong length"),
        ({"regions": {"a": {"vertices": [0], "scale": 0.1}}}, "regions.a.scale: is for clusters"),
        (
            {"track": {"method": "clusters", "scale": 0.5}, "regions": {"a": {"vertices": [0], "scale": 0.1}}},
            "covers no whole face of the guide",
        ),
    ],
)
def test_refusals(files, box: dict[str, Any], story: str) -> None:
    assert story in refusal(files, box=box)
