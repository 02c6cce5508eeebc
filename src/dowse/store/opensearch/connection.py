"""Requests to the cluster: the client, its errors in our words, and bulk writes that wait where they must.

Every request has a time limit and goes to another node when one does not answer. All of them may be repeated:
ids are chosen here, and what must not happen twice carries the version that it was decided on.
"""

import json
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import chain
from typing import Any

from dowse.errors import DowseError, StoreError, StoreUnavailableError
from dowse.records import record
from dowse.store.opensearch.address import Address
from dowse.store.opensearch.failures import in_our_words

__all__ = ["Connection", "Outcome", "Write"]

_INSTALL = 'Install it: pip install "dowse[opensearch]"'
_BULK_BYTES = 1 << 20
_BULK_WRITES = 1_000
_UNDER_WAY = 2
"""How many bulks of one call are with the cluster at the same time."""
_BUSY = frozenset({429, 502, 503, 504})
_BULK_PATIENCE = 3.0
"""How many time-outs one bulk may take."""
_PATIENCE = 12.0
"""How many time-outs an overloaded cluster, or one that lacks a copy, is waited for."""
_LONGEST_PAUSE = 2.0


@record
class Write:
    """One write of a bulk: its action with the address of the document, and its body."""

    action: str
    """index, create, update or delete."""
    index: str
    id: str
    body: Mapping[str, Any] | None = None
    routing: str = ""
    on: tuple[int, int] | None = None
    """The sequence number and primary term that the document must still have."""


@record
class Outcome:
    """What became of one write."""

    status: int
    error: str = ""

    @property
    def conflict(self) -> bool:
        """Whether the document was no longer what the write was decided on."""
        return self.status == 409  # noqa: PLR2004 - HTTP


