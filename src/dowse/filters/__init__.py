"""Which documents and passages may answer at all? One small tree, from three spellings.

    from_flat        {"type": "pdf", "page": 3}                                 equality, all of them
    from_operators   {"$or": [{"page": {"$gte": 10}}, {"tag": "urgent"}]}       operators, and, or, not
    search.syntax    type:pdf -tag:draft after:2024-05                          inside a query

`matches` says what a tree means; stores that compile it must agree with that. What it means:

- A field of `FIELDS` belongs to every document or passage. Any other name is a key of the document's
  metadata, and `metadata.NAME` is one even where a field has that name. `place.NAME` is what a passage says
  of its place, such as `place.sheet`.
- A field may have several values (tags, a list in front matter). A comparison holds when it holds for one of
  them. A field without any fails every comparison; `$ne`, `$nin`, `$not` and `$exists: false` are negations,
  so that they hold for it.
- Text of the fields is compared without regard to case, and so are `$contains`, `$prefix` and `$glob` always.
  Equality and order of metadata are exact. In a list of metadata everything is text: 2024 equals "2024" there.
- Numbers are compared with numbers, truth values with truth values, text with text.
- A date stands for its whole year, month, day or second: equal means within, greater means after its end.
  Those without a zone are in UTC. Where the value reads as a date, order compares metadata as dates.
"""

from dowse.filters.checking import check
from dowse.filters.dates import Period, period_of
from dowse.filters.fields import FIELDS, Field, field_of
from dowse.filters.matching import Predicate, matches, predicate, unmet
from dowse.filters.spelling import from_flat, from_operators
from dowse.filters.tree import OPERATORS, And, Compare, Filter, Not, Operator, Or, Value, both, describe, leaves

__all__ = [
    "FIELDS",
    "OPERATORS",
    "And",
    "Compare",
    "Field",
    "Filter",
    "Not",
    "Operator",
    "Or",
    "Period",
    "Predicate",
    "Value",
    "both",
    "check",
    "describe",
    "field_of",
    "from_flat",
    "from_operators",
    "leaves",
    "matches",
    "period_of",
    "predicate",
    "unmet",
]
