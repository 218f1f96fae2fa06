"""Garments put on bodies that they cut: thin bodies, and what becomes of the garment as they grow."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from layered import AROUND, standing, swaying, tube, turns_around

from bunraku import Contact, TriMesh, track
from bunraku.direction.track import layers
from bunraku.direction.track.growing import _Flow
from bunraku.testing import check_apart, icosphere

GAP = 0.002


@pytest.mark.parametrize("length", [0.1, 0.5])
def test_a_ball_becomes_a_smaller_ball(length: float) -> None:
    """Coordinates on a ball of radius 1 fall by 2 of themselves in a unit of time: by 1 + 2 ℓ² in an implicit step."""
    ball = icosphere(4)
    thin = _Flow(ball.faces, ball.rest).thinner(ball.rest, length, 0.0)
    radius = np.linalg.norm(thin, axis=1)
    assert radius == pytest.approx(1.0 / (1.0 + 2.0 * length**2), rel=0.01)
    np.testing.assert_allclose(thin / radius[:, None], ball.rest, atol=0.01)


def test_thinning_in_two_stages_goes_as_far_as_both_lengths_say() -> None:
    ball = icosphere(3)
    flow = _Flow(ball.faces, ball.rest)
    twice = flow.thinner(flow.thinner(ball.rest, 0.2, 0.0), 0.3, 0.2)
    assert np.linalg.norm(twice, axis=1) == pytest.approx(1.0 / (1.0 + 2.0 * 0.04) / (1.0 + 2.0 * 0.05), rel=0.01)


@pytest.fixture
def no_lift(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no lift had come clear of the body."""
    monkeypatch.setattr(layers._Lift, "of", lambda *_: None)


@pytest.mark.usefixtures("no_lift")
@pytest.mark.parametrize("radius", [0.09, pytest.param(0.06, marks=pytest.mark.slow)])
def test_a_body_grows_into_a_garment_that_it_cuts(radius: float, caplog: pytest.LogCaptureFixture) -> None:
    """A tube narrower than the capsule, longer at one end: it is stretched around it, then goes with it."""
    x, faces = tube(radius, -0.15, 0.35)
    shell, body = TriMesh(x, faces), swaying()
    contact = Contact(thickness=GAP, obstacles=[body], parts={"shirt": [0]}, layers=["shirt"])
    with caplog.at_level(logging.INFO):
        take = track(standing(shell, 3), shell, None, contact=contact, threads=1, tolerance=1e-3)
    frames = [
        np.concatenate([one, body.at(t)]) for one, t in zip(take.animation.points, take.animation.times, strict=True)
    ]
    whole = np.concatenate([faces, body.mesh.faces + len(x)])
    check_apart(whole, frames, shell=len(faces), movable=len(x))
    (told,) = take.facts["layers"]
    assert told["moved"] > 2 * AROUND and not told["wrong"] and told["most_m"] > 0.8 * (0.1 - radius)
    assert "made thin over" in caplog.text and "still behind" not in caplog.text
    # The body's middle is inside the tube, and so are the ends of its axis below the tube's upper end.
    assert (turns_around(np.array([[0.0, y, 0.0] for y in (-0.1, 0.0, 0.1)]), take.animation.points[0]) > 0.5).all()


@pytest.mark.usefixtures("no_lift")
def test_a_garment_that_cuts_itself_is_refused() -> None:
    """Thinner bodies are no help, and the message says what is: its own faces."""
    x, faces = tube(0.09, -0.15, 0.35)
    x[4 * AROUND] = x[4 * AROUND + AROUND // 2] * [1.3, 1.0, 1.3]  # through the wall on the other side
    contact = Contact(thickness=GAP, obstacles=[swaying()], parts={"shirt": [0]}, layers=["shirt"])
    shell = TriMesh(x, faces)
    with pytest.raises(ValueError, match=r"faces .* and .*cuts or nearly touches something"):
        track(standing(shell, 2), shell, None, contact=contact, threads=1)
