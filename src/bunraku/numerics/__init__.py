"""Fixed-pattern assembly, direct solvers, least squares, oscillators and their splines, 3 × 3 decompositions.

Knows no vertices and no materials.
"""

from . import threads as threads  # first: it quiets idle threads before any library starts its own
from .assembly import Pattern as Pattern
from .assembly import Scatter as Scatter
from .assembly import SymmetricProduct as SymmetricProduct
from .assembly import distinct as distinct
from .eigenpairs import Eigenpairs as Eigenpairs
from .eigenpairs import lowest_eigenpairs as lowest_eigenpairs
from .eigenpairs import upper_triangle as upper_triangle
from .factorisation import choose as choose
from .factorisation import installed as installed
from .factorisation import order_of as order_of
from .jacobi import signed_svds as signed_svds
from .krylov import gmres_rows as gmres_rows
from .least_squares import SquaresSettings as SquaresSettings
from .least_squares import gauss_newton as gauss_newton
from .pardiso import FactorisationError as FactorisationError
from .quasi_newton import bfgs as bfgs
from .saddle import SaddleResult as SaddleResult
from .saddle import SaddleSystem as SaddleSystem
from .squares_model import gram as gram
from .squares_problem import SquaresProblem as SquaresProblem
from .threads import default_threads as default_threads
from .threads import inner as inner
from .threads import one_blas_thread as one_blas_thread
from .threads import use_threads as use_threads
from .wiggly import Oscillators as Oscillators
from .wiggly import SegmentEnergy as SegmentEnergy
from .wiggly import SplineValues as SplineValues
from .wiggly_spline import JoinedEnergy as JoinedEnergy
from .wiggly_spline import WigglySpline as WigglySpline
from .wiggly_spline import interpolating as interpolating
from .wiggly_spline import joined_energy as joined_energy
