"""The file of an exported collection: a zip of parts, written and read as a stream. docs/guides/backup.md describes it.

    manifest.json             what this is, the collection, its contexts, the model, how many documents
    documents/00000.jsonl     one document a line, with its content where no line before had it
    vectors/00000.keys        16 bytes for each vector of the part of the same number
    vectors/00000.npy         the vectors, float32, in the order of the keys

Files come from other people: names, sizes, kinds and counts are checked before anything is stored, and
nothing is ever unpacked to a path.
"""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from dowse.errors import NotFoundError, SourceError, StoreVersionError
from dowse.ports import Snapshot
from dowse.store.portable.parts import Head, Part, head_of, keys_of, parts_of
from dowse.store.portable.shapes import Malformed, draft_from, draft_to, head_from, loads
from dowse.types import Draft, now_ms

if TYPE_CHECKING:
    from dowse.ports import Vector

__all__ = ["FORMAT", "VERSION", "Archive", "write_archive"]

FORMAT = "dowse-collection"
VERSION = 1

_MANIFEST = "manifest.json"
_MEMBER = re.compile(r"manifest\.json|documents/\d{5,7}\.jsonl|vectors/\d{5,7}\.(?:keys|npy)")
_KEY = 16
_MOST_MEMBERS = 3_000_000
_LARGEST_MEMBER = 512 << 20
_LARGEST_MANIFEST = 16 << 20
_SMALL = 16 << 20  # below this, no ratio is suspicious
_LARGEST_RATIO = 200  # text packs ten times smaller, a bomb a thousand times
_UNIT = 0.01  # how far from one the length of a vector may be


def write_archive(
    snapshot: Snapshot, name: str, file: IO[bytes], *, version: str, progress: Callable[[int, int], None] | None = None
) -> tuple[int, int]:
    """Write a collection to an open file; returns how many documents and vectors it has.

    The folder stays a secret: documents are known by their paths below it, and single files by their names.
    """
    head = head_of(snapshot, name)
    documents = vectors = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr(_MANIFEST, json.dumps(_manifest(head, version), ensure_ascii=False, indent=1))
        names: dict[str, int] = {}
        for number, part in enumerate(parts_of(snapshot, head)):
            with archive.open(f"documents/{number:05}.jsonl", "w") as member:
                for draft in part.drafts:
                    line = json.dumps(draft_to(_without_place(draft, names)), ensure_ascii=False)
                    member.write(line.encode() + b"\n")
            if part.vectors:
                _write_vectors(archive, number, part)
            documents += len(part.drafts)
            vectors += len(part.vectors)
            if progress is not None:
                progress(documents, max(documents, head.documents))
    return documents, vectors


def _manifest(head: Head, version: str) -> dict[str, Any]:
    known = asdict(head.collection)
    for name in ("root", "created_at", "updated_at"):
        del known[name]
    return {
        "format": FORMAT,
        "version": VERSION,
        "dowse": version,
        "made_at": now_ms(),
        "collection": known | {"settings": dict(head.collection.settings)},
        "contexts": [{"prefix": each.prefix, "text": each.text} for each in head.contexts],
        "model": asdict(head.model) if head.model else None,
        "documents": head.documents,
    }


def _without_place(draft: Draft, names: dict[str, int]) -> Draft:
    """A file that was ingested by itself goes by its name: where it lay is of no use elsewhere."""
    if not draft.info.path.startswith("file:"):
        return draft
    name = unquote(draft.info.path).rpartition("/")[2].replace("\\", "_").replace(":", "_") or "file"
    names[name] = names.get(name, 0) + 1
    path = f"ingested/{name}" if names[name] == 1 else f"ingested/{names[name]}/{name}"
    return replace(draft, info=replace(draft.info, path=path, origin="walked"))


def _write_vectors(archive: zipfile.ZipFile, number: int, part: Part) -> None:
    import numpy as np

    keys = list(part.vectors)
    archive.writestr(f"vectors/{number:05}.keys", b"".join(keys), zipfile.ZIP_STORED)
    data = io.BytesIO()
    np.save(data, np.stack([part.vectors[key] for key in keys]).astype("<f4"), allow_pickle=False)
    archive.writestr(f"vectors/{number:05}.npy", data.getvalue(), zipfile.ZIP_STORED)


