"""Why is this document found, or not, for this query? Not indexed, filtered, unmatched, below the cut, or rank N."""

from dowse.search.why.asking import why
from dowse.search.why.reasons import Outcome, Why

__all__ = ["Outcome", "Why", "why"]
