"""A folder: which files are in it, and which of them are not to be indexed, and why.

What nobody wants to search is not seen at all: hidden files and folders, dependencies, what .gitignore and
.dowseignore name. What somebody might miss is refused with a reason. Nothing outside of the root is ever
read: a link is followed only to a place inside of it, and ignore files above it do not count.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

from dowse.errors import SourceError
from dowse.ingest.extract import media_type_of
from dowse.ingest.sources.files import fingerprint_of, read
from dowse.ingest.sources.names import (
    has_no_text,
    is_generated,
    is_hidden,
    is_secret,
    is_vendored,
    normal_name,
    shown_name,
    what_marks_say,
)
from dowse.ingest.sources.patterns import IgnoreRules, PathPattern
from dowse.ingest.sources.selection import Selection
from dowse.records import record
from dowse.types import Fingerprint, LedgerState

__all__ = ["Found", "Refused", "decides_for_its_folder", "folders", "walk"]

_IGNORE_FILES: Final = (".gitignore", ".dowseignore")
"""In this order: the later one has the last word."""
_LARGEST_IGNORE_FILE = 1 << 20
_NOT_READ = Fingerprint(0, 0)


@record
class Found:
    """A file to index, as the walk saw it."""

    path: str
    """Below the root, with `/` between parts, in Unicode's composed form (NFC)."""
    location: str
    """Where it is, as the system writes it."""
    real: str
    """The same without links: what may be read."""
    media_type: str | None
    """What its name says; None: only its content can."""
    fingerprint: Fingerprint

    @property
    def absolute(self) -> Path:
        """Where it is."""
        return Path(self.location)


@record
class Refused:
    """A file or folder that is not indexed, and why."""

    path: str
    state: LedgerState
    """`skipped`: by a rule; `failed`: it should have been read."""
    code: str
    reason: str
    hint: str
    fingerprint: Fingerprint = _NOT_READ
    is_directory: bool = False
    """A folder that could not be read: what is below it is unknown, which does not mean gone."""


_REASONS: Final[dict[str, tuple[LedgerState, str, str]]] = {
    "bad_name": ("failed", "Its name is not valid UTF-8.", "Rename it."),
    "generated": ("skipped", "A tool wrote it, for tools to read.", "Ingest it by its name to index it all the same."),
    "broken_link": ("failed", "It is a link to something that is not there.", "Repair or remove the link."),
    "outside": ("skipped", "It is a link that leads out of the folder.", "Add the place it leads to by itself."),
    "same_name": ("skipped", "Its name differs from another one only in how accents are encoded.", "Rename it."),
    "secret": ("skipped", "Its name says that it holds secrets.", "Such files are only read when named one by one."),
    "special": ("skipped", "It is not a regular file.", "Pipes, sockets and devices cannot be indexed."),
    "too_large": ("skipped", "It is larger than the limit.", "Raise max_file_size, and max_memory if it is set."),
    "unsupported": ("skipped", "There is no text in files of this type.", "Describe it in a text file beside it."),
    "unreadable": ("failed", "It cannot be read.", "Check its permissions."),
}


class _Folder(NamedTuple):
    """A folder on the walk."""

    location: str
    real: str
    """Its location without links, with a separator at the end."""
    prefix: str
    """Its path with a slash at the end; empty for the root."""
    rules: tuple[tuple[int, IgnoreRules], ...]
    """The ignore rules that apply to it, the nearest first, each with the length of its own prefix."""
    is_linked: bool = False


_Item = Found | Refused | _Folder


def walk(
    root: Path,
    pattern: str = "**/*",
    *,
    exclude: Sequence[str] = (),
    max_file_size: int,
    only: Selection | None = None,
) -> Iterator[Found | Refused]:
    """Every file below a folder that the pattern means, ordered by path, each as found or refused.

    `exclude` is written like the lines of an ignore file, and has the last word. `only` leaves out what a
    selection does not mean, and finds in it just what a whole walk would.

    A folder that vanishes meanwhile is simply gone. Links to folders are followed, though not from inside
    of a linked folder: their target is inside the root, and is found at its own place.

    Raises:
        SourceError: the root is missing, is no folder, cannot be read, or was replaced during the walk.
            What was yielded before is true, but what was not is unknown.
        UsageError: the pattern cannot be understood.
    """
    yield from _visit(_Walker(root, PathPattern(pattern), _rules(exclude), max_file_size, only))


