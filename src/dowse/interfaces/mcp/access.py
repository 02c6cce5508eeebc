"""What a connection may do: which files and addresses it may bring in, and whether it may write at all.

An agent can be talked into anything by the texts that it reads, so the answer never depends on what it says, only
on the command line or token of its connection.
"""

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dowse.errors import DowseError
from dowse.places import full_path, here
from dowse.records import record

if TYPE_CHECKING:
    from dowse.ingest.sources.urls import WebUrl

__all__ = ["Access", "RefusedError"]


class RefusedError(DowseError):
    """The connection may not do this. The same for what is not there as for what is."""

    code = "refused"
    exit_code = 4
    http_status = 403


@record
class Access:
    """The policy of one connection."""

    roots: tuple[Path, ...] = ()
    """Folders that files may be ingested from, resolved; hidden folders in them are left alone."""
    read_only: bool = False
    """Tools that write are not even listed."""
    lacks_token: bool = False
    """Tools that write are listed, and say that they need the server's token."""
    allow_private_urls: bool = False
    url_patterns: tuple[str, ...] | None = None
    """Which addresses may be fetched: `docs.python.org`, `*.example.org/manual/*`. None: every public one."""
    collections: frozenset[str] | None = None
    """The only ones that can be seen and changed; None: all."""

    @classmethod
    def on_stdio(cls, allowed: Iterable[Path] = ()) -> Self:
        """That of a program which its user's own client starts: the home and the working directory.

        Neither counts where it holds more than this user's things, as `/` does when a desktop starts programs there.
        """
        place = here()
        home = _resolved(place.home)
        usual = [folder for folder in (home, _resolved(place.folder)) if folder == home or folder not in home.parents]
        return cls(tuple(_distinct([*(each for each in usual if each != Path(each.anchor)), *map(_resolved, allowed)])))

    @classmethod
    def over_http(cls, allowed: Iterable[Path] = ()) -> Self:
        """That of whoever reaches the port: only what was configured."""
        return cls(tuple(_distinct(map(_resolved, allowed))))

    def with_roots(self, more: Iterable[Path | str]) -> Self:
        """The same with further folders, for example those of the collections, which can be read anyway."""
        return replace(self, roots=tuple(_distinct([*self.roots, *(_resolved(Path(each)) for each in more)])))

    def limited(self, *, read_only: bool, url_patterns: Iterable[str], allow_private_urls: bool) -> Self:
        """The same with what else a command line says of it."""
        return replace(
            self,
            read_only=read_only,
            url_patterns=tuple(url_patterns) or None,
            allow_private_urls=allow_private_urls,
        )

    def check_writing(self) -> None:
        """Whether this connection may change the index.

        Raises:
            RefusedError: it may not, or has not shown that it may.
        """
        if self.read_only or self.lacks_token:
            raise RefusedError(
                "Changing the index needs the server's token.",
                hint="Send the header that the server printed when it started: Authorization: Bearer TOKEN",
            )

    def check_path(self, path: str | Path) -> Path:
        """The file or folder that a path means, links resolved, if this connection may ingest it.

        Raises:
            RefusedError: it lies outside of the roots, in a hidden folder, or is named like a secret; whether it
                exists makes no difference.
        """
        from dowse.ingest.sources.names import is_hidden, is_secret  # a list of tools needs no sources

        try:
            resolved = full_path(path)
        except (OSError, RuntimeError, ValueError) as error:  # too long, links in a circle, `~` of nobody, a NUL
            raise self._refused(path) from error
        for root in self.roots:
            if resolved == root:
                return resolved
            if resolved.is_relative_to(root):
                *folders, name = resolved.relative_to(root).parts
                if not any(map(is_hidden, folders)) and not is_secret(name):
                    return resolved
        raise self._refused(path)

    def check_url(self, url: str) -> str:
        """The address in its one spelling, if this connection may fetch it; where it resolves to is checked later.

        Raises:
            RefusedError: no pattern allows it.
            UsageError: it is no address of the web.
        """
        from dowse.ingest.sources.urls import parse_url  # the same

        found = parse_url(url)
        if self.url_patterns is None or any(_allows(each, found) for each in self.url_patterns):
            return found.text
        raise RefusedError(
            f"{found.text} may not be fetched.",
            hint="Addresses are allowed at the start of the server: --allow-urls PATTERN",
        )

    def may_fetch(self, url: str) -> bool:
        """The same as an answer, for the addresses that a first one redirects to."""
        try:
            self.check_url(url)
        except DowseError:
            return False
        return True

    @staticmethod
    def _refused(path: str | Path) -> RefusedError:
        return RefusedError(
            f"{path} is outside of the folders that may be read.",
            hint="Folders are allowed at the start of the server: --allow-root DIR",
        )


def _resolved(path: Path) -> Path:
    return full_path(path)


def _distinct(paths: Iterable[Path]) -> Iterable[Path]:
    return dict.fromkeys(paths)


def _allows(pattern: str, url: "WebUrl") -> bool:
    """`*` stands for anything, inside of the host or inside of the path, never across both."""
    scheme, _, rest = pattern.replace("[", "[[]").rpartition("://")
    authority, slash, path = rest.partition("/")
    return (
        scheme in {"", url.scheme}
        and fnmatchcase(url.authority, authority.lower())
        and (not slash or fnmatchcase(url.target, f"/{path}"))
    )
