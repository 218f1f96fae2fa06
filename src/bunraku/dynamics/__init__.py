"""System, implicit Euler, statics, the time loop. Knows no concrete energies and no files."""

from .frozen import Frozen as Frozen
from .implicit_euler import PARTS as PARTS
from .implicit_euler import ImplicitEuler as ImplicitEuler
from .minimise import NewtonSettings as NewtonSettings
from .statics import settle as settle
from .system import Mass as Mass
from .system import System as System
from .yielding import SHARPNESS as SHARPNESS
