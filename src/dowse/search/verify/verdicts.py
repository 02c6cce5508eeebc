"""What can be said of a citation or quote, in a form that every interface can show."""

from typing import Literal

from dowse.records import record
from dowse.search.citations import Citation
from dowse.types import Freshness

__all__ = ["State", "Verdict"]

State = Literal["valid", "moved", "changed", "gone"]


@record
class Verdict:
    """Whether a citation or quote holds."""

    state: State
    """`valid`: it is there as cited. `moved`: the same text stands elsewhere. `changed`: its text is another now.
    `gone`: neither the text nor anything like it."""
    message: str
    """The same as a sentence."""
    citations: tuple[Citation, ...] = ()
    """Where the text stands now; for `changed`, what stands in its place. Several where it stands several times."""
    quotes: tuple[str, ...] = ()
    """The texts there, one for each citation."""
    diff: str = ""
    """From the old text to the new one, as a unified diff; empty where the old one is not known any more."""
    freshness: Freshness = "unknown"
    """Whether the first citation's source is as it was indexed: what is said here is said of the index."""
    notes: tuple[str, ...] = ()
