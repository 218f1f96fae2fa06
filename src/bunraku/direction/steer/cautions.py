"""What may be meant, but rarely is: said in sentences, and the shot goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Vector
from bunraku.geometry import TetMesh, tet_lumped_mass
from bunraku.materials import SolidMaterial
from bunraku.motion import Path

from .keys import KeyShape
from .rigid import centre
from .settings import SteerSettings
from .turning import MISSED_TURN

_CLOSE = 3
"""frames between two keys at which shapes are no longer passed near [Kondo 2005, §6]"""
_BODIES_A_FRAME = 1.0
"""body sizes between two frames beyond which a path is radical"""
_SPUN = 1.0
"""ω r / √(E/ρ), how fast a body's end goes round against sound in it, from which on a turn stretches it by half; a bar,
which gets tan(a)/a times as long, flies apart at π/2"""
_DEGREES_A_STEP = 45.0
"""beyond which implicit Euler takes a good part of a spin's pull away: it is 2 cos θ (1 − cos θ)/θ² of it"""
_SLIPS = 0.1
"""share of the edges of its elements by which a part may be put back in a step: beyond that it sags twice as much as it
must, and from about an edge on the body falls away"""
_SAGS = 0.15
"""strain of a body under its weight, ρ g h / E, beyond which keys count for little"""
_FETCHED = 0.05
"""share of the body's size by which a path may take hold of it elsewhere"""
_TIMES_FASTER = 8.0
"""than before and after: a path that does so, and by a good part of the body, jumps"""

_G = 9.81
"""[m/s²] of gravity on earth"""
_PULLS, _BACK = 6.0, 0.25
"""times gravity beyond which a path pulls harder than what hops, and share of that by which it pulls back before and
after where it is a spike"""
_SEEN = 0.01
"""share of the body's size below which a spike is not seen"""


def cautions(
    body: TetMesh, material: SolidMaterial, keys: Sequence[KeyShape], paths: Sequence[Path], knobs: SteerSettings
) -> Iterator[str]:
    """Sentences about keys that are too close, paths that jump or spin, and bodies in pieces."""
    rate, duration = float(knobs.rate), float(knobs.times[-1])
    times = [0.0, *(key.time for key in keys if key.time > 0.0)]
    for before, now in pairwise(times):
        frames = (now - before) * rate
        if frames <= _CLOSE + 1e-6:
            since = f"the key at {knobs.moment(before)}" if before > 0.0 else "the start"
            yield (
                f"the key at {knobs.moment(now)} comes {frames:.3g} frames after {since}: shapes {_CLOSE} frames apart "
                "or closer are hardly reached and shake the body"
            )
    for k, path in enumerate(paths):
        yield from _jumps(k, path, body, knobs)
        yield from _slips(k, path, body, knobs)
        yield from _spins(k, path, body, material, rate * knobs.substeps)
        if len(path.times) > 1 and (path.times[0] > duration or path.times[-1] < 0.0):
            yield f"path {k} never holds: its samples lie {'after' if path.times[0] > duration else 'before'} the shot"
        elif len(path.times) > 1 and (path.times[0] > 0.0 or path.times[-1] < duration - 1e-9):
            yield (
                f"path {k} holds from {knobs.moment(path.times[0])} to {knobs.moment(min(path.times[-1], duration))}; "
                f"{_outside(path, duration)} that the body is free of it"
            )
    if body.part_count > 1:
        only = "; keys say the shape of each, not how they lie to each other" if keys else ""
        yield f"the body is in {body.part_count} pieces that nothing holds together{only}"


def sagging(body: TetMesh, material: SolidMaterial, gravity: Sequence[float], supported: bool) -> Iterator[str]:
    """A sentence about a body that stands or hangs and is so soft that its weight, not its keys, gives it its shape."""
    pull = np.asarray(gravity, dtype=np.float64)
    tall = float(np.ptp(body.rest @ pull))  # [m²/s²] height times acceleration
    strain = material.density * tall / material.young
    if supported and strain > _SAGS:
        yield (
            f"the body is so soft that its own weight strains it by about {100.0 * strain:.0f} %: it will sag more "
            "than it follows its keys; try a stiffer material or less gravity"
        )


