"""Gmsh and TetGen files: round trips, both versions in text and binary, real files, refusals, mutations."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hostile import survive
from hypothesis import given
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.geometry import TetMesh
from bunraku.geometry.tetmesh import check_tets
from bunraku.io.gmsh import format_msh, read_msh
from bunraku.io.tetgen import format_tetgen, read_tetgen

REST = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]) + 1 / 3
PAIR = TetMesh(REST, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
TAGS = [10, 4, 77, 5, 6]
"""node numbers as gmsh may leave them: sparse and unordered"""


def same(a: TetMesh, b: TetMesh) -> bool:
    return np.array_equal(a.rest, b.rest) and np.array_equal(a.tets, b.tets)


def msh22(binary: str = "") -> bytes:
    """PAIR in gmsh 2.2 with two triangles, a second-order tetrahedron and an unused node; binary: '<' or '>'."""
    nodes = [*zip(TAGS, REST.tolist(), strict=True), (99, [9.0, 9.0, 9.0])]
    rows = [(2, [0, 1, 2]), (4, [0, 1, 2, 3]), (11, [1, 2, 3, 4, 0, 0, 0, 0, 0, 0]), (2, [1, 2, 3])]
    if not binary:
        head = '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "jelly"\n$EndPhysicalNames\n'
        body = "".join(f"{tag} {x!r} {y!r} {z!r}\n" for tag, (x, y, z) in nodes)
        lines = [f"{k} {kind} 2 7 7 " + " ".join(str(TAGS[n]) for n in own) for k, (kind, own) in enumerate(rows, 1)]
        end = f"$Elements\n{len(rows)}\n" + "\n".join(lines) + "\n$EndElements\n"
        return (head + f"$Nodes\n{len(nodes)}\n{body}$EndNodes\n" + end).encode()
    out = b"$MeshFormat\n2.2 1 8\n" + struct.pack(binary + "i", 1) + b"\n$EndMeshFormat\n$Nodes\n6\n"
    out += b"".join(struct.pack(binary + "i3d", tag, *x) for tag, x in nodes) + b"\n$EndNodes\n$Elements\n4\n"
    for k, (kind, own) in enumerate(rows, 1):
        out += struct.pack(f"{binary}{6 + len(own)}i", kind, 1, 2, k, 7, 7, *(TAGS[n] for n in own))
    return out + b"\n$EndElements\n"


def msh41(binary: str = "<") -> bytes:
    """PAIR in binary gmsh 4.1 in two blocks of nodes, the first on a surface with parameters, and three of elements."""
    out = b"$MeshFormat\n4.1 1 8\n" + struct.pack(binary + "i", 1) + b"\n$EndMeshFormat\n"
    out += b"$Entities\n" + bytes(range(60)) + b"\n$EndEntities\n$Nodes\n" + struct.pack(binary + "4q", 2, 5, 4, 77)
    out += struct.pack(binary + "3iq", 2, 1, 1, 2) + struct.pack(binary + "2q", *TAGS[:2])
    out += b"".join(struct.pack(binary + "5d", *x, 0.5, 0.5) for x in REST[:2].tolist())
    out += struct.pack(binary + "3iq", 3, 1, 0, 3) + struct.pack(binary + "3q", *TAGS[2:])
    out += REST[2:].astype(binary + "f8").tobytes() + b"\n$EndNodes\n$Elements\n"
    out += struct.pack(binary + "4q", 3, 3, 1, 3)
    for k, (kind, own) in enumerate([(2, [0, 1, 2]), (4, [0, 1, 2, 3]), (4, [1, 2, 3, 4])], 1):
        out += struct.pack(binary + "3iq", 3, 1, kind, 1)
        out += struct.pack(f"{binary}{1 + len(own)}q", k, *(TAGS[n] for n in own))
    return out + b"\n$EndElements\n"


solids = st.builds(
    lambda seed, scale: _solid(np.random.default_rng(seed), scale), st.integers(0, 10**6), st.integers(-30, 30)
)


def _solid(random: np.random.Generator, scale: int) -> TetMesh:
    """A random fan of tetrahedra over one face, every vertex used."""
    extra = int(random.integers(1, 6))
    rest = random.normal(size=(3 + extra, 3)) * 10.0**scale
    return TetMesh.oriented(rest, np.array([[0, 1, 2, 3 + k] for k in range(extra)]))


@given(solids)
def test_gmsh_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, solid: TetMesh) -> None:
    path = tmp_path_factory.getbasetemp() / "solid.msh"
    path.write_bytes(format_msh(solid))
    assert same(read_msh(path), solid)


@given(solids)
def test_tetgen_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, solid: TetMesh) -> None:
    path = tmp_path_factory.getbasetemp() / "solid.node"
    for file, content in zip((path, path.with_suffix(".ele")), format_tetgen(solid), strict=True):
        file.write_bytes(content)
    assert same(read_tetgen(path), solid) and same(read_tetgen(path.with_suffix(".ele")), solid)


@pytest.mark.parametrize("data", [msh22(), msh22("<"), msh22(">"), msh41("<"), msh41(">")])
def test_every_kind_of_gmsh_file(tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pair.msh"
    path.write_bytes(data)
    with caplog.at_level(logging.INFO):
        found = read_msh(path)
    assert same(found, PAIR)
    assert "triangles" in caplog.text
    if b"2.2" in data[:20]:
        assert "1 tetrahedron is curved" in caplog.text and "1 node belongs to no tetrahedron" in caplog.text


def test_gmsh_negative_tetrahedra_are_turned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pair.msh"
    path.write_bytes(format_msh(TetMesh(REST, PAIR.tets[:, [0, 2, 1, 3]])))
    assert (read_msh(path).volumes > 0).all()
    assert "2 of 2 tetrahedra were inside out" in caplog.text


TABLE = {
    "armadillo_13k.msh": (13230, 54985, 17296), "octocat.msh": (6133, 21426, 8554),
    "little_elephant.msh": (7008, 24953, 10466), "bar_2523.msh": (886, 2523, 1618),
    "armadillo_4k.ele": (1180, 3717, 2102),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_real_solids(data: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    path = data / "tets" / name
    read = read_msh if path.suffix == ".msh" else read_tetgen
    found = read(path)
    assert (found.point_count, len(found.tets), len(found.surface_faces)) == TABLE[name]
    assert caplog.text == ""  # none was inside out, no node unused
    check_tets(found, name)


TEXT = format_msh(PAIR)


@pytest.mark.parametrize(
    ("data", "story"),
    [
        (b"hello", "is not a gmsh file"),
        (TEXT.replace(b"4.1 0 8", b"4 0 8"), "of this version.*'4'.*allowed: 4.1, 2.2"),
        (TEXT.replace(b"4.1 0 8", b"4.1 0 4"), "broken format line"),
        (b"$MeshFormat\n4.1 1 8\nxxxx\n$EndMeshFormat\n", "the number one"),
        (TEXT.replace(b"$Nodes", b"$Knots"), r"has no \$Nodes"),
        (TEXT.replace(b"$EndElements", b""), r"cut short: \$Elements does not end"),
        (TEXT.replace(b"3 1 0 5", b"3 1 0 999999999999"), "cut short.*declares more"),
        (TEXT.replace(b"3 1 0 5", b"3 1 7 5"), "line 6: .*broken block"),
        (TEXT.replace(b"3 1 0 5", b"3 1 0 -5"), "line 6: .*whole number"),
        (TEXT.replace(b"3 1 4 2", b"3 1 999 2"), "unknown type 999"),
        (TEXT.replace(b"3 1 4 2", b"3 1 3 2"), "holds no tetrahedra"),
        (TEXT.replace(b"1 1 2 3 4\n", b"1 1 2 3 40\n"), "tets 0: tetrahedra name nodes.*40.*allowed: 1 to 5"),
        (TEXT.replace(b"1 1 2 3 4\n", b"1 1 2 3 x\n"), "line 21: is not a number .*'x'"),
        (TEXT.replace(b"1 1 2 3 4\n", b"1 1 2 3 nan\n"), "tets 0: node numbers must be whole"),
        (TEXT.replace(b"\n4\n5\n", b"\n4\n4\n"), "nodes have the same number"),
        (msh22().replace(b"$Nodes\n6", b"$Nodes\n1000000000"), "cut short"),
        (msh22().replace(b"$Elements\n4", b"$Elements\n1000000000"), "cut short.*1000000000 elements"),
        (msh22().replace(b"2 4 2 7 7", b"2 4 3 7 7"), "an element needs its tags and 4 nodes"),
        (msh22().replace(b"1 2 2 7 7 10 4 77", b"1 2"), "an element needs a number, a type"),
        (msh22("<").replace(b"$Nodes\n6", b"$Nodes\nx"), "must begin with a number"),
        (msh22("<").replace(b"$Nodes\n6\n", b"$Nodes\n600000000000\n"), "cut short"),
        (msh22("<").replace(struct.pack("<3i", 4, 1, 2), struct.pack("<3i", 4, -1, 2)), "broken block"),
    ],
)  # fmt: skip
def test_gmsh_refusals(tmp_path: Path, data: bytes, story: str) -> None:
    path = tmp_path / "bad.msh"
    path.write_bytes(data)
    with pytest.raises(InputError, match=story):
        read_msh(path)


NODE, ELE = format_tetgen(PAIR)


def write_pair(folder: Path, node: bytes | None, ele: bytes | None) -> Path:
    for name, content in (("pair.node", node), ("pair.ele", ele)):
        if content is not None:
            (folder / name).write_bytes(content)
    return folder / ("pair.node" if node is not None else "pair.ele")


@pytest.mark.parametrize(
    ("node", "ele", "story"),
    [
        (NODE, None, "partner is missing.*no pair.ele"),
        (b"", ELE, "is empty"),
        (NODE, b"# nothing\n", "is empty"),
        (NODE.replace(b"5 3 0 0", b"5 2 0 0"), ELE, "dimension must be 3"),
        (NODE.replace(b"5 3 0 0", b"1000000000 3 0 0"), ELE, "cut short: it declares 1000000000 nodes"),
        (NODE.replace(b"5 3 0 0", b"nan 3 0 0"), ELE, "line 1: the number of nodes must be"),
        (NODE, ELE.replace(b"2 4 0", b"2 6 0"), "4 or 10 nodes"),
        (NODE, ELE.replace(b"1 1 2 3 4", b"1 1 2 3"), "line 3: a row of tetrahedra needs 5 numbers"),
        (NODE, ELE.replace(b"1 1 2 3 4", b"1 1 2 3 5"), "tets 1: tetrahedra name nodes.*allowed: 0 to 4"),
        (NODE, ELE.replace(b"1 1 2 3 4", b"1 1 2 3 4.5"), "tets 1: node numbers must be whole"),
        (NODE, ELE.replace(b"1 1 2 3 4", b"1 1 2 3 four"), "pair.ele, line 3: is not a number .*'four'"),
    ],
)  # fmt: skip
def test_tetgen_refusals(tmp_path: Path, node: bytes | None, ele: bytes | None, story: str) -> None:
    with pytest.raises(InputError, match=story):
        read_tetgen(write_pair(tmp_path, node, ele))
    with pytest.raises(InputError, match="is no TetGen file"):
        read_tetgen(tmp_path / "pair.poly")
    with pytest.raises(InputError, match="no such file"):
        read_tetgen(tmp_path / "other.node")


def test_tetgen_files_of_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Numbered from 1, with comments, attributes, markers and middle nodes."""
    node = "# points\n6 3 1 1\n" + "".join(f"{k} {x} {y} {z} 0.5 1\n" for k, (x, y, z) in enumerate(REST.tolist(), 1))
    ele = "2 10 1 # head\n\n1 1 2 3 4 6 6 6 6 6 6 7\n2 2 3 4 5 6 6 6 6 6 6 7\n# Generated by tetgen\n"
    path = write_pair(tmp_path, (node + "6 9 9 9 0 0\n").encode(), ele.encode())
    assert same(read_tetgen(path), PAIR)
    assert "middle nodes" in caplog.text and "1 node belongs to no tetrahedron" in caplog.text


