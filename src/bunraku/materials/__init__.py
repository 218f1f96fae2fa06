"""Local laws, parameters with units, named presets with sources. Knows no meshes."""

from .laws import bending_flexibility as bending_flexibility
from .laws import bending_rigidity as bending_rigidity
from .laws import check_admissible as check_admissible
from .laws import stretching_stiffness as stretching_stiffness
from .laws import woven_stiffness as woven_stiffness
from .presets import MATERIAL_KEYS as MATERIAL_KEYS
from .presets import PRESETS as PRESETS
from .presets import Preset as Preset
from .presets import as_material as as_material
from .presets import preset as preset
from .shell import MaterialBlend as MaterialBlend
from .shell import ShellFields as ShellFields
from .shell import ShellMaterial as ShellMaterial
from .solid import SOLID_KEYS as SOLID_KEYS
from .solid import SolidLaw as SolidLaw
from .solid import SolidMaterial as SolidMaterial
from .solid_presets import SOLID_PRESETS as SOLID_PRESETS
from .solid_presets import SolidPreset as SolidPreset
from .solid_presets import as_solid as as_solid
from .solid_presets import solid_preset as solid_preset
from .wrinkling import SkinOnSoft as SkinOnSoft
from .wrinkling import VaryingSkin as VaryingSkin
from .wrinkling import ratio_for as ratio_for
from .wrinkling import thickness_for as thickness_for
