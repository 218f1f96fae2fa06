"""Key shapes and paths of a body in a real browser: a grip and a knot dragged, drawn anew, written, undone."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from browser_page import Studio, written

from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio
LEAN: dict[str, Any] = {"frame": 5, "grips": [{"region": "foot"}, {"region": "head", "move": [0.1, 0.0, 0.0]}]}
MIDDLE = (0.125, 1.0, 0.125)  # of the head at rest
WAY: dict[str, Any] = {"points": [[1, 0.0, 0.5, 0.0], [5, 0.2, 0.6, 0.0], [9, 0.4, 0.5, 0.0]]}


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    bar = tet_bar((1, 4, 1), (0.25, 1.0, 0.25))
    skin = bar.surface()
    write_mesh(tmp_path / "bar.usdc", skin)
    write_mesh(tmp_path / "bar.msh", bar)
    parts = {"foot": skin.rest[:, 1] < 1e-3, "head": skin.rest[:, 1] > 1.0 - 1e-3}
    table = {
        "role": "body", "surface": {"file": "bar.usdc"}, "tets": {"file": "bar.msh", "unit": "m"},
        "material": {"preset": "rubber", "young": 1e5}, "keys": [LEAN], "path": [WAY],
        "regions": {name: {"vertices": np.flatnonzero(inside).tolist()} for name, inside in parts.items()},
    }  # fmt: skip
    settings = {"shot": {"frames": [1, 9]}, "object": {"bar": table}, "output": {"preview": False}}
    (tmp_path / "bar.toml").write_text(tomli_w.dumps(settings), encoding="utf-8")
    return tmp_path / "bar.toml"


@pytest.fixture
def studio(tab: Callable[..., Studio], direct: Callable[[Path], StudioServer], shot: Path) -> Studio:
    return tab().direct(direct(shot).address, "Keys")


def told(shot: Path) -> dict[str, Any]:
    return tomllib.loads(shot.read_text(encoding="utf-8"))["object"]["bar"]


def choose(studio: Studio, title: str) -> None:
    studio.button(title, exact=True).first.click()
    studio.until("bunraku.frame === 5 && bunraku.handle !== null && bunraku.fine && bunraku.line === 33")
    studio.until("!bunraku.tracing")


def begin_drag(studio: Studio, by: tuple[float, float]) -> None:
    """Take the gizmo by its middle, which moves in the plane of the screen, and keep hold of it."""
    x, y = studio.place(*studio.says("bunraku.handle"))
    studio.page.mouse.move(x, y)
    studio.page.mouse.down()
    studio.page.mouse.move(x + by[0], y + by[1], steps=8)


def follows(studio: Studio, drawn: str, since: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    """Wait until what is drawn is where the numbers on the page say, which go with the hand at once."""
    fields = [studio.page.get_by_role("textbox", name=f"Move along {axis} [m]") for axis in "xyz"]
    place = np.array(since) + [float(one.input_value()) for one in fields]
    off = ", ".join(f"{drawn}[{c}] - {value}" for c, value in enumerate(place))
    studio.until(f"{drawn} !== null && Math.hypot({off}) < 1e-3")


def way(studio: Studio) -> np.ndarray:
    """(m, 3) [m] the path as it is drawn, four points a frame."""
    return np.array(studio.says("bunraku.way")).reshape(-1, 3)


def test_a_grip_is_dragged_and_the_body_takes_its_shape(studio: Studio, shot: Path) -> None:
    first = shot.read_text()
    choose(studio, "head on frame 5")
    begin_drag(studio, (60, 20))
    follows(studio, "bunraku.posed", MIDDLE)
    studio.keep("steering_grip")
    seen = studio.says("bunraku.posed")
    assert shot.read_text() == first  # the file waits for the release
    written(studio, studio.page.mouse.up)
    foot, head = told(shot)["keys"][0]["grips"]
    assert foot == LEAN["grips"][0] and told(shot)["path"] == [WAY] and set(head) == {"region", "move"}
    assert seen == pytest.approx(np.array(MIDDLE) + head["move"], abs=1e-3) and head["move"][0] > 0.1 + 0.05
    written(studio, lambda: studio.press("Control+z"))
    assert shot.read_text() == first


def test_a_knot_is_dragged_and_the_path_is_drawn_through_it(studio: Studio, shot: Path) -> None:
    first = shot.read_text()
    choose(studio, "path of whole body on frame 5")
    before = way(studio)
    assert before[::16] == pytest.approx(np.array(WAY["points"])[:, 1:], abs=1e-6)
    begin_drag(studio, (0, -80))
    follows(studio, "bunraku.way.slice(3 * 16)")
    studio.keep("steering_knot")
    seen = way(studio)
    assert shot.read_text() == first
    written(studio, studio.page.mouse.up)
    (path,) = told(shot)["path"]
    assert path["points"][::2] == WAY["points"][::2] and told(shot)["keys"] == [LEAN]
    assert path["points"][1][0] == 5 and path["points"][1][2] > 0.6 + 0.1
    assert seen[::16] == pytest.approx(np.array(path["points"])[:, 1:], abs=1e-3)
    written(studio, lambda: studio.press("Control+z"))
    assert shot.read_text() == first
    studio.until("Math.abs(bunraku.way[3 * 16 + 1] - 0.6) < 1e-3")
    assert np.array_equal(way(studio), before)


def test_knots_are_added_and_a_path_is_begun_and_goes_with_its_last(studio: Studio, shot: Path) -> None:
    first = shot.read_text()
    frame = studio.page.get_by_role("textbox", name="Frame number")
    frame.fill("3")
    frame.press("Enter")
    written(studio, studio.button("Add a knot").click)
    (path,) = told(shot)["path"]
    assert [row[0] for row in path["points"]] == [1, 3, 5, 9]
    assert [row for row in path["points"] if row[0] != 3] == WAY["points"]
    studio.until("bunraku.frame === 3 && bunraku.handle !== null && bunraku.fine && bunraku.line === 33")
    begin_drag(studio, (0, -60))
    follows(studio, "bunraku.way.slice(3 * 8)")
    written(studio, studio.page.mouse.up)
    assert told(shot)["path"][0]["points"][1][2] > path["points"][1][2] + 0.05
    studio.page.get_by_role("combobox", name="What the path is of").select_option(label="head")
    written(studio, studio.button("Add a knot").click)
    assert told(shot)["path"][1]["region"] == "head" and len(told(shot)["path"][1]["points"]) == 1
    studio.until("bunraku.handle !== null && bunraku.fine")
    studio.keep("steering_new_path")
    written(studio, studio.button("Remove path of head on frame 3").click)
    assert len(told(shot)["path"]) == 1
    for _ in range(4):
        written(studio, lambda: studio.press("Control+z"))
    assert shot.read_text() == first


def test_a_knot_is_written_after_the_last_try_of_it(studio: Studio, shot: Path) -> None:
    """A try that came to the server after the edit would be of a shot that is gone, and complained of."""
    choose(studio, "path of whole body on frame 5")
    held: list[Any] = []
    released: list[bool] = []
    studio.page.route("**/sketch/path", lambda one: one.continue_() if released else held.append(one))
    begin_drag(studio, (0, -40))

    def release() -> None:
        studio.page.mouse.up()
        studio.page.wait_for_timeout(500)
        released.append(True)
        for one in held:
            one.continue_()

    written(studio, release)
    assert held and told(shot)["path"][0]["points"][1][2] > 0.6 + 0.05
    assert studio.says("bunraku.error") == ""
