"""The timings of TRACKS §5.5 again: the paper's four scenes, tracked and untracked in one run.

Frame by frame the two runs of a scene take turns, so that a busy neighbour disturbs both alike. The untracked one has
the same shell, material, settings, pins and start, with the guide's first velocity, and no test functions: it soon does
something else (most fall), which costs fewer iterations. So the price of the conditions themselves is measured apart:
one Newton iteration with and without them from the same state of the tracked run, again and again. A third run takes
the paper's single Newton step; the others go on to convergence.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import State
from bunraku.direction import Job
from bunraku.dynamics import PARTS, ImplicitEuler
from bunraku.numerics import choose, default_threads
from bunraku.scenes import designed_cloth
from bunraku.scenes.cloth import TAKES
from bunraku.shots import write_demo
from bunraku.shots.prepare import prepare

from .spent import Run, Spent
from .step import Iteration, medians

FRAMES = 48
WARM_UP = 2
"""frames made before the clock runs"""
_EVERY, _REPEATS = 4, 5  # the same iteration with and without conditions: at every so many frames, so often


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene's two runs."""

    name: str
    section: str
    """of the paper"""
    guide_vertices: int
    tracked: Job
    untracked: Job

    @property
    def shell_vertices(self) -> int:
        """Vertices simulated."""
        return self.tracked.mesh.point_count

    @property
    def regions(self) -> int:
        """Averages that must agree, three conditions each."""
        return int(self.tracked.facts["regions"])

    @property
    def added(self) -> float:
        """Unknowns the regions add, as a share of the shell's degrees of freedom."""
        return 3 * self.regions / (3 * self.shell_vertices)


def cloth_scene(threads: int | None = None, takes: int = TAKES) -> Scene:
    """The flying cloth as its figure makes it, the best of twenty previews; but without contact."""
    final = designed_cloth(takes, threads=threads)
    runs = [final.job(tracked=way, touching=False, threads=threads) for way in (True, False)]
    return Scene("cloth", "5.1", final.guide.mesh.point_count, *runs)


def demo_scene(name: str, section: str, threads: int | None = None) -> Scene:
    """A demo, read from the shot that `bunraku demo` writes; without contact, which has a table of its own."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(write_demo(name, Path(folder)))
    prepared = replace(prepared, contact=replace(prepared.contact, table=None))
    runs = [one.job(threads) for one in (prepared, replace(prepared, tests=None))]
    return Scene(name, section, prepared.guide.mesh.point_count, *runs)


SCENES: Mapping[str, Callable[[int | None], Scene]] = {
    "cloth": cloth_scene,
    "box": lambda threads: demo_scene("box", "5.2", threads),
    "bag": lambda threads: demo_scene("bag", "5.3", threads),
    "walker": lambda threads: demo_scene("walker", "5.4", threads),
}


@dataclass(frozen=True, eq=False)
class Row:
    """A scene as measured."""

    scene: Scene
    tracked: Spent
    untracked: Spent
    once: Spent
    """the tracked run with one Newton step a time step, as in the paper"""
    iteration: tuple[float, float]
    """[ms] medians of one Newton iteration from the tracked run's states, with and without conditions"""
    ratio: float
    """median of the ratio of the two, state by state"""

    @property
    def increase(self) -> float:
        """Of the time a frame takes, as a share."""
        return self.tracked.frame / self.untracked.frame - 1.0

    @property
    def run_ratio(self) -> float:
        """Tracked over untracked, per iteration of the two runs, each with its own share of factorisations."""
        return self.tracked.per_iteration / self.untracked.per_iteration


def measure(scene: Scene, frames: int = FRAMES, warm_up: int = WARM_UP) -> Row:
    """Run both ways, in turn; the scene's own number of frames where that is smaller."""
    tracked, untracked = Run(scene.tracked, warm_up), Run(scene.untracked, warm_up)
    once = Run(replace(scene.tracked, stepper=tracked.stepper.with_settings(iterations=1)), warm_up)
    times = scene.tracked.times
    dt = float(times[1] - times[0]) / scene.tracked.substeps
    pairs = []
    for k in range(min(frames, len(times) - 1 - warm_up)):
        state = tracked.advance().state
        untracked.advance()
        once.advance()
        if k % _EVERY == 0:
            pairs.append(_same_iteration((tracked.stepper, untracked.stepper), state, dt))
    pair = np.array(pairs)
    with_, without = np.median(pair, axis=0)
    return Row(
        scene, tracked.spent(), untracked.spent(), once.spent(), (float(with_), float(without)),
        float(np.median(pair[:, 0] / pair[:, 1])),
    )  # fmt: skip


