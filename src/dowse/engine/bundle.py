"""A file for whoever helps: how the index is, without what is in it.

Names of collections, files and folders, addresses and settings that hold any are replaced by short hashes with a
salt that is thrown away, so that equal ones stay equal within a bundle and nobody can look them up.
"""

import hashlib
import json
import platform
import re
import secrets
import stat
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dowse import __version__
from dowse.config import SETTINGS, Config
from dowse.durable import new_file
from dowse.engine.doctor import library_versions
from dowse.errors import DowseError
from dowse.ports import Store
from dowse.types import Finding

__all__ = ["CONTENTS", "write_bundle"]

CONTENTS = (
    "versions of Dowse, Python, its libraries and the system",
    "every finding of `dowse doctor`, paths and names hashed",
    "the names of settings that were changed; values only where they are numbers or yes and no",
    "counts of documents, passages, vectors and failures per collection, its name hashed",
    "names, sizes and permissions of the files of the index",
)
_ADDRESS = re.compile(r"\b[a-z]+://[^\s)\"']+|(?<![\w.])/(?:[^\s/:)\"']+/)*[^\s/:)\"']+")


def write_bundle(store: Store, config: Config, findings: Iterable[Finding], file: Path, *, replace: bool) -> int:
    """Write the bundle; returns its size."""
    hide = _Hiding()
    report: dict[str, Any] = {
        "dowse": __version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "libraries": library_versions(),
        "settings": {name: _value(getattr(config, name)) for name in config.origins if name in SETTINGS},
    }
    try:
        report |= _counts(store, hide)
    except DowseError as error:
        report["counts"] = error.code
    report["findings"] = [
        {"check": each.check, "ok": each.ok, "message": hide.text(each.message), "hint": hide.text(each.hint)}
        for each in findings
    ]
    report["files"] = _files(config.index_dir)
    with new_file(file, replace=replace) as target:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("README.txt", "What is in here:\n" + "".join(f"- {line}\n" for line in CONTENTS))
            archive.writestr("report.json", json.dumps(report, indent=1, ensure_ascii=False))
        return target.tell()


class _Hiding:
    """Replaces names, the same one always by the same hash."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._names: list[str] = []

    def name(self, name: str) -> str:
        """The hash of a name, which is from now on hidden in texts too."""
        self._names.append(name)
        return self._hash(name)

    def text(self, text: str) -> str:
        """A text without addresses, paths, and names that were hidden before."""
        text = _ADDRESS.sub(lambda found: self._hash(found[0]), text)
        for name in sorted(self._names, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", self._hash(name), text)
        return text

    def _hash(self, text: str) -> str:
        return "~" + hashlib.sha256(self._salt + text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _counts(store: Store, hide: _Hiding) -> dict[str, Any]:
    with store.snapshot() as snapshot:
        stats, ledger, notes = snapshot.stats(), snapshot.ledger(), snapshot.notes
        types: Counter[str] = Counter()
        for each in stats.collections:
            types.update(info.media_type for info in snapshot.documents(each.collection.name))
    collections = [
        {
            "name": hide.name(each.collection.name),
            "has_folder": each.collection.root is not None,
            "documents": each.documents,
            "passages": each.chunks,
            "without_vectors": each.unembedded,
            "failed": each.failed,
            "skipped": each.skipped,
        }
        for each in stats.collections
    ]
    return {
        "collections": collections,
        "vectors": stats.vectors,
        "model": stats.model and {"dims": stats.model.dims, "precision": stats.model.precision},
        "is_changing_model": stats.successor is not None,
        "bytes": stats.bytes_on_disk,
        "media_types": dict(types),
        "not_indexed": dict(Counter(f"{entry.state} {entry.code}" for entry in ledger)),
        "notes": [hide.text(note) for note in notes],
    }


def _files(directory: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(directory.rglob("*")):
        try:
            status = path.lstat()
        except OSError:
            continue  # a writer has just removed it
        mode = stat.filemode(status.st_mode)
        found.append({"name": path.relative_to(directory).as_posix(), "bytes": status.st_size, "mode": mode})
    return found


def _value(value: object) -> object:
    return value if isinstance(value, bool | int | float) else "set"
