"""Hold the pinned dependencies against the advisory database, where it can be reached; else say so in one line.

Lint has to pass without a network, and a check that silently did nothing would be worth nothing. So the outcome is
always told: `audit: no known vulnerabilities`, the list of them (exit 1), or `audit: skipped` with the reason.
"""

import argparse
import importlib.util
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

_SERVICE = "https://api.osv.dev/v1/query"
_PORTS = {"https": 443, "http": 80}
_SECONDS = 3.0
_CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the audit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--service", default=_SERVICE, help="which address answers queries as OSV does")
    parser.add_argument("--pins", type=Path, default=_CONSTRAINTS, help="the file with the versions")
    given = parser.parse_args(arguments)
    if importlib.util.find_spec("pip_audit") is None:
        return _skipped("pip-audit is not installed; make setup installs it")
    place = urlsplit(given.service)
    try:
        socket.create_connection((place.hostname, place.port or _PORTS[place.scheme]), timeout=_SECONDS).close()
    except OSError as error:
        return _skipped(f"{place.hostname} cannot be reached ({error})")
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--progress-spinner=off", "-s", "osv"]
    if given.service != _SERVICE:
        command += ["--osv-url", given.service]
    done = subprocess.run([*command, "-r", str(given.pins)], check=False, capture_output=True, text=True)
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
