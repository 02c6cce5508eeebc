"""How the qmd specification starts its server, under the name that the program has there."""

import pytest

from interfaces.mcp.lines import announced, lines, program
from interfaces.mcp.talking import connected
from workbench import open_at, write


@pytest.fixture
def folder(tmp_path):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
    return tmp_path


@pytest.mark.covers("qmd-start-stdio")
def test_qmd_server_with_transport_mcp_serves_stdin_and_stdout(folder):
    with lines(program("server", "--transport", "mcp", name="qmd"), folder) as server:
        assert server.open("2025-06-18")["result"]["serverInfo"]["name"] == "qmd"
        found = server.ask(1, "tools/call", name="search", arguments={"query": "tea"})
        assert found["result"]["structuredContent"]["results"][0]["file"] == "notes/tea.md"
        assert server.end() == 0


@pytest.mark.covers("qmd-start-both")
def test_qmd_server_with_transport_both_serves_a_port_as_well(folder):
    with lines(program("server", "--transport", "both", "--port", "0", name="qmd"), folder) as server:
        assert server.open("2025-06-18")["result"]["serverInfo"]["name"] == "qmd"
        with connected(announced(folder), "handshake", token=None) as talk:
            assert talk.call("search", {"query": "tea"})["structuredContent"]["results"]
        assert server.ask(1, "ping")["result"] == {}
        assert server.end() == 0
