"""Who is let in: by which names the server may be called, from which pages, and what a token is good for."""

from collections.abc import Callable
from dataclasses import replace
from secrets import compare_digest
from urllib.parse import urlsplit

from dowse.interfaces.http.errors import ForeignHostError, ForeignOriginError, UnauthorizedError
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.tokens import Token
from dowse.records import record

from starlette.datastructures import Headers  # isort: skip

__all__ = ["Door", "Visitor", "unauthorized"]

_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


@record
class Visitor:
    """Whose request it is: what it may do, and by what its requests are counted."""

    access: Access
    name: str


@record
class Door:
    """The rules of one server."""

    access: Access
    """What whoever has the server's own token may do; nobody may do more."""
    token: str
    """Empty: there is none but those that were made."""
    hosts: tuple[str, ...] = _LOCAL_NAMES
    """Names and addresses, without ports, that requests may be addressed to."""
    reads_need_token: bool = False
    """Else whoever has none may read."""
    origins: tuple[str, ...] = ()
    """Of web pages elsewhere that may call this server."""
    find: Callable[[str], Token | None] = lambda _: None
    """The token that was made with this secret."""

    def visitor_of(self, headers: Headers, client: str) -> Visitor:
        """Who sends a request.

        Raises:
            UnauthorizedError: somebody without a token where one is needed, or with one that is none (any more).
        """
        scheme, _, given = headers.get("authorization", "").partition(" ")
        given = given.strip()
        if not given:
            if self.reads_need_token or scheme:
                raise unauthorized()
            return Visitor(replace(self.access, lacks_token=True), f"address {client}")
        if scheme.lower() != "bearer":
            raise unauthorized()
        if self.token and compare_digest(given.encode(errors="replace"), self.token.encode()):
            return Visitor(self.access, "token of the server")
        token = self.find(given)
        if token is None:
            raise unauthorized()
        allowed = replace(self.access, read_only=self.access.read_only or token.read_only)
        if token.collections is not None:
            # Of the disk it sees the folders of its collections alone: else it could ingest what others hold.
            allowed = replace(allowed, collections=frozenset(token.collections), roots=())
        return Visitor(allowed, f"token {token.id}")

    def check_host(self, headers: Headers) -> None:
        """Whether the request is addressed to this server, and not to a name that somebody made point here.

        Raises:
            ForeignHostError: it is not.
        """
        host = headers.get("host", "")
        if _without_port(host) not in self.hosts:
            raise ForeignHostError(
                f"{host[:100]!r} is no name of this server.", hint="Allow a name at the start: --allow-host NAME"
            )

    def check_origin(self, headers: Headers) -> str:
        """The page elsewhere that sends the request; empty for one of our own, or for no page.

        Raises:
            ForeignOriginError: one that may not.
        """
        origin = headers.get("origin")
        if origin is None:
            return ""
        if origin in self.origins:
            return origin
        if _parts_of(origin) in {("http", headers.get("host", "")), ("https", headers.get("host", ""))}:
            return ""
        raise ForeignOriginError(
            f"Pages of {origin[:100]!r} may not call this server.",
            hint="Allow them at the start: --allow-origin ORIGIN",
        )


def _parts_of(origin: str) -> tuple[str, str] | None:
    """The scheme and authority of an origin; None where it is none."""
    try:
        found = urlsplit(origin)
    except ValueError:
        return None
    return None if found.path or found.query or found.fragment else (found.scheme, found.netloc)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isascii() and port.isdigit() else host).lower()


def unauthorized() -> UnauthorizedError:
    """The error of whoever has no token, or a wrong one."""
    return UnauthorizedError(
        "This needs a token.",
        hint="Send the header Authorization: Bearer TOKEN, with the token that the server printed when it started, "
        "or that `dowse token create` made.",
    )
