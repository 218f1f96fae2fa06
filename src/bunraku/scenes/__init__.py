"""The demos' bodies and guides, made by code."""

from .bag import backflip_guide as backflip_guide
from .bag import bag_mesh as bag_mesh
from .box import box_mesh as box_mesh
from .box import twisting_box as twisting_box
from .walker import walker_regions as walker_regions
from .walker import walking_x as walking_x
from .walker_body import walker_mesh as walker_mesh
