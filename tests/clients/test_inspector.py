"""The Inspector, the protocol's own client for looking at servers, finds nothing to complain about."""

import json

import pytest

from dowse.interfaces.mcp.dialects import DIALECTS, load
from interfaces.mcp.talking import http_server, on_stdio

CALLS = {
    "dowse": ("search", {"query": "green tea"}),
    "qmd": ("search", {"query": "green tea"}),
    "mcpvectordb": ("search", {"query": "green tea", "library": "notes"}),
    "rag": ("rag_search", {"query": "green tea", "collection": "notes"}),
    "docvec": ("search", {"query": "green tea"}),
}
"""A question for each dialect, which finds the note about tea."""

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


@pytest.fixture(scope="module")
def address(folder):
    with http_server(folder) as address:
        yield address


@pytest.fixture(params=["stdio", "http"])
def ask(request, client, folder):
    """One request of the Inspector to a server of a dialect; its answer, after it had no complaint."""

    def ask(dialect, method, *options):
        if request.param == "http":
            server = [f"{request.getfixturevalue('address')}/{dialect}/mcp"]
        else:
            started = on_stdio(dialect, folder)
            settings = [f"{name}={value}" for name, value in started.env.items() if name.startswith("DOWSE_")]
            variables = [word for setting in settings for word in ("-e", setting)]
            server = [started.command, *started.args, *variables]
        done = client("mcp-inspector", "--cli", *server, "--method", method, *options)
        assert done.returncode == 0, done.stderr
        complaints = [line for line in done.stderr.splitlines() if line.strip()]
        assert complaints == []
        return json.loads(done.stdout)

    return ask


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("method", LISTS)
def test_everything_that_a_dialect_offers_is_listed(ask, dialect, method):
    strict = ["--strict"] if method == "tools/list" else []
    tables = load(dialect)
    expected = {
        "tools": [tool.name for tool in tables.tools],
        "resources": [each.name for each in tables.resources if "{" not in each.uri],
        "resourceTemplates": [each.name for each in tables.resources if "{" in each.uri],
        "prompts": [prompt.name for prompt in tables.prompts],
    }[LISTS[method]]
    assert [each["name"] for each in ask(dialect, method, *strict)[LISTS[method]]] == expected


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tool_of_every_dialect_answers_in_both_eras(ask, dialect, era):
    tool, arguments = CALLS[dialect]
    options = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments), "--protocol-era", era]
    assert "Green tea wants water" in json.dumps(ask(dialect, "tools/call", *options))
