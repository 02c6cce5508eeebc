"""One watcher for all clients that asked for one: from the first of them to the last."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread

from dowse.engine import Engine
from dowse.errors import DowseError

__all__ = ["SharedWatch"]


class SharedWatch:
    """Follows the folders of an index while anybody wants that."""

    def __init__(self, engine: Engine, say: Callable[[str], None]) -> None:
        self._engine = engine
        self._say = say
        self._guard = Lock()
        self._wanted = 0
        self._stop: Callable[[], None] = lambda: None
        self._thread: Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether the folders are followed now."""
        return self._thread is not None and self._thread.is_alive()

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """Follow meanwhile, unless another process does."""
        with self._guard:
            self._wanted += 1
            if self._wanted == 1 or not self.is_running:
                self._start()
        try:
            yield
        finally:
            with self._guard:
                self._wanted -= 1
                if not self._wanted:
                    self._stop()

    def close(self) -> None:
        """Wait for the end of it, which nobody wants any more."""
        if self._thread is not None:
            self._stop()
            self._thread.join()

    def _start(self) -> None:
        watcher, previous = self._engine.watcher(), self._thread

        def follow() -> None:
            if previous is not None:
                previous.join()  # it was told to stop
            try:
                watcher.run()
            except DowseError as error:
                self._say(f"Not watching: {error.message} {error.hint}".rstrip())

        self._stop = watcher.stop
        self._thread = Thread(target=follow, name="dowse-watch", daemon=True)
        self._thread.start()
