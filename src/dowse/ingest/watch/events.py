"""Hear what changes in one folder, in a thread of its own, until told to stop.

On Linux every folder that a walk would look into is listened to by itself: neither hidden folders nor
dependencies cost anything, and a link that leads out of the root is not followed. macOS and Windows listen
to whole trees. Where nothing can be heard, as on network drives, the folder is walked again and again.

Whoever starts here is told to look at everything once somebody listens, and again whenever what was heard
may not be all: the folder came back, was replaced, or listening failed.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from dowse.errors import SourceError
from dowse.ingest import sources
from dowse.ingest.watch.mounts import is_remote
from dowse.records import record
from dowse.types import Collection

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

__all__ = ["FolderWatch", "News"]

_QUIET_MS: Final = 50  # without anything new, and what was heard is passed on
_LONGEST_MS: Final = 500  # though not later than this
_LOOK_MS: Final = 1_000  # how often to see whether the folder is still the same one
_PAUSE: Final = 1.0  # before a folder that is missing, or that cannot be listened to, is tried again
_POLL_SECONDS: Final = 2.0
_POLL_SHARE: Final = 20  # a walk may take this part of the time at most
_MOST_FAILURES: Final = 5
_ADDED: Final = 1
_DELETED: Final = 3
_ONE_BY_ONE: Final = sys.platform.startswith("linux")


@record
class News:
    """What was heard of one collection."""

    collection: str
    paths: frozenset[str] | None
    """Paths below the root as walks spell them; None: anything may have changed."""
    gone: int = 0
    """How many of them were deletions."""
    how: str = "events"
    """`events`, `polling`, or `missing` while there is no folder."""
    problem: str = ""


class FolderWatch(threading.Thread):
    """Tells what changes in the folder of one collection."""

    def __init__(self, collection: Collection, tell: Callable[[News], None], *, poll: bool = False) -> None:
        super().__init__(name=f"watch {collection.name}", daemon=True)
        self.collection = collection
        self._root = Path(collection.root or "")
        self._tell = tell
        self._polls = poll
        self._is_missing = False
        self._failures = 0
        self._problem = ""
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Ask it to end; it does within a fraction of a second."""
        self._stopped.set()

    def run(self) -> None:
        """Follow the folder; whatever fails is told and tried again."""
        while not self._stopped.is_set():
            try:
                self._follow()
            except SourceError as error:  # the folder vanished just now, or may not be read
                self._complain(error.message)
            except Exception as error:  # noqa: BLE001  # a thread that ends unheard would be the worst of all
                self._failures += 1
                self._polls = self._polls or self._failures >= _MOST_FAILURES
                self._complain(f"Listening to {self._root} failed ({error}).")
            self._stopped.wait(_PAUSE)

    def _complain(self, problem: str) -> None:
        """Tell of a problem, though not of the same one again and again."""
        if problem != self._problem:
            self._problem = problem
            self._say(None, problem=problem)

    def _follow(self) -> None:
        """Listen or poll for as long as the folder stays the one it is."""
        identity = _identity(self._root)
        if identity is None:
            if not self._is_missing:
                self._is_missing = True
                self._say(None)
            return
        self._is_missing = False
        self._polls = self._polls or is_remote(os.path.realpath(self._root))
        if self._polls:
            self._poll(identity)
        else:
            self._listen(identity)

    def _listen(self, identity: tuple[int, int]) -> None:
        try:
            listener = _Listener(self.collection)
        except (OSError, RuntimeError) as error:  # the system's limits, mostly
            self._polls = True
            self._complain(f"Listening to {self._root} failed ({error}): it is polled instead.")
            return
        with listener:
            self._problem = ""
            self._say(None)
            while not self._stopped.is_set() and _identity(self._root) == identity:
                paths, gone = listener.wait(self._stopped)
                if paths:
                    self._say(paths, gone=gone)

    def _poll(self, identity: tuple[int, int]) -> None:
        took = -time.monotonic()
        before = self._look()
        took += time.monotonic()
        self._say(None)
        while not self._stopped.wait(max(_POLL_SECONDS, took * _POLL_SHARE)) and _identity(self._root) == identity:
            took = -time.monotonic()
            now = self._look()
            took += time.monotonic()
            changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
            if changed:
                self._say(changed, gone=len(before.keys() - now.keys()))
            before = now

    def _look(self) -> dict[str, object]:
        """Every file, and what tells whether it is another one the next time."""
        found = sources.walk(
            self._root, self.collection.pattern, exclude=self.collection.exclude, max_file_size=sys.maxsize
        )
        return {each.path: (type(each), each.fingerprint) for each in found}

    def _say(self, paths: set[str] | None, *, gone: int = 0, problem: str = "") -> None:
        if not self._stopped.is_set():
            chosen = None if paths is None else frozenset(paths)
            how = "missing" if self._is_missing else "polling" if self._polls else "events"
            self._tell(News(self.collection.name, chosen, gone, how, problem))


