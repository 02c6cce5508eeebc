"""A Chromium for the browser tests: found where there is one, installed where that can be done without asking.

    python scripts/browser.py

Only Debian's way is known (apt, as root or with a sudo that asks nothing). Elsewhere a line says what is missing,
and the tests that need a browser are skipped: nothing else depends on it.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "fonts-inter")
MISSING = "no Chromium: install one, or name it in DOWSE_BROWSER; the browser tests are skipped"


def find() -> str | None:
    """The program, or None."""
    named = os.environ.get("DOWSE_BROWSER")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def install() -> str:
    """Try; returns why it did not work, in a line, or nothing."""
    if not shutil.which("apt-get"):
        return MISSING
    as_root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    if as_root and (
        not shutil.which("sudo") or subprocess.run([*as_root, "true"], check=False, capture_output=True).returncode
    ):
        return MISSING
    quiet = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        command = [*as_root, *quiet, *step]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        if done.returncode:
            return f"{MISSING} (apt-get {step[0]}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]})"
    return "" if find() else MISSING


def main() -> int:
    """Find or install; a browser that cannot be had is no failure."""
    if not find() and (problem := install()):
        print(problem, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
