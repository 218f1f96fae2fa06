"""Meshes, topology, hinges, mass operators, subdivision. Knows no physics, no time, no files."""

from .operators import area_mass_matrix as area_mass_matrix
from .operators import lumped_mass as lumped_mass
from .subdivision import subdivide as subdivide
from .topology import Edges as Edges
from .topology import Hinges as Hinges
from .topology import check_coordinates as check_coordinates
from .topology import check_physical as check_physical
from .topology import edges as edges
from .topology import hinges as hinges
from .trimesh import TriMesh as TriMesh
from .trimesh import face_areas as face_areas
from .trimesh import face_normals as face_normals
from .trimesh import first_few as first_few
from .trimesh import vertex_areas as vertex_areas
from .trimesh import vertex_normals as vertex_normals
