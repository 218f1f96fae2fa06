"""Steps of the walker's feet: heel, sole, ball; what is planted does not slide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from bunraku.contracts import Array, Points, Vector

from .easing import about_x
from .walker_body import BALL, HEEL

ROLL_ON, ROLL_OFF = 0.10, 0.20  # [s] from heel to sole after landing, from sole to toe before lifting
_HEEL_UP, _TOE_UP, _LIFT = 0.6, 0.32, 0.05  # [rad], [rad], [m]


@dataclass(frozen=True)
class Step:
    """A foot leaves the ground and comes down elsewhere."""

    lift: float
    """[s] when the toe leaves the ground"""
    land: float
    """[s] when the heel touches it"""
    to: float
    """[m] where, along z"""


@dataclass(frozen=True, eq=False)
class FootPath:
    """A foot over time; (t, …) each."""

    pitch: Vector
    """[rad] of the foot: positive stands on the ball, negative on the heel"""
    toe_pitch: Vector
    """[rad] of the toes"""
    ball: Points
    """(t, 3) [m] where the ball of the foot is, apart from its side"""
    flat: Vector
    """whether the whole sole stands, 1 or 0"""


def foot_path(times: Vector, steps: list[Step]) -> FootPath:
    """The path of a foot that begins flat at z = 0."""
    pitch, toe = np.zeros_like(times), np.zeros_like(times)
    ball = np.tile(np.array([0.0, 0.0, BALL[2]]), (len(times), 1))
    flat = np.ones_like(times)
    here = 0.0
    for step in steps:
        begin, end = step.lift - ROLL_OFF, step.land + ROLL_ON
        curve = _pitch_curve(step)
        on_ball, swing = (times >= begin) & (times < step.lift), (times >= step.lift) & (times < step.land)
        on_heel, after = (times >= step.land) & (times < end), times >= step.land
        moving = on_ball | swing | on_heel
        pitch[moving] = curve(times[moving])
        flat[moving] = 0.0
        u = (times[swing] - step.lift) / (step.land - step.lift)
        toe[swing] = pitch[swing] * _eased(u)  # toes hang as the foot does again
        toe[on_heel] = pitch[on_heel]
        ball[swing] = _swing(times[swing], step, here, curve)
        ball[after] = _rolled(pitch[after], step.to)
        here = step.to
    return FootPath(pitch, toe, ball, flat)


def _pitch_curve(step: Step) -> CubicSpline:
    middle = step.lift + 0.45 * (step.land - step.lift)
    keys = [(step.lift - ROLL_OFF, 0.0), (step.lift, _HEEL_UP), (middle, 0.25), (step.land, -_TOE_UP),
            (step.land + ROLL_ON, 0.0)]  # fmt: skip
    return CubicSpline(*np.array(keys).T, bc_type="clamped")


def _eased(u: Vector) -> Vector:
    return u * u * (3.0 - 2.0 * u)


def _rolled(pitch: Vector, z: float) -> Points:
    """(t, 3) the ball of a foot at z that turns about its heel."""
    away = np.array([0.0, 0.0, BALL[2] - HEEL[2]])
    return np.array([0.0, 0.0, HEEL[2] + z]) + about_x(pitch) @ away


def _swing(times: Vector, step: Step, here: float, curve: CubicSpline) -> Points:
    """(t, 3) from the ball at rest to the ball as the landing heel carries it, without a jolt at either end."""
    landing = np.array([step.land])
    first = np.array([0.0, 0.0, BALL[2] + here])
    last = _rolled(curve(landing), step.to)[0]
    h = 1e-6
    speed = (_rolled(curve(landing + h), step.to)[0] - last) / h
    path: Array = CubicHermiteSpline([step.lift, step.land], [first, last], [np.zeros(3), speed])(times)
    u = (times - step.lift) / (step.land - step.lift)
    path[:, 1] += _LIFT * 16.0 * u**2 * (1.0 - u) ** 2
    return path
