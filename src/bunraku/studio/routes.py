"""What is answered to each request, without sockets: requests in, bytes out."""

from __future__ import annotations

import logging
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numpy as np

from bunraku import __version__
from bunraku.contracts import BunrakuError
from bunraku.shots import EditedShot, Overlays, ReviewedTake, curve_titles, differences_of, open_take

from .desk import Desk
from .films import MOST_BYTES, Films
from .gate import Refusal, number
from .messages import Cancelled, Curve, Difference, MovieBegun, News, Opened, Overlay, Report, Sentence, State, Take
from .parcels import Piece, parcel, shares
from .replies import Reply, Route, Waiting, route, told
from .roles import Roles
from .runs import Runs
from .sketches import Sketches

_log = logging.getLogger(__name__)
_MOST_FRAMES = 256  # of one parcel
_LARGEST = 64 << 20  # [bytes] after which a parcel gets no further frame
_MOST_TAKES = 64
_SAMPLES = 3  # frames from which it is taken where the result is
_POLICY = (
    "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; style-src-attr 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data: blob:; media-src blob:; font-src data:; worker-src blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
NONCE = b"__NONCE__"
"""what stands in the page where each of its scripts and styles must name the number of this reply"""


class Studio:
    """The takes that are open, and what can be asked about them."""

    def __init__(
        self, takes: Sequence[ReviewedTake], page: bytes | None = None, shot: EditedShot | None = None,
        threads: int | None = None, ahead: bool = False,
    ) -> None:  # fmt: skip
        """With a shot that is edited, its runs join the takes, each on so many threads; `ahead`: see `Runs`."""
        self._takes, self._page = list(takes), page
        self._overlays = [Overlays(take) for take in takes]
        self._films, self._waiting = Films(), Waiting()
        self._boxes = dict[tuple[int, int], tuple[tuple[float, ...], float]]()
        self._guard = threading.Lock()
        runs = None if shot is None else Runs(self.open_another, threads, ahead=ahead)
        self.desk = None if shot is None or runs is None else Desk(shot, self._waiting, runs)
        take = r"/takes/(\d{1,4})"
        self._routes = (
            route("GET", r"/", "", self._answer_page),
            route("GET", r"/takes", "", self._opened),
            route("GET", take + "/mesh", "", self._mesh),
            route("GET", take + "/frames", "from count overlay with", self._frames),
            route("GET", take + "/report", "", self._report),
            route("GET", take + "/news", "ready state", self._news),
            route("POST", take + "/cancel", "", self._cancel),
            route("POST", r"/movies", "width height rate", self._begin_film),
            route("POST", r"/movies/([\w-]{1,40})", "", self._add_picture, MOST_BYTES),
            route("GET", r"/movies/([\w-]{1,40})", "", self._end_film),
            route("POST", r"/movies/([\w-]{1,40})/cancel", "", self._leave_film),
            *(() if self.desk is None else self.desk.routes()),
            *(() if self.desk is None else Roles(self.desk.shot, self.desk.done).routes()),
            *(() if self.desk is None else Sketches(self.desk.shot, self.desk.sheet).routes()),
        )

    def route(self, method: str, path: str, query: Mapping[str, str]) -> tuple[int, Callable[[bytes], Reply]]:
        """How many bytes of body a request may have, and its answer to them."""
        matches = [(one, one.path.fullmatch(path)) for one in self._routes]
        found = [(one, match) for one, match in matches if match is not None]
        if not found:
            raise Refusal(404, "there is nothing at this address")
        fitting = [pair for pair in found if pair[0].method == method]
        if not fitting:
            allowed = " or ".join(one.method for one, _ in found)
            raise Refusal(405, f"{method[:16]} is not answered here; allowed: {allowed}")
        chosen, match = fitting[0]
        unknown = set(query) - chosen.keys - {"token"}
        if unknown:
            allowed = ", ".join(sorted(chosen.keys)) or "none"
            raise Refusal(400, f"the query has an unknown key (got {sorted(unknown)[0][:40]!r}; allowed: {allowed})")
        return chosen.most, lambda body: self._answered(chosen, match, query, body)

    def warm_up(self) -> None:
        """Find out beforehand what the page asks for first; a browser takes as long to start."""
        for n in range(len(self._takes)):
            try:
                if not self._waiting.over:
                    self._take(n)
            except Exception:  # told to whoever asks
                _log.debug("take %d could not be looked at beforehand", n, exc_info=True)

    def tidy(self) -> None:
        """To be called now and then."""
        self._films.drop_idle()

    def close(self) -> None:
        """End long polls, forget films."""
        self._waiting.close()
        self._films.close()
        if self.desk is not None:
            self.desk.close()

    def open_another(self, folder: Path) -> int:
        """A take more; its number."""
        take = open_take(folder)
        self._drop_gone()
        with self._guard:
            numbers = [n for n, one in enumerate(self._takes) if one.take.path == take.take.path]
            if numbers:
                return numbers[0]
            if len(self._takes) >= _MOST_TAKES:
                raise Refusal(409, f"{_MOST_TAKES} takes are open already; try: bunraku direct anew")
            self._overlays.append(Overlays(take))
            self._takes.append(take)
            return len(self._takes) - 1

    def _drop_gone(self) -> None:
        """Forget runs that were cancelled before they had a frame, of which nothing is left: they are the last ones."""
        with self._guard:
            while self.desk is not None and self._takes and not self._takes[-1].take.path.is_dir():
                n = len(self._takes) - 1
                self._boxes = {key: box for key, box in self._boxes.items() if key[0] != n}
                self._takes.pop()
                self._overlays.pop()

    @staticmethod
    def _answered(one: Route, match: re.Match[str], query: Mapping[str, str], body: bytes) -> Reply:
        try:
            given = (body,) if one.most else ()
            return one.answer(*match.groups(), query, *given)
        except BunrakuError as error:  # a damaged frame, a file that went
            raise Refusal(500, str(error)) from error

    def _answer_page(self, query: Mapping[str, str]) -> Reply:
        page = self._page
        if page is None:
            file = resources.files("bunraku.studio").joinpath("page", "index.html")
            if not file.is_file():
                raise Refusal(500, "this installation has no page; try: install bunraku again")
            page = file.read_bytes()
        nonce = secrets.token_urlsafe(16)
        return Reply(page.replace(NONCE, nonce.encode()), "text/html; charset=utf-8", _POLICY.format(nonce))

    def _opened(self, query: Mapping[str, str]) -> Reply:
        differences = tuple(Difference(key, values) for key, values in differences_of(self._takes))
        directed = "" if self.desk is None else self.desk.shot.name
        self._drop_gone()
        takes = tuple(self._take(k) for k in range(len(self._takes)))
        return told(Opened(__version__, takes, differences, directed))

    def _take(self, n: int) -> Take:
        take, overlays, scene = self._takes[n], self._overlays[n], self._takes[n].scene
        centre, radius = self._box(n)
        drawn = [
            Overlay(one.name, one.title, one.unit, cast(Any, one.draws), one.about, *_scale(overlays, one.name))
            for one in overlays.kinds.values()
        ]
        return Take(
            number=n, name=take.name, folder=str(take.take.path), object=take.object, state=_state(take),
            frames=tuple(scene.numbers.tolist()), ready=take.ready, rate=scene.rate, vertices=scene.shell.point_count,
            faces=len(scene.shell.faces), guide_vertices=scene.counts["guide"], guide_faces=len(scene.guide_faces),
            obstacle_faces=len(scene.obstacle_faces), centre=centre, radius=radius,
            floor=None if scene.floor is None else scene.floor + float(self._shift(n)[1]),
            regions=scene.regions, overlays=tuple(drawn),
        )  # fmt: skip

    def _box(self, n: int) -> tuple[tuple[float, ...], float]:
        """Centre (3,) and radius [m] of guide, obstacles and the result on some frames."""
        take = self._takes[n]
        ready = take.ready
        if (n, ready) not in self._boxes:
            low, high = (np.array(end) for end in take.scene.box)
            for k in np.unique(np.linspace(0, ready - 1, _SAMPLES).astype(int)) if ready else ():
                with suppress(BunrakuError):  # a damaged frame is told of to whoever asks for it
                    points = take.points(int(k))
                    low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
            if not (np.isfinite(low) & np.isfinite(high)).all():  # there is nothing
                low, high = -np.ones(3), np.ones(3)
            centre = 0.5 * (low + high) + self._shift(n)
            self._boxes[n, ready] = tuple(centre.tolist()), 0.5 * float(np.linalg.norm(high - low))
        return self._boxes[n, ready]

    def _shift(self, n: int) -> Any:
        """(3,) [m] from the coordinates of a take to those of the first, in which all are told."""
        return self._takes[n].scene.origin - self._takes[0].scene.origin

    def _mesh(self, which: str, query: Mapping[str, str]) -> Reply:
        n = self._number(which)
        scene = self._takes[n].scene
        faces = {"faces": scene.shell.faces, "guide_faces": scene.guide_faces, "obstacle_faces": scene.obstacle_faces}
        pieces = {name: Piece(np.asarray(value, np.uint32)) for name, value in faces.items()}
        labels = self._overlays[n].labels
        if labels is not None:
            pieces["label"] = Piece(np.asarray(labels, np.int32))
        return Reply(parcel([(None, pieces)]), "application/octet-stream")

    def _frames(self, which: str, query: Mapping[str, str]) -> Reply:
        n = self._number(which)
        take = self._takes[n]
        most = len(take.scene.numbers)
        first, count = number(query, "from", 0, max(most - 1, 0)), number(query, "count", 1, _MOST_FRAMES, 1)
        also, overlay = [one for one in query.get("with", "").split(",") if one], query.get("overlay", "")
        if unknown := set(also) - {"guide", "obstacles"}:
            raise Refusal(400, f"with has an unknown part (got {sorted(unknown)[0][:40]!r}; allowed: guide, obstacles)")
        if overlay and overlay not in self._overlays[n].kinds:
            allowed = ", ".join(self._overlays[n].kinds)
            raise Refusal(400, f"there is no such overlay (got {overlay[:40]!r}; allowed: {allowed})")
        entries, size = [], 0
        for k in range(first, min(first + count, take.ready)):
            entries.append((k, self._frame(n, k, also, overlay)))
            size += sum(piece.array.nbytes for piece in entries[-1][1].values())
            if size > _LARGEST:
                break
        return Reply(parcel(entries), "application/octet-stream")

    def _frame(self, n: int, k: int, also: Sequence[str], overlay: str) -> dict[str, Piece]:
        take, shift = self._takes[n], self._shift(n)
        pieces = {"points": shares(take.points(k), shift)}
        if "guide" in also:
            pieces["guide"] = shares(take.guide(k), shift)
        if "obstacles" in also:
            pieces["obstacles"] = shares(take.obstacles(k), shift)
        draws = self._overlays[n].kinds[overlay].draws if overlay else ""
        if draws == "values":
            pieces[overlay] = shares(self._overlays[n].values(overlay, k))
        elif draws == "segments":
            pieces[overlay] = Piece((self._overlays[n].values(overlay, k) + shift).astype(np.float32))
        return pieces

    def _report(self, which: str, query: Mapping[str, str]) -> Reply:
        take = self._takes[self._number(which)]
        ready = take.ready  # before the curves, which may then be of more frames but not of fewer
        titles, found = curve_titles(), take.curves()
        names = [name for name in titles if name in found] + [name for name in found if name not in titles]
        curves = [
            Curve(name, *titles.get(name, (name.replace("_", " "), "", False)), _numbers(found[name][:ready]))
            for name in names
        ]
        sentences = [Sentence(cast(Any, one.kind), one.text, one.frame, one.region) for one in take.sentences()]
        return told(Report(_state(take), ready, tuple(sentences), tuple(curves), take.shot))

    def _news(self, which: str, query: Mapping[str, str]) -> Reply:
        """Waits until there is news."""
        take = self._takes[self._number(which)]
        known = number(query, "ready", 0, 10**9, 0), query.get("state", "")
        self._waiting.for_news(lambda: take.ready <= known[0] and take.state == known[1])
        state = _state(take)
        left = take.seconds_left if state == "running" else None
        return told(News(state, take.ready, take.count, take.done, left, state == "running"))

    def _cancel(self, which: str, query: Mapping[str, str]) -> Reply:
        return told(Cancelled(self._takes[self._number(which)].stop()))

    def _begin_film(self, query: Mapping[str, str]) -> Reply:
        width, height = number(query, "width", 16, 8192), number(query, "height", 16, 8192)
        try:
            rate = float(query.get("rate", ""))
        except ValueError:
            rate = 0.0
        if not 1.0 <= rate <= 240.0:
            raise Refusal(400, f"rate must be a number (got {query.get('rate', '')[:40]!r}; allowed: 1 to 240)")
        return told(MovieBegun(self._films.begin(width, height, rate)))

    def _add_picture(self, name: str, query: Mapping[str, str], body: bytes) -> Reply:
        self._films.film(name).add(body)
        return told(MovieBegun(name))

    def _end_film(self, name: str, query: Mapping[str, str]) -> Reply:
        return Reply(self._films.end(name), "video/mp4")

    def _leave_film(self, name: str, query: Mapping[str, str]) -> Reply:
        return told(Cancelled(self._films.leave(name)))

    def _number(self, which: str) -> int:
        if int(which) >= len(self._takes):
            raise Refusal(404, f"there is no such take (got {which}; allowed: 0 to {len(self._takes) - 1})")
        return int(which)


def _scale(overlays: Overlays, name: str) -> tuple[float, float]:
    """Of an overlay; any, where frames are damaged: takes are shown as far as they can be."""
    try:
        return overlays.scale(name)
    except BunrakuError:
        return 0.0, 1.0


def _state(take: ReviewedTake) -> State:
    return cast(State, take.state)


def _numbers(values: Any) -> tuple[float | None, ...]:
    """What JSON can say."""
    return tuple(value if np.isfinite(value) else None for value in np.asarray(values, float).tolist())
