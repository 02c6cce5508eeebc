"""EPUB: the chapters of an e-book in reading order, each a unit, under the headings of its table of contents.

A book is a zip of XHTML pages, of a package file that puts them in order, and of a table of contents. Only
the pages must be sound: a package that is broken leaves the pages in the order of the archive, a missing
table of contents leaves chapters without a heading as they are.
"""

import posixpath
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.hypertext.reading import decode_html, read_html, read_parts, write_page
from dowse.ingest.extract.hypertext.tokens import attributes_of, tokens, unescaped
from dowse.ingest.extract.zipped import Archive, damaged
from dowse.types import MetadataValue

__all__ = ["extract_epub"]

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")
_PAGES = (".xhtml", ".html", ".htm", ".xml")
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
# Fonts that are only made harder to copy.
_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_MOST_TOKENS = 4_000_000
"""Tags and texts of a book; the longest novels have some 100,000."""
_BAD_PAGE = frozenset({"binary", "damaged"})
"""Why one page is left out and the others are read."""
_LONGEST_TITLE = 300
_LONGEST_VALUE = 2_000
_MOST_VALUES = 50
_MOST_NAMED = 5
_FIELDS = {
    "creator": "author",
    "language": "language",
    "date": "created",
    "subject": "tags",
    "publisher": "publisher",
    "description": "description",
    "identifier": "identifier",
}
_LISTS = frozenset({"tags"})


class _Page(NamedTuple):
    """A file of the reading order."""

    path: str
    is_contents: bool = False


class _Package(NamedTuple):
    """What the package file says."""

    pages: list[_Page]
    contents: tuple[str, ...] = ()
    """The files that may hold the table of contents, the better first."""
    title: str | None = None
    metadata: Mapping[str, MetadataValue] = MappingProxyType({})


def extract_epub(data: bytes, name: str) -> Extracted:
    """Read an e-book.

    Raises:
        SourceError: reason `encrypted` for a book under digital rights management, and those of `Archive`.
    """
    archive = Archive(data, name)
    package = _package(archive)
    _refuse_encrypted(archive, package)
    titles = _titles(archive, package.contents)
    composer = Composer(len(data))
    lost: list[str] = []
    room = _MOST_TOKENS
    for page in package.pages:
        if page.is_contents and len(package.pages) > 1:
            continue
        markup = _markup(archive, page.path)
        if markup is None:
            lost.append(posixpath.basename(page.path))
            continue
        if room < 0 or composer.full:
            composer.cut("the book is longer than the limit")
            break
        room -= _write_chapter(composer, markup, titles.get(page.path.lower(), ""))
    if lost:
        names = ", ".join(lost[:_MOST_NAMED])
        more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
        composer.cut(f"pages are missing or damaged: {names}{more}")
    extracted = composer.extracted(package.title, package.metadata)
    if extracted.blocks:
        return extracted
    if reason := extracted.metadata.get("truncated_reason"):
        raise damaged(name, str(reason))
    raise SourceError(f"{name} has no text.", reason="empty", hint="Pictures alone cannot be searched by words.")


def _write_chapter(composer: Composer, markup: str, title: str) -> int:
    """Write a chapter; returns how many tags and texts it took."""
    page, parts = read_parts(markup, whole=True, local_links=False)
    headings = [part.text for part in parts if part.kind == "heading"]
    chapter = title or (headings[0] if headings else page.title)
    if parts:
        composer.unit(place={"chapter": chapter[:_LONGEST_TITLE]} if chapter else {})
        if not headings:
            composer.heading(1, title)
        write_page(composer, page, parts)
    return page.tokens


def _package(archive: Archive) -> _Package:
    """The reading order, or all pages in the order of the archive where it cannot be had."""
    try:
        path = _package_path(archive)
        package = _read_package(archive.xml(path), posixpath.dirname(path))
    except SourceError as error:
        if error.reason != "damaged":
            raise
        package = _Package([])
    if package.pages:
        return package
    pages = [_Page(member) for member in archive.names if member.lower().endswith(_PAGES[:-1])]
    if not pages:
        raise damaged(archive.name, "it holds no page of a book")
    return package._replace(pages=pages)


def _package_path(archive: Archive) -> str:
    if _CONTAINER in archive:
        for element in archive.xml(_CONTAINER).iter():
            path = element.get("full-path", "")
            if _local(element.tag) == "rootfile" and path in archive:
                return path
    return next((member for member in archive.names if member.lower().endswith(".opf")), "")


