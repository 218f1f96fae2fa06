"""bunraku: direct physics. The artist's animation is obeyed exactly at her scale; below it, mechanics."""

from .contracts import BunrakuError as BunrakuError
from .contracts import InputError as InputError
from .contracts import OutputError as OutputError
from .contracts import PhysicsStopped as PhysicsStopped
from .direction import Pin as Pin
from .direction import Take as Take
from .direction.track import TestFunctions as TestFunctions
from .direction.track import TrackSettings as TrackSettings
from .direction.track import clusters as clusters
from .direction.track import hierarchy as hierarchy
from .direction.track import painted as painted
from .direction.track import pointwise as pointwise
from .direction.track import track as track
from .geometry import Surface as Surface
from .geometry import TetMesh as TetMesh
from .geometry import TriMesh as TriMesh
from .geometry import accordion as accordion
from .geometry import crinkle as crinkle
from .geometry import examine as examine
from .geometry import repair as repair
from .geometry import ridges as ridges
from .io import read_animation as read_animation
from .io import read_clip as read_clip
from .io import read_mesh as read_mesh
from .io import read_surface as read_surface
from .io import read_tets as read_tets
from .io import write_animation as write_animation
from .io import write_mesh as write_mesh
from .materials import MaterialBlend as MaterialBlend
from .materials import ShellMaterial as ShellMaterial
from .motion import Animation as Animation
from .motion import Curve as Curve
from .motion import RestShapes as RestShapes
from .shots import Shot as Shot
from .shots import frames as frames
from .shots import read_shot as read_shot

__version__ = "0.1.0"
