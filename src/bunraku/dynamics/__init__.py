"""System, implicit Euler, statics, natural modes and their warp. Knows no concrete energies and no files."""

from .bend import Bends as Bends
from .equilibrium import Equilibrium as Equilibrium
from .equilibrium import EquilibriumSettings as EquilibriumSettings
from .frozen import Frozen as Frozen
from .groups import Groups as Groups
from .implicit_euler import PARTS as PARTS
from .implicit_euler import ImplicitEuler as ImplicitEuler
from .minimise import NewtonSettings as NewtonSettings
from .modes import LinearBody as LinearBody
from .modes import Modes as Modes
from .modes import attachments as attachments
from .modes import enriched as enriched
from .modes import natural_modes as natural_modes
from .modes import rigid_motions as rigid_motions
from .observed import Goal as Goal
from .observed import Observed as Observed
from .observed import observed_centre as observed_centre
from .observed import observed_vertices as observed_vertices
from .statics import settle as settle
from .system import Mass as Mass
from .system import System as System
from .unwarp import CLOSE as CLOSE
from .unwarp import unwarped as unwarped
from .unwarp import unwarped_speeds as unwarped_speeds
from .warp import Warp as Warp
from .yielding import SHARPNESS as SHARPNESS
