"""Roles and motions over the wire: what is offered, what is changed, and messages that are refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_client import PAGE, Answer, Client, write_shot
from turning import turning

from bunraku.io import write_animation
from bunraku.shots import EditedShot
from bunraku.studio import StudioServer, serving

BOX = ["object", "box"]


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    high = turning(6)
    high.points[:, :, 1] += 3.0
    write_animation(tmp_path / "high.usda", high, rate=24.0, prim="/high")
    shot = write_shot(tmp_path, physics={"contact": True})
    lid = '\n[object.lid]\nrole = "obstacle"\nsource = { file = "high.usda" }\n'
    shot.write_text(shot.read_text() + lid)
    return shot


@pytest.fixture
def client(shot: Path) -> Iterator[Client]:
    with serving(StudioServer([], page=PAGE, shot=EditedShot(shot))) as server:
        yield Client(server)


def post(client: Client, where: str, **message: Any) -> Answer:
    return client.ask(where, "POST", json.dumps({"revision": 1, "path": BOX, "tab": "one", **message}).encode())


def test_what_may_be_followed_is_offered_and_followed(client: Client, shot: Path) -> None:
    offered = client.ask("/shot/motions?object=box&stage=").json
    assert offered["revision"] == 1 and offered["motions"][0] == {
        "told": {"file": "guide.usda"}, "title": "guide.usda", "group": "now",
    }  # fmt: skip
    lid = offered["motions"][1]
    assert (lid["told"], lid["group"]) == ({"file": "high.usda"}, "object")
    got = post(client, "/shot/motion", told=lid["told"])
    assert got.status == 200 and '+file = "high.usda"' in got.json["diff"]
    assert got.json["sheet"]["undo"] == "box goes after high.usda"
    assert client.ask("/shot/news?revision=1&run=0").json["by"] == "one"
    assert post(client, "/shot/motion", told=lid["told"]).status == 409
    assert client.ask("/shot/motions?object=nobody").status == 400


def test_a_role_is_played(client: Client) -> None:
    got = post(client, "/shot/role", path=["object", "lid"], role="shell")
    roles = {one["name"]: (one["role"], one["follows"]) for one in got.json["sheet"]["objects"]}
    assert roles == {"lid": ("shell", "high.usda"), "box": ("obstacle", "guide.usda")}


@pytest.mark.parametrize(
    ("path", "message", "why"),
    [
        ("/shot/role", {"role": "hero"}, "RoleWanted.role is of the wrong kind"),
        ("/shot/role", {"role": "plan"}, "object.box.keys: nothing is asked for"),
        ("/shot/role", {"role": "shell", "path": ["object"]}, "no such object"),
        ("/shot/role", {"role": "shell", "path": [1, 2]}, "no such object"),
        ("/shot/role", {"role": "shell", "path": []}, "no such object (got 'nothing')"),
        ("/shot/motion", {"told": "guide.usda"}, "must be a table"),
        ("/shot/motion", {"told": {}}, "must be a table"),
        ("/shot/motion", {"told": {"file": 3}}, "object.box.guide.file: must be the name of a file"),
        ("/shot/motion", {"told": {"file": "../nobody.usda"}}, "there is no such file"),
        ("/shot/motion", {"told": {"file": "guide.usda", "unit": float("nan")}}, "NaN is no number"),
        ("/shot/motion", {"told": {"file": ""}}, "must be the name of a file"),
        ("/shot/motion", {"told": {"take": "box/v001"}}, "there is no such take"),
        ("/shot/motion", {"told": {"file": "high.usda", "prim": "/low"}}, "has no such mesh (got '/low')"),
    ],
)
def test_bad_messages_get_a_sentence_and_change_nothing(
    client: Client, shot: Path, path: str, message: dict[str, Any], why: str
) -> None:
    before = shot.read_bytes()
    got = post(client, path, **message)
    assert got.status == 400 and why in got.json["error"] and "Traceback" not in got.json["error"]
    assert shot.read_bytes() == before and client.ask("/shot").json["revision"] == 1
