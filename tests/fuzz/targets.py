"""What is fuzzed: each target takes bytes, and lets nothing out but what its users are told to expect.

A target raises when something else happens: that is a finding. Its seeds are sound inputs, which `mutating` spoils.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from dowse import DowseError
from dowse.interfaces.mcp.dialects import DIALECTS
from fuzz.kept import DISK, opened, seeds_of_files
from fuzz.samples import FILES, sample

__all__ = ["TARGETS", "Target"]


class Target(NamedTuple):
    """One row of the table."""

    run: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _query(data: bytes) -> None:
    from dowse.search.syntax import parse

    parsed = parse(data.decode("utf-8", "replace"))
    assert parse(str(parsed)) == parsed, "a query reads differently when it is written again"
    try:
        assert parsed.filter is None or parsed.filter
    except DowseError:
        return


def _filters(data: bytes) -> None:
    from dowse.filters import from_flat, from_operators

    try:
        conditions = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(conditions, dict):
        return
    for read in (from_flat, from_operators):
        try:
            read(conditions)
        except DowseError:
            continue


def _addresses(data: bytes) -> None:
    from dowse.ingest.sources.addresses import is_literal, is_public
    from dowse.ingest.sources.urls import parse_url

    try:
        url = parse_url(_text(data))
    except DowseError:
        return
    assert parse_url(url.text) == url, "an address has two spellings"
    if is_literal(url.host):
        is_public(url.host)


def _paths(data: bytes) -> None:
    from dowse.ingest.sources.given import given_content, parse_given, path_of_file_uri
    from dowse.interfaces.mcp.access import Access

    text = _text(data)
    root = _folder()
    for use in (
        partial(parse_given, text, base=root),
        partial(path_of_file_uri, text, windows=True),
        partial(given_content, b"x", text),
    ):
        try:
            use()
        except DowseError:
            continue
    try:
        allowed = Access.over_http([root]).check_path(text)
    except DowseError:
        return
    assert allowed.is_relative_to(root), "a path leads out"


def _names(data: bytes) -> None:
    from dowse.ingest.sources.patterns import IgnoreRules, PathPattern
    from dowse.search.references import parse_citation
    from dowse.text.globs import compile_glob

    text = _text(data)
    parse_citation(text)
    for use in (
        lambda: compile_glob(text).fullmatch("notes/a.md"),
        lambda: PathPattern(text).matches("notes/a.md"),
        lambda: IgnoreRules(text.splitlines()).decide("notes/a.md", "a.md", is_folder=False),
    ):
        try:
            use()
        except DowseError:
            continue


def _reader(name: str, data: bytes) -> None:
    from dowse.ingest.extract.formats import FORMATS
    from dowse.ingest.extract.limits import Limits, extract_within_limits
    from ingest.extract.checking import check, read_or_refuse

    media_type = sample(name)[0]
    if not any(each.media_type == media_type and each.family == "code" for each in FORMATS):
        read_or_refuse(data, media_type)
        return
    # Parsers of programming languages are C, and only ever run in a process that may die.
    try:
        check(extract_within_limits(data, media_type, "some file", Limits(seconds=60, memory=1 << 30)))
    except DowseError as error:
        assert error.reason not in {"internal", "no_process"}  # noqa: PT017 - no test, a target


def _chunks(data: bytes) -> None:
    from dowse.ingest.chunk import chunk
    from dowse.ingest.extract import extract
    from dowse.text.tokens import TokenCounter
    from dowse.types import Chunking

    try:
        extracted = extract(data, "text/markdown", "a.md")
    except DowseError:
        return
    for each in chunk(extracted, TokenCounter(None), Chunking(max_tokens=48)):
        assert 0 <= each.start <= each.end <= len(extracted.text)


def _messages(data: bytes) -> None:
    """A line of JSON-RPC, as the way in from stdin reads it."""
    from mcp_types import jsonrpc_message_adapter
    from pydantic import ValidationError

    from dowse.interfaces.mcp.stdio import _complaint

    try:
        jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError as error:
        assert _complaint(error).error.code in {-32700, -32600}  # noqa: PT017 - no test, a target


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="dowse-fuzz-")).resolve()


_QUERIES = (
    b'zebra "old road" -stripe',
    b"lex: a\nvec: b\nintent: c",
    b'title:tea after:2026-01-01 "a b"~3 x*',
    b"path:*.md OR (a b)",
)
_FILTERS = (
    b'{"collection": "notes", "tags": ["a"]}',
    b'{"$and": [{"path": {"$glob": "a/*"}}, {"n": {"$gte": 1.5, "$lt": 2}}], "$not": {"x": {"$in": [1, "2", null]}}}',
)
_URLS = (
    b"https://example.org:8080/a/../b?c=%41#d",
    b"http://[::ffff:127.0.0.1]/",
    b"HTTP://0x7f.1/\\x",
    "http://bücher.example。/é".encode(),
)
_PATHS = (b"notes/../a.md", b"file:///C:/a/b.md", b"~/x", b"file://localhost/%2e%2e/x#L1", b"a\\b:c")
_NAMES = (
    b"**/*.{md,txt}",
    b"dowse://notes/a%20b.md?hash=1c291ca3d1a2&chars=1-4#L1-L2",
    b"!/a/**/b[!a-z].md\n*.py\n",
    b"notes.md:120:40",
)
_MESSAGES = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}',
)  # fmt: skip

_KINDS = ("database", "words", "vectors")


def _http(data: bytes) -> None:
    from fuzz.served import ask_http  # servers are heavy, and most targets have none

    ask_http(data)


def _http_seeds() -> Sequence[bytes]:
    from fuzz.served import http_seeds

    return http_seeds()


def _talk(dialect: str, data: bytes) -> None:
    from fuzz.served import talk

    talk(dialect, data)


def _talk_seeds(dialect: str) -> Sequence[bytes]:
    from fuzz.served import rpc_seeds

    return rpc_seeds(dialect)


TARGETS: Mapping[str, Target] = {
    "query": Target(_query, lambda: _QUERIES),
    "filters": Target(_filters, lambda: _FILTERS),
    "addresses": Target(_addresses, lambda: _URLS),
    "paths": Target(_paths, lambda: _PATHS),
    "names": Target(_names, lambda: _NAMES),
    "messages": Target(_messages, lambda: _MESSAGES),
    "chunks": Target(_chunks, lambda: [sample("markdown")[1]]),
    **{f"read-{name}": Target(partial(_reader, name), partial(lambda name: [sample(name)[1]], name)) for name in FILES},
    "http": Target(_http, _http_seeds),
    **{f"rpc-{name}": Target(partial(_talk, name), partial(_talk_seeds, name)) for name in DIALECTS},
    **{f"open-{kind}": Target(partial(opened, kind), partial(seeds_of_files, kind)) for kind in _KINDS},
    **{f"open-{kind}": Target(*how) for kind, how in DISK.items()},
}
