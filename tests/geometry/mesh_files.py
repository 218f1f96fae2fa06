"""Third-party meshes read as plainly as can be, so that these tests lean on no reader of ours."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bunraku.geometry import Surface

DATA = Path(os.environ.get("BUNRAKU_TEST_DATA") or Path(__file__).resolve().parents[2] / "../shared/data").resolve()
"""third-party files, which are not part of the project: BUNRAKU_TEST_DATA, else ../shared/data beside the checkout"""


def surface_of(name: str) -> Surface:
    """The surface of a file of the test data; skips the test where the data is not there."""
    if not DATA.is_dir():
        pytest.skip(f"third-party test data is not there: {DATA}; BUNRAKU_TEST_DATA says where it is")
    path = DATA / name
    return {".obj": _obj, ".off": _off, ".stl": _stl}[path.suffix](path)


def _obj(path: Path) -> Surface:
    lines = [line.split() for line in path.read_text(errors="replace").splitlines()]
    points = np.array([[float(w) for w in words[1:4]] for words in lines if words[:1] == ["v"]])
    polygons = [[int(w.split("/")[0]) for w in words[1:]] for words in lines if words[:1] == ["f"]]
    counts = np.array([len(polygon) for polygon in polygons])
    corners = np.array([k - 1 if k > 0 else k + len(points) for polygon in polygons for k in polygon])
    return Surface(points, counts, corners)


def _off(path: Path) -> Surface:
    words = path.read_text().split()
    n, f = int(words[1]), int(words[2])
    points = np.array(words[4 : 4 + 3 * n], dtype=np.float64).reshape(n, 3)
    faces = np.array(words[4 + 3 * n : 4 + 3 * n + 4 * f], dtype=np.int64).reshape(f, 4)
    assert (faces[:, 0] == 3).all()
    return Surface(points, faces[:, 0], faces[:, 1:].reshape(-1))


def _stl(path: Path) -> Surface:
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    facets = np.frombuffer(path.read_bytes(), record, offset=84)
    points = facets["corners"].reshape(-1, 3).astype(np.float64)
    return Surface(points, np.full(len(facets), 3), np.arange(len(points)))