class _Listener:
    """What the system tells of the folders of one collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._folders: dict[str, set[str]] = {}
        """The folders to hear of, by location, and the prefixes that paths in them have: several, by links."""
        self._unheard: set[str] = set()
        """Paths that may hold folders nobody listens to yet."""
        self._notify = self._open(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._notify.close()

    def wait(self, stopped: threading.Event) -> tuple[set[str], int]:
        """The paths that changed and how many of them are gone; none when nothing did for a while."""
        if self._unheard:
            return self._widen()
        return self._understood(self._notify.watch(_LONGEST_MS, _QUIET_MS, _LOOK_MS, stopped))

    def _understood(self, heard: "set[tuple[int, str]] | str") -> tuple[set[str], int]:
        paths: set[str] = set()
        gone = 0
        for kind, location in () if isinstance(heard, str) else heard:
            folder, name = os.path.split(location)
            decides = sources.decides_for_its_folder(name)
            if folder not in self._folders or (sources.is_hidden(name) and not decides):
                continue
            is_folder = kind != _DELETED and Path(location).is_dir()
            if is_folder and kind != _ADDED and not _ONE_BY_ONE:
                continue  # elsewhere, whatever happens in a folder also changes the folder
            found = {prefix + (sources.normal_name(name) or name) for prefix in self._folders[folder]}
            paths |= found
            gone += kind == _DELETED
            if is_folder and (kind == _ADDED or location not in self._folders):
                self._unheard |= found
            elif decides:
                self._unheard |= {prefix.removesuffix("/") for prefix in self._folders[folder]}
        return paths, gone

    def _widen(self) -> tuple[set[str], int]:
        """Listen to new folders too; returns them, as something may have happened there before anybody listened."""
        places, self._unheard = self._unheard, set()
        former = self._notify
        self._notify = self._open(None if "" in places else sources.Selection(places))
        paths, gone = self._understood(former.watch(1, 1, 1, None))
        former.close()
        return paths | places, gone

    def _open(self, only: sources.Selection | None) -> "RustNotify":
        """Listen to every folder there is; what came while the list was made, the next list shows."""
        from watchfiles._rust_notify import RustNotify

        listed = self._list(only)
        while True:
            kept = {} if only is None else {at: names for at, names in self._folders.items() if Path(at).is_dir()}
            for location, prefixes in listed.items():
                kept[location] = kept.get(location, set()) | prefixes
            self._folders = kept
            places = sorted(kept) if _ONE_BY_ONE else [os.path.realpath(self._collection.root or "")]
            try:
                notify = RustNotify(places, False, False, 0, not _ONE_BY_ONE, False)
            except FileNotFoundError:  # a folder that was just deleted
                listed = self._list(only)
                continue
            again = self._list(only)
            if again.keys() <= listed.keys():
                return notify
            notify.close()
            listed = again

    def _list(self, only: sources.Selection | None) -> dict[str, set[str]]:
        root = Path(self._collection.root or "")
        return sources.folders(root, self._collection.pattern, exclude=self._collection.exclude, only=only)


def _identity(root: Path) -> tuple[int, int] | None:
    """Tells one folder from another that took its place, as when a disk is unmounted; None: there is none."""
    try:
        status = root.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if root.is_dir() else None