def fuzz_cases() -> dict[str, tuple[str, bytes, Callable[[Path], object]]]:
    return {
        "4.1 text": ("pair.msh", TEXT, read_msh), "4.1 binary": ("pair.msh", msh41(), read_msh),
        "2.2 text": ("pair.msh", msh22(), read_msh), "2.2 binary": ("pair.msh", msh22("<"), read_msh),
        "ele": ("pair.ele", ELE, read_tetgen), "node": ("pair.node", NODE, read_tetgen),
    }  # fmt: skip


@pytest.mark.parametrize("name", fuzz_cases())
def test_mutants(tmp_path: Path, name: str) -> None:
    file, content, read = fuzz_cases()[name]
    write_pair(tmp_path, NODE, ELE)
    assert survive(read, tmp_path / file, content, 150) > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", fuzz_cases())
def test_many_mutants(tmp_path: Path, name: str) -> None:
    file, content, read = fuzz_cases()[name]
    write_pair(tmp_path, NODE, ELE)
    survive(read, tmp_path / file, content, 4000, seed=11)


@pytest.mark.slow
def test_mutants_of_a_real_solid(data: Path, tmp_path: Path) -> None:
    survive(read_msh, tmp_path / "bar.msh", (data / "tets/bar_2523.msh").read_bytes(), 500)
