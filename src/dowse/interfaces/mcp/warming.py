"""The model is loaded in the background, once somebody is there who may ask for it.

The handshake and the list of tools come first: they are answered before anything heavy is imported. Afterwards a
thread loads the model, so that the first search by meaning seldom waits. One that comes earlier waits for that same
load, which is a matter of a second; searches by words wait for nothing.
"""

import logging
import threading

from dowse.engine import Engine
from dowse.errors import DowseError

__all__ = ["WarmUp"]

_log = logging.getLogger(__name__)

_DELAY = 0.5  # seconds after the tools were listed: clients ask for more lists first, and some leave after that


class WarmUp:
    """Loads the model of one engine, once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def start(self) -> None:
        """Begin soon, unless that was said before."""
        with self._guard:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._load, name="dowse-warm-up", daemon=True)
                self._thread.start()

    def wait(self) -> None:
        """Wait until it is done, if it was begun."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Do not begin any more; what is being loaded is waited for, as libraries cannot be left half-way."""
        with self._guard:
            self._closed.set()
        self.wait()

    def _load(self) -> None:
        if self._closed.wait(_DELAY):
            return
        try:
            self._engine.warm_up()
        except DowseError as error:  # whoever searches by meaning is told
            _log.info("not loaded in advance: %s", error.message)
        except Exception:  # noqa: BLE001  # a thread has nobody to raise to
            _log.exception("loading in advance failed unexpectedly")
