"""The walker's performance (TRACKS §5.4): a walk, a headwind, a live wire, and shaking it off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.ndimage import gaussian_filter1d

from bunraku.contracts import Array, Flags, Integers, Points, Vector
from bunraku.direction.track import vertex_labels
from bunraku.geometry import TriMesh, cluster_faces
from bunraku.motion import Animation, ease
from bunraku.rigs import skinned

from .easing import about_x, keyed
from .walker_body import ANKLE, BALL, CHEST, HIP, HIPS, KNEE, walker_mesh
from .walker_feet import FootPath, Step, foot_path
from .walker_rig import BONES, Pose, aimed, bent_knee, joints, rotation, skin_weights

DURATION = 5.0  # [s]
BEATS = {"walk": (0.0, 2.25), "headwind": (2.25, 3.35), "shock": (3.40, 4.00), "shake": (4.05, 4.85)}
"""[s] the beats of the performance, for materials, wind and rest shapes that change with them"""
STEPS = {
    "L": [Step(0.85, 1.25, 0.36), Step(1.85, 2.25, 0.70), Step(2.98, 3.36, 0.88)],
    "R": [Step(0.36, 0.75, 0.18), Step(1.35, 1.75, 0.54), Step(2.44, 2.82, 0.82)],
}
BODY_REGIONS, FOOT_REGIONS = 160, 60
"""regions of the body and of each foot: 280 in all"""
_FOOT_HEIGHT = 0.11  # [m] below it a face is a foot's
_SEEDS = 50
_FINE = 480  # [1/s] rate at which the body's path is smoothed
_STEP = 0.36  # [m] the longest step


@dataclass(frozen=True, eq=False)
class Channels:
    """What the trunk and the arms do; (t,) each, angles [rad], lengths [m]."""

    hips: Points
    """(t, 3) shift of the hips from the rest"""
    pitch: Vector
    yaw: Vector
    roll: Vector
    bow: Vector
    """of the chest, over that of the hips; `twist` and `tilt` alike"""
    twist: Vector
    tilt: Vector
    swing: Vector
    """(t, 2) of left and right arm to the front"""
    raised: Vector
    """of both arms outwards from the rest"""
    elbow: Vector
    """bend of both elbows to the front"""


def walking_x(rate: float = 24.0) -> Animation:
    """The guide: five seconds of keyed gestures on the walker's mesh."""
    mesh = walker_mesh()
    times = np.arange(round(DURATION * rate) + 1) / rate
    feet = {side: foot_path(times, steps) for side, steps in STEPS.items()}
    channels = performance(times)
    moves = np.stack([pose(channels, feet, k).moves for k in range(len(times))])
    points = skinned(mesh.rest, sparse.csr_array(skin_weights(mesh)), moves)
    return Animation(mesh, times, points)


