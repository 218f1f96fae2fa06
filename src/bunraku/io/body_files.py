"""Bodies of tetrahedra in files: gmsh, TetGen and USD, read and written; in USD moving too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bunraku.contracts import Array, Vector, input_error, need, path_of
from bunraku.geometry import TetMesh

from .atomic import atomic_files, atomic_write, write_bytes
from .axes import from_metres, length_of, to_metres
from .files import is_there, missing
from .gmsh import format_msh, read_msh
from .sample import Layout, Sample, local_origin
from .tetgen import format_tetgen, read_tetgen

_USD = (".usd", ".usda", ".usdc", ".usdz")
_READERS = {".msh": read_msh, ".node": read_tetgen, ".ele": read_tetgen}
_PLACE = "/bunraku/body"


def read_tets(
    path: str | Path, prim: str | None = None, *, unit: str | float | None = None, up_axis: str | None = None
) -> TetMesh:
    """The tetrahedra of a gmsh `.msh`, a TetGen `.node`/`.ele` pair or a USD TetMesh [m, Y-up], at rest.

    `prim` names the body in a USD file that holds several. `unit` and `up_axis` override the file's own; metres and Y
    where it does not say, as gmsh and TetGen files never do.
    """
    source = path_of(path)
    if prim is not None:
        need(str, "prim", prim)
    suffix = source.suffix.lower()
    check_body_there(source)
    if suffix in _USD:
        from .usd import read_usd_body

        found = read_usd_body(source, prim, limit=1)
        own, axis, body = found.meters_per_unit, found.up_axis, found.body
    else:
        if prim is not None:
            raise input_error(f"{suffix} files have no prim", where=str(source), got=prim, remedy="leave prim out")
        own, axis, body = 1.0, "Y", _READERS[suffix](source)
    length = own if unit is None else length_of(unit)
    return body.with_rest(to_metres(body.rest, length, up_axis or axis))


def check_body_there(path: str | Path) -> None:
    """Refuse what is not there or is of no kind that holds tetrahedra."""
    source = Path(path)
    if source.suffix.lower() not in (*_READERS, *_USD):
        raise input_error(
            "holds no tetrahedra", where=str(source), got=source.suffix or "no suffix",
            allowed=", ".join([*_READERS, *_USD]),
            remedy="make a body of a surface: tetrahedralise(read_mesh(…))",
        )  # fmt: skip
    if not is_there(source):
        raise missing(source)


def holds_tets_only(path: str | Path) -> bool:
    """Whether a file is of a kind that has tetrahedra and no surfaces: gmsh's or TetGen's."""
    return Path(path).suffix.lower() in _READERS


def body_files(path: str | Path) -> list[Path]:
    """Every file `read_tets(path)` reads; TetGen's come in pairs."""
    source = Path(path)
    pair = {".node": ".ele", ".ele": ".node"}.get(source.suffix.lower())
    return [source] if pair is None else sorted([source, source.with_suffix(pair)])


def read_body_poses(
    path: str | Path, prim: str | None = None, *, unit: str | float | None = None, up_axis: str | None = None
) -> tuple[TetMesh, Vector, Array]:
    """A moving body of a USD file: at rest, its frame numbers (t,) and its points (t, n, 3) [m, Y-up]."""
    source = Path(path)
    if source.suffix.lower() not in _USD:
        raise input_error(
            "holds no moving body", where=str(source), got=source.suffix or "no suffix", allowed=", ".join(_USD)
        )
    if not is_there(source):
        raise missing(source)
    from .usd import read_usd_body

    found = read_usd_body(source, prim)
    length, axis = found.meters_per_unit if unit is None else length_of(unit), up_axis or found.up_axis
    body = found.body.with_rest(to_metres(found.body.rest, length, axis))
    return body, found.frames, to_metres(found.points[:, found.used], length, axis)


def write_body(target: Path, body: TetMesh, up_axis: str, meters_per_unit: float) -> None:
    """Write a body at rest."""
    suffix = target.suffix.lower()
    if suffix in _USD[:3]:
        layout = Layout(24.0, local_origin(body.rest), up_axis, meters_per_unit)
        write_body_motion(target, body, [Sample(0.0, body.rest)], layout)
        return
    placed = body.with_rest(from_metres(body.rest, meters_per_unit, up_axis))
    if suffix == ".msh":
        write_bytes(target, format_msh(placed))
    elif suffix in (".node", ".ele"):
        with atomic_files(target.parent) as folder:
            for name, data in zip((".node", ".ele"), format_tetgen(placed), strict=True):
                (folder / target.with_suffix(name).name).write_bytes(data)
    else:
        allowed = ".msh, .node, .ele, .usd, .usda, .usdc"
        raise input_error("cannot hold tetrahedra", where=str(target), got=suffix, allowed=allowed)


def write_body_motion(
    target: Path, body: TetMesh, samples: Iterable[Sample], layout: Layout, prim: str = _PLACE
) -> None:
    """Write the samples of a body's motion, one at least, as a USD TetMesh."""
    from .usd import check_prim_path, vouch, write_usd_body

    check_prim_path(prim)
    with atomic_write(target) as temporary:
        write_usd_body(temporary, body, samples, layout, prim)
    vouch([target])  # what this process wrote need not be tried before it is read back
