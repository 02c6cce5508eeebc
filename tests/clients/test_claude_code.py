"""Claude Code connects, over stdio and HTTP."""

import re

from interfaces.mcp.talking import http_server, on_stdio


def test_claude_code_says_that_it_is_connected(client, folder):
    started = on_stdio("dowse", folder)
    variables = [f"--env={name}={value}" for name, value in started.env.items() if name.startswith("DOWSE_")]
    with http_server(folder, default="dowse") as address:
        added = [
            client("claude", "mcp", "add", "over-stdio", *variables, "--", started.command, *started.args),
            client("claude", "mcp", "add", "--transport", "http", "over-http", f"{address}/mcp"),
        ]
        assert [done.returncode for done in added] == [0, 0], [done.stderr for done in added]
        listed = client("claude", "mcp", "list")
    states = dict(re.findall(r"^(over-\w+): .* - (.*)$", listed.stdout, re.MULTILINE))
    assert set(states) == {"over-stdio", "over-http"}, listed.stdout + listed.stderr
    assert all("Connected" in state for state in states.values()), states
