"""glTF files made by hand, and a second, slow reader of the real ones that shares nothing with the first."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation, Slerp

CODES = {"b": 5120, "B": 5121, "h": 5122, "H": 5123, "I": 5125, "f": 5126}
WIDTHS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
TWO = np.array([0, 1, 2, 0, 2, 3], np.uint16)


class Made:
    """A glTF being put together: `json` may be changed at will before it is written."""

    def __init__(self) -> None:
        self.data = b""
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "bufferViews": [], "accessors": []}

    def view(self, values: np.ndarray, **facts: Any) -> int:
        """A buffer view of an array's bytes."""
        self.data += b"\0" * (-len(self.data) % 4)
        stored = np.ascontiguousarray(values)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": stored.nbytes} | facts
        self.json["bufferViews"].append(view)
        self.data += stored.tobytes()
        return len(self.json["bufferViews"]) - 1

    def add(self, values: ArrayLike, dtype: Any = None, **facts: Any) -> int:
        """An accessor of (m,) or (m, w) values."""
        array = np.asarray(values, dtype)
        array = array.astype(np.float32) if array.dtype in (np.float64, np.int64) else array
        accessor = {"bufferView": self.view(array), "componentType": CODES[array.dtype.char], "count": len(array),
                    "type": WIDTHS[1 if array.ndim == 1 else array.shape[1]]}  # fmt: skip
        self.json["accessors"].append(accessor | facts)
        return len(self.json["accessors"]) - 1

    def mesh(self, points: ArrayLike = SQUARE, indices: ArrayLike | None = TWO, **facts: Any) -> Made:
        """One mesh at one node."""
        primitive: dict[str, Any] = {"attributes": {"POSITION": self.add(points)}}
        if indices is not None:
            primitive["indices"] = self.add(indices)
        self.json |= {"meshes": [{"primitives": [primitive | facts]}], "nodes": [{"mesh": 0, "name": "square"}]}
        return self

    @property
    def primitive(self) -> dict[str, Any]:
        return self.json["meshes"][0]["primitives"][0]

    def animate(self, path: str, times: ArrayLike, values: ArrayLike, *, node: int = 0, how: str = "LINEAR") -> Made:
        """Add a channel to the only animation."""
        animation = self.json.setdefault("animations", [{"name": "move", "samplers": [], "channels": []}])[0]
        sampler = {"input": self.add(times, np.float32), "output": self.add(values), "interpolation": how}
        animation["channels"].append({
            "sampler": len(animation["samplers"]), "target": {"node": node, "path": path},
        })  # fmt: skip
        animation["samplers"].append(sampler)
        return self

    def glb(self, path: Path) -> Path:
        """Write a .glb."""
        self.json.setdefault("buffers", [{"byteLength": len(self.data)}])
        path.write_bytes(glb_bytes(self.json, self.data))
        return path

    def gltf(self, path: Path, uri: str | None = None) -> Path:
        """Write a .gltf with its buffer in a data URI, or named."""
        inside = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        self.json.setdefault("buffers", [{"byteLength": len(self.data), "uri": inside if uri is None else uri}])
        path.write_text(json.dumps(self.json))
        return path


def full() -> Made:
    """A file with everything: two joints, a sparse morph, an animation of each kind."""
    made = Made().mesh()
    attributes = made.primitive["attributes"]
    attributes |= {"JOINTS_0": made.add(np.tile([0, 1, 0, 0], (4, 1)), np.uint8)}
    attributes |= {"WEIGHTS_0": made.add(np.tile([0.5, 0.5, 0, 0], (4, 1)))}
    attributes |= {"TEXCOORD_0": made.add(SQUARE[:, :2]), "NORMAL": made.add(np.tile([0.0, 0, 1], (4, 1)))}
    places, values = made.view(np.array([1], np.uint8)), made.view(np.ones((1, 3), np.float32))
    sparse = {"count": 1, "indices": {"bufferView": places, "componentType": 5121}, "values": {"bufferView": values}}
    made.json["accessors"].append({"componentType": 5126, "type": "VEC3", "count": 4, "sparse": sparse})
    made.primitive.update({"targets": [{"POSITION": len(made.json["accessors"]) - 1}], "material": 0})
    made.json["materials"] = [{"name": "silk"}]
    binds = made.add(np.tile(np.eye(4).reshape(16), (2, 1)))
    made.json["skins"] = [{"joints": [1, 2], "inverseBindMatrices": binds}]
    made.json["nodes"] = [
        {"mesh": 0, "skin": 0, "name": "body"}, {"children": [2], "name": "hip"}, {"name": "knee", "scale": [1, 1, 1]},
        {"children": [0, 1], "matrix": np.eye(4).reshape(16).tolist()},
    ]  # fmt: skip
    made.json |= {"scene": 0, "scenes": [{"nodes": [3]}], "extensionsUsed": ["KHR_materials_sheen"]}
    turns = np.tile([0.0, 0, 0, 1], (3, 1))
    made.animate("rotation", [0, 0.1, 0.2], turns, node=1).animate("translation", [0, 0.2], np.eye(2, 3), node=2)
    made.animate("scale", [0, 0.1], np.ones((6, 3)), node=1, how="CUBICSPLINE")
    return made.animate("weights", [0, 0.2], [1.0, 0.0], how="STEP")


