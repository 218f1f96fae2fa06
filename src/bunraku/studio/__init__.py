"""Takes in a browser: a small server over take folders, and the page it serves."""

from .server import StudioServer as StudioServer
from .server import serving as serving
