"""A mesh, a camera and a style make a picture."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Faces, Points, Vector, input_error

from . import shade
from .camera import Camera, Triple
from .ground import UNSHADED, GroundLight, ground_light
from .lettering import Image, burn_in
from .light import DepthMaps, ball_directions, cone_directions, depth_maps, key_share, sky_visibility
from .raster import Triangles, draw_rows, screen_triangles
from .style import STUDIO, Style
from .surface import Lattice, Surface, drawable, drawn, lattice, surface
from .threads import share_out

Whole = NDArray[np.int32]

KEY_LIGHTS, KEY_TEXELS = 16, 384
SKY_LIGHTS, SKY_TEXELS = 64, 160
GROUND_TEXELS = 256, 128  # of the key light's shadow, of the sky's
STRIP = 24  # [rows] drawn by one thread at a time; a multiple of four, the period of the dither
LARGEST_SIDE = 16_384  # [pixels]

# Sample positions in sixteenths of a pixel. No two share a row or column: edges along either axis are smooth.
SAMPLES = {
    1: ((8, 8),),
    4: ((6, 2), (14, 6), (2, 10), (10, 14)),
    8: ((9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)),
}


class _Scene(NamedTuple):
    """All that a pixel can see, relative to the eye."""

    mesh: Surface
    triangles: Triangles
    unprojection: Array
    """(3, 3) from pixel (u, v, 1) to the direction in which it looks, of depth one"""
    reach: float
    """[m] from eye to target"""
    floor: float
    """[m] height of the ground over the eye; 0 for none"""
    lattice: Lattice
    sky_share: Array
    """(p, 2) on the lattice"""
    key_maps: DepthMaps
    ground_key: GroundLight
    ground_sky: GroundLight
    paint: Array
    """(g, 3) linear colour of each face seen from outside"""
    both_sides: bool
    """whether that is its colour seen from inside too"""


class _Look(NamedTuple):
    """A style turned into numbers: linear colours, unit vectors, strengths."""

    paint: Array
    """(3, 3) front, back, edges"""
    backdrop: Array
    """(2, 3) ground, background"""
    lamps: Array
    """(2, 3) towards key and fill"""
    strengths: tuple[float, ...]
    """key, fill, sky, rim, sheen, cavity [m]"""
    edge_width: float
    """[pixels]; 0 for none"""
    smooth: bool


def picture(
    x: Points,
    faces: Faces,
    camera: Camera,
    *,
    size: tuple[int, int] = (1280, 720),
    style: Style = STUDIO,
    paint: Array | None = None,
    both_sides: bool = False,
    ground: float | None = None,
    label: str = "",
    samples: int = 4,
) -> Image:
    """Draw the mesh x (n, 3) [m], faces (f, 3), as (height, width, 3) sRGB bytes for `size` (width, height).

    paint: (f, 3) sRGB colours from 0 to 1 of the faces seen from outside, instead of the style's one;
    both_sides: and seen from inside. ground: height y [m] of the floor that takes the shadow, or None. label: burnt in
    at the bottom left. samples: per pixel, 1, 4 or 8. Triangles whose points are not finite are left out.
    """
    x, faces, offsets = _checked(x, faces, size, samples)
    scene, look = _scene(x, faces, camera, size, style, ground), _look(style, camera, size)
    scene = scene._replace(paint=_face_paint(x, faces, style, paint), both_sides=both_sides)
    image = np.empty((size[1], size[0], 3), dtype=np.uint8)
    share_out(lambda k: _draw_strip(scene, look, offsets, STRIP * k, image), -(-size[1] // STRIP))
    return burn_in(image, label) if label else image


def _face_paint(x: Points, faces: Faces, style: Style, paint: Array | None) -> Array:
    """(g, 3) linear colours of the faces that are drawn."""
    shown = drawn(x, faces)
    if paint is None:
        return np.repeat(_linear([style.front]), int(shown.sum()), axis=0)
    given = np.asarray(paint, dtype=np.float64)
    if given.shape != (len(faces), 3):
        raise input_error("paint must be a colour a face", got=given.shape, allowed=str((len(faces), 3)))
    return np.ascontiguousarray(_linear(np.clip(given, 0.0, 1.0).tolist())[shown]) if len(faces) else given


def _checked(x: Points, faces: Faces, size: tuple[int, int], samples: int) -> tuple[Points, Faces, Array]:
    # Copies, always: a read-only or strided array is another type to numba, and compiles every kernel again.
    x, faces = np.array(x, dtype=np.float64), np.array(faces)
    if x.ndim != 2 or x.shape[1] != 3:
        raise input_error("points must have shape (n, 3)", got=x.shape)
    if faces.size == 0:
        faces = np.zeros((0, 3), dtype=np.int64)
    if faces.ndim != 2 or faces.shape[1] != 3 or not np.issubdtype(faces.dtype, np.integer):
        raise input_error("faces must be whole numbers of shape (f, 3)", got=f"{faces.shape} {faces.dtype}")
    if len(faces) and (faces.min() < 0 or faces.max() >= len(x)):
        raise input_error(
            "faces name points that do not exist", got=f"{faces.min()} to {faces.max()}",
            allowed=f"0 to {len(x) - 1}",
        )  # fmt: skip
    if not all(1 <= side <= LARGEST_SIDE for side in size):
        raise input_error("impossible picture size", got=size, allowed=f"1 to {LARGEST_SIDE} pixels")
    if samples not in SAMPLES:
        raise input_error("unknown number of samples", got=samples, allowed=", ".join(map(str, SAMPLES)))
    return (
        np.ascontiguousarray(x),
        np.ascontiguousarray(faces, dtype=np.int64),
        np.array(SAMPLES[samples]) / 16.0,
    )


def _scene(
    x: Points, faces: Faces, camera: Camera, size: tuple[int, int], style: Style, ground: float | None
) -> _Scene:
    eye = np.asarray(camera.eye)
    mesh = surface(x - eye, drawable(x, faces))
    projection = camera.projection(size)
    floor = 0.0 if ground is None else min(float(ground - eye[1]), 0.0)

    key_maps = depth_maps(mesh.x, mesh.faces, _key_directions(style, camera), KEY_TEXELS)
    sky_maps = depth_maps(mesh.x, mesh.faces, ball_directions(SKY_LIGHTS), SKY_TEXELS)
    where = lattice(mesh, style.smooth)
    brightness = 0.70 + 0.30 * sky_maps.directions[:, 1]
    share = sky_visibility(where.x, where.normals, brightness, sky_maps)
    key, sky = UNSHADED, UNSHADED
    if floor < 0.0 and len(mesh.faces):
        # Neighbours of m lights in a cone of half-angle a are 2a/√m apart, in the whole ball √(4π/m).
        apart = 2.0 * np.radians(style.softness) / np.sqrt(KEY_LIGHTS), np.sqrt(4.0 * np.pi / SKY_LIGHTS)
        key = ground_light(mesh.x, floor, key_maps, spacing=apart[0], reach=6.0, resolution=GROUND_TEXELS[0])
        sky = ground_light(mesh.x, floor, sky_maps, spacing=apart[1], reach=1.5, resolution=GROUND_TEXELS[1])
    triangles = screen_triangles(mesh.x, mesh.faces, projection, size)
    unprojection = np.asarray(np.linalg.inv(projection), dtype=np.float64)
    none = np.zeros((0, 3))
    return _Scene(mesh, triangles, unprojection, camera.distance, floor, where, share, key_maps, key, sky, none, False)


def _draw_strip(scene: _Scene, look: _Look, offsets: Array, first: int, image: Image) -> None:
    """Draw the rows of the image from `first` on, in buffers of their own."""
    strip = image[first : first + STRIP]
    rows, width = strip.shape[:2]
    samples = (len(offsets), rows, width)
    nearness, seen = np.zeros(samples, dtype=np.float32), np.full(samples, -1, dtype=np.int32)
    t = scene.triangles
    draw_rows(t.planes, t.scale, t.bounds, offsets, first, nearness, seen)

    most = seen.size
    pixel, face = np.empty((most, 2), dtype=np.int32), np.empty(most, dtype=np.int32)
    place, weight = np.empty((most, 2)), np.empty(most)
    bare = np.empty((rows, width))
    floor = scene.unprojection[1] / scene.floor if scene.floor < 0.0 else np.zeros(3)
    count = shade.gather(seen, nearness, offsets, first, floor, pixel, face, place, weight, bare)

    linear = np.zeros((rows, width, 3))
    shade.backdrop(
        bare, first, image.shape[0], scene.unprojection, scene.reach, scene.floor,
        look.backdrop, tuple(scene.ground_key), tuple(scene.ground_sky), linear,
    )  # fmt: skip
    if count:
        _light_fragments(scene, look, pixel[:count], face[:count], place[:count], weight[:count], linear)
    shade.encode(linear, _srgb_curve(), strip)


def _light_fragments(
    scene: _Scene, look: _Look, pixel: Whole, face: Whole, place: Array, weight: Vector, linear: Array
) -> None:
    """Add the light of fragments (see `shade`) to the linear image (rows, width, 3)."""
    mesh, triangles, maps = scene.mesh, scene.triangles, scene.key_maps
    count = len(face)
    weights, point, normal = (np.empty((count, 3)) for _ in range(3))
    bend, sky, key, cover = np.empty(count), np.empty(count), np.zeros(count), np.zeros(count)
    shade.locate(face, place, triangles.planes, triangles.front, *mesh, look.smooth, weights, point, normal, bend)
    where = scene.lattice
    shade.on_lattice(face, weights, triangles.front, where.order, where.table, scene.sky_share, sky)
    key_share(point, normal, look.lamps[0], maps.frames, maps.heights, 1.5 * maps.texel, key)
    if look.edge_width > 0.0:
        shade.edge_cover(face, place, triangles.planes, look.edge_width, cover)
    outside = triangles.front[face] | scene.both_sides
    shade.light(
        pixel, weight, scene.paint[face], outside, point, normal, bend, sky, key, cover,
        look.paint, look.lamps, look.strengths, linear,
    )  # fmt: skip


def _in_studio(direction: Triple, camera: Camera) -> Vector:
    """(3,) world unit vector of a direction given as right of the picture, up, towards the camera."""
    right = camera.axes()[0]
    up = np.asarray(camera.up, dtype=np.float64) / np.linalg.norm(camera.up)
    axes = np.asarray(np.stack([right, up, np.cross(right, up)]), dtype=np.float64)
    world = np.asarray(direction, dtype=np.float64) @ axes
    return world / np.linalg.norm(world)


def _key_directions(style: Style, camera: Camera) -> Array:
    a, b, c = _in_studio(style.light, camera).tolist()
    return cone_directions((a, b, c), style.softness, KEY_LIGHTS)


def _look(style: Style, camera: Camera, size: tuple[int, int]) -> _Look:
    view = 2.0 * camera.distance * np.tan(np.radians(0.5 * camera.field_of_view))
    side, up, toward = style.light
    opposite = -side, 0.4 * abs(up), abs(toward) + 0.6
    strengths = style.key, style.fill, style.sky, style.rim, style.sheen
    return _Look(
        _linear([style.front, style.back, style.edges or (0.0, 0.0, 0.0)]),
        _linear([style.ground, style.background]),
        np.stack([_in_studio(style.light, camera), _in_studio(opposite, camera)]),
        (*map(float, strengths), float(style.cavity * 0.01 * view)),
        # Thinner than this a line in a small picture is not a line.
        max(float(style.edge_width * size[1] / 720.0), 0.8) if style.edges else 0.0,
        bool(style.smooth),
    )


def _linear(colours: list[Triple]) -> Array:
    """Linear light of sRGB colours."""
    c = np.asarray(colours, dtype=np.float64)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


@lru_cache(maxsize=1)
def _srgb_curve() -> Vector:
    """(4096,) sRGB levels, 0 to 255, over the square root of linear light; a shoulder, not burnt highlights."""
    linear = np.linspace(0.0, shade.CURVE_END, 4096) ** 2
    knee = 0.7
    soft = knee + (1.0 - knee) * (1.0 - np.exp(-(linear - knee) / (1.0 - knee)))
    value = np.where(linear < knee, linear, soft)
    encoded = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)
    return 255.0 * encoded
