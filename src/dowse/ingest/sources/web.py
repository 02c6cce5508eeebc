"""Web pages and files: fetched once, or only if they changed, without trusting the server or the network.

Every hop of a redirect is checked like the first one, and https never leads back to http. Time and size have
limits that hold for everything together. Cookies and credentials are neither kept nor sent.

A proxy that the system is set up with is used. Then it, not Dowse, resolves the names: an address is still
refused when it can be seen to be private from here, but the promise of `connections` is the proxy's to keep.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from email.message import Message
from email.utils import formatdate, parsedate_to_datetime
from functools import cache
from ssl import SSLCertVerificationError, SSLContext, SSLError
from typing import Final, NamedTuple

import httpcore2

from dowse import __version__
from dowse.errors import SourceError, UsageError
from dowse.ingest.sources.addresses import AddressPolicy
from dowse.ingest.sources.bodies import CODINGS, check_announced, read_body
from dowse.ingest.sources.connections import (
    Deadline,
    Gate,
    Network,
    Resolver,
    resolve_host,
    system_proxy,
    through_proxy,
)
from dowse.ingest.sources.urls import WebUrl, parse_url
from dowse.records import record
from dowse.types import Fingerprint

__all__ = ["FetchLimits", "Fetched", "NotModified", "fetch"]

_OK = frozenset({200, 203})
_NOT_MODIFIED = 304
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SECOND = 1_000_000_000
_HEADERS: Final = (
    ("User-Agent", f"dowse/{__version__}"),
    # Pages that are kept in Markdown too are best had that way.
    ("Accept", "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.7"),
    ("Accept-Encoding", CODINGS),
)
_LOGIN = "It wants a login: download it with your browser and give the file's path."
_GONE = "Check the address in a browser."
_LATER = "Try again later."
_STATUS_HINTS = {401: _LOGIN, 403: _LOGIN, 407: _LOGIN, 404: _GONE, 410: _GONE}
_BY_HAND = "Download the file and give its path."


@record
class FetchLimits:
    """How long and how much."""

    max_bytes: int = 20 << 20
    """After unpacking."""
    connect_seconds: float = 10.0
    """For each address that is tried, and for the TLS handshake."""
    read_seconds: float = 30.0
    """Without a single byte."""
    total_seconds: float = 120.0
    """For everything, redirects included."""
    max_redirects: int = 8


@record
class Fetched:
    """What a server gave."""

    data: bytes
    url: str
    """Where it came from in the end."""
    media_type: str
    """As the server says, in lower case; empty where it says nothing."""
    charset: str
    name: str
    """What the file is called: by the server, or by its address."""
    fingerprint: Fingerprint
    """Size, time of the last change (0 if unknown) and ETag: give it back as `before`."""


@record
class NotModified:
    """It is what it was."""

    url: str
    fingerprint: Fingerprint


class _Redirect(NamedTuple):
    location: str


def fetch(
    url: str,
    *,
    limits: FetchLimits | None = None,
    policy: AddressPolicy | None = None,
    before: Fingerprint | None = None,
    resolve: Resolver = resolve_host,
    proxy_for: Callable[[WebUrl], str | None] = system_proxy,
    tls: SSLContext | None = None,
) -> Fetched | NotModified:
    """Get what is at a web address, or learn that it is still what `before` was made of.

    Raises:
        SourceError: reason `unreachable`, `timeout`, `bad_certificate`, `refused_address`, `bad_redirect`,
            `bad_response`, `too_large`, or `http_404` and the like for other statuses.
        UsageError: the address is none that can be fetched.
    """
    asking = _Asking(limits or FetchLimits(), policy or AddressPolicy(), before, resolve, proxy_for, tls)
    place = parse_url(url)
    for hops in range(asking.limits.max_redirects + 1):
        answer = asking.ask(place, is_first=not hops)
        if not isinstance(answer, _Redirect):
            return answer
        place = _redirected(place, answer.location, asking.policy)
    raise SourceError(
        f"{url} redirects more than {asking.limits.max_redirects} times.",
        reason="bad_redirect",
        hint="Open it in a browser and give the address that it ends at.",
    )


def _redirected(place: WebUrl, location: str, policy: AddressPolicy) -> WebUrl:
    try:
        target = place.join(location)
    except UsageError as error:
        raise SourceError(
            f"{place.text} redirects to no web address: {error.message}", reason="bad_redirect", hint=_BY_HAND
        ) from error
    if (place.scheme, target.scheme) == ("https", "http"):
        raise SourceError(
            f"{place.text} redirects to {target.text}, which anybody on the way could change.",
            reason="bad_redirect",
            hint="If that is meant, give this second address itself.",
        )
    if not policy.may_follow(target.text):
        raise SourceError(
            f"{place.text} redirects to {target.text}, which may not be fetched.",
            reason="refused_address",
            hint="Addresses are allowed at the start of the server: --allow-urls PATTERN",
        )
    return target


class _Asking:
    """One fetch, through all its redirects."""

    def __init__(
        self,
        limits: FetchLimits,
        policy: AddressPolicy,
        before: Fingerprint | None,
        resolve: Resolver,
        proxy_for: Callable[[WebUrl], str | None],
        tls: SSLContext | None,
    ) -> None:
        self.limits, self.policy = limits, policy
        self._before, self._resolve, self._proxy_for, self._tls = before, resolve, proxy_for, tls
        self._started = time.time_ns()
        self._deadline = Deadline(limits.total_seconds)
        self._gate = Gate(policy, resolve, self._deadline)

    def ask(self, place: WebUrl, *, is_first: bool) -> Fetched | NotModified | _Redirect:
        """Send one request and read its answer."""
        steps = {"connect": self.limits.connect_seconds, "read": self.limits.read_seconds}
        steps |= {"write": self.limits.read_seconds, "pool": self.limits.connect_seconds}
        target = httpcore2.URL(scheme=place.scheme, host=place.host, port=place.port, target=place.target)
        conditions = self._conditions(is_first=is_first)
        headers = [("Host", place.authority), *_HEADERS, ("Connection", "close"), *conditions]
        try:
            with (
                self._pool(place) as pool,
                pool.stream("GET", target, headers=headers, extensions={"timeout": steps}) as response,
            ):
                return self._read(place, response, self._before if conditions else None)
        except httpcore2.TimeoutException as error:
            raise SourceError(f"{place.text} takes too long to answer.", reason="timeout", hint=_LATER) from error
        except httpcore2.ProxyError as error:
            raise SourceError(
                f"The proxy does not let {place.text} through ({error}).",
                reason="unreachable",
                hint="Check HTTPS_PROXY and NO_PROXY.",
            ) from error
        except httpcore2.ConnectError as error:
            raise _unreachable(place, error) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise SourceError(
                f"{place.text} broke off, or does not speak HTTP ({error}).", reason="bad_response", hint=_LATER
            ) from error

    def _conditions(self, *, is_first: bool) -> list[tuple[str, str]]:
        """Ask only for what is new. After a redirect the time says nothing: it may lead to another, older page."""
        if self._before is None:
            return []
        if etag := _short(self._before.etag):  # it may have come with an imported collection
            return [("If-None-Match", etag)]
        if self._before.mtime_ns and is_first:
            return [("If-Modified-Since", formatdate(self._before.mtime_ns // _SECOND, usegmt=True))]
        return []

    def _pool(self, place: WebUrl) -> httpcore2.ConnectionPool:
        tls = (self._tls or _system_tls()) if place.scheme == "https" else None
        proxy = self._proxy_for(place)
        if proxy is None:
            network = Network(self._gate.addresses, self._deadline)
            return httpcore2.ConnectionPool(ssl_context=tls, network_backend=network)
        self._gate.check_behind_proxy(place.host, place.real_port)
        # The proxy is the user's own choice, and mostly in a private network: any address of it will do.
        free = Gate(AddressPolicy(allow_private=True), self._resolve, self._deadline)
        return through_proxy(proxy, tls, Network(free.addresses, self._deadline))

    def _read(
        self, place: WebUrl, response: httpcore2.Response, before: Fingerprint | None
    ) -> Fetched | NotModified | _Redirect:
        headers = Message()
        for key, value in response.headers:
            headers[key.decode("latin-1")] = _decoded(value)
        if response.status in _REDIRECTS and headers["Location"]:
            return _Redirect(headers["Location"])
        etag = _short(headers["ETag"] or "")
        if response.status == _NOT_MODIFIED and before is not None:
            return NotModified(place.text, replace(before, read_ns=self._started, etag=etag or before.etag))
        if response.status not in _OK:
            raise _bad_status(place, response.status, headers["Retry-After"])
        check_announced(headers["Content-Length"] or "", self.limits.max_bytes, place.text)
        data = read_body(response.iter_stream(), headers["Content-Encoding"] or "", self.limits.max_bytes, place.text)
        return Fetched(
            data=data,
            url=place.text,
            media_type=headers.get_content_type() if headers["Content-Type"] else "",
            charset=headers.get_content_charset("") if headers["Content-Type"] else "",
            name=_file_name(headers) or place.name,
            fingerprint=Fingerprint(len(data), _mtime_ns(headers["Last-Modified"]), 0, self._started, etag),
        )


@cache
def _system_tls() -> SSLContext:
    """Trust what the system trusts; loading its certificates takes a while, so this is done once."""
    return httpcore2.default_ssl_context()


def _unreachable(place: WebUrl, error: httpcore2.ConnectError) -> SourceError:
    cause = next((each for each in error.args if isinstance(each, OSError)), error)  # its own cause is cut off
    if isinstance(cause, SSLCertVerificationError):
        return SourceError(
            f"{place.host} shows a certificate that cannot be trusted ({cause.verify_message}).",
            reason="bad_certificate",
            hint="Is the clock right? A company's own authority goes into the system's store, or SSL_CERT_FILE.",
        )
    if isinstance(cause, SSLError):
        return SourceError(
            f"No secure connection to {place.host} can be made ({cause.reason or cause}).",
            reason="bad_certificate",
            hint="Does this server speak http:// only?",
        )
    return SourceError(
        f"{place.host} cannot be reached ({cause}).", reason="unreachable", hint="Is it running, and the network up?"
    )


def _bad_status(place: WebUrl, status: int, retry_after: str | None) -> SourceError:
    wait = f"Try again in {retry_after} seconds." if retry_after and retry_after.isdecimal() else _LATER
    return SourceError(
        f"{place.text} answers with status {status}.",
        reason=f"http_{status}",
        hint=_STATUS_HINTS.get(status, wait),
    )


def _decoded(value: bytes) -> str:
    """A header's value: UTF-8 where it is, though only Latin-1 is promised."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _short(etag: str) -> str:
    """An ETag that can be sent back as it is, else none."""
    longest = 1_024
    return etag if len(etag) <= longest and etag.isascii() and etag.isprintable() else ""


def _mtime_ns(last_modified: str | None) -> int:
    try:
        return max(0, int(parsedate_to_datetime(last_modified or "").timestamp())) * _SECOND
    except (TypeError, ValueError, OverflowError, IndexError):
        return 0


def _file_name(headers: Message) -> str:
    """The file name of a Content-Disposition header, without any folder in it."""
    name = (headers.get_filename() or "") if headers["Content-Disposition"] else ""
    return "".join(each for each in name.replace("\\", "/").rpartition("/")[2] if each.isprintable()).strip()
