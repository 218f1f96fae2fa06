"""Shelter: which faces the wind reaches, and how exposure follows."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, ShellMaterial, Wind
from bunraku.contracts import State
from bunraku.energies import Blowing
from bunraku.energies.blowing import EXPOSURE, SETTLING
from bunraku.energies.shelter import SPREAD, Shelter
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend
from bunraku.testing import sheet


def standing(x: float, size: float, cells: int = 4) -> TriMesh:
    """A square across x at a place x, its middle on the axis."""
    flat = sheet(cells, cells, size, size)
    return flat.with_rest(np.column_stack([np.full(len(flat.rest), x), flat.rest[:, :2] - size / 2]))


def _exposure(shell: TriMesh, wind: Wind, time: float = 0.0) -> np.ndarray:
    moving = wind.steady(shell.rest[shell.faces].mean(axis=1), time)
    return Shelter(shell, wind).exposure(shell.rest, time, moving)


def test_a_wall_upwind_shelters_and_one_downwind_does_not() -> None:
    shell, wall = standing(0.0, 1.0), standing(-1.0, 3.0)
    assert (_exposure(shell, Wind((5, 0, 0))) == 1.0).all()
    assert (_exposure(shell, Wind((5, 0, 0), obstacles=[wall])) == 0.0).all()
    assert (_exposure(shell, Wind((-5, 0, 0), obstacles=[wall])) == 1.0).all()
    assert (_exposure(shell, Wind((0, 0, 0), obstacles=[wall])) == 1.0).all()


def test_the_shadow_ends_where_the_wall_ends() -> None:
    """A wall that covers y < 0: faces well below are sheltered, well above exposed, only a strip lies between."""
    shell, wall = standing(0.0, 1.0, 16), standing(-0.5, 4.0)
    wall = wall.with_rest(wall.rest - [0.0, 2.0, 0.0])
    exposure, y = _exposure(shell, Wind((5, 0, 0), obstacles=[wall])), shell.rest[shell.faces].mean(axis=1)[:, 1]
    strip = 0.5 * SPREAD + 1 / 16  # how far the outer rays reach aside on their way, and a face
    assert (exposure[y < -strip] == 0.0).all() and (exposure[y > strip] == 1.0).all()
    assert ((exposure > 0.0) & (exposure < 1.0)).any()


def test_the_shadow_of_a_small_obstacle_fades_to_a_quarter() -> None:
    """Half as wide as SPREAD × the distance it stops the straight ray only, and that at any distance."""
    shell = standing(0.0, 0.1, 1)
    near, far = (_exposure(shell, Wind((5, 0, 0), obstacles=[standing(-d, 1.0)])) for d in (1.0, 30.0))
    assert (near == 0.0).all() and (far == 0.75).all()


def test_a_fold_shelters_another() -> None:
    """Two sheets of one shell, one behind the other; asked not to, it does not."""
    front, back = standing(0.0, 1.0), standing(0.4, 0.6)
    both = TriMesh(
        np.concatenate([front.rest, back.rest]), np.concatenate([front.faces, back.faces + front.point_count])
    )
    exposure = _exposure(both, Wind((5, 0, 0)))
    assert (exposure[: len(front.faces)] == 1.0).all() and (exposure[len(front.faces) :] == 0.0).all()
    assert (_exposure(both, Wind((5, 0, 0), shelter="obstacles")) == 1.0).all()


def test_a_face_does_not_shelter_its_neighbour() -> None:
    """A hair's fold: the second face leans over the first, upwind of it. Faces that share a vertex are passed through,
    or every crease of a coarse mesh would stand in its own lee."""
    rest = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.5], [-0.3, 1.0, 0.5]])
    assert (_exposure(TriMesh(rest, np.array([[0, 1, 2], [1, 0, 3]])), Wind((5, 0, 0))) == 1.0).all()
    apart = np.concatenate([rest[:3], rest[[1, 0, 3]] - [0.01, 0.0, 0.0]])
    first = _exposure(TriMesh(apart, np.array([[0, 1, 2], [3, 4, 5]])), Wind((5, 0, 0)))[0]
    assert first < 1.0  # two pieces are no neighbours


def test_an_obstacle_that_moves_away_lets_the_wind_in() -> None:
    shell, wall = standing(0.0, 1.0), standing(-1.0, 3.0)
    gate = Animation(wall, np.array([0.0, 1.0]), np.stack([wall.rest, wall.rest + [0.0, 10.0, 0.0]]))
    wind = Wind((5, 0, 0), obstacles=[gate])
    assert (_exposure(shell, wind, 0.0) == 0.0).all()
    assert (_exposure(shell, wind, 1.0) == 1.0).all()


def test_exposure_follows_without_a_jump() -> None:
    """Kept in the state: after a time t it has gone 1 − exp(−t/τ) of the way, in one step or in many; a sheltered
    face feels still air, not none."""
    shell, wall = standing(0.0, 1.0), standing(-1.0, 3.0)
    gate = Animation(wall, np.array([0.0, 1e-6]), np.stack([wall.rest, wall.rest + [0.0, 10.0, 0.0]]))
    material = MaterialBlend.uniform(ShellMaterial(young=1e6), len(shell.faces))
    source = Blowing(shell, material, Wind((5, 0, 0), obstacles=[gate]))

    def seen(times: list[float]) -> State:
        state = State(0.0, shell.rest.reshape(-1).copy(), np.zeros(shell.rest.size))
        for time in times:
            state = State(time, state.q, state.velocity, source.remember(state))
        return State(state.time, state.q, state.velocity, source.remember(state))

    once, often = seen([0.0, 0.03]), seen([0.0, 0.01, 0.02, 0.03])
    assert once.memory[EXPOSURE] == pytest.approx(np.full(len(shell.faces), 1 - np.exp(-0.03 / SETTLING)), rel=1e-12)
    assert often.memory[EXPOSURE] == pytest.approx(once.memory[EXPOSURE], rel=1e-12)
    hidden = seen([0.0])
    assert (source.at(hidden, 0.01).push == 0.0).all()
    moving = State(0.0, hidden.q, np.tile([2.0, 0, 0], shell.point_count), hidden.memory)
    assert np.abs(source.at(moving, 0.01).resistance).max() > 0.0
