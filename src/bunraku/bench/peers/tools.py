"""The tools: one face for bunraku in this process and for two others, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from bunraku import __version__
from bunraku.contracts import Array, BunrakuError
from bunraku.direction import Contact, Pin
from bunraku.direction.track import tracking_job
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial, bending_rigidity
from bunraku.motion import Animation

from .sheets import Order, Setting, Swing

HERE = Path(__file__).parent
_GRACE = 120.0  # [s] for a child to start, to compile and to end the frame it is at


class NotRun(BunrakuError):
    """A tool is not there or has failed; one sentence says why."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a tool made of an order."""

    frames: Array
    """(t, n, 3) [m], the first included; fewer than asked when the time was up"""
    seconds: Array
    """(t - 1,) of each frame after the first"""
    version: str = ""

    @property
    def frame(self) -> float:
        """Median seconds a frame, without the one that warms up."""
        return float(np.median(self.seconds[1:])) if len(self.seconds) > 1 else float("nan")


class Peer(Protocol):
    """A tool that simulates sheets."""

    @property
    def name(self) -> str:
        """As the table says it."""
        ...

    @property
    def ladder(self) -> Sequence[Setting]:
        """Settings to try, from the cheapest."""
        ...

    def label(self, setting: Setting) -> str:
        """A setting in the tool's own words."""
        ...

    def expected(self, reference: Swing, order: Order) -> Swing:
        """The true answer for the sheet as this tool weighs it."""
        ...

    def simulate(self, order: Order) -> Result:
        """Raises NotRun with a sentence when it cannot."""
        ...


@dataclass(frozen=True)
class Bunraku:
    """bunraku, one Newton step a time step; with contact, where a step must end free of intersections, Newton goes on
    until it moves nothing by more than a hundredth of the sheet's size: mostly one or two."""

    name: str = "bunraku"
    ladder: Sequence[Setting] = tuple(Setting(steps) for steps in (1, 2, 3, 4, 6, 8, 12, 16))

    def label(self, setting: Setting) -> str:
        """Its steps."""
        return f"{setting.substeps} step{'' if setting.substeps == 1 else 's'}"

    def expected(self, reference: Swing, order: Order) -> Swing:
        """The reference itself."""
        return reference

    def simulate(self, order: Order) -> Result:
        """In this process."""
        mesh, frames, seconds, touching = order.mesh, [], [], contact(order)
        times = np.arange(order.frames + 1) / order.rate
        still = Animation(mesh, times, np.repeat(mesh.rest[None], len(times), axis=0))
        job = tracking_job(
            still, mesh, None, material=material(order), pins=Pin(order.pins) if order.pins else (), start=mesh.rest,
            velocity="zero", gravity=(0.0, -order.gravity, 0.0), substeps=order.setting.substeps,
            iterations=order.setting.iterations if touching is None else None, tolerance=1e-2, contact=touching,
            threads=order.threads,
        )  # fmt: skip
        made = job.frames()
        frames.append(next(made).points)
        begun = begin = time.perf_counter()
        for frame in made:
            now = time.perf_counter()
            frames.append(frame.points)
            seconds.append(now - begin)
            if now - begun > order.limit:
                break
            begin = time.perf_counter()
        return Result(np.array(frames), np.array(seconds), f"bunraku {__version__}")


def material(order: Order) -> ShellMaterial:
    """The cloth of an order."""
    cloth = order.cloth
    young = cloth.stretching / cloth.thickness
    solid = float(bending_rigidity(np.array([young]), np.array([cloth.poisson]), np.array([cloth.thickness]))[0])
    return ShellMaterial(
        young=young, poisson=cloth.poisson, thickness=cloth.thickness, density=cloth.weight / cloth.thickness,
        bend_scale=cloth.bending / solid,
    )  # fmt: skip


def contact(order: Order) -> Contact | None:
    """The contact of an order."""
    if order.ball is None and not order.self_collision:
        return None
    obstacles = []
    if order.ball is not None:
        obstacles.append(TriMesh(np.array(order.ball.points), np.array(order.ball.faces, dtype=np.int64)))
    return Contact(friction=order.cloth.friction, obstacles=obstacles, self_contact=order.self_collision)


