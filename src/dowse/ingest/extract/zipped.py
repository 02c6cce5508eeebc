"""The zip container of Office files and e-books, and the XML in it, read without trusting either.

Every size is bounded by what was really read, not by what a header says: per member, for the archive as a
whole, and by how much smaller the compressed form is. XML may name a document type, as XHTML does, but not
declare anything in it: no entity is ever defined, fetched or expanded, and nesting is bounded.
"""

import pyexpat
import zipfile
from collections.abc import Container, Iterator
from io import BytesIO
from typing import NoReturn, Protocol
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from dowse.errors import SourceError

__all__ = ["Archive", "Target", "damaged", "too_large"]

_MEGABYTE = 1 << 20
_PIECE = 1 << 16
_MOST_MEMBERS = 100_000
_LARGEST_MEMBER = 256 * _MEGABYTE
_LARGEST_WHOLE = 64 * _MEGABYTE
"""Of a member that is held in memory at once."""
_LARGEST_TOTAL = 512 * _MEGABYTE
_HIGHEST_RATIO = 100
_RATIO_FROM = 8 * _MEGABYTE
"""Below this size no ratio is suspicious: a few hundred empty rows shrink to nothing."""
_DEEPEST = 256
_MOST_ELEMENTS = 2_000_000
"""In one tree."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
# "Strict" Office files differ from all others in nothing but these addresses.
_STRICT = b"http://purl.oclc.org/ooxml/"
_SCHEMAS = b"http://schemas.openxmlformats.org/"
_STRICT_NAMES = tuple(
    (_STRICT + strict + b'"', _SCHEMAS + usual + b'"')
    for strict, usual in (
        (b"wordprocessingml/main", b"wordprocessingml/2006/main"),
        (b"spreadsheetml/main", b"spreadsheetml/2006/main"),
        (b"presentationml/main", b"presentationml/2006/main"),
        (b"drawingml/main", b"drawingml/2006/main"),
        (b"drawingml/chart", b"drawingml/2006/chart"),
        (b"drawingml/diagram", b"drawingml/2006/diagram"),
        (b"officeDocument/math", b"officeDocument/2006/math"),
        (b"officeDocument/relationships", b"officeDocument/2006/relationships"),
    )
)


class Target(Protocol):
    """What takes the parts of an XML document while it is read; tags and attributes are named `{namespace}name`."""

    def start(self, tag: str, attributes: dict[str, str], /) -> object:
        """An element begins."""
        ...

    def end(self, tag: str, /) -> object:
        """An element ends."""
        ...

    def data(self, text: str, /) -> object:
        """A piece of text; one text may come in several."""
        ...


class Archive:
    """The members of a zip file that is held in memory.

    Raises:
        SourceError: from every method; reason `damaged`, `empty`, `encrypted` or `too_large`.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._left = _LARGEST_TOTAL
        if not data:
            raise SourceError(f"{name} is empty.", reason="empty", hint="Replace it by a sound copy, or delete it.")
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except Exception as error:  # whatever a broken header trips zipfile over
            raise damaged(name, "it is no complete zip archive") from error
        members = self._zip.infolist()
        if len(members) > _MOST_MEMBERS:
            raise too_large(name, f"it has {len(members):,} members")
        # Names are compared as Windows does, which made most of these files. Of two members with one name
        # the later one was appended to replace the other.
        files = [member for member in members if not member.filename.endswith("/")]
        self._members = {_plain(member.filename).lower(): member for member in files}
        self.names = tuple(dict.fromkeys(_plain(member.filename) for member in self._members.values()))
        """The names of all members, in the archive's order, with plain slashes."""

    def __contains__(self, member: str) -> bool:
        return _plain(member).lower() in self._members

    def read(self, member: str) -> bytes:
        """The whole content of a member, at most 64 MB."""
        if self._find(member).file_size > _LARGEST_WHOLE:
            raise too_large(self.name, f"{member} in it has more than {_LARGEST_WHOLE // _MEGABYTE} MB")
        return b"".join(self.pieces(member))

    def pieces(self, member: str) -> Iterator[bytes]:
        """The content of a member, at most 256 MB, piece by piece."""
        info = self._find(member)
        try:
            with self._zip.open(info) as stream:
                while piece := stream.read(_PIECE):
                    self._left -= len(piece)
                    if self._left < 0:
                        raise too_large(self.name, f"it unpacks to more than {_LARGEST_TOTAL // _MEGABYTE} MB")
                    yield piece
        except SourceError:
            raise
        except Exception as error:  # the same, and errors of zlib's own
            raise damaged(self.name, f"{member} in it cannot be unpacked") from error

    def xml(self, member: str) -> Element:
        """The root element of a member."""
        tree = _Trees(self.name, None)
        for _ in self.feed(member, tree):
            pass
        return tree.ready[0]

    def elements(self, member: str, tags: Container[str]) -> Iterator[Element]:
        """The outermost elements of a member with one of these tags, each as soon as it is complete.

        What they hold is in memory only until the next one is asked for, what lies around them never.
        """
        trees = _Trees(self.name, tags)
        for _ in self.feed(member, trees):
            yield from trees.ready
            trees.ready.clear()

    def feed(self, member: str, target: Target) -> Iterator[None]:
        """Parse a member into a target; yields after each piece, so that the target's finds can be taken out."""
        parser = XMLParser(target=target)  # noqa: S314 - declarations are refused, see _check_prolog
        checked = False
        rest = b""
        try:
            for piece in self.pieces(member):
                if not checked:
                    _check_prolog(piece, self.name, member)
                    checked = True
                parsed, rest = _usual_names(rest + piece)
                parser.feed(parsed)
                yield
            parser.feed(rest)
            parser.close()
        except (ParseError, ValueError, LookupError) as error:
            raise damaged(self.name, f"{member} in it is no well-formed XML") from error
        yield

    def _find(self, member: str) -> zipfile.ZipInfo:
        info = self._members.get(_plain(member).lower())
        if info is None:
            raise damaged(self.name, f"{member} is missing in it")
        if info.flag_bits & _ENCRYPTED:
            raise SourceError(
                f"{self.name} is encrypted.", reason="encrypted", hint="Save a copy without a password and index that."
            )
        if info.compress_type not in _METHODS:
            raise damaged(self.name, f"{member} in it is packed in a way that this kind of file may not use")
        size = info.file_size
        if size > _LARGEST_MEMBER:
            raise too_large(self.name, f"{member} in it has more than {_LARGEST_MEMBER // _MEGABYTE} MB")
        if size > _RATIO_FROM and size > _HIGHEST_RATIO * info.compress_size:
            raise too_large(self.name, f"{member} in it unpacks to more than {_HIGHEST_RATIO} times its size")
        return info


