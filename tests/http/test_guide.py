"""The examples of the guide run as they are printed, against a real server."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dowse.interfaces.mcp.access import Access
from http_api import serving
from workbench import open_at, write

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "http.md"
NOTES = {
    "backups.md": "# Backups\n\nSnapshots older than ninety days are dropped nightly.\n\n## Restoring\n\n"
    "Test a restore once a month.\n",
    "house/router.md": "# Router\n\nPull the plug.\n",
}
FENCED = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples():
    """Each command with curl, whose lines may be several."""
    text = "\n".join(FENCED.findall(GUIDE.read_text(encoding="utf-8")))
    return re.findall(r"^curl .*?(?=^curl |^dowse |^$|\Z)", text, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("sh") is None, reason="needs curl")
def test_every_example_succeeds(tmp_path):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", NOTES), name="notes")
        engine.index("notes")
        engine.embed()
    commands = examples()
    assert len(commands) >= 13
    with serving(tmp_path, Access.over_http([tmp_path / "notes"])) as api:
        environment = {**os.environ, "DOWSE": api.address, "TOKEN": api.token, "HOME": str(tmp_path)}
        for command in commands:
            done = subprocess.run(
                ["sh", "-c", f"exec {command}"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            assert done.stdout