@dataclass(frozen=True)
class Newton:
    """NVIDIA Newton's vertex block descent, on the CPU, where it uses one core. Many short steps of few iterations
    serve it better than the reverse."""

    name: str = "Newton VBD"
    ladder: Sequence[Setting] = tuple(
        Setting(*one) for one in ((2, 10), (20, 3), (20, 5), (40, 3), (40, 5), (80, 3), (160, 3), (160, 5))
    )
    python: str | None = None
    """None: BUNRAKU_NEWTON_PYTHON, else this one"""

    def label(self, setting: Setting) -> str:
        """Steps and iterations."""
        return f"{setting.substeps} × {setting.iterations}"

    def expected(self, reference: Swing, order: Order) -> Swing:
        """The reference itself: the same masses, the same law."""
        return reference

    def simulate(self, order: Order) -> Result:
        """In a process of its own."""
        return child(self.name, interpreter(self.python, "BUNRAKU_NEWTON_PYTHON"), HERE / "newton_sheet.py", order)


@dataclass(frozen=True)
class Blender:
    """Blender's cloth."""

    name: str = "Blender"
    ladder: Sequence[Setting] = tuple(Setting(steps) for steps in (5, 10, 20, 40, 80, 160, 320))
    python: str | None = None
    """None: BUNRAKU_BLENDER_PYTHON, else this one"""

    def label(self, setting: Setting) -> str:
        """Its quality steps."""
        return f"quality {setting.substeps}"

    def expected(self, reference: Swing, order: Order) -> Swing:
        """Its vertices weigh alike, those at the free edge too, so its sheet swings as if half a cell longer."""
        return replace(reference, quarter=reference.quarter * float(np.sqrt(1.0 + 0.5 * order.cell)))

    def simulate(self, order: Order) -> Result:
        """In a process of its own."""
        return child(self.name, interpreter(self.python, "BUNRAKU_BLENDER_PYTHON"), HERE / "blender_sheet.py", order)


def interpreter(given: str | None, variable: str) -> str:
    """The Python that has a tool."""
    return given or os.environ.get(variable) or sys.executable


def child(name: str, python: str, script: Path, order: Order) -> Result:
    """Run a script with an order on its stdin; what it says of itself comes back as a result or as one sentence."""
    environment = dict(os.environ)
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)  # what is meant for this Python may not fit another
    if order.threads:
        environment["OMP_NUM_THREADS"] = str(order.threads)
    with tempfile.TemporaryDirectory() as folder:
        order = replace(order, out=str(Path(folder) / "frames.npy"))
        code, said, wrong = _ended(name, [python, str(script)], order, environment)
        if code != 0:
            raise NotRun(f"{name}: {_last(wrong) or f'ended with code {code}'} (in {python})")
        return _result(name, said, order)


def _ended(name: str, command: list[str], order: Order, environment: Mapping[str, str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command; what does not end in time is ended, with all it has started."""
    late = 2.0 * order.limit + _GRACE
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    try:
        begun = subprocess.Popen(
            command, **pipes, encoding="utf-8", errors="replace", env=environment, start_new_session=True
        )
    except (OSError, ValueError) as wrong:
        raise NotRun(f"{name}: {command[0]!r} cannot be started ({getattr(wrong, 'strerror', wrong)})") from None
    with begun:
        try:
            said, wrong = begun.communicate(order.to_json(), timeout=late)
            return begun.returncode, said, wrong
        except subprocess.TimeoutExpired:
            raise NotRun(f"{name}: no answer within {late:.0f} s (of {command[0]})") from None
        finally:
            if begun.poll() is None:
                _end(begun)


def _end(begun: subprocess.Popen[str]) -> None:
    """It may be a script that has started what computes: that is in its group."""
    if hasattr(os, "killpg"):
        os.killpg(begun.pid, signal.SIGKILL)
    else:
        begun.kill()
    begun.wait()


def _result(name: str, said: str, order: Order) -> Result:
    """What a child has left."""
    lines = [line.removeprefix("RESULT ") for line in said.splitlines() if line.startswith("RESULT ")]
    try:
        told = json.loads(lines[-1])
        seconds, frames = np.array(told["seconds"], dtype=float), np.load(order.out)
        if not isinstance(frames, np.ndarray) or frames.shape != (len(seconds) + 1, len(order.points), 3):
            raise ValueError
        return Result(frames.astype(float), seconds, str(told["version"]))
    except (IndexError, KeyError, TypeError, ValueError, OSError, EOFError):
        raise NotRun(f"{name}: its answer cannot be read (got {_last(said)!r})") from None


def _last(text: str) -> str:
    """The last line that says something, cut short."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
