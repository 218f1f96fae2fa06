"""What may be meant, but rarely is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steered import BAR, JELLY, RIGHT, run

from bunraku.contracts import PhysicsStopped
from bunraku.direction.steer import turning
from bunraku.direction.steer.cautions import cautions
from bunraku.direction.steer.settings import SteerSettings
from bunraku.motion import Path


def test_a_path_that_spins_a_soft_body_apart_is_warned_of() -> None:
    """Ends that go round as fast as sound draw a bar out by half; at π/2 of that it flies apart."""
    times, sound = np.arange(4) / 24.0, np.sqrt(JELLY.young / JELLY.density)

    def spinning(share: float, axis: tuple[int, int, int] = (0, 0, 1)) -> list[str]:
        arm = np.linalg.norm((BAR.rest - BAR.rest.mean(axis=0))[:, :2], axis=1).max()
        turns = Rotation.from_rotvec(np.outer(share * sound / arm * times, axis)).as_matrix()
        return list(
            cautions(BAR, JELLY, (), [Path(times, np.zeros((4, 3)), rotations=turns)], SteerSettings(duration=0.125))
        )

    assert spinning(0.95) == spinning(1.05, (1, 0, 0)) == []  # about its axis a bar is thin
    (said,) = spinning(1.05)
    assert "path 0 turns at 851°/s between sample" in said and "fly off from 7 m/s on" in said


def test_a_path_that_turns_far_in_a_step_is_warned_of() -> None:
    times, stiff = np.arange(4) / 24.0, replace(JELLY, young=1e8)

    def spinning(degrees: float, substeps: int = 1) -> list[str]:
        turns = Rotation.from_rotvec(np.outer(np.radians(degrees) * np.arange(4), [0, 0, 1])).as_matrix()
        path = Path(times, np.zeros((4, 3)), rotations=turns)
        return list(cautions(BAR, stiff, (), [path], SteerSettings(duration=0.125, substeps=substeps)))

    assert spinning(40.0) == spinning(80.0, substeps=2) == []
    assert "path 0 turns by 60° a step: the body feels 46 % of what draws it outwards; try 2 times" in spinning(60.0)[0]
    assert "feels nothing of what draws it" in spinning(140.0)[0]


@pytest.mark.slow
def test_a_part_too_light_to_carry_the_rest_by_being_put_back_is_warned_of() -> None:
    """And what the warning says helps does."""
    at = BAR.rest[RIGHT].mean(axis=0)
    held = Path(np.array([0.0, 1.0]), np.stack([at, at]), RIGHT)
    put = replace(held, hold="compensation")
    firm = replace(JELLY, young=2e5)

    def said(path: Path, substeps: int) -> list[str]:
        return list(cautions(BAR, firm, (), [path], SteerSettings(duration=1.0, substeps=substeps)))

    (slips,) = said(put, 2)
    assert "path 0 puts 8.3 % of the body's mass back after each step, by 0.051 m where its tetrahedra have" in slips
    enough = int(slips.split("substeps=")[1])
    assert 4 < enough <= 10 and said(put, enough) == said(held, 1) == []

    def fallen(path: Path, substeps: int) -> float:
        take = run(path=path, material=firm, duration=0.75, substeps=substeps)
        return float(np.linalg.norm(take.animation.points[-1] - take.animation.points[0], axis=1).mean())

    exact = fallen(held, enough)
    assert fallen(put, enough) < 1.25 * exact
    with pytest.raises(PhysicsStopped):
        fallen(put, 2)


def test_a_path_that_never_holds_is_said_to_be_so() -> None:
    late, early = (Path(np.array([t, t + 1.0]), np.zeros((2, 3))) for t in (5.0, -5.0))
    said = list(cautions(BAR, JELLY, (), [late, early], SteerSettings(duration=1.0)))
    assert said == [
        "path 0 never holds: its samples lie after the shot",
        "path 1 never holds: its samples lie before the shot",
    ]


@pytest.mark.slow
def test_a_turn_that_is_missed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.arange(4) / 12.0
    turns = Rotation.from_rotvec(np.outer([0.0, 0.5, 1.2, 1.2], [0, 1, 0])).as_matrix()
    path = Path(times, np.repeat(BAR.rest.mean(axis=0)[None], 4, axis=0), rotations=turns)
    assert run(path=path, duration=0.25).facts["warnings"] == []
    monkeypatch.setattr(turning, "_MOST_SOLVES", 1)
    take = run(path=path, duration=0.25)
    off, when = take.report["rotation_residual"], take.animation.times
    (said,) = take.facts["warnings"]
    assert f"by up to {np.degrees(off.max()):.2g}° at {when[np.argmax(off)]:g} s: it is too fast for the steps" in said
    monkeypatch.undo()
    askew = run(path=path, duration=0.25, start=BAR.rest.mean(axis=0) + (BAR.rest - BAR.rest.mean(axis=0)) @ turns[1])
    assert "the first pose is turned otherwise than the path begins" in askew.facts["warnings"][0]


FRAMES = np.arange(49) / 24.0


def hopping(speed: float) -> np.ndarray:
    """(t, 3) a stone that hops over flat ground, each hop as high as the last, leaving at a speed upwards [m/s]."""
    lasts = 2.0 * speed / 9.81
    since = FRAMES % lasts
    return np.stack([1.5 * FRAMES, speed * since - 0.5 * 9.81 * since**2, 0.0 * FRAMES], axis=1)


def said_of(points: np.ndarray, times: np.ndarray = FRAMES, **knobs: float) -> list[str]:
    return list(cautions(BAR, JELLY, (), [Path(times, points)], SteerSettings(duration=2.0, **knobs)))  # type: ignore[arg-type]


def test_a_spike_of_one_frame_is_warned_of() -> None:
    """A tenth of the body is far below what a jump is; gravity could do a sixth of it in two frames."""
    hops = hopping(1.2)
    for axis in range(3):
        spiked = hops.copy()
        spiked[16, axis] += 0.1 * BAR.size
        (said,) = said_of(spiked)
        assert said.startswith("path 0 goes out and back by 0.0") and "m in two frames, at 0.666667 s: " in said
    rows = np.array([0.0, 11.0, 12.0, 13.0, 24.0, 48.0]) / 24.0  # a number mistyped in a sparse path
    sparse = np.stack([rows, 0.0 * rows, 0.0 * rows], axis=1)
    sparse[2, 1] = 0.1 * BAR.size
    assert "in two frames, at 0.5 s: " in said_of(sparse, rows)[0]


def test_what_hops_bounces_or_dashes_is_no_spike() -> None:
    for speed in (0.3, 0.5, 0.7, 1.2, 2.0, 3.0, 5.0):  # from two frames in the air to a second
        assert said_of(hopping(speed)) == []
    stone = np.stack([0.0 * FRAMES, np.abs(FRAMES - 1.0), 0.0 * FRAMES], axis=1)  # down, and up at once
    dash = np.stack([0.2 * np.clip(24.0 * FRAMES - 20.0, 0.0, 2.0), 0.0 * FRAMES, 0.0 * FRAMES], axis=1)
    for calm in (4.0 * stone, dash, 0.5 * dash):
        assert said_of(calm) == []
    shaken = hopping(1.2) + 0.002 * np.random.default_rng(3).normal(size=(49, 3))  # as recorded motion is
    assert said_of(shaken) == []
