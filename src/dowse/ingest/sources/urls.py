"""Web addresses, parsed once: what is shown, what is a key, and what is connected to are the same parts."""

import re
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from dowse.errors import UsageError
from dowse.ingest.sources.addresses import canonical_host

__all__ = ["WebUrl", "parse_url"]

_PORTS = {"http": 80, "https": 443}
_SHAPE = re.compile(r"(https?):/*([^/?#\\]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.DOTALL)
_PORT = re.compile(r"(.*?)(?::([0-9]*))?", re.DOTALL)
_HIGHEST_PORT = 65_535
_LONGEST = 16_384
_ESCAPE_OR_FOREIGN = re.compile(r"%([0-9A-Fa-f]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@/?-]")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


class WebUrl(NamedTuple):
    """The parts of an http or https address, each in its normal form; the fragment is none of them."""

    scheme: str
    host: str
    """An IPv6 address without its brackets."""
    port: int | None
    """None for the usual one."""
    target: str
    """Path and query."""

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL and in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def real_port(self) -> int:
        """The port to connect to."""
        return self.port or _PORTS[self.scheme]

    @property
    def name(self) -> str:
        """What a file of this address would be called; the host with a slash, so that docs.rs is no Rust file."""
        last = self.target.partition("?")[0].rstrip("/").rpartition("/")[2]
        return unquote(last, errors="replace") or f"{self.authority}/"

    def join(self, location: str) -> "WebUrl":
        """Where a link on this page leads.

        Raises:
            UsageError: to no http or https address, or to none that may be used.
        """
        try:
            return parse_url(urljoin(self.text, location.strip()))
        except ValueError as error:
            raise UsageError(f"{_shown(location)} is no web address ({error}).") from error


def parse_url(text: str) -> WebUrl:
    """Take a web address apart.

    Raises:
        UsageError: it is none, or it carries a password.
    """
    text = text.strip()
    found = _SHAPE.fullmatch(text)
    if not found or len(text) > _LONGEST:
        raise UsageError(f"{_shown(text)} is no web address.", hint="It looks like https://example.org/page.html")
    scheme, authority, path, query = found[1].lower(), found[2], found[3], found[4] or ""
    if "@" in authority:
        raise UsageError(
            f"The address of {_shown(authority.rpartition('@')[2])} carries a user name or password.",
            hint="Addresses are stored and shown: leave it out, or download the file and give its path.",
        )
    host, port = _host_and_port(authority)
    target = _without_dots(_escaped(path.replace("\\", "/"))) + _escaped(query)
    url = WebUrl(scheme, host, None if port == _PORTS[scheme] else port, target)
    if len(url.text) > _LONGEST:  # when it is read again it would be none
        raise UsageError(f"{_shown(url.text)} is too long.", hint="Download the file and give its path.")
    return url


def _host_and_port(authority: str) -> tuple[str, int | None]:
    host, port = authority, ""
    if not authority.endswith("]") and (found := _PORT.fullmatch(authority)):
        host, port = found[1], found[2] or ""
    try:
        if _CONTROL.search(authority):
            raise ValueError("it has white space in it")
        number = int(port) if port else None
        if number is not None and not 0 < number <= _HIGHEST_PORT:
            raise ValueError("there is no such port")
        return canonical_host(host), number
    except ValueError as error:
        raise UsageError(
            f"{_shown(authority)} is no host of the web ({error}).", hint="It looks like https://example.org/page.html"
        ) from error


def _escaped(part: str) -> str:
    """Everything that no URL may hold percent-encoded, and nothing that needs not be."""

    def normal(found: re.Match[str]) -> str:
        if found[1] is None:
            return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))
        character = chr(int(found[1], 16))
        return character if _UNRESERVED.fullmatch(character) else found[0].upper()

    return _ESCAPE_OR_FOREIGN.sub(normal, part)


def _without_dots(path: str) -> str:
    """The path that `.` and `..` in this one lead to, always from the root."""
    *folders, last = path.split("/")[1:] or [""]
    kept: list[str] = []
    for part in (*folders, last) if last not in {".", ".."} else (*folders, last, ""):
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    return "/" + "/".join(kept)


def _shown(text: str) -> str:
    """A text from outside, short and on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"  # noqa: PLR2004 - as much as fits a message
