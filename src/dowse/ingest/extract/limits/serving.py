"""The process that reads files for another one: asked on its standard input, it answers on its standard output.

It is a child of the process that indexes and ends with it at once, also when that one is killed: its input ends
then. It reads one file at a time, and knows nothing of the files before.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from io import FileIO, RawIOBase
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from dowse.errors import SourceError
from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.limits.enforcing import ENFORCERS, memory_held
from dowse.ingest.extract.limits.packing import NonsenseError, encode, pack, receive, send

__all__ = ["serve"]

_IDLE_SECONDS = 600
"""Whoever asks ends this process long before. If a copy of that one holds the input open, nobody else does."""

Reader = Callable[[bytes, str, str], Extracted]
"""Takes the bytes, the media type and the name."""


def serve(function: str, enforcers: list[str]) -> None:
    """Answer until the input ends; the function is named as `module:function`."""
    questions, answers = _own_streams()
    module, _, name = function.partition(":")
    reader: Reader = getattr(import_module(module), name)
    waiting: SimpleQueue[tuple[Any, bytes]] = SimpleQueue()
    Thread(target=_listen, args=(questions, waiting), daemon=True).start()
    send(answers, encode("ready"))
    while True:
        try:
            (media_type, file, *limits), data = waiting.get(timeout=_IDLE_SECONDS)
        except Empty:
            os._exit(0)
        send(answers, *_answer_within(limits, enforcers, partial(reader, data, media_type, file)))


def _own_streams() -> tuple[RawIOBase, RawIOBase]:
    """Streams that no library reads from or prints into: what it takes for them leads nowhere."""
    questions, answers = FileIO(os.dup(0), "rb"), FileIO(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return questions, answers


def _listen(questions: RawIOBase, waiting: SimpleQueue[tuple[Any, bytes]]) -> None:
    """Take questions even while one is worked on: the end of the input ends this process at once."""
    try:
        while (question := receive(questions)) is not None:
            waiting.put(question)
    except NonsenseError:
        pass
    os._exit(0)


def _answer_within(limits: list[Any], enforcers: list[str], read: Callable[[], Extracted]) -> tuple[bytes, bytes]:
    try:
        with ExitStack() as stack:
            for each in enforcers:
                stack.enter_context(ENFORCERS[each](*limits))
            return _answer(read)
    except MemoryError:  # caught where there is memory again
        return encode(("memory", None, 0)), b""


def _answer(read: Callable[[], Extracted]) -> tuple[bytes, bytes]:
    """What the reader makes of a file, as head (kind, value, memory held) and body."""
    try:
        head, body = pack(read())
        return encode(("extracted", head, memory_held())), body
    except SourceError as error:
        return encode(("refused", (error.message, error.reason, error.hint), memory_held())), b""
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of any kind is told to whoever asked
        return encode(("fault", (type(error).__name__, str(error)), memory_held())), b""
