"""glTF 2.0, .gltf and .glb: meshes with skins, morphs and animations baked to points, and moving meshes written."""

from .read import GltfRecording as GltfRecording
from .read import gltf_files as gltf_files
from .read import gltf_meshes as gltf_meshes
from .read import read_gltf as read_gltf
from .skeleton import read_gltf_skeleton as read_gltf_skeleton
from .write import format_glb as format_glb
