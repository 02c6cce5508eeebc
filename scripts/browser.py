"""A Chromium and a server for those that look at the web page: its tests, its figures, its pictures.

    python scripts/browser.py

finds a Chromium, or installs one where that can be done without asking. Only Debian's way is known (apt, as root or
with a sudo that asks nothing). Elsewhere a line says what is missing, and the tests that need a browser are skipped:
nothing else depends on it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import IO, NamedTuple

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "fonts-inter")
MISSING = "no Chromium: install one, or name it in DOWSE_BROWSER; the browser tests are skipped"
ARGUMENTS = ("--no-sandbox",)  # as root it starts in no other way, and it sees nothing but our own server
ADDRESS = re.compile(r"(?P<origin>http://127\.0\.0\.1:\d+)/#token=(?P<token>\S+)")


class Server(NamedTuple):
    """A server that runs."""

    origin: str
    token: str
    pid: int


def find() -> str | None:
    """The program, or None."""
    named = os.environ.get("DOWSE_BROWSER")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def install() -> str:
    """Try; returns why it did not work, in a line, or nothing."""
    if not shutil.which("apt-get"):
        return MISSING
    as_root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    if as_root and not (shutil.which("sudo") and _works(*as_root, "true")):
        return MISSING
    quiet = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        command = [*as_root, *quiet, *step]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        if done.returncode:
            return f"{MISSING} (apt-get {step[0]}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]})"
    return "" if find() else MISSING


def _works(*command: str) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@contextmanager
def serving(environment: Mapping[str, str], *options: str) -> Iterator[Server]:
    """A server in a process of its own, on a free port."""
    command = [sys.executable, "-m", "dowse", "server", "--transport", "http", "--port", "0", *options]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        said: SimpleQueue[str] = SimpleQueue()
        listener = Thread(target=_listen, args=(server.stderr, said), daemon=True)
        listener.start()
        try:
            yield Server(*_announced(said), server.pid)
        finally:
            server.terminate()
            listener.join()


def _listen(stream: IO[str] | None, said: "SimpleQueue[str]") -> None:
    """Take what a server says until it ends: one that nobody listens to is blocked by its own log."""
    for line in stream or ():
        said.put(line)
    said.put("")


def _announced(said: "SimpleQueue[str]") -> tuple[str, str]:
    lines = []
    while line := said.get():
        lines.append(line)
        if found := ADDRESS.search(line):
            return found["origin"], found["token"]
    raise RuntimeError("the server did not start: " + "".join(lines))


def main() -> int:
    """Find or install; a browser that cannot be had is no failure."""
    if not find() and (problem := install()):
        print(problem, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
