"""The mesh doctor: what is wrong with a surface, in plain words, and a mended copy of it.

`examine` looks (a `Patient` is a surface prepared for that, `checks_of_*` find), `repair` mends a `Draft` of it.
"""

from .examine import examine as examine
from .findings import Diagnosis as Diagnosis
from .findings import Finding as Finding
from .findings import Kind as Kind
from .findings import Severity as Severity
from .repair import Repaired as Repaired
from .repair import repair as repair
