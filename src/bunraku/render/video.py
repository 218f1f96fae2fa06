"""Pictures into an mp4 that plays everywhere: H.264, yuv420p, by the ffmpeg of imageio-ffmpeg."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from bunraku.contracts import OutputError, input_error

from .files import replacing
from .layout import check_picture
from .lettering import Image


def frame_rate(rate: float) -> Fraction:
    """The exact rate meant: 23.976 and 23.98 are 24000/1001, 29.97 is 30000/1001."""
    if not (np.isfinite(rate) and 0.01 <= rate <= 1000.0):
        raise input_error("frames per second are impossible", got=rate, allowed="0.01 to 1000")
    broadcast = Fraction(round(rate * 1.001) * 1000, 1001)
    # Whole rates are a thousandth away from their broadcast twin, 23.98 a sixth of that.
    if abs(float(broadcast) - rate) < 2e-4 * rate:
        return broadcast
    return Fraction(rate).limit_denominator(10_000)


def write_video(path: str | os.PathLike[str], pictures: Iterable[Image], rate: float) -> None:
    """Write pictures (h, w, 3), all of one size, `rate` per second. Odd sizes gain a row or column.

    Pictures may be made one by one while they are written. Nothing is left behind if that, or ffmpeg, fails.
    """
    exact = frame_rate(rate)
    stream = iter(pictures)
    first = next(stream, None)
    if first is None:
        raise input_error("a video needs at least one picture", where=str(path), got=0)
    check_picture(first, "picture 0")
    with replacing(path) as part, tempfile.TemporaryFile() as complaints:
        process = _start(part, first, exact, complaints.fileno())
        try:
            broken = _feed(process, first, stream)
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.wait() != 0 or broken:
            complaints.seek(0)
            lines = complaints.read().decode(errors="replace").strip().splitlines()
            said = lines[-1] if lines else f"nothing, exit status {process.returncode}"
            raise OutputError(f"cannot write {path}: ffmpeg failed and said: {said}")


def _start(part: Path, first: Image, rate: Fraction, complaints: int) -> subprocess.Popen[bytes]:
    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise OutputError(f"cannot write {part.name}: no ffmpeg was found ({error})") from error
    height, width = _even(first).shape[:2]
    command = [
        program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-framerate", str(rate), "-i", "-", "-an", "-c:v", "libx264", "-preset", "medium", "-crf", "16",
        # Say which colours are meant: players guess otherwise, and guess differently.
        "-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
        "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
        "-movflags", "+faststart", "-f", "mp4", str(part),
    ]  # fmt: skip
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints)


def _feed(process: subprocess.Popen[bytes], first: Image, rest: Iterable[Image]) -> bool:
    """Send all pictures; whether ffmpeg stopped listening."""
    pipe = process.stdin
    if pipe is None:
        raise RuntimeError("ffmpeg was started without a pipe")
    try:
        pipe.write(_even(first).tobytes())
        for k, image in enumerate(rest, start=1):
            check_picture(image, f"picture {k}")
            if image.shape != first.shape:
                raise input_error(
                    "all pictures of a video must have one size", where=f"picture {k}", got=image.shape,
                    allowed=str(first.shape),
                )  # fmt: skip
            pipe.write(_even(image).tobytes())
        pipe.flush()
    except BrokenPipeError:
        return True
    finally:
        with suppress(OSError):  # what could not be sent is still in the buffer, and fails once more
            pipe.close()
    return False


def _even(image: Image) -> Image:
    """H.264 stores colour for squares of four pixels: an odd side is continued by one row or column."""
    height, width = image.shape[:2]
    return np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
