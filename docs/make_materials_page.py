"""Writes docs/materials.md from the presets themselves, so that no number is typed twice.

.venv/bin/python docs/make_materials_page.py             the page
.venv/bin/python docs/make_materials_page.py --pictures  and its pictures (some minutes)
"""

from __future__ import annotations

import sys
from dataclasses import fields
from math import inf, pi
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from bunraku.materials import PRESETS, ShellMaterial
from bunraku.motion import Curve
from bunraku.shots import AXES, AxesSettings, SwatchSettings, write_axes, write_swatches

PAGE = Path(__file__).parent / "materials.md"
PICTURES = Path(__file__).parent / "pictures"
SHEETS = {"swatches": 1500, **{f"axes_{name}": 1000 for name in AXES}}  # [pixels] width

_HEAD = """# Materials

A material is a preset's name, a preset with changes, or numbers of your own, in SI units:

```toml
material = "denim"
material = { preset = "cotton", weight = 150, strain_limit = 0.06 }
material = { young = 1e6, weft = 6e5, shear = 1e5, poisson = 0.2, thickness = 4e-4, weight = 190 }
warp = "uv"
```

In Python a table is a dictionary: `bk.track(…, material={"preset": "cotton", "weight": 150})`.

![Every preset laid over a round stand](pictures/swatches.webp)

`bunraku swatches` draws this picture: a square of 36 cm of each preset on a stand of 18 cm, as in the drape test of
textile laboratories. Each is let down slowly, from broad folds to its own, on cells of half its bending length: cloth
let fall at once buckles in folds of a few cells, and they stay. There is no contact between folds. The foil has been
crumpled and smoothed out before: its rest shape has creases.

"""

_TAIL = """
Bending is the rigidity D of a strip along the warp; bending length is (D/weight)^⅓, the overhang at which a strip
begins to droop.

**Warp and weft.** `young` is the modulus along the warp, `weft` across it, `shear` between them; `poisson` says how
much the weft narrows when the warp is pulled, and the other ratio follows. Constants that would give energy back are
refused. The warp runs along u of the guide's texture coordinates where it has them (`warp = "uv"`), along a vector
painted on its points, polygons or corners (`warp = "name"`), or along one axis let down on every face
(`warp = [0, 1, 0]`, the default without texture coordinates). Subdivided faces keep the direction of the face they came
from. Plate bending knows the warp; independent hinges (`bending = "hinge"`) do not, and take `young` everywhere.
A change of `young` alone leaves `weft` and `shear` as the preset has them.

**Weight** in g/m² may stand for `density`, never beside it.

**Strain limit.** Beyond `strain_limit` (0.05: five percent, in any direction) the cloth stiffens sharply but smoothly,
so steps still converge. Presets have none: a guide may stretch cloth further than its threads would, and would then
fight it.

**Bending apart from stretching.** `bend_scale` multiplies the bending stiffness alone.

**Setting.** Paper, cellophane and foil set where they are bent further than `yield_curvature`: 2 ε/h for a solid sheet
of thickness h whose surface yields at the strain ε. [Shells that set](plasticity.md) tells the rule and `hardening`. A
mesh shows curvatures up to about π over its edge, so creases need fine meshes, with edges of at most

SETTING

and what yields beyond what a mesh can show stays elastic on it. For creases on a coarser mesh take a smaller
`yield_curvature`: what matters to the eye is the fold, not the radius of its edge.

## Two knobs against each other

`bunraku axes NAME` runs the twisting box for every combination of two knobs and draws all takes on one sheet. Each
picture tells its number. Dark or red patches are the inside of the box, where a fold has passed through another: there
is no contact.

SHEETS"""


def page() -> str:
    """The text of the page."""
    head = "| preset | weight g/m² | thickness mm | young MPa | weft MPa | shear MPa | poisson | bending µN·m |"
    rows = [f"{head} bending length mm |", "|" + "---|" * 9]
    rows += [_row(name, preset.material) for name, preset in PRESETS.items()]
    sources = [f"* **{name}** — {preset.source}." for name, preset in PRESETS.items()]
    others = [_others(name, preset.material) for name, preset in PRESETS.items()]
    return (
        _HEAD + "\n".join(rows) + "\n\n" + "Where the numbers come from:\n\n" + "\n".join(sources)
        + "\n\nWhat else differs from a bare material:\n\n" + "\n".join(others) + "\n"
        + _TAIL.replace("SETTING", _setting()).replace("SHEETS", "\n\n".join(_sheet(name) for name in AXES) + "\n")
    )  # fmt: skip


def _setting() -> str:
    """The coarsest mesh on which each preset can set at all."""
    limits = {name: one.material.yield_curvature for name, one in PRESETS.items()}
    told = [f"* **{name}**: {_figures(1e3 * pi / k)} mm ({_figures(k)}/m)" for name, k in limits.items() if k < inf]
    return "\n".join(told)


def _sheet(name: str) -> str:
    """A sheet of axes with what it shows."""
    about = AXES[name].about
    told = {
        "bent": "*Bent* is the root mean square of the curvatures by which the faces differ from their rest shape.",
        "moves": "*Moves* is the root mean square of the speed over the exposure.",
    }["moves" if AXES[name].exposure else "bent"]
    picture = f"\n\n![{about[0].upper()}{about[1:]}](pictures/axes_{name}.webp)"
    return f"**{name}**: {about}. {told}" + (picture if (PICTURES / f"axes_{name}.webp").is_file() else "")


def _figures(value: float) -> str:
    """Three figures, without powers of ten where they are not needed."""
    return f"{float(f'{value:.3g}'):g}"


def _row(name: str, material: ShellMaterial) -> str:
    young, scale = (Curve.of(value).at(0.0) for value in (material.young, material.bend_scale))
    areal = material.areal_mass
    rigidity = scale * young * material.thickness**3 / 12 / (1 - material.poisson**2)
    moduli = ["" if v is None else _figures(1e-6 * Curve.of(v).at(0.0)) for v in (young, material.weft, material.shear)]
    length = (rigidity / areal / 9.81) ** (1 / 3)
    cells = [
        name, _figures(1e3 * areal), _figures(1e3 * material.thickness), *moduli, f"{material.poisson:g}",
        _figures(1e6 * rigidity), _figures(1e3 * length),
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _others(name: str, material: ShellMaterial) -> str:
    shown = ("young", "weft", "shear", "poisson", "thickness", "density")
    told = [
        f"{field.name} = {getattr(material, field.name):g}"
        for field in fields(ShellMaterial)
        if field.name not in shown and getattr(material, field.name) != field.default
    ]
    return f"* **{name}**: {', '.join(told)}"


def make_pictures() -> None:
    """Run everything and keep the sheets as small WebP files."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        write_swatches(Path(folder) / "swatches.png", SwatchSettings())
        for name in AXES:
            write_axes(Path(folder) / f"axes_{name}.png", name, AxesSettings())
        for name, width in SHEETS.items():
            keep(Path(folder) / f"{name}.png", width)


def keep(sheet: Path, width: int) -> None:
    """A PNG as a WebP of that width beside the other pictures."""
    image = Image.open(sheet)
    size = (width, round(image.height * width / image.width))
    image.resize(size, Image.Resampling.LANCZOS).save(PICTURES / f"{sheet.stem}.webp", quality=85, method=6)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    if "--pictures" in sys.argv:
        make_pictures()
