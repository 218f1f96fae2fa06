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

[physics]
substeps = 2
```

| key | meaning | default | allowed |
|---|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    rows = [f"| `{k.path}` | {k.doc} | {k.default} | {k.allowed} |" for k in shot_keys()]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
