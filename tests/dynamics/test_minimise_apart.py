"""Newton among surfaces, on a line: a point between a spring, a condition, and an obstacle that drags it along."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from bunraku.contracts import Outcome, Points, Vector
from bunraku.dynamics.apart import _end, _is_well_solved, _lowest, _search, minimise_apart
from bunraku.dynamics.frozen import Frozen
from bunraku.dynamics.implicit_euler import _with_room
from bunraku.dynamics.minimise import NewtonSettings, Progress
from bunraku.dynamics.system import Mass

OWN, DRAG = 3.0, 2.0
"""[N/m] of the point's own spring to zero, and of the one to the obstacle"""
SETTINGS = NewtonSettings(tolerance=1e-9, length=1.0)


@dataclass
class Dragging:
    """An obstacle that goes from 0 to `way` along x and drags the point by a spring; steps are cut at given shares."""

    way: float = 0.0
    shares: list[float] = field(default_factory=list)
    """at which each step would touch something; 1 after them"""
    stuck: bool = False
    """until the last resort"""
    gone: float = 0.0
    waits: bool = False
    told: list[str] = field(default_factory=list)

    @property
    def arrived(self) -> bool:
        return self.gone >= 1.0 or self.way == 0.0

    @property
    def left(self) -> float:
        return 0.0 if self.waits else (1.0 - self.gone) * self.way

    @property
    def slows(self) -> bool:
        return False

    def away(self, x: Points, ahead: float = 0.0) -> float:
        return float(x[0, 0]) - self.gone * self.way - ahead * self.left

    def value(self, x: Points, ahead: float = 0.0) -> float:
        return 0.5 * DRAG * self.away(x, ahead) ** 2

    def gradient(self, x: Points) -> Points:
        return np.array([[DRAG * self.away(x), 0.0, 0.0]])

    def drive(self, x: Points) -> Points:
        return np.array([[-DRAG * self.left, 0.0, 0.0]])

    def on_obstacles(self, x: Points, ahead: float = 0.0) -> float:
        return -DRAG * self.away(x, ahead) * self.left

    def max_step(self, x: Points, step: Points) -> float:
        return 0.0 if self.stuck else self.shares.pop(0) if self.shares else 1.0

    def go_alone(self, x: Points) -> None:
        self.waits = False
        self.advance(self.max_step(x, np.zeros_like(x)))

    def advance(self, share: float) -> None:
        self.told.append(f"went {share:.3g}" + (" and waited" if self.waits else ""))
        if not self.waits:
            self.gone = 1.0 if share >= 1.0 else self.gone + share * (1.0 - self.gone)

    def slow(self, x: Points, step: Points) -> None:
        self.told.append("slowed")

    def ease(self) -> None:
        self.told.append("eased")

    def busy(self, x: Points) -> bool:
        return True

    def pinch(self, x: Points, *, last: bool = False) -> bool:
        found, self.stuck = self.stuck and last, self.stuck and not last
        return found


@dataclass(frozen=True)
class OnALine:
    """½ OWN x² and what drags, with x at a goal if there is one."""

    touch: Dragging
    goal: float | None = None

    def value(self, x: Points, multipliers: Vector, ahead: float = 0.0) -> float:
        return 0.5 * OWN * float(x[0, 0]) ** 2 + self.touch.value(x, ahead) + float(multipliers @ self.missing(x))

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        return OWN * x + self.touch.gradient(x) + [[multipliers[0], 0.0, 0.0]]

    def missing(self, x: Points) -> Vector:
        return np.zeros(1) if self.goal is None else np.array([x[0, 0] - self.goal])

    def revise(self, x: Points, multipliers: Vector, step: Points | None = None) -> bool:
        return False

    def direction(
        self, x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool
    ) -> tuple[Points, Vector]:
        """Exact: everything is quadratic."""
        step = np.zeros((1, 3))
        bare = gradient[0, 0] - multipliers[0]
        step[0, 0] = -bare / (OWN + DRAG) if self.goal is None else self.goal - x[0, 0]
        return step, np.array([0.0 if self.goal is None else -bare - (OWN + DRAG) * step[0, 0]])


def run(touch: Dragging, goal: float | None = None, **how: bool) -> tuple[Outcome, float, Progress]:
    problem, progress = OnALine(touch, goal), Progress(np.zeros((1, 3)), np.zeros(1))
    outcome = minimise_apart(problem, touch, problem.direction, progress, SETTINGS, **how)  # type: ignore[arg-type]
    return outcome, float(progress.x[0, 0]), progress


