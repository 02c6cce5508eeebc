"""`python -m dowse.interfaces.http.deputy`: reads what is asked from stdin, one after the other, and answers on stdout.

`deputies.py` starts it. Whoever closes its stdin, by ending if need be, ends it.
"""

import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from dowse.engine import Engine, open_engine
from dowse.errors import DowseError
from dowse.interfaces.http.deputies import FRAME, Errand
from dowse.interfaces.http.making import Made, make
from dowse.interfaces.http.metrics import Metrics
from dowse.interfaces.http.rows import Asked
from dowse.interfaces.http.searching import ROWS
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.jobs import Jobs

if TYPE_CHECKING:
    from dowse.config import Config

_ROWS = {row.name: row for row in ROWS if row.elsewhere}


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the server as well, which decides
    asking = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what anybody prints is no answer
    config: Config = _heard(asking)
    with open_engine(config=config) as engine, suppress(EOFError, BrokenPipeError):  # the server is gone
        _say(answers, "ready")
        while True:
            errand: Errand = _heard(asking)
            _say(answers, _answer_to(errand, engine))


def _answer_to(errand: Errand, engine: Engine) -> Made | DowseError:
    row = _ROWS[errand.row]
    asked = Asked(
        engine.within(errand.collections),
        Access(read_only=True, collections=errand.collections),
        Jobs(),
        Metrics(),
        errand.arguments,
        errand.request_id,
        errand.settings,
        started=errand.started,
    )
    try:
        return make(row, asked)
    except DowseError as error:
        return error


def _heard(asking: BinaryIO) -> Any:
    (length,) = FRAME.unpack(_read(asking, FRAME.size))
    return pickle.loads(_read(asking, length))  # noqa: S301 - from the process that started this one


def _read(asking: BinaryIO, length: int) -> bytes:
    data = asking.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _say(answers: BinaryIO, message: object) -> None:
    data = pickle.dumps(message)
    rest = memoryview(FRAME.pack(len(data)) + data)
    while rest:
        rest = rest[answers.write(rest) :]


if __name__ == "__main__":
    main()
