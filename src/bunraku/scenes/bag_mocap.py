"""The bag driven by motion capture: trunk, legs and arms of a skeleton move its body, its feet and its hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.motion import Animation, ease
from bunraku.rigs import Skeleton

from .bag import bag_mesh

PARTS = {
    "hips": ("hips", "pelvis"),
    "chest": ("spine1", "chest", "spine2", "spine"),
    "left foot": ("leftfoot", "leftankle"),
    "right foot": ("rightfoot", "rightankle"),
    "left hand": ("lefthand", "leftwrist"),
    "right hand": ("righthand", "rightwrist"),
}
"""a part of the bag: names of joints that may drive it, capitals and signs aside, the best first"""
_HIPS_UP = 0.40  # where the bag's hips are, as a share of its height
_SOLES = 0.02  # [m] what of the bag at rest lies lower is its soles
_JUMP, _SUDDEN = 0.1, 4.0
"""a first sample is a T-pose put before where a joint leaves it by so large a share of the height, so suddenly"""


@dataclass(frozen=True, eq=False)
class _Driven:
    """What the skeleton says, in the bag's size; t moments."""

    hips: Points
    """(t, 3) [m]"""
    trunk: Array
    """(2, t, 3, 3) turns of hips and chest"""
    limbs: Array
    """(4, t, 3) [m] how far feet and hands are from where the hips alone would carry them"""
    lowest: Vector
    """(t,) [m] of the skeleton's feet over the lowest they come"""


def mocap_bag(skeleton: Skeleton, rate: float = 24.0, *, reach: float = 0.16, hands: float = 0.35) -> Animation:
    """The guide: a skeleton's whole motion, begun at the origin and turned to begin facing +z.

    The skeleton is scaled so that its hips stand where the bag's are, whatever its unit. A T-pose put before the
    motion, as in the CMU files, is left out. No foot or hand is drawn further than the `reach` [m] from where the trunk
    alone would carry it; the bag's short arms go that share of the `hands`' way.
    """
    for name, value, least in (("reach", reach, np.nextafter(0.0, 1.0)), ("hands", hands, 0.0)):
        if not least <= value < np.inf:
            raise input_error(
                f"'{name}' is not a number it can be", got=value, allowed="above 0" if least else "from 0"
            )
    mesh, times = bag_mesh(), _moments(skeleton, rate)
    driven = _drive(skeleton, times, _HIPS_UP * float(np.ptp(mesh.rest[:, 1])), reach, hands)
    points = _carried(mesh.rest, driven)
    # The bag's legs are shorter than a body's: while it is upright it is put on its feet.
    off = driven.lowest - points[:, mesh.rest[:, 1] < _SOLES, 1].min(axis=1)
    points[:, :, 1] += (ease(driven.trunk[0, :, 1, 1], -0.2, 0.5) * off)[:, None]
    return Animation(mesh, np.arange(len(times)) / rate, points)


def _moments(skeleton: Skeleton, rate: float) -> Vector:
    places = skeleton.worlds(skeleton.times[:3])[:, :, :3, 3]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=2).max(axis=1)
    jumps = len(steps) == 2 and steps[0] > max(_JUMP * np.ptp(places[0, :, 1]), _SUDDEN * steps[1])
    first = float(skeleton.times[1 if jumps else 0])
    count = int(np.floor((skeleton.times[-1] - first) * rate + 1e-6)) + 1
    if count < 2:
        raise input_error("the motion is too short for two frames", got=float(np.ptp(skeleton.times)))
    return first + np.arange(count) / rate


def _joints(skeleton: Skeleton) -> dict[str, int]:
    plain = ["".join(letter for letter in name.lower() if letter.isalnum()) for name in skeleton.names]
    found = {part: next((plain.index(name) for name in names if name in plain), -1) for part, names in PARTS.items()}
    missing = [part for part, joint in found.items() if joint < 0]
    if missing:
        raise input_error(
            f"no joint of the skeleton is its {', '.join(missing)}", got=", ".join(skeleton.names[:20]),
            allowed="; ".join(f"{part}: {', '.join(PARTS[part])}" for part in missing), remedy="rename joints",
        )  # fmt: skip
    return found


def _drive(skeleton: Skeleton, times: Vector, hips_up: float, reach: float, hands: float) -> _Driven:
    joints = _joints(skeleton)
    bind, worlds = skeleton.bind, skeleton.worlds(times)
    stood = bind[joints["hips"], 1, 3] - 0.5 * (bind[joints["left foot"], 1, 3] + bind[joints["right foot"], 1, 3])
    if not stood > 0:
        raise input_error(
            "the skeleton's bind pose does not stand upright along Y", got=f"hips {stood:.3g} over the feet",
            allowed="hips over feet", remedy="up_axis = 'Z' (--up-axis Z) where the file's Z is up",
        )  # fmt: skip
    turns = worlds[:, :, :3, :3] @ np.linalg.inv(bind[:, :3, :3])
    facing = turns[0, joints["hips"], :, 2]
    to_front = _about_y(-np.arctan2(facing[0], facing[2]))
    scale, places = hips_up / stood, worlds[:, :, :3, 3] @ to_front.T
    hips, trunk = places[:, joints["hips"]], to_front @ turns[:, [joints["hips"], joints["chest"]]].swapaxes(0, 1)
    limbs = []
    for part, share in (("left foot", 1.0), ("right foot", 1.0), ("left hand", None), ("right hand", None)):
        follows, carrier = (share, trunk[0]) if share else (hands, trunk[1])
        at_rest = bind[joints[part], :3, 3] - bind[joints["hips"], :3, 3]
        way = scale * follows * (places[:, joints[part]] - hips - carrier @ at_rest)
        far = np.linalg.norm(way, axis=1, keepdims=True)
        limbs.append(way * reach / np.hypot(reach, far))
    begin = np.array([hips[0, 0], 0.0, hips[0, 2]])
    feet = [joints["left foot"], joints["right foot"]]
    lowest = places[:, feet, 1].min(axis=1) - places[:, feet, 1].min()
    return _Driven(scale * (hips - begin), trunk, np.stack(limbs), scale * lowest)


def _carried(rest: Points, driven: _Driven) -> Array:
    """(t, n, 3)"""
    height, width = float(np.ptp(rest[:, 1])), float(np.abs(rest[:, 0]).max())
    up, left = rest[:, 1] / height, ease(rest[:, 0] / width, -0.6, 0.6)
    pivot = np.array([0.0, _HIPS_UP * height, 0.0])
    chest = ease(up, 0.3, 0.9)
    low, high = 1.0 - ease(up, 0.0, 0.55), ease(up, 0.6, 1.0)
    shares = np.stack([low * left, low * (1.0 - left), high * left, high * (1.0 - left)])
    away = rest - pivot
    by_hips, by_chest = (np.einsum("tij,nj->tni", turns, away) for turns in driven.trunk)
    trunk = by_hips + chest[:, None] * (by_chest - by_hips)
    return driven.hips[:, None] + trunk + np.einsum("ln,lti->tni", shares, driven.limbs)


def _about_y(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
