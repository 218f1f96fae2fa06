"""Settings as knobs: every key that can be turned is there, with what its spec says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from bunraku.shots import shot_keys
from bunraku.shots.knob_sheet import Knob, knobs_of, objects_of, opened_in
from bunraku.shots.toml_edit import edited, named

SHELL = {"guide": {"file": "guide.usda"}, "material": {"preset": "vinyl", "young": [[1, 1e6], [9, 2e6]]}}
SHOT: dict[str, Any] = {
    "object": {
        "coat": {**SHELL, "regions": {"cuff": {"vertices": [0]}}, "pins": [{"region": "cuff", "strength": 0.5}]},
        "ball": {"role": "obstacle", "source": {"sphere": {"centre": [0, 0, 0], "radius": 1}}},
    },
    "physics": {"contact": True},
}  # fmt: skip


def sheet(settings: Any = SHOT) -> dict[str, Knob]:
    return {named(one.path): one for one in knobs_of(settings)}


def test_a_knob_says_what_the_spec_says() -> None:
    strength, young = sheet()["object.coat.track.strength"], sheet()["object.coat.material.young"]
    assert (strength.kind, strength.low, strength.high, strength.default, strength.value) == ("number", 0, 1, 1.0, None)
    assert strength.keyable and strength.doc == "1 obeys exactly, 0 not at all; may be keyed"
    assert (young.unit, young.value, young.keyable) == ("Pa", [[1, 1e6], [9, 2e6]], True)
    assert young.default == pytest.approx(9e6, rel=1.0) and "Young's modulus" in young.doc  # vinyl's own
    assert sheet()["object.coat.material.preset"].options[0] == "silk"
    assert not sheet()["object.coat.material.thickness"].keyable


def test_lists_and_names_are_gone_into() -> None:
    found = sheet()
    assert found["object.coat.pins[0].strength"].value == 0.5
    assert found["object.coat.regions.cuff.scale"].unit == "m"
    assert found["object.ball.source.sphere.radius"].value == 1
    assert found["physics.contact"].value is True and found["physics.contact.friction"].default == 0.3
    assert "physics.contact.friction" not in sheet({**SHOT, "physics": {}})


def test_words_and_numbers_in_one_place() -> None:
    found = sheet()
    assert (found["physics.iterations"].kind, found["physics.iterations"].options) == ("whole", ("converge",))
    assert found["object.coat.guide.unit"].kind == "choice"
    assert (found["physics.gravity"].kind, found["physics.gravity"].default) == ("numbers", [0.0, -9.81, 0.0])


def test_every_number_of_the_key_list_has_a_knob() -> None:
    """Against the help's list of keys: what is a number there, and stands in no list, is a knob of some role."""
    roles = ("shell", "obstacle", "body", "plan", "wrinkle")
    found = {path for role in roles for path in sheet({"object": {"NAME": {"role": role}}, "physics": {"contact": {}}})}
    numbers = {one.path for one in shot_keys() if one.allowed.startswith(("a number", "a whole number"))}
    wanted = {path for path in numbers if "[]" not in path and path.count("NAME") < 2}
    assert len(wanted) > 60 and wanted - found == set()


def test_objects_say_what_they_follow() -> None:
    assert [(one.path, one.role, one.follows) for one in objects_of(SHOT)] == [
        (("object", "coat"), "shell", "guide.usda"), (("object", "ball"), "obstacle", "sphere"),
    ]  # fmt: skip


def test_stages_are_gone_into_and_share_settings() -> None:
    stages = {"stage": {"dress": SHOT, "skin": {"object": {"x": {"role": "wrinkle", "guide": {"stage": "dress"}}}}}}
    found = sheet({**stages, "physics": {"substeps": 3}})
    assert found["stage.dress.object.coat.track.strength"].default == 1.0
    assert found["physics.substeps"].value == 3 and found["stage.skin.physics.substeps"].value is None
    assert [one.follows for one in objects_of(stages)] == ["guide.usda", "sphere", "dress"]
    text = '[stage.dress.object.coat]\nguide = { file = "g.usda" }\nmaterial = "vinyl"\n'
    path = ("stage", "dress", "object", "coat", "material", "young")
    told = edited(text, [(path, 1e6)], opened_in({"stage": {"dress": {"object": {"coat": SHELL}}}}))
    assert 'material = { preset = "vinyl", young = 1000000.0 }' in told


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("object", "coat", "material", "young"), 1e6, 'material = { preset = "cotton", young = 1000000.0 }'),
        (("object", "skin", "interior", "young"), 1e4, 'interior = { preset = "foam", young = 10000.0 }'),
        (("object", "skin", "skin", "young"), 1e6, 'skin = { preset = "vinyl", young = 1000000.0 }'),
        (("object", "jelly", "material", "young"), 1e4, 'material = { preset = "rubber", young = 10000.0 }'),
        (("object", "coat", "regions", "cuff", "material", "young"), 1e4, "material = { young = 10000.0 }"),
        (("physics", "contact", "friction"), 0.2, "contact = { friction = 0.2 }"),
    ],
)
def test_what_is_short_for_a_table_keeps_its_meaning(path: tuple[str | int, ...], value: float, line: str) -> None:
    settings = {
        "object": {
            "coat": {"guide": {"file": "g"}, "regions": {"cuff": {"vertices": [1]}}},
            "skin": {"role": "wrinkle", "interior": "foam", "skin": "vinyl"}, "jelly": {"role": "body"},
        },
        "physics": {"contact": True},
    }  # fmt: skip
    assert line in edited(tomli_w.dumps(settings), [(path, value)], opened_in(settings)).splitlines()


def test_paths_have_their_text() -> None:
    assert sheet()["output.folder"].default == str(Path("takes"))
