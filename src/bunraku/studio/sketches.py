"""Painting and posing: what is answered about objects of a shot before anything is run."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from bunraku.contracts import BunrakuError, Integers
from bunraku.shots import (
    EditedShot,
    Shot,
    Sketch,
    Superseded,
    TriedPlan,
    TriedPoses,
    checked_labels,
    painted_changes,
    several_threads,
    shot_or_stages_of,
)

from .gate import Refusal, number
from .messages import Edited, ShotSheet
from .parcels import Piece, parcel, shares
from .reading import MOST_BYTES, read_message
from .replies import Reply, Route, route, told
from .sketch_messages import (
    ClustersWanted,
    KeyMet,
    KeysTried,
    Knotted,
    KnotWanted,
    LabelRun,
    ObjectEdit,
    PaintedLabels,
    PiecesWanted,
    ShapeTried,
    SketchPart,
    SketchSheet,
)

_MOST_FRAMES = 64  # of one parcel
_MOST_TRIES = 8  # tabs that try keys at once
_MOST_SKETCHES = 8
_LONGEST = 200  # letters of what an edit is about
Files = Mapping[str, bytes | None]
_BYTES = "application/octet-stream"
_LARGEST_FRAME = 1e9
_Posed = TypeVar("_Posed", ShapeTried, KnotWanted)


class Sketches:
    """The objects of one shot, as far as somebody asked for them."""

    def __init__(self, shot: EditedShot, sheet: Callable[[], ShotSheet]) -> None:
        self._shot, self._sheet, self._guard = shot, sheet, threading.RLock()
        self._known = OrderedDict[str, tuple[int, Sketch]]()
        self._tries = OrderedDict[tuple[str, str], tuple[int, TriedPlan]]()

    def routes(self) -> tuple[Route, ...]:
        """What can be asked."""
        return (
            route("GET", r"/sketch", "object", self._told),
            route("GET", r"/sketch/mesh", "object", self._mesh),
            route("GET", r"/sketch/frames", "object from count tab", self._frames),
            route("GET", r"/sketch/images", "object axis tolerance", self._images),
            route("POST", r"/sketch/keys", "", self._try_keys, MOST_BYTES),
            route("POST", r"/sketch/shape", "", self._try_shape, MOST_BYTES),
            route("POST", r"/sketch/path", "", self._try_path, MOST_BYTES),
            route("POST", r"/sketch/knot", "", self._knot, MOST_BYTES),
            route("POST", r"/sketch/pieces", "", self._pieces, MOST_BYTES),
            route("POST", r"/sketch/clusters", "", self._clusters, MOST_BYTES),
            route("POST", r"/sketch/labels", "", self._paint, MOST_BYTES),
            route("POST", r"/sketch/edit", "", self._edit, MOST_BYTES),
        )

    def _sketch(self, name: str, revision: int | None = None) -> tuple[int, Sketch]:
        """The newest, with its revision; refused where that is not the one it was asked for."""
        newest = self._shot.look()
        if revision is not None and revision != newest:
            raise Refusal(409, f"{self._shot.name}: was changed meanwhile, and is shown anew; try: again")
        with self._guard:
            known = self._known.get(name)
            if known is None or known[0] != newest:
                known = newest, _refusing(lambda: Sketch.of(self._one_shot(), name))
                self._known[name] = known
                while len(self._known) > _MOST_SKETCHES:
                    self._known.popitem(last=False)
            return known

    def _one_shot(self) -> Shot:
        found = shot_or_stages_of(self._shot.settings, self._shot.source)
        if not isinstance(found, Shot):
            raise Refusal(400, f"{self._shot.name}: has stages, whose objects cannot be painted or posed here yet")
        return found

    def _told(self, query: Mapping[str, str]) -> Reply:
        revision, one = self._sketch(query.get("object", ""))
        low, high = one.box
        kind, keys = _keys_of(one)
        given = self._shot.settings["object"][one.name]
        plan = one.keys if isinstance(one.keys, TriedPlan) else None
        return told(
            SketchSheet(
                revision=revision, object=one.name, role=str(given.get("role", "shell")),
                vertices=one.mesh.point_count, faces=len(one.mesh.faces), frames=tuple(one.numbers.tolist()),
                rate=one.rate, centre=tuple((0.5 * (low + high)).tolist()),
                radius=max(0.5 * float(np.linalg.norm(high - low)), 1e-6), names=one.painted.names,
                origin=tuple(one.prepared.origin.tolist()), obeyed=one.obeyed, paint=one.stamp,
                parts=tuple(SketchPart(part.name, len(part.vertices), part.middle) for part in one.parts),
                kind=cast(Any, kind), keys=given.get(keys, []) if keys else [], paths=given.get("path", []),
                begins=() if plan is None else plan.begins,
                met=() if plan is None else _met(plan), sentences=() if plan is None else tuple(plan.warnings),
            )
        )  # fmt: skip

    def _mesh(self, query: Mapping[str, str]) -> Reply:
        _, one = self._sketch(query.get("object", ""))
        pieces = {
            "faces": Piece(one.mesh.faces.astype(np.uint32)), "label": Piece(one.painted.of_vertex.astype(np.int32)),
            "area": Piece(one.areas.astype(np.float32)),
        }  # fmt: skip
        pieces |= {f"part/{k}": Piece(part.vertices.astype(np.uint32)) for k, part in enumerate(one.parts)}
        return Reply(parcel([(None, pieces)]), _BYTES)

    def _frames(self, query: Mapping[str, str]) -> Reply:
        revision, one = self._sketch(query.get("object", ""))
        first = number(query, "from", 0, len(one.numbers) - 1)
        count = number(query, "count", 1, _MOST_FRAMES, 1)
        tried = self._tries.get((one.name, query.get("tab", "")))
        keys = tried[1] if tried is not None and tried[0] == revision else None
        with several_threads(one.name):
            found = [(k, one.points(k, keys)) for k in range(first, min(first + count, len(one.numbers)))]
        return Reply(parcel([(k, {"points": shares(x)}) for k, x in found]), _BYTES)

    def _try_keys(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted = read_message(KeysTried, body)
        revision, one = self._sketch(wanted.object, wanted.revision)
        if not isinstance(one.keys, TriedPlan):
            raise Refusal(400, f"{one.name} is no plan, so its keys move nothing before it is run")
        if not 0 <= wanted.frame < len(one.numbers):
            raise Refusal(400, f"there is no such frame (got {wanted.frame}; allowed: 0 to {len(one.numbers) - 1})")
        place, base = (one.name, wanted.tab[:80]), one.keys
        tried = self._tries.get(place)
        before = tried[1] if tried is not None and tried[0] == revision else base
        upto = base.until(float(one.numbers[wanted.frame]))
        with several_threads(one.name):
            after = _refusing(lambda: before.attempt(wanted.keys, upto))
            points = one.points(wanted.frame, after)
        with self._guard:
            self._tries[place] = revision, after
            while len(self._tries) > _MOST_TRIES:
                self._tries.popitem(last=False)
        met = np.array([[float(key.met), key.missed] for key in after.met], np.float32).reshape(-1, 2)
        return Reply(parcel([(wanted.frame, {"points": shares(points), "met": Piece(met)})]), _BYTES)

    def _try_shape(self, query: Mapping[str, str], body: bytes) -> Reply:
        poses, wanted = self._poses(body, ShapeTried)
        with several_threads(wanted.object):
            points = _refusing(lambda: poses.posed(wanted.told))
        return Reply(parcel([(None, {"points": shares(points)})]), _BYTES)

    def _try_path(self, query: Mapping[str, str], body: bytes) -> Reply:
        poses, wanted = self._poses(body, ShapeTried)
        curve = _refusing(lambda: poses.curve(wanted.told)) - poses.parts.origin
        return Reply(parcel([(None, {"curve": Piece(curve.astype(np.float32))})]), _BYTES)

    def _knot(self, query: Mapping[str, str], body: bytes) -> Reply:
        poses, wanted = self._poses(body, KnotWanted)
        if not abs(wanted.frame) < _LARGEST_FRAME:
            raise Refusal(400, f"there is no such frame (got {wanted.frame:g})")
        paths = self._shot.settings["object"][wanted.object].get("path", [])
        return told(Knotted(_refusing(lambda: poses.knotted(paths, wanted.region, wanted.frame))))

    def _poses(self, body: bytes, kind: type[_Posed]) -> tuple[TriedPoses, _Posed]:
        wanted = read_message(kind, body)
        _, one = self._sketch(wanted.object, wanted.revision)
        if not isinstance(one.keys, TriedPoses):
            raise Refusal(400, f"{one.name} is no body that is steered, so it has no key shapes and paths")
        return one.keys, wanted

    def _images(self, query: Mapping[str, str]) -> Reply:
        _, one = self._sketch(query.get("object", ""))
        axis = number(query, "axis", 0, 2)
        try:
            tolerance = float(query.get("tolerance", ""))
        except ValueError:
            raise Refusal(400, "tolerance must be a number of metres") from None
        found = _refusing(lambda: one.images(axis, tolerance))
        return Reply(parcel([(None, {"image": Piece(found.astype(np.int32))})]), _BYTES)

    def _pieces(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted = read_message(PiecesWanted, body)
        _, one = self._sketch(wanted.object)
        inside = _labels(wanted.runs, one, len(wanted.runs)) >= 0
        return _label_reply(one.pieces(inside))

    def _clusters(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted = read_message(ClustersWanted, body)
        _, one = self._sketch(wanted.object)
        within = _labels(wanted.runs, one, len(wanted.runs)) >= 0 if wanted.runs else None
        found = _refusing(
            lambda: one.clusters(
                count=wanted.count, scale=wanted.scale, compactness=wanted.compactness, seed=wanted.seed, within=within
            )
        )
        return _label_reply(found)

    def _paint(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted, shot = read_message(PaintedLabels, body), self._shot
        _, one = self._sketch(wanted.object, wanted.revision)
        labels = _labels(wanted.runs, one, len(wanted.names))
        file = _refusing(lambda: shot.arrays_path(one.name))
        renamed = [(pair.before, pair.after) for pair in wanted.renamed]
        changes = painted_changes(
            shot.settings["object"][one.name], file.name, wanted.names, renamed=renamed, obeyed=wanted.obeyed
        )
        data = one.label_file(labels, file.name) if wanted.names else None
        within = [(("object", one.name, *path), value) for path, value in changes]
        return self._done(wanted, within, {one.name: data}, "")

    def _edit(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted = read_message(ObjectEdit, body)
        return self._done(wanted, [(one.path, one.value) for one in wanted.changes], {}, wanted.gesture[:80])

    def _done(
        self, wanted: PaintedLabels | ObjectEdit, changes: Sequence[tuple[Any, Any]], files: Files, gesture: str
    ) -> Reply:
        """Edit the shot, if the object can be made then; that sketch is kept."""
        made: list[Sketch] = []

        def check(shot: object) -> None:
            if isinstance(shot, Shot):
                with several_threads(wanted.object):
                    made.append(Sketch.of(shot, wanted.object))

        try:
            diff = self._shot.edit(
                wanted.revision, changes, files=files, about=wanted.about.strip()[:_LONGEST] or "an edit",
                gesture=gesture, by=wanted.tab[:80], check=check,
            )  # fmt: skip
        except Superseded as error:
            raise Refusal(409, str(error)) from None
        except BunrakuError as error:
            raise Refusal(400, str(error)) from None
        with self._guard:
            if made and self._shot.look() == wanted.revision + 1:
                self._known[wanted.object] = wanted.revision + 1, made[0]
        return told(Edited(self._sheet(), diff))


def _keys_of(one: Sketch) -> tuple[str, str]:
    """What directs an object in time, and the key under which the file has it."""
    if isinstance(one.keys, TriedPlan):
        kind = "phases" if one.keys.read.table.phases else "keys"
        return kind, kind
    return ("shapes", "keys") if isinstance(one.keys, TriedPoses) else ("", "")


def _met(plan: TriedPlan) -> tuple[KeyMet, ...]:
    return tuple(KeyMet(one.where, one.met, one.missed, one.unit) for one in plan.met)


def _labels(runs: Sequence[LabelRun], one: Sketch, names: int) -> Integers:
    """(n,) labels of an object's vertices; refused where they are of another mesh, or name what is not there."""
    count = one.mesh.point_count
    told = sum(run.count for run in runs)
    if any(run.count < 1 for run in runs) or told != count:
        raise Refusal(400, f"the labels are of another mesh (got {told} vertices; allowed: {count}, as {one.name} has)")
    labels = np.repeat([run.label for run in runs], [run.count for run in runs]) if runs else np.zeros(0, np.int64)
    return _refusing(lambda: checked_labels(labels, count, names))


def _label_reply(labels: Integers) -> Reply:
    return Reply(parcel([(None, {"label": Piece(labels.astype(np.int32))})]), _BYTES)


def _refusing(make: Callable[[], Any]) -> Any:
    """What is made; what the shot or physics refuses is the message's fault."""
    try:
        return make()
    except BunrakuError as error:
        raise Refusal(400, str(error)) from None
