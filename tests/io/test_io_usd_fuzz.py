"""USD files damaged at random: each is read or refused in one sentence, in bounded time and memory.

The reading happens in a process of its own, `python test_io_usd_fuzz.py FOLDER SEED FIRST COUNT [SEED FIRST COUNT …]`,
so that a crash is a failed test. Input k of a seed file is always the same.
"""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import io
import json
import logging
import os
import random
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

SECONDS = 30.0
"""an input may take"""
MEMORY = 4 << 30
"""bytes the process may take"""

TEXT = """#usda 1.0
(
    defaultPrim = "figure"
    metersPerUnit = 1
    upAxis = "Y"
    timeCodesPerSecond = 24
    customLayerData = {
        dictionary a = {
            string b = "c"
            int[] e = [1, 2, 3]
        }
    }
)
class "proto" {
    double foo = 1
    string[] names = ["a", "bb", "ccc"]
}
def SkelRoot "figure" (
    variants = { string look = "red" }
    prepend variantSets = "look"
    prepend inherits = </proto>
) {
    double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 2: (1, 0, 0), 3: (2, 0, 0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    variantSet "look" = {
        "red" {
            color3f[] primvars:displayColor = [(1, 0, 0)]
        }
        "blue" {
            color3f[] primvars:displayColor = [(0, 0, 1)]
        }
    }
    def Skeleton "rig" ( prepend apiSchemas = ["SkelBindingAPI"] ) {
        uniform token[] joints = ["a", "a/b"]
        uniform matrix4d[] bindTransforms = [
            ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1)), ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,1,0,1))]
        uniform matrix4d[] restTransforms = [
            ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1)), ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,1,0,1))]
        rel skel:animationSource = </figure/rig/walk>
        def SkelAnimation "walk" {
            uniform token[] joints = ["a", "a/b"]
            float3[] translations = [(0, 0, 0), (0, 1, 0)]
            quatf[] rotations.timeSamples = { 1: [(1,0,0,0), (1,0,0,0)], 3: [(1,0,0,0), (0.7,0.7,0,0)] }
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
            uniform token[] blendShapes = ["s"]
            float[] blendShapeWeights.timeSamples = { 1: [0], 3: [1] }
        }
    }
    def Mesh "coat" ( prepend apiSchemas = ["SkelBindingAPI"] ) {
        rel skel:skeleton = </figure/rig>
        uniform token[] skel:blendShapes = ["s"]
        rel skel:blendShapeTargets = </figure/coat/s>
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 2, 3, 3, 2, 4, 5]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 2, 0), (0, 2, 0)]
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1] (
            elementSize = 2
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 0, 1, 0, 0.5, 0.5, 0.5, 0.5, 0, 1, 0, 1] (
            elementSize = 2
            interpolation = "vertex"
        )
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "faceVarying" )
        int[] primvars:st:indices = [0, 1, 2, 3, 0, 1, 2, 3]
        def BlendShape "s" {
            vector3f[] offsets = [(0, 0, 1)]
            uniform int[] pointIndices = [4]
        }
        def GeomSubset "front" {
            uniform token elementType = "face"
            int[] indices = [0]
            uniform token familyName = "materialBind"
        }
    }
}
"""


def seeds(folder: Path) -> dict[str, Path]:
    """The files that are damaged: text, a crate, and a package of a crate."""
    from pxr import Usd, UsdUtils

    found = {kind: folder / f"seed.{kind}" for kind in ("usda", "usdc", "usdz")}
    found["usda"].write_text(TEXT)
    Usd.Stage.Open(str(found["usda"])).Export(str(found["usdc"]))
    assert UsdUtils.CreateNewUsdzPackage(str(found["usdc"]), str(found["usdz"]))
    return found


