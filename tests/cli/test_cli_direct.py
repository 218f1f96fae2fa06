"""`bunraku direct`: a page over a shot that is served until Ctrl-C; what is no shot is refused as a run does."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest


def _asked(address: str, path: str) -> Any:
    base, token = address.split("?token=")
    request = urllib.request.Request(base + path, headers={"X-Bunraku-Token": token})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read())


@pytest.fixture(autouse=True)
def no_process_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bunraku.studio.runs._process", lambda: None)


def test_a_shot_is_on_its_page_until_ctrl_c(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    monkeypatch.setattr("bunraku.cli.direct.show_page", lambda address: seen.append(_asked(address, "shot")))
    monkeypatch.setattr("bunraku.cli.direct.wait_for_ctrl_c", lambda: None)
    code, out, err = bunraku("direct", "box.toml")
    assert code == 0 and err == "" and out.startswith("http://127.0.0.1:")
    assert seen[0]["file"] == "box.toml" and [one["name"] for one in seen[0]["objects"]] == ["box"]
    assert bunraku("direct", "box.toml", "--no-open")[0] == 0 and len(seen) == 1


@pytest.mark.parametrize(("word", "said"), [("nowhere.toml", "there is no such file"), ("guide.usda", "not a shot")])
def test_what_is_no_shot_is_refused(folder, bunraku, word: str, said: str):
    code, out, err = bunraku("direct", word, "--no-open")
    assert code == 2 and out == "" and said in err


def test_what_cannot_be_run_is_refused(folder, bunraku):
    (folder.path / "bad.toml").write_text("[physics]\nsubsteps = 0\n")
    code, _, err = bunraku("direct", "bad.toml", "--no-open")
    assert code == 2 and "physics.substeps: is out of range (got 0)" in err and "object: is missing" in err
