"""What a request carries, read to its end: in time, and no more than its route takes.

The guard gives every application behind it, MCP included, a `receive` of this module, so that none of them waits for
a client that sends its body byte by byte, or that has left in the middle of it.
"""

import asyncio

from dowse.interfaces.http.errors import BodyTimeoutError, LeftError, TooLargeError

from starlette.datastructures import Headers  # isort: skip
from starlette.types import Message, Receive  # isort: skip

__all__ = ["body_of", "in_time"]

_SECONDS = 30.0


def in_time(receive: Receive, headers: Headers) -> Receive:
    """The same messages; the body is here within its time, and what comes after it may take as long as it likes.

    Raises:
        BodyTimeoutError: from the function that is given back: the body is too slow.
        LeftError: so too: the client is gone, and will never send the rest.
    """
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return receive  # there is none
    seconds = _SECONDS
    deadline = asyncio.get_running_loop().time() + seconds
    is_whole = False

    async def receive_in_time() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError as error:
            raise BodyTimeoutError(
                f"The body did not come within {seconds:g} seconds.", hint="Send it faster, or less of it."
            ) from error
        if message["type"] != "http.request":
            raise LeftError("The client left before its request was complete.")
        is_whole = not message.get("more_body", False)
        return message

    return receive_in_time


async def body_of(receive: Receive, headers: Headers, largest: int) -> bytes:
    """The whole body.

    Raises:
        TooLargeError: it is larger than that; what is too much is not read.
    """
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > largest:
        raise _too_large(largest)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > largest:
            raise _too_large(largest)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(largest: int) -> TooLargeError:
    return TooLargeError(f"The body is larger than {largest:,} bytes.", hint="Send less at once.")