def test_a_condition_is_met_against_the_energy() -> None:
    """From the minimum of Φ every step towards the goal raises it; what is still missing counts for more."""
    outcome, x, progress = run(Dragging(shares=[0.5, 0.25]), goal=1.0)
    assert outcome is Outcome.CONVERGED and x == pytest.approx(1.0, abs=1e-12)
    assert progress.multipliers[0] == pytest.approx(-(OWN + DRAG), rel=1e-12)
    assert progress.iterations == 4  # two cut short, one whole, and the one that finds that nothing is left


def test_obstacles_go_the_share_that_the_body_goes_and_do_work_on_it() -> None:
    """Cut at 0.5 both go 0.45 of what is left, then all of it, to where both springs balance."""
    touch = Dragging(way=1.0, shares=[0.5])
    outcome, x, _ = run(touch)
    assert outcome is Outcome.CONVERGED and touch.gone == 1.0
    assert x == pytest.approx(DRAG / (OWN + DRAG), abs=1e-12)
    assert touch.told == ["went 0.45", "eased", "went 1"]


def test_obstacles_wait_while_steps_are_cut_short() -> None:
    """Below a fifth: the next step is the body's alone, and what cuts it is slowed."""
    touch = Dragging(way=1.0, shares=[0.1, 0.15, 0.9])
    outcome, x, _ = run(touch)
    assert outcome is Outcome.CONVERGED and x == pytest.approx(DRAG / (OWN + DRAG), abs=1e-12)
    assert touch.told[:5] == ["slowed", "went 0.09", "slowed", "went 0.135 and waited", "went 0.81 and waited"]
    assert touch.told[-2:] == ["eased", "went 1"]


class TooFar(OnALine):
    """Newton's steps go ten times too far: its energy cuts them."""

    def direction(
        self, x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool
    ) -> tuple[Points, Vector]:
        step, found = super().direction(x, gradient, multipliers, fresh=fresh, exact=exact)
        return 10.0 * step, found


@pytest.mark.parametrize(("shares", "told"), [([], "eased"), ([0.1], "slowed")], ids=["all free", "something near"])
def test_what_is_slowed_is_eased_unless_surfaces_cut_a_step(shares: list[float], told: str) -> None:
    """Where nothing would touch and the energy cuts the step, to slow what comes near would only hold it up."""
    touch, settings = Dragging(shares=list(shares)), replace(SETTINGS, contact_limit=1)
    progress = Progress(np.array([[1.0, 0.0, 0.0]]), np.zeros(1))
    problem = TooFar(touch)
    minimise_apart(problem, touch, problem.direction, progress, settings)  # type: ignore[arg-type]
    assert abs(progress.x[0, 0]) < 1.0 and touch.told[0] == told


@pytest.mark.parametrize("last", [False, True])
def test_only_the_last_resort_lets_what_is_stuck_through(last: bool) -> None:
    outcome, x, _ = run(Dragging(way=1.0, stuck=True), last=last)
    assert outcome is (Outcome.CONVERGED if last else Outcome.NOT_CONVERGED)
    assert x == pytest.approx(DRAG / (OWN + DRAG) if last else 0.0, abs=1e-12)


def test_at_the_limit_what_is_reached_is_taken_if_the_obstacles_have_arrived() -> None:
    """Steps of nine hundredths, for ever."""
    always = [0.1] * 1000
    outcome, x, progress = run(Dragging(shares=list(always)), goal=1.0)
    assert outcome is Outcome.ITERATION_LIMIT and progress.iterations == SETTINGS.contact_limit
    assert x == pytest.approx(1.0 - 0.91**SETTINGS.contact_limit, rel=1e-9)
    outcome, _, _ = run(Dragging(way=1.0, shares=list(always)))
    assert outcome is Outcome.NOT_CONVERGED


@dataclass
class Bowl:
    """½ k x² on a line, and no conditions."""

    stiffness: float

    def value(self, x: Points, multipliers: Vector, ahead: float = 0.0) -> float:
        return 0.5 * self.stiffness * float(x[0, 0]) ** 2


@pytest.mark.parametrize(("free", "gone"), [(1.0, 3.0), (0.6, 1.0)])
def test_a_step_is_made_longer_only_where_the_longer_way_is_free(free: float, gone: float) -> None:
    """From x = 3 a step of −1 goes a third of the way: a parabola says three times as far, if nothing is there."""
    touch, run = Dragging(shares=[free]), Progress(np.array([[3.0, 0.0, 0.0]]), np.zeros(0))
    step, bowl = np.array([[-1.0, 0.0, 0.0]]), Bowl(2.0)
    before, slope = bowl.value(run.x, run.multipliers), -2.0 * 3.0
    found = _lowest(bowl, touch, run, step, before, 1.0, slope)  # type: ignore[arg-type]
    assert found == pytest.approx(gone, rel=1e-12)
    assert touch.shares == []  # it was asked


