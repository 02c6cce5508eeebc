"""Our own dialect, the default: few tools with strong defaults, exact citations, and budgets that hold.

`schemas.py` says what its tools take and `results.py` what they give; `searching.py`, `reading.py`, `listing.py`,
`checking.py`, `writing.py` and `standing.py` do what they ask; `guide.py` explains them to a client's model.
"""

from dowse.interfaces.mcp.dialect import Dialect, Hints, Prompt, PromptArgument, Resource, Tool
from dowse.interfaces.mcp.dialects.dowse import (
    answers,
    checking,
    guide,
    listing,
    reading,
    results,
    schemas,
    searching,
    standing,
    writing,
)

__all__ = ["DIALECT"]

_LONGEST_CONTENT = 32 * 2**20

DIALECT = Dialect(
    name="dowse",
    server_name="dowse",
    title="Dowse",
    instructions=guide.instructions,
    failed=answers.failed,
    trusts_urls=False,
    tools=(
        Tool(
            "search",
            "Search",
            "Find passages in the indexed documents by words and meaning. Returns exact text with score, lines and "
            "citation, best first. Give `query`, or typed `searches` for hard questions.",
            schemas.SEARCH,
            searching.search,
            results.FOUND,
            lane=searching.lane_of,
        ),
        Tool(
            "get",
            "Read documents",
            "Read documents or some lines of them, by path, citation, docid, id or glob, several at once. What exceeds "
            "`max_tokens` comes with `cursor`.",
            schemas.GET,
            reading.get,
            results.READ,
        ),
        Tool(
            "ingest",
            "Add to the index",
            "Add a file, a folder, a web address or a text to the index. It can be searched when this returns; long "
            "work returns a `job` that `status` follows.",
            schemas.INGEST,
            writing.ingest,
            results.INGESTED,
            hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
            lane="write",
            longest_text=_LONGEST_CONTENT,
        ),
        Tool(
            "delete",
            "Remove from the index",
            "Take documents out of the index, by path, citation, docid, id or glob. Their files stay.",
            schemas.DELETE,
            writing.delete,
            results.DELETED,
            hints=Hints(read_only=False, destructive=True, idempotent=False, open_world=False),
            lane="write",
        ),
        Tool(
            "list",
            "List what is indexed",
            "List the collections, or the documents of one or of all, with `filters`.",
            schemas.LIST,
            listing.listed,
            results.LISTED,
        ),
        Tool(
            "status",
            "Index status",
            "Show counts, how fresh the index is kept, running jobs, and files that could not be read, with reasons.",
            schemas.STATUS,
            standing.status,
            results.STATE,
        ),
        Tool(
            "why",
            "Explain a result",
            "Tell why a document is found for a query, or why not: not indexed, filtered, no match, or its rank and "
            "scores. Takes the arguments of `search`.",
            schemas.WHY,
            checking.why,
            results.REASON,
            lane=searching.lane_of,
        ),
        Tool(
            "verify",
            "Verify a citation",
            "Check whether a citation or quote still holds: valid, moved, changed or gone, and where it stands now.",
            schemas.VERIFY,
            checking.verify,
            results.VERDICT,
        ),
    ),
    resources=(
        Resource(
            "dowse://{+path}",
            "document",
            "Indexed document",
            "A document as Markdown, by collection/path. A citation reads its lines.",
            "text/markdown",
            reading.read,
        ),
    ),
    prompts=(
        Prompt("search_guide", "How to search well", "Teaches how to search, read and cite.", lambda _: guide.GUIDE),
        Prompt(
            "answer",
            "Answer from my documents",
            "Answers a question from the indexed documents, with checked citations.",
            guide.answer,
            (PromptArgument("question", "What to answer", required=True),),
        ),
        Prompt(
            "recheck",
            "Recheck citations",
            "Checks every citation and quote in a text.",
            guide.recheck,
            (PromptArgument("text", "The text with citations or quotes", required=True),),
        ),
    ),
)
