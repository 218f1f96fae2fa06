"""The demos' bodies and guides, made by code."""

from .anchors import band as band
from .anchors import sheet as sheet
from .arms import arms_mesh as arms_mesh
from .arms import crossing_arms as crossing_arms
from .bag import backflip_guide as backflip_guide
from .bag import bag_mesh as bag_mesh
from .bag_mocap import mocap_bag as mocap_bag
from .box import box_mesh as box_mesh
from .box import shaken_box as shaken_box
from .box import twisting_box as twisting_box
from .box import wrung_box as wrung_box
from .cloth import cloth_design as cloth_design
from .cloth import designed_cloth as designed_cloth
from .folds import resolution as resolution
from .folds import uneven as uneven
from .measures import mean_distance as mean_distance
from .study import Panel as Panel
from .study import Study as Study
from .swatch import SWATCH_SIDE as SWATCH_SIDE
from .swatch import on_the_stand as on_the_stand
from .swatch import stand_mesh as stand_mesh
from .swatch import swatch_mesh as swatch_mesh
from .walker import BEATS as BEATS
from .walker import walker_regions as walker_regions
from .walker import walking_x as walking_x
from .walker_body import walker_mesh as walker_mesh
