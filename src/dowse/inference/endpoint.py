"""Asks a service over HTTP: one JSON question, one JSON answer, and every way in which that can fail.

What each service is asked lies above (`endpoint_embedder`, `rerank`, `chat`). This module knows time-outs, retries
with growing pauses, the circuit breaker and secrets, on the standard library's client: nothing to install,
and nothing that a search without an endpoint would import. Redirects are not followed: they would carry
the key to whomever the answer names.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol

from dowse.errors import ModelError
from dowse.inference.breaker import Breaker, Clock
from dowse.inference.connection import open_connection, reason_of, retry_after, shown
from dowse.records import record

if TYPE_CHECKING:
    import http.client
    import socket

_LARGEST_ANSWER = 256 << 20
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 8.0
_AGAIN = {408, 425, 429, 500, 502, 503, 504, 529}
_AWAY = "Start the service, or correct its address in the configuration."
_SLOW = "Use a faster model or machine, or give it more time: ;timeout=SECONDS"
_HINTS = {
    401: "Check the key: name its environment variable with ;key=VARIABLE",
    403: "Check the key and what it may do: ;key=VARIABLE",
    404: "Check the address (it usually ends in /v1) and the name of the model.",
    405: "Check the address: it usually ends in /v1",
}
_TOO_LONG = re.compile(
    r"too (large|long|many tokens)|context (length|size|window)|max\w* (\w+ )*(length|tokens)|exceed", re.IGNORECASE
)


@record
class Patience:
    """How long one question may take."""

    total: float
    """Seconds for everything, retries and pauses included."""
    connect: float = 3.0
    retries: int = 1


class RefusedError(ModelError):
    """The service answered and said no: asking the same again would not help."""

    def __init__(self, message: str, *, hint: str, status: int, said: str) -> None:
        super().__init__(message, hint=hint, details={"status": status})
        self.status = status
        self.too_long = status == 413 or bool(_TOO_LONG.search(said))  # noqa: PLR2004 - "content too large"


class _FailedError(Exception):
    """One attempt failed in a way that may pass; `pause` is what the service asked for."""

    def __init__(self, reason: str, pause: float | None = None, *, is_late: bool = False) -> None:
        super().__init__(reason)
        self.pause = pause
        self.is_late = is_late


class _Watch:
    """Ends a conversation when its time is over.

    A service that sends a byte now and then would never run into the time-out of a socket.
    """

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._seconds = seconds
        self._timer: Timer | None = None

    def start(self, wire: "socket.socket") -> None:
        wire.settimeout(self._seconds)
        self._timer = Timer(self._seconds, self._end, (wire,))
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self, wire: "socket.socket") -> None:
        self.expired = True
        with suppress(OSError):  # over already
            wire.shutdown(2)  # both ways


class Service(Protocol):
    """Something that answers JSON with JSON: an address, or a library in this process that speaks the same."""

    @property
    def name(self) -> str:
        """Where it is, for messages and for telling results apart."""
        ...

    def ask(self, path: str, body: Mapping[str, object], patience: Patience) -> Any:
        """The parsed answer to this body at this path; ModelError when there is none."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Endpoint:
    """A service at an address. Safe to share by threads; every question has a connection of its own."""

    def __init__(self, url: str, *, key_variable: str = "", clock: Clock | None = None) -> None:
        self._url = url
        self._key_variable = key_variable
        self._clock = clock or Clock()
        self.breaker = Breaker(self._clock)

    @property
    def name(self) -> str:
        """The address."""
        return self._url

    def close(self) -> None:
        """Nothing is held between questions."""

    def ask(self, path: str, body: Mapping[str, object], patience: Patience) -> Any:
        """Post the body to this path below the address and parse the answer, trying again where that may help."""
        import json  # this and http.client: only where an endpoint is configured

        if wait := self.breaker.wait():
            raise ModelError(
                f"{self._url} failed repeatedly and is not asked for another {wait:.0f} s ({self.breaker.reason}).",
                hint=_AWAY,
            )
        key = self._key()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "dowse"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        raw = self._try(path, json.dumps(body).encode(), headers, patience)
        try:
            return json.loads(raw)
        except ValueError as error:
            words = shown(raw, key)
            self.breaker.failed("its answer is not JSON")
            raise ModelError(
                f"{self._url}{path} answered with something that is not JSON: {words}",
                hint="Check the address: it should be that of the API, not of a web page.",
            ) from error

    def _try(self, path: str, body: bytes, headers: Mapping[str, str], patience: Patience) -> bytes:
        deadline = self._clock.now() + patience.total
        for attempt in range(patience.retries + 1):
            try:
                answer = self._once(path, body, headers, patience, deadline)
            except _FailedError as failure:
                left = deadline - self._clock.now()
                growing = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE) * (0.5 + self._clock.chance() / 2)
                pause = growing if failure.pause is None else failure.pause
                if attempt == patience.retries or pause >= left:
                    self.breaker.failed(str(failure), pause=failure.pause or 0.0)
                    times = f" after {attempt + 1} attempts" if attempt else ""
                    raise ModelError(
                        f"{self._url} did not answer{times}: {failure}.",
                        hint=_SLOW if failure.is_late else _AWAY,
                    ) from failure
                self._clock.sleep(pause)
            else:
                self.breaker.succeeded()
                return answer
        raise AssertionError  # the last attempt returned or raised

    def _once(self, path: str, body: bytes, headers: Mapping[str, str], patience: Patience, deadline: float) -> bytes:
        from http.client import HTTPException

        left = max(deadline - self._clock.now(), 0.01)
        connection, target, extra = open_connection(self._url + path, min(patience.connect, left))
        watch = _Watch(left)
        try:
            connection.connect()
            watch.start(connection.sock)
            connection.request("POST", target, body, {**headers, **extra})
            response = connection.getresponse()
            raw = response.read(_LARGEST_ANSWER)
        except (OSError, HTTPException) as error:
            is_late = watch.expired or isinstance(error, TimeoutError)
            reason = f"no answer within {left:.3g} s" if is_late else reason_of(error)
            raise _FailedError(reason, is_late=is_late) from error
        finally:
            watch.stop()
            connection.close()
        if watch.expired:
            raise _FailedError(f"no complete answer within {left:.3g} s", is_late=True)
        if response.length:
            raise _FailedError("its answer broke off")
        self._check(path, response, raw, headers)
        return raw

    def _check(self, path: str, response: "http.client.HTTPResponse", raw: bytes, headers: Mapping[str, str]) -> None:
        status = response.status
        if 200 <= status < 300:  # noqa: PLR2004 - HTTP's successes
            return
        said = shown(raw, headers.get("Authorization", "").removeprefix("Bearer "))
        reason = f"status {status}" + (f", {said}" if said else "")
        if status in _AGAIN and not _TOO_LONG.search(said):
            raise _FailedError(reason, retry_after(response.headers.get("Retry-After")))
        self.breaker.succeeded()  # it is there, and has an opinion
        hint = _HINTS.get(status, "Check the name of the model and its options in the configuration.")
        if 300 <= status < 400:  # noqa: PLR2004 - HTTP's redirects
            hint = f"Write the new address into the configuration: {response.headers.get('Location', 'none given')}"
        raise RefusedError(f"{self._url}{path} refused: {reason}.", hint=hint, status=status, said=said)

    def _key(self) -> str:
        if not self._key_variable:
            return ""
        key = os.environ.get(self._key_variable, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise ModelError(
                f"The environment variable {self._key_variable}, which should hold the key for {self._url}, "
                + ("holds something that cannot be one." if key else "is not set."),
                hint=f"Set it where dowse is started: export {self._key_variable}=…",
            )
        return key
