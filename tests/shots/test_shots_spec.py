"""The shot file: what it may say, what it refuses, and that writing it gives the same shot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bunraku import InputError
from bunraku.shots import Shot, read_shot, shot_keys


def lines_of(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_shot(path)
    return str(refused.value).splitlines()


def test_the_defaults_are_those_of_the_design(files):
    shot = read_shot(files())
    assert (shot.name, shot.shot.frames, shot.shot.preroll) == ("box", None, 0)
    assert (shot.physics.substeps, shot.physics.iterations, shot.physics.tolerance) == (2, "converge", 3e-5)
    assert (shot.physics.bending, shot.physics.mass, shot.physics.start) == ("plate", "lumped", "guide")
    assert shot.physics.gravity == (0.0, -9.81, 0.0)
    assert (shot.output.formats, shot.output.folder.name) == (("usdc",), "takes")
    box = shot.shells["box"]
    assert (box.track.method, box.track.strength, box.pins, box.mesh.levels) == ("hierarchy", 1.0, (), 1)


def test_everything_wrong_is_said_at_once_with_key_value_allowed_and_nearest(tmp_path: Path):
    lines = lines_of(
        tmp_path / "bad.toml",
        """
        [shto]
        [shot]
        frames = [5, 1]
        rate = 0
        [object.box]
        guide = { file = "gone.usda", prm = "/x" }
        material = { preset = "vinly", thickness = -1.0, yuong = 2e6, poisson = [[1, 0.2]] }
        regions.cuff = { material = "lether" }
        track = { method = "hierachy", strength = [[1, 2.0], [1, 0.5, "smoth"]] }
        pins = [{ vertices = [0], axes = "xx" }, { region = "collar" }]
        role = "obstacel"
        [object.ball]
        role = "obstacle"
        source = { sphere = { center = [0, 0, 0], radius = -1 }, unit = "m" }
        [object.wall]
        source = { plan = { normal = [0, 1, 0] } }
        [physics]
        substeps = 1.5
        gravity = [0, -9.81]
        contact = { frction = 0.3, press = -1, self = 2 }
        [output]
        formats = ["usd"]
        preview = "yes"
        """,
    )
    found = {re.match(r".*bad\.toml: ([^:]*):", line).group(1): line for line in lines}  # type: ignore[union-attr]
    assert set(found) == {
        "shto", "shot.frames", "shot.rate", "object.box.guide.file", "object.box.guide.prm",
        "object.box.material.preset",
        "object.box.material.thickness", "object.box.material.yuong", "object.box.material.poisson",
        "object.box.regions.cuff", "object.box.regions.cuff.material", "object.box.track.method",
        "object.box.track.strength[0]", "object.box.track.strength[1]", "object.box.pins[0].axes",
        "object.box.pins[1].region", "object.box.role", "physics.substeps", "physics.gravity",
        "object.ball.source.sphere.center", "object.ball.source.sphere.centre", "object.ball.source.sphere.radius",
        "object.ball.source.unit", "object.wall.role", "object.wall.source.plan", "object.wall.source",
        "physics.contact.frction", "physics.contact.press", "physics.contact.self",
        "output.formats[0]", "output.preview",
    }  # fmt: skip
    assert "(got 'vinly'); allowed: silk, cotton" in found["object.box.material.preset"]
    for key, near in {"shto": "shot", "object.box.guide.prm": "prim", "object.box.material.yuong": "young",
                      "object.box.material.preset": "vinyl", "object.box.track.method": "hierarchy",
                      "object.box.regions.cuff.material": "leather", "object.box.role": "obstacle",
                      "object.ball.source.sphere.center": "centre", "object.wall.source.plan": "plane",
                      "physics.contact.frction": "friction"}.items():  # fmt: skip
        assert found[key].endswith(f"try: '{near}'")
    assert "only young" in found["object.box.material.poisson"]
    said = "source is for 'obstacle'; allowed: 'shell', 'obstacle', 'body', 'plan', 'wrinkle'; try: role = 'obstacle'"
    assert found["object.wall.role"].endswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "object: is missing"),
        ("[object]", "object: is empty"),
        ("[object.box]", "object.box.guide: is missing"),
        ("[object.2box]\nguide = { take = 'a/v001' }", "object.2box: has the wrong form"),
        ("[object.box]\nguide = 'guide.usda'", "allowed: a table such as { file = 'guide.usda'"),
        ("[object.box]\nguide = { scene = 'box' }", "object.box.guide.scene: unknown key"),
        ("[object.box]\nguide = {}", "needs either 'file' or 'take'"),
        ("[object.box]\nguide = { file = '.' }", "no numbered file fits"),
        ("[object.a.guide]\ntake = 'a/v001'\n[object.b.guide]\ntake = 'a/v001'", "several shells, or shells"),
        ("[object.box]\nguide = { take = 'a/v001' }\nmesh = { prim = '/x' }", "tell about a file"),
        ("[object.box]\nguide = { take = 'a/v001' }\nmaterial = { density = 3 }", "needs a preset or at least 'young'"),
        ("[object.box]\nguide = { take = 'a/v001' }\nmaterial = { preset = ['vinyl'] }", "unknown material"),
        ("[object.box]\nguide = { take = 'a/v001' }\ntrack = { method = 'clusters' }", "need a number of regions"),
        ("[object.box]\nguide = { take = 'a/v001' }\ntrack = { count = 9 }", "is for clusters"),
        ("[shot]\nname = '../x'\n[object.box]\nguide = { take = 'a/v001' }", "shot.name: has the wrong form"),
        ("[shot]\nname = 3 4\nframes = 3", "is not TOML: line 2, column 10: Expected newline"),
        ("[shot]\nname = 'a\n\nframes = 3", "is not TOML: line 4, the last: Expected"),
        ("[object.box]\nguide = { take = 'a/v001' }\ntrack = { strength = [] }", "has no keys"),
        ("[object.box]\nguide = { take = 'a/v001' }\nmaterial = { young = nan }", "material.young: is out of range"),
    ],
)  # fmt: skip
def test_each_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str):
    monkeypatch.chdir(tmp_path)  # paths are told from the current folder where that is shorter
    lines = lines_of(Path("bad.toml"), text)
    assert len(lines) == (2 if "scene" in text else 1)  # an unknown key is also a guide that is missing
    assert lines[0].startswith("bad.toml: ") and said in lines[0]


def test_a_shot_that_is_not_there_a_folder_or_not_text_is_refused(tmp_path: Path):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    for name, said in (("gone.toml", "no such file"), (".", "is a folder"), ("bytes.toml", "UTF-8")):
        with pytest.raises(InputError, match=said):
            read_shot(tmp_path / name)


FULL = {
    "shot": {"name": "opening", "frames": [2, 5], "preroll": 3},
    "box": {
        "material": {"preset": "vinyl", "young": [[1, 2e6], [4, 3e6, "smooth"]], "thickness": 1e-3},
        "regions": {"lid": {"vertices": [4, 5], "material": "leather"}, "side": {"faces": [0, 1]}},
        "track": {"strength": [[1, 1], [4, 0.5, "smooth"]]},
        "pins": [
            {"region": "lid", "axes": "y", "to": "guide"},
            {"vertices": [0], "to": [0.0, 1.0, 2.0], "strength": 0.5},
        ],
    },
    "physics": {"iterations": 1, "bending": "hinge", "gravity": [0, 0, -1]},
    "output": {"folder": "../elsewhere", "formats": ["usda", "pc2"], "preview": False},
}


@pytest.mark.parametrize("defaults", [True, False])
def test_writing_and_reading_gives_the_same_shot_also_from_another_folder(files, tmp_path: Path, defaults: bool):
    shot = read_shot(files(**FULL))
    (tmp_path / "deeper").mkdir()
    shot.write(tmp_path / "deeper" / "again.toml", defaults=defaults, heading="two\nlines")
    text = (tmp_path / "deeper" / "again.toml").read_text()
    assert text.startswith("# two\n# lines\n") and 'file = "../guide.usda"' in text
    assert ("substeps" in text) == defaults
    again = read_shot(tmp_path / "deeper" / "again.toml")
    assert again == shot
    assert again.shells["box"].material.values["young"] == ((1.0, 2e6), (4.0, 3e6, "smooth"))


def test_settings_make_a_shot_without_a_file(files, tmp_path: Path):
    path = files()
    shot = Shot.of({"object": {"box": {"guide": {"file": "guide.usda"}}}}, folder=path.parent)
    assert shot.name == "shot" and shot.output.folder == tmp_path / "takes"
    assert shot.shells["box"].mesh.split == 3 and shot.shells["box"].material.preset == "cotton"


def test_every_key_is_explained_with_its_default():
    lines = {line.path: line for line in shot_keys()}
    assert {"shot.frames", "object.NAME.guide.file", "object.NAME.pins[].axes", "object.NAME.regions.NAME.material",
            "physics.substeps", "output.formats"} <= set(lines)  # fmt: skip
    assert all(line.doc and line.allowed and line.default for line in lines.values())
    assert lines["physics.substeps"].default == "2" and lines["shot.frames"].default == "the guide's own range"
    assert lines["output.preview"].default == "true" and lines["output.folder"].default == "'takes'"
