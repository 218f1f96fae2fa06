"""`steer`: key shapes a body passes near and paths it follows, turned into rest shapes and conditions."""

from .approach import Approach as Approach
from .approach import approaches as approaches
from .approach import approaches_of as approaches_of
from .bodies import Body as Body
from .bracing import hard_collisions as hard_collisions
from .cautions import fetched as fetched
from .cautions import turn_remedy as turn_remedy
from .fitting import fitted as fitted
from .keys import KeyShape as KeyShape
from .keys import check_keys as check_keys
from .materials import Material as Material
from .posing import Grip as Grip
from .posing import pose as pose
from .report import SteerReport as SteerReport
from .reuse import DIGESTS as DIGESTS
from .reuse import same_frames as same_frames
from .settings import SteerSettings as SteerSettings
from .steering import steering_job as steering_job
from .turning import MISSED_TURN as MISSED_TURN
from .verb import find_blows as find_blows
from .verb import find_leads as find_leads
from .verb import finished as finished
from .verb import steer as steer
from .wished import directed_shapes as directed_shapes
