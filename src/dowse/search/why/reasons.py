"""What can be said of a document and a query, in a form that every interface can show."""

from typing import Literal

from dowse.records import record
from dowse.types import DocumentInfo, Explain, Hit, LedgerEntry

__all__ = ["Outcome", "Why"]

Outcome = Literal["found", "below_the_cut", "filtered", "no_match", "not_indexed"]


@record
class Why:
    """What became of a document in the answer to a query."""

    outcome: Outcome
    message: str
    hint: str = ""
    info: DocumentInfo | None = None
    """None for what is not indexed."""
    entry: LedgerEntry | None = None
    """Why a file was not indexed, where that is known."""
    rank: int | None = None
    """Its best passage's place in the answer, counted as the query counts; None beyond the deepest look."""
    hit: Hit | None = None
    """Its best passage for this query."""
    last_score: float | None = None
    """The score of the last hit that the query shows."""
    filtered_by: str = ""
    """What kept it out."""
    words: tuple[str, ...] = ()
    """Those of the query's terms that it has."""
    notes: tuple[str, ...] = ()

    @property
    def explain(self) -> Explain | None:
        """How its score came about, leg by leg."""
        return self.hit.explain if self.hit else None
