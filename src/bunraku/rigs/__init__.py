"""Skeletons, their motion, and the surfaces they carry: mocap becomes a guide. Knows no physics, no files."""

from .binding import bind as bind
from .rig import Rig as Rig
from .rotations import composed as composed
from .rotations import slerp as slerp
from .rotations import unit as unit
from .skeleton import Motion as Motion
from .skeleton import Skeleton as Skeleton
from .skinning import carried as carried
from .skinning import carrying as carrying
from .skinning import skinned as skinned
