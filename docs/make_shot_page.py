"""Writes docs/shot.md from the shot file's own specification, so that the page cannot lag behind.

.venv/bin/python docs/make_shot_page.py
"""

from __future__ import annotations

from pathlib import Path

from bunraku.shots import shot_keys

PAGE = Path(__file__).parent / "shot.md"

_HEAD = """# The shot file

A shot is one TOML file. Numbers are SI; frames are the numbers in your files. A keyable number may be written as
`[[frame, value, ease], …]` with ease `linear`, `smooth` or `hold` for the way *to* it. Every mistake is reported at
once, with the nearest spelling, before anything is written: `bunraku run shot.toml --dry-run`.

```toml
[object.box]
guide = { file = "guide.usda", prim = "/box" }
mesh = { levels = 4 }
material = { preset = "vinyl", young = [[1, 5e6], [60, 5e5, "smooth"]] }
pins = [{ vertices = [0, 1, 2, 3], to = "guide", strength = [[80, 1], [90, 0, "smooth"]] }]

[object.hero]
role = "obstacle"
source = { file = "hero.usd", prim = "/hero" }

[object.floor]
role = "obstacle"
source = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }

[physics]
substeps = 2
contact = { friction = 0.3 }
```

One object is simulated. Any number of others stand in its way: a mesh or an animation of a file with the same keys as a
guide, a finished take (`source = { take = "hero/v003" }`), a plane, a sphere or a capsule. Their frames are the shot's;
outside their range they hold, and through a preroll they go from their rest shape to the first frame as the guide does.
With contact nothing passes through anything. Where the guide asks for that, it yields there, and the report names the
regions, the frames and the distance; `--strict` counts them as missed direction.

A file may hold several shots that feed each other, `[stage.NAME]` each: see [several hands, one figure](stages.md).

| key | meaning | default | allowed |
|---|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    rows = [f"| `{k.path}` | {k.doc} | {k.default} | {k.allowed} |" for k in shot_keys()]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
