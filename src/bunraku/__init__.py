"""bunraku: direct physics. The artist's animation is obeyed exactly at her scale; below it, mechanics."""

from .contracts import BunrakuError as BunrakuError
from .contracts import InputError as InputError
from .contracts import OutputError as OutputError
from .contracts import PhysicsStopped as PhysicsStopped
from .direction import Pin as Pin
from .direction import Take as Take
from .direction.track import TestFunctions as TestFunctions
from .direction.track import hierarchy as hierarchy
from .direction.track import pointwise as pointwise
from .direction.track import track as track
from .geometry import TriMesh as TriMesh
from .materials import MaterialBlend as MaterialBlend
from .materials import ShellMaterial as ShellMaterial
from .motion import Animation as Animation
from .motion import Curve as Curve

__version__ = "0.1.0"
