"""Sentences, curves and the page: they say what the numbers say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.contracts import State
from bunraku.direction import Frame, Pin
from bunraku.shots import Report, TakeOutcome, read_shot
from bunraku.shots.contact import ShotContact
from bunraku.shots.contact_spec import ContactTable
from bunraku.shots.curves import Line, chart
from bunraku.shots.intersections import Intersections
from bunraku.shots.page import Page, _charts, _verdict
from bunraku.shots.prepare import Prepared, prepare
from bunraku.shots.report import Measured, measure, per_frame
from bunraku.shots.sentences import sentences
from bunraku.shots.wording import digits, millimetres, on, ranges, share
from bunraku.shots.yielded import yielded_regions

ORIGIN = {
    "inputs": [{"key": "a", "path": "b", "sha256": "c" * 64}], "versions": {"numpy": "2"}, "solver": "s",
    "threads": 2, "resumed": [{"done": 3, "differences": ["threads was 1, is 2"]}],
}  # fmt: skip


@pytest.fixture
def prepared(files) -> Prepared:
    return prepare(read_shot(files()))


@pytest.fixture
def measured() -> Measured:
    """Four frames, two regions, all met, size 2 m, weight 9.81 N."""
    zeros = np.zeros(4)
    force = np.zeros((4, 2, 3))
    force[2, 1] = [0.0, 3.0, 4.0]
    arrays = {
        "residual": np.full((4, 2), 1e-15), "force": force, "kinetic": np.array([0, 1.5, 0.2, 0.1]),
        "stretching": zeros, "bending": zeros, "gravity": zeros, "iterations": np.array([0, 4, 9, 2]),
        "last_step": np.array([0, 1e-5, 2e-5, 1e-5]), "converged": np.ones(4, dtype=bool),
        "pin_residual": np.zeros((4, 0)), "held": np.ones((4, 2)),
    }  # fmt: skip
    facts = {"mass": 1.0, "vertices": 26, "faces": 48, "regions": 2, "origin": np.zeros(3), "rate": 24.0}
    return Measured(
        np.arange(11.0, 15.0),
        arrays,
        np.ones(4),
        np.zeros((4, 0), dtype=bool),
        False,
        2.0,
        facts,
        np.full((4, 2), 2.1e-8),
    )


def told(prepared: Prepared, m: Measured, story: str = "") -> list[str]:
    return [f"{sentence.kind}: {sentence.text}" for sentence in sentences(prepared, m, story)]


def with_residual(m: Measured, frame: int, region: int, value: float) -> Measured:
    residual = m.arrays["residual"].copy()
    residual[frame, region] = value
    return replace(m, arrays={**m.arrays, "residual": residual})


def test_met(prepared: Prepared, measured: Measured):
    lines = told(prepared, measured)
    assert lines[0] == (
        "met: Direction met on all 4 frames: the largest distance between a region's average and the guide's is "
        "1e-15 m (5e-16 of the size) in memory, 2.1e-08 m in the file."
    )
    assert lines[1] == "met: Every step converged: 5.0 Newton iterations a frame on average, at most 9 at frame 13."
    assert lines[2] == (
        "note: The largest force of direction is 5 N, 0.51 times the shell's weight, around guide vertex 1 at frame 13."
    )
    assert "kinetic 1.5 J at frame 12" in lines[3]


def test_regions_held_less_are_looked_at_where_they_are_though_nothing_is_away(prepared: Prepared, measured: Measured):
    held = np.ones((4, 2))
    held[1:3, 1] = 0.5
    m = replace(measured, arrays={**measured.arrays, "held": held, "residual": np.zeros((4, 2))})
    (freer,) = (one for one in sentences(prepared, m, "") if "the others less" in one.text)
    assert (freer.frame, freer.region) == (12.0, 1)


def test_missed_says_where_and_by_how_much(prepared: Prepared, measured: Measured):
    m = with_residual(with_residual(measured, 1, 0, 1e-6), 3, 1, 0.04)
    assert m.missed.tolist() == [False, True, False, True]
    assert told(prepared, m)[0] == (
        "missed: Direction missed on 2 of 4 frames (12, 14): the largest distance is 0.04 m (2 % of the size) "
        "in memory, 2.1e-08 m in the file, at frame 14 around guide vertex 1."
    )
    in_file = replace(measured, in_file=np.full((4, 2), 1e-4))
    assert in_file.missed.all() and told(prepared, in_file)[0].startswith("missed: Direction missed on 4 of 4 frames")


def test_what_was_not_asked_for_is_not_missed(prepared: Prepared, measured: Measured):
    strength = np.array([1, 1, 0.5, 0.5])
    loose = replace(with_residual(measured, 2, 0, 0.3), strength=strength)
    loose = replace(loose, arrays={**loose.arrays, "held": np.repeat(strength[:, None], 2, axis=1)})
    assert not loose.missed.any()
    lines = told(prepared, loose)
    assert lines[0].startswith("met: Direction met on all 2 frames that ask for it")
    assert lines[1] == (
        "note: The guide was loosened (strength below 1) on frames 13–14: the shell was up to 0.3 m away, as asked."
    )
    rest = replace(with_residual(measured, 0, 0, 0.2), exempt=True)
    assert not rest.missed.any()
    assert told(prepared, rest)[1].endswith("there the guide is up to 0.2 m away.")
    none = {"residual": np.zeros((4, 0)), "held": np.zeros((4, 0)), "force": np.zeros((4, 0, 3))}
    free = replace(measured, arrays={**measured.arrays, **none}, in_file=None)
    assert told(prepared, free)[0] == "note: No direction was asked for: the shell moved by physics alone."


def yielding(m: Measured, *where: tuple[int, int]) -> Measured:
    """Capped at 5 N, and 0.3 m away where told, pulled as hard as the cap allows."""
    force, residual = m.arrays["force"].copy(), m.arrays["residual"].copy()
    for frame, region in where:
        force[frame, region], residual[frame, region] = [0.0, 5.0, 0.0], 0.3
    return replace(m, arrays={**m.arrays, "cap": np.full((4, 2), 5.0), "force": force, "residual": residual})


def test_regions_that_yield_to_a_cap_are_told_and_neither_missed_nor_met(prepared: Prepared, measured: Measured):
    capped = yielding(measured, (2, 1))
    assert not capped.missed.any() and capped.exact.sum() == 7
    lines = told(prepared, capped)
    assert lines[0] == (
        "yielded: Direction yielded on 1 of 4 frames (13): 1 of 2 regions gave way, as asked, where the guide would "
        "have pulled harder than the cap; the farthest is 0.3 m away, around guide vertex 1 at frame 13."
    )
    assert lines[1].startswith("met: Direction met by the regions that did not yield, on 4 frames: the largest")
    report = Report("s", "o", TakeOutcome.FINISHED, "", capped, ())
    assert report.met is False and not report.missed and report.as_json()["yielded_frames"].tolist() == [13]
    assert _verdict(report) == ("yielded on 1 of 4 frames", "yielded")
    (one,) = yielded_regions(prepared, capped)
    assert {**one.as_json(), "frames": one.frames.tolist()} == {
        "region": "guide vertex 1", "frames": [13], "max_m": 0.3
    }  # fmt: skip
    page = Page(replace(report, yielded=(one,)), "v001", "", ORIGIN, 1.0, False).html()
    assert "<tr><th>guide vertex 1</th><td>0.3 m away at most, frame 13</td></tr>" in page
    uncapped = with_residual(measured, 2, 1, 0.3)
    assert uncapped.missed.tolist() == [False, False, True, False]


def test_the_file_is_measured_where_the_guide_was_not_to_be_met_too(measured: Measured):
    """What a spring or a cap leaves is a distance in the file as well, not zero."""
    in_file = measured.arrays["residual"].copy()
    in_file[2, 1] = 0.3
    held = np.ones((4, 2))
    held[2, 1] = 0.5
    loose = replace(with_residual(measured, 2, 1, 0.3), in_file=in_file)
    loose = replace(loose, arrays={**loose.arrays, "held": held})
    assert per_frame(loose)["residual_in_file_m"][2] == 0.3 and not loose.missed.any()


def test_where_all_regions_yield_nothing_is_called_met(prepared: Prepared, measured: Measured):
    capped = yielding(measured, *((frame, region) for frame in range(4) for region in range(2)))
    lines = told(prepared, capped)
    assert lines[0].startswith("yielded: Direction yielded on 4 of 4 frames") and "Direction met" not in "".join(lines)
    assert Report("s", "o", TakeOutcome.FINISHED, "", capped, ()).met is False


def test_one_frame_is_one_frame(prepared: Prepared, measured: Measured):
    held = np.zeros((4, 2))
    held[0] = 1.0
    one = replace(measured, arrays={**measured.arrays, "held": held})
    assert told(prepared, one)[0].startswith("met: Direction met on the one frame that asks for it: ")


def test_a_start_that_hangs_below_its_caps_yields(measured: Measured):
    """The first frame has no steps and so no forces: a settled start that is away is away for its caps."""
    start = with_residual(measured, 0, 1, 0.3)
    start = replace(start, arrays={**start.arrays, "cap": np.full((4, 2), 5.0)})
    assert start.yielding.sum() == 1 and start.yielding[0, 1] and not start.missed.any()


@pytest.mark.parametrize(("cap", "held"), [(6.0, 1.0), (np.inf, 1.0), (5.0, 0.0)])
def test_a_region_that_is_away_without_need_does_not_yield(measured: Measured, cap: float, held: float):
    """Pulled with 5 N, less than its cap allows, or not capped: missed. Not held at all: neither."""
    capped = with_residual(measured, 2, 1, 0.3)
    arrays = {**capped.arrays, "cap": np.full((4, 2), cap), "held": np.full((4, 2), held)}
    capped = replace(capped, arrays=arrays)
    assert not capped.yielding.any()
    assert capped.missed.tolist() == [False, False, held == 1.0, False]


def test_regions_held_less_than_others_are_told(prepared: Prepared, measured: Measured):
    held = np.ones((4, 2))
    held[1:3, 0] = 0.4
    freer = with_residual(measured, 2, 0, 0.05)
    freer = replace(freer, arrays={**freer.arrays, "held": held})
    assert not freer.missed.any()
    assert told(prepared, freer)[1] == (
        "note: On frames 12–13 between 1 and 1 of 2 regions were held exactly and the others less, as asked: those "
        "were up to 0.05 m away."
    )


def test_steps_that_did_not_converge_are_named(prepared: Prepared, measured: Measured):
    late = {"last_step": np.array([0, 0.002, 0.003, 0.001]), "converged": np.array([True, False, True, False])}
    slow = replace(measured, arrays={**measured.arrays, **late})
    line = told(prepared, slow)[1]
    assert line.startswith("missed: On 2 frames (12, 14) a step used up its Newton iterations") and "0.002 m" in line
    one = replace(prepared, shot=replace(prepared.shot, physics=replace(prepared.shot.physics, iterations=1)))
    assert told(one, slow)[1].startswith("note: Each step took 1 Newton iteration, as asked")


@pytest.mark.parametrize(
    ("contact", "said"),
    [(True, "converged"), (ContactTable(), "converged"),
     (ContactTable(balance=0.2), "was solved until at most 0.2 of its own error was left, as asked")],
)  # fmt: skip
def test_how_well_steps_were_solved_is_told(prepared: Prepared, measured: Measured, contact: Any, said: str):
    """Less than to the tolerance is not called converged."""
    one = replace(prepared, shot=replace(prepared.shot, physics=replace(prepared.shot.physics, contact=contact)))
    assert told(one, measured)[1].startswith(f"met: Every step {said}: 5.0 Newton iterations")


def test_what_has_set_is_told_and_drawn(prepared: Prepared, measured: Measured):
    """By the frame after which no more sets; hinges where hinges set; and an elastic material says nothing."""
    assert not any("set" in line.split() for line in told(prepared, measured))
    some = replace(measured, arrays={**measured.arrays, "yielded": np.array([0.0, 0.05, 0.124, 0.124])})
    assert "note: 12 % of the faces have set by frame 13." in told(prepared, some)
    none = replace(measured, arrays={**measured.arrays, "yielded": np.zeros(4)})
    assert "note: No face was bent beyond its yield curvature: nothing has set." in told(prepared, none)
    hinge = replace(prepared, shot=replace(prepared.shot, physics=replace(prepared.shot.physics, bending="hinge")))
    assert "note: 12 % of the hinges have set by frame 13." in told(hinge, some)
    assert any("Share that has set" in drawn for drawn in _charts(some))
    assert not any("Share that has set" in drawn for drawn in _charts(measured))


def test_a_stop_comes_first(prepared: Prepared, measured: Measured):
    assert told(prepared, measured, "frame 15: it broke")[0] == (
        "missed: Stopped by physics at frame 15: it broke. 4 of 6 frames are kept."
    )


@given(st.sets(st.integers(-50, 200), min_size=1))
def test_ranges_name_every_frame_once(frames: set[int]):
    text = ranges(np.array(sorted(frames), dtype=float), limit=1000)
    named = set()
    for part in text.split(", "):
        ends = [int(end) for end in part.split("–")]
        named |= set(range(ends[0], ends[-1] + 1))
    assert named == frames


def test_ranges_do_not_flood_and_shares_read_well():
    assert ranges(np.arange(0.0, 40.0, 2.0)) == "0, 2, 4, 6, 8, 10 and 14 more"
    assert (share(4e-15), share(0.012)) == ("4e-15", "1.2 %")


def test_a_curve_lies_where_its_values_are():
    svg = chart("Force", "N", np.array([1.0, 2.0, 3.0]), [Line("force", np.array([0.0, 10.0, 5.0]))])
    xs, ys = np.array([point.split(",") for point in re.findall(r'points="([^"]*)"', svg)[0].split()], dtype=float).T
    np.testing.assert_allclose(np.diff(xs), (xs[-1] - xs[0]) / 2)
    assert (ys[0] - ys[2]) / (ys[0] - ys[1]) == pytest.approx(0.5, abs=0.01)
    assert "at most 10 N at frame 2" in svg
    log = chart("Gap", "m", np.array([1.0, 2.0, 3.0]), [Line("gap", np.array([1e-16, 1e-12, 1e-8]))], log=True)
    ys = np.array([point.split(",")[1] for point in re.findall(r'points="([^"]*)"', log)[0].split()], dtype=float)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)
    assert chart("Nothing", "m", np.array([1.0]), [Line("x", np.array([1.0]))]) == ""


def test_the_page_is_whole_tells_the_sentences_and_loads_nothing_from_outside(prepared: Prepared, measured: Measured):
    report = Report(
        "box", "<box>", TakeOutcome.STOPPED, "frame 15: it <broke>", measured,
        sentences(prepared, measured, "frame 15: it <broke>"), {"box": ("box.usdc",)},
    )  # fmt: skip
    html = Page(report, "v007", "[shot]", ORIGIN, 12.0, True).html()
    assert "it &lt;broke&gt;" in html and "<broke>" not in html
    assert "stopped by physics" in html and "threads was 1, is 2" in html and html.count("<svg") == 4
    assert not re.search(r'(src|href)="(https?:)?//', html) and "<script" not in html
    assert "prefers-color-scheme: dark" in html
    assert set(re.findall(r'(?:src|href)="([^"]*)"', html)) == {
        "preview.mp4", "contact_sheet.png", "box.usdc", "report.json", "shot.toml", "provenance.json", "run.log"
    }  # fmt: skip


def test_a_missed_pin_is_told_and_counts(prepared: Prepared, measured: Measured) -> None:
    gaps = np.array([[0.0, 0.0], [0.0, 0.3], [0.0, 0.01], [0.0, 0.0]])
    firm = np.array([[True, True], [True, False], [True, True], [True, True]])
    m = replace(measured, arrays={**measured.arrays, "pin_residual": gaps}, firm=firm)
    pinned = replace(prepared, pins=(Pin([0]), Pin([1, 2])))
    assert (
        "missed: 3 pinned vertices missed: where a pin is firm the largest distance is 0.01 m, at frame 13 on pin 2."
        in (told(pinned, m))
    )
    report = Report("s", "o", TakeOutcome.FINISHED, "", m, ())
    assert not report.met
    assert replace(report, measured=replace(m, firm=np.zeros_like(firm))).met


def test_what_contact_keeps_off_is_told_apart_from_what_a_cap_lets_go(prepared: Prepared, measured: Measured):
    """Region 1 is kept off on two frames and 2 mm away; region 0 meets the guide."""
    m = with_residual(with_residual(measured, 1, 1, 5e-4), 2, 1, 2.178e-3)
    pushed = np.zeros((4, 2), dtype=bool)
    pushed[1:3, 1] = True
    off = replace(m, pushed=pushed)
    lines = told(prepared, off)
    assert lines[0].startswith("met: Direction met on all 4 frames by every region that contact left free: the largest")
    assert lines[1] == (
        "missed: The region around guide vertex 1 was kept from the guide by contact on frames 12–13, at most 2.18 mm."
    )
    assert not off.astray.any() and off.missed.tolist() == [False, True, True, False]
    assert told(prepared, m)[0].startswith("missed: Direction missed on 2 of 4 frames (12–13)")  # nothing in its way
    cap = {"cap": np.full((4, 2), 5.0), "force": np.zeros((4, 2, 3))}
    cap["force"][1:3, 1, 0] = 5.0
    capped = replace(off, arrays={**off.arrays, **cap})
    assert not capped.kept_off.any() and capped.yielding.sum() == 2  # the cap is what it yields to
    report = Report("box", "box", TakeOutcome.FINISHED, "", off, ())
    assert report.met is False and report.as_json()["missed_frames"].tolist() == [12.0, 13.0]
    soft = replace(off, arrays={**off.arrays, "held": np.full((4, 2), 0.5)})
    assert not soft.kept_off.any()  # it did not have to be there


def test_a_region_that_catches_up_after_contact_is_still_kept_off(prepared: Prepared):
    def frame(index: int, away: float, gave_way: bool) -> Frame:
        state = State(index / 24.0, np.zeros(3), np.zeros(3), {})
        arrays = {"residual": np.array([away, 0.0]), "gave_way": np.array([gave_way, False])}
        return Frame(index, state, {**arrays, "held": np.ones(2)})

    story = [
        frame(0, 0.0, False),
        frame(1, 0.2, True),
        frame(2, 0.1, False),
        frame(3, 0.0, False),
        frame(4, 0.1, False),
    ]
    assert measure(prepared, story, {}).kept_off[:, 0].tolist() == [False, True, True, False, False]
    after = measure(prepared, story[2:], {}, before=story[:2])  # the first two were preroll
    assert after.kept_off[:, 0].tolist() == [True, False, False]


def test_near_pairs_and_intersections_in_sentences(prepared: Prepared, measured: Measured):
    near = {"pairs": np.array([0, 0, 7, 5]), "closest": np.array([0.0, 0.0, 0.004, 0.0025])}
    lines = told(prepared, replace(measured, arrays={**measured.arrays, **near}))
    assert (
        "note: Surfaces were near each other on frames 13–14: at most 7 near pairs at frame 13, and no two nearer than "
        "2.5 mm (frame 14)."
    ) in lines
    calm = {"pairs": np.zeros(4, int), "closest": np.zeros(4)}
    assert "note: Nothing came near anything: contact had nothing to do." in told(
        prepared, replace(measured, arrays={**measured.arrays, **calm})
    )
    itself, others = np.array([0, 2, 6, 0]), np.array([0, 0, 0, 1])
    crossing = replace(measured, intersections=Intersections(itself, others, itself + others))
    touching = replace(prepared, contact=ShotContact(ContactTable()))
    assert (
        "missed: The shell passes through itself on frames 12–13 (at most 6 triangles at frame 13) and through an "
        "obstacle on frame 14 (at most 1 triangle at frame 14)."
    ) in told(touching, crossing)
    assert any(line.startswith("note: The shell passes through itself") for line in told(prepared, crossing))
    assert per_frame(crossing)["intersections"].tolist() == [0, 2, 6, 1]


def test_numbers_and_frames_as_sentences_say_them() -> None:
    assert [digits(one) for one in (0.0512, 0.5, 218.4, 3512.0, 2.12e-8, 0.0)] == [
        "0.051",
        "0.5",
        "220",
        "3500",
        "2.1e-08",
        "0",
    ]
    assert digits(3512.0, 3) == "3510" and millimetres(1.234) == "1230 mm" and share(1.204) == "120 %"
    assert on(np.array([74.0])) == "frame 74" and on(np.array([7.0, 8.0, 12.0])) == "frames 7–8, 12"
