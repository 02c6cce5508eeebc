"""Connections for `web`: to the very address that was checked, and within the time that is left.

A name is resolved once. Its addresses are checked, and one of them is connected to, so that a name which
answers differently the second time (DNS rebinding) gains nothing. Certificates are verified against the name.
"""

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from ssl import SSLContext
from threading import Thread
from typing import Any
from urllib.parse import unquote

import httpcore2

from dowse.errors import SourceError
from dowse.ingest.sources.addresses import AddressPolicy, is_literal, is_public
from dowse.ingest.sources.urls import WebUrl

__all__ = ["Deadline", "Gate", "Network", "Resolver", "resolve_host", "system_proxy", "through_proxy"]

Resolver = Callable[[str, int], Sequence[str]]
"""From a host and port to numeric addresses, best first; raises OSError where there are none."""

_MOST_ADDRESSES = 4
"""That are tried, one after the other."""


def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system gives them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Deadline:
    """The end of the time for everything together."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def within(self, timeout: float | None = None) -> float:
        """The time for one step, which is what is left when that is less.

        Raises:
            httpcore2.TimeoutException: nothing is left.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the time for the whole is over")
        return left if timeout is None else min(left, timeout)


class Gate:
    """Decides, host after host of one fetch, which addresses may be connected to."""

    def __init__(self, policy: AddressPolicy, resolve: Resolver, deadline: Deadline) -> None:
        self._policy, self._resolve, self._deadline = policy, resolve, deadline
        self._came_from_public = False

    def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host, each of them allowed: a name with one that is not is refused as a whole.

        Raises:
            SourceError: reason `refused_address`, or `unreachable` for a name that has none.
        """
        found = self._looked_up(host, port)
        for address in found:
            self._policy.check(address, host, came_from_public=self._came_from_public)
        self._came_from_public = self._came_from_public or any(map(is_public, found))
        return found

    def check_behind_proxy(self, host: str, port: int) -> None:
        """Refuse what can be seen to be private from here; what only the proxy can resolve is left to it.

        Raises:
            SourceError: reason `refused_address`.
        """
        if self._policy.allow_private and not is_literal(host):
            return
        try:
            self.addresses(host, port)
        except SourceError as error:
            if error.reason == "refused_address":
                raise
            self._policy.check_name(host)

    def _looked_up(self, host: str, port: int) -> list[str]:
        if is_literal(host):
            return [host]
        answers: SimpleQueue[list[str] | OSError] = SimpleQueue()

        def look_up() -> None:
            try:
                answers.put([str(ip_address(each.partition("%")[0])) for each in self._resolve(host, port)])
            except (OSError, UnicodeError, ValueError) as error:
                answers.put(error if isinstance(error, OSError) else OSError(str(error)))

        # The system's resolver takes no time limit; a thread that nobody waits for any more ends by itself.
        Thread(target=look_up, daemon=True).start()
        try:
            answer = answers.get(timeout=self._deadline.within())
        except Empty:
            raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from None
        if isinstance(answer, OSError) or not answer:
            raise SourceError(
                f"There is no host {host}.", reason="unreachable", hint="Check its spelling and the network connection."
            )
        return answer


def system_proxy(url: WebUrl) -> str | None:
    """The proxy that the environment (HTTPS_PROXY, NO_PROXY, ...) or the system wants for an address, if any."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{url.host}:{url.real_port}"):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def through_proxy(proxy: str, tls: SSLContext | None, network: httpcore2.NetworkBackend) -> httpcore2.ConnectionPool:
    """Connections to anywhere by way of a proxy, given as a URL that may carry its login."""
    scheme, _, rest = proxy.partition("://")
    if scheme.lower() not in {"http", "https"}:
        raise SourceError(
            f"Proxies of the kind {scheme}:// cannot be used.",
            reason="unreachable",
            hint="Set HTTPS_PROXY to an http:// proxy, or NO_PROXY to the hosts that need none.",
        )
    login, has_login, server = rest.rpartition("@")
    user, _, password = login.partition(":")
    return httpcore2.HTTPProxy(
        f"{scheme.lower()}://{server}",
        proxy_auth=(unquote(user).encode(), unquote(password).encode()) if has_login else None,
        ssl_context=tls,
        network_backend=network,
    )


class Network(httpcore2.NetworkBackend):
    """Opens connections for httpcore to the addresses that a host's name was found to have."""

    def __init__(self, addresses_of: Callable[[str, int], Sequence[str]], deadline: Deadline) -> None:
        self._addresses_of, self._deadline = addresses_of, deadline
        self._system = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address that answers."""
        problem: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in self._addresses_of(host, port)[:_MOST_ADDRESSES]:
            try:
                stream = self._system.connect_tcp(
                    address, port, self._deadline.within(timeout), local_address, socket_options
                )
                return _TimedStream(stream, self._deadline)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
        raise problem


class _TimedStream(httpcore2.NetworkStream):
    """A connection whose every step ends with the deadline: a byte per second is no way around it."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.within(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.within(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.within(timeout))
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