class Archive:
    """An exported collection, opened to be read; a context manager. Malformed says what is wrong with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise NotFoundError(f"There is no file {path}.", hint="Check the path.") from None
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
            raise Malformed("it cannot be opened") from error
        try:
            self._check_members()
            self.head = self._head()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def check(self) -> None:
        """Read everything once, so that what follows meets no surprise."""
        seen: set[tuple[str, str]] = set()
        paths: set[str] = set()
        count = 0
        for part in self.parts():
            for draft in part.drafts:
                key = (draft.info.content_hash, draft.recipe)
                if draft.content is None and key not in seen:
                    raise Malformed("a document has no content")
                seen.add(key)
                if draft.info.path in paths:
                    raise Malformed("two documents have one path")
                paths.add(draft.info.path)
            count += len(part.drafts)
        if count != self.head.documents:
            raise Malformed(f"{self.head.documents} documents were promised, {count} are there")

    def parts(self) -> Iterator[Part]:
        """Every part, one at a time in memory."""
        names = sorted(name for name in self._file.namelist() if name.startswith("documents/"))
        for name in names:
            number = name.removeprefix("documents/").removesuffix(".jsonl")
            drafts = tuple(draft_from(line) for line in self._read(name).splitlines())
            yield Part(drafts, self._vectors(number, drafts))

    def _vectors(self, number: str, drafts: tuple[Draft, ...]) -> "dict[bytes, Vector]":
        keys_name, rows_name = f"vectors/{number}.keys", f"vectors/{number}.npy"
        if self.head.model is None or keys_name not in self._file.namelist():
            return {}
        import numpy as np

        keys = self._read(keys_name)
        try:
            rows = np.load(io.BytesIO(self._read(rows_name)), allow_pickle=False)
        except Malformed:
            raise
        except Exception as error:  # numpy reads the head as Python: a parser's errors are without number
            raise Malformed("vectors cannot be read") from error
        if len(keys) % _KEY or rows.dtype != np.dtype("<f4") or rows.shape != (len(keys) // _KEY, self.head.model.dims):
            raise Malformed("vectors have another shape than their keys")
        if not (np.abs(np.linalg.norm(rows, axis=1) - 1) < _UNIT).all():  # false for what is no number, too
            raise Malformed("a vector is none of unit length")
        wanted = {key for draft in drafts if draft.content for key in keys_of(draft.content)}
        found = {keys[place : place + _KEY]: rows[place // _KEY] for place in range(0, len(keys), _KEY)}
        return {key: row for key, row in found.items() if key in wanted}

    def _check_members(self) -> None:
        members = self._file.infolist()
        packed, whole = sum(each.compress_size for each in members), sum(each.file_size for each in members)
        names = [each.filename for each in members]
        if len(members) > _MOST_MEMBERS or len(set(names)) < len(names):
            raise Malformed("its table of contents is none of ours")
        if any(not _MEMBER.fullmatch(name) for name in names):
            raise Malformed("it has members that are none of ours")
        if any(each.flag_bits & 1 for each in members):
            raise Malformed("it is encrypted")
        too_large = any(each.file_size > _LARGEST_MEMBER for each in members)
        if too_large or packed > self._path.stat().st_size or whole > _SMALL + _LARGEST_RATIO * packed:
            raise SourceError(
                "The file would unpack to far more than such files do.",
                reason="too_large",
                hint="It looks like a trap: do not use it.",
            )

    def _head(self) -> Head:
        if _MANIFEST not in self._file.namelist() or self._file.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
            raise Malformed("it does not say what it is")
        made = loads(self._read(_MANIFEST))
        if not isinstance(made, dict) or made.get("format") != FORMAT:
            raise Malformed("it says that it is something else")
        version, documents = made.get("version"), made.get("documents")
        if isinstance(version, int) and version > VERSION:
            raise StoreVersionError(
                f"The file was written by a newer Dowse (version {version} of its format; here {VERSION}).",
                hint="Upgrade Dowse, or have it exported by this version.",
            )
        if version != VERSION or not isinstance(documents, int):
            raise Malformed("its version is none")
        return Head(*head_from(made), documents=documents)

    def _read(self, name: str) -> bytes:
        try:
            return self._file.read(name)
        except (
            OSError,
            KeyError,
            EOFError,
            NotImplementedError,
            RuntimeError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise Malformed(f"{name} cannot be read") from error
