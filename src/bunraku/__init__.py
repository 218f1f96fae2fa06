"""bunraku: direct physics. The artist's animation is obeyed exactly at her scale; below it, mechanics."""

from typing import TYPE_CHECKING

from .opening import on_demand

if TYPE_CHECKING:
    from .collision import Between as Between
    from .collision import Obstacle as Obstacle
    from .collision import Plane as Plane
    from .collision import capsule as capsule
    from .collision import sphere as sphere
    from .contracts import BunrakuError as BunrakuError
    from .contracts import InputError as InputError
    from .contracts import OutputError as OutputError
    from .contracts import PhysicsStopped as PhysicsStopped
    from .direction import Contact as Contact
    from .direction import Pin as Pin
    from .direction import Take as Take
    from .direction.plan import Chain as Chain
    from .direction.plan import ChainDraft as ChainDraft
    from .direction.plan import Draft as Draft
    from .direction.plan import Flight as Flight
    from .direction.plan import Key as Key
    from .direction.plan import Motion as Motion
    from .direction.plan import Phase as Phase
    from .direction.plan import chain as chain
    from .direction.plan import plan as plan
    from .direction.steer import Body as Body
    from .direction.steer import Grip as Grip
    from .direction.steer import KeyShape as KeyShape
    from .direction.steer import pose as pose
    from .direction.steer import steer as steer
    from .direction.track import Seam as Seam
    from .direction.track import TestFunctions as TestFunctions
    from .direction.track import TrackSettings as TrackSettings
    from .direction.track import changing as changing
    from .direction.track import clusters as clusters
    from .direction.track import gaussians as gaussians
    from .direction.track import hierarchy as hierarchy
    from .direction.track import painted as painted
    from .direction.track import pointwise as pointwise
    from .direction.track import scales as scales
    from .direction.track import silhouette as silhouette
    from .direction.track import track as track
    from .direction.wrinkle import Handle as Handle
    from .direction.wrinkle import Muscle as Muscle
    from .direction.wrinkle import wrinkle as wrinkle
    from .energies import Gas as Gas
    from .energies import Wind as Wind
    from .geometry import Cage as Cage
    from .geometry import Embedding as Embedding
    from .geometry import Surface as Surface
    from .geometry import TetMesh as TetMesh
    from .geometry import TriMesh as TriMesh
    from .geometry import accordion as accordion
    from .geometry import crinkle as crinkle
    from .geometry import embed as embed
    from .geometry import enclose as enclose
    from .geometry import examine as examine
    from .geometry import mend_tets as mend_tets
    from .geometry import repair as repair
    from .geometry import ridges as ridges
    from .geometry import tet_quality as tet_quality
    from .io import read_animation as read_animation
    from .io import read_clip as read_clip
    from .io import read_mesh as read_mesh
    from .io import read_rig as read_rig
    from .io import read_skeleton as read_skeleton
    from .io import read_surface as read_surface
    from .io import read_tets as read_tets
    from .io import tetrahedralise as tetrahedralise
    from .io import tetrahedralised as tetrahedralised
    from .io import write_animation as write_animation
    from .io import write_mesh as write_mesh
    from .materials import MaterialBlend as MaterialBlend
    from .materials import ShellMaterial as ShellMaterial
    from .materials import SolidMaterial as SolidMaterial
    from .motion import Animation as Animation
    from .motion import Curve as Curve
    from .motion import Growth as Growth
    from .motion import Path as Path
    from .motion import RestShapes as RestShapes
    from .rigs import Rig as Rig
    from .rigs import Skeleton as Skeleton
    from .rigs import bind as bind
    from .shots import Shot as Shot
    from .shots import Stages as Stages
    from .shots import frames as frames
    from .shots import read_shot as read_shot
    from .shots import read_stages as read_stages
else:
    __getattr__, __dir__, __all__ = on_demand(__name__, __file__)

__version__ = "0.1.0"
