"""`bunraku check FILE`: what a mesh is like, what is wrong with it, what to do; and a mended copy."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError, input_error
from bunraku.geometry import Diagnosis, Repaired, check_tets, examine, mend_tets, repair, tet_quality
from bunraku.io import UNITS, Survey, doubt_about_unit, read_tets, record_skeleton, same_file, survey, write_mesh

from .command import Command
from .performance import DONE, Performance

BAD = 2
_TETS = (".msh", ".node", ".ele")
_ABOUT = """\
Look at a mesh or an animated mesh as its file has it: what it is, what is wrong with it, what bunraku does about each
finding by itself and what you can do. With --repair a mended copy is written; the file itself is never touched.
"""
_EXAMPLE = """\
examples:
  bunraku check coat.obj --unit cm
  bunraku check hero.usd --prim /World/hero/body
  bunraku check scan.off --repair scan_mended.ply
  bunraku check jelly.msh --repair jelly_mended.msh           tetrahedra: turned around, slivers taken out
  bunraku check scan.off --repair even.obj --remesh 0.01      new triangles with edges of 1 cm
  bunraku check coat.obj --json                               the same for a program

exit code: 0 where the mesh can be simulated, 2 where physics would refuse it or the file cannot be read
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("file", metavar="FILE", help="a mesh, an animation, a sequence (name.####.obj, a folder)")
    parser.add_argument("--prim", help="which mesh of a USD or glTF file")
    parser.add_argument("--clip", help="which animation of a glTF file")
    parser.add_argument("--faces", metavar="MESH", help="the mesh file of a PC2 or MDD cache")
    parser.add_argument("--unit", type=unit, help=f"the file's unit: {', '.join(UNITS)} or a length in metres")
    parser.add_argument("--up-axis", choices=("Y", "Z"), help="the file's up axis")
    parser.add_argument("--json", action="store_true", help="print everything as json")
    parser.add_argument("--repair", metavar="OUT", help="write a mended copy here (.obj, .ply, .off, .stl, .usd…)")
    parser.add_argument("--remesh", type=float, metavar="EDGE", help="new triangles with edges this long [m]")
    parser.add_argument("--weld", type=float, metavar="WIDTH", help="close cracks up to this width [m]")
    parser.add_argument("--fill-holes", type=float, metavar="SHARE", help="fill holes whose rim is shorter than this "
                        "share of their piece's size (0: none)")  # fmt: skip
    parser.add_argument("--drop-fragments", action="store_true", help="remove tiny leftover pieces")
    parser.set_defaults(run=run)


def unit(text: str) -> str | float:
    """'cm', or a number of metres."""
    if text in UNITS:
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither {', '.join(UNITS)} nor a length in metres") from None


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


_SETTING = re.compile(r"\b(prim|clip|faces|unit|up_axis) ?= ?'([^']*)'")


def _in_words(sentence: str) -> str:
    """A sentence that names a shot's setting, for the command line: unit = 'cm' is --unit cm here."""
    return _SETTING.sub(lambda found: f"--{found[1].replace('_', '-')} {found[2]}", sentence)


def _work(args: argparse.Namespace, performance: Performance) -> int:
    try:
        return _check(args, performance)
    except InputError as error:
        raise InputError(_in_words(str(error))) from error


def _check(args: argparse.Namespace, performance: Performance) -> int:
    _check_words(args)
    if Path(args.file).suffix.lower() in _TETS:
        return _check_solid(args, performance)
    if Path(args.file).suffix.lower() == ".bvh":
        return _check_skeleton(args, performance)
    found = survey(args.file, args.prim, clip=args.clip, faces=args.faces, unit=args.unit, up_axis=args.up_axis)
    refusal = found.refusal()
    diagnosis = examine(found.surface)
    mended = _mend(args, found) if args.repair else None
    after = None if mended is None else examine(mended.surface)
    if args.json:
        performance.show.say(
            json.dumps(_as_json(found, diagnosis, args.repair, mended, after), indent=1, sort_keys=True)
        )
    else:
        _say(performance, found, diagnosis, args.repair, mended, after)
    if mended is not None and len(found.frames) == 1:  # what counts now is the mended copy
        refusal = replace(found, surface=mended.surface).refusal()
    if refusal and not args.json:
        performance.show.say(f"  A run would refuse it: {refusal}")
    return BAD if refusal else DONE


def _check_words(args: argparse.Namespace) -> None:
    """Refuse what cannot be meant before anything is read."""
    if Path(args.file).suffix.lower() == ".toml":
        raise input_error("is a shot, not a mesh", where=args.file, remedy=f"bunraku run {args.file} --dry-run")
    mending = [name for name in ("remesh", "weld", "fill_holes") if getattr(args, name) is not None]
    if args.repair is None and (mending or args.drop_fragments):
        name = (mending or ["drop_fragments"])[0].replace("_", "-")
        raise input_error(f"--{name} says how to mend, and nothing is mended", remedy="--repair OUT")
    if args.repair is None:
        return
    target = Path(args.repair)
    if same_file(args.file, target):
        raise input_error("the mended copy would overwrite the file itself", where="--repair", got=args.repair,
                          remedy=str(target.with_stem(target.stem + "_mended")))  # fmt: skip
    if target.exists():
        raise input_error("there is a file already, and nothing is overwritten", where="--repair", got=args.repair,
                          remedy="another name")  # fmt: skip


