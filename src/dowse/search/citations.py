"""Where an answer stands, in forms that can be checked later: a `dowse://` URI and a link for an editor.

    dowse://notes/house/my%20bread.md?hash=1c291ca3d1a2&chars=120-480&text=9a0b1c2d#L10-L20

The path is `collection/path`, each segment percent-encoded. `hash` starts the sha256 of the source's bytes,
`chars` is the span in the document's text, `text` starts the sha256 of the passage itself, and the fragment
names its lines. So the URI alone is enough to verify what it cites, also after the document changed;
search/references.py reads it.
"""

import hashlib
import re
from urllib.parse import quote
from uuid import UUID

from dowse.errors import UsageError
from dowse.records import record
from dowse.types import Chunk, DocumentInfo, Hit

__all__ = ["EDITORS", "Citation", "check_editor", "citation_of", "cite", "text_hash"]

_SCHEME = "dowse://"
_HASH_DIGITS = 12
_TEXT_DIGITS = 8
_FILE = "file://"

EDITORS = {
    "file": "file://{path}#L{line}",
    "vscode": "vscode://file{path}:{line}:{column}",
    "cursor": "cursor://file{path}:{line}:{column}",
    "zed": "zed://file{path}:{line}:{column}",
    "idea": "idea://open?file={path}&line={line}&column={column}",
    "textmate": "txmt://open?url=file://{path}&line={line}&column={column}",
}
"""Templates by name; `{path}` is absolute, starts with a slash and is percent-encoded."""

# Their lines are the file's own; the text of other formats is made from something else.
_HAS_LINES = re.compile(
    r"text/(?!html|csv|tab-separated)|application/(?:(?:geo\+)?json|jsonl|yaml|toml|sql|x-tex|x-subrip)$"
)


@record
class Citation:
    """Everything that is needed to find a passage again, and to see whether it still says the same."""

    id: UUID
    file: str
    """`collection/path`."""
    content_hash: str
    first_line: int
    last_line: int
    start: int
    end: int
    page: int | None
    headings: tuple[str, ...]
    uri: str
    editor: str
    """A link that opens the source at that line where its editor can; empty for what has no address."""


def citation_of(hit: Hit, editor: str = "file") -> Citation:
    """The citation of a hit's passage, as it is shown: that of a shortened hit is of what is left of it."""
    return cite(hit.info, hit.chunk, editor)


def cite(info: DocumentInfo, chunk: Chunk, editor: str = "file") -> Citation:
    """The citation of a passage; `editor` is a name of `EDITORS`, or a template with `{path}`."""
    return Citation(
        info.id,
        info.file,
        info.content_hash,
        chunk.first_line,
        chunk.last_line,
        chunk.start,
        chunk.end,
        chunk.page,
        chunk.headings,
        _uri(info, chunk),
        _editor_link(info, chunk, editor),
    )


def text_hash(text: str) -> str:
    """What the `text` of a URI says of its passage."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_TEXT_DIGITS]


def check_editor(template: str) -> str:
    """The template, if it is a name of `EDITORS` or has a place for the path.

    Raises:
        UsageError: it is neither.
    """
    try:
        if "\0" in EDITORS.get(template, template).format(path="\0", line=1, column=1):
            return template
    except (KeyError, IndexError, ValueError, AttributeError):
        pass
    raise UsageError(
        f"{template!r} is no editor.",
        hint=f"There are {', '.join(EDITORS)}, or a link with {{path}}, {{line}} and {{column}} in it.",
    )


def _uri(info: DocumentInfo, chunk: Chunk) -> str:
    path = quote(info.file, safe="/", errors="surrogatepass")
    parts = [f"hash={info.content_hash[:_HASH_DIGITS]}", f"chars={chunk.start}-{chunk.end}"]
    lines = f"L{chunk.first_line}" + (f"-L{chunk.last_line}" if chunk.last_line > chunk.first_line else "")
    return f"{_SCHEME}{path}?{'&'.join(parts)}&text={text_hash(chunk.text)}#{lines}"


def _editor_link(info: DocumentInfo, chunk: Chunk, editor: str) -> str:
    """The source's own address where it is not a file; for pages, the page; for extracted text, no line."""
    if not info.uri.startswith(_FILE):
        return info.uri if info.uri.startswith(("https://", "http://")) else ""
    path = info.uri[len(_FILE) :].partition("#")[0]
    if chunk.page:
        return f"{_FILE}{path}#page={chunk.page}"
    if not _HAS_LINES.match(info.media_type) or "#" in info.uri:
        return f"{_FILE}{path}"
    return EDITORS.get(editor, editor).format(path=path, line=chunk.first_line, column=1)
