"""What cannot be meant in the shot of a planned motion: said with file, key, value, what is allowed, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned_bar import BAR, HEAD, HOP, LEAN, SKIN, bar, chained, planned, write_bar

from bunraku import InputError, TriMesh
from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.shots import Shot, dry_run
from bunraku.shots.prepare_plan import prepare_plan

STAND: dict[str, Any] = {"frames": 12, "fixed": ["foot"]}
FLY: dict[str, Any] = {"flight": {"region": "foot"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bar(tmp_path)
    write_mesh(tmp_path / "other.obj", tet_bar((1, 1, 1)).surface())
    return tmp_path


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"keys": [{**LEAN, "region": "haed"}]},
            "keys[0].region: unknown region (got 'haed'); allowed: foot, head; try: 'head'",
        ),
        ({"fixed": ["fot"], "keys": [LEAN]}, "fixed[0]: unknown region (got 'fot'); allowed: foot, head; try: 'foot'"),
        ({}, "object.bar.keys: nothing is asked for, so nothing moves"),
        ({"keys": []}, "object.bar.keys: nothing is asked for, so nothing moves"),
        ({"keys": [{"frame": 5}]}, "keys[0]: says neither where nor how fast"),
        ({"keys": [{"region": "head"}]}, "keys[0].frame: is missing"),
        ({"keys": [{"frame": 5, "move": [0, 1, 0]}]}, "move tell about a region, and none is named"),
        (
            {"keys": [{"frame": 5, "region": "head", "pivot": [0, 1, 0]}]},
            "keys[0].pivot: nothing is turned or scaled about it",
        ),
        ({"keys": [{**LEAN, "centre": [0, 1, 0]}]}, "keys[0]: is of a region or of the centre of mass"),
        ({"keys": [{**LEAN, "file": "bar.obj"}]}, "is either posed by a file or by numbers (got 'file, move, rotate')"),
        ({"keys": [{**LEAN, "unit": "m"}]}, "keys[0]: unit tells about a file"),
        ({"keys": [{**LEAN, "wieght": 2}]}, "keys[0].wieght: unknown key"),
        (
            {"keys": [{**LEAN, "weight": "exakt"}]},
            "keys[0].weight: unknown word (got 'exakt'); allowed: 'exact'; try: 'exact'",
        ),
        ({"keys": [{**LEAN, "weight": 0}]}, "keys[0].weight: is out of range (got 0)"),
        ({"keys": [LEAN], "modes": 0}, "modes: is out of range (got 0)"),
        ({"keys": [LEAN], "damping": [0.1]}, "damping: is a list of the wrong length"),
        ({"keys": [LEAN], "damping": [-1, 0]}, "damping[0]: is out of range (got -1)"),
        ({"keys": [LEAN], "circular": True, "free": True}, "free: a circular motion has no ends"),
        (
            {"keys": [LEAN], "phases": HOP},
            "phases: say by themselves what is fixed, asked for and when (got 'fixed, keys')",
        ),
        ({"keys": [LEAN], "material": "ruber"}, "material: "),
        ({"keys": [LEAN], "guide": {"file": "bar.obj"}}, "object.bar.guide: unknown key"),
        ({"keys": [LEAN], "role": "plann"}, "role: unknown word (got 'plann')"),
        ({"keys": [{**LEAN, "file": "none.obj"}]}, "keys[0].file: "),
    ],
)
def test_what_cannot_be_meant_is_said_when_it_is_read(folder: Path, table: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        planned(folder, **table)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("phases", "said"),
    [
        ([FLY, STAND], "phases: a chain begins with a phase that stands"),
        ([{"frames": 12}], "phases[0].fixed: a phase stands on something"),
        ([{"fixed": ["foot"]}], "phases[0]: needs either 'frames' or 'flight' (got 'neither')"),
        ([STAND, {**FLY, "frames": 3}], "phases[1]: needs either 'frames' or 'flight' (got 'both')"),
        ([STAND, {**FLY, "fixed": ["foot"]}], "phases[1]: a flight has nothing fixed, and no keys but its landing"),
        ([STAND, {"flight": {"move": [0, 1, 0]}}], "phases[1].flight: move tell about a region, and none is named"),
        ([STAND, {"flight": {"region": "fot"}}], "phases[1].flight.region: unknown region (got 'fot')"),
        ([STAND, {**STAND, "fixed": ["hed"]}], "phases[1].fixed[0]: unknown region (got 'hed')"),
        (
            [{**STAND, "keys": [LEAN]}],
            "phases[0].keys[0].frame: a key lies outside the phase (got 13.0); allowed: from 0 to 12",
        ),
        ([{**STAND, "frames": 0}], "phases[0].frames: is out of range (got 0)"),
    ],
)
def test_phases_that_cannot_be_meant(folder: Path, phases: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InputError) as refused:
        chained(folder, phases)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"keys": [{**LEAN, "frame": 26}]},
            "keys[0].frame: a key lies outside the motion (got 26.0); allowed: from 1 to 25",
        ),
        (
            {"keys": [LEAN], "begin": 14},
            "keys[0].frame: a key lies outside the motion (got 13.0); allowed: from 14 to 25",
        ),
        ({"keys": [LEAN], "end": 0}, "object.bar.end: a motion ends after it begins (got 0.0); allowed: after frame 1"),
        (
            {"keys": [{**LEAN, "region": "foot"}]},
            "keys[0].region: a key asks for what is fixed (got 'foot, 4 of whose 4 nodes are')",
        ),
        (
            {"keys": [LEAN, {**LEAN, "move": [0.3, 0, 0]}]},
            "keys[1]: asks for another place than the key before it on the same frame",
        ),
        (
            {"keys": [{"frame": 9, "velocity": [0, 1, 0]}, {"frame": 9, "velocity": [1, 0, 0]}]},
            "keys[1]: asks for another velocity",
        ),
        (
            {"keys": [{**LEAN, "velocity": [0, 1, 0]}, {**LEAN, "velocity": [1, 0, 0]}]},
            "keys[1]: asks for another velocity than the key before it on the same frame",
        ),
        (
            {"keys": [{"frame": 9, "velocity": [0, 1, 0]}], "fixed": ["all"]},
            "fixed: all vertices are fixed, so nothing can move",
        ),
        (
            {"keys": [LEAN], "modes": 200},
            "object.bar.modes: more modes than the body has, or than make sense (got 200); allowed: 1 to 48",
        ),
        ({"keys": [{"frame": 9, "file": "other.obj", "unit": "m"}]}, "keys[0]: "),
        (
            {"keys": [{**LEAN, "frame": 1}, {"frame": 25, "region": "head"}], "circular": True},
            "two keys at one time ask for different places",
        ),
        (
            {"keys": [LEAN], "regions": {"foot": {"vertices": [0]}, "head": {"vertices": [10**6]}}},
            "outside the written surface",
        ),
        (
            {
                "keys": [{"frame": 9, "region": "a"}],
                "fixed": [],
                "regions": {
                    "a": {"vertices": [0, 1], "material": "foam"},
                    "b": {"vertices": [1, 2], "material": "jelly"},
                },
            },
            "regions.b.material: two regions with materials share points (got \"1 of them are in 'a'\")",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_its_place(folder: Path, table: dict[str, Any], said: str) -> None:
    regions = bar()["regions"] | {"all": {"vertices": list(range(SKIN.point_count))}}
    shot = planned(folder, **{"regions": regions, **table})
    for attempt in (prepare_plan, dry_run, Shot.run):
        with pytest.raises(InputError) as refused:
            attempt(shot)
        assert said in str(refused.value)
        assert "bar.toml: object.bar" in str(refused.value)
    assert not (folder / "takes" / "bar").exists()


def test_everything_is_said_at_once(folder: Path) -> None:
    with pytest.raises(InputError) as refused:
        planned(folder, keys=[{"frame": 5}, {**LEAN, "region": "no"}], modes="many", fixed=["none"])
    assert len(str(refused.value).splitlines()) == 4
    shot = planned(folder, keys=[{**LEAN, "frame": 99}, {**LEAN, "frame": 0}, {**LEAN, "region": "foot"}])
    with pytest.raises(InputError) as refused:
        prepare_plan(shot)
    assert len(str(refused.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("physics", "said"),
    [
        ({"contact": True}, "physics.contact: is for what is simulated; a plan is found at once, and feels no contact"),
        ({"substeps": 4}, "physics.substeps: is for what is simulated; a plan is found at once (got 4)"),
        ({"wind": {"velocity": [1, 0, 0]}}, "physics.wind: is for what is simulated"),
        ({"start": "rest"}, "physics.start: is for what is simulated"),
        ({"mass": "consistent"}, "physics.mass: is for what is simulated"),
    ],
)
def test_what_is_for_steps_is_refused(folder: Path, physics: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        prepare_plan(planned(folder, physics=physics, keys=[LEAN]))
    assert said in str(refused.value)


def test_a_flight_that_cannot_land(folder: Path) -> None:
    high = [HOP[0], {"flight": {"height": 5.0}}]
    with pytest.raises(InputError) as refused:
        prepare_plan(chained(folder, high))
    assert "object.bar: phases[1]: flight: the centre of mass never comes to that height" in str(refused.value)
    with pytest.raises(InputError, match="with gravity"):
        prepare_plan(chained(folder, HOP, physics={"gravity": [0, 0, 0]}))


def test_plans_stand_alone(folder: Path) -> None:
    jelly = {"role": "body", "surface": {"file": "bar.obj", "unit": "m"}}
    with pytest.raises(InputError, match="several shells, or shells, bodies, plans and skins together"):
        planned(folder, keys=[LEAN], others={"jelly": jelly})


def test_a_forgotten_role_is_guessed(folder: Path) -> None:
    table = bar(keys=[LEAN])
    del table["role"]
    with pytest.raises(InputError) as refused:
        Shot.of({"object": {"bar": table}}, folder=folder)
    assert "role: is missing: modes, fixed is for 'plan'" in str(refused.value)


def test_a_body_of_two_pieces_moves_where_it_is_asked_to(folder: Path) -> None:
    """Nothing holds the other piece, and nothing is asked of it: it stays."""
    apart = BAR.rest + [2.0, 0.0, 0.0]
    count = BAR.point_count
    both = type(BAR)(np.concatenate([BAR.rest, apart]), np.concatenate([BAR.tets, BAR.tets + count]))
    write_mesh(folder / "bar.msh", both)
    skin = np.concatenate([SKIN.rest, SKIN.rest + [2.0, 0.0, 0.0]])
    write_mesh(folder / "bar.obj", TriMesh(skin, np.concatenate([SKIN.faces, SKIN.faces + SKIN.point_count])))
    shot = planned(folder, keys=[LEAN], modes=20)
    points = prepare_plan(shot).plans[0].motion.points(0.5)
    assert np.isfinite(points).all() and np.abs(points[count:] - apart).max() < 1e-6
    assert np.abs(points[:count] - BAR.rest).max() > 0.1
    assert np.isfinite(prepare_plan(shot).guide.points).all()
    assert len(HEAD) == 4
