"""Installs the MCP clients of tests/clients below the checkout, and runs the tests that need them.

python scripts/clients.py [ARGUMENTS OF PYTEST]

Where npm or its registry cannot be had, it says so in one line and ends well: nothing else needs them. Any other
failure is one.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTS = [ROOT / "tests" / "clients" / name for name in ("package.json", "package-lock.json")]
PLACE = ROOT / ".dowse" / "npm"
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ETIMEDOUT", "ENOTCACHED")
"""What npm calls a registry that does not answer."""


def main(arguments: Sequence[str]) -> int:
    """Install what is not there yet, then test."""
    reason = install()
    if reason:
        print(f"skipped: the tests with MCP clients need {reason}")
        return 0
    environment = os.environ | {"DOWSE_TEST_CLIENTS": str(PLACE / "node_modules" / ".bin")}
    command = [sys.executable, "-m", "pytest", "-n", "2", "-m", "clients", "tests/clients", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def install() -> str:
    """Bring the clients to the versions of the lock file; returns what is lacking, or nothing."""
    ready = PLACE / "ready"
    wanted = b"".join(file.read_bytes() for file in LISTS)
    if ready.is_file() and ready.read_bytes() == wanted:
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm, which is not installed."
    PLACE.mkdir(parents=True, exist_ok=True)
    ready.unlink(missing_ok=True)
    for file in LISTS:
        shutil.copy(file, PLACE)
    options = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
    # Not `npm ci`, which wants the lock file to name parts for platforms that not every registry has.
    done = subprocess.run(
        [npm, "install", "--no-save", *options],
        cwd=PLACE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if any(code in done.stderr for code in UNREACHABLE) and done.returncode:
        return "the registry of npm, which cannot be reached."
    if done.returncode:
        sys.exit(f"npm install failed in {PLACE}:\n{done.stderr}")
    ready.write_bytes(wanted)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
