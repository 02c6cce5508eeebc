"""What some families of embedding models want in front of a text, as their authors' model cards say.

A forgotten prefix costs such a model many points, and neither an endpoint nor an ONNX folder always tells.
What the folder or the configuration says comes first; a model that is not in the table gets no prefix.
"""

import re
from typing import NamedTuple

_SEARCHING = "Represent this sentence for searching relevant passages: "


class Prefixes(NamedTuple):
    """What stands in front of a question, and in front of a passage."""

    query: str = ""
    passage: str = ""


_FAMILIES: tuple[tuple[re.Pattern[str], Prefixes], ...] = tuple(
    (re.compile(pattern), prefixes)
    for pattern, prefixes in (
        (r"e5-.*instruct", Prefixes("Instruct: Retrieve passages that answer the question\nQuery: ")),
        (r"(multilingual-)?e5-", Prefixes("query: ", "passage: ")),
        (r"nomic-embed-text|modernbert-embed", Prefixes("search_query: ", "search_document: ")),
        (r"embedding-?gemma", Prefixes("task: search result | query: ", "title: none | text: ")),
        (r"snowflake-arctic-embed.*(v2|2\.0)|snowflake-arctic-embed2", Prefixes("query: ")),
        (r"snowflake-arctic-embed|mxbai-embed|bge-(small|base|large)-en", Prefixes(_SEARCHING)),
        (r"qwen3-embedding", Prefixes("Instruct: Retrieve passages that answer the question\nQuery:")),
    )
)


def known_prefixes(name: str) -> Prefixes:
    """The prefixes of the family that this model's name belongs to; `org/`, `:tag` and case do not matter."""
    plain = re.split(r"[/\\]", name.lower())[-1]
    for pattern, prefixes in _FAMILIES:
        if pattern.match(plain):
            return prefixes
    return Prefixes()
