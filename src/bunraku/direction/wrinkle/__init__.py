"""Skins on soft interiors: what is under them, what couples them, and the skin in balance."""

from .handles import Handle as Handle
from .muscles import Muscle as Muscle
from .skin import Skin as Skin
from .verb import wrinkle as wrinkle
from .verb import wrinkling_job as wrinkling_job
