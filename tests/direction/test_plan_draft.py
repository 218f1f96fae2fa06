"""Plans that are played with, asked for at any time, kept, and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned import ASKEW, BASE, BLOCK, RUBBER, TILTED, TOP, block, posed

from bunraku import Draft, read_clip
from bunraku.contracts import InputError
from bunraku.direction.plan import Key, reduced
from bunraku.geometry import enclose, subdivide
from bunraku.io import ContentCache, write_animation
from bunraku.io.body_files import read_body_poses
from bunraku.materials import SolidMaterial

GIVEN: dict[str, Any] = {"fixed": BASE, "material": RUBBER, "duration": 1.0, "modes": 20}
SPEED = Key(0.8, None, velocities=(0.3, 0.0, 0.1))


def test_a_draft_is_the_plan_of_its_keys_after_every_change() -> None:
    draft = Draft(BLOCK, posed(0.5, TILTED), **GIVEN)
    body = draft.motion.body
    for change, keys in (
        (lambda: draft.add(SPEED), (posed(0.5, TILTED), SPEED)),
        (lambda: draft.change(0, posed(0.45, ASKEW)), (posed(0.45, ASKEW), SPEED)),
        (lambda: draft.remove(1), (posed(0.45, ASKEW),)),
    ):
        motion, fresh = change(), block(*keys)
        assert motion is draft.motion and motion.body is body and len(draft.keys) == len(keys)
        assert motion.energy == pytest.approx(fresh.energy, rel=1e-6)
        for time in (0.2, 0.5, 0.9):
            assert np.abs(motion.points(time) - fresh.points(time)).max() < 1e-5 * BLOCK.size


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda draft: draft.change(1, SPEED), "there is no such key.*0 to 0"),
        (lambda draft: draft.change(-1, SPEED), "must be a whole number"),
        (lambda draft: draft.change(0, "tilt"), "must be a Key"),
        (lambda draft: draft.change(0, posed(1.5, TILTED)), "outside the motion"),
        (lambda draft: draft.add(Key(0.5, TOP, BLOCK.rest[TOP])), "two keys at one time"),
        (lambda draft: draft.remove(0), "nothing is asked for"),
    ],
)
def test_what_is_refused_leaves_a_draft_as_it_was(change, said: str) -> None:
    draft = Draft(BLOCK, posed(0.5, TILTED), **GIVEN)
    before = draft.motion
    with pytest.raises(InputError, match=said):
        change(draft)
    assert draft.motion is before


def test_a_motion_is_called_with_a_time() -> None:
    motion = block(posed(0.5, TILTED))
    x, v = motion(0.37)
    assert np.array_equal(x, motion.points(0.37)) and np.array_equal(v, motion.velocities(0.37))


def test_modes_are_kept_by_all_they_are_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, made = ContentCache(tmp_path), []
    natural = reduced.natural_modes
    monkeypatch.setattr(reduced, "natural_modes", lambda *a, **k: made.append(1) or natural(*a, **k))
    first = block(posed(0.5, TILTED), cache=cache)
    again = block(posed(0.5, TILTED), cache=cache, damping=(0.3, 0.0))  # which modes do not know of
    assert len(made) == 1 and np.array_equal(first.body.modes.shapes, again.body.modes.shapes)
    other = SolidMaterial(young=2e5, poisson=0.3, density=1000.0)
    halves = (BLOCK.rest[BLOCK.tets].mean(axis=1)[:, 1] > 0.45).astype(int)
    for given in (
        {"modes": 19}, {"fixed": BASE[1:]}, {"material": other}, {"attach": True},
        {"material": [RUBBER, other], "of_tet": halves},
    ):  # fmt: skip
        count = len(made)
        block(posed(0.5, TILTED), cache=cache, **given)
        assert len(made) == count + 1
    for file in (one for one in tmp_path.rglob("*") if one.is_file()):
        file.write_bytes(file.read_bytes()[:100])
    count, damaged = len(made), block(posed(0.5, TILTED), cache=cache)
    assert len(made) == count + 1 and np.array_equal(damaged.points(0.3), first.points(0.3))


def test_modes_take_over_the_order_of_elimination_of_the_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    natural, given = reduced.natural_modes, []
    monkeypatch.setattr(reduced, "natural_modes", lambda *a, **k: given.append(k.get("order")) or natural(*a, **k))
    order = block(posed(0.5, TILTED)).body.warp.order
    if order is None:
        pytest.skip("the solver that is installed tells no order")
    assert np.array_equal(given[0], order)


def test_the_same_material_twice_is_one_material() -> None:
    halves = (BLOCK.rest[BLOCK.tets].mean(axis=1)[:, 1] > 0.45).astype(int)
    one, two = block(posed(0.5, TILTED)), block(posed(0.5, TILTED), material=[RUBBER, RUBBER], of_tet=halves)
    assert np.abs(one.points(0.4) - two.points(0.4)).max() < 1e-7


def test_a_motion_is_written_as_tetrahedra_and_as_a_fine_surface(tmp_path: Path) -> None:
    motion = block(posed(0.5, TILTED))
    fine, _ = subdivide(BLOCK.surface(), 2)
    take = motion.take(rate=24, surface=fine)
    write_animation(tmp_path / "body.usdc", take.animation)
    body, times, points = read_body_poses(tmp_path / "body.usdc")
    assert np.array_equal(body.tets, BLOCK.tets) and len(times) == 25
    assert np.abs(points[12] - motion.points(0.5)).max() < 1e-6
    assert take.surface is not None
    write_animation(tmp_path / "skin.usdc", take.surface)
    skin = read_clip(tmp_path / "skin.usdc").animation.points
    cage = enclose(fine, BLOCK)
    assert skin.shape == (25, fine.point_count, 3)
    assert np.abs(skin[7] - cage.points(motion.points(7 / 24))).max() < 1e-6
