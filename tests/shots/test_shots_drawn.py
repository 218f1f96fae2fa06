"""What a USD take says of every point for programs that draw it: the regions' forces and residuals, and colours."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from bunraku.contracts import InputError
from bunraku.render import heat
from bunraku.shots import read_shot


def told(file: Path, prim: str, name: str, frame: float) -> np.ndarray:
    stage = Usd.Stage.Open(str(file))  # a prim does not keep it
    found = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath(prim)).GetPrimvar(name)
    assert found.GetInterpolation() == "vertex", name
    return np.array(found.Get(frame), dtype=np.float64)


@pytest.mark.parametrize("clips", [False, True])
def test_forces_and_residuals_are_on_the_points_of_their_regions(files: Callable[..., Path], clips: bool) -> None:
    """A soft hold on the box's eight guide vertices: each coarse vertex says what its own region reports."""
    output = {"drawn": ["force", "residual"], "clips": clips, "preview": False}
    track = {"method": "pointwise", "strength": 0.5}
    result = read_shot(files(box={"track": track, "mesh": {"levels": 0}}, output=output, shot={"frames": [1, 3]})).run()
    arrays, file = result.report.measured.arrays, result.folder / "box.usdc"
    forces = np.linalg.norm(arrays["force"], axis=2)
    for name, each in (("force", forces), ("residual", arrays["residual"])):
        assert each.max() > 0.0 and np.ptp(each[2]) > 0.0, name
        for k in range(3):
            np.testing.assert_allclose(told(file, "/box", f"bunraku_{name}", 1.0 + k), each[k], rtol=1e-6, atol=1e-12)
            colours = told(file, "/box", f"bunraku_{name}_colour", 1.0 + k)
            encoded = np.where(colours <= 0.0031308, 12.92 * colours, 1.055 * colours ** (1 / 2.4) - 0.055)
            np.testing.assert_allclose(encoded, heat(each[k] / each.max()), atol=1e-5)


def test_regions_are_said(files: Callable[..., Path]) -> None:
    """Around each of eight guide vertices one; a subdivided point is in that of the vertex it is nearest to."""
    output = {"drawn": ["regions"], "preview": False}
    result = read_shot(files(box={"mesh": {"levels": 2}}, output=output, shot={"frames": [1, 2]})).run()
    file = result.folder / "box.usdc"
    for frame in (1.0, 2.0):
        labels = told(file, "/box_bunraku", "bunraku_regions", frame)
        colours = told(file, "/box_bunraku", "bunraku_regions_colour", frame)
        assert labels[:8].tolist() == list(range(8)) and set(labels) == set(range(8))
        assert len(np.unique(colours, axis=0)) == 8
        assert all(len(np.unique(colours[labels == k], axis=0)) == 1 for k in range(8))


def test_what_is_not_directed_says_nothing(files: Callable[..., Path]) -> None:
    output = {"drawn": ["force"], "preview": False}
    result = read_shot(files(box={"track": {"method": "none"}}, output=output, shot={"frames": [1, 2]})).run()
    stage = Usd.Stage.Open(str(result.folder / "box.usdc"))
    names = [one.GetPrimvarName() for one in UsdGeom.PrimvarsAPI(stage.GetPrimAtPath("/box_bunraku")).GetPrimvars()]
    assert not [name for name in names if name.startswith("bunraku_")]


def test_files_that_cannot_hold_it_are_refused(files: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=r"output\.drawn: is for USD files, and none is written"):
        read_shot(files(output={"drawn": ["force"], "formats": ["pc2"]}))
    with pytest.raises(InputError, match=r"output\.drawn"):
        read_shot(files(output={"drawn": ["strain"]}))
