"""What is painted on a USD mesh: primvars, normals, subsets, and what does not fit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope
from bunraku.io.read import read_surface

Stage = Callable[..., Path]


def mesh(extra: str, transform: str = "") -> str:
    """A quad and a triangle: 5 points, 2 polygons, 7 corners."""
    return f"""def Mesh "m" {{ int[] faceVertexCounts = [4, 3]
      int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
      point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (2,0,0)]
      {extra}
      {transform} }}"""


def primvar(kind: str, name: str, values: str, interpolation: str = "", more: str = "") -> str:
    facts = (f'interpolation = "{interpolation}"\n' if interpolation else "") + more
    return f"{kind} primvars:{name} = {values}" + (f" (\n{facts}\n)" if facts else "") + "\n"


def only(stage: Stage, extra: str) -> Attribute:
    (attribute,) = read_surface(stage(mesh(extra))).attributes
    return attribute


INTERPOLATIONS = [
    ("constant", Scope.WHOLE, 1), ("uniform", Scope.POLYGON, 2), ("vertex", Scope.POINT, 5),
    ("varying", Scope.POINT, 5), ("faceVarying", Scope.CORNER, 7),
]  # fmt: skip


@pytest.mark.parametrize(("interpolation", "scope", "count"), INTERPOLATIONS)
def test_interpolations(stage: Stage, interpolation: str, scope: Scope, count: int) -> None:
    found = only(stage, primvar("float[]", "wear", str(list(range(count))), interpolation))
    assert (found.name, found.scope, found.values.tolist()) == ("wear", scope, list(range(count)))
    assert found.values.dtype == np.float32


TYPES = [
    ("double[]", "1.5", (5,), np.float64), ("half[]", "1.5", (5,), np.float16), ("int[]", "7", (5,), np.int32),
    ("int64[]", "7", (5,), np.int64), ("color3f[]", "(1, 0, 0.5)", (5, 3), np.float32),
    ("vector3d[]", "(1, 0, 0.5)", (5, 3), np.float64), ("float4[]", "(1, 0, 0.5, 1)", (5, 4), np.float32),
    ("texCoord3f[]", "(1, 0, 0.5)", (5, 3), np.float32), ("half2[]", "(1, 0.5)", (5, 2), np.float16),
    ("quatf[]", "(1, 0, 0, 0)", (5, 4), np.float32),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "shape", "dtype"), TYPES)
def test_types(stage: Stage, kind: str, value: str, shape: tuple[int, ...], dtype: type) -> None:
    found = only(stage, primvar(kind, "a:b", f"[{', '.join([value] * 5)}]", "vertex"))
    assert (found.name, found.values.shape, found.values.dtype) == ("a:b", shape, np.dtype(dtype))


def test_single_values_are_of_the_whole(stage: Stage) -> None:
    assert only(stage, primvar("float", "wear", "0.5")).values.tolist() == [0.5]
    assert only(stage, primvar("vector3f", "wind", "(1, 2, 3)")).values.tolist() == [[1, 2, 3]]


def test_several_numbers_an_element(stage: Stage) -> None:
    found = only(stage, primvar("float[]", "pair", str(list(range(10))), "vertex", "elementSize = 2"))
    assert found.values.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


@pytest.mark.parametrize("text", ['string[] primvars:a = ["x"]', 'token primvars:a = "x"', "bool primvars:a = true"])
def test_what_is_no_number_is_not_carried(stage: Stage, text: str) -> None:
    assert read_surface(stage(mesh(text))).attributes == ()


def test_matrices_rest_shapes_and_skin_weights_are_not_carried(stage: Stage) -> None:
    points = "[(0,0,0), (1,0,0), (1,1,0), (0,1,0), (2,0,0)]"
    identity = "((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1))"
    extra = primvar("matrix4d", "m", identity) + primvar("matrix4d[]", "n", f"[{identity}]", "constant")
    extra += primvar("point3f[]", "rest", points, "vertex") + primvar("float[]", "skel:jointWeights", "[1]", "constant")
    assert read_surface(stage(mesh(extra))).attributes == ()


PAIRS = "[" + ", ".join(f"({k}, {k + 1})" for k in range(7)) + "]"


def test_indexed_texture_coordinates(stage: Stage) -> None:
    extra = primvar("texCoord2f[]", "st", "[(0,0), (1,0), (0,1)]", "faceVarying")
    found = only(stage, extra + "int[] primvars:st:indices = [0, 1, 2, 0, 1, 2, 2]")
    assert (found.name, found.scope, found.values.shape) == (UV, Scope.CORNER, (3, 2))
    assert found.flat().tolist() == [[0, 0], [1, 0], [0, 1], [0, 0], [1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"map1": "texCoord2f[]", "st": "float2[]"}, {UV: "st", "map1": "map1"}),
        ({"lightmap": "texCoord2f[]", "UVMap": "texCoord2f[]"}, {UV: "UVMap", "lightmap": "lightmap"}),
        ({"flow": "float2[]", "paint": "texCoord2f[]"}, {UV: "paint", "flow": "flow"}),
        ({"uv": "texCoord2f[]", "st": "texCoord2f[]"}, {UV: "st", "uv_2": "uv"}),
        ({"flow": "float2[]"}, {"flow": "flow"}),
    ],
)
def test_which_primvar_is_the_texture_coordinates(stage: Stage, given: dict[str, str], names: dict[str, str]) -> None:
    extra = ""
    for k, (name, kind) in enumerate(given.items()):
        extra += primvar(kind, name, PAIRS.replace("(0, 1)", f"({100 + k}, 1)"), "faceVarying")
    surface = read_surface(stage(mesh(extra)))
    order = list(given)
    assert {one.name: order[int(np.asarray(one.values)[0, 0]) - 100] for one in surface.attributes} == names


def test_the_display_colour(stage: Stage) -> None:
    found = only(stage, primvar("color3f[]", "displayColor", "[(1, 0, 0)]", "constant"))
    assert (found.name, found.scope, found.values.tolist()) == (COLOUR, Scope.WHOLE, [[1, 0, 0]])


DIAGONAL = "[(1,1,0), (1,1,0), (1,1,0), (1,1,0), (1,1,0)]"
SQUASH = """float3 xformOp:scale = (2, 1, 1)\n float xformOp:rotateZ = 90
  uniform token[] xformOpOrder = ["xformOp:rotateZ", "xformOp:scale"]"""


def test_normals_stay_normal_under_the_transform(stage: Stage) -> None:
    found = read_surface(stage(mesh(f"normal3f[] normals = {DIAGONAL}", SQUASH))).attribute(NORMALS)
    assert found is not None and found.scope is Scope.POINT
    # by the inverse transpose (1/2, 1, 1), then a quarter turn about z
    assert np.allclose(found.values[0], np.array([-1, 0.5, 0]) / np.hypot(1, 0.5))


def test_normals_of_a_mirrored_mesh_point_outwards(stage: Stage) -> None:
    mirror = 'float3 xformOp:scale = (-1, 1, 1)\n uniform token[] xformOpOrder = ["xformOp:scale"]'
    found = read_surface(stage(mesh(f"normal3f[] normals = {DIAGONAL}", mirror))).attribute(NORMALS)
    assert found is not None and np.allclose(found.values[0] * np.sqrt(2), [-1, 1, 0])


def test_normals_turn_with_the_axis(stage: Stage) -> None:
    found = read_surface(stage(mesh(f"normal3f[] normals = {DIAGONAL}"), upAxis='"Z"')).attribute(NORMALS)
    assert found is not None and np.allclose(found.values[0] * np.sqrt(2), [1, 0, -1])


def test_the_primvar_of_normals_comes_first(stage: Stage) -> None:
    extra = f"normal3f[] normals = {DIAGONAL}\n"
    extra += primvar("normal3f[]", "normals", "[(0,0,1), (0,0,2)]", "faceVarying")
    extra += "int[] primvars:normals:indices = [0, 0, 0, 0, 1, 1, 1]"
    found = only(stage, extra)
    assert (found.name, found.scope, found.values.tolist()) == (NORMALS, Scope.CORNER, [[0, 0, 1], [0, 0, 1]])


def test_the_interpolation_of_normals(stage: Stage) -> None:
    found = only(stage, 'normal3f[] normals = [(0,0,1), (0,0,1)] ( interpolation = "uniform" )')
    assert found.scope is Scope.POLYGON


MISFITS = {
    "'wear' has 3 values, not the 5": primvar("float[]", "wear", "[1, 2, 3]", "vertex"),
    "'wear' has 5 values, not the 1": primvar("float[]", "wear", "[1, 2, 3, 4, 5]"),
    "'wear' has indices outside its 1 values": primvar("float[]", "wear", "[1]", "uniform")
    + "int[] primvars:wear:indices = [0, 1]",
    "'normals' has 2 values": "normal3f[] normals = [(0,0,1), (0,0,1)]",
    "'colour' has not three numbers": primvar("float[]", "displayColor", "[1]", "constant"),
    "'wear' has an unknown interpolation": primvar("float[]", "wear", "[1, 2]", "sideways"),
}


@pytest.mark.parametrize("message", MISFITS)
def test_what_does_not_fit_is_left_out_aloud(stage: Stage, message: str, caplog: pytest.LogCaptureFixture) -> None:
    fits = primvar("float[]", "fits", "[1, 2]", "uniform")
    with caplog.at_level(logging.WARNING):
        surface = read_surface(stage(mesh(MISFITS[message] + "\n" + fits)))
    assert [one.name for one in surface.attributes] == ["fits"]
    assert message in caplog.text and "</m>" in caplog.text


def test_values_with_samples_only(stage: Stage) -> None:
    extra = 'float[] primvars:wear (\n interpolation = "uniform"\n)\n float[] primvars:wear.timeSamples = '
    extra += "{ 1: [1, 2], 2: [3, 4] }"
    assert only(stage, extra).values.tolist() == [1, 2]


def subset(name: str, indices: str, family: str = "", kind: str = "face") -> str:
    told = f'uniform token familyName = "{family}"\n' if family else ""
    return f'def GeomSubset "{name}" {{ uniform token elementType = "{kind}"\n int[] indices = {indices}\n {told} }}\n'


def test_subsets(stage: Stage) -> None:
    extra = subset("silk", "[0]", "materialBind") + subset("cuff", "[1, 0]") + subset("left", "[1]", "side")
    extra += subset("spots", "[4]", kind="point")
    found = read_surface(stage(mesh("", extra))).subsets
    assert [(one.name, one.family, one.polygons.tolist()) for one in found] == [
        ("silk", "material", [0]), ("cuff", "group", [1, 0]), ("left", "side", [1]),
    ]  # fmt: skip


def test_a_subset_of_faces_that_are_not_there(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert read_surface(stage(mesh("", subset("cuff", "[1, 2]")))).subsets == ()
    assert "'cuff' names 1 faces the mesh does not have" in caplog.text


def test_an_instance_has_all_of_it(stage: Stage) -> None:
    body = mesh(primvar("float[]", "wear", "[1, 2]", "uniform"), subset("cuff", "[1]"))
    copy = 'def Xform "a" ( instanceable = true\n references = </proto> ) { }'
    surface = read_surface(stage(f'class "proto" {{ {body} }}\n{copy}'))
    assert [one.name for one in surface.attributes] == ["wear"] and [one.name for one in surface.subsets] == ["cuff"]
