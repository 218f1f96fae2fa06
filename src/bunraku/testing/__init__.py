"""The shared checks for anyone who adds a class: differences, laws and orders. Knows contracts and geometry only."""

from .apart import Apart as Apart
from .apart import check_apart as check_apart
from .apart import passings as passings
from .apart import survey_apart as survey_apart
from .collect import implementations as implementations
from .constraints import check_constraint as check_constraint
from .differences import CheckFailed as CheckFailed
from .differences import falls_as as falls_as
from .energies import check_energy as check_energy
from .energies import dense_tangent as dense_tangent
from .lattices import block_surface as block_surface
from .lattices import lattice_probes as lattice_probes
from .probes import Probe as Probe
from .probes import closed_probes as closed_probes
from .probes import icosphere as icosphere
from .probes import sheet as sheet
from .probes import shell_probes as shell_probes
from .solids import solid_probes as solid_probes
from .steppers import check_stepper as check_stepper
