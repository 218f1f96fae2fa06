"""Bytes ↔ surfaces, animations, states: USD, glTF, mesh sequences, point caches, the frame cache, whole files.

At this border files become float64, metres, Y-up, seconds, and go back. Time is `frame / rate`, so
frame 1001 at 24 frames per second lies at 1001/24 s whatever file it came from. Must not know: physics,
direction, what a file is for. `pxr` is imported in `usd/` alone, and only when a USD file is touched.
"""

from .array_file import is_complete as is_complete
from .array_file import packed as packed
from .array_file import read_arrays as read_arrays
from .array_file import read_some_arrays as read_some_arrays
from .atomic import atomic_files as atomic_files
from .atomic import atomic_write as atomic_write
from .atomic import output_error as output_error
from .atomic import process_lives as process_lives
from .atomic import remove_leftovers as remove_leftovers
from .atomic import write_json as write_json
from .atomic import write_text as write_text
from .axes import UNITS as UNITS
from .axes import doubt_about_body as doubt_about_body
from .axes import doubt_about_unit as doubt_about_unit
from .axes import unit_name as unit_name
from .bodies import tetrahedralise as tetrahedralise
from .bodies import tetrahedralised as tetrahedralised
from .body_files import body_files as body_files
from .body_files import check_body_there as check_body_there
from .body_files import holds_tets_only as holds_tets_only
from .body_files import read_body_poses as read_body_poses
from .body_files import read_tets as read_tets
from .cache import FrameCache as FrameCache
from .clip import Clip as Clip
from .clip import require_motion as require_motion
from .content import ContentCache as ContentCache
from .files import content_hash as content_hash
from .files import is_there as is_there
from .files import same_file as same_file
from .outgoing import Outgoing as Outgoing
from .read import SUFFIXES as SUFFIXES
from .read import check_there as check_there
from .read import input_files as input_files
from .read import read_animation as read_animation
from .read import read_clip as read_clip
from .read import read_mesh as read_mesh
from .read import read_poses as read_poses
from .read import read_surface as read_surface
from .read import says_unit as says_unit
from .read import several_meshes as several_meshes
from .sample import Sample as Sample
from .sample import local_origin as local_origin
from .sequence import families as families
from .skeletons import SKELETONS as SKELETONS
from .skeletons import check_skeleton_there as check_skeleton_there
from .skeletons import read_rig as read_rig
from .skeletons import read_skeleton as read_skeleton
from .skeletons import record_skeleton as record_skeleton
from .skeletons import skeleton_files as skeleton_files
from .survey import Survey as Survey
from .survey import survey as survey
from .write import write_animation as write_animation
from .write import write_frames as write_frames
from .write import write_mesh as write_mesh
