"""Fixed-pattern assembly, direct solvers, difference checks. Knows no vertices and no materials."""

from . import threads as threads  # first: it quiets idle threads before any library starts its own
from .assembly import Pattern as Pattern
from .assembly import Scatter as Scatter
from .assembly import SymmetricProduct as SymmetricProduct
from .factorisation import choose as choose
from .factorisation import installed as installed
from .pardiso import FactorisationError as FactorisationError
from .saddle import SaddleResult as SaddleResult
from .saddle import SaddleSystem as SaddleSystem
from .threads import default_threads as default_threads
from .threads import use_threads as use_threads
