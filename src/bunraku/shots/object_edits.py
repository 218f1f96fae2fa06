"""The objects of a shot that is edited given other roles, and other motions to go after."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError, input_error
from bunraku.io import several_meshes

from .edited import EditedShot
from .findings import nearest
from .kinds import absolute, joined
from .knob_sheet import followed, shots_in
from .motions import Motion, motions_for
from .overlays import several_threads
from .prepare import prepare
from .roles import follow_changes, role_changes
from .shot import Shot
from .stages import Stages
from .toml_edit import KeyPath, named


class ObjectEdits:
    """What can be chosen about the objects of one shot. Choices are looked at as a run would: its files are read."""

    def __init__(self, shot: EditedShot) -> None:
        self._shot = shot
        self._opened = set[Path]()
        """files of several meshes that were chosen as if they had one"""

    def motions(self, path: KeyPath) -> list[Motion]:
        """What the object whose table that is may go after."""
        before, name, _ = self._object(path)
        return motions_for(self._shot.settings, name, self._folder, str(before[1]) if before else "", self._opened)

    def play(self, revision: int, path: KeyPath, role: str, by: str = "") -> str:
        """Another role; the diff. What only the former one understands goes."""
        before, name, objects = self._object(path)
        changes, about = role_changes(objects, name, role, self._folder)
        written = [((*before, "object", *inner), value) for inner, value in changes]
        return self._shot.edit(revision, written, about=about, by=by, check=self._check)

    def follow(self, revision: int, path: KeyPath, told: Mapping[str, Any], by: str = "") -> str:
        """Another motion, `told` as the file would say it; the diff."""
        before, name, objects = self._object(path)
        changes = follow_changes(objects[name], told)
        written = [((*before, "object", name, *inner), value) for inner, value in changes]
        about = f"{name} goes after {followed(told) or 'something else'}"
        try:
            return self._shot.edit(revision, written, about=about, by=by, check=self._check)
        except InputError:
            self._look_into(told)
            raise

    def _look_into(self, told: Mapping[str, Any]) -> None:
        """A file of several meshes is offered mesh by mesh from now on."""
        if "file" in told and "prim" not in told:
            with suppress(InputError):  # the file itself has been refused
                file = absolute(self._folder, str(told["file"]))
                if several_meshes(file):
                    self._opened.add(file)

    def _check(self, found: Shot | Stages) -> None:
        """What feeds a stage is not there before it is run."""
        if isinstance(found, Shot):
            with several_threads(found.name):
                prepare(found)

    @property
    def _folder(self) -> Path:
        return self._shot.source.absolute().parent

    def _object(self, path: KeyPath) -> tuple[KeyPath, str, Mapping[str, Any]]:
        """Of an object's table: the path of its shot's, its name, and the objects of that shot."""
        for before, table in shots_in(self._shot.settings):
            objects = table.get("object")
            if isinstance(objects, dict) and tuple(path[:-1]) == (*before, "object") and path[-1] in objects:
                return before, str(path[-1]), objects
        names = [named((*before, "object", one)) for before, table in shots_in(self._shot.settings)
                 for one in table.get("object", ())]  # fmt: skip
        asked = named(tuple(path))[:80]
        raise input_error("there is no such object", got=asked or "nothing", allowed=joined(names),
                          remedy=nearest(asked, names))  # fmt: skip
