"""The demos' bodies and guides, made by code."""

from .box import box_mesh as box_mesh
from .box import twisting_box as twisting_box
