"""Averages and pins: linear conditions and their derivatives. Does not know where goals come from."""

from .linear import FADE_TIME as FADE_TIME
from .linear import HARD as HARD
from .linear import LinearConstraint as LinearConstraint
from .linear import average_jacobian as average_jacobian
from .linear import felt_mass as felt_mass
from .linear import pin_jacobian as pin_jacobian
