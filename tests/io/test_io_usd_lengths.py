"""Lengths at every point, such as the height of a skin: a primvar of USD files, in the file's own unit."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from bunraku import InputError, TriMesh
from bunraku.io import Outgoing, Sample, read_clip, write_frames, write_mesh

MESH = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), np.array([[0, 1, 2], [2, 1, 3]]))
HEIGHTS = np.array([[0.0, 0.01, 0.02, 0.03], [0.04, 0.05, 0.06, -0.07]])


def samples() -> list[Sample]:
    still = np.zeros_like(MESH.rest)
    return [Sample(float(k), MESH.rest, still, {"displacement": row}) for k, row in enumerate(HEIGHTS)]


def told(path: Path, prim: str, frame: float) -> np.ndarray:
    stage = Usd.Stage.Open(str(path))
    found = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath(prim)).GetPrimvar("displacement")
    assert found.GetInterpolation() == "vertex"
    return np.array(found.Get(frame))


@pytest.mark.parametrize("clips", [False, True])
def test_lengths_are_in_the_files_unit(tmp_path: Path, clips: bool) -> None:
    path = tmp_path / "skin.usdc"
    write_frames(path, MESH, samples(), rate=24.0, unit="cm", clips=clips)
    for k, row in enumerate(HEIGHTS):
        np.testing.assert_allclose(told(path, "/bunraku/shell", float(k)), 100.0 * row, rtol=1e-6)


def test_lengths_are_those_of_a_scaled_prim(tmp_path: Path) -> None:
    """A published mesh may stand under a transform that scales it: what is laid on it is scaled back."""
    source = tmp_path / "published.usda"
    write_mesh(source, MESH)
    stage = Usd.Stage.Open(str(source))
    UsdGeom.Xformable(stage.GetPrimAtPath("/bunraku")).AddScaleOp().Set((4.0, 4.0, 4.0))
    stage.GetRootLayer().Save()
    clip = read_clip(source)
    going = Outgoing.of(clip)
    each = [going.sample(1.0 + k, clip.mesh.rest, None, {"displacement": row}) for k, row in enumerate(HEIGHTS)]
    write_frames(tmp_path / "over.usda", going.surface, each, rate=24.0, onto=going.onto)
    np.testing.assert_allclose(told(tmp_path / "over.usda", clip.prim_path, 2.0), HEIGHTS[1] / 4.0, rtol=1e-6)


def test_a_length_a_point_and_finite(tmp_path: Path) -> None:
    for row in (np.zeros(3), np.array([0.0, 0.0, np.nan, 0.0])):
        with pytest.raises(InputError, match="displacement is not a length a point"):
            write_frames(tmp_path / "skin.usdc", MESH, [Sample(0.0, MESH.rest, None, {"displacement": row})], rate=24.0)
