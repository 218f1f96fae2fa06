"""What the server answers about takes: finished, several, in progress, cancelled, found again."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from studio_client import Client, write_shot

from bunraku import __version__
from bunraku.io import packed
from bunraku.shots import ReviewedTake, StopAsked, open_take, read_shot
from bunraku.shots.lock import locked
from bunraku.studio import StudioServer, replies, routes, serving
from bunraku.studio.routes import Studio


def _unfinished(folder: Path, frames: int) -> None:
    (folder / "report.json").unlink(missing_ok=True)
    for k in range(frames, 7):
        (folder / f"frames/frame_{k:06d}.bkframe").unlink()


def test_the_page_is_whole_and_loads_nothing_from_elsewhere(client: Client) -> None:
    first, second = client.ask("/"), client.ask("/")
    assert first.status == 200 and first.headers["content-type"] == "text/html; charset=utf-8"
    assert b"__NONCE__" not in first.body and first.body != second.body  # another number each time
    policy = first.headers["content-security-policy"]
    nonce = first.body.split(b'nonce="')[1].split(b'"')[0].decode()
    assert f"script-src 'nonce-{nonce}'" in policy and "default-src 'none'" in policy and "http:" not in policy
    assert first.headers["cache-control"] == "no-store" and first.headers["x-content-type-options"] == "nosniff"


def test_what_is_open(client: Client, folder: Path) -> None:
    told = client.ask("/takes").json
    (take,) = told["takes"]
    assert told["version"] == __version__ and told["differences"] == []
    assert (take["name"], take["object"], take["state"], take["ready"]) == ("box v001", "box", "finished", 6)
    assert take["frames"] == [1, 2, 3, 4, 5, 6] and take["rate"] == 24 and take["folder"] == str(folder)
    assert (take["vertices"], take["faces"], take["guide_vertices"], take["guide_faces"]) == (26, 48, 8, 12)
    assert len(take["regions"]) == 8 and take["floor"] is None and take["obstacle_faces"] == 0
    names = [one["name"] for one in take["overlays"]]
    assert names == ["regions", "force", "residual", "missed", "strain", "distance"]
    assert all(one["low"] < one["high"] for one in take["overlays"])
    points = open_take(folder).points(5)
    assert (np.linalg.norm(points - take["centre"], axis=1) <= take["radius"] + 1e-9).all()


def test_meshes_and_frames_are_those_of_the_take(client: Client, folder: Path) -> None:
    take = open_take(folder)
    ((none, mesh),) = client.ask("/takes/0/mesh").parcel
    assert none is None
    np.testing.assert_array_equal(mesh["faces"], take.scene.shell.faces)
    np.testing.assert_array_equal(mesh["guide_faces"], take.scene.guide_faces)
    assert mesh["label"].shape == (26,) and set(mesh["label"]) == set(range(8)) and mesh["obstacle_faces"].size == 0
    entries = client.ask("/takes/0/frames?from=2&count=3&overlay=strain&with=guide,obstacles").parcel
    assert [frame for frame, _ in entries] == [2, 3, 4]
    for frame, arrays in entries:
        assert frame is not None and set(arrays) == {"points", "guide", "obstacles", "strain"}
        np.testing.assert_allclose(arrays["points"], take.points(frame), atol=1e-5)
        np.testing.assert_allclose(arrays["guide"], take.guide(frame), atol=1e-5)
        assert arrays["strain"].shape == (26,)
    assert [frame for frame, _ in client.ask("/takes/0/frames?from=4&count=200").parcel] == [4, 5]
    assert set(client.ask("/takes/0/frames?from=0").parcel[0][1]) == {"points"}


def test_a_parcel_of_large_frames_holds_fewer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_LARGEST", 200)
    assert [frame for frame, _ in client.ask("/takes/0/frames?from=1&count=5").parcel] == [1, 2]


def test_the_report_in_full(client: Client, folder: Path) -> None:
    told, report = client.ask("/takes/0/report").json, json.loads((folder / "report.json").read_text())
    assert told["state"] == "finished" and told["ready"] == 6 and "[object.box]" in told["shot"]
    assert told["sentences"] == report["told"] and told["sentences"][0]["kind"] == "met"
    curves = {one["name"]: one for one in told["curves"]}
    np.testing.assert_allclose(curves["force_N"]["values"], report["per_frame"]["force_N"])
    assert (curves["force_N"]["unit"], curves["residual_m"]["log"]) == ("N", True)


def test_a_report_is_of_the_frames_that_were_there_when_it_was_asked_for(
    serve: Callable[..., Client], folder: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _unfinished(folder, 4)
    curves = ReviewedTake.curves

    def while_a_frame_comes(take: ReviewedTake) -> dict:
        found = curves(take)
        shutil.copy(made / "frames/frame_000004.bkframe", folder / "frames")
        return found

    monkeypatch.setattr(ReviewedTake, "curves", while_a_frame_comes)
    told = serve(folder).ask("/takes/0/report").json
    assert {len(one["values"]) for one in told["curves"]} == {told["ready"]} == {3}


def test_two_takes_are_told_together_with_what_differs(
    serve: Callable[..., Client], folder: Path, tmp_path: Path
) -> None:
    other = read_shot(write_shot(tmp_path, shot={"preroll": 1}, physics={"substeps": 1})).run(threads=1).folder
    client = serve(folder, other)
    told = client.ask("/takes").json
    assert [take["number"] for take in told["takes"]] == [0, 1]
    assert told["differences"] == [{"key": "physics.substeps", "values": ["2", "1"]}]
    assert client.ask("/takes/1/frames?from=0").status == 200


def test_takes_about_other_origins_lie_where_they_do_in_the_world(
    serve: Callable[..., Client], folder: Path, tmp_path: Path
) -> None:
    from bunraku.io import packed, read_arrays

    moved = shutil.copytree(folder, tmp_path / "v002")
    arrays, meta = read_arrays(moved / "scene/still.bkscene")
    arrays["origin"] = np.array([100.0, 0.0, 0.0])
    (moved / "scene/still.bkscene").write_bytes(packed(arrays, meta, ""))
    client = serve(folder, moved)
    first, second = (client.ask(f"/takes/{n}/frames?from=0&with=guide").parcel[0][1] for n in (0, 1))
    for name in ("points", "guide"):
        np.testing.assert_allclose(second[name] - first[name], np.tile([100.0, 0, 0], (len(first[name]), 1)))
    centres = [take["centre"] for take in client.ask("/takes").json["takes"]]
    np.testing.assert_allclose(np.subtract(centres[1], centres[0]), [100, 0, 0], atol=1e-9)


def test_news_come_as_soon_as_a_frame_does(serve: Callable[..., Client], folder: Path, made: Path) -> None:
    _unfinished(folder, 4)
    with locked(folder):
        client, answers = serve(folder), []
        asking = threading.Thread(
            target=lambda: answers.append(client.ask("/takes/0/news?ready=3&state=running").json)
        )  # fmt: skip
        asking.start()
        time.sleep(0.5)
        assert not answers  # it waits
        shutil.copy(made / "frames/frame_000004.bkframe", folder / "frames")
        asking.join(5)
        assert (answers[0]["ready"], answers[0]["done"], answers[0]["count"]) == (4, 5, 7)
        assert answers[0]["state"] == "running" and answers[0]["can_cancel"]
        assert client.ask("/takes/0/report").json["sentences"] == []
        assert client.ask("/takes/0/frames?from=3&count=9").parcel[-1][0] == 3
    told = client.ask("/takes/0/news?ready=4&state=running").json  # at once: the state is another
    assert told["state"] == "interrupted" and not told["can_cancel"] and told["seconds_left"] is None


def test_without_news_a_poll_ends_all_the_same(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_PATIENCE", 0.3)
    begin = time.monotonic()
    assert client.ask("/takes/0/news?ready=6&state=finished").json["ready"] == 6
    assert 0.3 <= time.monotonic() - begin < 5


def test_polls_beyond_the_first_few_do_not_hold_a_browsers_connections(client: Client) -> None:
    times: list[float] = []

    def poll() -> None:
        begin = time.monotonic()
        client.ask("/takes/0/news?ready=6&state=finished")
        times.append(time.monotonic() - begin)

    polls = [threading.Thread(target=poll, daemon=True) for _ in range(4)]
    for one in polls:
        one.start()
    time.sleep(2.5)
    assert len(times) == 2 and max(times) < 2.4
    client.server.studio.close()  # as the server's end does: those that wait are answered
    for one in polls:
        one.join(5)
    assert len(times) == 4


def test_a_run_is_followed_and_cancelled(serve: Callable[..., Client], tmp_path: Path) -> None:
    """A real run in a thread, asked to stop through the server; its frames are kept."""
    shot, ended, began = read_shot(write_shot(tmp_path, frames=40)), [], threading.Event()

    def run() -> None:
        try:
            shot.run(threads=1, progress=lambda event: began.set() if type(event).__name__ == "FrameDone" else None)
        except StopAsked as error:
            ended.append(str(error))

    running = threading.Thread(target=run)
    running.start()
    assert began.wait(60)
    client = serve(tmp_path / "takes/box/v001")
    assert client.ask("/takes").json["takes"][0]["state"] == "running"
    assert client.ask("/takes/0/cancel", "POST").json == {"asked": True}
    running.join(30)
    assert ended == ["asked to stop from outside"]
    told = client.ask("/takes/0/news?ready=0&state=running").json
    assert told["state"] == "interrupted" and 1 <= told["ready"] < 40
    assert client.ask("/takes/0/cancel", "POST").json == {"asked": False}


def test_a_server_that_is_closed_is_gone_and_the_next_finds_the_take_again(folder: Path) -> None:
    with serving(StudioServer([open_take(folder)], page=b"")) as server:
        first = Client(server)
        frames = first.ask("/takes/0/frames?from=0&count=6").body
    with pytest.raises(ConnectionError):
        first.ask("/takes")
    with serving(StudioServer([open_take(folder)], port=first.port, page=b"")) as server:
        again = Client(server)
        assert again.token != first.token
        assert again.ask("/takes/0/frames?from=0&count=6").body == frames
        assert again.ask("/takes", X_Bunraku_Token=first.token).status == 403


def test_several_clients_at_once_get_the_same(client: Client) -> None:
    answers: list[bytes] = []
    path = "/takes/0/frames?from=0&count=6&overlay=distance"
    clients = [threading.Thread(target=lambda: answers.append(client.ask(path).body)) for _ in range(8)]
    for one in clients:
        one.start()
    for one in clients:
        one.join(30)
    assert len(answers) == 8 and len(set(answers)) == 1


def test_frames_before_a_damaged_one_are_shown(serve: Callable[..., Client], folder: Path) -> None:
    file = folder / "frames/frame_000003.bkframe"
    file.write_bytes(file.read_bytes()[:300])
    client = serve(folder)
    assert client.ask("/takes").json["takes"][0]["ready"] == 2
    assert [frame for frame, _ in client.ask("/takes/0/frames?from=0&count=9").parcel] == [0, 1]
    assert client.ask("/takes/0/frames?from=4").parcel == []
    assert len(client.ask("/takes/0/report").json["curves"][0]["values"]) == 2


def test_what_cannot_be_read_is_a_sentence(client: Client, folder: Path) -> None:
    assert client.ask("/takes").status == 200
    (folder / "frames/frame_000002.bkframe").unlink()  # after it was seen
    answer = client.ask("/takes/0/frames?from=1")
    assert answer.status == 500 and "no such file" in answer.json["error"] and "Traceback" not in str(answer.body)


def test_an_installation_without_a_page_says_so(
    serve: Callable[..., Client], folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(routes.resources, "files", lambda _: tmp_path)
    answer = serve(folder, page=None).ask("/")
    assert answer.status == 500 and "has no page" in answer.json["error"]


def test_a_take_that_goes_while_it_is_open_hinders_no_other(
    serve: Callable[..., Client], folder: Path, made: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = serve(folder, made)
    shutil.rmtree(folder)
    takes = client.ask("/takes").json["takes"]
    assert [(take["ready"], take["state"]) for take in takes] == [(0, "interrupted"), (6, "finished")]
    assert client.ask("/takes/0/frames?from=0").status == 200 and client.ask("/takes/0/report").status == 200
    assert client.ask("/takes/0/mesh").status == 200 and not caplog.records


def test_damaged_frames_are_told_of_only_to_whoever_asks_for_them(serve: Callable[..., Client], folder: Path) -> None:
    for k in range(7):
        (folder / f"frames/frame_{k:06d}.bkframe").write_bytes(packed({"q": np.full(78, np.nan)}, {}, ""))
    client = serve(folder)
    take = client.ask("/takes").json["takes"][0]
    assert take["ready"] == 6 and take["radius"] > 0 and all(one["low"] < one["high"] for one in take["overlays"])
    refused = client.ask("/takes/0/frames?from=0")
    assert refused.status == 500 and "nowhere" in refused.json["error"]


def test_looking_beforehand_complains_to_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studio = Studio([open_take(folder)])
    monkeypatch.setattr(studio, "_take", lambda n: [].index(n))
    studio.warm_up()  # in a thread of its own: what it raises would be printed
