"""The dialect of qmd, in both of its forms: a query as one text, and as several typed searches.

`schemas.py` says what its tools take and give, `searching.py` and `reading.py` do what they ask, `guide.py` is the
prompt that explains them.
"""

from dowse.errors import DowseError
from dowse.interfaces.cli.terminal import as_typed
from dowse.interfaces.mcp.dialect import Dialect, Prompt, Reply, Resource, Tool
from dowse.interfaces.mcp.dialects.qmd import guide, reading, schemas, searching

__all__ = ["DIALECT"]


def failed(error: DowseError, _: str) -> Reply:
    """An error is a text, with the names that were perhaps meant below it."""
    near = error.details.get("similar")
    if isinstance(near, list) and near:
        listed = "\n".join(f"  - {name}" for name in near)
        return Reply.text(f"{error.message}\n\nDid you mean one of these?\n{listed}", is_error=True)
    return Reply.text(" ".join(filter(None, [error.message, as_typed(error.hint, "qmd")])), is_error=True)


DIALECT = Dialect(
    name="qmd",
    server_name="qmd",
    title="QMD",
    instructions=guide.INSTRUCTIONS,
    failed=failed,
    tools=(
        Tool(
            "search",
            "Search (BM25)",
            "Fast keyword search with a BM25 full-text index. Best for words, phrases and names that you know.",
            schemas.search(min_score=0),
            searching.search,
            schemas.RESULTS,
        ),
        Tool(
            "vsearch",
            "Vector Search (semantic)",
            "Search by semantic similarity with vector embeddings. Finds what means the same in other words.",
            schemas.search(min_score=0.3),
            searching.vsearch,
            schemas.RESULTS,
            lane="model",
        ),
        Tool(
            "query",
            "Hybrid Query (highest quality)",
            "Search of the highest quality: BM25 and vectors combined, with query expansion and reranking where they "
            "are configured. Give either `query`, a question in natural language, or `searches`, 1 to 10 typed "
            'sub-queries: `lex` (keywords, "exact phrase", -excluded), `vec` (a question), `hyde` (a passage that '
            "looks like the answer). The first sub-query weighs twice.",
            schemas.QUERY,
            searching.query,
            schemas.RESULTS,
            lane=searching.lane_of_query,
        ),
        Tool(
            "get",
            "Get Document",
            "Retrieve the full content of a document by its file path or docid. Suggests similar files if there is no "
            "such document.",
            schemas.GET,
            reading.get,
        ),
        Tool(
            "multi_get",
            "Multi-Get Documents",
            "Retrieve multiple documents by a glob pattern (e.g. 'journals/2025-05*.md') or a comma-separated list. "
            "Skips files larger than maxBytes.",
            schemas.MULTI_GET,
            reading.multi_get,
        ),
        Tool(
            "status",
            "Index Status",
            "Show the status of the QMD index: its collections and its health.",
            schemas.NOTHING,
            reading.status,
            schemas.STATUS,
        ),
    ),
    resources=(
        Resource(
            "qmd://{+path}",
            "document",
            "QMD Document",
            "A markdown document from your QMD knowledge base. Use search tools to discover documents.",
            "text/markdown",
            reading.read,
        ),
    ),
    prompts=(
        Prompt(
            "query",
            "QMD Query Guide",
            "How to effectively search your knowledge base with QMD",
            lambda _: guide.TEXT,
        ),
    ),
)
