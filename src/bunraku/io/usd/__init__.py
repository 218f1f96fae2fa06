"""USD, and the only place that imports `pxr`: stages opened safely, meshes read, layers written."""

from .read import read_usd as read_usd
from .read import used_files as used_files
from .safety import vouch as vouch
from .skeleton import read_usd_rig as read_usd_rig
from .skeleton import read_usd_skeleton as read_usd_skeleton
from .stage import mesh_paths as mesh_paths
from .tets import read_usd_body as read_usd_body
from .tets import write_usd_body as write_usd_body
from .write import check_place as check_place
from .write import check_prim_path as check_prim_path
from .write import write_usd as write_usd
