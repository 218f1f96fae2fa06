"""Array types, `State`, the protocols every room speaks, and `Solution`. Knows nothing else of ours."""

from .arrays import Array as Array
from .arrays import Faces as Faces
from .arrays import Flags as Flags
from .arrays import Integers as Integers
from .arrays import Points as Points
from .arrays import Sparse as Sparse
from .arrays import Vector as Vector
from .checks import is_between as is_between
from .checks import need as need
from .checks import whole_number as whole_number
from .errors import BunrakuError as BunrakuError
from .errors import InputError as InputError
from .errors import OutputError as OutputError
from .errors import PhysicsStopped as PhysicsStopped
from .errors import input_error as input_error
from .protocols import Constraint as Constraint
from .protocols import Energy as Energy
from .protocols import EnergySource as EnergySource
from .protocols import Factorisation as Factorisation
from .protocols import LinearRows as LinearRows
from .protocols import Stencil as Stencil
from .protocols import Stepper as Stepper
from .solution import Outcome as Outcome
from .solution import Solution as Solution
from .state import State as State
