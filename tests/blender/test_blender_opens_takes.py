"""A real viewer: Blender's own importer shows what was simulated, where it was simulated, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from usd_scenes import character  # pyright: ignore[reportMissingImports]

from bunraku.direction.track import hierarchy
from bunraku.io import Clip, Outgoing, read_clip, write_frames
from bunraku.motion import Animation

pytestmark = pytest.mark.blender
FRAMES = [1.0, 4.0, 10.0]


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    return read_clip(character(tmp_path))


def moved(clip: Clip, levels: int) -> Animation:
    shell, tests = hierarchy(clip.mesh, levels)
    lift = np.array([0.0, 0.2, 0.0])
    points = np.stack([tests.prolongation @ x + k * lift for k, x in enumerate(clip.animation.points)])
    return Animation(shell, clip.animation.times, points)


def in_blender(points: np.ndarray) -> np.ndarray:
    """Metres, Y-up → the shot's centimetres, Z-up, which Blender takes as they are."""
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1) * 100


@pytest.mark.parametrize("clips", [False, True], ids=["one file", "value clips"])
@pytest.mark.parametrize("levels", [0, 2])
def test_a_take_over_a_skinned_character(
    blender: Callable[..., dict[str, Any]], clip: Clip, tmp_path: Path, levels: int, clips: bool
) -> None:
    going, motion = Outgoing.of(clip, levels), moved(clip, levels)
    samples = [going.sample(f, x, None) for f, x in zip(clip.frames, motion.points, strict=True)]
    path = tmp_path / "take.usdc"
    write_frames(path, going.surface, samples, rate=24.0, up_axis="Z", unit="cm", onto=going.onto, clips=clips)
    found = blender(path, FRAMES)
    assert list(found) == ["body" if levels == 0 else "body_bunraku"]  # the guide is purpose guide
    (body,) = found.values()
    for frame, points in zip(FRAMES, body["points"], strict=True):
        meant = in_blender(samples[int(frame) - 1].points)
        assert np.abs(np.array(points) - meant).max() < 1e-3, frame  # [cm] of 100
    assert [len(polygon) for polygon in body["polygons"]] == ([4] * 16 if levels == 0 else [3] * 512)
    assert body["uv"] == ["st"] and body["materials"] == ["cloth"]
    assert "ARMATURE" not in body["modifiers"]


def test_an_obj_guide_gives_a_stage_of_its_own(blender: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\ng front\nf 1/1 2/2 3/3 4/4\n"
    )
    going = Outgoing.of(read_clip(tmp_path / "a.obj"))
    samples = [going.sample(float(k), going.clip.mesh.rest + [0.0, 0.0, 0.1 * k], None) for k in (1, 2)]
    write_frames(tmp_path / "out.usda", going.surface, samples, rate=24.0)
    found = blender(tmp_path / "out.usda", [1.0, 2.0])
    (shell,) = found.values()
    assert shell["polygons"] == [[0, 1, 2, 3]] and shell["uv"] == ["st"]
    rise = np.array(shell["points"][1]) - np.array(shell["points"][0])
    assert np.allclose(np.linalg.norm(rise, axis=1), 0.1, atol=1e-6)


def test_a_cache_moves_the_obj_beside_it_as_the_pipeline_page_says(
    blender: Callable[..., dict[str, Any]], clip: Clip, tmp_path: Path
) -> None:
    """Imported with the importer's defaults, no other setting than the first frame."""
    going, motion = Outgoing.of(clip, 1), moved(clip, 1)
    samples = [going.sample(f, x, None) for f, x in zip(clip.frames, motion.points, strict=True)]
    write_frames(tmp_path / "coat.pc2", going.surface, samples, rate=24.0)
    (coat,) = blender(tmp_path / "coat.obj", FRAMES).values()
    for frame, points in zip(FRAMES, coat["points"], strict=True):
        meant = in_blender(samples[int(frame) - 1].points) / 100  # the file is in metres
        assert np.abs(np.array(points) - meant).max() < 1e-5, frame
