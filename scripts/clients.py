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
QUICKLY = ("--fetch-retries=0", "--fetch-timeout=20000")


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
    asked = subprocess.run([npm, "view", "node", "version", *QUICKLY], capture_output=True, check=False)
    if asked.returncode:
        return "the registry of npm, which does not answer."
    PLACE.mkdir(parents=True, exist_ok=True)
    ready.unlink(missing_ok=True)
    for file in LISTS:
        shutil.copy(file, PLACE)
    # Not `npm ci`, which wants the lock file to name parts for platforms that not every registry has.
    command = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=PLACE, stdout=subprocess.DEVNULL, check=True)
    ready.write_bytes(wanted)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
