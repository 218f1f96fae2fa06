"""The kinds of what a shot file says about any mesh file it names."""

from __future__ import annotations

from bunraku.io import UNITS

from .kinds import Choice, Either, Number, Text

AXIS = Choice(("Y", "Z"))
UNIT = Either((Choice(tuple(UNITS)), Number(0.0, 1e6, closed=False, unit="m")))
UNIT_DOC = "the file's unit, by its name or its length"
UNIT_OTHERWISE = "the file's; files that have none (OBJ, PLY, OFF, STL, PC2, MDD) need it"
PRIM = Text(allowed="a prim path such as '/box'")
