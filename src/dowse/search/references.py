"""A citation as somebody wrote it: our URIs, whole or in part, and lines behind a name."""

import re
from urllib.parse import parse_qsl, unquote_to_bytes

from dowse.records import record

__all__ = ["Reference", "parse_citation"]

_URI = re.compile(r"(?:dowse|qmd)://[^\s<>\"`]+", re.IGNORECASE)
_TRAILING = ".,;:!?'*_"  # what a sentence or Markdown puts behind a URI
_LINES = re.compile(r"#?(?:L|line=|lines=)?(\d{1,9})(?:C\d+)?(?:[-,:](?:L)?(\d{1,9})(?:C\d+)?)?", re.IGNORECASE)
_AT_END = re.compile(r"(?P<name>.*[^\s:#])(?P<lines>#L\d{1,9}(?:-L?\d{1,9})?|:\d{1,9}(?:-\d{1,9})?)", re.DOTALL)
_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})")


@record
class Reference:
    """A citation as somebody wrote it: what it says, and None or nothing for what it leaves out."""

    name: str
    is_exact: bool = False
    """Whether the name is `collection/path`, and not the end of a path or a docid."""
    content_hash: str = ""
    text_hash: str = ""
    lines: tuple[int, int] | None = None
    span: tuple[int, int] | None = None


def parse_citation(text: str) -> Reference | None:
    """Read a citation as people and programs write it; None for what is none.

    Understood are our URIs, also in the middle of a sentence or of a Markdown link and without some of their
    parts, and `name:10`, `name:10-20` and `name#L10-L20` with a name as `get` takes it.
    """
    if found := _URI.search(text):
        return _from_uri(found[0])
    if found := _AT_END.fullmatch(text.strip()):
        return Reference(found["name"], lines=_lines(found["lines"].lstrip(":#")))
    return None


def _from_uri(uri: str) -> Reference | None:
    uri = _without_trailing(uri)
    rest, _, fragment = uri.partition("://")[2].partition("#")
    path, _, query = rest.partition("?")
    if not (name := _decoded(path).strip("/")):
        return None
    said = {key.lower(): value for key, value in parse_qsl(query)}
    # Lines and count behind a colon, as `get` takes them; a colon of the path itself is encoded.
    at_end = _AT_END.fullmatch(path)
    lines = _lines(fragment) or _lines(said.get("lines", ""))
    if lines is None and at_end and at_end["lines"].startswith(":"):
        name, lines = _decoded(at_end["name"]).strip("/"), _lines(at_end["lines"][1:])
    return Reference(
        name,
        is_exact=True,
        content_hash=_digits(said.get("hash", "")),
        text_hash=_digits(said.get("text", "")),
        lines=lines,
        span=_pair(_SPAN.fullmatch(said.get("chars", ""))),
    )


def _without_trailing(uri: str) -> str:
    """A URI without what the text around it left at its end; a bracket stays where the URI opened it."""
    while uri and (uri[-1] in _TRAILING or (uri[-1] in ")]}" and _unopened(uri))):
        uri = uri[:-1]
    return uri


def _unopened(uri: str) -> bool:
    return uri.count(uri[-1]) > uri.count({")": "(", "]": "[", "}": "{"}[uri[-1]])


def _decoded(path: str) -> str:
    data = unquote_to_bytes(path.encode("utf-8", "surrogatepass"))
    for errors in ("surrogatepass", "replace"):
        try:
            return data.decode("utf-8", errors)
        except UnicodeDecodeError:
            continue
    return path


def _digits(text: str) -> str:
    lowered = text.lower()
    return lowered if re.fullmatch(r"[0-9a-f]{4,64}", lowered) else ""


def _lines(text: str) -> tuple[int, int] | None:
    return _pair(_LINES.fullmatch(text))


def _pair(found: re.Match[str] | None) -> tuple[int, int] | None:
    if found is None:
        return None
    first = int(found[1])
    return first, max(first, int(found[2])) if found[2] else first
