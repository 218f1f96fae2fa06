"""The force of the wind: closed forms, signs, and what must never happen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku import InputError, ShellMaterial, Wind
from bunraku.contracts import Points, State
from bunraku.energies import Blowing
from bunraku.energies.turbulence import Turbulence
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend
from bunraku.testing import sheet

AREA, SPEED, DT = 0.25, 7.0, 0.01


def _plate(angle: float) -> TriMesh:
    """A square of 0.25 m² whose normal is turned by `angle` from x about z; at 0 it is across a wind along x."""
    flat = sheet(2, 2, 0.5, 0.5)
    c, s = np.cos(angle), np.sin(angle)
    along = np.array([-s, c, 0.0])
    return flat.with_rest(flat.rest[:, :1] * along + flat.rest[:, 1:2] * np.array([0.0, 0.0, 1.0]))


def _force(mesh: TriMesh, wind: Wind, velocity: Points | None = None, drag: float = 0.0) -> Points:
    """(3,) total on a plate that keeps its velocity during the step."""
    material = MaterialBlend.uniform(ShellMaterial(young=1e6, drag=drag), len(mesh.faces))
    v = np.zeros_like(mesh.rest) if velocity is None else np.broadcast_to(velocity, mesh.rest.shape)
    state = State(0.0, mesh.rest.reshape(-1).copy(), v.reshape(-1).copy())
    return -Blowing(mesh, material, wind).at(state, DT).gradient(mesh.rest + DT * v).sum(axis=0)


def test_a_plate_across_the_wind_feels_the_dynamic_pressure() -> None:
    """½ ρ C_D A v² along the wind, nothing across it."""
    force = _force(_plate(0.0), Wind((SPEED, 0, 0), density=1.3, drag=1.1, lift=0.4))
    assert force == pytest.approx([0.5 * 1.3 * 1.1 * AREA * SPEED**2, 0, 0], abs=1e-12)


def test_a_plate_along_the_wind_feels_nothing() -> None:
    assert _force(_plate(np.pi / 2), Wind((SPEED, 0, 0))) == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("degrees", [10, 45, 80, 100, 135, 190, 300])
def test_drag_and_lift_at_an_angle(degrees: float) -> None:
    """Drag ½ρ C_D A v² |cos α|; lift ½ρ C_L A v² sin α cos α, across the wind, to the side the normal points to."""
    angle, scale = np.radians(degrees), 0.5 * 1.2 * AREA * SPEED**2
    force = _force(_plate(angle), Wind((SPEED, 0, 0), drag=1.2, lift=0.6))
    normal = np.array([np.cos(angle), np.sin(angle), 0.0])
    wanted = scale * np.array([1.2 * abs(normal[0]), 0.6 * normal[0] * normal[1], 0.0])
    assert force == pytest.approx(wanted, abs=1e-12 * scale)


def test_the_wind_is_read_at_the_end_of_the_step() -> None:
    """A gust that begins with the step and is full when it ends."""
    whole = _force(_plate(0.0), Wind((SPEED, 0, 0)))
    assert _force(_plate(0.0), Wind((SPEED, 0, 0), gust=[[0.0, 0.0], [DT, 1.0]])) == pytest.approx(whole, rel=1e-12)


def test_the_energy_is_what_moving_through_the_air_costs() -> None:
    """dt/2 Σ (v − w)·R (v − w): none for a shell that goes with the wind, and never below."""
    plate, w = _plate(0.4), np.array([4.0, 1.0, 2.0])
    material = MaterialBlend.uniform(ShellMaterial(young=1e6, drag=0.3), len(plate.faces))
    state = State(0.0, plate.rest.reshape(-1).copy(), np.zeros(plate.rest.size))
    energy = Blowing(plate, material, Wind(tuple(w))).at(state, DT)
    standing = energy.value(plate.rest)
    assert standing == pytest.approx(0.5 * DT * w @ energy.resistance.sum(axis=0) @ w, rel=1e-12) and standing > 0
    assert energy.value(plate.rest + DT * w) == pytest.approx(0.0, abs=1e-12 * standing)


def test_both_sides_of_a_face_are_alike() -> None:
    plate = _plate(0.7)
    wind = Wind((3.0, 1.0, -2.0))
    assert _force(TriMesh(plate.rest, plate.faces[:, ::-1]), wind) == pytest.approx(_force(plate, wind), rel=1e-12)


def test_only_the_velocity_through_the_air_counts() -> None:
    """A shell carried by the wind feels nothing; one that flies through still air feels the wind's opposite."""
    wind, v = Wind((4.0, 1.0, 2.0)), np.array([4.0, 1.0, 2.0])
    assert _force(_plate(0.4), wind, v, drag=0.3) == pytest.approx(np.zeros(3), abs=1e-13)
    blown = _force(_plate(0.4), wind, drag=0.3)
    assert _force(_plate(0.4), Wind(), -v, drag=0.3) == pytest.approx(blown, rel=1e-12)


