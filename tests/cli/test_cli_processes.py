"""Real processes: Ctrl-C, kill −9 and the same bytes after --resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bunraku import Animation, __version__
from bunraku.scenes import box_mesh

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")


class Blocked:
    """A run whose progress nobody reads, so that it waits in the middle as soon as the pipe is full."""

    def __init__(self, folder: Path) -> None:
        import fcntl

        self.reader, writer = os.pipe()
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bunraku", "run", "box.toml", "--progress", "json"],
            cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        os.close(writer)
        self.frames = folder / "takes/box/v001/frames"

    def wait_for(self, count: int) -> None:
        until = time.monotonic() + 60
        while len(list(self.frames.glob("frame_*.bkframe"))) < count:
            assert time.monotonic() < until and self.process.poll() is None
            time.sleep(0.01)

    def drained(self) -> str:
        """All that was told, once the process may write again."""
        with os.fdopen(self.reader, encoding="utf-8") as stream:
            return stream.read()


@pytest.fixture
def long_shot(folder):
    """Sixty frames of a gentle shake: more progress than fits into the pipe."""
    mesh = box_mesh()
    points = np.repeat(mesh.rest[None], 60, axis=0)
    points[:, 4:, 0] += 0.02 * np.sin(0.3 * np.arange(60))[:, None]
    folder.guide(Animation(mesh, np.arange(1, 61) / 24.0, points))
    return folder


def test_killed_in_the_middle_then_resumed_gives_the_same_bytes(long_shot, bunraku):
    blocked = Blocked(long_shot.path)
    blocked.wait_for(5)
    blocked.process.send_signal(signal.SIGKILL)
    blocked.process.communicate()
    os.close(blocked.reader)
    take = long_shot.path / "takes/box/v001"
    assert 5 <= len(long_shot.frames("takes/box/v001")) < 60 and not (take / "report.json").exists()
    assert bunraku("run", "box.toml", "--resume")[0] == 0
    assert bunraku("run", "box.toml")[0] == 0
    assert long_shot.frames("takes/box/v001") == long_shot.frames("takes/box/v002")
    for name in ("box.usdc", "report.json"):
        assert (take / name).read_bytes() == (long_shot.path / "takes/box/v002" / name).read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_real_interruption_ends_with_130_and_the_way_on(long_shot, number: signal.Signals):
    blocked = Blocked(long_shot.path)
    blocked.wait_for(5)
    blocked.process.send_signal(number)
    told = blocked.drained()
    _, err = blocked.process.communicate(timeout=60)
    assert blocked.process.returncode == 130
    assert "carry on with: bunraku run box.toml --resume" in err and "Traceback" not in err
    last = json.loads(told.splitlines()[-1])
    assert last["event"] == "error" and last["exit_code"] == 130
    kept = len(list(blocked.frames.glob("frame_*.bkframe")))
    assert 5 <= kept < 60 and f"{kept} of 60 frames are kept" in err


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "bunraku", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"bunraku {__version__}\n"
