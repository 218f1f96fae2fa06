"""`track`: test functions, goals and pins, turned into energies and constraints."""

from .changing import ChangingTests as ChangingTests
from .changing import changing as changing
from .regions import animation_regions as animation_regions
from .regions import clusters as clusters
from .regions import painted as painted
from .regions import sampled_poses as sampled_poses
from .regions import vertex_labels as vertex_labels
from .scales import scales as scales
from .seams import Seam as Seam
from .settings import TrackSettings as TrackSettings
from .silhouette import silhouette as silhouette
from .smooth import gaussians as gaussians
from .test_functions import PointTests as PointTests
from .test_functions import TestFunctions as TestFunctions
from .test_functions import Tests as Tests
from .test_functions import hierarchy as hierarchy
from .test_functions import pointwise as pointwise
from .tracking import Material as Material
from .tracking import track as track
from .tracking import tracking_job as tracking_job
