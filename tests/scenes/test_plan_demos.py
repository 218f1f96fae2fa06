"""The demo of a planned motion as an artist gets it: files, a shot that reads them, keys that are met."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bunraku import InputError
from bunraku.shots import PLAN_DEMOS, demo_files, demo_titles, write_demo
from bunraku.shots.run import run_shot


def test_plans_are_among_the_demos_and_have_no_guide(tmp_path: Path) -> None:
    assert set(PLAN_DEMOS) <= set(demo_titles())
    with pytest.raises(InputError, match="cannot be driven by motion capture"):
        write_demo("twist", tmp_path, tmp_path / "walk.bvh")
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["twist", "x_jump"])  # the others are planned in tests of their own
def test_a_demo_of_a_plan_is_written_and_runs_in_the_folder_of_its_files(name: str, tmp_path: Path) -> None:
    shot = write_demo(name, tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == set(demo_files(name))
    unseen = replace(shot, output=replace(shot.output, preview=False))  # nothing is asked of the preview
    result = run_shot(unseen, out=tmp_path, beside=demo_files(name))
    assert result.report.met is True and result.folder == tmp_path
    table, told = shot.plans[name], {one["where"] for one in result.report.measured.keys}
    landings = {f"phases[{p}].flight" for p, one in enumerate(table.phases) if one.flight is not None}
    assert told == {where for where, _ in table.all_keys} | landings
    assert result.report.measured.intersections is not None and result.report.measured.intersections.total == 0
