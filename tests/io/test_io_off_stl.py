"""OFF and STL: round trips, what other programs write, real files, refusals, mutations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hostile import survive
from hypothesis import given
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset, Surface
from bunraku.io.off import format_off, read_off
from bunraku.io.stl import format_stl, read_stl

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


def random_surface(seed: int) -> Surface:
    random = np.random.default_rng(seed)
    n, p = int(random.integers(1, 15)), int(random.integers(0, 10))
    counts = random.integers(0, 6, p)
    points = random.normal(size=(n, 3)) * 10.0 ** random.integers(-200, 200)
    points[random.random((n, 3)) < 0.05] = np.nan
    colours = random.random((n, 4)) if random.random() < 0.5 else random.integers(0, 256, (n, 4)).astype(np.uint8)
    possible = [
        Attribute(NORMALS, Scope.POINT, random.normal(size=(n, 3))),
        Attribute(COLOUR, Scope.POINT, colours),
        Attribute(UV, Scope.POINT, random.random((n, 2)) / 1e6),
    ]
    corners = random.integers(0, n, int(counts.sum()))
    return Surface(points, counts, corners, tuple(one for one in possible if random.random() < 0.5))


@given(st.integers(0, 10**9))
def test_off_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    surface = random_surface(seed)
    path = tmp_path_factory.getbasetemp() / "surface.off"
    path.write_bytes(format_off(surface))
    found = read_off(path)
    assert surface.same_topology(found) and np.array_equal(surface.points, found.points, equal_nan=True)
    assert [one.name for one in surface.attributes] == [one.name for one in found.attributes]
    for ours, theirs in zip(surface.attributes, found.attributes, strict=True):
        assert np.array_equal(ours.values, theirs.values) and ours.values.dtype == theirs.values.dtype


@pytest.mark.parametrize(
    "text",
    [
        "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n",
        "OFF 4 2 0\n\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n\n3 0 1 2\n3 0 2 3",
        "OFF4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3",
        "# by hand\nOFF # three\n# counts\n4 2\n0 0 0 # a\n1 0 0\n1 1 0 0 1 0\n3 0 1 2 255 0 0\n3 0 2 3 # red\n",
        "OFF\r\n4 2 5\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n3 0 1 2\r\n3 0 2 3\r\n",
        "OFF\r4 2 5\r0 0 0\r1 0 0\r1 1 0\r0 1 0\r3 0 1 2\r3 0 2 3\r",
        "OFF\n4 2 0\n0 0 0 9 9 9\n1 0 0 9 9 9\n1 1 0 9 9 9\n0 1 0 9 9 9\n3 0 1 2\n3 0 2 3 7\n",
        "COFF\n4 2 0\n0 0 0 9 9 9\n1 0 0 9 9 9\n1 1 0 9 9 9\n0 1 0 9 9 9\n3 0 1 2\n3 0 2 3\n",
        "STCNOFF\n4 2 0\n0 0 0 0 0 1 9 9 9 9 .1 .2\n1 0 0 0 0 1 9 9 9 9 .1 .2\n1 1 0 0 0 1 9 9 9 9 .1 .2\n"
        "0 1 0 0 0 1 9 9 9 9 .1 .2\n3 0 1 2\n3 0 2 3\n",
    ],
)
def test_off_files_of_others(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "square.off"
    path.write_bytes(text.encode())
    found = read_off(path)
    assert np.array_equal(found.points, SQUARE) and found.corners.tolist() == [0, 1, 2, 0, 2, 3]
    colours, uv = found.attribute(COLOUR), found.attribute(UV)
    assert (colours is not None) == ("COFF" in text or "CNOFF" in text) and (uv is not None) == ("ST" in text)
    assert colours is None or (colours.values.dtype == np.uint8 and (colours.values == 9).all())
    assert uv is None or uv.values.tolist() == [[0.1, 0.2]] * 4
    assert ("colours of polygons are passed over" in caplog.text) == (" 255" in text or " 3 7" in text)


def test_off_notes_what_it_cannot_hold(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Clockwise polygons are turned, colours get an alpha, the rest is named."""
    own = Attribute("own", Scope.POINT, np.zeros(4))
    colour = Attribute(COLOUR, Scope.POINT, np.zeros((4, 3), np.uint8))
    subset = Subset("sleeve", np.array([0]))
    given = Surface(SQUARE, np.array([4]), np.arange(4), (own, colour), (subset,), left_handed=True)
    path = tmp_path / "square.off"
    path.write_bytes(format_off(given))
    found = read_off(path)
    assert found.corners.tolist() == [0, 3, 2, 1]
    assert [one.values.tolist() for one in found.attributes] == [[[0, 0, 0, 255]] * 4]
    assert "left out: own, sleeve" in caplog.text