def folders(
    root: Path, pattern: str = "**/*", *, exclude: Sequence[str] = (), only: Selection | None = None
) -> dict[str, set[str]]:
    """Every folder that `walk` looks into, by its location without links, and the prefixes it is found under.

    Raises:
        SourceError, UsageError: as `walk`.
    """
    walker = _Walker(root, PathPattern(pattern), _rules(exclude), 0, only)
    for _ in _visit(walker):
        pass
    found: dict[str, set[str]] = {}
    for folder in walker.entered:
        found.setdefault(folder.real.removesuffix(os.sep) or os.sep, set()).add(folder.prefix)
    return found


def _rules(exclude: Sequence[str]) -> IgnoreRules | None:
    """The rules of these lines; None for no lines, which most collections have."""
    return IgnoreRules(exclude) if exclude else None


def decides_for_its_folder(name: str) -> bool:
    """Whether a file of this name changes what a walk sees of everything beside and below it."""
    return name in _IGNORE_FILES or what_marks_say({name}) is not None


def _visit(walker: "_Walker") -> Iterator[Found | Refused]:
    open_folders = [iter(walker.list_root())]
    while open_folders:
        item = next(open_folders[-1], None)
        if item is None:
            open_folders.pop()
        elif isinstance(item, _Folder):
            open_folders.append(iter(walker.list_folder(item)))
        else:
            yield item
    walker.check_root()


class _Walker:
    """What one walk knows everywhere."""

    def __init__(
        self, root: Path, pattern: PathPattern, excluded: IgnoreRules | None, max_file_size: int, only: Selection | None
    ) -> None:
        self._root = os.path.realpath(root)
        self._pattern = pattern
        self._excluded = excluded
        self._max_file_size = max_file_size
        self._only = only
        self.entered: list[_Folder] = []
        self._identity = self._identify()

    def list_root(self) -> list[_Item]:
        """The root's items; unlike below it, failing to list it is an error."""
        try:
            with os.scandir(self._root) as entries:
                return self._items(_Folder(self._root, _with_separator(self._root), "", ()), list(entries))
        except OSError as error:
            raise self._root_error(error) from error

    def list_folder(self, folder: _Folder) -> list[_Item]:
        """The items of a folder in the order of their paths."""
        try:
            with os.scandir(folder.location) as scan:
                entries = list(scan)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            return [_refuse(folder.prefix[:-1], "unreadable", is_directory=True)]
        kind = what_marks_say({entry.name for entry in entries})
        if kind == "secret":
            return [_refuse(folder.prefix[:-1], "secret")]
        return [] if kind else self._items(folder, entries)

    def check_root(self) -> None:
        """Fail unless the root is the folder that it was: an unmounted disk looks like an empty one."""
        if self._identify() != self._identity:
            raise SourceError(f"{self._root} was replaced while it was walked.", hint="Run the command again.")

    def _identify(self) -> tuple[int, int]:
        try:
            status = Path(self._root).stat()
        except OSError as error:
            raise self._root_error(error) from error
        if not stat.S_ISDIR(status.st_mode):
            raise SourceError(f"{self._root} is not a folder.", reason="not_a_folder", hint="Name the folder it is in.")
        return status.st_dev, status.st_ino

    def _root_error(self, error: OSError) -> SourceError:
        missing = isinstance(error, FileNotFoundError)
        return SourceError(
            f"The folder {self._root} {'does not exist' if missing else 'cannot be read'} ({error.strerror}).",
            reason="missing" if missing else "unreadable",
            hint="Is a disk or network folder not connected?" if missing else "Check its permissions.",
        )

    def _items(self, folder: _Folder, entries: list[os.DirEntry[str]]) -> list[_Item]:
        items: list[tuple[str, _Item]] = []
        self.entered.append(folder)
        folder, failed = _with_rules(folder, entries)
        items += [(refused.path, refused) for refused in failed]
        taken: set[str] = set()
        if self._only is not None:
            entries = [entry for entry in entries if self._only.touches(folder.prefix + _shown(entry.name))]
        for entry in sorted(entries, key=_is_decomposed):
            if is_hidden(entry.name):
                continue
            name = normal_name(entry.name)
            item: _Item | None
            if name is None:
                item = _refuse(folder.prefix + _shown(entry.name), "bad_name")
            elif name in taken:
                item = _refuse(folder.prefix + entry.name, "same_name")
            else:
                taken.add(name)
                item = self._item(folder, entry, name)
            if item is not None:
                items.append((item.prefix if isinstance(item, _Folder) else item.path, item))
        items.sort(key=itemgetter(0))
        return [item for _, item in items]

    def _item(self, folder: _Folder, entry: os.DirEntry[str], name: str) -> _Item | None:
        """What to make of one entry; None for what is not to be seen."""
        path = folder.prefix + name
        is_folder = _is_folder(entry)
        if is_folder and (is_vendored(name) or not self._pattern.may_match_below(path)):
            return None
        if not is_folder and not self._pattern.matches(path):
            return None
        if self._excluded is not None and self._excluded.decide(path, name, is_folder=is_folder):
            return None
        if folder.rules and _ignored(folder, path, name, is_folder=is_folder):
            return None
        is_link = _is_link(entry)
        real = os.path.realpath(entry.path) if is_link else folder.real + entry.name
        if is_link and not f"{real}{os.sep}".startswith(_with_separator(self._root)):
            return _refuse(path, "outside")
        if not is_folder:
            return self._file(entry, path, name, real)
        if is_link and (folder.is_linked or folder.real.startswith(_with_separator(real))):
            return None
        return _Folder(entry.path, _with_separator(real), f"{path}/", folder.rules, folder.is_linked or is_link)

    def _file(self, entry: os.DirEntry[str], path: str, name: str, real: str) -> Found | Refused | None:
        try:
            status = entry.stat()
        except OSError as error:
            if _is_link(entry):
                return _refuse(path, "broken_link")
            return None if isinstance(error, FileNotFoundError) else _refuse(path, "unreadable")
        fingerprint = fingerprint_of(status)
        if not stat.S_ISREG(status.st_mode):
            return _refuse(path, "special", fingerprint)
        if is_secret(name) or (_is_link(entry) and is_secret(real.rpartition(os.sep)[2])):
            return _refuse(path, "secret", fingerprint)
        media_type = media_type_of(name)
        if media_type is None and has_no_text(name):
            return _refuse(path, "unsupported", fingerprint)
        if is_generated(name):
            return _refuse(path, "generated", fingerprint)
        if status.st_size > self._max_file_size:
            return _refuse(path, "too_large", fingerprint)
        return Found(path, entry.path, real, media_type, fingerprint)