def damaged(data: bytes, suffix: str, rng: random.Random) -> bytes:
    """A damaged copy; of a package, often only its layers, with their sums put right."""
    if suffix != ".usdz" or rng.random() < 0.4:
        return _mutated(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as package, zipfile.ZipFile(out, "w") as copy:
        for name in package.namelist():
            copy.writestr(name, _mutated(package.read(name), rng))
    return out.getvalue()


def _mutated(data: bytes, rng: random.Random) -> bytes:
    """One to eight changes: bits, bytes, numbers that mean trouble, parts left out, doubled, moved, cut off."""
    bytes_ = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        size = len(bytes_)
        if size < 16:
            break
        # The tables of crates and packages lie at both ends.
        place = rng.choice(
            [rng.randrange(size)] * 6 + [rng.randrange(min(size, 128)), size - 1 - rng.randrange(min(size, 4096))] * 2
        )
        source, length = rng.randrange(size), rng.randrange(1, 65)
        kind = rng.randrange(8)
        if kind <= 1:
            bytes_[place] ^= 1 << rng.randrange(8)
        elif kind == 2:
            bytes_[place] = rng.choice([0, 255, 127, 128, rng.randrange(256)])
        elif kind == 3:
            number = rng.choice([0, -1, 1 << 31, 1 << 32, 1 << 40, 1 << 62, size, size - 1, rng.getrandbits(64)])
            width = min(rng.choice([4, 8]), size - place)
            bytes_[place : place + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
        elif kind == 4:
            del bytes_[place : place + length]
        elif kind == 5:
            bytes_[place:place] = bytes_[source : source + length]
        elif kind == 6:
            part = bytes_[source : source + length]
            bytes_[place : place + len(part)] = part
        elif rng.random() < 0.3:
            del bytes_[place:]
    return bytes(bytes_)


def read_many(folder: Path, jobs: list[tuple[Path, int, int]]) -> None:
    """Read inputs first … first + count − 1 of each seed file; prints a line before and after each."""
    import resource

    from bunraku.contracts import InputError
    from bunraku.io import read_clip

    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    for source, k in ((source, k) for source, first, count in jobs for k in range(first, first + count)):
        path = folder / f"{k}{source.suffix}"
        path.write_bytes(damaged(source.read_bytes(), source.suffix, random.Random(f"{source.name} {k}")))
        print(json.dumps({"reads": path.name}), flush=True)
        start, outcome = time.perf_counter(), "read"
        try:
            read_clip(path)
        except InputError as error:
            outcome = "refused" if "\n" not in str(error) and len(str(error)) < 2000 else f"talks too much: {error}"
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"[:300]
        seconds = time.perf_counter() - start
        print(json.dumps({"input": path.name, "outcome": outcome, "seconds": seconds}), flush=True)
        path.unlink()


def check(folder: Path, jobs: list[tuple[Path, int, int]]) -> list[str]:
    """Have the inputs read elsewhere; 'usda read', 'usda refused', … of each."""
    words = [str(word) for job in jobs for word in job]
    count = sum(job[2] for job in jobs)
    done = subprocess.run(
        [sys.executable, __file__, str(folder), *words], capture_output=True, text=True, timeout=60 + SECONDS * count,
        check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-2000:])
    assert "Warning:" not in done.stderr, done.stderr[-2000:]
    results = [line for line in lines if "input" in line]
    assert len(results) == count
    odd = [line for line in results if line["outcome"] not in ("read", "refused") or line["seconds"] > SECONDS]
    assert not odd, odd
    return [f"{line['input'].rsplit('.')[-1]} {line['outcome']}" for line in results]


@pytest.mark.slow
def test_damaged_files(tmp_path: Path) -> None:
    """Most binary ones cost a process each, so there are few here and many below."""
    found = seeds(tmp_path)
    outcomes = check(tmp_path, [(found["usda"], 0, 60), (found["usdz"], 0, 8), (found["usdc"], 0, 8)])
    assert {f"{kind} {outcome}" for kind in found for outcome in ("read", "refused")} == set(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["usda", "usdz", "usdc", "shirt"])
def test_very_many_damaged_files(tmp_path: Path, data: Path, kind: str) -> None:
    source = data / "garments" / "unisex_shirt.usd" if kind == "shirt" else seeds(tmp_path)[kind]
    many = int(os.environ.get("BUNRAKU_FUZZ", "1"))  # times 250 files: four have been tried and found nothing
    for first in range(1000, 1000 + 250 * many, 250):
        check(tmp_path, [(source, first, 250)])


if __name__ == "__main__":
    given = sys.argv[2:]
    read_many(Path(sys.argv[1]), [(Path(a), int(b), int(c)) for a, b, c in zip(*[iter(given)] * 3, strict=True)])