def _read_package(root: Element, folder: str) -> _Package:
    title: str | None = None
    metadata: dict[str, MetadataValue] = {}
    items: dict[str, _Page] = {}
    pages: list[_Page] = []
    contents: list[str] = []
    for element in root.iter():
        name = _local(element.tag)
        if name == "item":
            path = _resolved(folder, element.get("href", ""))
            is_contents = "nav" in element.get("properties", "").split()
            if is_contents:
                contents.insert(0, path)
            elif path.lower().endswith(".ncx"):
                contents.append(path)
            if element.get("media-type", "").lower() in _PAGE_TYPES or path.lower().endswith(_PAGES):
                items[element.get("id", "")] = _Page(path, is_contents)
        elif name == "itemref" and element.get("idref", "") in items:
            pages.append(items[element.get("idref", "")])
        elif name == "title":
            title = title or _words(element) or None
        elif name == "meta" and element.get("property") == "dcterms:modified" and _words(element):
            metadata["modified"] = _words(element)
        elif name in _FIELDS:
            _add(metadata, _FIELDS[name], _words(element))
    return _Package(list(dict.fromkeys(pages)), tuple(contents), title, metadata)


def _add(metadata: dict[str, MetadataValue], key: str, value: str) -> None:
    if key == "description" and "<" in value:
        value = " ".join(read_html(value, whole=True).text.split())
    before = metadata.get(key)
    if not value:
        return
    if key in _LISTS or (key == "author" and before):
        values = before if isinstance(before, list) else [str(before)] if before else []
        metadata[key] = list(dict.fromkeys([*values, value]))[:_MOST_VALUES]
    elif not before:
        metadata[key] = value


def _refuse_encrypted(archive: Archive, package: _Package) -> None:
    if _ENCRYPTION not in archive:
        return
    pages = {page.path.lower() for page in package.pages}
    for element in archive.xml(_ENCRYPTION).iter():
        if _local(element.tag) != "EncryptedData":
            continue
        methods = {part.get("Algorithm", "") for part in element.iter() if _local(part.tag) == "EncryptionMethod"}
        paths = {_resolved("", part.get("URI", "")).lower() for part in element.iter()}
        if not methods <= set(_OBFUSCATION) and (paths & pages or any(right in archive for right in _RIGHTS)):
            raise SourceError(
                f"{archive.name} is under digital rights management.",
                reason="encrypted",
                hint="Index a copy without it, if the seller offers one.",
            )


def _titles(archive: Archive, contents: tuple[str, ...]) -> dict[str, str]:
    """The title that the table of contents gives each file, by its path in lower case."""
    for path in contents:
        titles: dict[str, str] = {}
        for address, title in _entries(_markup(archive, path) or ""):
            target = _resolved(posixpath.dirname(path), address).lower()
            titles.setdefault(target, title[:_LONGEST_TITLE])
        if titles:
            return titles
    return {}


def _markup(archive: Archive, path: str) -> str | None:
    """The markup of one page, None where it is missing or no text: the others may be sound."""
    try:
        return decode_html(archive.read(path), path)
    except SourceError as error:
        if error.reason not in _BAD_PAGE:
            raise
        return None


def _entries(markup: str) -> Iterator[tuple[str, str]]:
    """Addresses and titles of either kind of table: `a` with its text, or `text` and the `content` after it."""
    address: str | None = None
    words: list[str] = []
    skips = False
    for kind, value, written, _ in tokens(markup, xml=True):
        if kind == "text":
            words.append(unescaped(value))
        elif value == "nav":
            # Besides the contents there may be lists of pages and of landmarks.
            skips = kind == "start" and "toc" not in attributes_of(written).get("epub:type", "toc")
        elif value in {"a", "text"} and kind == "start":
            address, words = attributes_of(written).get("href"), []
        elif value == "a" and address and not skips:
            yield address, " ".join("".join(words).split())
        elif value == "content" and kind == "start":
            yield attributes_of(written).get("src", ""), " ".join("".join(words).split())


def _resolved(folder: str, address: str) -> str:
    path = unquote(address.partition("#")[0])
    return posixpath.normpath(posixpath.join(folder, path)).lstrip("/") if path else ""


def _local(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _words(element: Element) -> str:
    return " ".join("".join(element.itertext())[:_LONGEST_VALUE].split())
