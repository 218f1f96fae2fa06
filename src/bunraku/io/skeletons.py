"""Reading skeletons with their motion, and the rigs of files that have one."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.contracts import InputError, Points, input_error, need, path_of
from bunraku.geometry import TriMesh, check_coordinates
from bunraku.rigs import Rig, Skeleton

from .axes import check_units, doubt_about_body, length_of, to_metres, unit_name
from .bvh import read_bvh
from .files import is_there, missing
from .read import input_files, read_clip

_log = logging.getLogger(__name__)

_USD = (".usd", ".usda", ".usdc", ".usdz")
_GLTF = (".gltf", ".glb")
_POSES, _STANDS = 50, 1.3  # moments looked at, and how much larger than deep what stands must be
SKELETONS = (".bvh", *_GLTF, *_USD)
"""suffixes of files that may hold a skeleton"""


@dataclass(frozen=True, eq=False)
class SkeletonRecording:
    """A skeleton as a file tells it, in its own unit and axes."""

    path: Path
    skeleton: Skeleton
    meters_per_unit: float | None
    """[m]; None where the file does not say"""
    up_axis: str
    prim_path: str = ""

    def in_metres(self, unit: str | float | None = None, up_axis: str | None = None) -> Skeleton:
        """The skeleton [m, Y-up]; unit and axis override the file's, where neither says it is metres and Y."""
        length = length_of(unit) if unit is not None else self.meters_per_unit or 1.0
        axis = up_axis or self.up_axis
        check_units(length, axis, str(self.path))
        out = self.skeleton.scaled(length)
        if axis == "Z":
            out = out.turned(to_metres(np.eye(3), 1.0, "Z").T)
        check_coordinates(_ends(out), f"{self.path}, the joints")
        # A skeleton of one joint that only turns goes nowhere.
        check_coordinates(out.motion.translations.reshape(-1, 3), f"{self.path}, the motion", smallest=0.0)
        return out

    def doubt(self) -> str:
        """'' or a guess of the unit, where the file does not say it and the size in metres is odd."""
        return "" if self.meters_per_unit is not None else doubt_about_body(_ends(self.skeleton))

    def lying(self) -> str:
        """'' or a sentence where the file does not say its up axis and the body seems to stand along Z."""
        if self.meters_per_unit is not None:  # such files say their axis too
            return ""
        times = self.skeleton.times[:: max(len(self.skeleton.times) // _POSES, 1)]
        places = self.skeleton.worlds(times)[:, :, :3, 3]
        _, y, z = np.median(np.ptp(places, axis=1), axis=0)  # over moments, for bodies do lie down
        if z <= _STANDS * y:
            return ""
        return (
            f"is most of the time larger along Z ({z:.3g} units) than along Y ({y:.3g}): if Z is up, say up_axis = 'Z'"
        )

    def facts(self, unit: str | float | None = None, up_axis: str | None = None) -> list[str]:
        """What the file holds, a sentence each."""
        skeleton = self.in_metres(unit, up_axis)
        roots, count = int((skeleton.parents < 0).sum()), len(skeleton.times)
        size = np.ptp(_ends(skeleton), axis=0)
        known = unit is not None or self.meters_per_unit is not None
        length = length_of(unit) if unit is not None else self.meters_per_unit or 1.0
        said = f"Unit {unit_name(length)}, {up_axis or self.up_axis} up." if known else (
            "The file does not say its unit. A shot needs fit = true or unit = …"
        )  # fmt: skip
        bones = len(skeleton.bones().joints)
        doubt, lying = "" if known else self.doubt(), "" if up_axis else self.lying()
        return [
            f"A skeleton of {skeleton.joint_count} joints, {roots} of them roots, with {bones} bones.", said,
            *([f"It {doubt}."] if doubt else []), *([f"It {lying}."] if lying else []),
            f"{count} frames at {skeleton.rate:g} frames/s, {skeleton.times[-1] - skeleton.times[0]:.2f} s.",
            f"Its bind pose is {size[0]:.3g} × {size[1]:.3g} × {size[2]:.3g} {'m' if known else 'units'}.",
        ]  # fmt: skip


def record_skeleton(path: str | Path, *, clip: str | None = None, prim: str | None = None) -> SkeletonRecording:
    """What a file says about its skeleton; parameters as for `read_skeleton`."""
    source = path_of(path)
    for name, given in (("clip", clip), ("prim", prim)):
        if given is not None:
            need(str, name, given)
    check_skeleton_there(source)
    suffix = source.suffix.lower()
    if suffix in _USD:
        _refuse("clip", clip, source)
        from .usd import read_usd_skeleton

        told = read_usd_skeleton(source, prim)
        return SkeletonRecording(source, told.skeleton, told.unit, told.up_axis, told.prim_path)
    if suffix in _GLTF:
        from .gltf import read_gltf_skeleton

        found = read_gltf_skeleton(source, prim, clip=clip)
        return SkeletonRecording(source, found.skeleton, 1.0, "Y", found.prim_path)
    _refuse("clip", clip, source)
    _refuse("prim", prim, source)
    return SkeletonRecording(source, read_bvh(source), None, "Y")


def read_skeleton(
    path: str | Path,
    *,
    unit: str | float | None = None,
    up_axis: str | None = None,
    clip: str | None = None,
    prim: str | None = None,
) -> Skeleton:
    """The skeleton of a BVH, glTF or USD file with its motion [m, Y-up, s].

    BVH files have no unit and no axis: `unit` ('cm', or its length in metres) and `up_axis` ('Z') say them; metres and
    Y where not given. `clip` names one of a glTF file's animations, `prim` a skinned mesh of it, or the skeleton of a
    USD file, where there are several. The motion is sampled at the file's frames; time is frame / rate.
    """
    found = record_skeleton(path, clip=clip, prim=prim)
    if unit is None and (doubt := found.doubt()):
        _log.warning("%s does not say its unit; it %s", path, doubt)
    if up_axis is None and (lying := found.lying()):
        _log.warning("%s does not say its up axis; it %s", path, lying)
    return found.in_metres(unit, up_axis)


def _ends(skeleton: Skeleton) -> Points:
    """(k, 3) joints and ends of bones in the bind pose."""
    return np.concatenate([skeleton.bind[:, :3, 3], skeleton.bones().tails])


def read_rig(
    path: str | Path,
    prim: str | None = None,
    *,
    clip: str | None = None,
    unit: str | float | None = None,
    up_axis: str | None = None,
    sew: bool = True,
) -> Rig:
    """A glTF or USD character with the weights of its file [m, Y-up]: its mesh in the bind pose, welded like any other.

    Without what is not a skeleton's: blend shapes and morph targets. Parameters as for `read_animation`.
    """
    source = Path(path)
    if source.suffix.lower() not in (*_GLTF, *_USD):
        raise input_error("holds no rig", where=str(source), got=source.suffix or "no suffix",
                          allowed=", ".join((*_GLTF, *_USD)), remedy="bind a mesh to its skeleton: bind")  # fmt: skip
    if source.suffix.lower() in _USD:
        _refuse("clip", clip, source)
        from .usd import read_usd_rig

        told = read_usd_rig(source, prim)
        found = SkeletonRecording(source, told.skeleton, told.unit, told.up_axis, told.prim_path)
    else:
        from .gltf import read_gltf_skeleton

        told = read_gltf_skeleton(source, prim, clip=clip)
        found = SkeletonRecording(source, told.skeleton, 1.0, "Y", told.prim_path)
    baked = read_clip(source, found.prim_path, clip=clip, unit=unit, up_axis=up_axis, sew=sew)
    points, weights = told.points, told.weights
    assert points is not None and weights is not None
    own = baked.welded.point_of_vertex
    rest = to_metres(points[own], baked.meters_per_unit, baked.up_axis)
    return Rig(TriMesh(rest, baked.mesh.faces), found.in_metres(unit, up_axis), weights[own])


def check_skeleton_there(path: str | Path) -> None:
    """Refuse what is not there or is of no kind that holds a skeleton."""
    source = Path(path)
    if source.suffix.lower() not in SKELETONS:
        raise input_error("holds no skeleton", where=str(source), got=source.suffix or "no suffix",
                          allowed=", ".join(SKELETONS))  # fmt: skip
    if not is_there(source):
        raise missing(source)


def skeleton_files(path: str | Path) -> list[Path]:
    """Every file `read_skeleton(path)` reads."""
    source = Path(path)
    check_skeleton_there(source)
    return [source.resolve()] if source.suffix.lower() == ".bvh" else input_files(source)


def _refuse(name: str, value: str | None, path: Path) -> None:
    if value is not None:
        raise no_such_choice(name, value, path)


def no_such_choice(name: str, value: str, path: Path) -> InputError:
    """The refusal of a choice that a kind of file does not have."""
    return input_error(f"{path.suffix.lower()} files have no {name}", where=str(path), got=value,
                       remedy=f"leave {name} out")  # fmt: skip