def walker_regions(guide: Animation) -> Integers:
    """(f,) 280 regions that follow the animation, with fine ones on the feet so that their roll is kept."""
    mesh = guide.mesh
    centre = mesh.rest[mesh.faces].mean(axis=1)
    low = centre[:, 1] < _FOOT_HEIGHT
    parts = [~low, low & (centre[:, 0] > 0), low & (centre[:, 0] < 0)]
    poses = guide.points[:: max(guide.frame_count // 12, 1)]
    labels, first = np.full(len(mesh.faces), -1), 0
    for part, count in zip(parts, (BODY_REGIONS, FOOT_REGIONS, FOOT_REGIONS), strict=True):
        labels[part] = first + _clusters(mesh, poses, part, count)
        first += count
    return labels


def _clusters(mesh: TriMesh, poses: Array, part: Flags, count: int) -> Integers:
    """Clusters of a part of the faces, from the first seed with which each has a vertex of its own inside the part."""
    used, faces = np.unique(mesh.faces[part], return_inverse=True)
    piece = TriMesh(mesh.rest[used], faces.reshape(-1, 3))
    inside = ~np.isin(used, mesh.faces[~part])
    for seed in range(_SEEDS):
        labels = cluster_faces(poses[:, used], piece.faces, count, compactness=0.7, seed=seed).labels
        if len(np.unique(vertex_labels(piece, labels, "walker")[inside])) == count:
            return labels
    raise RuntimeError(f"none of {_SEEDS} seeds gave {count} regions with vertices")


def performance(times: Vector) -> Channels:
    """The keys, and what follows from the steps: weight goes to the standing foot, arms swing against the legs."""
    ahead, between, side = _from_steps(times)
    wind = ease(times, 2.20, 2.55) - ease(times, 3.20, 3.42)
    shock, shake = _beat(times, "shock", 0.10), _beat(times, "shake", 0.16)
    jolt = shock * np.sin(2.0 * np.pi * 8.0 * times)
    wag = shake * np.sin(2.0 * np.pi * 3.6 * (times - BEATS["shake"][0]))
    walk = ease(times, 0.2, 0.6) - ease(times, 3.2, 3.6)
    down = keyed(times, [(0, 0.012), (0.22, 0.045), (0.5, 0.04), (2.2, 0.04), (2.6, 0.06), (3.3, 0.055), (3.48, 0.026),
                         (3.95, 0.026), (4.15, 0.05), (4.8, 0.02), (5.0, 0.012)])  # fmt: skip
    bob = 0.008 * walk * np.cos(4.0 * np.pi * times)
    hips = np.stack([0.055 * side + 0.012 * jolt + 0.015 * wag, -down - bob, ahead + 0.03 * wind], axis=1)
    swing = 0.75 * between / _STEP
    blown = -0.85 * wind
    return Channels(
        hips=hips,
        pitch=0.06 * walk + 0.22 * wind,
        yaw=0.30 * between / _STEP + 0.25 * wag,
        roll=-0.10 * side * walk,
        bow=keyed(times, [(0, 0), (0.22, 0.16), (0.55, -0.02), (2.2, 0.0), (5.0, 0.0)]) + 0.22 * wind - 0.10 * shock
        + 0.10 * np.abs(shake),
        twist=-0.55 * between / _STEP + 0.55 * wag,
        tilt=keyed(times, [(0, 0.0), (0.15, 0.10), (0.45, 0.0), (4.6, 0.0), (4.85, -0.10), (5, -0.08)])
        + 0.12 * side * walk + 0.06 * jolt,
        swing=np.stack([blown - swing + 0.10 * jolt + 0.35 * wag, blown + swing - 0.10 * jolt - 0.35 * wag], axis=1),
        raised=-0.12 * walk - 0.18 * wind + 0.30 * shock + 0.07 * jolt - 0.35 * shake,
        elbow=0.25 * walk + 0.10 * wind - 0.25 * shock + 0.20 * shake,
    )  # fmt: skip


def _beat(times: Vector, name: str, soft: float) -> Vector:
    start, end = BEATS[name]
    return ease(times, start, start + soft) - ease(times, end - soft, end)


def _from_steps(times: Vector) -> tuple[Vector, Vector, Vector]:
    """(t,) how far ahead the middle of the feet is [m], the left foot's lead over the right [m], and the side of the
    body that carries it, −1 right to 1 left; all smooth."""
    fine = np.arange(-_FINE, round((DURATION + 1.0) * _FINE)) / _FINE
    paths = {side: foot_path(fine, steps) for side, steps in STEPS.items()}
    left, right = (paths[side].ball[:, 2] - BALL[2] for side in "LR")
    carries = np.zeros_like(fine)
    for side, sign in (("L", -1.0), ("R", 1.0)):  # who swings leaves the weight to the other
        for step in STEPS[side]:
            carries[(fine > step.lift - 0.08) & (fine < step.land)] += sign
    ahead = gaussian_filter1d(0.5 * (left + right), 0.13 * _FINE)
    between = gaussian_filter1d(left - right, 0.06 * _FINE)
    side = gaussian_filter1d(carries, 0.09 * _FINE)
    return tuple(np.interp(times, fine, one) for one in (ahead, between, side))  # type: ignore[return-value]


def pose(channels: Channels, feet: dict[str, FootPath], k: int) -> Pose:
    """Where the bones are at frame k."""
    rest = joints()
    turns, places = np.tile(np.eye(3), (len(BONES), 1, 1)), rest.copy()
    hips = rotation(channels.pitch[k], channels.yaw[k], channels.roll[k])
    chest = hips @ rotation(channels.bow[k], channels.twist[k], channels.tilt[k])
    turns[0], places[0] = hips, np.asarray(HIPS) + channels.hips[k]
    turns[1], places[1] = chest, places[0] + hips @ (np.asarray(CHEST) - np.asarray(HIPS))
    for number, (side, sign) in enumerate((("L", 1.0), ("R", -1.0))):
        first = 2 + 6 * number
        turns[first] = chest @ rotation(channels.swing[k, number], 0.0, -sign * channels.raised[k])
        turns[first + 1] = turns[first] @ rotation(channels.elbow[k])
        places[first] = places[1] + chest @ (rest[first] - rest[1])
        places[first + 1] = places[first] + turns[first] @ (rest[first + 1] - rest[first])
        _leg(turns, places, feet[side], k, first + 2, sign)
    return Pose(turns, places)


def _leg(turns: Array, places: Points, foot: FootPath, k: int, first: int, sign: float) -> None:
    """Fill in thigh, shin, foot and toe: the foot as its path says, the leg to reach it."""
    mirror = np.array([sign, 1.0, 1.0])
    hip, knee, ankle, ball = (np.asarray(one) * mirror for one in (HIP, KNEE, ANKLE, BALL))
    here = foot.ball[k] + np.array([ball[0], 0.0, 0.0])
    turns[first + 2], turns[first + 3] = about_x(foot.pitch[k]), about_x(foot.toe_pitch[k])
    places[first + 2], places[first + 3] = here + turns[first + 2] @ (ankle - ball), here
    places[first] = places[0] + turns[0] @ (hip - np.asarray(HIPS))
    lengths = float(np.linalg.norm(knee - hip)), float(np.linalg.norm(ankle - knee))
    places[first + 1] = bent_knee(places[first], places[first + 2], *lengths, np.array([0.25 * sign, 0.0, 1.0]))
    turns[first] = aimed(knee - hip, places[first + 1] - places[first])
    turns[first + 1] = aimed(ankle - knee, places[first + 2] - places[first + 1])
