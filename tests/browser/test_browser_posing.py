"""Keys in a real browser: dragged while the motion is planned anew, turned, moved in time, added, removed, undone."""

from __future__ import annotations

import statistics
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from browser_page import PATIENCE, Studio, written

from bunraku import TetMesh, TriMesh
from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.scenes.letter_x import letter_x
from bunraku.shots import PLAN_DEMOS
from bunraku.shots.plan_demos import filled
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio
Tab = Callable[..., Studio]
Direct = Callable[[Path], StudioServer]


def write_plan(folder: Path, surface: TriMesh, body: TetMesh, ends: float, **table: Any) -> Path:
    """A shot of a body that stands on its foot: `ends` [m] of it are foot and head."""
    write_mesh(folder / "body.usdc", surface)
    write_mesh(folder / "body.msh", body)
    height = surface.rest[:, 1]
    parts = {"foot": height < height.min() + ends, "head": height > height.max() - ends}
    told = {
        "role": "plan", "surface": {"file": "body.usdc"}, "tets": {"file": "body.msh", "unit": "m"},
        "material": {"preset": "rubber", "young": 1e5, "density": 300.0}, "fixed": ["foot"],
        "keys": [{"frame": 13, "region": "head", "move": [0.1, -0.05, 0.0]}],
        "regions": {name: {"vertices": np.flatnonzero(inside).tolist()} for name, inside in parts.items()}, **table,
    }  # fmt: skip
    settings = {"shot": {"frames": [1, 25]}, "object": {"body": told}, "output": {"preview": False}}
    (folder / "body.toml").write_text(tomli_w.dumps(settings), encoding="utf-8")
    return folder / "body.toml"


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    bar = tet_bar((2, 8, 2), (0.25, 1.0, 0.25))
    return write_plan(tmp_path, bar.surface(), bar, 1e-3)


@pytest.fixture
def studio(tab: Tab, direct: Direct, shot: Path) -> Studio:
    """The first key is chosen."""
    found = tab().direct(direct(shot).address, "Keys")
    found.button("head on frame 13").first.click()
    found.until("bunraku.frame === 13 && bunraku.handle !== null && bunraku.fine")
    return found


def keys(shot: Path) -> list[dict[str, Any]]:
    return tomllib.loads(shot.read_text(encoding="utf-8"))["object"]["body"]["keys"]


def drag_gizmo(studio: Studio, by: tuple[float, float], steps: int = 12) -> None:
    """Its middle moves all of it, in the plane of the screen."""
    x, y = studio.says("bunraku.handle")
    studio.drag((x, y), (x + by[0], y + by[1]), steps=steps)


def test_a_key_is_dragged_and_the_motion_changes_meanwhile(studio: Studio, shot: Path) -> None:
    before, text, still = keys(shot)[0], shot.read_text(), np.array(studio.says("bunraku.posed"))
    x, y = studio.place(*studio.says("bunraku.handle"))
    studio.page.mouse.move(x, y)
    studio.page.mouse.down()
    studio.page.mouse.move(x + 60, y + 20, steps=8)
    studio.until("bunraku.trials.length > 0")
    assert shot.read_text() == text  # the file waits for the release
    studio.until(f"bunraku.posed[0] > {still[0] + 0.03} && bunraku.posed[1] < {still[1] - 0.005}")
    studio.keep("posing")
    written(studio, studio.page.mouse.up)
    after = keys(shot)[0]
    assert after["move"][0] > before["move"][0] + 0.05 and after["move"][1] < before["move"][1]
    assert {**after, "move": 0} == {**before, "move": 0}
    studio.until("bunraku.line === 25")  # the way the head goes, when all frames are there
    studio.keep("posed")
    written(studio, lambda: studio.press("Control+z"))
    assert shot.read_text() == text


def test_keys_are_turned_added_moved_in_time_and_removed(studio: Studio, shot: Path) -> None:
    studio.page.get_by_role("button", name="Turn it about its middle").click()
    x, y = studio.place(*studio.says("bunraku.handle"))
    high = studio.page.locator(".stage canvas").first.bounding_box()["height"]
    ring = x + 0.75 * 0.85 / 4 * 1.9 * high / 2  # the outermost one, which turns about the line of sight

    def turn() -> None:
        studio.page.mouse.move(ring, y)
        studio.page.mouse.down()
        studio.page.mouse.move(ring, y + 40, steps=5)
        studio.page.mouse.up()

    written(studio, turn)
    assert np.linalg.norm(keys(shot)[0]["rotate"]) > 5.0
    mark = studio.page.locator(".mark").first

    def drag_mark() -> None:
        mark.hover()  # which waits until it lies still
        box = mark.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        wide = studio.page.locator(".marks").bounding_box()["width"]
        studio.page.mouse.move(x, y)
        studio.page.mouse.down()
        studio.page.mouse.move(x + 4 * wide / 25, y, steps=6)
        studio.page.mouse.up()

    written(studio, drag_mark)
    assert keys(shot)[0]["frame"] == 17
    studio.until("bunraku.handle !== null && bunraku.frame === 17")  # it is still the one that is chosen
    studio.page.get_by_role("slider", name="Frame", exact=True).focus()
    for _ in range(8):
        studio.press("ArrowLeft")
    studio.until("bunraku.frame === 9")
    studio.page.get_by_role("combobox", name="Region of the new key").select_option(label="head")
    written(studio, lambda: studio.button("Add a key").click())
    assert sorted(one["frame"] for one in keys(shot)) == [9, 17]
    studio.keep("posing_two")
    written(studio, lambda: studio.button("Remove head on frame 9").click())
    assert [one["frame"] for one in keys(shot)] == [17]


