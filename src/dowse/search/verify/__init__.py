"""Does this still hold? A citation or a quote, checked against the index: valid, moved, changed or gone."""

from dowse.search.verify.checking import verify
from dowse.search.verify.verdicts import State, Verdict

__all__ = ["State", "Verdict", "verify"]
