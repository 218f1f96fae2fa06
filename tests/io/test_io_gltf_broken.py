"""glTF: every refusal provoked once. One sentence, little memory, little time."""

from __future__ import annotations

import functools
import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_files import Made, full

from bunraku.contracts import InputError
from bunraku.io.gltf import read_gltf

HUGE = 10**9


def at(*path: Any, value: Any) -> Callable[[Made], None]:
    """Set a field of the JSON; ... as value deletes it."""

    def change(made: Made) -> None:
        holder: Any = made.json
        for key in path[:-1]:
            holder = holder[key]
        if value is ...:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value

    return change


PRIMITIVE = ("meshes", 0, "primitives", 0)
SAMPLER = ("animations", 0, "samplers", 0)
BROKEN = [
    (at("asset", value={"version": "1.0"}), r"only glTF 2.0 is read \(got '1.0'\)"),
    (at("asset", value=...), "only glTF 2.0 is read .got 'no asset version'"),
    (at("extensionsRequired", value=["KHR_draco_mesh_compression"]), "compressed with Draco.*export it without Draco"),
    (at("extensionsRequired", value=["EXT_meshopt_compression"]), "compressed with meshopt"),
    (at("extensionsRequired", value=["ACME_curves"]), "extension that is not understood .got 'ACME_curves'"),
    (at("extensionsRequired", value=[1]), "must be a list of texts"),
    (at("buffers", value=[{"byteLength": 10**7}]), "buffer is shorter than it declares"),
    (at("buffers", value=[{"byteLength": "x"}]), "'byteLength' must be a whole number"),
    (at("buffers", value=[{}]), "'byteLength' is missing"),
    (at("buffers", value=[]), r"names buffers\[0\], which the file does not have"),
    (at("buffers", value=[{"byteLength": 9, "uri": 3}]), "'uri' must be a text"),
    (at("buffers", value=[{"byteLength": 9, "uri": "/etc/passwd"}]), "uri leaves the folder .got '/etc/passwd'"),
    (at("buffers", value=[{"byteLength": 9, "uri": "a/%2e%2e/../b"}]), "uri leaves the folder"),
    (at("buffers", value=[{"byteLength": 9, "uri": "..\\b"}]), "uri leaves the folder"),
    (at("buffers", value=[{"byteLength": 9, "uri": "https://a.b/c.bin"}]), "not fetched from elsewhere .got 'https"),
    (at("buffers", value=[{"byteLength": 9, "uri": "file:///etc/passwd"}]), "not fetched from elsewhere"),
    (at("buffers", value=[{"byteLength": 9, "uri": "C:\\a.bin"}]), "not fetched from elsewhere"),
    (at("buffers", value=[{"byteLength": 9, "uri": "a\0b"}]), "is no name of a file"),
    (at("buffers", value=[{"byteLength": 9, "uri": "n/" * 5000}]), "is no name of a file"),
    (at("buffers", value=[{"byteLength": 9, "uri": "."}]), "names no file"),
    (at("buffers", value=[{"byteLength": 9, "uri": "n" * 500}]), "cannot be read"),
    (at("buffers", value=[{"byteLength": 9, "uri": "lost.bin"}]), "lost.bin: there is no such file"),
    (at("buffers", value=[{"byteLength": 9, "uri": "data:x;base64,A"}]), "not base64"),
    (at("buffers", value=[{"byteLength": 9, "uri": "data:nothing"}]), "has no data"),
    (at("buffers", value=[{"byteLength": 9, "uri": "data:,%20"}]), "shorter than it declares .got '1 bytes'"),
    (at("bufferViews", 0, "byteLength", value=HUGE), "reaches beyond its buffer"),
    (at("bufferViews", 0, "byteStride", value=4), "'byteStride' is less than an element"),
    (at("bufferViews", 0, "extensions", value={"EXT_meshopt_compression": {}}), "compressed with meshopt"),
    (at("accessors", 0, "count", value=HUGE), "1000000000 elements reach beyond the buffer view"),
    (at("accessors", 0, "count", value=0), "'count' must be 1 at least"),
    (at("accessors", 0, "count", value=-1), "'count' must be a whole number"),
    (at("accessors", 0, "count", value=10**400), "'count' must be a whole number"),
    (at("accessors", 0, "type", value="VEC2"), "another type than its use needs .got 'VEC2'.; allowed: VEC3"),
    (at("accessors", 0, "componentType", value=5124), "unknown 'componentType'"),
    (at("accessors", 0, "byteOffset", value=1.5), "'byteOffset' must be a whole number"),
    (at("accessors", 0, value=7), r"accessors\[0\] must be an object"),
    (at("accessors", value={}), "'accessors' must be a list"),
    (at("accessors", 0, "bufferView", value=99), r"names bufferViews\[99\]"),
    (
        at("accessors", 0, value={"componentType": 5126, "type": "VEC3", "count": HUGE}),
        "more elements than the file has",
    ),
    (at("accessors", 6, "sparse", "count", value=5), "replaces more elements than its accessor has"),
    (at("accessors", 6, "sparse", "indices", "componentType", value=5126), "unknown 'componentType'"),
    (at("accessors", 1, "componentType", value=5122), "indices are not whole numbers without a sign"),
    (at("accessors", 2, "componentType", value=5120), "joints of points are not whole numbers"),
    (at("meshes", 0, "primitives", value=[]), "the mesh has no triangles"),
    (at(*PRIMITIVE, "mode", value=1), "the mesh has no triangles"),
    (at(*PRIMITIVE, "mode", value=7), "unknown 'mode'"),
    (at(*PRIMITIVE, "attributes", "POSITION", value=99), r"names accessors\[99\]"),
    (at(*PRIMITIVE, "attributes", "NORMAL", value=7), "another type|another length"),
    (at(*PRIMITIVE, "attributes", "POSITION", value=True), "'POSITION' must be a whole number"),
    (at(*PRIMITIVE, "targets", value=[{}] * 20_001), "too many morph targets"),
    (at(*PRIMITIVE, "material", value=3), r"names materials\[3\]"),
    (at("meshes", 0, "weights", value=[0, 0]), "'weights' must be a list of 1 finite numbers"),
    (at("nodes", 0, "mesh", value=1), r"names meshes\[1\]"),
    (at("nodes", 0, "skin", value=1), r"names skins\[1\]"),
    (at("nodes", 0, "name", value=5), "'name' must be a text"),
    (at("nodes", 1, "children", value=[9]), r"names nodes\[9\]"),
    (at("nodes", 1, "children", value=[1]), "has another parent already or is the node itself"),
    (at("nodes", 2, "children", value=[2]), "has another parent already"),
    (at("nodes", 2, "children", value=[3]), "is its own ancestor"),
    (at("nodes", 2, "scale", value=[1, 1]), "'scale' must be a list of 3 finite numbers"),
    (at("nodes", 2, "scale", value=[1, 1, "a"]), "'scale' must be a list of 3 finite numbers"),
    (at("nodes", 2, "scale", value=[1, 1, 10**400]), "'scale' must be a list of 3 finite numbers"),
    (at("nodes", value=[{"camera": 0}]), "holds no mesh .got '.*1 nodes"),
    (at("scene", value=4), r"names scenes\[4\]"),
    (at("skins", 0, "joints", value=[]), "skin has no joints"),
    (at("skins", 0, "joints", value=[1, 77]), r"names nodes\[77\]"),
    (at("skins", 0, "joints", value=[1]), r"follow joints the skin does not have \(got 1\); allowed: 0 to 0"),
    (at("skins", 0, "joints", value=[1, 2, 1]), "fewer inverse bind matrices than joints"),
    (at("animations", 0, "channels", 0, "sampler", value=9), r"names samplers\[9\]"),
    (at("animations", 0, "channels", 0, "target", "node", value=9), r"names nodes\[9\]"),
    (at("animations", 0, "channels", 0, "target", "node", value=3), "stands by a matrix"),
    (at(*SAMPLER, "interpolation", value="BEZIER"), "unknown 'interpolation' .got 'BEZIER'"),
    (at(*SAMPLER, "interpolation", value="CUBICSPLINE"), "another length than .* needs .got 3.; allowed: 9"),
    (at(*SAMPLER, "input", value=0), "another type than its use needs"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=[message[:40] for _, message in BROKEN])
def test_refusals(tmp_path: Path, change: Callable[[Made], None], message: str) -> None:
    made = full()
    made.json["buffers"] = [{"byteLength": len(made.data)}]
    change(made)
    path = made.glb(tmp_path / "a.glb")
    with pytest.raises(InputError, match=message) as refused:
        read_gltf(path, None, None)
    assert len(str(refused.value)) < 900 and "\n" not in str(refused.value)


def test_the_full_file_is_read(tmp_path: Path) -> None:
    recording = read_gltf(full().glb(tmp_path / "a.glb"), None, None)
    assert recording.prim_path == "/node_3/body" and recording.points.shape[1:] == (4, 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"glTF", "ends in its header"),
        (b"hello", "is no valid JSON"),
        (b"\xff\xfe{}", "is no valid JSON"),
        (b"[]", "its JSON is not an object"),
        (b'{"asset": NaN}', "NaN is not a JSON number"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is no valid JSON"),
        (struct.pack("<4sIIII", b"glTF", 1, 20, 0, 0), "only GLB version 2"),
        (struct.pack("<4sIIII", b"glTF", 2, 99, 0, 0), "the GLB is shorter than it declares"),
        (struct.pack("<4sIIII", b"glTF", 2, 20, 9, 0), "a chunk of the GLB is longer"),
        (struct.pack("<4sIIII", b"glTF", 2, 20, 0, 7), "has no JSON chunk"),
        (struct.pack("<4sII", b"glTF", 2, 24) + struct.pack("<I4s", 4, b"JSON") + b"    ", "is empty"),
    ],
    ids=str,
)
def test_containers_that_are_none(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "a.glb"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_gltf(path, None, None)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_gltf(tmp_path / "a.glb", None, None)
    with pytest.raises(InputError, match="is a folder"):
        read_gltf(tmp_path, None, None)


def test_index_out_of_range(tmp_path: Path) -> None:
    made = Made().mesh(indices=np.array([0, 1, 4], np.uint16))
    with pytest.raises(InputError, match=r"indices reach beyond what they count \(got 4\); allowed: 0 to 3"):
        read_gltf(made.glb(tmp_path / "a.glb"), None, None)


@pytest.mark.parametrize("times", [[0, np.nan], [1, 0], [0, np.inf]])
def test_times_that_do_not_increase(tmp_path: Path, times: list[float]) -> None:
    made = Made().mesh().animate("translation", times, np.zeros((2, 3)))
    with pytest.raises(InputError, match="times of its keys do not increase"):
        read_gltf(made.glb(tmp_path / "a.glb"), None, None)


def test_too_long_an_animation(tmp_path: Path) -> None:
    path = Made().mesh().animate("translation", [0, 1e30], np.zeros((2, 3))).glb(tmp_path / "a.glb")
    with pytest.raises(InputError, match=r"too many frames .*give a lower rate="):
        read_gltf(path, None, None)
    assert len(read_gltf(path, None, 5).frames) == 5
    with pytest.raises(InputError, match="frame rate must be positive"):
        read_gltf(path, None, None, rate=float("nan"))


def test_no_such_clip(tmp_path: Path) -> None:
    path = Made().mesh().glb(tmp_path / "a.glb")
    with pytest.raises(InputError, match=r"has no animations .got 'walk'.; try: leave clip out"):
        read_gltf(path, None, None, clip="walk")


def test_draco_that_is_not_required_but_has_nothing_else(tmp_path: Path) -> None:
    made = Made().mesh(extensions={"KHR_draco_mesh_compression": {"bufferView": 0}})
    del made.json["accessors"][0]["bufferView"]
    with pytest.raises(InputError, match="compressed with Draco"):
        read_gltf(made.glb(tmp_path / "a.glb"), None, None)


def test_names_that_cannot_be_shown(tmp_path: Path) -> None:
    made = Made().mesh()
    made.json["nodes"] = [{"mesh": 0, "name": "a\ud800\n\x1b"}, {"mesh": 0, "name": "b" * 10_000}]
    with pytest.raises(InputError) as refused:
        read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert "/a___," in str(refused.value) and len(str(refused.value)) < 600
    str(refused.value).encode()


@functools.cache
def bombs() -> dict[str, Made]:
    """Small files that declare much."""
    deep = Made().mesh()
    deep.json["nodes"] = [{"mesh": 0, "children": [k + 1]} for k in range(4_000)] + [{"mesh": 0}]
    chain = Made().mesh()
    chain.json["nodes"] = [{"children": [k + 1]} for k in range(4_000)] + [{"mesh": 0}]
    zeros = Made().mesh()
    zeros.json["accessors"] += [{"componentType": 5126, "type": "VEC3", "count": 4}] * 3000
    zeros.primitive["targets"] = [{"POSITION": 2 + k} for k in range(3000)]
    zeros.json["nodes"][0]["weights"] = [1.0] * 3000
    shared = Made().mesh(np.zeros((20_000, 3)), np.zeros(60_000, np.uint16))
    shared.json["meshes"][0]["primitives"] *= 5_000
    spread = Made().mesh(np.zeros((20_000, 3)), None)
    uv = [spread.add(np.zeros((20_000, 2))) for _ in range(2)]
    spread.json["accessors"] += [spread.json["accessors"][uv[0]]] * 2_000
    one = spread.primitive["attributes"]["POSITION"]
    spread.json["meshes"][0]["primitives"] = [
        {"attributes": {"POSITION": one, "TEXCOORD_0": uv[0] + k}} for k in range(2_000)
    ]
    names = Made().mesh()
    names.json["nodes"] = [{"name": "x" * 10**6, "children": list(range(1, 8_000))}] + [{"mesh": 0}] * 7_999
    painted = Made().mesh(np.zeros((20_000, 3)), None)
    painted.primitive["attributes"] |= {f"_{k}": 0 for k in range(5_000)}
    moved = full()
    moved.json["skins"][0] = {"joints": list(range(3, 3003))}
    moved.json["nodes"] += [{}] * 3000
    times = moved.add(np.arange(20_000.0) / 24)
    keys = len(moved.json["accessors"])
    moved.json["accessors"] += [moved.json["accessors"][moved.add(np.zeros((20_000, 3)))]] * 2000
    moved.json["animations"] = [{
        "samplers": [{"input": times, "output": keys + k} for k in range(2000)],
        "channels": [{"sampler": k, "target": {"node": 4 + k, "path": "scale"}} for k in range(2000)],
    }]  # fmt: skip
    return {
        "painted": painted, "moved": moved, "deep": deep, "chain": chain, "zeros": zeros, "shared": shared,
        "spread": spread, "names": names,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", bombs())
def test_small_files_stay_small(tmp_path: Path, kind: str) -> None:
    path = bombs()[kind].glb(tmp_path / "a.glb")
    tracemalloc.start()
    start = time.process_time()
    try:
        read_gltf(path, None, None)
    except InputError as error:
        assert len(str(error)) < 5000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6 + 300 * path.stat().st_size
    assert time.process_time() - start < 5.0
