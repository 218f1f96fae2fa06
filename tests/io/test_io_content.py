"""Results kept by content: exact, whole or made again, bounded, and never the end of a job."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.geometry import TriMesh
from bunraku.io import ContentCache
from bunraku.io.content import user_cache_folder

OCTAHEDRON = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
SIDES = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
BALL = TriMesh(OCTAHEDRON, SIDES)
ARRAYS = {"rest": np.arange(6.0).reshape(2, 3) / 7.0, "tets": np.arange(4)[None]}


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path / "new" / "folder")
    assert cache.load("a") is None and not (tmp_path / "new").exists()
    cache.store("a", ARRAYS)
    found = ContentCache(tmp_path / "new" / "folder").load("a")
    assert found is not None and found["rest"].tobytes() == ARRAYS["rest"].tobytes()
    assert np.array_equal(found["tets"], ARRAYS["tets"]) and cache.load("b") is None


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-5], lambda data: data[:40] + b"x" + data[41:], lambda data: b""]
)
def test_a_damaged_result_is_as_none(
    tmp_path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    cache = ContentCache(tmp_path)
    cache.store("a", ARRAYS)
    cache.path("a").write_bytes(damage(cache.path("a").read_bytes()))
    assert cache.load("a") is None and "it is made again" in caplog.text
    cache.store("a", ARRAYS)
    assert cache.load("a") is not None


def test_what_cannot_be_kept_is_not(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "cache").write_text("in the way")
    cache = ContentCache(tmp_path / "cache")
    cache.store("a", ARRAYS)
    assert cache.load("a") is None and "not kept in the cache" in caplog.text
    assert (tmp_path / "cache").read_text() == "in the way"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_folder_that_may_not_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    ContentCache(tmp_path).store("a", ARRAYS)
    assert "not kept in the cache" in caplog.text


def test_the_least_lately_used_go(tmp_path: Path) -> None:
    """Room for three: the one that was read again stays."""
    one = ContentCache(tmp_path)
    one.store("a", ARRAYS)
    cache = ContentCache(tmp_path, room=3 * one.path("a").stat().st_size)
    now = one.path("a").stat().st_mtime
    for age, key in ((300, "a"), (200, "b"), (100, "c")):
        cache.store(key, ARRAYS)
        os.utime(cache.path(key), (now - age, now - age))
    assert cache.load("a") is not None  # used now
    cache.store("d", ARRAYS)
    assert [cache.load(key) is not None for key in "abcd"] == [True, False, True, True]
    tiny = ContentCache(tmp_path, room=1)
    tiny.store("e", ARRAYS)
    assert [tiny.load(key) is not None for key in "acde"] == [False, False, False, True]


@pytest.mark.parametrize("key", ["../a", "", "a/b", ".a", "a" * 300])
def test_names_stay_in_the_folder(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match="no name for a cached result"):
        ContentCache(tmp_path).load(key)


def test_where_the_user_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path / "mine"))
    assert user_cache_folder() == tmp_path / "mine" == ContentCache().folder
    monkeypatch.delenv("BUNRAKU_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for system, there in (("linux", tmp_path / "bunraku"), ("darwin", Path.home() / "Library" / "Caches" / "bunraku")):
        monkeypatch.setattr("sys.platform", system)
        assert user_cache_folder() == there


def test_a_body_is_there_at_once_the_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The artist's verb: the user's cache, another folder, none; and a damaged entry."""
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path / "user"))
    caplog.set_level(logging.INFO)
    mesh = BALL
    asked: dict[str, Any] = {"edge": 0.5 * BALL.size, "envelope": 0.2 * BALL.size}  # wide: filled in no time
    first = bk.tetrahedralise(mesh, **asked)
    again = bk.tetrahedralised(mesh, **asked)
    assert again.from_cache and again.body.rest.tobytes() == first.rest.tobytes() and "(from the cache)" in caplog.text
    (kept,) = (tmp_path / "user").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert not bk.tetrahedralised(mesh, **asked).from_cache
    assert not bk.tetrahedralised(mesh, **asked, cache=False).from_cache
    assert not bk.tetrahedralised(mesh, **asked, cache=tmp_path / "other").from_cache
    assert bk.tetrahedralised(mesh, **asked, cache=str(tmp_path / "other")).from_cache
    with pytest.raises(InputError, match="cache: the name of the folder is empty"):
        bk.tetrahedralise(mesh, cache="")
