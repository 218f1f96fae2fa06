"""Finished frames survive anything, bit for bit; files appear whole or not at all."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bunraku.contracts import InputError, OutputError
from bunraku.io import (
    FrameCache,
    atomic_files,
    atomic_write,
    content_hash,
    remove_leftovers,
    same_file,
    write_json,
    write_text,
)  # fmt: skip

ARRAYS = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.one_of(
        hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
        hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, min_side=0, max_side=4)),
        hnp.arrays(np.bool_, hnp.array_shapes(max_dims=1, max_side=4)),
    ),
    max_size=4,
)
META = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.none()))


@settings(max_examples=40, deadline=None)
@given(arrays=ARRAYS, meta=META, index=st.integers(-9, 10**7))
def test_frames_come_back_bit_for_bit(
    arrays: dict, meta: dict, index: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = FrameCache(tmp_path_factory.getbasetemp() / "round")
    cache.store(index, arrays, meta)
    again, facts = cache.load(index)
    assert facts == meta and set(again) == set(arrays)
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype and again[name].shape == array.shape
        assert again[name].tobytes() == array.tobytes()  # NaN payloads and signed zeros too
    assert index in cache.indices()
    cache.discard_after(-10)
    assert cache.indices() == []


def filled(folder: Path, count: int = 4) -> FrameCache:
    cache = FrameCache(folder)
    for k in range(count):
        cache.store(k, {"x": np.full((5, 3), k / 3.0)}, {"frame": 1001 + k})
    return cache


def test_equal_frames_are_equal_bytes(tmp_path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    FrameCache(tmp_path / "a").store(7, {"x": x, "y": x}, {"b": 1, "a": 2.5})
    time.sleep(0.01)
    FrameCache(tmp_path / "b").store(7, {"y": x, "x": np.asfortranarray(x)}, {"a": 2.5, "b": 1})
    files = [next((tmp_path / name).iterdir()) for name in "ab"]
    assert files[0].name == files[1].name == "frame_000007.bkframe"
    assert files[0].read_bytes() == files[1].read_bytes()


def test_big_endian_arrays_are_kept_by_value(tmp_path: Path) -> None:
    cache = FrameCache(tmp_path)
    cache.store(0, {"x": np.arange(3, dtype=">f8")})
    assert cache.load(0)[0]["x"].tolist() == [0, 1, 2]


def test_discard_after(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    cache.discard_after(1)
    assert cache.indices() == [0, 1]
    cache.discard_after(5)
    assert cache.indices() == [0, 1]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "header"])
def test_damaged_frames_are_left_out_and_named(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    cache = filled(tmp_path)
    assert cache.indices() == [0, 1, 2, 3]
    path = tmp_path / "frame_000002.bkframe"
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[-60] ^= 1
    if damage == "header":
        data[3] ^= 1
    path.write_bytes({"cut": data[:-1], "empty": b""}.get(damage, data))
    with caplog.at_level(logging.WARNING):
        assert cache.indices() == [0, 1, 3]
        assert cache.indices() == [0, 1, 3]
    assert caplog.text.count("frame_000002.bkframe is damaged") == 1
    with pytest.raises(InputError, match=r"frame_000002.bkframe: the cached frame is damaged.*resume"):
        cache.load(2)
    cache.store(2, {"x": np.zeros(1)})
    assert cache.indices() == [0, 1, 2, 3]


def test_frames_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such frame \(got 9\); allowed: 0 to 3 \(4 frames\)"):
        filled(tmp_path / "a").load(9)
    with pytest.raises(InputError, match=r"the cache is empty"):
        FrameCache(tmp_path / "b").load(0)


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    cache = FrameCache(tmp_path)
    with pytest.raises(InputError, match=r"frame 3: array 'x' cannot be kept \(got 'object'\)"):
        cache.store(3, {"x": np.array([None])})
    with pytest.raises(InputError, match=r"frame 3: meta data cannot be kept"):
        cache.store(3, {}, {"x": object()})
    assert list(tmp_path.iterdir()) == []


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_of_a_killed_writer_are_ignored_and_cleaned(tmp_path: Path) -> None:
    cache = filled(tmp_path, 2)
    half = tmp_path / f".bunraku-{dead_process()}-00ff-tmp.bkframe"
    alive = tmp_path / f".bunraku-{os.getpid()}-00ff-tmp.bkframe"
    folder = tmp_path / f".bunraku-{dead_process()}-00ff-tmp"
    for file in (half, alive):
        file.write_bytes((tmp_path / "frame_000001.bkframe").read_bytes()[:50])
    folder.mkdir()
    (folder / "a.0001.obj").write_text("v")
    assert cache.indices() == [0, 1]
    assert FrameCache(tmp_path).indices() == [0, 1]
    assert not half.exists() and not folder.exists()
    assert alive.exists()  # its writer may still be at work
    alive.unlink()
    remove_leftovers(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


KILLED = """
import numpy as np, sys
from bunraku.io import FrameCache
cache = FrameCache(sys.argv[1])
print("ready", flush=True)
for k in range(10**6):
    cache.store(k, {"x": np.full((20000, 3), k / 3.0)}, {"k": k})