@given(st.integers(0, 10**9))
def test_stl_comes_back_in_single_precision(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Triangles as a soup, corner by corner."""
    random = np.random.default_rng(seed)
    n, f = int(random.integers(3, 12)), int(random.integers(0, 10))
    points = random.normal(size=(n, 3)) * 10.0 ** random.integers(-30, 30)
    given = Surface(points, np.full(f, 3), random.integers(0, n, 3 * f))
    path = tmp_path_factory.getbasetemp() / "soup.stl"
    path.write_bytes(format_stl(given))
    found = read_stl(path)
    assert np.array_equal(found.points, points[given.corners].astype(np.float32).astype(np.float64))
    assert found.corners.tolist() == list(range(3 * f)) and (found.counts == 3).all()


ASCII = b"""solid left Sleeve
  facet normal 0 0 1
    outer loop
      vertex 0 0 0
      vertex 1e0 0 0
      vertex 1 1 0
    endloop
  endfacet
endsolid left Sleeve
SOLID
  FACET NORMAL 0 0 1
    OUTER LOOP
      VERTEX 0 0 0
      VERTEX 1 1 0
      VERTEX 0 1 0
    ENDLOOP
  ENDFACET
ENDSOLID
"""
SOUP = SQUARE[[0, 1, 2, 0, 2, 3]]
BINARY = format_stl(Surface(SQUARE, np.array([4]), np.arange(4)))


def test_stl_text_keeps_its_solids(tmp_path: Path) -> None:
    path = tmp_path / "square.stl"
    path.write_bytes(ASCII)
    found = read_stl(path)
    assert np.array_equal(found.points, SOUP)
    assert [(one.name, one.family, one.polygons.tolist()) for one in found.subsets] == [
        ("left Sleeve", "object", [0]), ("solid", "object", [1]),
    ]  # fmt: skip


@pytest.mark.parametrize("head", [b"solid but binary", b"anything", bytes(80)])
def test_binary_stl_is_known_by_its_size(tmp_path: Path, head: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Polygons were triangulated; colours in the last two bytes and bytes behind the end are noted."""
    path = tmp_path / "square.stl"
    path.write_bytes(head.ljust(80) + BINARY[80:])
    assert np.array_equal(read_stl(path).points, SOUP)
    assert caplog.text == ""
    path.write_bytes(head.ljust(80) + BINARY[80:-1] + b"\x80tail")
    assert np.array_equal(read_stl(path).points, SOUP)
    assert "colours" in caplog.text and "4 bytes after the last triangle" in caplog.text


def test_stl_normals_and_losses(caplog: pytest.LogCaptureFixture) -> None:
    given = Surface(SQUARE, np.array([4]), np.arange(4), (Attribute(UV, Scope.POINT, SQUARE[:, :2]),), left_handed=True)
    normals = np.frombuffer(format_stl(given), "<f4", 3, 84)
    assert normals.tolist() == [0, 0, -1]
    assert "left out: uv" in caplog.text
    wild = Surface(np.array([[np.nan, 0, 0], [np.inf, 0, 0], [0, 1, 0]]), np.array([3]), np.arange(3))
    assert np.frombuffer(format_stl(wild), "<f4", 3, 84).tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="too large for STL's single precision"):
        format_stl(given.with_points(SQUARE * 1e39))


@pytest.mark.parametrize(
    ("name", "points", "polygons"),
    [
        ("elephant_with_holes.off", 2798, 4463),
        ("degenerate_scan.off", 7068, 13477),
        ("cracked_cad.stl", 10428, 3476),
    ],
)
def test_real_files(data: Path, name: str, points: int, polygons: int) -> None:
    path = data / "broken" / name
    read = read_off if path.suffix == ".off" else read_stl
    assert read(path).shape_in_words() == f"{points} points, {polygons} polygons"


