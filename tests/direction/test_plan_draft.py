"""Plans that are played with, asked for at any time, kept, and written."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned import ASKEW, BASE, BLOCK, RUBBER, TILTED, TOP, block, posed

from bunraku import Chain, ChainDraft, Draft, Flight, Phase, chain, read_clip
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


STEPS: tuple[Phase | Flight, ...] = (
    Phase(0.5, BASE, [posed(0.25, TILTED), Key(0.5, None, velocities=(0.6, 2.5, 0.0))]),
    Flight(0.45, BASE, BLOCK.rest[BASE] - BLOCK.rest.mean(axis=0)),
    Phase(0.4, BASE, Key(0.4, None, velocities=(0.2, 0.0, 0.0))),
    Phase(0.6, BASE, rest=True),
)
STIFFER = {"material": SolidMaterial(2e5, 0.3, 1000.0, 0.002, 0.2), "modes": 12, "ground": -0.01}
FASTER = Key(0.4, None, velocities=(-0.2, 0.1, 0.0))
SIDEWAYS = Key(0.5, None, velocities=(0.5, 2.4, 0.2))


def in_place(phases: Sequence[Phase | Flight], number: int, other: Phase | Flight) -> list[Phase | Flight]:
    return [other if k == number else one for k, one in enumerate(phases)]


@pytest.fixture(scope="module")
def walked() -> Chain:
    return chain(BLOCK, STEPS, **STIFFER)


def test_a_draft_of_a_chain_is_the_chain_of_its_phases_after_every_change() -> None:
    draft, phases = ChainDraft(BLOCK, STEPS, **STIFFER), STEPS
    for number, edit, other in (
        (2, lambda: draft.change(2, 0, FASTER), Phase(0.4, BASE, FASTER)),
        (2, lambda: draft.add(2, posed(0.2, TILTED)), Phase(0.4, BASE, [FASTER, posed(0.2, TILTED)])),
        (0, lambda: draft.change(0, 1, SIDEWAYS), Phase(0.5, BASE, [posed(0.25, TILTED), SIDEWAYS])),
        (0, lambda: draft.remove(0, 0), Phase(0.5, BASE, SIDEWAYS)),
        (1, lambda: draft.replace(1, Flight(0.46)), Flight(0.46)),
    ):
        phases = in_place(phases, number, other)
        motion, fresh = edit(), chain(BLOCK, phases, **STIFFER)
        assert motion.energy == pytest.approx(fresh.motions[number].energy, rel=1e-6)
        for share in (0.2, 0.7, 1.0):
            time = share * fresh.duration
            assert np.abs(draft.chain.points(time) - fresh.points(time)).max() < 1e-5 * BLOCK.size
        assert draft.chain is draft.chain and draft.chain.motions[number] is motion


def test_a_phase_that_is_changed_goes_on_from_where_it_was(walked: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed over to it is not found anew, and the search begins near its end; what comes after waits."""
    draft, made, linking = ChainDraft(BLOCK, STEPS, **STIFFER), [], import_module("bunraku.direction.plan.chain")
    ground, air = linking.onto_ground, linking.take_off
    monkeypatch.setattr(linking, "onto_ground", lambda *given: made.append("ground") or ground(*given))
    monkeypatch.setattr(linking, "take_off", lambda *given: made.append("air") or air(*given))
    near = Key(0.4, None, velocities=(0.201, 0.0, 0.0))
    for number, edit in ((2, lambda: draft.change(2, 0, near)), (0, lambda: draft.change(0, 0, posed(0.25, TILTED)))):
        before = draft.chain.motions[number]
        made.clear()
        motion = edit()
        assert not made and motion.body is before.body
        assert 0 < motion.report["iterations"] < walked.motions[number].report["iterations"]
        assert len(draft.chain.motions) == 4 and made == (["ground"] if number == 2 else ["air", "ground", "ground"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda draft: draft.change(4, 0, FASTER), "there is no such phase.*0 to 3"),
        (lambda draft: draft.change(1, 0, FASTER), "a flight has no keys but its landing"),
        (lambda draft: draft.change(2, 1, FASTER), "there is no such key.*0 to 0"),
        (lambda draft: draft.change("one", 0, FASTER), "phase: must be a whole number"),
        (lambda draft: draft.change(2, 0, "fast"), "must be a Key"),
        (lambda draft: draft.replace(0, Flight(0.4)), "a chain begins with a phase that stands"),
        (lambda draft: draft.replace(1, Flight(40.0)), "never comes to that height"),
        (lambda draft: draft.add(2, Key(0.5, None, (0.0, 0.0, 0.0))), "outside the motion"),
    ],
)
def test_what_is_refused_leaves_a_draft_of_a_chain_as_it_was(change, said: str, walked: Chain) -> None:
    draft = ChainDraft(BLOCK, STEPS, before=walked, kept=4, **STIFFER)
    with pytest.raises(InputError, match=said):
        change(draft)
    assert draft.chain.motions == walked.motions and draft.phases == STEPS


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
