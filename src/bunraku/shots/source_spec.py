"""What a shot file may say about the guide and the fine shell."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.io import check_skeleton_there

from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place
from .kinds import (
    Flag,
    InputPath,
    Keyed,
    Keys,
    Number,
    Text,
    Whole,
    joined,
)
from .tables import Table, key, one_of


@dataclass(frozen=True, kw_only=True)
class RigTable:
    """A skeleton whose motion carries the guide's mesh."""

    skeleton: Path = key(
        InputPath("a .bvh, .glb, .gltf or USD file, relative to the shot file", check_skeleton_there),
        "the skeleton's file, with its motion",
    )  # fmt: skip
    unit: str | float | None = key(
        UNIT, "the skeleton file's unit, by its name or its length", None,
        otherwise="the file's; BVH files have none and need it unless fit = true",
    )  # fmt: skip
    up_axis: str | None = key(AXIS, "the skeleton file's up axis", None, otherwise="the file's, 'Y' where it has none")
    clip: str | None = key(
        Text(allowed="the name of an animation in a glTF file"), "which animation of a glTF file", None,
        otherwise="the only one",
    )  # fmt: skip
    prim: str | None = key(PRIM, "which skeleton of a USD file, or skinned mesh of a glTF file", None,
                           otherwise="the only one")  # fmt: skip
    fit: bool = key(Flag(), "scale the skeleton to the mesh's height and move it into the mesh, roughly", False)
    bind_frame: int | None = key(
        Whole(-1_000_000_000), "the frame of the motion on which the skeleton stands as the mesh does (a T-pose)", None,
        otherwise="the file's own bind pose",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AnimationKeys:
    """Where an animation is read from, a file or a finished take: what guides and obstacles have in common."""

    file: Path | None = key(InputPath(), "its file", None)
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    take: str | None = key(
        Text(allowed="a take in the output folder such as 'box/v003' or 'box/latest'"),
        "a finished take instead of a file", None,
    )  # fmt: skip
    clip: str | None = key(
        Text(allowed="the name of an animation in a glTF file"), "which animation of a glTF file", None,
        otherwise="the only one",
    )  # fmt: skip
    faces: Path | None = key(
        InputPath(), "the mesh file of a PC2 or MDD cache", None, otherwise="the mesh of the same name beside it"
    )
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")
    rig: RigTable | None = key(
        Table(RigTable, "{ skeleton = 'walk.bvh', fit = true }"), "a skeleton that moves the file's mesh", None
    )
    retime: Keys | None = key(
        Keyed(Number()),
        "which of its frames is seen at a frame of the shot, keyed [[shot frame, its frame, ease], …]: slower, faster, "
        "held or backwards", None, otherwise="each at its own",
    )  # fmt: skip
    sew: bool = key(Flag(), "sew edges that lie on each other on every frame (texture seams) for the physics", True)

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        named = (self.file, self.faces, None if self.rig is None else self.rig.skeleton)
        return [one for one in named if one is not None]


def refuse_about_take(given: Mapping[str, Any], place: Place) -> None:
    """A take needs no telling about its file."""
    about_file = [name for name in ("prim", "clip", "faces", "unit", "up_axis", "rig") if name in given]
    if "take" in given and "file" not in given and about_file:
        place.refuse("a take knows its own prim, unit and axis", got=joined(about_file), remedy="leave them out")


@dataclass(frozen=True, kw_only=True)
class GuideTable(AnimationKeys):
    """The animation to obey."""

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A file or a take."""
        one_of(given, place, "file", "take")
        refuse_about_take(given, place)


@dataclass(frozen=True, kw_only=True)
class MeshTable:
    """The fine shell: the guide subdivided, in the guide's rest shape or that of a file."""

    levels: int | None = key(
        Whole(0, 8), "how often each triangle of the guide is split into four", None, otherwise="3; 0 with a file"
    )
    file: Path | None = key(
        InputPath(), "a mesh: of the guide's faces, then its shape is the rest shape; or any other that lies on the "
        "guide at rest and goes with it", None,
    )  # fmt: skip
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")

    @property
    def split(self) -> int:
        """Levels of subdivision, the default filled in."""
        return self.levels if self.levels is not None else 3 if self.file is None else 0

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """What tells about a file needs one."""
        if "file" not in given and (self.prim or self.unit or self.up_axis):
            place.refuse("prim, unit and up_axis tell about a file", remedy="give 'file' too")