def _mend(args: argparse.Namespace, found: Survey) -> Repaired:
    """The mended surface, written."""
    given = {
        "weld_distance": args.weld, "fill_holes_up_to": args.fill_holes, "remesh": args.remesh,
        "fragments": args.drop_fragments or None,
    }  # fmt: skip
    mended = repair(found.surface, **{name: value for name, value in given.items() if value is not None})
    if not mended.surface.polygon_count:
        raise input_error("nothing is left to write after mending", where=str(found.path), remedy="another file")
    write_mesh(args.repair, mended.surface, up_axis=found.up_axis, unit=found.meters_per_unit)
    if len(found.frames) > 1:
        note = "The file moves; the mended copy holds its rest shape only."
        mended = replace(mended, changes=(*mended.changes, note))
    return mended


def _say(
    performance: Performance, found: Survey, diagnosis: Diagnosis, target: str | None, mended: Repaired | None,
    after: Diagnosis | None,
) -> None:  # fmt: skip
    say = performance.show.say
    say(found.name)
    for line in [*map(_in_words, found.facts()), *diagnosis.sentences()]:
        say(f"  {line}")
    if not diagnosis.findings:
        say("  Nothing is wrong with it.")
    if mended is None or after is None:
        return
    say(f"mended copy: {target}")
    for line in [*mended.changes, *mended.left, after.summary(), *(one.sentence for one in after.findings)]:
        say(f"  {line}")


def _as_json(
    found: Survey, diagnosis: Diagnosis, target: str | None, mended: Repaired | None, after: Diagnosis | None
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "file": str(found.path), "prim": found.prim_path, "unit": found.meters_per_unit if found.unit_known else None,
        "up_axis": found.up_axis, "rate": found.rate, "frames": [float(k) for k in found.frames],
        "broken_frames": [float(k) for k in found.broken_frames], "facts": found.facts(),
        "diagnosis": diagnosis.as_json(),
    }  # fmt: skip
    if mended is not None and after is not None:
        out["repair"] = {
            "file": target, "changes": list(mended.changes), "left": list(mended.left), "diagnosis": after.as_json(),
        }  # fmt: skip
    return out


def _check_skeleton(args: argparse.Namespace, performance: Performance) -> int:
    """Motion capture: what skeleton it is, and how it moves."""
    if args.repair:
        raise input_error("a skeleton cannot be mended", where="--repair", got=args.file, remedy="export it again")
    found = record_skeleton(args.file)
    facts = [_in_words(one) for one in found.facts(args.unit, args.up_axis)]
    if args.json:
        joints = found.skeleton.names
        told = {"joints": joints, "frames": len(found.skeleton.times), "rate": found.skeleton.rate, "facts": facts}
        performance.show.say(json.dumps({"file": args.file, "skeleton": told}, indent=1, sort_keys=True))
    else:
        performance.show.say("\n  ".join([args.file, *facts]))
    return DONE


def _check_solid(args: argparse.Namespace, performance: Performance) -> int:
    """Tetrahedra: read, counted, mended on demand, and refused where they are inverted or flat."""
    if args.repair and Path(args.repair).suffix.lower() not in _TETS:
        raise input_error("cannot hold a mended solid", where="--repair", got=args.repair, allowed=", ".join(_TETS))
    body = read_tets(args.file, unit=args.unit, up_axis=args.up_axis)
    quality = tet_quality(body)
    facts = {
        "points": body.point_count, "tets": len(body.tets), "surface_faces": len(body.surface().faces),
        "volume_m3": float(body.volumes.sum()), "size_m": body.size, "parts": quality.parts,
        "worst_quality": float(body.quality.min(initial=1.0)), "findings": quality.sentences()[1:],
    }  # fmt: skip
    mended = mend_tets(body, args.file) if args.repair else None
    if mended is not None:
        facts["mended"] = mended.done
        write_mesh(args.repair, mended.body)
    if args.json:
        performance.show.say(json.dumps({"file": args.file, "solid": facts}, indent=1, sort_keys=True))
    else:
        performance.show.say(
            f"{args.file}\n  {body.point_count} points, {len(body.tets)} tetrahedra, "
            f"a surface of {facts['surface_faces']} triangles, {facts['volume_m3']:.4g} m³, {body.size:.4g} m across\n"
            f"  the worst tetrahedron has quality {facts['worst_quality']:.2g} (1: regular, 0: flat)"
        )
        doubt = "" if args.unit is not None else doubt_about_unit(body.rest, 1.0)
        if doubt:
            performance.show.say(f"  The file does not say its unit. It {_in_words(doubt)}.")
        for sentence in quality.sentences()[1:]:
            performance.show.say(f"  {sentence}")
        if mended is not None:
            performance.show.say("\n  ".join([f"  mended copy: {args.repair}", *(mended.done or ["nothing to mend"])]))
    check_tets(body if mended is None else mended.body, args.file)
    return DONE