def _with_rules(folder: _Folder, entries: list[os.DirEntry[str]]) -> tuple[_Folder, list[Refused]]:
    """The folder with the rules of its own ignore files, and those of them that cannot be read."""
    lines: list[str] = []
    failed: list[Refused] = []
    own = {entry.name: entry for entry in entries if entry.name in _IGNORE_FILES and not entry.is_symlink()}
    for entry in (own[name] for name in _IGNORE_FILES if name in own):
        try:
            data, _ = read(Path(entry.path), _LARGEST_IGNORE_FILE)
            lines += data.decode("utf-8-sig", "replace").split("\n")
        except SourceError:
            failed.append(_refuse(folder.prefix + entry.name, "unreadable"))
    if lines:
        folder = folder._replace(rules=((len(folder.prefix), IgnoreRules(lines)), *folder.rules))
    return folder, failed


def _ignored(folder: _Folder, path: str, name: str, *, is_folder: bool) -> bool:
    for start, rules in folder.rules:
        decision = rules.decide(path[start:], name, is_folder=is_folder)
        if decision is not None:
            return decision
    return False


def _refuse(path: str, code: str, fingerprint: Fingerprint = _NOT_READ, *, is_directory: bool = False) -> Refused:
    state, reason, hint = _REASONS[code]
    return Refused(path, state, code, reason, hint, fingerprint, is_directory)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder or a link to one; a link that leads in circles is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _shown(name: str) -> str:
    """The name that it would go by."""
    return normal_name(name) or shown_name(name)


def _is_decomposed(entry: os.DirEntry[str]) -> bool:
    """Sorts names that are stored as they are before those that become equal to one of them."""
    return not entry.name.isascii() and normal_name(entry.name) != entry.name


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Whether this leads elsewhere; a junction is Windows' link between folders."""
    return entry.is_symlink() or bool(getattr(entry, "is_junction", bool)())


def _with_separator(folder: str) -> str:
    return folder if folder.endswith(os.sep) else folder + os.sep
