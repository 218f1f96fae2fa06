"""Skins on soft interiors: what couples them, the skin in balance, and on a lattice that moves."""

from .skin import Skin as Skin
from .wrinkled import Wrinkled as Wrinkled
from .wrinkled import wrinkled as wrinkled
