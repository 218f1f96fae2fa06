"""Demos: a guide made by code and the shot around it, written out so that they can be looked at and changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.contracts import InputError, input_error
from bunraku.geometry import Attribute, Scope, Surface
from bunraku.io import Sample, output_error, read_skeleton, write_animation, write_frames
from bunraku.scenes import crossing_arms, dancing_mannequin, still_panels, tunic_panels, twisting_box

from .body_demos import BODY_DEMOS, body_demo_files, write_body_demo
from .findings import nearest
from .looks import BAG_LOOKS, REGIONS, WALKER_LOOKS, Demo, dyed
from .plan_demos import PLAN_DEMOS, plan_demo_files, write_plan_demo
from .puppet_demo import STAGE_DEMOS, stage_demo_files, write_stage_demo
from .shot import Shot, read_shot
from .stages import Stages, read_stages
from .wrinkle_demos import WRINKLE_DEMOS, wrinkle_demo_files, write_wrinkle_demo

DEMOS: dict[str, Demo] = {
    "box": Demo(
        "a soft box is twisted, shaken and stopped dead: 8 guide vertices direct 1,538 that wrinkle and swing",
        twisting_box,
        {
            "mesh": {"levels": 4},
            # A sheet of soft rubber: slack enough to wrinkle, heavy enough to keep swinging after the stop.
            "material": {
                "young": 2e5,
                "poisson": 0.3,
                "thickness": 0.009,
                "density": 280.0,
                "stretch_damping": 5e-4,
                "bend_damping": 5e-4,
            },
        },
    ),
    **BAG_LOOKS,
    **WALKER_LOOKS,
    "arms": Demo(
        "two arms of a strip pass through each other in the guide, and push each other aside in the take: contact",
        crossing_arms,
        {
            "mesh": {"levels": 2},
            "material": {"young": 1e6, "poisson": 0.3, "thickness": 5e-4, "density": 400.0},
        },
        # 0.4 mm: folds that slide on each other take many iterations at the default tolerance. Four steps a frame: with
        # two, the one in which the arms meet is too long to be solved.
        physics={"tolerance": 4e-4, "substeps": 4, "contact": {"friction": 0.2, "balance": 0.2}},
        style=dyed((0.24, 0.42, 0.66)),
    ),
    "tunic": Demo(
        "two flat panels are sewn around a mannequin, which turns, leans and hops in them: seams, contact, friction",
        still_panels,
        {
            "mesh": {"levels": 0},
            "material": "cotton",
            "track": {"method": "none"},
            "seams": [{"stitches": tunic_panels()[1].tolist()}],
        },
        physics={"tolerance": 4e-4, "contact": True},
        style=dyed((0.66, 0.20, 0.18)),
        bodies={"mannequin": dancing_mannequin},
    ),
}


_OF_BODIES: dict[str, tuple[Callable[[str], tuple[str, ...]], Callable[[str, Path], None]]] = {
    **dict.fromkeys(BODY_DEMOS, (body_demo_files, write_body_demo)),
    **dict.fromkeys(PLAN_DEMOS, (plan_demo_files, write_plan_demo)),
    **dict.fromkeys(WRINKLE_DEMOS, (wrinkle_demo_files, write_wrinkle_demo)),
    **dict.fromkeys(STAGE_DEMOS, (stage_demo_files, write_stage_demo)),
}
"""how the files of demos of bodies are named and written"""


def demo(name: str) -> Demo:
    """The demo of a shell of that name."""
    check_demo(name)
    if name in _OF_BODIES:
        raise input_error("this demo is of a body, which has no guide", got=name, allowed=", ".join(DEMOS))
    return DEMOS[name]


def demo_titles() -> dict[str, str]:
    """What each demo shows, by name."""
    of_one = DEMOS | BODY_DEMOS | PLAN_DEMOS | WRINKLE_DEMOS
    return {name: one.title for name, one in of_one.items()} | STAGE_DEMOS


def check_demo(name: str) -> None:
    """A misspelt name is answered with the nearest."""
    names = list(demo_titles())
    if name not in names:
        raise input_error("there is no such demo", got=name, allowed=", ".join(names), remedy=nearest(name, names))


def demo_files(name: str, mocap: Path | None = None) -> tuple[str, ...]:
    """Names of the shot file, of the guide and of obstacles; several demos may lie in one folder."""
    if name in _OF_BODIES:
        return _OF_BODIES[name][0](name)
    stem = name if mocap is None else f"{name}_mocap"
    kind = "usda" if demo(name).regions is None else "usdc"
    bodies = (f"{stem}_{body}.usdc" for body in demo(name).bodies)
    return f"{stem}.toml", f"guide.{kind}" if stem == "box" else f"{stem}_guide.{kind}", *bodies


def write_demo(name: str, folder: Path, mocap: Path | None = None, up_axis: str | None = None) -> Shot:
    """Write guide and shot file to a folder and read them; files that are there already are kept.

    mocap: a BVH, glTF or USD skeleton that drives the guide, for demos that can be driven; up_axis: that of its file.
    """
    if name in STAGE_DEMOS:
        raise input_error("this demo is several shots", got=name, remedy="write_demo_stages")
    if name in _OF_BODIES:
        _write_files(name, folder, mocap)
        return read_shot(folder / f"{name}.toml")
    chosen, (shot_name, guide_name, *body_names) = _driven(name, mocap, up_axis), demo_files(name, mocap)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    if not (folder / guide_name).exists():
        _write_guide(chosen, folder / guide_name, f"/{name}")
    bodies = dict(zip(chosen.bodies, body_names, strict=True))
    for body, file in bodies.items():
        if not (folder / file).exists():
            moving = chosen.bodies[body]()
            write_animation(folder / file, moving, frames=np.arange(1, moving.frame_count + 1), prim=f"/{body}")
    if not (folder / shot_name).exists():
        settings = {"object": {name: {"guide": {"file": guide_name, "prim": f"/{name}"}, **chosen.settings}}}
        settings["object"] |= {
            body: {"role": "obstacle", "source": {"file": file, "prim": f"/{body}"}} for body, file in bodies.items()
        }
        settings |= {"physics": dict(chosen.physics)} if chosen.physics else {}
        heading = f"{chosen.title}\nChange it and run it again: bunraku run {shot_name}\nAll keys: bunraku run --help"
        Shot.of(settings, folder=folder, source=folder / shot_name).write(folder / shot_name, heading=heading)
    return read_shot(folder / shot_name)


def write_demo_stages(name: str, folder: Path, mocap: Path | None = None) -> Stages:
    """Write the files of a demo of several shots to a folder and read them; files that are there already are kept."""
    _write_files(name, folder, mocap)
    return read_stages(folder / f"{name}.toml")


def _write_files(name: str, folder: Path, mocap: Path | None) -> None:
    if mocap is not None:
        raise _not_driven(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    _OF_BODIES[name][1](name, folder)


def _driven(name: str, mocap: Path | None, up_axis: str | None) -> Demo:
    """The demo, its guide driven by a skeleton where one is given."""
    chosen = demo(name)
    if mocap is None:
        return chosen
    driven = chosen.driven
    if driven is None:
        raise _not_driven(name)
    skeleton = read_skeleton(mocap, unit="m", up_axis=up_axis)  # any unit will do: it is scaled to the body
    return replace(chosen, title=f"{chosen.title}, driven by {mocap.name}", guide=lambda: driven(skeleton))


def _not_driven(name: str) -> InputError:
    able = ", ".join(one for one in DEMOS if DEMOS[one].driven is not None)
    return input_error("this demo cannot be driven by motion capture", got=name, allowed=able)


def _write_guide(chosen: Demo, path: Path, prim: str) -> None:
    guide = chosen.guide()
    frames = np.arange(1, guide.frame_count + 1)
    if chosen.regions is None:
        write_animation(path, guide, frames=frames, prim=prim)
        return
    painted = Attribute(REGIONS, Scope.POLYGON, chosen.regions(guide).astype(np.int32))
    samples = (Sample(float(k), x) for k, x in zip(frames, guide.points, strict=True))
    rate = 1.0 / float(guide.times[1] - guide.times[0])
    write_frames(path, replace(Surface.of(guide.mesh), attributes=(painted,)), samples, rate=rate, prim=prim)