OFF = b"COFF\n4 2 0\n0 0 0 9 9 9 9\n1 0 0 9 9 9 9\n1 1 0 9 9 9 9\n0 1 0 9 9 9 9\n3 0 1 2\n3 0 2 3 1 0 0\n"


@pytest.mark.parametrize(
    ("data", "story"),
    [
        (b"hello", "is not an OFF file"),
        (b"OFF BINARY\n\0\0", "binary OFF cannot be read"),
        (b"4OFF\n1 0 0\n0 0 0 0\n", "other than three dimensions.*4OFF"),
        (b"nOFF\n4\n1 0 0\n", "other than three dimensions"),
        (b"OFF", "line 1: OFF must begin with how many points"),
        (b"OFF\n4\n", "line 2: OFF must begin with how many points"),
        (b"OFF\n-4 2 0\n", "line 2: OFF must begin"),
        (b"OFF\nfour 2 0\n", "line 2: is not a number .*'four'"),
        (OFF.replace(b"4 2 0", b"1000000000 2 0"), "cut short: it declares 1000000000 points"),
        (OFF.replace(b"4 2 0", b"4 1000000000 0"), "cut short: it declares 1000000000 polygons"),
        (OFF[:-16], "cut short: it declares 2 polygons"),
        (OFF.replace(b" 9 9 9 9", b" 9 9"), "the first polygon must begin a line|cut short"),
        (OFF.replace(b" 9 9 9 9", b" 9 9 9 9 9"), "colours of points must be 3 or 4 numbers .*5"),
        (OFF.replace(b"3 0 1 2", b"4 0 1 2"), "line 7: a polygon needs as many corners as it says"),
        (OFF.replace(b"3 0 1 2", b"nan 0 1 2"), "line 7: a polygon needs as many"),
        (OFF.replace(b"3 0 1 2", b"3 0 1 4"), "line 7: a polygon names a point that is not there .*'4'.*0 to 3"),
        (OFF.replace(b"3 0 1 2", b"3 0 1 -1"), "line 7: a polygon names"),
        (OFF.replace(b"3 0 1 2", b"3 0 1 0.5"), "line 7: a polygon names"),
        (OFF.replace(b"3 0 1 2", b"3 0 1 x"), "line 7: is not a number"),
    ],
)  # fmt: skip
def test_off_refusals(tmp_path: Path, data: bytes, story: str) -> None:
    path = tmp_path / "bad.off"
    path.write_bytes(data)
    with pytest.raises(InputError, match=story):
        read_off(path)


@pytest.mark.parametrize(
    ("data", "story"),
    [
        (b"hello", "cut short: it declares 0 triangles .*'5 bytes'"),
        (BINARY[:-1], "cut short: it declares 2 triangles"),
        (bytes(80) + b"\xff\xff\xff\xff" + bytes(120), "cut short: it declares 4294967295 triangles"),
        (ASCII[:-9], "cut short: it ends before 'endsolid'"),
        (ASCII[:200], "a vertex needs three coordinates|cut short"),
        (ASCII.replace(b"vertex 1e0 0 0\n", b"\n"), "line 7: 'vertex' is expected here .*'endloop'"),
        (ASCII.replace(b"vertex 1e0 0 0\n", b"vertex 1e0 0\n"), "line 5: a vertex needs three coordinates"),
        (ASCII.replace(b"vertex 1e0 0 0\n", b"vertex 1e0 0 zero\n"), "line 5: a vertex must be three numbers"),
    ],
)
def test_stl_refusals(tmp_path: Path, data: bytes, story: str) -> None:
    path = tmp_path / "bad.stl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=story):
        read_stl(path)


CASES = {"off": OFF, "text.stl": ASCII, "binary.stl": BINARY}


@pytest.mark.parametrize("name", CASES)
def test_mutants(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"mutant.{name}"
    assert survive(read_off if name == "off" else read_stl, path, CASES[name], 150) > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_mutants(tmp_path: Path, name: str) -> None:
    survive(read_off if name == "off" else read_stl, tmp_path / f"mutant.{name}", CASES[name], 5000, seed=23)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elephant_with_holes.off", "cracked_cad.stl"])
def test_mutants_of_real_files(data: Path, tmp_path: Path, name: str) -> None:
    survive(read_off if name.endswith("off") else read_stl, tmp_path / name, (data / "broken" / name).read_bytes(), 500)
