"""The bundle that desktop clients install is one by the rules of its format."""

from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[2] / "packaging" / "mcpb" / "manifest.json"


def test_the_manifest_of_the_bundle_is_valid(client):
    done = client("mcpb", "validate", MANIFEST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "valid" in done.stdout.lower()
