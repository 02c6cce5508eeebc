"""Programs of other people that speak MCP, as `make test-clients` installs them, and an index for them to ask."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import open_at, write

HERE = Path(__file__).parent
BOUND = 120
"""Seconds after which a client hangs."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.clients)


@pytest.fixture
def client(tmp_path: Path) -> Run:
    """Runs a client in a home of its own, where it finds nothing of the user's and leaves nothing behind."""
    programs = os.environ.get("DOWSE_TEST_CLIENTS")
    if programs is None:
        pytest.skip("make test-clients installs the clients")
    place = {name: str(tmp_path / "home") for name in ("HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR")}
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "NO_COLOR": "1", "DOWSE_DAEMON": "off"}
    environment = {"PATH": os.pathsep.join([programs, os.environ["PATH"]]), **place, **quiet}
    Path(place["HOME"]).mkdir()

    def run(program: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
        command = [str(Path(programs) / program), *map(str, arguments)]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=BOUND, check=False
        )

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two notes."""
    folder = tmp_path_factory.mktemp("folder")
    notes = {"tea.md": "# Tea\n\nGreen tea wants water below eighty degrees.\n", "bread.md": "# Bread\n\nRye.\n"}
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", notes), name="notes")
        engine.index("notes")
        engine.embed()
    return folder
