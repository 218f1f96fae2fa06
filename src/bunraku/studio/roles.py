"""What is answered about the roles that a shot's objects play, and what they go after."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bunraku.contracts import BunrakuError
from bunraku.shots import EditedShot, ObjectEdits

from .gate import Refusal
from .reading import MOST_BYTES, read_message
from .replies import Reply, Route, route, told
from .role_messages import MotionWanted, OfferedMotion, OfferedMotions, RoleWanted


class Roles:
    """The objects of one shot."""

    def __init__(self, shot: EditedShot, answer: Callable[[Callable[[], str]], Reply]) -> None:
        """`answer` says what an edit has made of the shot, or why it was refused."""
        self._shot, self._edits, self._answer = shot, ObjectEdits(shot), answer

    def routes(self) -> tuple[Route, ...]:
        """What can be asked."""
        return (
            route("GET", r"/shot/motions", "object stage", self._motions),
            route("POST", r"/shot/role", "", self._play, MOST_BYTES),
            route("POST", r"/shot/motion", "", self._follow, MOST_BYTES),
        )

    def _motions(self, query: Mapping[str, str]) -> Reply:
        stage, own = query.get("stage", ""), ("object", query.get("object", ""))
        revision = self._shot.look()
        try:
            found = self._edits.motions(("stage", stage, *own) if stage else own)
        except BunrakuError as error:
            raise Refusal(400, str(error)) from None
        return told(OfferedMotions(revision, tuple(OfferedMotion(one.told, one.title, one.group) for one in found)))

    def _play(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted = read_message(RoleWanted, body)
        return self._answer(lambda: self._edits.play(wanted.revision, wanted.path, wanted.role, wanted.tab[:80]))

    def _follow(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted = read_message(MotionWanted, body)
        if not isinstance(wanted.told, dict) or not wanted.told:
            raise Refusal(400, "MotionWanted.told must be a table (allowed: such as { file = 'walk.usda' })")
        return self._answer(lambda: self._edits.follow(wanted.revision, wanted.path, wanted.told, wanted.tab[:80]))
