"""What an evaluation is made of and what it says: frozen values, for interfaces to render."""

from collections.abc import Mapping
from dataclasses import field
from hashlib import blake2b
from typing import Literal

from dowse.records import record

__all__ = ["METRICS", "Comparison", "Difference", "Evaluation", "Judged", "Kind", "Metric", "ModeFigures"]

Kind = Literal["heading", "sentence", "definition", "judged"]
Metric = Literal["recall@10", "mrr@10", "ndcg@10"]
METRICS: tuple[Metric, ...] = ("recall@10", "mrr@10", "ndcg@10")


@record
class Judged:
    """A query and the documents that answer it."""

    text: str
    grades: Mapping[str, int]
    """The grade of each relevant document, by `collection/path`."""
    kind: Kind = "judged"

    @property
    def key(self) -> str:
        """What the query is known by in later runs."""
        parts = "\0".join([self.kind, self.text, *sorted(self.grades)])
        return blake2b(parts.encode(errors="surrogatepass"), digest_size=8).hexdigest()


@record
class ModeFigures:
    """How one mode did."""

    mode: str
    queries: int
    figures: Mapping[Metric, float]
    """Means over all queries."""
    p50_ms: float
    p95_ms: float
    by_kind: Mapping[Kind, Mapping[Metric, float]] = field(default_factory=dict)
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Of each query by its key, in the order of METRICS: what a later run is compared with."""


@record
class Difference:
    """One figure of one mode, before and now, over the queries that both runs asked."""

    mode: str
    metric: Metric
    before: float
    now: float
    noise: float
    """A change up to this is chance."""

    @property
    def verdict(self) -> Literal["better", "worse", "same"]:
        """Whether it changed by more than chance."""
        change = self.now - self.before
        return "same" if abs(change) <= self.noise else "better" if change > 0 else "worse"


@record
class Comparison:
    """What changed since the last run with the same kind of queries."""

    since: int
    """When that was, in milliseconds."""
    common: int
    """How many queries both runs asked."""
    changes: tuple[str, ...]
    """What else is not as it was: model, analyser, settings, documents."""
    differences: tuple[Difference, ...]


@record
class Evaluation:
    """What an evaluation found."""

    name: str
    """`known items`, or the file or folder with the judged queries."""
    at: int
    queries: Mapping[Kind, int]
    modes: tuple[ModeFigures, ...]
    state: Mapping[str, str]
    """What answered: versions, model, settings, and how many documents."""
    problems: tuple[str, ...] = ()
    """What could not be asked, and why."""
    notes: tuple[str, ...] = ()
    compared: Comparison | None = None
    """None for the first run."""

    @property
    def worse(self) -> tuple[Difference, ...]:
        """What got worse by more than chance."""
        return tuple(each for each in self.compared.differences if each.verdict == "worse") if self.compared else ()
