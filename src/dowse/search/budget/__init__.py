"""How much of an answer fits? Whole responses within a number of tokens, and a cursor for the rest.

`pack` chooses among any items for any serializer; `fit` does so for the hits of an answer. What is counted
is the text that leaves the program, not the sum of its parts: the tokens of two strings are not those of
their concatenation. So a response never exceeds what was asked for; docs/concepts/citations.md tells how.
"""

from dowse.search.budget.answers import Page, fit, page_of
from dowse.search.budget.cursors import make_cursor, read_cursor
from dowse.search.budget.packing import Packed, Rest, pack
from dowse.search.budget.portions import Portion, shorter_passage, shorter_snippet
from dowse.search.budget.sentences import cut, sentence_ends

__all__ = [
    "Packed",
    "Page",
    "Portion",
    "Rest",
    "cut",
    "fit",
    "make_cursor",
    "pack",
    "page_of",
    "read_cursor",
    "sentence_ends",
    "shorter_passage",
    "shorter_snippet",
]