@dataclass(frozen=True)
class Fetched:
    """A path that took hold of a body elsewhere than where it would have been."""

    path: int
    frame: int
    """the first on which it holds"""
    away: float
    """[m]"""


def fetched(times: Vector, report: Mapping[str, Array], size: float) -> list[Fetched]:
    """Of frames at times (t,) [s] and their reports: the paths that fetched a body of a size [m] from elsewhere."""
    if "point" not in report:  # a take from before this was told
        return []
    held = np.asarray(report["held"] > 0.0)
    free = report["point"][:-1] + np.diff(times)[:, None, None] * report["point_velocity"][:-1]
    away = np.linalg.norm(report["point"][1:] - free, axis=2)
    found = np.argwhere(held[1:] & ~held[:-1] & (away > _FETCHED * size))
    return [Fetched(int(k), int(j) + 1, float(away[j, k])) for j, k in found]


def missed_turns(times: Vector, report: Mapping[str, Array]) -> Iterator[str]:
    """Sentences about paths whose turn was missed, of frames at times (t,) [s] and their reports."""
    for k, off in enumerate(report["rotation_residual"].T):
        missed = np.flatnonzero(off > MISSED_TURN)
        if len(missed):
            worst = int(np.argmax(off))
            frames = f"{len(missed)} of {len(times)} frames ({times[missed[0]]:g} s to {times[missed[-1]]:g} s)"
            yield (
                f"the turn of path {k} was missed on {frames}, by up to {np.degrees(off[worst]):.2g}° at "
                f"{times[worst]:g} s: {turn_remedy(worst == 0)}"
            )


def turn_remedy(at_start: bool) -> str:
    """Why a turn was missed, and what helps; `at_start` in the first pose."""
    if at_start:
        return "the first pose is turned otherwise than the path begins; leave start out, or turn one of the two"
    return "it is too fast for the steps, or for so soft a body; try more substeps, a slower turn or a stiffer material"


def _spins(k: int, path: Path, body: TetMesh, material: SolidMaterial, steps: float) -> Iterator[str]:
    """Sentences about a path that turns so fast that the body is drawn out, or apart, or by much in one of so many
    `steps` a second."""
    if path.rotations is None or len(path.times) < 2:
        return
    turns = Rotation.from_matrix(path.rotations[:-1].transpose(0, 2, 1) @ path.rotations[1:])
    spins = turns.as_rotvec() / np.diff(path.times)[:, None]  # [rad/s], as the body at rest has it
    arm = body.rest - centre(body.rest, tet_lumped_mass(body, 1.0))
    ends = np.linalg.norm(np.cross(spins[:, None, :], arm[None]), axis=2).max(axis=1)  # [m/s]
    j = int(np.argmax(ends))
    sound = np.sqrt(material.young / material.density)
    if ends[j] > _SPUN * sound:
        most = np.degrees(np.linalg.norm(spins[j]))
        yield (
            f"path {k} turns at {most:.0f}°/s between sample {j} and {j + 1}, too fast for so soft a body: its ends go "
            f"round at {ends[j]:.2g} m/s and are drawn out by half, and fly off from {0.5 * np.pi * sound:.2g} m/s on; "
            "try a stiffer material or a slower turn"
        )
    angle = float(np.linalg.norm(spins, axis=1).max()) / steps
    if angle > np.radians(_DEGREES_A_STEP):
        felt = 2.0 * np.cos(angle) * (1.0 - np.cos(angle)) / angle**2
        share = f"{100.0 * felt:.0f} % of" if felt > 0.0 else "nothing of"
        yield (
            f"path {k} turns by {np.degrees(angle):.0f}° a step: the body feels {share} what draws it outwards; try "
            f"{np.ceil(np.degrees(angle) / _DEGREES_A_STEP):.0f} times as many substeps"
        )