@dataclass
class Wall:
    """A bowl ½ x² with a wall that rises as (x/w)⁸⁰ beyond w on the left, and is infinite from some place on."""

    width: float
    infinite: float = np.inf

    def value(self, x: Points, multipliers: Vector, ahead: float = 0.0) -> float:
        at = float(x[0, 0])
        if at <= -self.infinite:
            return np.inf
        return 0.5 * (at + 10.0) ** 2 + (1e-3 * (at / self.width) ** 80 if at < 0.0 else 0.0)

    def missing(self, x: Points) -> Vector:
        return np.zeros(0)


def test_the_lowest_place_before_what_comes_near_at_the_end_of_a_step() -> None:
    """A wall from 0.6 of the step on makes a parabola of its end say a tenth, where little is gained."""
    touch, run, wall = Dragging(), Progress(np.zeros((1, 3)), np.zeros(0)), Wall(5.5)
    step = np.array([[-10.0, 0.0, 0.0]])
    before, slope = wall.value(run.x, run.multipliers), -100.0
    found = _lowest(wall, touch, run, step, before, 1.0, slope)  # type: ignore[arg-type]
    places = np.linspace(0.0, 1.0, 2001)
    values = [wall.value(share * step, run.multipliers) for share in places]
    lowest = places[int(np.argmin(values))]
    assert 0.55 < lowest < 0.65
    # Three looks, each at least a half and at most four times as far as the last: within a third of it.
    assert 0.67 * lowest < found < 1.05 * lowest
    assert wall.value(found * step, run.multipliers) < before + 0.67 * (min(values) - before)


def test_no_search_ends_where_the_energy_is_infinite() -> None:
    """Not even from a place where it is: from a point set that is pressed to its gaps there is no way back."""
    touch, step = Dragging(), np.array([[-10.0, 0.0, 0.0]])
    for begin, share in ((0.0, 0.25), (-4.0, None)):
        run = Progress(np.array([[begin, 0.0, 0.0]]), np.zeros(0))
        wall = Wall(100.0, infinite=4.0)
        assert _search(wall, touch, run, step, np.zeros(0), None) == (share, True)  # type: ignore[arg-type]


@dataclass
class Ending:
    """½ x² at x = 1 with a last step of a given size along x, and a condition on y that is missed by a little."""

    along: float
    remaining: float = 1.0
    about_to_hold: float = 0.0

    def value(self, x: Points, multipliers: Vector) -> float:
        return 0.5 * float(x[0, 0]) ** 2

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        return np.array([[x[0, 0], 0.0, 0.0]])

    def left(self, gradient: Points, step: Points) -> float:
        return self.remaining

    def own_error(self, x: Points) -> float:
        return 10.0

    def undecided(self, x: Points, step: Points, within: float) -> float:
        return self.about_to_hold

    def direction(
        self, x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool
    ) -> tuple[Points, Vector]:
        assert exact and not fresh
        return np.array([[self.along * gradient[0, 0], -x[0, 1], 0.0]]), np.array([7.0])


@pytest.mark.parametrize(
    ("along", "free", "ends", "x", "multiplier"),
    [(-0.5, [1.0], True, 0.5, 7.0), (-3.0, [1.0, 1.0], True, 1.0, 5.0), (-0.5, [0.4, 1.0], True, 1.0, 5.0),
     (-0.5, [0.4, 0.9], False, 1.0, 0.0)],
    ids=["lower and free", "higher", "not free", "not even to the condition"],
)  # fmt: skip
def test_a_last_step_is_taken_whole_or_only_to_the_conditions(along, free, ends, x, multiplier) -> None:
    run = Progress(np.array([[1.0, 1e-3, 0.0]]), np.zeros(1))
    problem, touch = Ending(along), Dragging(shares=list(free))
    assert _end(problem, touch, problem.direction, run, np.array([5.0])) is ends  # type: ignore[arg-type]
    assert run.x[0].tolist() == [x, 0.0 if ends else 1e-3, 0.0]
    assert run.multipliers[0] == multiplier


