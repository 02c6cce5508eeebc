"""Keep an index true while its folders change: words at once, vectors in between.

One loop: hear what changed, bring just that up to date, embed a little, hear again. What fails is tried
again, later each time; now and then everything is looked at, because systems may forget to tell.
Nothing here knows of signals or terminals: `run` works in a thread as well, and `stop` ends it from any.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dowse.errors import DowseError, NotFoundError
from dowse.ingest.backlog import embed_in_slices
from dowse.ingest.partial import MOST_PATHS, index_paths
from dowse.ingest.pipeline import index_collection
from dowse.ingest.settings import IndexSettings
from dowse.ingest.watch.events import FolderWatch, News
from dowse.ingest.watch.state import WatchState, claim
from dowse.ports import Embedder, Store
from dowse.records import record
from dowse.types import Collection, IndexReport, now_ms

__all__ = ["Batch", "Watcher"]

_SLICE_SECONDS: Final = 0.1  # of embedding, before words get their turn
_COLLECTIONS_SECONDS: Final = 2.0  # how often to see whether there are other collections
_MOST_NEWS: Final = 1_000
_EVERYTHING_SECONDS: Final = 600.0  # how often to look at everything, whatever was heard
_LONGEST_DELAY: Final = 60.0  # between two tries of what fails
_SHORTEST_DELAY: Final = 0.5  # even when there is news

# So many deletions may be a whole tree on its way out: the guard should see all of them together.
_MANY_GONE: Final = 20
_GONE_QUIET: Final = 0.3
_GONE_LONGEST: Final = 10.0


@record
class Batch:
    """What one turn did: a report, or the problem that kept it from being done."""

    collection: str
    seconds: float = 0.0
    report: IndexReport | None = None
    is_whole: bool = False
    """Whether everything was looked at, not only what was heard of."""
    embedded: int = 0
    """Vectors that were made since the last batch, when the backlog became empty."""
    problem: str = ""


@dataclass
class _Due:
    """What is to be done for one collection."""

    paths: set[str] | None
    at: float
    failures: int = 0


class Watcher:
    """Follows the folders of an index. `run` returns after `stop`; it is for one use."""

    def __init__(
        self,
        store: Store,
        directory: Path,
        settings_of: Callable[[Collection], IndexSettings],
        *,
        names: Sequence[str] = (),
        embedder: Callable[[], Embedder] | None = None,
        poll: bool = False,
        on_batch: Callable[[Batch], None] | None = None,
    ) -> None:
        """Follow these collections, or all that have a folder, those to come included.

        Args:
            store: What is brought up to date.
            directory: Where to leave word that this index is watched.
            settings_of: How a collection is indexed.
            names: The collections; none: all.
            embedder: Makes the model for vectors, when there is something to embed; None: words only.
            poll: Walk the folders again and again instead of listening.
            on_batch: Told what was done, from the thread that runs this.
        """
        self._store, self._directory, self._settings_of = store, directory, settings_of
        self._names, self._embedder, self._poll = frozenset(names), embedder, poll
        self._on_batch = on_batch or (lambda _: None)
        # Whoever listens waits when it is full; what the system then drops makes it look at everything.
        self._heard: queue.Queue[News | None] = queue.Queue(_MOST_NEWS)
        self._stopped = threading.Event()
        self._folders: dict[str, FolderWatch] = {}
        self._settings: dict[str, IndexSettings] = {}
        self._due: dict[str, _Due] = {}
        self._slices: Iterator[int] | None = None
        self._lacks_vectors = False
        self._embedded = 0
        self._looked_for_collections, self._looked_at_everything = float("-inf"), time.monotonic()

    def stop(self) -> None:
        """End soon: what has been begun is finished, nothing is lost."""
        self._stopped.set()
        with suppress(queue.Full):  # then there is something to wake up for
            self._heard.put_nowait(None)

    def _tell_later(self, news: News) -> None:
        """Called by those who listen; ends with the watcher, though nobody takes anything any more."""
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._heard.put(news, timeout=1.0)
                return

    def run(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Watch until told to stop.

        Args:
            is_over: Asked between turns, for handlers of signals: they must not call `stop`, which takes locks.

        Raises:
            ConflictError: somebody else watches this index.
        """
        with claim(self._directory) as state:
            try:
                while not (self._stopped.is_set() or is_over()):
                    self._turn(state)
            finally:
                self._follow([])

    def _turn(self, state: WatchState) -> None:
        """Hear, index what is due, and embed a little when nothing is."""
        now = time.monotonic()
        if now - self._looked_for_collections >= _COLLECTIONS_SECONDS:
            self._looked_for_collections = now
            self._follow_all(state)
        if now - self._looked_at_everything >= _EVERYTHING_SECONDS:
            self._looked_at_everything = now
            for name in self._folders:
                self._put_off(name, None)
        self._hear(state, self._patience())
        due = [name for name, each in self._due.items() if each.at <= time.monotonic()]
        for name in due:
            self._bring_up_to_date(name, state)
        if not due:
            self._embed_a_little(state)

    # Hearing

    def _patience(self) -> float:
        """How long nothing but news needs doing."""
        if self._slices is not None or (self._lacks_vectors and self._embedder is not None):
            return 0.0
        times = [each.at for each in self._due.values()]
        return max(0.0, min([_COLLECTIONS_SECONDS, *(at - time.monotonic() for at in times)]))

    def _hear(self, state: WatchState, patience: float) -> None:
        deadline = time.monotonic() + _GONE_LONGEST
        gone = 0
        try:
            while not self._stopped.is_set() and time.monotonic() < deadline:
                news = self._heard.get(timeout=patience)
                if news is not None:
                    gone += news.gone
                    self._note(news, state)
                patience = _GONE_QUIET if gone > _MANY_GONE else 0.0
        except queue.Empty:
            return

    def _note(self, news: News, state: WatchState) -> None:
        if news.collection not in self._folders:
            return
        self._put_off(news.collection, news.paths)
        state.update(collections={**state.status.collections, news.collection: news.how})
        if news.problem:
            self._tell_of(Batch(news.collection, problem=news.problem), state)

    def _put_off(self, name: str, paths: frozenset[str] | None) -> None:
        """Remember what to look at: these paths, or everything."""
        due = self._due.setdefault(name, _Due(set(), time.monotonic()))
        due.at = min(due.at, time.monotonic() + _SHORTEST_DELAY)
        if paths is None or due.paths is None or len(due.paths | paths) > MOST_PATHS:
            due.paths = None
        else:
            due.paths |= paths

    # Collections come and go

    def _follow_all(self, state: WatchState) -> None:
        try:
            with self._store.snapshot() as snapshot:
                known = snapshot.collections()
        except DowseError as error:
            self._tell_of(Batch("", problem=_in_words(error)), state)
            return
        self._follow([each for each in known if each.root and (not self._names or each.name in self._names)])
        ways = {name: state.status.collections.get(name, "events") for name in self._folders}
        problems = {name: each for name, each in state.status.problems.items() if not name or name in ways}
        state.update(collections=ways, problems=problems)

    def _follow(self, collections: Sequence[Collection]) -> None:
        """Listen to just these; one whose settings changed is begun anew."""
        wanted = {each.name: replace(each, updated_at=0, included=True, description="") for each in collections}
        ended = [each for name, each in self._folders.items() if wanted.get(name) != each.collection]
        for each in ended:
            each.stop()
            self._folders.pop(each.collection.name)
            self._due.pop(each.collection.name, None)
            self._settings.pop(each.collection.name, None)
        for each in ended:
            each.join()
        for name, collection in wanted.items():
            if name not in self._folders:
                self._folders[name] = FolderWatch(collection, self._tell_later, poll=self._poll)
                self._folders[name].start()

    # Working

    def _bring_up_to_date(self, name: str, state: WatchState) -> None:
        due, started = self._due.pop(name), time.monotonic()
        collection = self._folders[name].collection
        try:
            if name not in self._settings:  # kept, because they hold the tokenizer
                self._settings[name] = self._settings_of(collection)
            settings = self._settings[name]
            if due.paths is None:
                report = index_collection(self._store, collection, settings)
            else:
                report = index_paths(self._store, collection, settings, due.paths)
        except NotFoundError:
            return  # it was removed or renamed: the next look at the collections shows
        except Exception as error:  # noqa: BLE001  # one bad turn must not be the last
            self._try_again(name, due)
            self._tell_of(Batch(name, time.monotonic() - started, problem=_in_words(error)), state)
            return
        is_whole = due.paths is None
        did = report.added or report.changed or report.moved or report.removed
        self._lacks_vectors = self._lacks_vectors or is_whole or bool(did)
        if is_whole or did or report.failed or report.guarded or name in state.status.problems:
            self._tell_of(Batch(name, time.monotonic() - started, report, is_whole, problem=report.guarded), state)

    def _try_again(self, name: str, due: _Due) -> None:
        """Put a turn that failed back, to be tried later, or with what comes until then."""
        failures = due.failures + 1
        delay = min(_LONGEST_DELAY, 2.0**failures / 2)
        self._due[name] = _Due(due.paths, time.monotonic() + delay, failures)

    def _embed_a_little(self, state: WatchState) -> None:
        """Make some vectors. The backlog is a query: whatever stops this, it goes on from where it was."""
        if self._embedder is None or not (self._lacks_vectors or self._slices):
            return
        try:
            if self._slices is None:
                self._lacks_vectors = False
                self._slices = embed_in_slices(self._store, self._embedder(), seconds=_SLICE_SECONDS)
            self._embedded += next(self._slices)
        except StopIteration:
            self._slices = None
            if self._embedded:
                self._tell_of(Batch("", embedded=self._embedded), state)
            self._embedded = 0
        except Exception as error:  # noqa: BLE001  # words must go on without the model
            self._slices = None  # until the next change
            self._tell_of(Batch("", problem=_in_words(error)), state)

    def _tell_of(self, batch: Batch, state: WatchState) -> None:
        problems = {name: each for name, each in state.status.problems.items() if name != batch.collection}
        if batch.problem:
            problems[batch.collection] = batch.problem
        state.update(problems=problems)
        if batch.report is not None:
            state.update(batches=state.status.batches + 1, last_batch_at=now_ms())
        self._on_batch(batch)


def _in_words(error: Exception) -> str:
    if isinstance(error, DowseError):
        return f"{error.message} {error.hint}".strip()
    return f"{type(error).__name__}: {error}"
