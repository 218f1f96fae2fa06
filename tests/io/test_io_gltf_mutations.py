"""glTF: mutations of files by the thousand. Only one-sentence refusals, and soon."""

from __future__ import annotations

import copy
import random
import time
from pathlib import Path
from typing import Any

import pytest
from gltf_files import full, glb_bytes, split_glb

from bunraku.contracts import InputError
from bunraku.io.gltf import gltf_files, read_gltf

NASTY = [
    None, True, -1, 0, 1, 2, 3, 255, 65535, 2**31, 2**63, 10**30, 1.5, -1e308, 1e-320, 1e39, 5121, 5126, "", "x",
    "\ud800", "data:,", "../x", "CUBICSPLINE", "VEC4", [], [0], [[]], [1e308] * 3, [0, 0, 0, 0], [-1], {}, {"a": 1},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, item in items for one in ((*path, key), *places(item, (*path, key)))]


def mutated_json(rng: random.Random, value: Any) -> Any:
    """Some places changed for something nasty, deleted, or exchanged for another place's value."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        every = places(value)
        if not every:
            break
        path, other = rng.choice(every), rng.choice(every)
        holder: Any = value
        for key in path[:-1]:
            holder = holder[key]
        found: Any = value
        for key in other:
            found = found[key]
        kind = rng.random()
        if kind < 0.15 and isinstance(holder, dict):
            del holder[path[-1]]
        elif kind < 0.35:
            holder[path[-1]] = copy.deepcopy(found)
        elif kind < 0.6 and isinstance(holder[path[-1]], int):
            holder[path[-1]] = holder[path[-1]] + rng.choice([-1, 1, 2, 7, 1000, 2**20])
        else:
            holder[path[-1]] = copy.deepcopy(rng.choice(NASTY))
    return value


def mutated_bytes(rng: random.Random, data: bytes) -> bytes:
    """Bytes changed, cut out, doubled, or cut off."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 2, 8, 64])):
        start, length = rng.randrange(max(len(out), 1)), rng.choice([1, 1, 2, 4, 40])
        kind = rng.random()
        if kind < 0.6:
            out[start : start + length] = rng.randbytes(len(out[start : start + length]))
        elif kind < 0.75:
            del out[start : start + length]
        elif kind < 0.9:
            out[start:start] = out[start : start + length]
        elif kind < 0.93:
            del out[start:]
    return bytes(out)


def attack(rng: random.Random, path: Path, sources: list[bytes], inputs: int) -> tuple[int, float]:
    """Read so many mutations; how many were read after all, and the longest time [s]. Only InputError is allowed."""
    passed, slowest = 0, 0.0
    for k in range(inputs):
        raw = rng.choice(sources)
        value, body = split_glb(raw)
        kind = k % 3
        if kind == 0:
            data = mutated_bytes(rng, raw)
        elif kind == 1:
            data = glb_bytes(mutated_json(rng, value), body)
        else:
            data = glb_bytes(value, mutated_bytes(rng, body))
        path.write_bytes(data)
        start = time.process_time()
        try:
            clip = value.get("animations", [{}])[0].get("name")
            mesh = next((node.get("name") for node in value["nodes"] if "skin" in node), None)
            read_gltf(path, mesh, 20, clip=clip)
            gltf_files(path)
            passed += 1
        except InputError as error:
            assert len(str(error)) < 3000 and "\n" not in str(error), str(error)
            str(error).encode()
        slowest = max(slowest, time.process_time() - start)
    return passed, slowest


def test_mutations(tmp_path: Path) -> None:
    """150 inputs made of the file with everything."""
    source = full().glb(tmp_path / "full.glb").read_bytes()
    passed, slowest = attack(random.Random(5), tmp_path / "a.glb", [source], 150)
    assert 10 < passed < 140 and slowest < 2.0


@pytest.mark.slow
def test_many_mutations(tmp_path: Path, data: Path) -> None:
    """2250 inputs, of that file and of the real ones; 9000 have been tried and found nothing."""
    sources = [full().glb(tmp_path / "full.glb").read_bytes()]
    _, first = attack(random.Random(6), tmp_path / "a.glb", sources, 1500)
    sources += [
        (data / "sequences" / name).read_bytes() for name in ("fox.glb", "cesium_man.glb", "robot_expressive.glb")
    ]
    _, second = attack(random.Random(7), tmp_path / "a.glb", sources, 750)
    assert max(first, second) < 10.0


def test_text_files_mutated(tmp_path: Path) -> None:
    """A .gltf with its buffer inside, cut at every so many characters."""
    text = full().gltf(tmp_path / "full.gltf").read_text()
    assert read_gltf(tmp_path / "full.gltf", None, None).surface.point_count == 4
    path = tmp_path / "a.gltf"
    for end in range(1, len(text), 97):
        path.write_text(text[:end])
        with pytest.raises(InputError):
            read_gltf(path, None, None)
