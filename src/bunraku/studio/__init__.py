"""Takes in a browser: a small server over take folders, and the page it serves."""

from typing import TYPE_CHECKING

from bunraku.opening import on_demand

if TYPE_CHECKING:
    from .server import StudioServer as StudioServer
    from .server import serving as serving
else:
    __getattr__, __dir__, __all__ = on_demand(__name__, __file__)
