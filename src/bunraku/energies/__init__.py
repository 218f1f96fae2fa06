"""Law + mesh + quadrature → energy: stretching, strain limits, bending, solids, gravity, air.

Knows no solvers and no artist's wishes.
"""

from .bending import Bending as Bending
from .bending import BendingEnergy as BendingEnergy
from .blowing import Blowing as Blowing
from .blowing import WindEnergy as WindEnergy
from .bond import BondEnergy as BondEnergy
from .compliance import Compliance as Compliance
from .compliance import hinge_compliance as hinge_compliance
from .compliance import plate_compliance as plate_compliance
from .contraction import Contraction as Contraction
from .contraction import ContractionEnergy as ContractionEnergy
from .contraction import Springs as Springs
from .dihedral import angle_gradients as angle_gradients
from .dihedral import angle_hessians as angle_hessians
from .dihedral import angles as angles
from .drag import Drag as Drag
from .drawn import DrawnEnergy as DrawnEnergy
from .external import DragEnergy as DragEnergy
from .external import GravityEnergy as GravityEnergy
from .foundation import Foundation as Foundation
from .foundation import FoundationEnergy as FoundationEnergy
from .lattice_solid import LatticeSolid as LatticeSolid
from .lattice_solid import LatticeSolidEnergy as LatticeSolidEnergy
from .linear_solid import linear_stiffness as linear_stiffness
from .linear_solid import solid_mass as solid_mass
from .mass_damping import MassDamping as MassDamping
from .mass_damping import MassDragEnergy as MassDragEnergy
from .mass_damping import PointDamping as PointDamping
from .membrane import Membrane as Membrane
from .membrane import MembraneEnergy as MembraneEnergy
from .membrane import corner_gradients as corner_gradients
from .membrane import strains as strains
from .placed import Placed as Placed
from .placed import PlacedEnergy as PlacedEnergy
from .pressure import LARGEST_PRESSURE as LARGEST_PRESSURE
from .pressure import EnclosedGas as EnclosedGas
from .pressure import Gas as Gas
from .pressure import GasEnergy as GasEnergy
from .pressure import Pressure as Pressure
from .pressure import PressureEnergy as PressureEnergy
from .pressure import pressure_curve as pressure_curve
from .rest import FaceBlend as FaceBlend
from .rotations import element_rotations as element_rotations
from .rotations import mean_rotation as mean_rotation
from .solid import Solid as Solid
from .solid import SolidEnergy as SolidEnergy
from .solid import tet_strains as tet_strains
from .solid_rest import SMALLEST_STRETCH as SMALLEST_STRETCH
from .solid_rest import SolidRest as SolidRest
from .strain_limit import StrainLimit as StrainLimit
from .strain_limit import StrainLimitEnergy as StrainLimitEnergy
from .weave import Weave as Weave
from .wind import FASTEST as FASTEST
from .wind import Wind as Wind
