"""USD stages composed of many files: what ends up on them, when, where, and what is said of what does not."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pxr import Tf, Usd, UsdUtils

from bunraku.contracts import InputError
from bunraku.io import input_files, read_clip, read_mesh
from bunraku.io.usd.stage import open_stage, usd_session

Stage = Callable[..., Path]

FACES = "int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0, 1, 2]"
POINTS = "[(0,0,0), (1,0,0), (0,1,2)]"
STILL = f'def Mesh "tri" {{ {FACES}\n point3f[] points = {POINTS} }}'
MOVING = (
    f'def Mesh "tri" {{ {FACES}\n point3f[] points.timeSamples = {{ 1: {POINTS}, 3: [(0,0,4), (1,0,4), (0,1,6)] }} }}'
)


def test_a_reference_brings_its_times_shifted_and_stretched(stage: Stage) -> None:
    stage(f'def Xform "a" {{ {MOVING} }}', "asset.usda")
    shot = stage('def "b" ( references = @./asset.usda@</a> (offset = 100; scale = 2) ) { }', "shot.usda")
    clip = read_clip(shot)
    assert (clip.frames.tolist(), clip.prim_path) == ([102, 106], "/b/tri")
    assert clip.animation.points[1, 0].tolist() == [0, 0, 4]


def test_a_sublayer_brings_its_times_and_the_stronger_layer_wins(stage: Stage) -> None:
    stage(f'def Xform "a" {{ {MOVING} }}', "base.usda")
    over = 'over "a" { double3 xformOp:translate = (5, 0, 0)\n uniform token[] xformOpOrder = ["xformOp:translate"] }'
    shot = stage(over, "shot.usda", subLayers="[@./base.usda@ (offset = 10)]")
    clip = read_clip(shot)
    assert clip.frames.tolist() == [11, 13]
    assert clip.animation.points[0, 0].tolist() == [5, 0, 0]
    assert [file.name for file in input_files(shot)] == ["base.usda", "shot.usda"]


def test_payloads_are_loaded(stage: Stage) -> None:
    stage(f'def Xform "a" {{ {MOVING} }}', "heavy.usda")
    shot = stage('def "b" ( payload = @./heavy.usda@</a> ) { }', "shot.usda")
    assert read_clip(shot).prim_path == "/b/tri"
    assert [file.name for file in input_files(shot)] == ["heavy.usda", "shot.usda"]


@pytest.mark.parametrize(("choice", "width"), [("slim", 1), ("wide", 3)])
def test_the_chosen_variant_is_read(stage: Stage, choice: str, width: float) -> None:
    wide = STILL.replace("(1,0,0)", "(3,0,0)")
    body = f"""def Xform "a" ( variants = {{ string cut = "{choice}" }}
      prepend variantSets = "cut" ) {{
      variantSet "cut" = {{
        "slim" {{ {STILL} }}
        "wide" {{ {wide} }}
      }}
    }}"""
    assert read_mesh(stage(body)).rest[1, 0] == width


def test_instances_are_placed_each(stage: Stage) -> None:
    copies = "\n".join(
        f"""def Xform "{name}" ( instanceable = true
        references = </proto> ) {{ double3 xformOp:translate = ({k}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"] }}"""
        for k, name in enumerate("ab")
    )
    path = stage(f'class "proto" {{ {STILL} }}\n{copies}')
    assert read_mesh(path, "/b").rest[0].tolist() == [1, 0, 0]
    with pytest.raises(InputError, match=r"holds several meshes \(got '/a/tri, /b/tri'\)"):
        read_mesh(path)


def test_the_guide_is_passed_over_where_one_other_mesh_remains(stage: Stage) -> None:
    guide = STILL.replace('"tri"', '"coat"').replace("point3f", 'uniform token purpose = "guide"\n point3f')
    shell = STILL.replace('"tri"', '"coat_bunraku"')
    path = stage(f'def Xform "w" {{ {guide}\n {shell} }}')
    assert read_clip(path).prim_path == "/w/coat_bunraku"
    assert read_clip(path, "w").prim_path == "/w/coat_bunraku"
    assert read_clip(path, "/w/coat").prim_path == "/w/coat"
    third = STILL.replace('"tri"', '"hat"')
    with pytest.raises(InputError, match=r"/w/coat, /w/coat_bunraku, /w/hat"):
        read_clip(stage(f'def Xform "w" {{ {guide}\n {shell}\n {third} }}', "three.usda"))


def test_a_lone_guide_and_inherited_purpose(stage: Stage) -> None:
    purpose = 'uniform token purpose = "guide"'
    assert read_clip(stage(f'def Xform "w" {{ {purpose}\n {STILL} }}')).prim_path == "/w/tri"
    both = f'def Xform "w" {{ {purpose}\n {STILL} }} def Xform "v" {{ {STILL} }}'
    assert read_clip(stage(both, "both.usda")).prim_path == "/v/tri"


def test_hidden_meshes_are_asked_about(stage: Stage) -> None:
    hidden = STILL.replace('"tri"', '"under"').replace("point3f", 'token visibility = "invisible"\n point3f')
    with pytest.raises(InputError, match=r"holds several meshes"):
        read_clip(stage(f"{hidden}\n{STILL}"))


def test_turning_parents_are_sampled_every_frame(stage: Stage) -> None:
    body = f"""def Xform "w" {{
        float xformOp:rotateZ.timeSamples = {{ 1: 0, 3: 180 }}
        uniform token[] xformOpOrder = ["xformOp:rotateZ"]
        {STILL}
    }}"""
    clip = read_clip(stage(body))
    assert clip.frames.tolist() == [1, 2, 3]
    assert np.allclose(clip.animation.points[:, 1], [[1, 0, 0], [0, 1, 0], [-1, 0, 0]])


def clips(stage: Stage) -> Path:
    """A mesh whose points come from one file a frame, as heavy caches do."""
    for frame in (1, 2, 3):
        points = f"point3f[] points.timeSamples = {{ {frame}: [(0,0,{frame}), (1,0,0), (0,1,0)] }}"
        stage(f'over "w" {{ over "tri" {{ {points} }} }}', f"cache.{frame}.usda")
    stage('over "w" { over "tri" { point3f[] points } }', "manifest.usda")
    facts = """clips = { dictionary default = {
        asset[] assetPaths = [@./cache.1.usda@, @./cache.2.usda@, @./cache.3.usda@]
        asset manifestAssetPath = @./manifest.usda@
        string primPath = "/w"
        double2[] active = [(1, 0), (2, 1), (3, 2)]
        double2[] times = [(1, 1), (2, 2), (3, 3)]
    } }"""
    return stage(f'def Xform "w" ( {facts} ) {{ def Mesh "tri" {{ {FACES} }} }}', "shot.usda")


def test_value_clips(stage: Stage) -> None:
    path = clips(stage)
    clip = read_clip(path)
    assert clip.frames.tolist() == [1, 2, 3]
    assert clip.animation.points[:, 0, 2].tolist() == [1, 2, 3]
    names = ["cache.1.usda", "cache.2.usda", "cache.3.usda", "manifest.usda", "shot.usda"]
    assert [file.name for file in input_files(path)] == names


def test_files_that_change_are_read_anew(stage: Stage) -> None:
    asset = stage(f'def Xform "a" {{ {STILL} }}', "asset.usda")
    shot = stage('def "b" ( references = @./asset.usda@</a> ) { }', "shot.usda")
    held = Usd.Stage.Open(str(shot))
    assert read_mesh(shot).rest[1, 0] == 1
    asset.write_text(asset.read_text().replace("(1,0,0)", "(2,0,0)"))
    assert read_mesh(shot).rest[1, 0] == 2
    assert held.GetPrimAtPath("/b/tri")


LOST = {
    r"the sublayer \S*gone\.usda is missing": ({"subLayers": "[@./gone.usda@]"}, STILL),
    r"the file \S*gone\.usda that </a> refers to is missing": (
        {}, f'def "a" ( references = @./gone.usda@ ) {{ }}\n{STILL}',
    ),
    "</a> refers to </nowhere>, which is not in": ({}, f'def "a" ( references = </nowhere> ) {{ }}\n{STILL}'),
    "the references at </a> run in a circle": (
        {}, f'def "a" ( references = </b> ) {{ }}\ndef "b" ( references = </a> ) {{ }}\n{STILL}',
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", LOST)
def test_what_cannot_be_composed_is_said_once(
    stage: Stage, message: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    facts, body = LOST[message]
    with caplog.at_level(logging.WARNING):
        read_clip(stage(body, **facts))
    assert len(re.findall(message, caplog.text)) == 1
    assert "USD says" not in caplog.text and all("\n" not in record.getMessage() for record in caplog.records)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("message", LOST)
def test_what_cannot_be_composed_is_in_the_refusal(
    stage: Stage, message: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    facts, body = LOST[message]
    with pytest.raises(InputError, match="holds no mesh") as caught:
        read_clip(stage(body.replace("def Mesh", "def Xform"), **facts))
    assert re.search(message, str(caught.value)) and "\n" not in str(caught.value)
    assert capfd.readouterr().err == "" and caplog.text == ""


def test_files_that_refer_to_each_other(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    stage('def "a" ( references = @./two.usda@</b> ) { }', "one.usda")
    two = stage('def "b" ( references = @./one.usda@</a> ) { ' + STILL + " }", "two.usda")
    with caplog.at_level(logging.WARNING):
        assert read_clip(two).prim_path == "/b/tri"
    assert "run in a circle" in caplog.text


def test_what_usd_says_goes_to_the_log_shortened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.WARNING), usd_session(tmp_path / "a.usda"):
        with usd_session(tmp_path / "b.usda"):
            Tf.Warn("odd\n" * 200)
        Tf.Warn("odd\n" * 200)
        Tf.Warn("odd too")
        assert caplog.text == ""
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2 and all(len(one) < 400 and "a.usda: USD says: odd" in one for one in said)
    assert capfd.readouterr().err == ""
    Tf.Warn("now aloud")
    assert "now aloud" in capfd.readouterr().err  # nothing of ours is left in USD


def test_a_refusal_leaves_nothing_in_usd(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.usda").write_text("#usda 1.0\ndef {")
    with caplog.at_level(logging.WARNING), pytest.raises(InputError, match=r"cannot be read as USD"):
        open_stage(tmp_path / "bad.usda")
    assert caplog.text == "" and capfd.readouterr().err == ""
    Tf.Warn("now aloud")
    assert "now aloud" in capfd.readouterr().err


def test_reading_leaves_the_stage_and_the_file_as_they_are(stage: Stage) -> None:
    path = stage(MOVING)
    before = path.read_bytes()
    held = Usd.Stage.Open(str(path))
    read_clip(path)
    assert path.read_bytes() == before
    assert not held.GetRootLayer().dirty and held.GetSessionLayer().empty


def test_a_missing_unit_is_doubted_by_size(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read_clip(stage(STILL.replace("(1,0,0)", "(1.7,0,0)"), metersPerUnit=None))
    assert "USD means centimetres" in caplog.text
    mesh = STILL.replace("(0,1,2)", "(0,0.01,0.01)").replace("(1,0,0)", "(1.5,0,0)")
    with caplog.at_level(logging.WARNING):
        read_clip(stage(mesh, "small.usda", metersPerUnit=None))
    assert "in metres it would be 1.5 m: if so, say unit = 'm'" in caplog.text


def test_a_package_of_several_layers(stage: Stage, tmp_path: Path) -> None:
    stage(f'def Xform "a" {{ {MOVING} }}', "asset.usda")
    shot = stage('def "b" ( references = @./asset.usda@</a> ) { }', "shot.usda")
    package = tmp_path / "shot.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(shot), str(package))
    assert read_clip(package).frames.tolist() == [1, 3]
    assert [file.name for file in input_files(package)] == ["shot.usdz"]
