"""`plan`: a few partial keys, turned into the motion of least force that meets them."""

from .asked import asked_shapes as asked_shapes
from .chain import Chain as Chain
from .chain import chain as chain
from .draft import ChainDraft as ChainDraft
from .draft import Draft as Draft
from .job import Planned as Planned
from .job import planned_job as planned_job
from .keys import SAME_TIME as SAME_TIME
from .keys import Key as Key
from .keys import contradictions as contradictions
from .motion import Motion as Motion
from .phases import Flight as Flight
from .phases import Phase as Phase
from .report import KeyMet as KeyMet
from .verb import as_fixed as as_fixed
from .verb import check_modes as check_modes
from .verb import plan as plan
