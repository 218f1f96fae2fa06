"""Surfaces that must not pass through each other: near pairs, barrier, friction, and how far a step may go."""

from .barrier import activation_stiffness
from .nearness import near_segments
from .obstacles import MOST_FRICTION, Obstacle, Plane, capsule, sphere
from .parts import Between
from .pinching import PINCHED, Pinches
from .surfaces import Surfaces
from .touch import Touch
from .unsewn import Stitches

__all__ = [
    "MOST_FRICTION",
    "PINCHED",
    "Between",
    "Obstacle",
    "Pinches",
    "Plane",
    "Stitches",
    "Surfaces",
    "Touch",
    "activation_stiffness",
    "capsule",
    "near_segments",
    "sphere",
]