def test_the_materials_drag_is_felt_relative_to_the_wind() -> None:
    """A plate along the wind feels none but the material's: drag × area × wind."""
    assert _force(_plate(np.pi / 2), Wind((SPEED, 0, 0)), drag=0.2) == pytest.approx([0.2 * AREA * SPEED, 0, 0])


@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
def test_still_air_only_takes_energy(seed: int, share: float) -> None:
    """The resistance is positive semi-definite at any motion for any lift up to drag, and so its power never above
    zero."""
    generator = np.random.default_rng(seed)
    cloth = sheet(3, 2, 0.3)
    x = cloth.rest + 0.05 * generator.normal(size=cloth.rest.shape)
    material = MaterialBlend.uniform(ShellMaterial(young=1e6), len(cloth.faces))
    state = State(0.0, x.reshape(-1), 10.0 * generator.normal(size=x.size))
    energy = Blowing(cloth, material, Wind(drag=1.3, lift=1.3 * share)).at(state, DT)
    values = np.linalg.eigvalsh(energy.resistance)
    assert values.min() >= -1e-12 * values.max()
    v = 10.0 * generator.normal(size=x.shape)
    assert -np.sum(energy.gradient(x + DT * v) * v) <= 1e-12 * np.abs(energy.resistance).max() * np.sum(v * v)


def test_gusts_multiply_wind_and_eddies() -> None:
    wind = Wind((6.0, 0, 0), gust=[[0, 0.5], [1, 2.0]], turbulence=0.4)
    plain = replace(wind, gust=1.0)
    points = np.random.default_rng(0).normal(size=(5, 3))
    for time, factor in ((0.0, 0.5), (0.5, 1.25), (3.0, 2.0)):
        assert wind.at(points, time) == pytest.approx(factor * plain.at(points, time), rel=1e-14)


def test_a_field_of_ones_own() -> None:
    """A vortex about z: points and time go in, velocities come out, in the world."""

    def vortex(points: Points, time: float) -> Points:
        return time * np.column_stack([-points[:, 1], points[:, 0], np.zeros(len(points))])

    points = np.random.default_rng(0).normal(size=(5, 3))
    shifted = Wind(vortex, gust=3.0, origin=np.array([1.0, 0.0, 0.0]))
    assert shifted.at(points, 2.0) == pytest.approx(3.0 * vortex(points + [1.0, 0.0, 0.0], 2.0), rel=1e-14)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"velocity": (np.nan, 0, 0)}, "wind.velocity must be three finite numbers"),
        ({"velocity": (1, 2)}, "wind.velocity must be three finite numbers"),
        ({"velocity": "north"}, "wind.velocity must be three finite numbers"),
        ({"velocity": (1e6, 0, 0)}, r"too fast.*1e\+06 m/s.*up to 1000 m/s"),
        ({"velocity": (100, 0, 0), "gust": [[0, 1], [1, 20]]}, "too fast"),
        ({"gust": -1.0}, "wind.gust must be finite and not negative"),
        ({"gust": "strong"}, "wind.gust"),
        ({"density": -1.2}, "wind.density is out of range"),
        ({"turbulence": 1.5}, "wind.turbulence is out of range"),
        ({"turbulence": np.nan}, "wind.turbulence is out of range"),
        ({"size": 0.0}, "wind.size is out of range"),
        ({"lift": 2.0}, "wind.lift is larger than wind.drag"),
        ({"seed": 1.5}, "wind.seed must be a whole number"),
        ({"shelter": "partly"}, "unknown wind.shelter"),
        ({"obstacles": [3]}, r"wind.obstacles\[0\]: must be a TriMesh or an Animation"),
        ({"obstacles": [TriMesh(np.full((3, 3), np.inf), np.array([[0, 1, 2]]))]}, r"obstacles\[0\].*not finite"),
        ({"velocity": lambda x, t: x, "turbulence": 0.2}, "turbulence needs a velocity"),
    ],
)  # fmt: skip
def test_winds_that_are_none(given: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Wind(**given)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        Wind((np.nan, 0, 0), density=-1.0, seed=-1)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("answer", [np.zeros(3), np.full((5, 3), np.nan), np.full((5, 3), 1e5), "gale", None])
def test_fields_that_answer_nonsense(answer: object) -> None:
    wind = Wind(lambda points, time: answer)  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match=r"the wind's field .* t = 0.5 s|t = 0.5 s.*the wind's field"):
        wind.at(np.zeros((5, 3)), 0.5)


