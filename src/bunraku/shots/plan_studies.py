"""Studies of planned motions: a demo's motion as its shot has it, and the numbers of its search, spline by spline."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bunraku.direction.plan import Motion
from bunraku.motion import Animation
from bunraku.scenes import Panel, Study

from .demos import write_demo
from .plan_demos import PLAN_DEMOS
from .prepare_plan import prepare_plan
from .read_plan import ReadPlan

_COLUMNS = ("seconds", "dimension", "iterations", "missed, of size")


def read_demo(name: str, threads: int | None = None) -> ReadPlan:
    """The body and the planned motion of a demo."""
    with TemporaryDirectory() as folder:
        prepared = prepare_plan(write_demo(name, Path(folder)), keeping=False, threads=threads)
    return prepared.plans[0]


def plan_study(name: str, threads: int | None = None) -> Study:
    """A demo's motion, and what became of each of its splines."""
    chosen, plan = PLAN_DEMOS[name], read_demo(name, threads)
    count = int(np.ceil(plan.motion.duration * plan.rate - 1e-6)) + 1
    times = np.arange(count) / plan.rate
    points = np.stack([plan.cage.points(plan.motion.points(float(time))) for time in times])
    panel = Panel(name, Animation(plan.cage.surface, times, points))
    rows = tuple((f"spline {k + 1}", _row(one)) for k, one in enumerate(plan.motions))
    body = plan.motion.mesh
    remarks = [f"{len(body.tets)} tetrahedra, {len(plan.cage.surface.faces)} polygons; {_keys(plan)}"]
    remarks += [f"lowest point {1e3 * float(points[..., 1].min()):.1f} mm"] if chosen.ground else []
    return Study((panel,), _COLUMNS, rows, chosen.moments, tuple(remarks))


def _row(motion: Motion) -> tuple[float, ...]:
    report = motion.report
    places = [one.missed for one in report["keys"] if not one.velocity]
    missed = max(places, default=0.0) / motion.mesh.size
    return motion.duration, float(report["dimension"]), float(report["iterations"]), missed


def _keys(plan: ReadPlan) -> str:
    met = [one.met for motion in plan.motions for one in motion.report["keys"]]
    return f"{sum(met)} of {len(met)} places and velocities met"
