"""Small parts of speaking HTTP: connections, proxies, `Retry-After`, and what may be shown of an answer."""

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import http.client
    from urllib.parse import SplitResult

_SHOWN = 200
"""Characters of a service's own words that fit into a message."""


def open_connection(url: str, timeout: float) -> "tuple[http.client.HTTPConnection, str, dict[str, str]]":
    """A connection for this address, what to ask it for, and the headers that a proxy wants."""
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    proxy = _proxy(parts)
    if proxy is None:
        return kind(host, port, timeout=timeout), parts.path, {}
    from base64 import b64encode
    from urllib.parse import unquote

    extra = {}
    if proxy.username is not None:
        login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        extra["Proxy-Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
    if parts.scheme == "http":
        plain = http.client.HTTPConnection(proxy.hostname or "", proxy.port, timeout=timeout)
        return plain, f"http://{parts.netloc}{parts.path}", extra
    secure = kind(proxy.hostname or "", proxy.port, timeout=timeout)
    secure.set_tunnel(host, port, extra)
    return secure, parts.path, {}


def _proxy(parts: "SplitResult") -> "SplitResult | None":
    """The proxy that the environment names for this address; this machine itself is always asked directly."""
    host = parts.hostname or ""
    if host in {"localhost", "::1"} or host.startswith("127."):
        return None
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found or proxy_bypass(host):
        return None
    return urlsplit(found if "://" in found else f"http://{found}")


def retry_after(value: str | None) -> float | None:
    """What the header asks for, in seconds, given as a number or as a date."""
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def reason_of(error: Exception) -> str:
    """What went wrong with a connection, as the end of a sentence."""
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def shown(raw: bytes, key: str) -> str:
    """The service's own words, short, on one line, and without the key should they repeat it."""
    text = raw[: 4 * _SHOWN].decode("utf-8", "replace")
    found = re.search(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    words = " ".join((found[1] if found else text).split())
    if key:
        words = words.replace(key, "***")
    return "".join(filter(str.isprintable, words))[:_SHOWN]
