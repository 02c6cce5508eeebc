"""Clients of a daemon in a runtime folder of their own, which is empty again when they are done."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from dowse.interfaces.daemon.meeting import ask, endpoints
from interfaces.mcp.lines import Lines, lines, until


class Sharing:
    """An index below a folder, and the daemons that its clients start."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder = folder
        self.runtime = runtime
        self.env = {"DOWSE_DAEMON": "on", "XDG_RUNTIME_DIR": str(runtime)}
        self._clients = 0

    def client(self, *options: object, **environment: str) -> AbstractContextManager[Lines]:
        """A client that starts the program; what it says on stderr is in `self.said()`."""
        command = [sys.executable, "-m", "dowse", "mcp", *map(str, options)]
        return lines(command, self.folder, **(self.env | environment))

    def said(self) -> str:
        return (self.folder / "stderr").read_text()

    def daemons(self) -> list[dict[str, Any]]:
        """What those that live say of themselves."""
        found = (ask(endpoint, "status") for endpoint in endpoints(self.runtime / "dowse"))
        return [each for each in found if each]

    def daemon(self) -> dict[str, Any]:
        (only,) = self.daemons()
        return only

    def pid(self) -> int:
        return int(self.daemon()["pid"])

    def kill(self) -> int:
        """Kill it as nothing can be prepared for."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_alive(pid))
        return pid

    def stop_all(self) -> None:
        for endpoint in list(endpoints(self.runtime / "dowse")):
            if ask(endpoint, "stop"):
                until(lambda pid=endpoint["pid"]: not is_alive(pid))


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    if Path("/proc/self").exists():
        return state_of(pid) not in {"", "Z"}
    with suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


def state_of(pid: int) -> str:
    """The letter that Linux has for what a process does; nothing where there is none, T for one that is stopped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return ""


@contextmanager
def sharing(folder: Path) -> Iterator[Sharing]:
    """The path of a socket is short, so the runtime folder is not below the test's own."""
    runtime = Path(tempfile.mkdtemp(prefix="dw"))
    made = Sharing(folder, runtime)
    try:
        yield made
    finally:
        made.stop_all()
        shutil.rmtree(runtime)