def glb_bytes(value: Any, data: bytes) -> bytes:
    """A .glb of JSON and a buffer."""
    text = json.dumps(value).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    head = struct.pack("<4sIII4s", b"glTF", 2, 28 + len(text) + len(data), len(text), b"JSON")
    return head + text + struct.pack("<I4s", len(data), b"BIN\0") + data


def split_glb(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """JSON and buffer of a .glb."""
    length = struct.unpack_from("<I", raw, 12)[0]
    return json.loads(raw[20 : 20 + length]), raw[28 + length :]


class Slow:
    """A .glb read number by number, evaluated point by point with scipy's rotations."""

    def __init__(self, path: Path) -> None:
        self.json, self.data = split_glb(path.read_bytes())
        self.parent = {child: k for k, node in enumerate(self.json["nodes"]) for child in node.get("children", [])}

    def numbers(self, index: int) -> list[tuple[float, ...]]:
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        code = {number: char for char, number in CODES.items()}[accessor["componentType"]]
        form = "<" + {name: width for width, name in WIDTHS.items()}[accessor["type"]] * code
        step = view.get("byteStride", struct.calcsize(form))
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return [struct.unpack_from(form, self.data, start + k * step) for k in range(accessor["count"])]

    def channel(self, clip: dict[str, Any], node: int, path: str, time: float) -> Any:
        """A keyed value, or None."""
        for one in clip["channels"]:
            if one["target"] == {"node": node, "path": path}:
                sampler = clip["samplers"][one["sampler"]]
                times = np.array(self.numbers(sampler["input"]))[:, 0]
                values = np.array(self.numbers(sampler["output"]))
                if path == "weights":
                    values = values.reshape(len(times), -1)
                time = float(np.clip(time, times[0], times[-1]))
                if path == "rotation":
                    return Slerp(times, Rotation.from_quat(values))(time)
                return np.array([np.interp(time, times, column) for column in values.T])
        return None

    def world(self, node: int, clip: dict[str, Any], time: float) -> np.ndarray:
        """(4, 4)"""
        entry, out = self.json["nodes"][node], np.eye(4)
        if "matrix" in entry:
            out = np.array(entry["matrix"]).reshape(4, 4, order="F")
        else:
            move, turn, scale = (self.channel(clip, node, p, time) for p in ("translation", "rotation", "scale"))
            turn = Rotation.from_quat(entry.get("rotation", [0, 0, 0, 1])) if turn is None else turn
            scale = entry.get("scale", [1, 1, 1]) if scale is None else scale
            out[:3, :3] = turn.as_matrix() @ np.diag(scale)
            out[:3, 3] = entry.get("translation", [0, 0, 0]) if move is None else move
        return self.world(self.parent[node], clip, time) @ out if node in self.parent else out

    def skinned(self, node: int, clip: dict[str, Any], time: float, every: int) -> np.ndarray:
        """Every so many points of a skinned node, by the formula of the specification."""
        entry = self.json["nodes"][node]
        skin = self.json["skins"][entry["skin"]]
        inverse = [np.array(m).reshape(4, 4, order="F") for m in self.numbers(skin["inverseBindMatrices"])]
        joint = [self.world(j, clip, time) @ inverse[k] for k, j in enumerate(skin["joints"])]
        stored: list[list[tuple[float, ...]]] = [[], [], []]
        for primitive in self.json["meshes"][entry["mesh"]]["primitives"]:
            for k, name in enumerate(("POSITION", "JOINTS_0", "WEIGHTS_0")):
                stored[k] += self.numbers(primitive["attributes"][name])
        out = []
        for x, joints, weights in list(zip(*stored, strict=True))[::every]:
            mixed = sum((w * joint[int(j)] for j, w in zip(joints, weights, strict=True)), np.zeros((4, 4))) / sum(
                weights
            )
            out.append((mixed @ [*x, 1.0])[:3])
        return np.array(out)
