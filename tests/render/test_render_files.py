"""Pictures in files and beside each other."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image as PillowImage

from bunraku.contracts import InputError, OutputError
from bunraku.render import (
    GAP,
    Image,
    above_each_other,
    contact_sheet,
    moments,
    rows_sheet,
    side_by_side,
    write_png,
    write_video,
    write_webp,
)
from bunraku.render.video import frame_rate


def _clip(count: int, width: int = 96, height: int = 64) -> list[Image]:
    """A grey ramp with a white bar that moves."""
    ramp = np.broadcast_to(np.linspace(40, 200, width)[None, :, None], (height, width, 3)).astype(np.uint8)
    pictures = [ramp.copy() for _ in range(count)]
    for k, image in enumerate(pictures):
        image[10 + 2 * k : 14 + 2 * k] = 255
    return pictures


def _noise(count: int) -> list[Image]:
    generator = np.random.default_rng(0)
    return [generator.integers(0, 256, size=(64, 96, 3), dtype=np.uint8) for _ in range(count)]


def _decoded(path: Path) -> tuple[str, list[Image]]:
    """What ffmpeg says of the stream, and its frames."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    said = subprocess.run([program, "-i", str(path)], capture_output=True, text=True, check=False).stderr
    stream = next(line for line in said.splitlines() if "Video:" in line)
    size = re.search(r", (\d+)x(\d+)[, ]", stream)
    assert size
    width, height = int(size[1]), int(size[2])
    command = [program, "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    return stream, list(np.frombuffer(data, dtype=np.uint8).reshape(-1, height, width, 3))


def test_a_video_comes_back_as_it_was(tmp_path: Path) -> None:
    clip = _clip(9)
    write_video(tmp_path / "a.mp4", iter(clip), 24)
    stream, frames = _decoded(tmp_path / "a.mp4")
    assert "h264" in stream and "yuv420p(tv, bt709" in stream and " 24 fps" in stream
    assert len(frames) == 9 and os.listdir(tmp_path) == ["a.mp4"]
    for before, after in zip(clip, frames, strict=True):
        assert np.abs(before.astype(int) - after).mean() < 4.0


def test_odd_sizes_gain_a_row_and_a_column(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4", _clip(2, 95, 63), 25)
    _, frames = _decoded(tmp_path / "a.mp4")
    assert len(frames) == 2 and frames[0].shape == (64, 96, 3)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (23.976, Fraction(24000, 1001)),
        (23.98, Fraction(24000, 1001)),
        (24000 / 1001, Fraction(24000, 1001)),
        (29.97, Fraction(30000, 1001)),
        (59.94, Fraction(60000, 1001)),
        (24.0, Fraction(24)),
        (1.0, Fraction(1)),
        (12.5, Fraction(25, 2)),
    ],
)
def test_rates_are_exact(given: float, meant: Fraction) -> None:
    assert frame_rate(given) == meant


def test_a_broadcast_rate_reaches_the_file(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4", _clip(24), 23.976)
    stream, _ = _decoded(tmp_path / "a.mp4")
    assert "23.98 fps" in stream and "24k tbn" in stream  # time counted in 1/24000 s, so 1001 are exact


@pytest.mark.parametrize("rate", [0.0, -24.0, np.nan, np.inf, 1e6])
def test_impossible_rates_are_refused(tmp_path: Path, rate: float) -> None:
    with pytest.raises(InputError):
        write_video(tmp_path / "a.mp4", _clip(1), rate)
    with pytest.raises(InputError):
        write_webp(tmp_path / "a.webp", _clip(1), -abs(rate))
    assert os.listdir(tmp_path) == []


def test_a_video_that_breaks_off_leaves_the_old_one(tmp_path: Path) -> None:
    def failing() -> Iterator[Image]:
        yield from _clip(3)
        raise RuntimeError("the light went out")

    (tmp_path / "a.mp4").write_bytes(b"old")
    with pytest.raises(RuntimeError, match="the light went out"):
        write_video(tmp_path / "a.mp4", failing(), 24)
    with pytest.raises(InputError, match="picture 1"):
        write_video(tmp_path / "a.mp4", [*_clip(1), *_clip(1, 80)], 24)
    with pytest.raises(InputError):
        write_video(tmp_path / "a.mp4", [], 24)
    assert os.listdir(tmp_path) == ["a.mp4"] and (tmp_path / "a.mp4").read_bytes() == b"old"


def test_a_failing_ffmpeg_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho first >&2\necho no space left >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    with pytest.raises(OutputError, match=r"a\.mp4: ffmpeg failed and said: no space left$"):
        write_video(tmp_path / "a.mp4", _clip(40, 640, 360), 24)  # more than a pipe holds
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "none"))
    with pytest.raises(OutputError, match=r"a\.mp4"):
        write_video(tmp_path / "a.mp4", _clip(1), 24)
    assert os.listdir(tmp_path) == ["ffmpeg"]


