"""Films from the page's own pictures: each is encoded while its pictures come, and forgotten once it was fetched."""

from __future__ import annotations

import queue
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bunraku.contracts import BunrakuError
from bunraku.render import read_picture, write_video
from bunraku.render.lettering import Image

from .gate import Refusal

MOST_FILMS = 4
MOST_PICTURES = 20_000
MOST_BYTES = 32 << 20
"""of one picture"""
MOST_PIXELS = 3840 * 2160
IDLE = 120.0
"""[s] after which a film to which nothing is sent is dropped"""
_WAIT = 60.0  # [s] for the encoder


class Film:
    """A film in the making."""

    def __init__(self, width: int, height: int, rate: float) -> None:
        self.size, self.count, self.used = (width, height), 0, time.monotonic()
        self._folder = tempfile.TemporaryDirectory(prefix="bunraku-film-")
        self._path = Path(self._folder.name) / "film.mp4"
        self._pictures: queue.Queue[Image | None] = queue.Queue(maxsize=4)
        self._failure: BaseException | None = None
        self._dropped = False
        self._thread = threading.Thread(target=self._encode, args=(rate,), daemon=True)
        self._thread.start()

    def add(self, data: bytes) -> None:
        """One picture more, a PNG or JPEG."""
        self.used = time.monotonic()
        if self.count >= MOST_PICTURES:
            raise Refusal(413, f"the film is too long (allowed: up to {MOST_PICTURES} pictures)")
        try:
            picture = read_picture(data, *self.size)
        except BunrakuError as error:
            raise Refusal(400, str(error)) from None
        self._send(picture)
        self.count += 1
        self.used = time.monotonic()

    def end(self) -> bytes:
        """The mp4."""
        self._send(None)
        self._thread.join(_WAIT)
        if self._failure is not None or not self._path.exists():
            raise Refusal(500, f"the film could not be made: {self._failure or 'the encoder does not end'}")
        return self._path.read_bytes()

    def drop(self) -> None:
        """Stop encoding and remove what there is."""
        self._dropped = True
        self._thread.join(_WAIT)
        self._folder.cleanup()

    def _send(self, picture: Image | None) -> None:
        until = time.monotonic() + _WAIT
        while self._failure is None and time.monotonic() < until:
            try:
                return self._pictures.put(picture, timeout=0.1)
            except queue.Full:
                continue
        raise Refusal(500, f"the film could not be made: {self._failure or 'the encoder is too slow'}")

    def _encode(self, rate: float) -> None:
        try:
            write_video(self._path, self._coming(), rate)
        except BaseException as error:
            self._failure = error

    def _coming(self) -> Iterator[Image]:
        while not self._dropped:
            try:
                picture = self._pictures.get(timeout=0.1)
            except queue.Empty:
                continue
            if picture is None:
                return
            yield picture
        raise InterruptedError("the film was dropped")


class Films:
    """All films in the making."""

    def __init__(self) -> None:
        self._films: dict[str, Film] = {}
        self._guard = threading.Lock()

    def begin(self, width: int, height: int, rate: float) -> str:
        """A new film; its name."""
        if width * height > MOST_PIXELS:
            raise Refusal(400, f"the film is too large (got {width} × {height}; allowed: up to {MOST_PIXELS} pixels)")
        self.drop_idle()
        with self._guard:
            if len(self._films) >= MOST_FILMS:
                raise Refusal(429, f"{MOST_FILMS} films are being made already; try: again when one is done")
            name = secrets.token_urlsafe(12)
            self._films[name] = Film(width, height, rate)
        return name

    def film(self, name: str) -> Film:
        """One that is being made."""
        with self._guard:
            found = self._films.get(name)
        if found is None:
            raise Refusal(404, "there is no such film; it was fetched already, or nothing was sent to it for too long")
        return found

    def end(self, name: str) -> bytes:
        """The mp4 of a film, which is then forgotten."""
        film = self.film(name)
        with self._guard:
            self._films.pop(name, None)
        try:
            if not film.count:
                raise Refusal(400, "the film has no pictures yet")
            return film.end()
        finally:
            film.drop()

    def leave(self, name: str) -> bool:
        """Drop a film that nobody wants any more; whether there was one."""
        with self._guard:
            film = self._films.pop(name, None)
        if film is not None:
            film.drop()
        return film is not None

    def drop_idle(self) -> None:
        """Forget films to which nothing is sent any more."""
        with self._guard:
            late = [name for name, film in self._films.items() if time.monotonic() - film.used > IDLE]
            films = [self._films.pop(name) for name in late]
        for film in films:
            film.drop()

    def close(self) -> None:
        """Forget all."""
        with self._guard:
            films, self._films = list(self._films.values()), {}
        for film in films:
            film.drop()