def _same_iteration(steppers: Sequence[ImplicitEuler], state: State, dt: float) -> list[float]:
    """[ms] one Newton iteration of each, where the next step from a state begins."""
    problems = [(stepper, stepper.freeze(state, dt)) for stepper in steppers]
    places = [Iteration(stepper, problem, problem.target) for stepper, problem in problems]
    return medians([place.iterate for place in places], _REPEATS)


Column = tuple[str, Callable[[Row], str]]

COST: tuple[Column, ...] = (
    ("scene", lambda row: row.scene.name),
    ("guide vertices", lambda row: str(row.scene.guide_vertices)),
    ("shell vertices", lambda row: str(row.scene.shell_vertices)),
    ("regions", lambda row: str(row.scene.regions)),
    ("added unknowns", lambda row: f"{100 * row.scene.added:.1f} %"),
    ("one step s/frame", lambda row: f"{row.once.frame:.3f}"),
    ("s/frame", lambda row: f"{row.tracked.frame:.3f}"),
    ("untracked", lambda row: f"{row.untracked.frame:.3f}"),
    ("increase", lambda row: f"{100 * row.increase:+.1f} %"),
    ("same iteration ms", lambda row: f"{row.iteration[0]:.2f}"),
    ("without conditions ms", lambda row: f"{row.iteration[1]:.2f}"),
    ("ratio", lambda row: f"{row.ratio:.2f}"),
)
"""the paper's table, and what the conditions cost one Newton iteration"""

RUNS: tuple[Column, ...] = (
    ("scene", lambda row: row.scene.name),
    ("frames", lambda row: str(len(row.tracked.seconds))),
    ("total s", lambda row: f"{row.tracked.seconds.sum():.2f}"),
    ("untracked s", lambda row: f"{row.untracked.seconds.sum():.2f}"),
    ("slowest frame s", lambda row: f"{row.tracked.seconds.max():.3f}"),
    ("iterations/frame", lambda row: f"{row.tracked.per_frame[0]:.1f}"),
    ("untracked", lambda row: f"{row.untracked.per_frame[0]:.1f}"),
    ("factorisations/frame", lambda row: f"{row.tracked.per_frame[1]:.1f}"),
    ("untracked", lambda row: f"{row.untracked.per_frame[1]:.1f}"),
    ("ms/iteration", lambda row: f"{1e3 * row.tracked.per_iteration:.2f}"),
    ("untracked", lambda row: f"{1e3 * row.untracked.per_iteration:.2f}"),
    ("ratio", lambda row: f"{row.run_ratio:.2f}"),
)
"""the two runs as they went, each with its own iterations"""


def _share(part: str, tracked: bool) -> Callable[[Row], str]:
    return lambda row: f"{100 * (row.tracked if tracked else row.untracked).share(part):.0f} %"


PROFILE: tuple[Column, ...] = (
    ("scene", lambda row: row.scene.name),
    *((part, _share(part, True)) for part in (*PARTS, "other")),
    *((f"untracked {part}", _share(part, False)) for part in (*PARTS, "other")),
)
"""where a step's time goes"""


def text_table(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    """Aligned lines: headings, then a row a scene."""
    cells = [[heading for heading, _ in columns], *([cell(row) for _, cell in columns] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(columns))]
    for line in cells:
        first, *others = (f"{text:>{width}}" for text, width in zip(line, widths, strict=True))
        yield "  ".join([f"{first.strip():<{widths[0]}}", *others])


def machine(threads: int | None = None) -> str:
    """What was measured on."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        name = models[0].split(":", 1)[1].strip() if models else name
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    solver = choose(threads=threads, single=True).name
    cores, used = default_threads(), threads or default_threads()
    return f"{platform.system()}, {name}, {cores} cores; {solver}, kernels on {used}{load}"


def run(
    scenes: Sequence[str] = tuple(SCENES), frames: int = FRAMES, warm_up: int = WARM_UP, *, threads: int | None = None
) -> Iterator[str]:  # fmt: skip
    """Measure and print as it goes."""
    yield machine(threads)
    rows = []
    for name in scenes:
        rows.append(measure(SCENES[name](threads), frames, warm_up))
        yield f"measured {name}: {rows[-1].tracked.frame:.3f} s a frame, one Newton step {rows[-1].once.frame:.3f} s"
    titles = {
        "medians a frame; one Newton iteration from the same states, with and without the regions' conditions": COST,
        "the two runs, each with iterations of its own": RUNS,
        "where a step's time goes": PROFILE,
    }
    for title, columns in titles.items():
        yield ""
        yield title
        yield from text_table(columns, rows)
