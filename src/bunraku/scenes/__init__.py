"""The demos' bodies and guides, made by code."""

from .box import box_mesh as box_mesh
from .box import twisting_box as twisting_box
from .box import wrung_box as wrung_box
from .swatch import SWATCH_SIDE as SWATCH_SIDE
from .swatch import on_the_stand as on_the_stand
from .swatch import stand_mesh as stand_mesh
from .swatch import swatch_mesh as swatch_mesh
