"""Work that goes on after the answer: in threads of this process, followed by id, ended with the process.

Nothing here is remembered on disk: what a job has done is in the index, and what it has not is found again by the
next `update` or `embed`.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from dowse.errors import ConflictError, DowseError, NotFoundError
from dowse.types import Event, now_ms

if TYPE_CHECKING:
    from dowse.engine import Engine

__all__ = ["Job", "Jobs", "WorkCancelledError"]

_KEPT = 100  # finished jobs that can still be asked for
_MOST = 32  # that run at once: each has a thread, and only one at a time writes

OnEvent = Callable[[Event], None]


class WorkCancelledError(DowseError):
    """Whoever asked for the work does not want it any more."""

    code = "cancelled"


@dataclass(eq=False)
class Job:
    """One piece of work."""

    what: str
    """In words, for people."""
    kind: str = "ingest"
    collections: frozenset[str] | None = None
    """Those that it works on; None: all."""
    id: str = field(default_factory=lambda: uuid4().hex[:12])
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    event: Event = field(default_factory=lambda: Event("walk"))
    """The latest step."""
    result: object = None
    error: DowseError | None = None
    started_at: int = field(default_factory=now_ms)
    ended_at: int = 0
    give_way: Callable[[], None] = lambda: None
    """Called at each step, before it goes on."""
    _wanted: bool = True
    _ended: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float) -> bool:
        """Whether it ended within this time."""
        return self._ended.wait(seconds)

    def cancel(self) -> None:
        """Let it end at its next step."""
        self._wanted = False

    def _tell(self, event: Event) -> None:
        if not self._wanted:
            raise WorkCancelledError("The work was cancelled.")
        self.event = event
        self.give_way()

    def run(self, work: Callable[[OnEvent], object]) -> None:
        """Do it, in the thread that calls this."""
        try:
            self.result = work(self._tell)
            self.state = "done"
        except WorkCancelledError:
            self.state = "cancelled"
        except DowseError as error:
            self.error, self.state = error, "failed"
        except Exception as error:  # noqa: BLE001  # a thread has nobody to raise to; the job tells
            self.error, self.state = DowseError(f"{type(error).__name__}: {error}"), "failed"
        self.ended_at = now_ms()
        self._ended.set()


class Jobs:
    """The work of one process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._embedding: Job | None = None
        self._more = False
        self.give_way: Callable[[], None] = lambda: None
        """What jobs call at each step: a server that is busy answering lets them wait a little here."""

    def seen_by(self, collections: frozenset[str] | None) -> "Jobs":
        """The same for somebody who sees only these collections."""
        return self if collections is None else _SomeJobs(self, collections)

    def start(
        self,
        what: str,
        work: Callable[[OnEvent], object],
        *,
        kind: str = "ingest",
        collections: Iterable[str] | None = None,
    ) -> Job:
        """Begin; `work` gets the function to report steps to, which ends it when the job is cancelled.

        Raises:
            ConflictError: so many run already.
        """
        with self._guard:
            if sum(each.state == "running" for each in self._jobs.values()) >= _MOST:
                raise ConflictError(f"{_MOST} jobs run already.", hint="Wait until one ends, or cancel one.")
            job = self._add(what, kind, None if collections is None else frozenset(collections))
        self._begin(job, work)
        return job

    def all(self) -> Mapping[str, Job]:
        """Those that run and the latest that ended, by id, oldest first."""
        with self._guard:
            return dict(self._jobs)

    def get(self, job: str) -> Job:
        """The one with this id.

        Raises:
            NotFoundError: there is none, or whoever asks may not see it.
        """
        found = self.all().get(job)
        if found is None:
            raise NotFoundError(f"There is no job {job[:100]}.", hint="Jobs end with the server that runs them.")
        return found

    def embed(self, engine: "Engine", seconds: float) -> tuple[str, ...]:
        """Give what was just ingested its vectors; beyond this time, in the background.

        Returns:
            Why there are none, for the result's `warnings`: the documents stay, found by their words.
        """

        def work(tell: OnEvent) -> None:
            try:
                while self._takes_more():
                    engine.embed(on_event=tell)
            except BaseException:
                with self._guard:
                    self._embedding = None
                raise

        with self._guard:
            self._more = True
            is_new = self._embedding is None
            job = self._embedding or self._add("Making vectors", "embed", None)
            self._embedding = job
        if is_new:
            self._begin(job, work)
        job.wait(seconds)
        return (f"{job.error.message} {job.error.hint}".strip(),) if job.error else ()

    def close(self, seconds: float = 5.0) -> None:
        """Let everything end at its next step, and wait for it."""
        for job in self.all().values():
            job.cancel()
        for job in self.all().values():
            job.wait(seconds)

    def _add(self, what: str, kind: str, collections: frozenset[str] | None) -> Job:
        """A new entry, in place of the oldest that ended; under the guard."""
        ended = [each.id for each in self._jobs.values() if each.state != "running"]
        for old in ended[: max(0, len(ended) - _KEPT)]:
            del self._jobs[old]
        job = Job(what, kind, collections, give_way=self.give_way)
        self._jobs[job.id] = job
        return job

    @staticmethod
    def _begin(job: Job, work: Callable[[OnEvent], object]) -> None:
        threading.Thread(target=job.run, args=(work,), name=f"dowse-job-{job.id}", daemon=True).start()

    def _takes_more(self) -> bool:
        """Whether something came since it was last asked; if not, the next one to come starts a new job."""
        with self._guard:
            more, self._more = self._more, False
            if not more:
                self._embedding = None
            return more


class _SomeJobs(Jobs):
    """Those of other jobs that work on nothing but these collections."""

    def __init__(self, everything: Jobs, collections: frozenset[str]) -> None:
        super().__init__()
        self._everything = everything
        self._collections = collections

    def start(
        self,
        what: str,
        work: Callable[[OnEvent], object],
        *,
        kind: str = "ingest",
        collections: Iterable[str] | None = None,
    ) -> Job:
        """Begin among all the others."""
        return self._everything.start(
            what, work, kind=kind, collections=self._collections if collections is None else collections
        )

    def all(self) -> Mapping[str, Job]:
        """Those that may be seen."""
        found = self._everything.all().items()
        return {
            name: job for name, job in found if job.collections is not None and job.collections <= self._collections
        }

    def embed(self, engine: "Engine", seconds: float) -> tuple[str, ...]:
        """Vectors are made for everything at once."""
        return self._everything.embed(engine, seconds)
