"""The bundle that desktop clients install is one by the rules of its format."""

from pathlib import Path

import pytest

MANIFEST = Path(__file__).resolve().parents[2] / "bundle" / "manifest.json"


@pytest.mark.skipif(not MANIFEST.is_file(), reason="there is no bundle/manifest.json in this tree")
def test_the_manifest_of_the_bundle_is_valid(client):
    done = client("mcpb", "validate", MANIFEST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "valid" in done.stdout.lower()
