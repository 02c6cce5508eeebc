"""`get` and the resource: documents by name, as much of them as fits, and a cursor that goes on in mid-text."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dowse.errors import ConflictError, NotFoundError, UsageError
from dowse.ingest.freshness import freshness_of
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Arguments, BadArgumentsError, Call, Json, Reply
from dowse.interfaces.mcp.dialects.dowse import naming
from dowse.interfaces.mcp.dialects.dowse.answers import fits, longest_fit, rendered, reply, too_small, without_empty
from dowse.interfaces.mcp.dialects.dowse.naming import Wanted
from dowse.records import record
from dowse.types import Document, Freshness

__all__ = ["get", "read"]

_MIME_TYPE = "text/markdown"  # what is read out of any format is Markdown
_CURSOR = re.compile(r"(\d{1,9})\.(\d{1,12})\.([0-9a-f]{8})", re.ASCII)
_SIMILAR = 5
_TOKEN = 8  # characters that hardly any text has per token; where one has, its page ends sooner than it might
_WORTHWHILE = 200  # characters: less of a document is not worth a place behind others


@record
class _Part:
    """A document from some character on, or the reason why there is none."""

    wanted: Wanted
    document: Document | None = None
    start: int = 0
    end: int | None = None
    freshness: Freshness = "unknown"
    similar: tuple[str, ...] = ()
    """Names that were perhaps meant, where there is no document."""

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end] if self.document else ""

    @property
    def first_line(self) -> int:
        return self.document.first_line + self.document.text.count("\n", 0, self.start) if self.document else 0


def get(call: Call, arguments: Arguments) -> Reply:
    """The documents that are meant, in the order of their names."""
    names = [*([arguments["name"]] if "name" in arguments else []), *arguments.get("names", ())]
    if not names:
        raise BadArgumentsError("Give a 'name' or 'names'.", details={"argument": "name"})
    first, last = arguments.get("first_line"), arguments.get("last_line")
    if first is not None and last is not None and last < first:
        raise BadArgumentsError("Argument 'last_line' comes before 'first_line'.", details={"argument": "last_line"})
    reading = _Reading(call, naming.expanded(call.engine, names, first, last), arguments)
    return reply(reading.page(arguments.get("cursor", "")))


def read(call: Call, uri: str, _: Mapping[str, str]) -> Sequence[Json]:
    """The resource: a document, or the lines of it that its address names."""
    (wanted,) = naming.expanded(call.engine, [uri], None, None)[:1]
    document = naming.read(call.engine, wanted)
    info = document.info
    return [{"uri": uri, "name": info.file, "title": info.title, "mimeType": _MIME_TYPE, "text": document.text}]


class _Reading:
    """One call of `get`."""

    def __init__(self, call: Call, wanted: Sequence[Wanted], arguments: Arguments) -> None:
        self._engine = call.engine
        self._wanted = wanted
        self._names = hashlib.blake2s(repr(wanted).encode(errors="backslashreplace")).hexdigest()
        self._numbers: bool = arguments["line_numbers"]
        self._max_tokens: int = arguments["max_tokens"]

    def page(self, cursor: str) -> str:
        """What fits, from the cursor on."""
        place, start = self._begun(cursor)
        parts = self._parts(place, start)
        if place == 0 and len(parts) == len(self._wanted) and not any(part.document for part in parts):
            raise _nothing(parts)
        whole = longest_fit(len(parts), lambda count: self._fits(parts[:count], place + count))
        chosen, following, offset = parts[:whole], place + whole, 0
        if whole < len(parts) and (part := self._shortened(parts[: whole + 1], place + whole)):
            chosen, offset = [*chosen, part], part.end or 0
        if not chosen:
            raise too_small(self._max_tokens, self._least(parts[0], place))
        return self._rendered(chosen, following, offset)

    def _parts(self, place: int, start: int) -> list[_Part]:
        """The documents from there on, as long as they are likely to fit."""
        parts: list[_Part] = []
        characters = 0
        for wanted in self._wanted[place:]:
            part = self._part(wanted, 0 if parts else start)
            parts.append(part)
            characters += len(part.text)
            if characters > self._max_tokens * _TOKEN:
                break
        return parts

    def _part(self, wanted: Wanted, start: int) -> _Part:
        try:
            document = naming.read(self._engine, wanted)
        except NotFoundError as error:
            near = error.details.get("similar")
            return _Part(wanted, similar=tuple(map(str, near)) if isinstance(near, list) else ())
        return _Part(wanted, document, start, freshness=freshness_of(document.info))

    def _shortened(self, parts: Sequence[_Part], place: int) -> _Part | None:
        """The last of these with as many lines as fit behind the others; alone, with as many characters."""
        *before, part = parts
        if part.document is None:
            return None

        def cut(end: int) -> _Part:
            return replace(part, end=part.start + end)

        def is_good(end: int) -> bool:
            return self._fits([*before, cut(end)], place, part.start + end)

        text = part.text[:-1]
        ends = [found.end() for found in re.finditer("\n", text)]
        lines = longest_fit(len(ends), lambda count: not count or is_good(ends[count - 1]))
        if lines and (not before or ends[lines - 1] >= _WORTHWHILE):
            return cut(ends[lines - 1])
        if before:
            return None
        characters = longest_fit(len(text), lambda count: not count or is_good(count))
        return cut(characters) if characters else None

    def _fits(self, parts: Sequence[_Part], following: int, offset: int = 0) -> bool:
        return fits(self._engine, self._rendered(parts, following, offset), self._max_tokens)

    def _least(self, part: _Part, place: int) -> int:
        """The tokens of the smallest page that gets on."""
        smallest = replace(part, end=part.start + 1) if len(part.text) > 1 else part
        return self._engine.count_tokens(self._rendered([smallest], place, part.start + 1))

    def _rendered(self, parts: Sequence[_Part], following: int, offset: int) -> str:
        """The page of these, when the next one starts at this document and character."""
        rest = len(self._wanted) - following
        missing = [{"name": part.wanted.name[:200], "reason": _reason(part)} for part in parts if not part.document]
        made: Json = {"documents": [self._document(part) for part in parts if part.document]}
        cursor = f"{following}.{offset}.{self._check(parts[-1] if offset else None)}" if rest else ""
        omitted = rest - 1 if offset else rest
        return rendered(made | without_empty({"missing": missing, "omitted": omitted or None, "cursor": cursor}))

    def _document(self, part: _Part) -> Json:
        assert part.document is not None  # noqa: S101  # callers have looked
        info, text, first_line = part.document.info, part.text, part.first_line
        made: Json = {
            "file": info.file,
            "docid": info.docid,
            "id": str(info.id),
            "title": info.title,
            "first_line": first_line,
            "last_line": first_line + text.count("\n", 0, -1),
            "total_lines": part.document.total_lines,
        }
        more: Json = {
            "context": wire.context_text(part.document.contexts),
            "freshness": part.freshness if part.freshness in {"stale", "gone"} else None,
            "cut": True if part.end is not None else None,
        }
        return made | without_empty(more) | {"text": wire.numbered(text, first_line) if self._numbers else text}

    def _begun(self, cursor: str) -> tuple[int, int]:
        """Where to go on.

        Raises:
            UsageError: that is no cursor of ours.
            ConflictError: the documents are others than those that it was made for.
        """
        if not cursor:
            return 0, 0
        found = _CURSOR.fullmatch(cursor)
        if not found:
            raise UsageError(f"{cursor[:100]!r} is not a cursor.", hint="Give one exactly as an answer had it.")
        place, offset = int(found[1]), int(found[2])
        if place < len(self._wanted):
            part = self._part(self._wanted[place], offset) if offset else None
            if found[3] == self._check(part):
                return place, offset
        raise ConflictError(
            "The documents are not those that the cursor belongs to.", hint="Ask again with the same names, or without."
        )

    def _check(self, part: _Part | None) -> str:
        """What a cursor depends on: the names and, where it stands inside of a document, its content."""
        content = part.document.info.content_hash if part and part.document else ""
        return hashlib.blake2s(f"{self._names} {content}".encode(), digest_size=4).hexdigest()


def _reason(part: _Part) -> str:
    return f"Did you mean one of these? {', '.join(part.similar)}" if part.similar else "There is no such document."


def _nothing(parts: Sequence[_Part]) -> NotFoundError:
    """The error of names none of which means anything."""
    similar = list(dict.fromkeys(name for part in parts for name in part.similar))[:_SIMILAR]
    return NotFoundError(
        f"Document not found: {', '.join(part.wanted.name for part in parts)}",
        hint=f"Did you mean one of these? {', '.join(similar)}" if similar else "See what there is with `list`.",
        details={"similar": similar},
    )