class Connection:
    """The one way to the cluster. Safe to share between threads."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._client: Any = None
        self.closed = False
        self._opening = threading.Lock()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
        *,
        missing: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """The answer to one request; with `missing`, None where there is no such thing.

        Raises:
            StoreError: the cluster cannot be asked or refuses, each case in words of its own.
        """
        client = self._open()
        plain = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in (params or {}).items()
        }
        try:
            answer = client.transport.perform_request(
                method, path, params={**plain, "request_timeout": timeout or self.address.timeout}, body=body
            )
        except Exception as error:
            if missing and getattr(error, "status_code", None) == 404:  # noqa: PLR2004 - HTTP
                return None
            translated = in_our_words(error, self.address)
            if translated is None:
                raise
            raise translated from error
        return answer

    @cached_property
    def major(self) -> int:
        """The first number of the server's version."""
        return int(self.request("GET", "/")["version"]["number"].split(".")[0])

    def get(self, index: str, id: str, routing: str = "") -> Mapping[str, Any] | None:  # noqa: A002 - its name there
        """One document as it is now, refreshed or not; None where there is none."""
        params = {"routing": routing} if routing else {}
        answer = self.request("GET", f"/{index}/_doc/{id}", params=params, missing=True)
        return answer if answer and answer.get("found") else None

    def get_many(self, keys: Sequence[tuple[str, str, str]], source: Sequence[str] = ("*",)) -> dict[str, Any]:
        """Documents by (index, id, routing) as they are now; those that are not there are left out."""
        found: dict[str, Any] = {}
        for start in range(0, len(keys), _BULK_WRITES):
            docs = [
                {"_index": index, "_id": id_, "_source": list(source), **({"routing": routing} if routing else {})}
                for index, id_, routing in keys[start : start + _BULK_WRITES]
            ]
            for each in self.request("POST", "/_mget", {"docs": docs})["docs"]:
                if "error" in each:
                    raise StoreUnavailableError(
                        f"The cluster could not read {each['_id']}: {each['error'].get('reason', '')}.",
                        hint="See whether it is red: GET /_cluster/health",
                    )
                if each.get("found"):
                    found[each["_id"]] = each
        return found

    def write(self, writes: Iterable[Write], *, tolerate: frozenset[int] = frozenset()) -> list[Outcome]:
        """Carry these out in as many bulks as it takes; each is on at least two copies when this returns.

        Rejected writes, and those that reached too few copies, are repeated with growing pauses. Conflicts are
        the caller's to understand; other failures raise unless their status is tolerated.
        """
        batches = _batches(writes)
        first, second = next(batches, None), next(batches, None)
        if second is None:
            return self._bulk(first, tolerate) if first else []
        return self._overlapped(chain([first or [], second], batches), tolerate)

    def _overlapped(self, batches: Iterable[list[Write]], tolerate: frozenset[int]) -> list[Outcome]:
        """A few bulks at a time, so that the nodes work while the next one is put into words."""
        outcomes: list[Outcome] = []
        under_way: deque[Future[list[Outcome]]] = deque()
        with ThreadPoolExecutor(_UNDER_WAY) as pool:
            for batch in batches:
                under_way.append(pool.submit(self._bulk, batch, tolerate))
                if len(under_way) > _UNDER_WAY:
                    outcomes += under_way.popleft().result()
            for each in under_way:
                outcomes += each.result()
        return outcomes

    def _bulk(self, batch: Sequence[Write], tolerate: frozenset[int]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        left = list(range(len(batch)))
        deadline = time.monotonic() + _PATIENCE * self.address.timeout
        pause = 0.05
        reason = ""
        while left:
            again = []
            for place, item in zip(left, self._send([batch[place] for place in left]), strict=True):
                status, error = item["status"], item.get("error") or {}
                reason = error.get("reason", "") or "too few copies are there"
                copies = item.get("_shards", {}).get("successful", self.address.copies)
                if status in _BUSY or (not error and copies < self.address.copies):
                    again.append(place)
                elif status >= 400 and status not in {404, 409} | tolerate:  # noqa: PLR2004 - HTTP
                    raise in_our_words(error, self.address, status) or StoreError(f"The cluster refused: {reason}")
                else:
                    outcomes[place] = Outcome(status, error.get("reason", ""))
            left = again
            if left and time.monotonic() > deadline:
                waited = _PATIENCE * self.address.timeout
                raise StoreUnavailableError(
                    f"The cluster did not take {len(left)} writes in {waited:.0f} s: {reason}.",
                    hint="Every shard needs a copy on two nodes: GET /_cluster/health says which are missing.",
                )
            if left:
                time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - spreads writers out
                pause = min(_LONGEST_PAUSE, 2 * pause)
        return [outcomes[place] for place in range(len(batch))]

    def _send(self, batch: Sequence[Write]) -> list[dict[str, Any]]:
        lines: list[str] = []
        for write in batch:
            lines.append(json.dumps({write.action: _target(write)}))
            if write.action != "delete":
                lines.append(json.dumps(write.body or {}))
        params = {"wait_for_active_shards": self.address.copies, "timeout": f"{self.address.timeout:.0f}s"}
        answer = self.request(
            "POST", "/_bulk", "\n".join(lines) + "\n", params, timeout=_BULK_PATIENCE * self.address.timeout
        )
        return [next(iter(item.values())) for item in answer["items"]]

    def refresh(self, *indexes: str) -> None:
        """Make everything that was written so far visible to searches."""
        answer = self.request("POST", f"/{','.join(indexes)}/_refresh")
        if answer["_shards"]["failed"]:
            raise StoreUnavailableError("Not every shard could be refreshed.", hint="GET /_cluster/health")

    def until_done(self, act: Callable[[], bool]) -> None:
        """Repeat an act until it says that it is done: for writes that others get in the way of."""
        for attempt in range(50):
            if act():
                return
            time.sleep(random.uniform(0, min(1.0, 0.01 * 2 ** min(attempt, 7))))  # noqa: S311 - spreads writers out
        raise StoreUnavailableError(
            "Others wrote the same all the time; nothing was changed.", hint="Try again, with fewer writers."
        )

    def close(self) -> None:
        """Let go of the sockets."""
        self.closed = True
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _open(self) -> Any:
        if self.closed:
            raise StoreError("The store is closed.", hint="Open it again.")
        with self._opening:
            if self._client is None:
                self._client = _client(self.address)
            return self._client


def _client(address: Address) -> Any:
    try:
        from opensearchpy import OpenSearch, Urllib3HttpConnection
    except ImportError as error:
        raise DowseError("The client of OpenSearch is not installed.", hint=_INSTALL) from error
    logging.getLogger("opensearch").addHandler(logging.NullHandler())  # it tells stderr of every 404 otherwise
    headers = {"Authorization": f"Bearer {address.token}"} if address.token else None
    return OpenSearch(
        hosts=[{"host": host, "port": port} for host, port in address.hosts],
        http_auth=(address.user, address.password) if address.user and not address.token else None,
        headers=headers,
        use_ssl=address.tls,
        verify_certs=address.verify,
        ssl_show_warn=False,
        connection_class=Urllib3HttpConnection,
        pool_maxsize=16,
        timeout=address.timeout,
        max_retries=max(2, len(address.hosts)),
        retry_on_timeout=True,
        retry_on_status=(502, 503, 504),
        dead_timeout=5,
        http_compress=False,
    )


def _target(write: Write) -> dict[str, Any]:
    target: dict[str, Any] = {"_index": write.index, "_id": write.id}
    if write.routing:
        target["routing"] = write.routing
    if write.on is not None:
        target["if_seq_no"], target["if_primary_term"] = write.on
    if write.action == "update":
        target["retry_on_conflict"] = 5
    return target


def _batches(writes: Iterable[Write]) -> Iterator[list[Write]]:
    """As many writes as one request may carry, by number and by an estimate of their bytes."""
    batch: list[Write] = []
    size = 0
    for write in writes:
        batch.append(write)
        size += _weight(write.body)
        if len(batch) >= _BULK_WRITES or size >= _BULK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _weight(value: Any) -> int:
    """About how many bytes a value takes as JSON."""
    if isinstance(value, str):
        return len(value) + 8
    if isinstance(value, Mapping):
        return sum(_weight(each) for each in value.values()) + 16 * len(value)
    if isinstance(value, list | tuple):
        return 12 * len(value) if value and isinstance(value[0], float) else sum(map(_weight, value))
    return 12
