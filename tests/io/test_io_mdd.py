"""MDD caches: round trips in single precision, refusals, mutations."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hostile import survive
from hypothesis import given
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.geometry import TriMesh
from bunraku.io.mdd import read_mdd, write_mdd_body
from bunraku.io.sample import Layout, Sample
from bunraku.motion import Animation

METRES = Layout(24.0, np.zeros(3), "Y", 1.0)


def write(path: Path, frames: np.ndarray, points: np.ndarray, layout: Layout = METRES) -> None:
    mesh = TriMesh(points[0], np.zeros((0, 3), int))
    samples = (Sample(float(frame), x) for frame, x in zip(frames, points, strict=True))
    write_mdd_body(path, mesh, samples, layout, str(path))


@given(st.integers(1, 6), st.integers(1, 7), st.integers(-30, 30), st.integers(0, 10**6))
def test_points_come_back_in_single_precision(
    tmp_path_factory: pytest.TempPathFactory, samples: int, count: int, scale: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    frames = np.cumsum(random.integers(1, 4, samples)) / 2 + 1001
    points = random.normal(size=(samples, count, 3)) * 10.0**scale
    path = tmp_path_factory.getbasetemp() / "cache.mdd"
    write(path, frames, points)
    times, found = read_mdd(path)
    assert np.array_equal(found, points.astype(np.float32).astype(np.float64))
    assert np.array_equal(times, (frames / 24.0).astype(np.float32).astype(np.float64))
    assert np.array_equal(np.round(times * 24, 1), frames)


def test_the_bytes_are_lightwaves(tmp_path: Path, wave: Animation) -> None:
    """Big-endian, times in seconds before all points; centimetres and Z-up as asked."""
    path = tmp_path / "wave.mdd"
    write(path, wave.times * 24, wave.points, Layout(24.0, np.zeros(3), "Z", 0.01))
    data = path.read_bytes()
    assert struct.unpack_from(">ii2f", data)[:2] == (8, 4)
    assert struct.unpack_from(">ii2f", data)[2:] == pytest.approx((1001 / 24, 1002 / 24))
    x, y, z = wave.points[0, 2] * 100
    assert struct.unpack_from(">3f", data, 8 + 4 * 8 + 12 * 2) == pytest.approx((x, -z, y))
    assert len(data) == 8 + 8 * (4 + 12 * 4)
    assert [file.name for file in tmp_path.iterdir()] == ["wave.mdd"]


def test_times_too_close_for_the_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot tell the times"):
        write(tmp_path / "late.mdd", np.array([1e9, 1e9 + 1]), np.zeros((2, 1, 3)))


def test_a_long_cache_comes_back(tmp_path: Path) -> None:
    path, points = tmp_path / "cache.mdd", np.random.default_rng(0).random((20, 5000, 3))
    write(path, np.arange(20), points)
    times, found = read_mdd(path)
    assert len(times) == 20 and np.array_equal(found, points.astype(np.float32))


GOOD = struct.pack(">ii2f", 2, 3, 0.0, 0.5) + np.arange(18).astype(">f4").tobytes()


@pytest.mark.parametrize(
    ("data", "story"),
    [
        (b"\0\0", "cut short: it has no header"),
        (GOOD[:-1], r"cut short: it declares 2 samples of 3 points \(got '87 bytes'\); allowed: 88 bytes"),
        (struct.pack(">ii", 1, 10**9) + bytes(200), "cut short: it declares 1 samples of 1000000000 points"),
        (struct.pack(">ii", 2**31 - 1, 2**31 - 1) + bytes(200), "cut short"),
        (struct.pack(">ii", 0, 3), "broken header .*0 samples of 3 points"),
        (struct.pack(">ii", 2, -3) + bytes(80), "broken header"),
        (GOOD.replace(struct.pack(">f", 0.5), struct.pack(">f", 0.0)), "sample 0: times must increase|sample 1"),
        (struct.pack(">iif3f", 1, 1, np.nan, 0, 0, 0), "sample 0: times must increase .*nan"),
    ],
)
def test_refusals(tmp_path: Path, data: bytes, story: str) -> None:
    path = tmp_path / "bad.mdd"
    path.write_bytes(data)
    with pytest.raises(InputError, match=story):
        read_mdd(path)


def test_mutants(tmp_path: Path) -> None:
    assert survive(read_mdd, tmp_path / "mutant.mdd", GOOD, 150) > 30


@pytest.mark.slow
def test_many_mutants(tmp_path: Path) -> None:
    survive(read_mdd, tmp_path / "mutant.mdd", GOOD, 5000, seed=5)
