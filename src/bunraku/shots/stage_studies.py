"""The study of several hands on one figure: a demo's stages beside each other, at the same moments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bunraku.contracts import Array
from bunraku.geometry import TriMesh
from bunraku.io import read_animation
from bunraku.motion import Animation
from bunraku.scenes import Panel, Study

from .demos import write_demo_stages
from .folder import TakeFolder
from .run import TakeResult
from .stage_run import run_stages
from .timings import Timings

_TITLES = {"jump": "planned", "land": "landed by hand", "coat": "in its cape", "skin": "in its skin"}
_MOMENTS = (0, 8, 11, 17, 22, 25, 27, 37)
_CLOTH = (0.16, 0.27, 0.52)
JELLY = (0.80, 0.20, 0.30)


def puppet_study(threads: int | None = None) -> Study:
    """The four stages of the puppet, made anew."""
    with TemporaryDirectory() as folder:
        made = run_stages(write_demo_stages("puppet", Path(folder)), threads=threads, preview=False)
        return study_of(made.takes)


def study_of(takes: Mapping[str, TakeResult]) -> Study:
    """The finished takes of the puppet's stages: what wears a cape is drawn with it."""
    seen = {name: _animations(take) for name, take in takes.items()}
    body = next(iter(seen["land"].values()))
    panels = tuple(
        _dressed(_TITLES[name], body, own["cape"]) if "cape" in own else Panel(_TITLES[name], next(iter(own.values())))
        for name, own in seen.items()
    )
    rows = tuple((f"stage {name}", _numbers(take)) for name, take in takes.items())
    return Study(panels, ("frames", "seconds", "iterations a frame"), rows, _MOMENTS)


def _animations(take: TakeResult) -> dict[str, Animation]:
    return {name: read_animation(take.folder / files[0]) for name, files in take.report.animations.items()}


def _dressed(title: str, body: Animation, cape: Animation) -> Panel:
    """A body and its cape as one animation, each in its colour."""
    mesh = TriMesh(
        np.concatenate([body.mesh.rest, cape.mesh.rest]),
        np.concatenate([body.mesh.faces, cape.mesh.faces + body.mesh.point_count]),
    )
    points = np.concatenate([body.points, cape.points], axis=1)
    paint: Array = np.repeat([JELLY, _CLOTH], [len(body.mesh.faces), len(cape.mesh.faces)], axis=0)
    return Panel(title, Animation(mesh, body.times, points), paint=paint)


def _numbers(take: TakeResult) -> tuple[float, ...]:
    """Frames, how long they took, and how many iterations a step had."""
    arrays = take.report.measured.arrays
    iterations = arrays.get("iterations")
    spent = sum(Timings.of(TakeFolder(take.folder).timings).frames.values())
    frames = len(take.report.measured.frames)
    return float(frames), spent, float("nan") if iterations is None else float(np.mean(iterations))
