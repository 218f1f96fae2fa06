"""Studies of demos: several looks of one guide, run as the shots they are, and set beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bunraku.contracts import Array, PhysicsStopped
from bunraku.direction.track import hierarchy, painted
from bunraku.geometry import TriMesh
from bunraku.io import read_animation
from bunraku.motion import Animation
from bunraku.scenes import Panel, Study, mean_distance, walker_regions
from bunraku.scenes.walker import BODY_REGIONS

from .demos import demo, write_demo
from .report import TakeOutcome
from .run import run_shot

_FIRST_LOOKS = {"bag": "vinyl", "walker": "felt"}
_SOLE = 0.02  # [m] what of the walker at rest lies lower is its soles


@dataclass(frozen=True, eq=False)
class LookTake:
    """A demo's guide and its take, on the same frames."""

    name: str
    guide: Animation
    shell: TriMesh
    posed: Array
    """(t, n, 3) [m] where the guide's smooth surface has the shell's vertices"""
    take: Animation
    unconverged: int
    """frames on which a step used up its Newton iterations"""

    def panel(self) -> Panel:
        """The take, for a study."""
        return Panel(self.name, self.take, unconverged=self.unconverged)

    def off(self) -> float:
        """[mm] from the guide's surface, root mean square over the shell, mean over the frames."""
        return _apart(self.shell, self.take.points, self.posed)


def look_take(name: str, threads: int | None = None, frames: tuple[int, int] | None = None) -> LookTake:
    """Run a demo as its shot says, or some of its frames; refuse a take that physics stopped."""
    chosen = demo(name)
    with TemporaryDirectory() as folder:
        shot = write_demo(name, Path(folder))
        shot = replace(shot, output=replace(shot.output, preview=False))
        result = run_shot(shot, out=Path(folder) / "take", frames=frames, threads=threads)
        if result.outcome is not TakeOutcome.FINISHED:
            raise PhysicsStopped(f"{name}: {result.report.story}")
        take = read_animation(result.folder / f"{name}.usdc")
    guide = chosen.guide()
    first, last = frames or (1, guide.frame_count)
    guide = Animation(guide.mesh, guide.times[first - 1 : last], guide.points[first - 1 : last])
    shell, tests = hierarchy(guide.mesh, chosen.settings["mesh"]["levels"])
    assert tests.prolongation is not None
    posed = np.stack([tests.prolongation @ x for x in guide.points])
    unconverged = int(np.sum(~np.asarray(result.report.measured.arrays["converged"], dtype=bool)))
    return LookTake(name, guide, shell, posed, replace(take, times=guide.times), unconverged)


def look_of(name: str) -> str:
    """What pictures call a demo's look: 'flowy' of 'bag_flowy'; the first look of each has a name of its own."""
    return _FIRST_LOOKS.get(name) or name.split("_", 1)[1]


def looks(names: Sequence[str], moments: tuple[int, ...], threads: int | None = None) -> Study:
    """Looks of one guide, and how far they are from it and from the first of them."""
    takes = [look_take(name, threads) for name in names]
    first = takes[0]
    rows = [(one.name, (one.off(), _apart(one.shell, one.take.points, first.take.points))) for one in takes]
    return Study(
        _panels(takes), ("from the guide mm", f"from {first.name} mm"), tuple(rows), moments,
    )  # fmt: skip


def outfits(
    names: Sequence[str], moments: tuple[int, ...], frames: tuple[int, int] | None, threads: int | None = None
) -> Study:
    """Outfits of the walker on some of its frames, and how well its feet roll; moments count from the first frame."""
    takes = [look_take(name, threads, frames) for name in names]
    rows = [(one.name, (one.off(), *sole_distances(one))) for one in takes]
    columns = "from the guide mm", "soles: averages mm", "soles: surface mm", "soles: furthest mm"
    return Study(_panels(takes), columns, tuple(rows), moments)


def _panels(takes: Sequence[LookTake]) -> tuple[Panel, ...]:
    own = (replace(one.panel(), caption=look_of(one.name)) for one in takes)
    return Panel("guide", takes[0].guide, is_guide=True), *own


def sole_distances(one: LookTake) -> tuple[float, float, float]:
    """[mm] from the guide: the feet's averages, the largest; the soles' points, root mean square and largest.

    All after the first frame, which starts in the guide's own pose.
    """
    mesh, whole = one.guide.mesh, demo(one.name).guide()
    labels = walker_regions(whole)
    tests = painted(mesh, labels, mesh, labels)
    average, _ = tests.averages(mesh, mesh)
    feet = average[BODY_REGIONS:]
    away = one.take.points[1:] - one.posed[1:]
    regional = max(float(np.linalg.norm(feet @ x, axis=1).max()) for x in away)
    sole = np.linalg.norm(away[:, mesh.rest[:, 1] < _SOLE], axis=2)
    return 1e3 * regional, 1e3 * float(np.sqrt(np.mean(sole**2))), 1e3 * float(sole.max())


def _apart(shell: TriMesh, a: Array, b: Array) -> float:
    return 1e3 * float(np.mean([mean_distance(shell, x, y) for x, y in zip(a, b, strict=True)]))
