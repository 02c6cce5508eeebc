"""Hold the pinned dependencies against the advisory database, where it can be reached; else say so in one line.

Lint has to pass without a network, and a check that silently did nothing would be worth nothing. So the outcome is
always told: `audit: no known vulnerabilities`, the list of them (exit 1), or `audit: skipped` with the reason.
"""

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

_SERVICE = ("api.osv.dev", 443)
_SECONDS = 3.0
_CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"


def main() -> int:
    """Run the audit."""
    if importlib.util.find_spec("pip_audit") is None:
        return _skipped("pip-audit is not installed; make setup installs it")
    try:
        socket.create_connection(_SERVICE, timeout=_SECONDS).close()
    except OSError as error:
        return _skipped(f"{_SERVICE[0]} cannot be reached ({error})")
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--progress-spinner=off", "-s", "osv"]
    done = subprocess.run([*command, "-r", str(_CONSTRAINTS)], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        print("audit: no known vulnerabilities")
        return 0
    print(done.stdout + done.stderr, file=sys.stderr)
    return 1


def _skipped(reason: str) -> int:
    print(f"audit: skipped, {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
