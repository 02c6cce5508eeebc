"""What users give one by one: a file, a folder, a web address, a data: URI, content with a name.

Each becomes a source like those that a walk finds. A file inside of the collection's own folder is the
document that a walk makes of it, if a walk would; everything else is *ingested*, and only its user takes it
out again. `again` makes the source anew from what the store remembers, for the updates to come.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict
from urllib.parse import quote, unquote

from dowse.errors import ConflictError, SourceError, UsageError
from dowse.ingest import sources
from dowse.ingest.compare import is_same_file
from dowse.ingest.extract import resolve_media_type
from dowse.ingest.intake import Action, Intake, Loaded, Source, walked_source
from dowse.ingest.settings import IndexSettings
from dowse.ingest.sources.data_uris import name_of_data
from dowse.ingest.sources.files import fingerprint_of
from dowse.ingest.sources.given import Given, parse_given, path_of_file_uri
from dowse.ingest.sources.names import normal_name, shown_name
from dowse.ports import Store
from dowse.types import (
    Collection,
    DocumentInfo,
    Event,
    Fingerprint,
    Ingested,
    IngestReport,
    Known,
    LedgerEntry,
    MetadataValue,
    now_ms,
)

__all__ = ["Said", "Web", "again", "forget_failures", "ingest_given", "is_address", "understood", "uri_of_path"]

Web = Literal["leave", "ask", "ask anywhere"]
"""What an update does about web addresses: nothing, ask public ones whether they changed, or private ones too."""
_SAID_OF: Mapping[Action, Literal["added", "replaced", "described", "unchanged"]] = {
    "added": "added",
    "changed": "replaced",
    "moved": "added",
    "described": "described",
    "same": "unchanged",
}
_FILE, _WEB, _CONTENT = "file://", ("http://", "https://"), "content:/"


class Said(TypedDict, total=False):
    """What whoever gives something says of it."""

    metadata: Mapping[str, MetadataValue] | None
    """None: what was said the last time."""
    content_type: str
    """A media type, or a short name of one such as `md`; empty: to be found out."""
    allow_private_urls: bool
    """Whether a web address may lead into a private network."""
    may_follow: Callable[[str], bool]
    """Whether a redirect may be followed to this address; by default to any."""


class _Words(TypedDict):
    """What a source carries of it."""

    declared_type: str
    metadata: Mapping[str, MetadataValue] | None


def understood(given: Iterable[str | Path | Given], said: Said) -> tuple[list[Given], Said]:
    """What these names mean, and what is said of them in one spelling, before anything is read.

    Raises:
        UsageError: one of them means nothing, or something is said that cannot be.
    """
    checked: Said = {**said}
    if content_type := said.get("content_type", ""):
        checked["content_type"] = resolve_media_type(content_type)
    for key, value in (said.get("metadata") or {}).items():
        is_good = all(isinstance(each, str) for each in value) if isinstance(value, list) else _is_simple(value)
        if not (key.strip() and is_good):
            raise UsageError(
                f"{key!r} = {value!r} cannot be metadata.",
                hint="Keys are words; values are texts, numbers, true, false, or lists of texts.",
            )
    return [each if isinstance(each, Given) else parse_given(str(each)) for each in given], checked


def uri_of_path(name: str) -> str | None:
    """The URI of a file or folder that is there and is called so; None for what is not."""
    try:
        given = parse_given(name)
    except UsageError:
        return None
    try:
        return given.uri if given.path is not None and given.path.exists() else None
    except OSError:  # no file has a name that long
        return None


def forget_failures(store: Store, names: Iterable[str], collection: str | None) -> list[str]:
    """Drop what the ledger says of addresses that could not be ingested; returns the names that are none of these."""
    with store.snapshot() as snapshot:
        failed = [entry for entry in snapshot.ledger(collection) if is_address(entry.path)]
    left = []
    for name in names:
        meant = [entry for entry in failed if name in (entry.path, f"{entry.collection}/{entry.path}")]
        for entry in meant:
            store.forget(entry.collection, [entry.path])
        if not meant:
            left.append(name)
    return left


def ingest_given(
    store: Store,
    collection: Collection,
    settings: IndexSettings,
    given: Iterable[Given],
    said: Said,
    *,
    on_event: Callable[[Event], None] | None = None,
) -> IngestReport:
    """Index these, words only; what fails is in the report and in the ledger, and the rest goes on."""
    tell = on_event or (lambda _: None)
    known = store.fingerprints(collection.name)
    intake = Intake(store, collection, settings, known)
    actions: dict[str, Action] = {}
    skipped: list[LedgerEntry] = []
    for done, item in enumerate(_sources(given, collection, known, settings, said), start=1):
        if isinstance(item, LedgerEntry):
            skipped.append(item)
            continue
        tell(Event("read", done, 0, item.path))
        action = intake.take(item)
        if action is not None:
            actions[item.path] = action
    tell(Event("store"))
    intake.flush()
    tell(Event("done", len(actions), len(actions)))
    return IngestReport(
        done=tuple(Ingested(info, _SAID_OF[actions[info.path]]) for info in _infos(store, collection, actions)),
        failed=tuple(entry for entry in intake.refused if entry.state == "failed"),
        skipped=(*skipped, *(entry for entry in intake.refused if entry.state == "skipped")),
    )


def is_address(path: str) -> bool:
    """Whether a document's key is where it comes from, rather than a path in its collection."""
    return path.startswith((_FILE, *_WEB, "data:"))


