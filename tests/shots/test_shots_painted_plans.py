"""Regions of planned bodies that are painted on the surface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned_bar import FOOT, HEAD, LEAN, SKIN, planned, write_bar

from bunraku import InputError
from bunraku.contracts import Integers
from bunraku.shots.prepare_plan import prepare_plan

UPPER = np.flatnonzero(SKIN.rest[:, 1] > 0.5 - 1e-9)
LOWER = np.flatnonzero(SKIN.rest[:, 1] < 0.5 + 1e-9)
STIFF: dict[str, Any] = {"preset": "rubber", "young": 2e7}


def grouped(path: Path, groups: dict[str, Integers]) -> None:
    """The skin, each face in the group among whose vertices it lies."""
    lines = [f"v {x} {y} {z}" for x, y, z in SKIN.rest.tolist()]
    left = np.ones(len(SKIN.faces), dtype=bool)
    for name, vertices in {**groups, "else": np.arange(SKIN.point_count)}.items():
        inside = left & np.isin(SKIN.faces, vertices).all(axis=1)
        left &= ~inside
        if inside.any():
            lines += [f"g {name}", *(f"f {a} {b} {c}" for a, b, c in (SKIN.faces[inside] + 1).tolist())]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bar(tmp_path)
    return tmp_path


def motion_of(folder: Path, regions: dict[str, Any]) -> np.ndarray:
    """(n, 3) the nodes on the frame of the key."""
    return prepare_plan(planned(folder, keys=[LEAN], regions=regions)).plans[0].motion.points(0.5)


def test_a_painted_region_is_the_same_points_as_numbers(folder: Path) -> None:
    """For what is fixed and for keys."""
    numbers = {"foot": {"vertices": FOOT.tolist()}, "head": {"vertices": HEAD.tolist()}}
    grouped(folder / "bar.obj", {"sole": FOOT, "crown": HEAD})
    told = motion_of(folder, numbers)
    painted = motion_of(folder, {"foot": {"painted": "sole"}, "head": {"painted": "crown"}})
    assert abs(told - motion_of(folder, {**numbers, "head": {"vertices": HEAD[:3].tolist()}})).max() > 1e-4
    np.testing.assert_array_equal(painted, told)


def test_painted_regions_have_materials_and_meet_in_a_line(folder: Path) -> None:
    """Points on the line between two groups are of the first, so that a body may be made of groups that meet."""
    ends = {"foot": {"vertices": FOOT.tolist()}, "head": {"vertices": HEAD.tolist()}}
    grouped(folder / "bar.obj", {"top": UPPER, "bottom": LOWER})
    below = np.setdiff1d(LOWER, UPPER).tolist()
    told = motion_of(
        folder,
        {**ends, "a": {"vertices": UPPER.tolist(), "material": STIFF}, "b": {"vertices": below, "material": "jelly"}},
    )
    top, bottom = {"painted": "top", "material": STIFF}, {"painted": "bottom", "material": "jelly"}
    np.testing.assert_array_equal(motion_of(folder, {**ends, "a": top, "b": bottom}), told)
    with pytest.raises(InputError, match=r"regions\.c\.material: two regions with materials share points.*are in 'a'"):
        motion_of(folder, {**ends, "a": top, "c": {"painted": "top", "material": "foam"}})


def test_a_painted_region_that_is_not_there_is_refused_once(folder: Path) -> None:
    missing = {"painted": "nose", "material": "foam"}
    with pytest.raises(InputError) as told:
        motion_of(folder, {"foot": {"vertices": FOOT.tolist()}, "head": missing, "other": missing})
    assert str(told.value).count("painted: the surface has no such part (got 'nose')") == 2
    assert "share points" not in str(told.value)
    with pytest.raises(InputError, match="needs either 'vertices' or 'painted'"):
        planned(folder, keys=[LEAN], regions={"foot": {"vertices": [0]}, "head": {}})
