"""Bodies of surfaces, made once: the artist's `tetrahedralise`, with the cache between."""

from __future__ import annotations

from pathlib import Path

from bunraku.contracts import ContentStore, input_error
from bunraku.geometry import Surface, TetMesh, Tetrahedralised, TriMesh
from bunraku.geometry import tetrahedralised as made_of

from .content import ContentCache

Cache = ContentStore | str | Path | bool | None


def tetrahedralise(
    mesh: TriMesh | Surface, *, edge: float | None = None, envelope: float | None = None, cache: Cache = True,
    patience: float = 600.0,
) -> TetMesh:  # fmt: skip
    """The body inside a surface, closed or nearly so; parameters as for `tetrahedralised`."""
    return tetrahedralised(mesh, edge=edge, envelope=envelope, cache=cache, patience=patience).body


def tetrahedralised(
    mesh: TriMesh | Surface, *, edge: float | None = None, envelope: float | None = None, cache: Cache = True,
    patience: float = 600.0,
) -> Tetrahedralised:  # fmt: skip
    """The body inside a surface, with what is to be said about it: volume deviation, distance, quality, counts.

    `edge` [m] is the length of edges aimed at (a tenth of the surface's diagonal where not given), `envelope` [m] how
    far the body's surface may lie from the given one (a sixth of the edge); where the surface is more finely shaped
    than that, edges get shorter. What takes longer than `patience` [s] is given up. The second time the same body of
    the same surface is there at once, and the same to the last bit: it is kept in the user's cache folder
    ($BUNRAKU_CACHE moves it), or in the folder given as `cache`; False keeps nothing.
    """
    return made_of(mesh, edge=edge, envelope=envelope, cache=_store(cache), patience=patience)


def _store(cache: Cache) -> ContentStore | None:
    if cache is None or cache is False:
        return None
    if cache is True:
        return ContentCache()
    if isinstance(cache, (str, Path)):
        if not str(cache):
            raise input_error("the name of the folder is empty", where="cache", remedy="cache=True, the user's own")
        return ContentCache(cache)
    if isinstance(cache, (int, float)):
        raise input_error("not a cache", where="cache", got=repr(cache), allowed="True, False or a folder")
    return cache
