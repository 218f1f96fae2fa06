"""A shell's frames that no changed key reaches are taken over, and are what a whole run makes of them, bit for bit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from turning import turning

from bunraku.io import write_animation
from bunraku.shots import Remarked, read_shot, run_shot
from bunraku.shots.reached import same_until

KEYS = [[1, 0.5], [4, 1.0], [6, 0.2]]
PATH = "object.box.track.strength"


def told(value: Any, path: str = PATH) -> dict[str, Any]:
    found = value
    for name in reversed(path.split(".")):
        found = {name: found}
    return found


@pytest.mark.parametrize(
    ("one", "other", "until"),
    [
        (KEYS, KEYS, math.inf),
        (KEYS, [[1, 0.5], [4, 1.0], [6, 0.3]], 4),
        (KEYS, [[1, 0.5], [4, 1.0], [6, 0.2, "smooth"]], 4),
        (KEYS, [[1, 0.5], [4, 1.0]], 4),
        (KEYS, [*KEYS, [9, 0.2]], math.inf),
        (KEYS, [*KEYS, [9, 0.2], [12, 1.0]], 9),
        (KEYS, [[1, 0.5], [5, 1.0], [6, 0.2]], 1),
        (KEYS, [[2, 0.5], [4, 1.0], [6, 0.2]], 1),
        (KEYS, [[1, 0.4], [4, 1.0], [6, 0.2]], -math.inf),
        (0.5, KEYS, 1),
        (0.5, [[3, 0.5], [4, 0.5]], math.inf),
        (0.5, 0.6, -math.inf),
        (None, 0.5, -math.inf),
    ],
)
def test_curves_are_the_same_until_a_key_differs(one: Any, other: Any, until: float) -> None:
    assert same_until(told(one), told(other)) == same_until(told(other), told(one)) == until


@pytest.mark.parametrize(
    ("path", "until"),
    [
        ("object.box.track.cap", 4), ("object.box.material.young", 4), ("physics.wind.gust", 4),
        ("object.box.track.scale", -math.inf), ("physics.substeps", -math.inf), ("object.box.pins", -math.inf),
        ("object.box.material.poisson", -math.inf), ("object.box.guide.retime", -math.inf),
    ],
)  # fmt: skip
def test_only_numbers_that_steps_read_as_they_go_are_looked_at(path: str, until: float) -> None:
    assert same_until(told(KEYS, path), told([*KEYS[:2], [6, 0.3]], path)) == until
    assert same_until(told(1.0, "object.box.material.young"), told(KEYS, "object.box.material.young")) == -math.inf
    calm = told([[1, 0.5], [6, 0.5]], "object.box.material.young")
    assert same_until(calm, told(KEYS, "object.box.material.young")) == -math.inf


def shot(folder: Path, box: dict[str, Any], physics: dict[str, Any]) -> Path:
    write_animation(folder / "guide.usda", turning(7), rate=24.0, prim="/box")
    tables = {"object": {"box": {"guide": {"file": "guide.usda"}, "mesh": {"levels": 1}, **box}}, "physics": physics}
    (folder / "box.toml").write_text(tomli_w.dumps({"output": {"preview": False}, **tables}), encoding="utf-8")
    return folder / "box.toml"


def keyed(last: float, constant: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that may be keyed and looked at, the last key as told; `constant`: what may be is not keyed."""

    def times(value: float, never: bool = False) -> Any:
        return value if never else [[4, value], [6, value * last, "smooth"]]

    moduli = {name: times(value) for name, value in (("young", 1e6), ("bend_scale", 1.0), ("drag", 0.05))}
    damped = {name: times(2e-3) for name in ("stretch_damping", "bend_damping")}
    box = {
        "track": {"strength": times(0.9, constant), "cap": times(5.0, constant)}, "pressure": times(20.0, constant),
        "material": {"preset": "cotton", **moduli, **damped, "strain_limit": times(0.2)},
    }  # fmt: skip
    return box, {"wind": {"velocity": [2.0, 0.0, 0.0], "turbulence": 0.2, "gust": times(1.0, constant)}}


@pytest.mark.slow
def test_frames_taken_over_are_those_of_a_whole_run(tmp_path: Path) -> None:
    run_shot(read_shot(shot(tmp_path, *keyed(0.9, constant=True))), threads=1)
    later, events = read_shot(shot(tmp_path, *keyed(0.5))), []
    quick = run_shot(later, threads=1, reuse=True, progress=events.append).folder
    (remark,) = [one.text for one in events if isinstance(one, Remarked)]
    assert remark.startswith("frames up to 4 are those of v001")
    whole = run_shot(later, threads=1).folder
    frames = [sorted((folder / "frames").iterdir()) for folder in (quick, whole)]
    assert len(frames[0]) == 7 and [one.read_bytes() for one in frames[0]] == [one.read_bytes() for one in frames[1]]
    assert (quick / "box.usdc").read_bytes() == (whole / "box.usdc").read_bytes()


def test_frames_made_under_other_circumstances_are_not_taken_over(tmp_path: Path) -> None:
    first = run_shot(read_shot(shot(tmp_path, *keyed(0.9))), threads=1).folder
    path = first / "provenance.json"
    change = {"done": 2, "differences": ["threads was 1, is 2"], "made": "2026-01-01T00:00:00+00:00"}
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "resumed": [change]}), encoding="utf-8")
    events: list[Any] = []
    run_shot(read_shot(shot(tmp_path, *keyed(0.5))), threads=1, reuse=True, progress=events.append)
    (remark,) = [one.text for one in events if isinstance(one, Remarked)]
    assert remark.startswith("frames up to 2 are those of v001")
