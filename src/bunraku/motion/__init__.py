"""Animations and keyed numbers. Knows no physics, no files."""

from .animation import Animation as Animation
from .animation import Interpolation as Interpolation
from .curve import EASES as EASES
from .curve import Curve as Curve
from .curve import CurveLike as CurveLike
from .curve import ease as ease
from .growth import Growth as Growth
from .path import FURTHEST_TURN as FURTHEST_TURN
from .path import HOLDS as HOLDS
from .path import Hold as Hold
from .path import Path as Path
from .rest_shapes import RestShapes as RestShapes
from .shapes import ShapeMotion as ShapeMotion