def _writers(path: Path) -> list:
    return [
        lambda: write_video(path, _clip(2), 24),
        lambda: write_webp(path, _clip(2), 24),
        lambda: write_png(path, _clip(1)[0]),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_no_folder_or_a_folder_in_the_way(tmp_path: Path, which: int) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        _writers(tmp_path / "none" / "a")[which]()
    with pytest.raises(OutputError, match="in the way"):
        _writers(tmp_path)[which]()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_folder_that_must_not_be_written(tmp_path: Path, which: int) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError):
            _writers(tmp_path / "a")[which]()
        assert os.listdir(tmp_path) == []
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("which", [1, 2])
def test_a_full_disk(tmp_path: Path, which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        _writers(tmp_path / "a")[which]()
    assert os.listdir(tmp_path) == []


def test_png_comes_back_exactly(tmp_path: Path) -> None:
    image = _noise(1)[0]
    write_png(tmp_path / "a.png", image)
    with PillowImage.open(tmp_path / "a.png") as opened:
        assert np.array(opened).tobytes() == image.tobytes()
    with pytest.raises(InputError):
        write_png(tmp_path / "b.png", image.astype(float))
    assert os.listdir(tmp_path) == ["a.png"]


def test_webp_loops_keeps_time_and_fits(tmp_path: Path) -> None:
    clip = _noise(12)
    write_webp(tmp_path / "free.webp", clip, 24)
    write_webp(tmp_path / "tight.webp", clip, 24, max_bytes=20_000)
    assert 20_000 < (tmp_path / "free.webp").stat().st_size < 1_000_000
    assert (tmp_path / "tight.webp").stat().st_size <= 20_000
    with PillowImage.open(tmp_path / "tight.webp") as opened:
        assert opened.info["loop"] == 0 and getattr(opened, "n_frames") == 12  # noqa: B009
        total = 0
        for k in range(12):
            opened.seek(k)
            opened.load()
            total += opened.info["duration"]
        assert total == 500  # 12/24 s, though a frame is 41.67 ms
    with pytest.raises(OutputError, match="do not fit into 300 bytes"):
        write_webp(tmp_path / "never.webp", clip, 24, max_bytes=300)
    with pytest.raises(InputError):
        write_webp(tmp_path / "never.webp", [], 24)
    assert sorted(os.listdir(tmp_path)) == ["free.webp", "tight.webp"]


def test_above_each_other_has_the_guide_above() -> None:
    upper, lower = np.full((40, 200, 3), 10, np.uint8), np.full((50, 200, 3), 240, np.uint8)
    both = above_each_other(upper, lower, captions=("", ""))
    assert both.shape == (40 + GAP + 50, 200, 3) and (both[:40] == 10).all() and (both[40 + GAP :] == 240).all()
    with pytest.raises(InputError, match="one width"):
        above_each_other(upper, lower[:, :80])


def test_wide_pictures_stand_in_two_columns() -> None:
    guides, results = ([np.full((40, 200, 3), 10 * k + 100 * side, np.uint8) for k in range(3)] for side in (0, 1))
    sheet = contact_sheet(guides, results, ["", "", ""], titles=("", ""))
    assert sheet.shape == (3 * 40 + 4 * GAP, 2 * 200 + 3 * GAP, 3)
    middle = sheet[GAP + 20 :: 40 + GAP]
    assert [int(row[GAP + 100, 0]) for row in middle] == [0, 10, 20]
    assert [int(row[2 * GAP + 300, 0]) for row in middle] == [100, 110, 120]


def test_side_by_side_has_the_guide_at_the_left() -> None:
    left, right = np.full((90, 120, 3), 60, np.uint8), np.full((90, 160, 3), 160, np.uint8)
    both = side_by_side(left, right)
    assert both.shape[0] == 90 and 280 < both.shape[1] < 300
    assert (both[80, 10] == 60).all() and (both[80, -10] == 160).all()
    assert (side_by_side(left, right, captions=("", ""))[:40] != both[:40]).any()
    with pytest.raises(InputError):
        side_by_side(left, right[:80])


def test_a_contact_sheet_has_the_guide_above_the_result() -> None:
    guides = [np.full((180, 320, 3), 50, np.uint8)] * 8
    results = [np.full((180, 320, 3), 150 + k, np.uint8) for k in range(8)]
    sheet = contact_sheet(guides, results, [str(1001 + k) for k in range(8)], width=1280)
    height, width = sheet.shape[:2]
    assert 1200 < width <= 1280 and 170 < height < 210
    centres = (np.arange(8) + 0.5) * width / 8
    assert (sheet[height // 4, centres.astype(int)] == 50).all()
    assert (sheet[3 * height // 4, centres.astype(int), 0] == np.arange(150, 158)).all()
    bare = contact_sheet(guides, results, [""] * 8, width=1280)
    assert (sheet != bare)[: height // 2].any() and not (sheet != bare)[height // 2 :].any()
    for wrong in [(guides[:7], results, [""] * 8), ([], [], []), ([guides[0]], [guides[0][:90]], [""])]:
        with pytest.raises(InputError):
            contact_sheet(*wrong)


@pytest.mark.parametrize(("height", "letters"), [(240, 20), (720, 36)])
def test_letters_of_a_sheet_grow_with_its_pictures_up_to_a_size(height: int, letters: int) -> None:
    """A capital is about 0.7 of the font's size, and its outline a twelfth on either side."""
    grey = np.full((height, 400, 3), 128, dtype=np.uint8)
    sheet, bare = (rows_sheet([[grey]], [caption], [""]) for caption in ("H", ""))
    rows = np.flatnonzero((sheet != bare).any(axis=(1, 2)))
    assert len(rows) == pytest.approx(letters * (0.7 + 2 / 12), rel=0.15)


def test_moments_are_spread_over_the_shot() -> None:
    assert moments(120).tolist() == [0, 17, 34, 51, 68, 85, 102, 119]
    assert moments(3).tolist() == [0, 1, 2] and moments(1).tolist() == [0] and moments(0).tolist() == []
