"""What the artist says, turned into energies, constraints and objectives. Knows no files and no screens."""

from .contact import Contact as Contact
from .job import Frame as Frame
from .job import Job as Job
from .job import Take as Take
from .job import collect as collect
from .pins import Pin as Pin