def test_gusts_cannot_carry_a_field_beyond_the_bound() -> None:
    wind = Wind(lambda points, time: np.full(points.shape, 100.0), gust=20.0)
    with pytest.raises(InputError, match=r"too fast.*3464 m/s"):
        wind.at(np.zeros((5, 3)), 0.5)


def _eddies(seed: int = 3) -> Turbulence:
    return Turbulence.of(np.array([8.0, 0.0, 0.0]), 2.0, 1.5, seed)


def test_eddies_have_no_divergence() -> None:
    """Each wave is across its direction, so the trace of the gradient is rounding of differences: h² + eps/h."""
    points, h, eddies = np.random.default_rng(0).uniform(-5, 5, (50, 3)), 1e-5, _eddies()
    gradient = np.stack(
        [(eddies.at(points + h * e, 0.3) - eddies.at(points - h * e, 0.3)) / (2 * h) for e in np.eye(3)]
    )
    divergence = np.einsum("iki->k", gradient)
    assert np.abs(gradient).max() > 1.0
    assert np.abs(divergence).max() < 1e-7 * np.abs(gradient).max()


@pytest.mark.parametrize("seed", range(4))
def test_eddies_have_no_mean_and_the_strength_asked_for(seed: int) -> None:
    """Over n places far apart the mean of each component is within 5 σ/√n, the mean square within 5 of its own."""
    points = np.random.default_rng(seed).uniform(-1e3, 1e3, (20_000, 3))
    u = _eddies(seed).at(points, 0.7)
    square = np.sum(u * u, axis=1)
    assert np.abs(u.mean(axis=0)).max() < 5 * u.std(axis=0).max() / np.sqrt(len(u))
    assert abs(square.mean() - 2.0**2) < 5 * square.std() / np.sqrt(len(u))


def test_eddies_travel_with_the_wind_and_follow_their_seed() -> None:
    """Seen from the moving air they only turn over, slowly; the same seed gives the same bytes, another others."""
    points, step = np.random.default_rng(0).uniform(-5, 5, (400, 3)), 0.02
    now, later = _eddies().at(points, 1.0), _eddies().at(points + [8.0 * step, 0, 0], 1.0 + step)
    stayed = _eddies().at(points, 1.0 + step)
    assert np.linalg.norm(later - now) < 0.5 * np.linalg.norm(stayed - now)
    assert np.array_equal(now, _eddies().at(points, 1.0))
    assert not np.allclose(now, _eddies(4).at(points, 1.0))


def test_eddies_are_as_large_as_asked() -> None:
    """No wave is longer than the size nor shorter than an eighth of it."""
    length = 2 * np.pi / np.linalg.norm(_eddies().waves, axis=1)
    assert 1.5 / 8 <= length.min() < 1.5 / 7
    assert 1.4 < length.max() <= 1.5