class _Trees:
    """Builds the outermost elements with one of the tags, or the root, and leaves the rest."""

    __slots__ = ("_builder", "_count", "_depth", "_name", "_since", "_tags", "ready")

    def __init__(self, name: str, tags: Container[str] | None) -> None:
        self._name = name
        self._tags = tags
        self._depth = 0
        self._since = 0
        """The depth of the element that is being built."""
        self._count = 0
        self.ready: list[Element] = []
        self._builder = TreeBuilder()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin a tree, or a part of the one that is being built."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise damaged(self._name, f"it nests more than {_DEEPEST} levels deep")
        if not self._since:
            if self._tags is not None and tag not in self._tags:
                return
            self._since = self._depth
            self._count = 0
            self._builder = TreeBuilder()
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise too_large(self._name, f"one part of it has more than {_MOST_ELEMENTS:,} elements")
        self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        """End an element, and perhaps the tree."""
        if self._since:
            self._builder.end(tag)
            if self._depth == self._since:
                self._since = 0
                self.ready.append(self._builder.close())
        self._depth -= 1

    def data(self, text: str) -> None:
        """Keep text that stands in a tree."""
        if self._since:
            self._builder.data(text)


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")


class _RootFoundError(Exception):
    """Ends the look at a prolog: from the root element on nothing can be declared any more."""


def _check_prolog(beginning: bytes, name: str, member: str) -> None:
    """Refuse a document that declares anything, or whose first 64 KB are not enough to tell."""

    def doctype(_root: str, _system: str | None, _public: str | None, declares: bool) -> None:  # noqa: FBT001 - expat's own signature
        if declares:
            raise damaged(name, f"{member} in it declares entities, which no such file may do")

    def root(_tag: str, _attributes: dict[str, str]) -> NoReturn:
        raise _RootFoundError

    parser = pyexpat.ParserCreate()
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = root
    try:
        parser.Parse(beginning, False)
    except _RootFoundError:
        return
    except (pyexpat.ExpatError, ValueError, LookupError) as error:
        raise damaged(name, f"{member} in it is no well-formed XML") from error
    raise damaged(name, f"{member} in it holds no XML")


def _usual_names(piece: bytes) -> tuple[bytes, bytes]:
    """The piece up to the end of its last tag, with the usual names for the strict ones, and what is left."""
    cut = piece.rfind(b">") + 1 or len(piece)
    whole = piece[:cut]
    if _STRICT in whole:
        for strict, usual in _STRICT_NAMES:
            whole = whole.replace(strict, usual)
    return whole, piece[cut:]


def damaged(name: str, problem: str) -> SourceError:
    """The error of a file that is not what its name says, or not all of it."""
    return SourceError(
        f"{name} is damaged: {problem}.",
        reason="damaged",
        hint="Open it in the program that made it and save it again, or replace it by a sound copy.",
    )


def too_large(name: str, problem: str) -> SourceError:
    """The error of a file beyond the limits that keep indexing bounded."""
    return SourceError(
        f"{name} is too large to be read: {problem}.",
        reason="too_large",
        hint="Split it into smaller files, or add it to .dowseignore.",
    )
