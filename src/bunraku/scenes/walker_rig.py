"""A small rig for the walker: fourteen bones, smooth weights, legs that find their feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Points, Sparse, Vector
from bunraku.geometry import TriMesh, edges
from bunraku.motion import ease

from .walker_body import ANKLE, BALL, CHEST, ELBOW, HAND, HIP, HIPS, KNEE, SHOULDER, TOE, mirrored

BONES = (
    "hips", "chest", "upper arm L", "forearm L", "thigh L", "shin L", "foot L", "toe L",
    "upper arm R", "forearm R", "thigh R", "shin R", "foot R", "toe R",
)  # fmt: skip
_HEADS_TAILS = [(SHOULDER, ELBOW), (ELBOW, HAND), (HIP, KNEE), (KNEE, ANKLE), (ANKLE, BALL), (BALL, TOE)]
_SMOOTHINGS = 14  # rounds over which weights spread: about four edges to each side of a joint
_FOOT_ONLY, _FOOT_ENDS = 0.06, 0.13  # [m] below, only the foot's bones count; above, all do

_TOE_BEND = 0.06  # [m] behind the ball of the foot, over which the sole bends


@dataclass(frozen=True, eq=False)
class Pose:
    """Where each bone is at one moment; a point x of bone b goes to turn_b (x − joint_b) + place_b."""

    turns: Array
    """(14, 3, 3)"""
    places: Points
    """(14, 3) [m] of the bones' joints"""

    @property
    def moves(self) -> Array:
        """(14, 3, 4) rest pose to world."""
        offsets = self.places - np.einsum("bij,bj->bi", self.turns, joints())
        return np.concatenate([self.turns, offsets[:, :, None]], axis=2)


def joints() -> Points:
    """(14, 3) [m] the rest position of the joint each bone turns about."""
    left = [head for head, _ in _HEADS_TAILS]
    return np.array([HIPS, CHEST, *left, *(mirrored(one) for one in left)])


def _segments() -> Array:
    left = np.array(_HEADS_TAILS)
    return np.concatenate([[[HIPS, CHEST], [CHEST, CHEST]], left, left * np.array([-1.0, 1.0, 1.0])])


def skin_weights(mesh: TriMesh) -> Array:
    """(n, 14) rows that sum to one: the nearest bone's, spread over the surface so that joints bend softly.

    The soles belong to the feet alone: what is planted stays planted.
    """
    weights = np.eye(len(BONES))[_nearest_bone(mesh.rest)]
    spread = _neighbour_mean(mesh)
    for _ in range(_SMOOTHINGS):
        weights = spread @ weights
    feet = [BONES.index(f"{part} {side}") for part in ("foot", "toe") for side in "LR"]
    others = np.setdiff1d(np.arange(len(BONES)), feet)
    weights[:, others] *= ease(mesh.rest[:, 1], _FOOT_ONLY, _FOOT_ENDS)[:, None]
    bend = ease(mesh.rest[:, 2], BALL[2] - _TOE_BEND, BALL[2])  # all that lies before the ball is toe
    for side in "LR":
        foot, toe = BONES.index(f"foot {side}"), BONES.index(f"toe {side}")
        both = weights[:, foot] + weights[:, toe]
        weights[:, foot], weights[:, toe] = (1.0 - bend) * both, bend * both
    return weights / weights.sum(axis=1, keepdims=True)


def _nearest_bone(x: Points) -> Integers:
    """(n,)"""
    away = []
    for a, b in _segments():
        axis = b - a
        along = np.clip((x - a) @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0)
        away.append(np.linalg.norm(x - a - along[:, None] * axis, axis=1))
    # Foot and toe split at the ball of the foot, not by distance to lines on the ground.
    nearest = np.argmin(away, axis=0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        foot, toe, shin = (BONES.index(f"{part} {side}") for part in ("foot", "toe", "shin"))
        low = (x[:, 1] < ANKLE[1]) & (sign * x[:, 0] > 0)
        nearest[low & (x[:, 2] <= BALL[2])] = foot
        nearest[low & (x[:, 2] > BALL[2])] = toe
        nearest[~low & np.isin(nearest, [foot, toe])] = shin
    return nearest


def _neighbour_mean(mesh: TriMesh) -> Sparse:
    """(n, n) each vertex's own value and that of its neighbours, half and half."""
    a, b = edges(mesh.faces).vertices.T
    n = mesh.point_count
    links = sparse.csr_array((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, a])), shape=(n, n))
    return sparse.csr_array(
        0.5 * sparse.eye_array(n) + 0.5 * sparse.diags_array(1.0 / np.asarray(links.sum(axis=1)).reshape(-1)) @ links
    )


def rotation(pitch: float = 0.0, yaw: float = 0.0, roll: float = 0.0) -> Array:
    """(3, 3) about z by roll, then x by pitch, then y by yaw [rad]; positive pitch bows to the front."""
    (cp, sp), (cy, sy), (cr, sr) = ((np.cos(a), np.sin(a)) for a in (pitch, yaw, roll))
    x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    z = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    return y @ x @ z


def bent_knee(hip: Vector, ankle: Vector, thigh: float, shin: float, forward: Vector) -> Vector:
    """(3,) the knee of a leg with bones of these lengths [m], bent towards `forward`; stretched when out of reach."""
    reach = ankle - hip
    far = float(np.linalg.norm(reach))
    along = (thigh**2 - shin**2 + far**2) / (2.0 * far)
    out = forward - (forward @ reach) / far**2 * reach
    return hip + along * reach / far + np.sqrt(max(thigh**2 - along**2, 0.0)) * out / np.linalg.norm(out)


def aimed(before: Vector, after: Vector) -> Array:
    """(3, 3) the shortest turn that takes one direction to another."""
    a, b = before / np.linalg.norm(before), after / np.linalg.norm(after)
    v, c = np.cross(a, b), float(a @ b)
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + skew + skew @ skew / (1.0 + c)
