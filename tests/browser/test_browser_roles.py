"""Roles in a real browser: an object is chosen, its role and what it follows; refused in a sentence, undone, run."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import Studio
from browser_takes import twisting

from bunraku.io import write_animation
from bunraku.shots import open_take
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio

SHOT = """# of the second act
[object.hero]
role = "obstacle"
source = { file = "hero.usda" }  # from layout

[object.coat]
guide = { file = "coat.usda" }
mesh = { levels = 1 }
material = "denim"

[physics]
contact = true

[output]
preview = false
"""


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A box above another, and the motion of that above moved to the side."""
    for name, by in (("hero", (0, 0)), ("coat", (0, 3)), ("coat_v2", (2, 3))):
        motion = twisting(6)
        motion.points[..., :2] += by
        write_animation(tmp_path / f"{name}.usda", motion, rate=24.0, prim=f"/{name}")
    (tmp_path / "act.toml").write_text(SHOT, encoding="utf-8")
    return tmp_path / "act.toml"


@pytest.fixture
def studio(tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path) -> Studio:
    found = tab()
    found.page.goto(direct(shot).address)
    found.until("bunraku.revision > 0")
    return found


def told(shot: Path) -> dict[str, Any]:
    return tomllib.loads(shot.read_text(encoding="utf-8"))["object"]


def edited(studio: Studio, act: Callable[[], Any]) -> None:
    """Do something, and wait until the page shows what the file says then."""
    revision = studio.says("bunraku.revision")
    act()
    studio.until(f"bunraku.revision > {revision} && !bunraku.sending")


def choose(studio: Studio, name: str) -> None:
    radio = studio.page.get_by_role("radio", name=name)
    radio.click()
    assert radio.get_attribute("aria-checked") == "true"


def role(studio: Studio) -> Any:
    return studio.page.get_by_role("combobox", name="role", exact=True)


def follows(studio: Studio, word: str = "follows") -> Any:
    return studio.page.get_by_role("combobox", name=word, exact=True)


def shown(box: Any) -> str:
    return box.locator("option:checked").inner_text()


def test_what_an_object_follows_is_chosen_and_the_next_take_goes_there(studio: Studio, shot: Path) -> None:
    choose(studio, "coat")
    assert shown(role(studio)) == "shell" and shown(follows(studio)) == "coat.usda"
    follows(studio).locator("option", has_text="coat_v2.usda").wait_for(state="attached")
    titles = follows(studio).locator("option").all_inner_texts()
    assert titles == ["coat.usda", "as hero: hero.usda", "coat_v2.usda"]
    edited(studio, lambda: follows(studio).select_option(label="coat_v2.usda"))
    assert shot.read_text() == SHOT.replace('"coat.usda"', '"coat_v2.usda"')
    assert shown(follows(studio)) == "coat_v2.usda"
    studio.page.get_by_role("tab", name="Changes").click()
    assert studio.page.locator(".diff .added").all_inner_texts() == ['+guide = { file = "coat_v2.usda" }\n']
    studio.page.get_by_role("tab", name="Direct").click()
    studio.keep_page("roles")
    studio.button("Run").click()
    studio.until("bunraku.takes.length === 1 && bunraku.takes[0].state === 'finished' && !bunraku.running")
    take = open_take(shot.parent / "takes" / "act")
    assert np.array(take.points(5))[:, 0].mean() > 1.5
    follows(studio).locator("option", has_text="act/v001").wait_for(state="attached")  # may be followed now itself
    edited(studio, lambda: studio.press("Control+z"))
    assert shot.read_text() == SHOT and shown(follows(studio)) == "coat.usda"


def test_two_objects_trade_roles_and_trade_back(studio: Studio, shot: Path) -> None:
    choose(studio, "hero")
    assert shown(role(studio)) == "obstacle" and shown(follows(studio, "is")) == "hero.usda"
    edited(studio, lambda: role(studio).select_option("shell"))
    assert told(shot) == {
        "hero": {"role": "shell", "guide": {"file": "hero.usda"}},
        "coat": {"role": "obstacle", "source": {"file": "coat.usda"}},
    }
    studio.told("hero: shell instead of obstacle; coat: obstacle instead of shell, without")
    assert studio.page.locator('.objects [aria-checked="true"]').inner_text().split() == [
        "hero",
        "shell,",
        "follows",
        "hero.usda",
    ]
    assert studio.page.locator('.knob[data-key="object.hero.material.preset"]').count() == 1  # it has a shell's knobs
    studio.keep_page("roles_traded")
    edited(studio, lambda: studio.press("Control+z"))
    assert shot.read_text() == SHOT and shown(role(studio)) == "obstacle"


def test_a_choice_that_cannot_be_is_a_sentence_and_changes_nothing(studio: Studio, shot: Path) -> None:
    studio.expected = ("400 (Bad Request)",)
    choose(studio, "coat")
    role(studio).select_option("obstacle")
    studio.told("is all that is simulated")
    studio.keep_page("roles_refused")
    studio.until("!bunraku.sending && document.querySelector('#role').value === 'shell'")
    (shot.parent / "coat_v2.usda").write_text("no usd")
    follows(studio).locator("option", has_text="coat_v2.usda").wait_for(state="attached")
    follows(studio).select_option(label="coat_v2.usda")
    studio.told("coat_v2.usda: cannot be read as USD")
    studio.until("!bunraku.sending && document.querySelector('#motion').value === '0'")
    assert shown(follows(studio)) == "coat.usda"
    assert shot.read_text() == SHOT and studio.says("bunraku.revision") == 1


def test_another_window_is_told_of_a_role(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    address = direct(shot).address
    one, two = tab(), tab("dark")
    for studio in (one, two):
        studio.page.goto(address)
        studio.until("bunraku.revision > 0")
        choose(studio, "hero")
    edited(one, lambda: role(one).select_option("shell"))
    two.told("Another window changed the shot: hero: shell instead of obstacle")
    two.until("document.querySelector('#role').value === 'shell'")
    two.keep_page("roles_dark")
