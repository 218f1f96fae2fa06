"""How a surface looks: colours and lights. Colours are sRGB in [0, 1], as an artist picks them."""

from __future__ import annotations

from dataclasses import dataclass

from .camera import Triple


@dataclass(frozen=True)
class Style:
    """A studio: one soft grazing key light, a cool fill, a sky with occlusion, a thin rim."""

    front: Triple = (0.77, 0.73, 0.685)
    """colour of faces seen from outside"""
    back: Triple = (0.70, 0.36, 0.26)
    """colour of faces seen from inside"""
    ground: Triple = (0.66, 0.655, 0.645)
    """colour of the ground where no shadow falls"""
    background: Triple = (0.74, 0.735, 0.725)
    """colour behind everything, into which the ground fades"""
    edges: Triple | None = None
    """colour of the mesh's edges, or None to leave them out"""
    edge_width: float = 1.3
    """[pixels at a height of 720]"""
    smooth: bool = True
    """interpolated normals; else every face is flat"""
    light: Triple = (-0.70, 0.62, 0.38)
    """direction towards the key light: right of the picture, up, towards the camera"""
    softness: float = 5.0
    """angular radius of the key light [degrees]: the width of its penumbra"""
    key: float = 0.95
    """strength of the key light"""
    fill: float = 0.30
    """strength of the fill light from the other side (casts no shadow)"""
    sky: float = 0.32
    """strength of the light from all around, dimmed where the surface occludes itself"""
    rim: float = 0.14
    """strength of the light on grazing contours"""
    sheen: float = 0.10
    """strength of the broad highlight"""
    cavity: float = 1.6
    """how much valleys are darkened and ridges lightened"""


STUDIO = Style()
"""for results: warm grey clay, smooth"""

GUIDE = Style(
    front=(0.60, 0.70, 0.80),
    back=(0.45, 0.50, 0.66),
    edges=(0.20, 0.28, 0.38),
    smooth=False,
    sheen=0.0,
    rim=0.08,
    cavity=0.0,
)
"""for guides: cool, flat faces, edges drawn"""
