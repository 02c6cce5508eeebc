"""Tokens: who may come in over HTTP, to which collections, to read or to write, and until when.

They belong to an index and lie beside it, in a file that only its user can read. Of a token only the SHA-256 is kept.
A slow hash with salt, as passwords need it, would protect nothing here: the secret is 256 random bits, which nobody
guesses or looks up, and every request would pay for it. Comparisons take the same time whatever is compared.
"""

import hashlib
import json
import os
import re
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from dowse.errors import ConfigError, ConflictError, NotFoundError, StoreLockedError
from dowse.locks import try_lock, unlock
from dowse.records import record
from dowse.types import now_ms

__all__ = ["Token", "Tokens"]

_FILE: Final = "tokens.json"
_PREFIX: Final = "dowse_"
_BYTES: Final = 32
_KINDS: Final = {"id": str, "name": str, "digest": str, "read_only": bool, "created_at": int, "expires_at": int}
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PATIENCE: Final = 10.0  # seconds to wait for another process that changes them


@record
class Token:
    """What is known of one token; never the token itself."""

    id: str
    name: str
    digest: str
    collections: tuple[str, ...] | None
    """None: all, also those that come later."""
    read_only: bool
    created_at: int
    expires_at: int
    """0: never."""

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return bool(self.expires_at) and now_ms() >= self.expires_at


class Tokens:
    """The tokens of one index; a server that has this open learns of changes by other processes."""

    def __init__(self, index_dir: Path) -> None:
        self._file = index_dir / _FILE
        self._guard = threading.Lock()
        self._seen: tuple[tuple[int, int, int], tuple[Token, ...]] | None = None

    def create(
        self, name: str = "", *, collections: Sequence[str] | None = None, read_only: bool = False, expires_at: int = 0
    ) -> tuple[Token, str]:
        """A new token, and its secret, which is shown this once.

        Raises:
            ConflictError: another one has this name.
        """
        secret = _PREFIX + secrets.token_urlsafe(_BYTES)
        with self._changing() as tokens:
            if name and any(each.name == name for each in tokens):
                raise ConflictError(f"There is already a token named {name!r}.", hint="Choose another name.")
            made = Token(
                id=secrets.token_hex(4),
                name=name,
                digest=_digest(secret),
                collections=None if collections is None else tuple(sorted(set(collections))),
                read_only=read_only,
                created_at=now_ms(),
                expires_at=expires_at,
            )
            tokens.append(made)
        return made, secret

    def revoke(self, name: str) -> Token:
        """Forget a token, by id or name; requests with it are refused from now on.

        Raises:
            NotFoundError: there is none.
        """
        with self._changing() as tokens:
            found = [each for each in tokens if name in {each.id, each.name}]
            if not name or not found:
                raise NotFoundError(f"There is no token {name!r}.", hint="See all of them: dowse token list")
            tokens.remove(found[0])
        return found[0]

    def all(self) -> tuple[Token, ...]:
        """Every token, oldest first, those that have expired as well."""
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            return ()
        mark = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        with self._guard:
            if self._seen is None or self._seen[0] != mark:
                self._seen = (mark, _read(self._file))
            return self._seen[1]

    def find(self, secret: str) -> Token | None:
        """The token with this secret, unless it has expired. Every one is compared, and each in constant time."""
        digest = _digest(secret)
        found = None
        for token in self.all():
            if secrets.compare_digest(token.digest, digest):
                found = token
        return None if found is None or found.is_expired else found

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed by one process at a time, and written at the end."""
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(self._file.with_suffix(".lock")):
            tokens = list(_read(self._file)) if self._file.exists() else []
            yield tokens
            _write(self._file, tokens)
        with self._guard:
            self._seen = None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + _PATIENCE
        while not try_lock(descriptor):
            if time.monotonic() > until:
                raise StoreLockedError("Another process changes the tokens.", hint="Try again.")
            time.sleep(0.01)
        try:
            yield
        finally:
            unlock(descriptor)
    finally:
        os.close(descriptor)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()


def _read(file: Path) -> tuple[Token, ...]:
    try:
        return tuple(_token(each) for each in json.loads(file.read_text(encoding="utf-8"))["tokens"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(
            f"The tokens in {file} cannot be read.", hint="Remove that file and make new ones: dowse token create"
        ) from error


def _token(said: Mapping[str, Any]) -> Token:
    """One of the file, which somebody may have edited: what is not exactly as it was written counts for nothing."""
    if any(type(said[name]) is not kind for name, kind in _KINDS.items()) or not _DIGEST.fullmatch(said["digest"]):
        raise ValueError(said)
    collections = said["collections"]
    if collections is not None and not (isinstance(collections, list) and all(isinstance(n, str) for n in collections)):
        raise ValueError(said)
    return Token(**{**said, "collections": None if collections is None else tuple(collections)})


def _write(file: Path, tokens: Sequence[Token]) -> None:
    """In one step: whoever reads meanwhile sees all of the old ones or all of the new ones."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".tokens-")  # for its user alone: 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as new:
            json.dump({"tokens": [asdict(each) for each in tokens]}, new, indent=2)
            new.flush()
            os.fsync(new.fileno())
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