@pytest.mark.parametrize(
    ("balance", "problem", "well"),
    [(0.2, Ending(-1.0), True), (0.05, Ending(-1.0), False), (0.0, Ending(-1.0, remaining=0.0), False),
     (0.2, Ending(-1.0, about_to_hold=1e-6), False), (0.2, Ending(-1.0, remaining=np.nan), False)],
    ids=["a tenth of the step's error", "more than asked", "only by the tolerance", "a direction about to be met",
         "no number"],
)  # fmt: skip
def test_a_step_is_well_solved_beside_its_own_error(balance: float, problem: Ending, well: bool) -> None:
    settings, x = NewtonSettings(length=1.0, balance=balance), np.zeros((1, 3))
    assert _is_well_solved(problem, x, x, x, settings) is well  # type: ignore[arg-type]


class Content(OnALine):
    """Solved well enough wherever it is."""

    def left(self, gradient: Points, step: Points) -> float:
        return 0.0

    def own_error(self, x: Points) -> float:
        return 1.0

    def undecided(self, x: Points, step: Points, within: float) -> float:
        return 0.0


class Slowing(Dragging):
    """Pairs are slowed until a step is taken whole."""

    @property
    def slows(self) -> bool:
        return "eased" not in self.told


@pytest.mark.parametrize(
    ("touch", "told"),
    [(Dragging(), []), (Dragging(way=1.0, shares=[0.5, 0.5]), ["went 0.45", "went 0.45", "eased", "went 1"]),
     (Slowing(), ["eased", "went 1"])],
    ids=["nothing is in the way", "the obstacle has not arrived", "pairs are slowed"],
)  # fmt: skip
def test_a_well_solved_step_ends_once_obstacles_have_arrived_and_nothing_is_slowed(touch: Dragging, told) -> None:
    problem, progress = Content(touch), Progress(np.array([[1.0, 0.0, 0.0]]), np.zeros(1))
    settings = replace(SETTINGS, balance=0.2)
    outcome = minimise_apart(problem, touch, problem.direction, progress, settings)  # type: ignore[arg-type]
    assert outcome is Outcome.CONVERGED and touch.arrived
    assert touch.told == told


def test_what_is_left_is_the_mean_way_to_the_minimum_and_the_steps_own_error_half_of_the_bend() -> None:
    """With inertia alone Newton's step is the way to y, and a point that goes to x instead was pushed there."""
    generator = np.random.default_rng(3)
    mass, y, x = generator.uniform(0.1, 2.0, size=5), generator.normal(size=(5, 3)), generator.normal(size=(5, 3))
    problem = Frozen(Mass(mass), [], y, [], 0.1)
    mean = np.sqrt(np.average(np.sum((x - y) ** 2, axis=1), weights=mass))
    assert problem.left(problem.gradient(x, np.zeros(0)), y - x) == pytest.approx(mean, rel=1e-12)
    assert problem.own_error(x) == pytest.approx(0.5 * mean, rel=1e-12)
    assert problem.left(problem.gradient(x, np.zeros(0)), x - y) == np.inf  # uphill: nothing is known


def test_the_values_a_problem_remembers_are_its_own() -> None:
    """Not those of the one it was made from, with another place to go to, nor of points that have changed since."""
    x = np.ones((2, 3))
    problem = Frozen(Mass(np.ones(2)), [], np.zeros((2, 3)), [], 1.0)
    assert problem.value(x, np.zeros(0)) == 3.0
    assert replace(problem, target=np.ones((2, 3))).value(x, np.zeros(0)) == 0.0
    x *= 2.0
    assert problem.value(x, np.zeros(0)) == 12.0


@dataclass
class Branching:
    """An energy that is another once points are followed, as an angle beyond its branch."""

    height: float = 1.0

    def value(self, x: Points) -> float:
        return self.height

    def follow(self, x: Points) -> dict[str, Vector]:
        self.height += 1.0
        return {}


def test_values_are_forgotten_where_energies_follow() -> None:
    x = np.zeros((1, 3))
    problem = Frozen(Mass(np.ones(1)), [Branching()], x, [], 1.0)  # type: ignore[list-item]
    assert problem.value(x, np.zeros(0)) == 1.0
    problem.follow(x)
    assert problem.value(x, np.zeros(0)) == 2.0


def test_pairs_that_were_are_kept_up_to_three_times_those_that_are_likely() -> None:
    likely = np.array([[4, 9], [0, 7]])
    few, many = (np.array([[k, k + 1] for k in range(count)]) for count in (4, 5))
    kept = _with_room(few, likely)
    assert kept.tolist() == [[0, 1], [0, 7], [1, 2], [2, 3], [3, 4], [4, 9]]
    assert _with_room(many, likely) is likely
    assert len(_with_room(likely, likely)) == 2 and len(_with_room(many, likely[:0])) == 0
