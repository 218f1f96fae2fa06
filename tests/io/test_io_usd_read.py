"""USD as other programs write it: units, axes, time codes, transforms, prims, rest shapes, and refusals."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.io import input_files, read_animation, read_clip, read_mesh, require_motion, several_meshes
from bunraku.io.read import read_surface

Stage = Callable[..., Path]

FACES = "int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0, 1, 2]"
STILL = f'def Mesh "tri" {{ {FACES}\n point3f[] points = [(0,0,0), (1,0,0), (0,1,2)] }}'


def triangle(samples: str, extra: str = "", name: str = "tri") -> str:
    return f'def Mesh "{name}" {{ {FACES}\n point3f[] points.timeSamples = {{ {samples} }}\n {extra} }}'


TWO = "1001: [(0,0,0), (1,0,0), (0,1,2)], 1003: [(0,0,4), (1,0,4), (0,1,6)]"


def test_centimetres_and_z_up(stage: Stage) -> None:
    clip = read_clip(stage(triangle(TWO), metersPerUnit=0.01, upAxis='"Z"'))
    # (x, y, z) cm, Z-up → (x, z, −y) / 100 m
    assert np.allclose(clip.animation.points[0], [[0, 0, 0], [0.01, 0, 0], [0, 0.02, -0.01]], atol=1e-15)
    assert np.allclose(clip.animation.points[1, 0], [0, 0.04, 0], atol=1e-15)
    assert (clip.meters_per_unit, clip.up_axis, clip.prim_path) == (0.01, "Z", "/tri")


def test_unit_and_axis_can_be_overridden(stage: Stage) -> None:
    path = stage(triangle(TWO), metersPerUnit=0.01)
    points = read_animation(path, unit=1.0, up_axis="Z").points
    assert np.allclose(points[0, 2], [0, 2, -1], atol=1e-15)


def test_a_missing_unit_means_centimetres_and_is_reported(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        mesh = read_mesh(stage(STILL, metersPerUnit=None))
    assert mesh.rest[1, 0] == pytest.approx(0.01)
    assert "metersPerUnit" in caplog.text


@pytest.mark.parametrize("rate", [24.0, 24000 / 1001, 23.976, 30.0])
def test_time_codes(stage: Stage, rate: float) -> None:
    clip = read_clip(stage(triangle(TWO), timeCodesPerSecond=repr(rate), startTimeCode=1001, endTimeCode=1003))
    assert clip.rate == rate
    assert clip.frames.tolist() == [1001, 1003]
    assert clip.animation.times.tolist() == [1001 / rate, 1003 / rate]
    assert clip.time(1003) == 1003 / rate


def test_frames_per_second_stands_in_for_time_codes_and_rate_overrides(stage: Stage) -> None:
    path = stage(triangle(TWO), framesPerSecond=30)
    assert read_clip(path).rate == 30
    assert read_clip(path, rate=60).animation.times.tolist() == [1001 / 60, 1003 / 60]


def test_transforms_above_the_mesh_are_applied_per_sample(stage: Stage) -> None:
    scale = 'float3 xformOp:scale = (2, 2, 2)\n uniform token[] xformOpOrder = ["xformOp:scale"]'
    body = f"""
    def Xform "root" {{
        double3 xformOp:translate.timeSamples = {{ 1001: (10, 0, 0), 1003: (30, 0, 0) }}
        float xformOp:rotateZ = 90
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
        {triangle(TWO, scale)}
    }}"""
    points = read_animation(stage(body)).points
    # p → scale 2 → turn 90° about z: (x, y, z) → (−2y, 2x, 2z) → + translation of that frame
    assert np.allclose(points[0], [[10, 0, 0], [10, 2, 0], [8, 0, 4]], atol=1e-12)
    assert np.allclose(points[1], [[30, 0, 8], [30, 2, 8], [28, 0, 12]], atol=1e-12)


def test_a_still_mesh_under_a_moving_transform_moves(stage: Stage) -> None:
    body = f"""
    def Xform "root" {{
        double3 xformOp:translate.timeSamples = {{ 1: (0, 0, 0), 2: (0, 5, 0), 4: (0, 6, 0) }}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {STILL}
    }}"""
    clip = read_clip(stage(body))
    assert clip.frames.tolist() == [1, 2, 4]
    assert clip.animation.points[:, 0, 1].tolist() == [0, 5, 6]


def test_a_transform_sampled_between_the_points_adds_samples(stage: Stage) -> None:
    body = f"""
    def Xform "root" {{
        double3 xformOp:translate.timeSamples = {{ 1001.0000001: (0,0,0), 1002: (0,9,0), 1003: (0,0,0) }}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {triangle(TWO)}
    }}"""
    clip = read_clip(stage(body))
    assert clip.frames.tolist() == [1001, 1002, 1003]  # 1001.0000001 is frame 1001
    assert clip.animation.points[1, 0].tolist() == [0, 9, 2]


def test_reset_of_the_transform_stack_is_honoured(stage: Stage) -> None:
    reset = 'uniform token[] xformOpOrder = ["!resetXformStack!"]'
    body = f"""
    def Xform "root" {{
        double3 xformOp:translate.timeSamples = {{ 1: (7, 0, 0), 2: (8, 0, 0) }}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {triangle(TWO, reset)}
    }}"""
    clip = read_clip(stage(body))
    assert clip.frames.tolist() == [1001, 1003]
    assert clip.animation.points[0, 0].tolist() == [0, 0, 0]


def test_mirrored_and_left_handed_meshes_keep_their_outside(stage: Stage) -> None:
    mirror = 'float3 xformOp:scale = (-1, 1, 1)\n uniform token[] xformOpOrder = ["xformOp:scale"]'
    left = 'uniform token orientation = "leftHanded"'
    assert read_mesh(stage(triangle(TWO, mirror))).faces.tolist() == [[0, 2, 1]]
    assert read_mesh(stage(triangle(TWO, left), "left.usda")).faces.tolist() == [[0, 2, 1]]
    assert read_mesh(stage(triangle(TWO, mirror + "\n" + left), "both.usda")).faces.tolist() == [[0, 1, 2]]


def test_rest_is_the_default_time_then_a_primvar_then_the_first_sample(stage: Stage) -> None:
    default = "point3f[] points = [(0,0,0), (5,0,0), (0,5,0)]"
    primvar = 'point3f[] primvars:rest = [(0,0,0), (7,0,0), (0,7,0)] ( interpolation = "vertex" )\n'
    both = stage(triangle(TWO, primvar).replace("point3f[] points.time", default + "\n point3f[] points.time"))
    assert read_clip(both).mesh.rest[1, 0] == 5
    assert read_clip(stage(triangle(TWO, primvar), "b.usda")).mesh.rest[1, 0] == 7
    assert read_clip(stage(triangle(TWO), "c.usda")).mesh.rest[1, 0] == 1
    assert read_mesh(stage(triangle(TWO, primvar), "d.usda")).rest[1, 0] == 7


def test_a_rest_primvar_of_another_count_is_left_out_aloud(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    primvar = 'point3f[] primvars:rest = [(0,0,0)] ( interpolation = "vertex" )'
    assert read_clip(stage(triangle(TWO, primvar))).mesh.rest[1, 0] == 1
    assert "rest" in caplog.text


def test_polygons_stay_as_they_are_and_become_triangles_for_physics(stage: Stage) -> None:
    body = """def Mesh "m" { int[] faceVertexCounts = [4, 3, 5, 2]
      int[] faceVertexIndices = [0, 1, 2, 3, 0, 1, 4, 2, 1, 4, 5, 6, 0, 1]
      point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (0,0,1), (1,1,2), (1,2,1)] }"""
    surface = read_surface(stage(body))
    assert surface.counts.tolist() == [4, 3, 5, 2]
    assert surface.corners.tolist() == [0, 1, 2, 3, 0, 1, 4, 2, 1, 4, 5, 6, 0, 1]
    assert len(read_mesh(stage(body)).faces) == 2 + 1 + 3


def test_a_still_file_is_one_frame_and_cannot_guide(stage: Stage) -> None:
    clip = read_clip(stage(STILL, startTimeCode=1001, endTimeCode=1050))
    assert clip.frames.tolist() == [1001] and clip.animation.frame_count == 1
    with pytest.raises(InputError, match=r"other\.usda </tri>: holds one frame only \(got 'frame 1001'\)"):
        require_motion(clip)
    moving = read_clip(stage(triangle(TWO), "b.usda"))
    assert require_motion(moving) is moving


COAT_AND_BODY = triangle(TWO, name="coat") + " " + triangle(TWO, name="body")
TWINS = f'def Xform "World" {{ def Xform "hero" {{ {COAT_AND_BODY} }} }}'


@pytest.mark.parametrize("prim", ["/World/hero/coat", "coat", "hero/coat", "World/hero/coat"])
def test_a_prim_may_be_named_by_path_or_by_its_end(stage: Stage, prim: str) -> None:
    assert read_clip(stage(TWINS), prim).prim_path == "/World/hero/coat"


def test_a_prim_may_be_a_parent_of_one_mesh(stage: Stage) -> None:
    body = f'def Xform "coat" {{ {triangle(TWO)} }} def Xform "hat" {{ {triangle(TWO)} }}'
    assert read_clip(stage(body), "/coat").prim_path == "/coat/tri"


def test_instanced_meshes_are_found(stage: Stage) -> None:
    copy = 'def Xform "a" ( instanceable = true\n inherits = </proto> ) { }'
    body = f'class "proto" {{ {triangle(TWO)} }} {copy}'
    assert read_clip(stage(body)).prim_path == "/a/tri"


def test_several_meshes_and_none_named_lists_them(stage: Stage) -> None:
    with pytest.raises(InputError, match=r"holds several meshes.*/World/hero/coat, /World/hero/body.*prim="):
        read_clip(stage(TWINS))
    assert several_meshes(stage(TWINS)) == ["/World/hero/coat", "/World/hero/body"]
    assert several_meshes(stage(triangle(TWO))) == []
    many = "\n".join(triangle(TWO, name=f"m{k}") for k in range(20))
    with pytest.raises(InputError, match=r"/m0, .*/m19"):
        read_clip(stage(many, "many.usda"))


@pytest.mark.parametrize("prim", ["/World/hero/caot", "coatt", "/World/heroo/coat"])
def test_a_misspelt_prim_gets_the_nearest_and_the_list(stage: Stage, prim: str) -> None:
    with pytest.raises(InputError, match=r"has no such mesh.*/World/hero/body.*did you mean '/World/hero/coat'"):
        read_clip(stage(TWINS), prim)


def test_a_prim_like_nothing_gets_the_list(stage: Stage) -> None:
    with pytest.raises(InputError, match=r"allowed: /World/hero/coat, /World/hero/body; try: name one of them"):
        read_clip(stage(TWINS), "zzzzzz")


def test_topology_changes_are_refused_by_frame(stage: Stage) -> None:
    more = "1001: [(0,0,0), (1,0,0), (0,1,2)], 1003: [(0,0,0), (1,0,0), (0,1,2), (1,1,1)]"
    with pytest.raises(
        InputError, match=r"topology changes at frame 1003 \(got '4 points'\); allowed: 3 as in frame 1001"
    ):
        read_clip(stage(triangle(more)))
    wired = triangle(TWO).replace(
        "int[] faceVertexIndices = [0, 1, 2]",
        "int[] faceVertexIndices.timeSamples = { 1001: [0, 1, 2], 1002: [0, 1, 2], 1003: [0, 2, 1] }",
    )
    with pytest.raises(InputError, match=r"topology changes at frame 1003.*faceVertexIndices"):
        read_clip(stage(wired, "wired.usda"))
    same = wired.replace("1003: [0, 2, 1]", "1003: [0, 1, 2]")
    assert read_clip(stage(same, "same.usda")).animation.frame_count == 2


BROKEN = {
    "holds no mesh.*Xform": 'def Xform "a" { }',
    "no mesh.*empty stage.*the file gone.usda that </a> refers to": 'def "a" ( references = @gone.usda@ ) { }',
    "no points": f'def Mesh "m" {{ {FACES} }}',
    "the mesh has no points.*": f'def Mesh "m" {{ {FACES}\n point3f[] points = [] }}',
    "no points.*": triangle("1: [(0,0,0), (1,0,0), (0,1,2)], 2: None"),
    "the mesh has no faces": 'def Mesh "m" { point3f[] points = [(0,0,0), (1,0,0), (0,1,2)] }',
    "faceVertexCounts and faceVertexIndices disagree": STILL.replace("[3]", "[4]"),
    "point outside the 3 points.*got 3": STILL.replace("[0, 1, 2]", "[0, 1, 3]"),
    "not those of the samples": triangle(TWO, "point3f[] points = [(0,0,0)]"),
    "not finite": STILL.replace("(1,0,0)", "(nan,0,0)"),
    "too large.*1e.12": STILL.replace("(1,0,0)", "(1e12,0,0)"),
    "too small": STILL.replace("(1,0,0)", "(1e-12,0,0)").replace("(0,1,2)", "(0,1e-12,0)"),
    "frame 1003, vertices 2: coordinates are not finite": triangle(TWO.replace("(0,1,6)", "(0,inf,6)")),
}  # fmt: skip


@pytest.mark.parametrize("message", BROKEN)
@pytest.mark.filterwarnings("default")
def test_broken_stages_are_refused_with_the_file(stage: Stage, message: str) -> None:
    path = stage(BROKEN[message])
    with pytest.raises(InputError, match=message) as caught:
        read_clip(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "message"), [({"metersPerUnit": 0}, "the unit must be"), ({"upAxis": '"X"'}, "upAxis")]
)
def test_impossible_units_are_refused(stage: Stage, facts: dict, message: str) -> None:
    with pytest.raises(InputError, match=f"other.usda.*{message}"):
        read_clip(stage(STILL, **facts))


@pytest.mark.parametrize("rate", [0, -24, float("nan")])
def test_impossible_rates_are_refused(stage: Stage, rate: float) -> None:
    with pytest.raises(InputError, match=r"frame rate must be positive"):
        read_clip(stage(STILL), rate=rate)


@pytest.mark.parametrize("content", [b"", b"garbage", b"PXR-USDC" + bytes(100)])
@pytest.mark.parametrize("name", ["bad.usda", "bad.usdc", "bad.usd", "bad.usdz"])
def test_files_that_are_not_usd_are_refused(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}: cannot be read as USD") as caught:
        read_clip(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_package_is_read(stage: Stage, tmp_path: Path) -> None:
    from pxr import UsdUtils

    package = tmp_path / "package.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(stage(triangle(TWO))), str(package))
    assert read_clip(package).frames.tolist() == [1001, 1003]


def test_a_crate_cut_short_is_refused(stage: Stage, tmp_path: Path) -> None:
    from pxr import Usd

    whole = tmp_path / "whole.usdc"
    Usd.Stage.Open(str(stage(triangle(TWO)))).Export(str(whole))
    cut = tmp_path / "cut.usdc"
    cut.write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"cannot be read as USD"):
        read_clip(cut)


def test_missing_and_unknown_files(stage: Stage, tmp_path: Path) -> None:
    stage(STILL, "shirt.usda")
    with pytest.raises(InputError, match=r"shirrt\.usda: there is no such file; try: did you mean 'shirt.usda'"):
        read_clip(tmp_path / "shirrt.usda")
    with pytest.raises(InputError, match=r"folder .*nowhere does not exist"):
        read_mesh(tmp_path / "nowhere" / "shirt.usda")
    (tmp_path / "shirt.xyz").write_bytes(b"x")
    with pytest.raises(InputError, match=r"unknown kind of file \(got '.xyz'\); allowed: .usd, .usda"):
        read_mesh(tmp_path / "shirt.xyz")


def test_input_files_are_the_layers(stage: Stage, tmp_path: Path) -> None:
    stage('def "a" { ' + STILL + " }", "asset.usda")
    path = stage('def "b" ( references = @./asset.usda@</a> ) { }', "shot.usda")
    assert read_clip(path).prim_path == "/b/tri"
    assert [file.name for file in input_files(path)] == ["asset.usda", "shot.usda"]


def test_the_shirt(data: Path) -> None:
    mesh = read_mesh(data / "garments" / "unisex_shirt.usd")
    assert (mesh.point_count, len(mesh.faces)) == (6436, 12736)
    assert np.allclose(np.ptp(mesh.rest, axis=0), [0.651219, 0.645829, 0.274844], atol=1e-6)  # cm in the file
