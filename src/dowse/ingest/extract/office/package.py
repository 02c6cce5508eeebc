"""The package that Word, PowerPoint and Excel files share: parts, the relations between them, properties.

Parts are found by their relations, as the standard wants, and where those are broken by their usual names.
A part that only adds to the text, such as footnotes or styles, may be damaged without taking the text along.
"""

import posixpath
import re
from typing import Literal, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from dowse.errors import SourceError
from dowse.ingest.extract.office.names import SHEET, SLIDE, WORD
from dowse.ingest.extract.zipped import Archive, damaged
from dowse.types import MetadataValue

__all__ = ["Kind", "Package", "Relation", "refuse_old"]

Kind = Literal["word", "ppt", "xl"]

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_USUAL_MAINS = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")
_KINDS: dict[str, Kind] = {f"{WORD}document": "word", f"{SLIDE}presentation": "ppt", f"{SHEET}workbook": "xl"}

_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_PROPERTIES = {
    f"{_DC}creator": "author",
    f"{_DC}subject": "subject",
    f"{_DC}description": "description",
    f"{_DC}language": "language",
    f"{_CORE}category": "category",
    f"{_CORE}lastModifiedBy": "last_modified_by",
    f"{_TERMS}created": "created",
    f"{_TERMS}modified": "modified",
}
_LONGEST_PROPERTY = 2_000
_MOST_TAGS = 100
# What programs write into new files before anyone has said anything.
_NO_TITLE = re.compile(
    r"(?:powerpoint|libreoffice)? ?presentation|(?:word )?document|untitled.*|(?:title|slide) ?\d*|microsoft word - .*",
    re.IGNORECASE,
)


class Relation(NamedTuple):
    """An arrow from one part to another, or out of the package."""

    kind: str
    """The last word of its type: `hyperlink`, `styles`, `slide`."""
    target: str
    """The name of a part, or an address when it is external."""
    external: bool


class Package:
    """An Office file that is held in memory."""

    def __init__(self, data: bytes, name: str) -> None:
        refuse_old(data, name)
        self.name = name
        self.size = len(data)
        self.archive = Archive(data, name)
        self.problems: list[str] = []
        """What could not be read and was left out."""
        self.main = self._main()

    def kind(self) -> Kind:
        """Which program's file this is, by its main part and not by its name."""
        root = _Root()
        if not self.main.endswith(".bin"):
            next(self.archive.feed(self.main, root), None)
        found = _KINDS.get(root.tag)
        if found is None:
            raise SourceError(
                f"{self.name} is an Office file of a kind that cannot be read.",
                reason="unsupported",
                hint="Save it as .docx, .pptx or .xlsx.",
            )
        return found

    def optional(self, part: str | None) -> Element | None:
        """The root of a part that the file can do without; None when it is missing or damaged."""
        if part is None or part not in self.archive:
            return None
        try:
            return self.archive.xml(part)
        except SourceError as error:
            if error.reason != "damaged":
                raise
            self.problems.append(f"{part} is damaged")
            return None

    def relations(self, part: str) -> dict[str, Relation]:
        """The relations of a part (of the package itself: an empty name), by their ids, in their order."""
        folder, base = posixpath.split(part)
        root = self.optional(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, Relation] = {}
        for each in root.iter(_RELATION) if root is not None else ():
            external = each.get("TargetMode") == "External"
            target = each.get("Target", "")
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[each.get("Id", "")] = Relation(each.get("Type", "").rpartition("/")[2], target, external)
        return found

    def related(self, part: str, kind: str) -> str | None:
        """The first part that another one is related to in this way."""
        return next((each.target for each in self.relations(part).values() if each.kind == kind), None)

    def properties(self) -> tuple[str | None, dict[str, MetadataValue]]:
        """The title that the file's properties give, unless it is a program's, and the other properties."""
        root = self.optional(self.related("", "core-properties") or "docProps/core.xml")
        title: str | None = None
        metadata: dict[str, MetadataValue] = {}
        for each in root if root is not None else ():
            value = " ".join((each.text or "").split())[:_LONGEST_PROPERTY]
            if not value:
                continue
            if each.tag == f"{_DC}title":
                title = None if _NO_TITLE.fullmatch(value) else value
            elif each.tag == f"{_CORE}keywords":
                tags = [tag.strip() for tag in re.split(r"[,;]", value) if tag.strip()]
                if tags:
                    metadata["tags"] = tags[:_MOST_TAGS]
            elif key := _PROPERTIES.get(each.tag):
                metadata[key] = value
        return title, metadata

    def _main(self) -> str:
        named = self.related("", "officeDocument")
        for part in (named, *_USUAL_MAINS):
            if part and part in self.archive:
                return part
        raise damaged(self.name, "it holds no document")


class _Root:
    """Takes the name of the first element."""

    tag = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the parser's signature
        self.tag = self.tag or tag

    def end(self, tag: str) -> None:
        """Nothing ends before the first one begins."""

    def data(self, text: str) -> None:
        """Text comes later."""


def refuse_old(data: bytes, name: str) -> None:
    """Refuse what is no package but the container of older Office files, or of encrypted new ones."""
    if not data.startswith(_OLE):
        return
    if _ENCRYPTED_STREAM in data:
        raise SourceError(
            f"{name} is encrypted.", reason="encrypted", hint="Save a copy without a password and index that."
        )
    raise SourceError(
        f"{name} is in the binary format of Office before 2007, which cannot be read.",
        reason="legacy",
        hint="Open it in Office or LibreOffice and save it as .docx, .pptx or .xlsx.",
    )
