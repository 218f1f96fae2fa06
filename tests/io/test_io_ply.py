"""PLY: round trips, the same file in its three formats, what other programs write, refusals, mutations."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hostile import survive
from hypothesis import given
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset, Surface
from bunraku.io.ply import format_ply, read_ply

KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")


def random_surface(seed: int) -> Surface:
    """Polygons of none to seven corners with every attribute PLY can hold; NaN and infinity among the points."""
    random = np.random.default_rng(seed)
    n, p = int(random.integers(1, 20)), int(random.integers(0, 12))
    counts = random.integers(0, 8, p) if random.random() < 0.7 else np.full(p, random.integers(1, 6))
    points = random.normal(size=(n, 3)) * 10.0 ** random.integers(-200, 200)
    points[random.random((n, 3)) < 0.05] = np.nan
    points[random.random((n, 3)) < 0.05] = np.inf
    corners = random.integers(0, n, int(counts.sum()))

    def numbers(rows: int, shape: tuple[int, ...] = (), kind: str = "") -> np.ndarray:
        return (random.random((rows, *shape)) * 100).astype(kind or str(random.choice(KINDS)))

    possible = [
        Attribute(NORMALS, Scope.POINT, numbers(n, (3,), "f4")),
        Attribute(COLOUR, Scope.POINT, numbers(n, (int(random.integers(3, 5)),), "u1")),
        Attribute(UV, Scope.POINT, numbers(n, (2,))),
        Attribute(UV, Scope.CORNER, numbers(len(corners), (2,), "f8")),
        Attribute(COLOUR, Scope.POLYGON, numbers(p, (3,), "f4")),
        Attribute("quality", Scope.POINT, numbers(n)),
        Attribute("smear", Scope.POINT, numbers(n, (5,))),
        Attribute("patch", Scope.POLYGON, numbers(p)),
        Attribute("stress", Scope.POLYGON, numbers(p, (6,), "f8")),
    ]
    return Surface(points, counts, corners, tuple(one for one in possible if random.random() < 0.4))


def written(path: Path, surface: Surface) -> Surface:
    path.write_bytes(format_ply(surface))
    return read_ply(path)


def alike(a: Surface, b: Surface) -> bool:
    """Everything equal but the order of attributes; those of no element may be missing."""
    ours, theirs = ({(one.name, one.scope): one.flat() for one in side.attributes} for side in (a, b))
    ours = {key: values for key, values in ours.items() if len(values) or key in theirs}
    return (
        a.same_topology(b)
        and np.array_equal(a.points, b.points, equal_nan=True)
        and ours.keys() == theirs.keys()
        and all(values.dtype == theirs[key].dtype for key, values in ours.items())
        and all(np.array_equal(values, theirs[key]) for key, values in ours.items())
    )


@given(st.integers(0, 10**9))
def test_a_surface_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    surface = random_surface(seed)
    assert alike(surface, written(tmp_path_factory.getbasetemp() / "surface.ply", surface))


def test_the_bytes_of_a_triangle() -> None:
    colour = Attribute(COLOUR, Scope.POINT, np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.uint8))
    given = Surface(np.arange(9.0).reshape(3, 3), np.array([3]), np.array([2, 0, 1]), (colour,))
    head = (
        "ply\nformat binary_little_endian 1.0\ncomment bunraku\nelement vertex 3\nproperty double x\n"
        "property double y\nproperty double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        "element face 1\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    body = struct.pack("<" + 3 * "3d3B", 0, 1, 2, 1, 2, 3, 3, 4, 5, 4, 5, 6, 6, 7, 8, 7, 8, 9)
    assert format_ply(given) == head.encode() + body + struct.pack("<B3i", 3, 2, 0, 1)


HEAD = """ply
format {} 1.0
comment by hand
element camera 1
property float focus
property list uchar short marks
element vertex 5
property double x
property double y
property double z
property float nx
property float ny
property float nz
property uchar red
property uchar green
property uchar blue
property float u
property float v
property short label
element face 3
property uchar patch
property list {} uint vertex_index
property list int float texcoord
element edge 2
property int a
property int b
end_header
"""
POINTS = np.arange(15.0).reshape(5, 3) / 7
FACES = [[0, 1, 2], [3, 2, 1, 0], [4, 3, 2, 1, 0]]


def other_program(order: str, counts: str = "B") -> bytes:
    """A file with several elements and lists of several lengths; order '<', '>' or '' for text."""
    out: list[bytes] = []

    def put(kinds: str, *values: float) -> None:
        if order:
            out.append(struct.pack(order + kinds, *values))
        else:
            out.append((" ".join(repr(value) for value in values) + " ").encode())

    put("fB2h", 1.5, 2, 7, 8)
    for k, point in enumerate(POINTS.tolist()):
        put("3d", *point)
        put("3f", 0.0, 0.5, 1.0)
        put("3B2fh", k, k + 1, 255, k / 4, 0.25, -k)
        out.append(b"" if order else b"\n")
    for k, face in enumerate(FACES):
        put("B", k + 7)
        put(f"{counts}{len(face)}I", len(face), *face)
        put(f"i{2 * len(face)}f", 2 * len(face), *(c / 8 for c in face for _ in (0, 1)))
        out.append(b"" if order else b"\n")
    put("4i", 0, 1, 1, 2)
    name = {"<": "binary_little_endian", ">": "binary_big_endian", "": "ascii"}[order]
    word = {"B": "uchar", "i": "int", "H": "ushort", "b": "int8"}[counts]
    return HEAD.format(name, word).encode() + b"".join(out)


@pytest.mark.parametrize("order", ["<", ">", ""])
@pytest.mark.parametrize("counts", ["B", "i", "H", "b"])
def test_every_format_says_the_same(tmp_path: Path, order: str, counts: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "other.ply"
    path.write_bytes(other_program(order, counts))
    found = read_ply(path)
    assert np.array_equal(found.points, POINTS)
    assert found.counts.tolist() == [3, 4, 5] and found.corners.tolist() == [c for face in FACES for c in face]
    values = {(one.name, one.scope): one.values for one in found.attributes}
    assert values[NORMALS, Scope.POINT].tolist() == [[0.0, 0.5, 1.0]] * 5
    colour = values[COLOUR, Scope.POINT]
    assert colour.dtype == np.uint8 and colour[3].tolist() == [3, 4, 255]
    assert values[UV, Scope.POINT][2].tolist() == [0.5, 0.25]
    assert values["label", Scope.POINT].dtype == np.int16 and values["label", Scope.POINT].tolist() == [
        0,
        -1,
        -2,
        -3,
        -4,
    ]
    assert values["patch", Scope.POLYGON].tolist() == [7, 8, 9]
    assert values[UV, Scope.CORNER].tolist() == [[c / 8, c / 8] for face in FACES for c in face]
    assert len(values) == 6 and "passed over: camera, edge" in caplog.text


def test_strips_become_triangles(tmp_path: Path) -> None:
    """Every second triangle is turned around, −1 and a new row begin anew, joints of no area are dropped."""
    head = "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element tristrips 2\nproperty list int int vertex_indices\nend_header\n"
    path = tmp_path / "strip.ply"
    path.write_text(head + "0 0 0\n" * 6 + "9 0 1 2 3 -1 3 4 5 5\n3 2 1 0\n")
    found = read_ply(path)
    assert found.corners.reshape(-1, 3).tolist() == [[0, 1, 2], [2, 1, 3], [3, 4, 5], [2, 1, 0]]


def test_points_alone_are_a_surface(tmp_path: Path) -> None:
    path = tmp_path / "cloud.ply"
    path.write_text(
        "ply\r\nformat ascii 1.0\r\nelement vertex 2\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\n"
        "end_header\r\n0.1 nan 1e-7\r\n1 2 3\r\n"
    )
    found = read_ply(path)
    assert found.shape_in_words() == "2 points, 0 polygons"
    assert found.points[0, 0] == 0.1 and np.isnan(found.points[0, 1])


def test_clockwise_polygons_are_turned(tmp_path: Path) -> None:
    uv = Attribute(UV, Scope.CORNER, np.arange(14.0).reshape(7, 2))
    given = Surface(np.zeros((4, 3)), np.array([3, 4]), np.array([0, 1, 2, 0, 1, 2, 3]), (uv,), left_handed=True)
    found = written(tmp_path / "turned.ply", given)
    assert found.corners.tolist() == [0, 2, 1, 0, 3, 2, 1] and not found.left_handed
    texture = found.attribute(UV)
    assert texture is not None and texture.values[:, 0].tolist() == [0, 4, 2, 6, 12, 10, 8]


def test_what_ply_cannot_hold_is_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    triangle = (np.zeros((3, 3)), np.array([3]), np.arange(3))
    given = Surface(
        *triangle,
        (
            Attribute("two words", Scope.POINT, np.zeros(3)),
            Attribute("x", Scope.POINT, np.zeros(3)),
            Attribute(NORMALS, Scope.CORNER, np.zeros((3, 3))),
            Attribute("all", Scope.WHOLE, np.zeros(1)),
            Attribute("names", Scope.POINT, np.array(["a", "b", "c"])),
            Attribute("large", Scope.POINT, np.array([2**40, 0, 0])),
            Attribute("cube", Scope.POINT, np.zeros((3, 2, 2))),
            Attribute("kept", Scope.POINT, np.array([1, 2, 3])),
            Attribute("flag", Scope.POLYGON, np.array([True])),
            Attribute(UV, Scope.POINT, np.arange(6.0).reshape(3, 2), np.array([2, 1, 0])),
        ),
        (Subset("sleeve", np.array([0])),),
        libraries=("coat.mtl",),
    )
    found = written(tmp_path / "lossy.ply", given)
    assert {one.name for one in found.attributes} == {"kept", "flag", UV}
    texture = found.attribute(UV)
    assert texture is not None and texture.values.tolist() == [[4, 5], [2, 3], [0, 1]]
    assert "left out: sleeve, coat.mtl, two words, x, normals, all, names, large, cube" in caplog.text


def test_polygons_of_many_corners(tmp_path: Path) -> None:
    """Lists longer than a byte can count."""
    given = Surface(np.zeros((300, 3)), np.array([300, 3]), np.r_[np.arange(300), 0, 1, 2])
    assert alike(given, written(tmp_path / "disc.ply", given))


@pytest.mark.parametrize("mixed", [False, True])
def test_large_files(tmp_path: Path, mixed: bool) -> None:
    random = np.random.default_rng(0)
    counts = random.integers(3, 5, 60_000) if mixed else np.full(60_000, 3)
    given = Surface(random.random((30_000, 3)), counts, random.integers(0, 30_000, counts.sum()))
    path = tmp_path / "large.ply"
    assert alike(given, written(path, given))


TEXT = other_program("")
BINARY = other_program("<")


@pytest.mark.parametrize(
    ("data", "story"),
    [
        (b"plyx\n", "is not a PLY file"),
        (b"ply\nformat ascii 1.0\n", "no 'end_header'"),
        (TEXT.replace(b"format ascii 1.0\n", b""), "no format"),
        (TEXT.replace(b"ascii", b"utf8"), "line 2: a line of the header makes no sense .*'format utf8 1.0'"),
        (TEXT.replace(b"element vertex 5", b"element vertex -5"), "line 7"),
        (TEXT.replace(b"element edge", b"element face"), "line 24"),
        (TEXT.replace(b"property int b", b"property int a"), "line 26: the property 'a' is declared twice"),
        (TEXT.replace(b"list int float", b"list float float"), "line 23"),
        (TEXT.replace(b"double z", b"double w"), "no element 'vertex' with x, y and z"),
        (TEXT.replace(b"element vertex 5", b"element vertex 1000000000"), "cut short: it declares 1000000000 of .*'v"),
        (BINARY.replace(b"element vertex 5", b"element vertex 1000000000"), "cut short: it declares 1000000000"),
        (BINARY.replace(b"element face 3", b"element face 99999999999"), "cut short: it declares 99999999999"),
        (TEXT[:-30], "cut short: it declares 3 of the element 'face'"),
        (BINARY[:-30], "cut short: it declares 3 of the element 'face'"),
        (TEXT.replace(b"7 3 0 1 2", b"7 3 0 1 5"), r"face 0: names a point .*5.*allowed: 0 to 4"),
        (TEXT.replace(b"7 3 0 1 2", b"7 3 0 1 -1"), "line 33: 'vertex_index' cannot hold this .*'-1'"),
        (TEXT.replace(b"7 3 0 1 2", b"7 3 0 1 nan"), "line 33: 'vertex_index' cannot hold this .*'nan'"),
        (TEXT.replace(b"7 3 0 1 2", b"300 3 0 1 2"), "line 33: 'patch' cannot hold this .*'300'"),
        (TEXT.replace(b"7 3 0 1 2", b"7 nan 0 1 2"), "line 33: the length of a list"),
        (TEXT.replace(b"7 3 0 1 2", b"7 3 0 1 two"), "line 33: is not a number .*'two'"),
        (BINARY.replace(struct.pack("<B3I", 3, 0, 1, 2), struct.pack("<B3I", 3, 0, 1, 9)), "face 0: names a point.*9"),
        (BINARY.replace(struct.pack("<i", 6), struct.pack("<i", -6)), "face 0: a list cannot have a negative length"),
        (BINARY.replace(struct.pack("<i", 8), struct.pack("<i", -8)), "face 1: a list cannot have a negative length"),
        (BINARY.replace(struct.pack("<i", 8), struct.pack("<i", 2**31 - 1)), "cut short"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, data: bytes, story: str) -> None:
    path = tmp_path / "bad.ply"
    path.write_bytes(data)
    with pytest.raises(InputError, match=story):
        read_ply(path)


def test_a_strip_to_nowhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "strip.ply"
    head = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
    path.write_text(head + "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0 2 0 1\n")
    with pytest.raises(InputError, match="a strip names a point that is not there"):
        read_ply(path)


@pytest.mark.parametrize("order", ["<", ">", ""])
def test_mutants(tmp_path: Path, order: str) -> None:
    assert survive(read_ply, tmp_path / "mutant.ply", other_program(order), 150) > 30


@pytest.mark.slow
@pytest.mark.parametrize("order", ["<", ">", ""])
def test_many_mutants(tmp_path: Path, order: str) -> None:
    survive(read_ply, tmp_path / "mutant.ply", other_program(order), 5000, seed=17)
