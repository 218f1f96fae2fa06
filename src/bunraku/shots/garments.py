"""What a garment has besides a guide: points attached to obstacles, seams, and layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bunraku.contracts import Faces, InputError, Points, input_error
from bunraku.direction.parts import whole_pieces
from bunraku.direction.track import Seam
from bunraku.direction.track.shut import check_room
from bunraku.geometry import TriMesh
from bunraku.io import Outgoing

from .contact import ShotContact
from .findings import Place, nearest
from .kinds import joined
from .lists import listed, region_vertices
from .spec import PinTable, RegionTable, SeamTable


def check_attached(pins: Sequence[PinTable], contact: ShotContact, place: Place) -> None:
    """Pins go to obstacles that are there and have a surface to go with."""
    able = [one.name for one in contact.obstacles]
    for k, pin in enumerate(pins):
        if not isinstance(pin.to, str) or pin.to in ("start", "guide", *able):
            continue
        allowed = ("start", "guide", *able)
        place.at("pins").entry(k).at("to").refuse(
            "a plane has no places to be attached to" if pin.to in contact.things else "there is no such obstacle",
            got=pin.to, allowed=f"{joined(allowed)}, or a point", remedy=nearest(pin.to, allowed),
        )  # fmt: skip


def with_parts(
    contact: ShotContact, regions: Mapping[str, RegionTable], shell: TriMesh, going: Outgoing, root: Place, place: Place
) -> ShotContact:
    """With the regions that its layers and pairs name; what does not fit is refused."""
    if contact.table is None or not contact.table.names:
        return contact
    before, where = len(root.findings), place.at("regions")
    _check_known(contact, regions, root.at("physics").at("contact"))
    named = [name for name in contact.table.names if name in regions]
    parts = {name: region_vertices(regions[name], going, where.at(name)) for name in named}
    contact = replace(contact, parts=parts)
    if len(root.findings) == before:
        try:
            assert contact.contact is not None
            whole_pieces(parts, shell)
        except InputError as error:
            root.at("physics").at("contact").pass_on(error, without="contact.")
    return contact


def _check_known(contact: ShotContact, regions: Mapping[str, RegionTable], place: Place) -> None:
    """What layers and between name is there."""
    assert contact.table is not None
    known = (*regions, *contact.things)
    said = [(place.at("layers").entry(k), name) for k, name in enumerate(contact.table.layers)]
    for k, one in enumerate(contact.table.between):
        said += [(place.at("between").entry(k).at("of"), name) for name in one.of]
    for where, name in said:
        if name not in known:
            where.refuse(
                "there is no such region or obstacle", got=name, allowed=joined(known) or "none, as there are none",
                remedy=nearest(name, known),
            )  # fmt: skip


def read_seams(
    tables: Sequence[SeamTable], shell: TriMesh, going: Outgoing, rate: float, begin: float, place: Place
) -> tuple[Seam, ...]:
    """Seams between vertices of the shell, in seconds, of a shot that begins on the frame `begin`, preroll included."""
    found = []
    for k, table in enumerate(tables):
        where = place.entry(k)
        points = np.array(table.stitches, dtype=np.int64)
        before = len(place.findings)
        listed(np.unique(points).tolist(), going.surface.point_count, where.at("stitches"))
        if table.closed is not None and table.closed <= begin:
            where.at("closed").refuse(
                "there is no time to close it in", got=table.closed, allowed=f"a frame after {begin:g}",
                remedy="leave it out: it is closed before the first frame",
            )  # fmt: skip
        if len(place.findings) > before:
            continue
        vertices = going.vertices_of(points.reshape(-1)).reshape(-1, 2)
        try:
            if (vertices < 0).any():
                raise input_error("names points of no face, which the shell leaves out")
            seam = Seam(vertices, closed=None if table.closed is None else table.closed / rate)
            seam.check(shell, "")
            found.append(seam)
        except InputError as error:
            where.at("stitches").pass_on(error)
    try:
        check_room(found if len(found) > 1 else (), shell, "")
    except InputError as error:
        place.pass_on(error)
    return tuple(found)


def sewn_faces(faces: Faces, seams: Sequence[Seam], x: Points, size: float) -> Faces:
    """The faces (f, 3) with vertices taken for one that are sewn to each other and lie together at points x (n, 3)."""
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *(seam.pairs for seam in seams)])
    pairs = pairs[np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) < _TOGETHER * size]
    if not len(pairs):
        return faces
    graph = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(x), len(x)))
    _, label = connected_components(graph, directed=False)
    first = np.full(label.max() + 1, len(x))
    np.minimum.at(first, label, np.arange(len(x)))
    return first[label][faces]


_TOGETHER = 1e-6  # share of the shell's size within which sewn vertices lie in one place
