"""A few indexed notes and a daemon for them."""

import os

import pytest

from interfaces.daemon.sharing import sharing
from workbench import open_at, write


def filled(folder):
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
        engine.embed()
    return folder


@pytest.fixture
def shared(tmp_path):
    """For a test that does something to its daemon."""
    with sharing(filled(tmp_path)) as made:
        yield made


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """For tests that leave the daemon as it is."""
    with sharing(filled(tmp_path_factory.mktemp("lasting"))) as made:
        yield made


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skipif(os.name == "nt", reason="the tests stop and kill processes as POSIX does")
    for item in items:
        if "interfaces/daemon" in item.nodeid:
            item.add_marker(skip)
