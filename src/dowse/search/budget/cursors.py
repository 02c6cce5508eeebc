"""A cursor: which hits of an answer have been given, in a few letters that only this query's answer can read.

It holds no state on our side. It names the query and the ranking that it belongs to by their hashes, so that
it stays good while the index changes elsewhere, and is refused where it would skip or repeat something.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from dowse.errors import ConflictError, UsageError
from dowse.types import Answer, Query

__all__ = ["make_cursor", "read_cursor"]

_HASH = 4  # bytes: a chance of one in four thousand million that a wrong cursor passes
_MORE = 0x80
_LARGEST = 1 << 20  # no answer has more hits


def make_cursor(answer: Answer, given: Iterable[int]) -> str:
    """The cursor that asks for the hits of this answer beside those at these places."""
    runs = _runs(sorted(set(given)))
    data = _query_hash(answer.query) + _ranking_hash(answer) + b"".join(map(_varint, runs))
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def read_cursor(answer: Answer, cursor: str) -> frozenset[int]:
    """The places of the hits that have been given already.

    Raises:
        UsageError: it is not a cursor, or one of another query.
        ConflictError: the documents have changed so that the query has another answer now.
    """
    try:
        data = urlsafe_b64decode(cursor.strip() + "=" * (-len(cursor.strip()) % 4))
        runs = _varints(data[2 * _HASH :])
        if len(data) < 2 * _HASH:
            raise ValueError
    except ValueError:
        raise UsageError(f"{cursor!r} is not a cursor.", hint="Give one exactly as an answer had it.") from None
    if data[:_HASH] != _query_hash(answer.query):
        raise UsageError(
            "The cursor belongs to another query.",
            hint="Repeat the query with its mode, collections, filters and limit, or leave the cursor out.",
        )
    if data[_HASH : 2 * _HASH] != _ranking_hash(answer):
        raise ConflictError(
            "The documents have changed, and with them the answer that the cursor belongs to.",
            hint="Ask again without the cursor.",
        )
    return frozenset(_places(runs))


def _query_hash(query: Query) -> bytes:
    """Everything that decides which hits there are and in which order; not how they are shown."""
    asked = replace(query, snippets=True, fresh="warn")
    return hashlib.blake2s(repr(asked).encode(errors="backslashreplace"), digest_size=_HASH).digest()


def _ranking_hash(answer: Answer) -> bytes:
    made = hashlib.blake2s(digest_size=_HASH)
    for hit in answer.hits:
        made.update(hit.info.id.bytes + f"{hit.info.content_hash} {hit.ordinal}\n".encode())
    return made.digest()


def _runs(places: Sequence[int]) -> list[int]:
    """How many are given, then left, then given, and so on: `0 1 2 5` is 3, 2, 1."""
    runs: list[int] = []
    at = 0
    for _, members in groupby(enumerate(places), key=lambda numbered: numbered[1] - numbered[0]):
        run = [place for _, place in members]
        runs += [run[0] - at, len(run)] if runs or run[0] else [len(run)]
        at = run[-1] + 1
    return [0, *runs] if places and places[0] else runs


def _places(runs: Sequence[int]) -> list[int]:
    places: list[int] = []
    at = 0
    for number, length in enumerate(runs):
        if number % 2 == 0:
            places += range(at, at + length)
        at += length
    return places


def _varint(number: int) -> bytes:
    made = bytearray()
    while number >= _MORE:
        made.append(number % _MORE | _MORE)
        number //= _MORE
    return bytes([*made, number])


def _varints(data: bytes) -> list[int]:
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & ~_MORE) << shift
        shift += 7
        if byte < _MORE:
            numbers.append(number)
            number = shift = 0
    if shift or sum(numbers) > _LARGEST:
        raise ValueError(data)
    return numbers
