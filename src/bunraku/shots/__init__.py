"""Shot file → validated spec → job → frames, take folder, report. The only room where strings become classes."""

from .events import Event as Event
from .events import Finished as Finished
from .events import FrameDone as FrameDone
from .events import Noticed as Noticed
from .events import PictureDone as PictureDone
from .events import Preparing as Preparing
from .events import Started as Started
from .lazy import ShotFrame as ShotFrame
from .lazy import frames as frames
from .outputs import Content as Content
from .outputs import contents as contents
from .plan import plan as plan
from .report import Report as Report
from .report import Sentence as Sentence
from .report import TakeOutcome as TakeOutcome
from .run import TakeResult as TakeResult
from .run import run_shot as run_shot
from .shot import Shot as Shot
from .shot import read_shot as read_shot
from .shot import shot_keys as shot_keys
from .tables import KeyLine as KeyLine
