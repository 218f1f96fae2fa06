"""What contact costs: the same scenes with it and without, and where the time goes.

A scene without contact does something else (what should rest on a ball falls through it, and stays flat), so its frames
are compared only roughly. Each frame is therefore also made without contact from where the one with contact begins: the
same folds in the same cloth. Frames are taken in turn, so that a busy neighbour disturbs all alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.collision import Plane, sphere
from bunraku.collision.toolkit import KINDS, Near
from bunraku.direction import Contact, Job
from bunraku.direction.track import tracking_job
from bunraku.geometry import TriMesh
from bunraku.motion import Animation
from bunraku.shots import write_demo
from bunraku.shots.prepare import prepare

from .spent import Run, Spent
from .step import sheet
from .tracks import machine

_RATE = 24.0
_BALANCE = 0.2  # as the demos of the bag have it
_UP = np.array([0.0, 1.0, 0.0])
SMALLER = 50
"""vertices a side of the sheet with which ways to solve are compared"""
PARTS = ("near", "potential", "blocks", "way", "assemble", "factor", "solve")


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene twice: with contact and without."""

    name: str
    touching: Job
    free: Job
    warm_up: int
    frames: int


def bag(threads: int | None) -> Scene:
    """The tumbling bag of the demo, 1.3k vertices."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(write_demo("bag", Path(folder)))
    free = replace(prepared, contact=replace(prepared.contact, table=None))
    return Scene("bag", prepared.job(threads), free.job(threads), 4, 12)


def ball(
    side: int, warm_up: int, frames: int, *, balance: float = _BALANCE, substeps: int = 2
) -> Callable[[int | None], Scene]:
    """A sheet of side² vertices that falls onto a ball."""

    def make(threads: int | None) -> Scene:
        things = [sphere((0.0, -0.303, 0.0), 0.3, 0.03), Plane(np.array([0.0, -0.7, 0.0]), _UP)]
        contact = Contact(obstacles=things, balance=balance)
        name = f"{side * side // 1000}k on a ball"
        return _fall(name, sheet(side), contact, warm_up, frames, threads, substeps=substeps)

    return make


def folded(threads: int | None) -> Scene:
    """A sheet of 10k vertices folded twice, its four layers a little apart, that falls flat on the ground."""
    mesh = sheet(100)
    pose = _fold(_fold(mesh.rest, 0, 0.01), 2, 0.025)
    ground = Plane((float(pose[:, 1].min()) - 0.01) * _UP, _UP)
    return _fall("10k folded twice", mesh, Contact(obstacles=[ground], balance=_BALANCE), 1, 4, threads, pose)


SCENES: Mapping[str, Callable[[int | None], Scene]] = {
    "bag": bag, "ball": ball(100, 2, 4), "folded": folded, "drape": ball(224, 1, 1),
}  # fmt: skip


def _fall(
    name: str, mesh: TriMesh, contact: Contact, warm_up: int, frames: int, threads: int | None,
    pose: np.ndarray | None = None, substeps: int = 2,
) -> Scene:  # fmt: skip
    times = np.arange(warm_up + frames + 1) / _RATE
    still = Animation(mesh, times, np.repeat(mesh.rest[None], len(times), axis=0))
    knobs: dict[str, Any] = {"material": "cotton", "threads": threads, "velocity": "zero", "substeps": substeps}
    knobs["start"] = mesh.rest if pose is None else pose
    made = [tracking_job(still, mesh, None, contact=which, **knobs) for which in (contact, None)]
    return Scene(name, made[0], made[1], warm_up, frames)


def _fold(points: np.ndarray, axis: int, gap: float) -> np.ndarray:
    """The half beyond the middle of an axis rolled over onto the other, `gap` [m] above it."""
    middle = 0.5 * (points[:, axis].min() + points[:, axis].max())
    along, radius = points[:, axis] - middle, 0.5 * gap
    top = float(points[:, 1].max())
    height = points[:, 1] - top  # layers below the fold's inside turn about the same line, farther out
    angle = np.clip(along / radius, 0.0, np.pi)
    out = points.copy()
    beyond = np.maximum(along - np.pi * radius, 0.0)
    away = radius - height
    out[:, axis] = middle + np.where(along > 0.0, away * np.sin(angle) - beyond, along)
    out[:, 1] = top + radius - away * np.cos(angle)
    return out


@dataclass(frozen=True, eq=False)
class Row:
    """A scene as measured."""

    name: str
    vertices: int
    touching: Spent
    free: Spent
    same: Spent
    """without contact, each frame from where the one with contact begins"""
    pairs: float
    """mean a frame"""


def measure(scene: Scene) -> Row:
    """Its runs, in turn."""
    touching, free, same = Run(scene.touching, scene.warm_up), Run(scene.free, scene.warm_up), Run(scene.free, 0)
    pairs = []
    for _ in range(scene.frames):
        begin = touching.last
        pairs.append(float(touching.advance().report["pairs"]))
        free.advance()
        same.advance(begin)
    spent = [run.spent() for run in (touching, free, same)]
    return Row(scene.name, scene.touching.mesh.point_count, *spent, pairs=float(np.mean(pairs)))


def kinds(threads: int | None, frames: int = 8) -> Iterator[str]:
    """A smaller sheet on a ball with either kind of pairs, and the same solver."""
    kept = Near.kind
    try:
        for name in KINDS:
            Near.kind = name
            job = ball(SMALLER, 0, frames)(threads).touching
            spent, short = Run(job, 0), 0
            for _ in range(frames):
                short += not bool(spent.advance().report["converged"])
            found = spent.spent()
            yield (
                f"{name:<18}{job.mesh.point_count:>9}{found.frame:>9.3f}{found.per_frame[0]:>11.1f}"
                f"{1e3 * found.per_iteration:>14.1f}{short:>13}"
            )
    finally:
        Near.kind = kept


def balances(threads: int | None, frames: int = 6) -> Iterator[str]:
    """A smaller sheet on a ball with steps solved more and less well, against steps a quarter as long."""

    def fallen(balance: float, substeps: int) -> tuple[np.ndarray, float]:
        job = ball(SMALLER, 0, frames, balance=balance, substeps=substeps)(threads).touching
        made = list(job.frames())
        points = np.stack([frame.state.q for frame in made])
        return points, sum(int(frame.report["iterations"]) for frame in made) / frames

    fine, _ = fallen(0.0, 8)
    for balance in (0.0, 0.1, 0.2, 0.4):
        points, iterations = fallen(balance, 2)
        off = np.sqrt(3.0 * np.mean((points[-1] - fine[-1]) ** 2))
        yield f"{balance:<18g}{points.shape[1] // 3:>9}{iterations:>11.1f}{1e3 * off:>14.2f}"


def run(scenes: Sequence[str] = tuple(SCENES), *, threads: int | None = None) -> Iterator[str]:
    """Measure and print as it goes."""
    yield machine(threads)
    yield (
        f"{'scene':<18}{'vertices':>9}{'pairs':>8}{'s/frame':>9}{'free':>8}{'ratio':>7}{'its/frame':>11}{'free':>6}"
        f"{'ms/iteration':>14}{'free':>8}{'ratio':>7}"
    )
    rows = []
    for name in scenes:
        row = measure(SCENES[name](threads))
        rows.append(row)
        a, b = row.touching, row.free
        yield (
            f"{row.name:<18}{row.vertices:>9}{row.pairs:>8.0f}{a.frame:>9.3f}{b.frame:>8.3f}{a.frame / b.frame:>7.2f}"
            f"{a.per_frame[0]:>11.1f}{b.per_frame[0]:>6.1f}"
            f"{1e3 * a.per_iteration:>14.1f}{1e3 * b.per_iteration:>8.1f}{a.per_iteration / b.per_iteration:>7.2f}"
        )
    yield ""
    yield "without contact, each frame from where the one with contact begins"
    yield f"{'scene':<18}{'s/frame':>9}{'ratio':>7}{'its/frame':>11}{'ms/iteration':>14}{'ratio':>7}"
    for row in rows:
        a, b = row.touching, row.same
        yield (
            f"{row.name:<18}{b.frame:>9.3f}{a.frame / b.frame:>7.2f}{b.per_frame[0]:>11.1f}"
            f"{1e3 * b.per_iteration:>14.1f}{a.per_iteration / b.per_iteration:>7.2f}"
        )
    yield ""
    yield "where the time goes with contact"
    yield f"{'scene':<18}" + "".join(f"{part:>11}" for part in (*PARTS, "other"))
    for row in rows:
        yield f"{row.name:<18}" + "".join(
            f"{100 * row.touching.share(part, PARTS):>10.0f}%" for part in (*PARTS, "other")
        )
    yield ""
    yield "which pairs count"
    yield f"{'pairs':<18}{'vertices':>9}{'s/frame':>9}{'its/frame':>11}{'ms/iteration':>14}{'unconverged':>13}"
    yield from kinds(threads)
    yield ""
    yield "how well a step is solved"
    yield f"{'balance':<18}{'vertices':>9}{'its/frame':>11}{'mm off':>14}"
    yield from balances(threads)
