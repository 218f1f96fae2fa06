"""A small shot on disk, and a client that asks a server and says what it got."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import tomli_w
from turning import turning

from bunraku.io import write_animation
from bunraku.studio import StudioServer

PAGE = b'<!doctype html><title>page</title><style nonce="__NONCE__"></style><script nonce="__NONCE__"></script>'


def write_shot(folder: Path, frames: int = 6, **tables: Any) -> Path:
    """guide.usda and box.toml."""
    write_animation(folder / "guide.usda", turning(frames), rate=24.0, prim="/box")
    told = {"object": {"box": {"guide": {"file": "guide.usda"}, "mesh": {"levels": 1}}}, **tables}
    (folder / "box.toml").write_text(tomli_w.dumps({"output": {"preview": False}, **told}), encoding="utf-8")
    return folder / "box.toml"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def parcel(self) -> list[tuple[int | None, dict[str, np.ndarray]]]:
        """Entries with their arrays, shares turned into what they stand for."""
        assert self.body[:4] == b"BKP1" and len(self.body) % 8 == 0
        length = int.from_bytes(self.body[4:8], "little")
        header, begin = json.loads(self.body[8 : 8 + length]), -(-(8 + length) // 8) * 8
        out = []
        for entry in header["entries"]:
            arrays = {}
            for place in entry["arrays"]:
                offset, count = begin + place["offset"], int(np.prod(place["shape"]))
                assert offset % 8 == 0
                array = np.frombuffer(self.body, "<" + place["type"], count, offset).reshape(place["shape"])
                if place["low"] is not None:
                    low, high = np.array(place["low"]), np.array(place["high"])
                    array = low + array / 65535 * (high - low)
                arrays[place["name"]] = array
            out.append((entry["frame"], arrays))
        return out


class Client:
    """Asks a server, one connection each time."""

    def __init__(self, server: StudioServer) -> None:
        self.server, self.port, self.token = server, server.gate.port, server.gate.token

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        """With the token, unless the headers say otherwise."""
        path = quote(path, safe="/?&=%,.:;@!$'()*+~-_")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"X-Bunraku-Token": self.token, **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            connection.request(method, path, body, {name: value for name, value in given.items() if value})
            reply = connection.getresponse()
            return Answer(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        finally:
            connection.close()
