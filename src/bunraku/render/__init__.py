"""Meshes to pixels, without display or graphics card. Knows no physics, no direction, no animation files.

A camera that sees a whole shot, a style, pictures of meshes, and what is made of pictures: a comparison side
by side, a contact sheet, PNG, WebP and mp4. Y is up. The same input gives the same bytes for any number of
threads.
"""

from .camera import LOOKING as LOOKING
from .camera import Camera as Camera
from .camera import framing as framing
from .drawing import picture as picture
from .exposure import exposed as exposed
from .heat import heat as heat
from .heat import legend as legend
from .layout import GAP as GAP
from .layout import PAPER as PAPER
from .layout import above_each_other as above_each_other
from .layout import contact_sheet as contact_sheet
from .layout import footed as footed
from .layout import moments as moments
from .layout import picture_grid as picture_grid
from .layout import rows_sheet as rows_sheet
from .layout import side_by_side as side_by_side
from .lettering import Image as Image
from .lettering import burn_in as burn_in
from .lettering import lettered as lettered
from .rounding import Rounding as Rounding
from .seen import seen_faces as seen_faces
from .stills import read_picture as read_picture
from .stills import write_png as write_png
from .stills import write_webp as write_webp
from .style import GUIDE as GUIDE
from .style import STUDIO as STUDIO
from .style import Style as Style
from .video import write_video as write_video
