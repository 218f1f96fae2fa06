# SPDX-License-Identifier: GPL-3.0-or-later
"""What the extension does without Blender: texts of stages and shots, bunraku in a process of its own, finished takes.

Nothing here imports bpy or bunraku, so that it is tested without either; NumPy comes with Blender.
"""

from . import presets as presets
from .desk import Desk as Desk
from .hints import lasting as lasting
from .hints import with_hints as with_hints
from .refusal import Refusal as Refusal
from .run import Ended as Ended
from .run import Run as Run
from .run import installing as installing
from .run import running as running
from .shot import Shared as Shared
from .shot import Source as Source
from .shot import Track as Track
from .shot import Wind as Wind
from .shot import free_name as free_name
from .shot import named as named
from .shot import shot_name as shot_name
from .shot import track_tables as track_tables
from .soft import Hand as Hand
from .soft import Held as Held
from .soft import Plan as Plan
from .soft import Steer as Steer
from .soft import Wrinkle as Wrinkle
from .soft import in_shot as in_shot
from .soft import plan_tables as plan_tables
from .soft import rigid as rigid
from .soft import steer_tables as steer_tables
from .soft import wrinkle_tables as wrinkle_tables
from .stage import Painted as Painted
from .stage import Space as Space
from .stage import StageMesh as StageMesh
from .stage import prim_name as prim_name
from .stage import stage_text as stage_text
from .takes import Take as Take
from .takes import read_take as read_take
from .takes import versions as versions
from .toml_text import toml_text as toml_text