def _slips(k: int, path: Path, body: TetMesh, knobs: SteerSettings) -> Iterator[str]:
    """A sentence about a part too light to carry the rest by being put back after each step.

    What is put back by δ in a step of dt gets the momentum m δ/dt. To carry a body 1/s times as heavy against a pull a
    takes δ = a dt²/s, and by so much the part is torn from its neighbours.
    """
    if path.hold != "compensation" or path.vertices is None:
        return
    mass = tet_lumped_mass(body, 1.0)
    share = float(mass[np.asarray(path.vertices)].sum() / mass.sum())
    speeds = np.stack([path.velocity(float(time)) for time in path.times])
    pulls = np.diff(speeds, axis=0) / np.diff(path.times)[:, None] - np.asarray(knobs.gravity)
    pull = float(np.linalg.norm(pulls, axis=1).max(initial=float(np.linalg.norm(knobs.gravity))))
    corners = body.rest[body.tets[np.isin(body.tets, path.vertices).any(axis=1)]]
    edge = float(np.linalg.norm(corners[:, [0, 0, 0, 1, 1, 2]] - corners[:, [1, 2, 3, 2, 3, 3]], axis=2).mean())
    back = pull / share / (knobs.rate * knobs.substeps) ** 2
    if back > _SLIPS * edge:
        enough = np.ceil(knobs.substeps * np.sqrt(back / (_SLIPS * edge)))
        yield (
            f"path {k} puts {100.0 * share:.2g} % of the body's mass back after each step, by {back:.2g} m where its "
            f"tetrahedra have edges of {edge:.2g} m: too far to carry the rest, which sags or falls away; try "
            f"hold='constraint', or substeps={enough:.0f}"
        )


def _outside(path: Path, duration: float) -> str:
    """When, beside its samples, a path does not hold."""
    before, after = path.times[0] > 0.0, path.times[-1] < duration - 1e-9
    return "before and after" if before and after else "before" if before else "after"


def _jumps(k: int, path: Path, body: TetMesh, knobs: SteerSettings) -> Iterator[str]:
    if len(path.times) < 2:
        return
    way = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
    speed = way / np.diff(path.times)
    for j, fast in enumerate(speed):
        around = max((speed[i] for i in (j - 1, j + 1) if 0 <= i < len(speed)), default=fast)
        jumps = len(speed) > 1 and fast > _TIMES_FASTER * around and way[j] > 0.25 * body.size
        if jumps or fast / knobs.rate > _BODIES_A_FRAME * body.size:
            yield (
                f"path {k} jumps between sample {j} and {j + 1} ({knobs.moment(path.times[j])} to "
                f"{knobs.moment(path.times[j + 1])}): "
                f"{way[j]:.3g} m at {fast:.3g} m/s, for a body of {body.size:.3g} m"
            )
            return
    yield from _spikes(k, path, body, knobs)


def _spikes(k: int, path: Path, body: TetMesh, knobs: SteerSettings) -> Iterator[str]:
    """A sentence about a frame on which a path is elsewhere than just before and after.

    From frame to frame its velocity then changes one way, back by twice as much, and the first way again. A bounce
    changes it once, and only gravity does so before and after: by less than a sixth where the bounce is more than six
    times as hard. A spike as hard changes it by a quarter at least, whatever gravity adds.
    """
    times = np.array([time for time in knobs.times if path.holds(float(time))])
    if len(times) < 5:
        return
    points = np.stack([path.at(float(time)) for time in times])
    pulls = np.diff(points, 2, axis=0) * knobs.rate**2  # [m/s²] on the second frame to the last but one
    size = np.linalg.norm(pulls, axis=1)
    back = [np.sum(pulls[1:-1] * other, axis=1) < -_BACK * size[1:-1] ** 2 for other in (pulls[:-2], pulls[2:])]
    gravity = max(_G, float(np.linalg.norm(knobs.gravity)))
    out = 0.5 * size[1:-1] / knobs.rate**2  # [m] from the middle between its neighbours
    found = np.flatnonzero(back[0] & back[1] & (size[1:-1] > _PULLS * gravity) & (out > _SEEN * body.size))
    if len(found):
        j = int(found[np.argmax(out[found])])
        yield (
            f"path {k} goes out and back by {out[j]:.3g} m in two frames, at {knobs.moment(float(times[j + 2]))}: "
            f"{size[j + 1] / gravity:.2g} times what gravity could do; is a sample off?"
        )