"""


def test_a_kill_at_any_moment_leaves_every_finished_frame(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        while len(list(tmp_path.glob("frame_*"))) < 5:
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    count = len(list(tmp_path.glob("frame_*")))
    cache = FrameCache(tmp_path)
    assert cache.indices() == list(range(count))
    arrays, meta = cache.load(count - 1)
    assert np.array_equal(arrays["x"], np.full((20000, 3), meta["k"] / 3.0))
    assert len(list(tmp_path.iterdir())) == count


@pytest.mark.parametrize(
    ("code", "why"),
    [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "the folder is read-only"), (errno.EDQUOT, "quota"),
     (errno.EACCES, "not permitted"), (errno.EIO, "Input/output error")],
)  # fmt: skip
def test_a_disk_that_refuses_is_one_sentence_and_nothing_is_corrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, why: str
) -> None:
    cache = filled(tmp_path)
    before = (tmp_path / "frame_000003.bkframe").read_bytes()

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as stream:
            stream.write(data[: len(data) // 2])
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "write_bytes", full)
    for index in (3, 4):
        with pytest.raises(OutputError, match=f"{tmp_path}.*cannot be written: .*{why}.*; try: ") as caught:
            cache.store(index, {"x": np.ones((5, 3))})
        assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert cache.indices() == [0, 1, 2, 3]
    assert (tmp_path / "frame_000003.bkframe").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 4


def test_a_disk_that_fills_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    cache = filled(tmp_path, 1)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"the disk is full"):
        cache.store(1, {"x": np.ones(3)})
    assert cache.indices() == [0] and len(list(tmp_path.iterdir())) == 1


def test_a_frame_that_cannot_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = filled(tmp_path)

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OutputError, match=r"frame_000003.bkframe: cannot be written: writing is not permitted"):
        cache.discard_after(0)


def test_a_cache_in_the_way_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "cache"):
        with pytest.raises(OutputError, match=r"a file stands where a folder is needed"):
            FrameCache(folder)
    with pytest.raises(OutputError, match=r"a file stands where a folder is needed"):
        with atomic_files(tmp_path / "file", create=True):
            pass
    assert (tmp_path / "file").read_text() == "mine"


def test_atomic_write(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".txt" and not path.exists()
    assert path.read_text() == "new"
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error):
            with atomic_write(path) as temporary:
                temporary.write_text("half")
                raise error
    with pytest.raises(OutputError, match=r"a folder stands where the file should go"):
        write_text(tmp_path, "x")
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


def test_atomic_files_appear_together(tmp_path: Path) -> None:
    for create in (False, True):
        with pytest.raises(RuntimeError):
            with atomic_files(tmp_path, create=create) as folder:
                (folder / "a.txt").write_text("a")
                raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with atomic_files(tmp_path / "new", create=True) as folder:
        (folder / "a.txt").write_text("a")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["a.txt"]


def test_json_has_sorted_keys_and_no_nan(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    value = {
        "b": np.array([[1.0, np.nan], [np.inf, 1 / 3]]),
        "a": {"é": np.float64(2.5), "n": np.int64(3), 4: True},
        "c": (None, Path("x") / "y", np.bool_(False)),
    }  # fmt: skip
    write_json(path, value)
    assert json.loads(path.read_text("utf-8")) == {
        "a": {"4": True, "n": 3, "é": 2.5},
        "b": [[1.0, None], [None, 1 / 3]],
        "c": [None, str(Path("x") / "y"), False],
    }
    before = path.read_bytes()
    write_json(path, dict(reversed(value.items())))
    assert path.read_bytes() == before and before.endswith(b"}\n")


def test_text_that_is_no_text_is_still_written(tmp_path: Path) -> None:
    write_text(tmp_path / "log", "name \udcff\n")
    assert (tmp_path / "log").read_bytes() == b"name \\udcff\n"


def test_content_hash(tmp_path: Path) -> None:
    file = tmp_path / "a" / "file"
    file.parent.mkdir()
    file.write_bytes(b"abc")
    assert content_hash(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    folder = content_hash(tmp_path / "a")
    (tmp_path / "a" / ".hidden").write_bytes(b"")
    assert content_hash(tmp_path / "a") == folder
    file.rename(tmp_path / "a" / "other")
    assert content_hash(tmp_path / "a") != folder
    with pytest.raises(InputError, match=r"there is no such file"):
        content_hash(tmp_path / "b")


def test_content_hash_of_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"")

    def forbidden(self: Path, mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(InputError, match=r"a: cannot be read .got 'Permission denied'"):
        content_hash(tmp_path / "a")


def test_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, link, hard = tmp_path / "a", tmp_path / "link", tmp_path / "hard"
    file.write_bytes(b"")
    link.symlink_to(file)
    os.link(file, hard)
    monkeypatch.chdir(tmp_path)
    for other in (file, link, hard, Path("a"), tmp_path / "x" / ".." / "a"):
        assert same_file(file, other), other
    (tmp_path / "folder").symlink_to(tmp_path)
    assert same_file(tmp_path / "new", tmp_path / "folder" / "new")  # where nothing exists yet
    (tmp_path / "b").write_bytes(b"")
    assert not same_file(file, tmp_path / "b") and not same_file(file, tmp_path / "new")


def test_the_room_opens_without_usd() -> None:
    check = "import sys, bunraku.io; sys.exit(any(name.split('.')[0] == 'pxr' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


def test_a_folder_that_somebody_removes_holds_nothing(tmp_path: Path) -> None:
    cache = FrameCache(tmp_path / "frames")
    cache.store(0, {"a": np.ones(2)})
    assert cache.indices() == [0]
    (tmp_path / "frames/frame_000000.bkframe").unlink()
    (tmp_path / "frames").rmdir()
    assert cache.indices() == []
    with pytest.raises(OutputError, match="frames"):
        cache.store(1, {"a": np.ones(2)})