def again(path: str, known: Known, settings: IndexSettings, store: Store, web: Web) -> Source | None:
    """The source of an ingested document that may have changed since, or must be read in another way; else None."""
    is_current = known.recipe == settings.recipe(known.declared_type or known.media_type)
    if path.startswith(_FILE):
        file = Path(path_of_file_uri(path))
        try:
            now = fingerprint_of(file.stat())
        except OSError:
            return None  # its user, not an update, takes it out
        return None if is_current and is_same_file(now, known.fingerprint) else _file(file, path, settings, {})
    if path.startswith(_WEB):
        said: Said = {"allow_private_urls": web == "ask anywhere"}
        return None if web == "leave" else _web(parse_given(path), settings, said)
    return None if is_current else _kept(path, known, store)


def _sources(
    given: Iterable[Given], collection: Collection, known: Mapping[str, Known], settings: IndexSettings, said: Said
) -> Iterator[Source | LedgerEntry]:
    for each in given:
        if each.path is not None:
            yield from _files(each.path, collection, settings, said)
        elif each.data is None:
            yield _web(each, settings, said)
        else:
            yield _content(each, known, settings, said)


def _files(path: Path, collection: Collection, settings: IndexSettings, said: Said) -> Iterator[Source | LedgerEntry]:
    """The file, or every file that a walk of the folder finds."""
    if not path.is_dir():
        yield _owned(path, collection, settings, said)
        return
    for item in sources.walk(path, max_file_size=settings.max_file_size):
        if isinstance(item, sources.Found):
            if not Path(item.real).is_relative_to(path):
                raise SourceError(
                    f"A link has taken the place of {path}.",
                    reason="changing",
                    hint="If that is meant, name the place that it leads to.",
                )
            yield _owned(Path(item.real), collection, settings, said)
        else:
            uri = (path / item.path).as_uri()
            yield LedgerEntry(
                collection.name, uri, item.state, item.code, item.reason, item.hint, now_ms(), item.fingerprint
            )


def _owned(path: Path, collection: Collection, settings: IndexSettings, said: Said) -> Source:
    """A file as what it is to this collection: a part of its folder, or something from elsewhere."""
    root = collection.root
    if root is not None and path.is_relative_to(root):
        below = normal_name(path.relative_to(root).as_posix()) or ""
        walk = sources.walk(
            Path(root),
            collection.pattern,
            exclude=collection.exclude,
            max_file_size=settings.max_file_size,
            only=sources.Selection([below]),
        )
        for item in walk:
            if isinstance(item, sources.Found) and item.path == below:
                found = walked_source(item, settings.max_file_size)
                return replace(found, **_words(said))
    return _file(path, path.as_uri(), settings, said)


def _file(path: Path, uri: str, settings: IndexSettings, said: Said) -> Source:
    def load(_: Fingerprint | None) -> Loaded:
        return Loaded(*sources.read(path, settings.max_file_size))

    name = normal_name(path.name) or shown_name(path.name)
    return Source(uri, uri, name, "ingested", load, **_words(said))


def _web(given: Given, settings: IndexSettings, said: Said) -> Source:
    def load(before: Fingerprint | None) -> Loaded | None:
        from dowse.ingest.sources.addresses import AddressPolicy  # who reads files need not load a web client
        from dowse.ingest.sources.web import FetchLimits, NotModified, fetch

        limits = FetchLimits(max_bytes=settings.max_file_size)
        policy = AddressPolicy(said.get("allow_private_urls", False), said.get("may_follow", lambda _: True))
        answer = fetch(given.uri, limits=limits, policy=policy, before=before)
        if isinstance(answer, NotModified):
            return None
        return Loaded(answer.data, answer.fingerprint, answer.media_type, charset=answer.charset, name=answer.name)

    return Source(given.uri, given.uri, given.name, "ingested", load, **_words(said))


def _content(given: Given, known: Mapping[str, Known], settings: IndexSettings, said: Said) -> Source:
    """What came along with its name."""
    data = given.data or b""
    if len(data) > settings.max_file_size:
        raise UsageError(
            f"{given.name} has {len(data):,} bytes; the limit is {settings.max_file_size:,}.",
            hint="Raise max_file_size, or give it in parts.",
        )

    def load(_: Fingerprint | None) -> Loaded:
        print_ = Fingerprint(len(data), 0)
        return Loaded(data, print_, given.media_type, charset=given.charset, must_keep=True)

    path = unquote(given.uri.removeprefix(_CONTENT)) if given.kind == "content" else given.uri
    taken = known.get(path)
    if taken is not None and taken.id is not None and taken.origin == "walked":
        raise ConflictError(f"There is a file named {path} in this collection.", hint="Choose another name.")
    return Source(path, given.uri, given.name, "ingested", load, **_words(said))


def _kept(path: str, known: Known, store: Store) -> Source | None:
    """What came without an address, from the bytes that were kept of it."""
    data = store.original(known.content_hash)
    if data is None:
        return None

    def load(_: Fingerprint | None) -> Loaded:
        return Loaded(data, known.fingerprint, known.media_type)

    if path.startswith("data:"):
        return Source(path, path, name_of_data(known.content_hash), "ingested", load)
    return Source(path, _CONTENT + quote(path), path.rpartition("/")[2], "ingested", load)


def _words(said: Said) -> _Words:
    return {"declared_type": said.get("content_type", ""), "metadata": said.get("metadata")}


def _is_simple(value: object) -> bool:
    return isinstance(value, str | int | float)


def _infos(store: Store, collection: Collection, paths: Mapping[str, Action]) -> list[DocumentInfo]:
    """The documents at these paths, in this order."""
    prefix = next(iter(paths)) if len(paths) == 1 else ""
    with store.snapshot() as snapshot:
        found = {info.path: info for info in snapshot.documents(collection.name, prefix=prefix)}
    return [found[path] for path in paths if path in found]
