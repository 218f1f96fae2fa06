"""A puppet's head, by its distance: 0.32 m tall, looks along +z, its glabella (between the brows) near y = 0.

Its triangles are even after an inversion about a point before the forehead, which keeps angles: so they are small where
a frown has its wrinkles and large at the back of the head.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh

from .level_set import even_surface
from .soft_shapes import Part, ball, both_sides, cut, melted

NECK = -0.185
"""[m] height at which the neck ends"""
EYE = (0.041, -0.026, 0.064)
EYEBALL = 0.0205
_LIGHT = np.array([0.0, 0.025, 0.245])
"""[m] the point of the inversion"""
_NEAREST = 0.142
"""[m] distance from it at which edges are as long as is asked"""


def _skull(x: Points) -> Vector:
    parts = [
        ball((0.0, 0.030, -0.022), 0.116, (0.86, 0.90, 1.0)),
        Part((0.0, -0.030, 0.016), (0.0, -0.098, 0.034), (0.074, 0.047), (1.0, 1.0, 1.0)),
        Part((0.0, -0.060, -0.040), (0.0, -0.250, -0.050), (0.056, 0.058)),
    ]
    return melted([one.distance(x) for one in parts], 0.045)


def _features(x: Points) -> list[Vector]:
    """What melts into the skull a little: chin, cheeks, brows."""
    parts = [
        ball((0.0, -0.128, 0.062), 0.021),
        *both_sides(
            ball((0.048, -0.062, 0.054), 0.029),
            Part((0.014, 0.006, 0.078), (0.062, 0.014, 0.050), (0.0165, 0.014)),
        ),
    ]
    return [one.distance(x) for one in parts]


def outside_head(x: Points) -> Vector:
    """(n,) [m] about how far points (n, 3) are outside of it."""
    mirrored = np.abs(x[:, :1]) * [1.0, 0.0, 0.0] + x * [0.0, 1.0, 1.0]
    head = melted([_skull(x), *_features(x)], 0.030)
    ear = Part((0.105, -0.004, -0.030), (0.096, -0.038, -0.019), (0.022, 0.015), (0.6, 1.0, 1.0)).distance(mirrored)
    hollow = ball((0.126, -0.010, -0.020), 0.016, (1.0, 1.2, 1.0)).distance(mirrored)
    head = melted([head, cut(ear, -hollow, 0.008)], 0.018)
    socket = ball((EYE[0], EYE[1], EYE[2] + 0.026), 0.024, (1.25, 0.85, 1.0)).distance(mirrored)
    head = cut(head, -socket, 0.016)
    nose = [
        Part((0.0, -0.002, 0.080), (0.0, -0.056, 0.114), (0.0095, 0.0185)),
        *both_sides(ball((0.0180, -0.061, 0.096), 0.0115)),
    ]
    head = melted([head, melted([one.distance(x) for one in nose], 0.012)], 0.022)
    upper = Part((0.0, -0.0920, 0.0840), (0.036, -0.1010, 0.0640), (0.0115, 0.0060)).distance(mirrored)
    lower = Part((0.0, -0.1090, 0.0820), (0.032, -0.1060, 0.0660), (0.0125, 0.0070)).distance(mirrored)
    mouth = Part((0.0, -0.1000, 0.0990), (0.040, -0.1045, 0.0740), (0.0035, 0.0030)).distance(mirrored)
    head = cut(melted([head, melted([upper, lower], 0.006)], 0.018), -mouth, 0.008)
    eye = ball(EYE, EYEBALL).distance(mirrored)
    lid = cut(ball(EYE, EYEBALL + 0.0030).distance(mirrored), _below_lid(mirrored), 0.003)
    head = melted([head, lid], 0.008)
    return cut(melted([head, eye], 0.004), NECK - x[:, 1], 0.012)


def _below_lid(x: Points) -> Vector:
    """(n,) [m] how far below the upper lid's border."""
    return 0.006 + EYE[1] - x[:, 1] + 0.25 * (x[:, 0] - EYE[0])


@lru_cache(maxsize=4)
def head(edge: float) -> TriMesh:
    """With edges of about `edge` [m] on the forehead, twice as long on the cheeks, six times at the back."""

    def inverted(x: Points) -> Points:
        away = x - _LIGHT
        return _LIGHT + away * (_NEAREST**2 / np.maximum((away**2).sum(axis=1, keepdims=True), 1e-9))

    def distance(x: Points) -> Vector:
        larger = ((x - _LIGHT) ** 2).sum(axis=1) / _NEAREST**2  # than in our space
        return outside_head(inverted(x)) * larger

    low, high = np.array([-0.09, -0.09, 0.09]), np.array([0.09, 0.12, 0.215])
    mesh = even_surface(distance, low, high, edge)
    return TriMesh(inverted(mesh.rest), mesh.faces[:, ::-1])


@lru_cache(maxsize=1)
def skull() -> TriMesh:
    """What is bone: 20 mm under the skin, closed."""

    def distance(x: Points) -> Vector:
        return cut(_skull(x) + 0.022, NECK + 0.030 - x[:, 1], 0.012)

    low, high = np.array([-0.09, NECK, -0.13]), np.array([0.09, 0.12, 0.10])
    return even_surface(distance, low, high, 0.018)
