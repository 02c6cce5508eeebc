"""Documents as JSON and back. What comes from a file is somebody else's: every value is checked before it counts."""

import base64
import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar
from uuid import UUID

from dowse.errors import SourceError
from dowse.types import Chunk, Chunking, Collection, Content, Context, DocumentInfo, Draft, Fingerprint, ModelIdentity

__all__ = ["Malformed", "draft_from", "draft_to", "head_from", "loads", "model_from"]

_Kind = TypeVar("_Kind")

_LONGEST_NAME = 4_096
_LARGEST = 1 << 62
_HASH = re.compile(r"[0-9a-f]{64}")
_WEB = re.compile(r"https?://[^\s\x00-\x1f]{1,4000}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEEPEST_HEADING = 6
_MOST_TOKENS = 1 << 20


class Malformed(SourceError):  # noqa: N818 - it is raised with the problem as its end: Malformed("it is encrypted")
    """The file does not say what such files say."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The file is damaged, or no collection that Dowse exported: {problem}.",
            reason="malformed",
            hint="Export it again: dowse export COLLECTION FILE",
        )


def loads(text: bytes) -> Any:
    """JSON without the numbers that are none."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Malformed("it is no JSON") from error


def draft_to(draft: Draft) -> dict[str, Any]:
    """One line of a part: a document, with its content where that is new."""
    info, content = draft.info, draft.content
    print_ = info.fingerprint
    return {
        "id": str(info.id),
        "path": info.path,
        "uri": "" if info.origin == "walked" else info.uri,
        "title": info.title,
        "hash": info.content_hash,
        "media_type": info.media_type,
        "declared_type": info.declared_type,
        "origin": info.origin,
        "metadata": dict(info.metadata),
        "size": print_.size,
        "mtime_ns": print_.mtime_ns,
        "etag": print_.etag,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
        "recipe": draft.recipe,
        "content": None if content is None else _content_to(content),
        "original": None if draft.original is None else base64.b64encode(draft.original).decode(),
    }


def _content_to(content: Content) -> dict[str, Any]:
    return {
        "text": content.text,
        "title": content.title,
        "metadata": dict(content.metadata),
        "chunks": [{name: value for name, value in asdict(each).items() if name != "text"} for each in content.chunks],
    }


def draft_from(line: bytes) -> Draft:
    """The reverse."""
    made = _object(loads(line))
    origin = _one_of(made, "origin", ("walked", "ingested"))
    path = _path(made, origin)
    info = DocumentInfo(
        id=_uuid(made),
        collection="",
        path=path,
        uri="" if origin == "walked" else _address(made, path),
        title=_text(made, "title", _LONGEST_NAME),
        content_hash=_hash(made),
        media_type=_text(made, "media_type", 255),
        origin="walked" if origin == "walked" else "ingested",
        fingerprint=Fingerprint(_whole(made, "size"), _whole(made, "mtime_ns"), etag=_text(made, "etag", 1_024)),
        metadata=_metadata(made, "metadata"),
        created_at=_whole(made, "created_at"),
        updated_at=_whole(made, "updated_at"),
        declared_type=_text(made, "declared_type", 255),
    )
    content = None if made.get("content") is None else _content_from(_object(made["content"]))
    return Draft(info, _text(made, "recipe", _LONGEST_NAME), content, _original(made))


def _content_from(made: Mapping[str, Any]) -> Content:
    text = _text(made, "text", _LARGEST)
    title = None if made.get("title") is None else _text(made, "title", _LONGEST_NAME)
    chunks = tuple(_chunk_from(_object(each), text) for each in _value(made, "chunks", list))
    return Content(text, title, chunks, _metadata(made, "metadata"))


def _chunk_from(made: Mapping[str, Any], text: str) -> Chunk:
    start, end = _whole(made, "start"), _whole(made, "end")
    if not start <= end <= len(text):
        raise Malformed("a passage stands outside of its text")
    headings = _value(made, "headings", list)
    if not all(isinstance(each, str) and len(each) <= _LONGEST_NAME for each in headings):
        raise Malformed("a heading is no text")
    return Chunk(
        text[start:end],
        start,
        end,
        _whole(made, "first_line"),
        _whole(made, "last_line"),
        _whole(made, "tokens", _MOST_TOKENS),
        tuple(headings),
        _whole(made, "level", _DEEPEST_HEADING),
        None if made.get("page") is None else _whole(made, "page"),
        _metadata(made, "place"),
    )


def head_from(made: Mapping[str, Any]) -> tuple[Collection, tuple[Context, ...], ModelIdentity | None]:
    """What the first member says of the collection."""
    known = _object(made.get("collection"))
    name = _text(known, "name", 255)
    exclude = _value(known, "exclude", list)
    if not all(isinstance(each, str) and "\n" not in each for each in exclude):
        raise Malformed("a pattern is no text")
    chunking = known.get("chunking") and _object(known["chunking"])
    collection = Collection(
        name,
        pattern=_text(known, "pattern", _LONGEST_NAME),
        included=_value(known, "included", bool),
        description=_text(known, "description", 1 << 16),
        exclude=tuple(exclude),
        chunking=Chunking(*(_whole(chunking, each.name, 4_096) for each in fields(Chunking))) if chunking else None,
        settings=_metadata(known, "settings"),
    )
    contexts = tuple(
        Context(name, _text(_object(each), "prefix", _LONGEST_NAME), _text(_object(each), "text", 1 << 16))
        for each in _value(made, "contexts", list)
    )
    return collection, contexts, model_from(made.get("model"))


def model_from(made: Any) -> ModelIdentity | None:
    """The identity of a model; None where no vectors come along."""
    if made is None:
        return None
    known = _object(made)
    texts = {
        name: _text(known, name, 1_024)
        for name in ("name", "weights", "pooling", "precision", "query_prefix", "passage_prefix", "language")
    }
    return ModelIdentity(**texts, dims=_whole(known, "dims", 1 << 16), max_tokens=_whole(known, "max_tokens"))


def _object(made: Any) -> Mapping[str, Any]:
    if not isinstance(made, dict):
        raise Malformed("an object is missing")
    return made


def _value(made: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    value = made.get(name)
    if not isinstance(value, kind):
        raise Malformed(f"{name} is missing or of a wrong kind")
    return value


def _text(made: Mapping[str, Any], name: str, longest: int) -> str:
    value = _value(made, name, str)
    if len(value) > longest:
        raise Malformed(f"{name} is too long")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Malformed(f"{name} is no Unicode") from error
    return value


def _whole(made: Mapping[str, Any], name: str, largest: int = _LARGEST) -> int:
    value = _value(made, name, int)
    if isinstance(value, bool) or not 0 <= value <= largest:
        raise Malformed(f"{name} is out of range")
    return value


def _one_of(made: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    value = _value(made, name, str)
    if value not in choices:
        raise Malformed(f"{name} is none of {', '.join(choices)}")
    return value


def _metadata(made: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = _value(made, name, dict)
    for value in found.values():
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        is_number = isinstance(value, int | float) and math.isfinite(value) and abs(value) <= _LARGEST
        if not (isinstance(value, str) or is_list or is_number):
            raise Malformed(f"{name} has a value of a wrong kind")
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Malformed(f"{name} is no Unicode") from error
    return found


def _path(made: Mapping[str, Any], origin: str) -> str:
    """A path below a folder, or the address of a page: nothing that leads to a file elsewhere on this machine."""
    path = _text(made, "path", _LONGEST_NAME)
    if origin == "ingested" and (_WEB.fullmatch(path) or path.startswith("data:sha256,")):
        return path
    odd = [_CONTROL.search(path), {"", ".", ".."} & set(path.split("/")), os.name == "nt" and re.search(r"[\\:]", path)]
    if any(odd) or (origin == "ingested" and _SCHEME.match(path)):
        raise Malformed("a path is none below a folder")
    return path


def _address(made: Mapping[str, Any], path: str) -> str:
    uri = _text(made, "uri", _LONGEST_NAME)
    if uri != path and not uri.startswith("content:/"):
        raise Malformed("an address is none of the web")
    return uri


def _hash(made: Mapping[str, Any]) -> str:
    value = _value(made, "hash", str)
    if not _HASH.fullmatch(value):
        raise Malformed("a hash is none")
    return value


def _uuid(made: Mapping[str, Any]) -> UUID:
    try:
        return UUID(_value(made, "id", str))
    except ValueError as error:
        raise Malformed("an id is none") from error


def _original(made: Mapping[str, Any]) -> bytes | None:
    value = made.get("original")
    if value is None:
        return None
    try:
        return base64.b64decode(_value(made, "original", str), validate=True)
    except ValueError as error:
        raise Malformed("the original bytes are none") from error