def test_a_key_is_held_where_it_turns(tab: Tab, direct: Direct, tmp_path: Path) -> None:
    bar = tet_bar((2, 8, 2), (0.25, 1.0, 0.25))
    key = {"frame": 13, "region": "head", "rotate": [0.0, 0.0, -20.0], "pivot": [0.125, 0.0, 0.125]}
    shot = write_plan(tmp_path, bar.surface(), bar, 1e-3, keys=[key])
    studio = tab().direct(direct(shot).address, "Keys")
    studio.button("head on frame 13").first.click()
    studio.until("bunraku.frame === 13 && bunraku.handle !== null && bunraku.fine")
    assert studio.says("bunraku.handle")[1] > 0.7  # at the foot, in shares of the picture from above
    written(studio, lambda: drag_gizmo(studio, (0.05, 0.0)))
    assert keys(shot)[0]["pivot"] == key["pivot"] and keys(shot)[0]["rotate"] == key["rotate"]
    assert keys(shot)[0]["move"][0] > 0.05


def test_what_cannot_be_is_told_and_changes_nothing(studio: Studio, shot: Path) -> None:
    text = shot.read_text()
    studio.expected = ("400 (Bad Request)",)
    frame = studio.page.get_by_role("textbox", name="Frame of the key")
    frame.fill("99")
    frame.press("Enter")
    studio.told("outside the motion")
    studio.keep("posing_refused")
    assert shot.read_text() == text
    studio.until("bunraku.sketched !== null && bunraku.ready")


def test_numbers_of_a_key_are_typed_as_anyone_writes_them(studio: Studio, shot: Path) -> None:
    field = studio.page.get_by_role("textbox", name="Move along x [m]")
    field.fill("0,15")
    written(studio, lambda: field.press("Enter"))
    assert keys(shot)[0]["move"] == [0.15, -0.05, 0]
    text, frame = shot.read_text(), studio.page.get_by_role("textbox", name="Frame of the key")
    for one, holds in ((field, "0.15"), (frame, "13")):
        for nothing in ("", "much"):
            one.fill(nothing)
            one.press("Enter")
            assert one.input_value() == holds and not studio.says("bunraku.sending")
    assert shot.read_text() == text


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"frame":15', '"frame":NaN', "NaN is no number"),
        ('"region":"head"', '"region":"hat"', "unknown region (got 'hat'"),
    ],
)
def test_keys_that_are_none_are_a_sentence_and_change_nothing(
    studio: Studio, shot: Path, right: str, wrong: str, said: str
) -> None:
    text, sent = shot.read_text(), list[str]()

    def spoil(route: Any) -> None:
        sent.append(route.request.post_data)
        route.continue_(post_data=sent[-1].replace(right, wrong))

    studio.page.route("**/sketch/edit", spoil)
    studio.expected = ("400 (Bad Request)",)
    frame = studio.page.get_by_role("textbox", name="Frame of the key")
    frame.fill("15")
    frame.press("Enter")
    studio.told(said)
    assert right in sent[0] and shot.read_text() == text
    studio.until("bunraku.sketched !== null && bunraku.ready && bunraku.revision === 1")


def test_three_thousand_tetrahedra_follow_the_hand(
    tab: Tab, direct: Direct, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    surface = letter_x()
    body = filled(surface, PLAN_DEMOS["x_walk"])
    shot = write_plan(tmp_path, surface, body, 0.04)
    studio = tab().direct(direct(shot).address, "Keys")
    studio.button("head on frame 13").first.click()
    studio.until("bunraku.frame === 13 && bunraku.handle !== null && bunraku.fine")
    x, y = studio.place(*studio.says("bunraku.handle"))
    studio.page.mouse.move(x, y)
    studio.page.mouse.down()
    begin, worked, k = time.monotonic(), time.process_time(), 0
    while (k < 50 or len(studio.says("bunraku.trials")) <= 20) and time.monotonic() < begin + PATIENCE:
        k += 1
        studio.page.mouse.move(x + 65 * np.sin(k / 32), y + 20 * np.sin(k / 9))
        studio.page.wait_for_timeout(25)
    spent, worked = time.monotonic() - begin, time.process_time() - worked
    studio.page.mouse.move(x + 65, y)
    trials = studio.says("bunraku.trials")
    written(studio, studio.page.mouse.up)
    studio.keep("posing_letter")
    answered, drawn = ([one[name] for one in trials] for name in ("answered", "drawn"))
    with capsys.disabled():
        work = f"answered in {statistics.median(answered):.0f} ms, drawn in {statistics.median(drawn):.0f} ms (medians)"
        cost = f"{1e3 * worked / len(trials):.0f} ms of processor time each, the test's own included"
        print(f"\ndragging a key of {len(body.tets)} tets: {len(trials) / spent:.1f} updates a second, {work}, {cost}")
    assert len(trials) > 20
    assert worked / len(trials) < 0.1  # [s] so that ten can be answered a second
    assert keys(shot)[0]["move"][0] > 0.15
