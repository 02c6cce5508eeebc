"""Hard limits on time and memory for the reading of one file.

reading     decides where a file is read, and says in words what went wrong
terms       the limits, and the error of going beyond them
helper      this side: starts the process that reads, asks it, watches the clock, ends it
serving     that side: reads one file after the other until nobody asks any more
enforcing   that side: how a process is ended that takes more than it may
packing     what travels between the two, without anything in it that could be executed
"""

from dowse.ingest.extract.limits.reading import extract_within_limits
from dowse.ingest.extract.limits.terms import Limits

__all__ = ["Limits", "extract_within_limits"]
