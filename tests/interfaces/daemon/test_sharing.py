"""Several clients of one index: they are served by one process, each by the rules of its own command line."""

import json
import stat
import sys

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

from dowse.interfaces.mcp.dialects import DIALECTS
from interfaces.daemon.sharing import is_alive, sharing
from interfaces.mcp.lines import ENVELOPE, lines, program, until
from workbench import environment_for, open_at, write

LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


def conversation(server, era):
    """Everything that a client can learn of a server without changing anything."""
    heard = [server.open()] if era == "handshake" else [server.ask(0, "server/discover", _meta=ENVELOPE)]
    meta = {} if era == "handshake" else {"_meta": ENVELOPE}
    heard += [server.ask(number, method, **meta) for number, method in enumerate(LISTS, 1)]
    heard.append(server.ask(10, "tools/call", name="no such tool", **meta))
    server.send(b"nonsense")
    heard.append(server.receive())
    assert server.end() == 0
    return heard


@pytest.mark.parametrize(
    ("dialect", "era"),
    [*((name, ("handshake", "stateless")[n % 2]) for n, name in enumerate(DIALECTS)), ("dowse", "stateless")],
)
def test_a_dialect_says_the_same_through_the_daemon_as_in_the_process(lasting, dialect, era):
    with lasting.client("--dialect", dialect) as server:
        through = conversation(server, era)
    assert lasting.daemon()["index"] == str(lasting.folder / "index")
    with lasting.client("--dialect", dialect, "--no-daemon") as server:
        assert conversation(server, era) == through


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_is_served_by_the_daemon(lasting, mode):
    env = environment_for(lasting.folder) | lasting.env
    command = StdioServerParameters(command=sys.executable, args=["-m", "dowse", "mcp"], env=env)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(command, mode=mode)) as client,
    ):
        found = portal.call(client.call_tool, "search", {"query": "green tea"})
        assert found.structured_content["results"][0]["file"] == "notes/tea.md"
        assert [each["dialect"] for each in lasting.daemon()["clients"]] == ["dowse"]


def test_clients_that_start_at_once_start_one_daemon(shared):
    clients = [shared.client() for _ in range(4)]
    servers = [client.__enter__() for client in clients]
    try:
        for server in servers:
            server.open()
        assert len(shared.daemon()["clients"]) == 4
    finally:
        for client in clients:
            client.__exit__(None, None, None)
    until(lambda: not shared.daemon()["clients"])


def test_every_client_has_the_policy_of_its_own_command_line(lasting, tmp_path):
    outside = write(tmp_path / "outside", {"secret plan.md": "# Plan\n\nNobody knows.\n"})
    home = tmp_path / "home"
    home.mkdir()
    plan = {"source": str(outside / "secret plan.md")}
    with (
        lasting.client("--allow-root", outside, HOME=str(home)) as may,
        lasting.client("--read-only", HOME=str(home)) as reads,
        lasting.client(HOME=str(home)) as strict,
    ):
        for server in (may, reads, strict):
            server.open()
        names = [{tool["name"] for tool in server.ask(1, "tools/list")["result"]["tools"]} for server in (may, reads)]
        assert names[0] - names[1] == {"ingest", "delete"}
        assert reads.ask(2, "tools/call", name="ingest", arguments=plan)["error"]["code"] == -32602
        refused = strict.ask(2, "tools/call", name="ingest", arguments=plan)["result"]
        assert refused["isError"] is True
        assert "outside of the folders" in refused["content"][0]["text"]
        assert "isError" not in may.ask(2, "tools/call", name="ingest", arguments=plan)["result"]
        assert strict.ask(3, "tools/call", name="ingest", arguments=plan)["result"]["isError"] is True


def test_relative_paths_and_the_home_are_those_of_the_client(lasting, tmp_path, monkeypatch):
    for name in ("one", "two"):
        write(tmp_path / name, {"here.md": f"# Here\n\nThis is {name}.\n"})
    for name in ("one", "two"):
        monkeypatch.chdir(tmp_path / name)
        with lasting.client(HOME=str(tmp_path / name)) as server:
            server.open()
            for number, source in enumerate(("here.md", "~/here.md"), 1):
                arguments = {"source": source, "collection": name}
                answer = server.ask(number, "tools/call", name="ingest", arguments=arguments)["result"]
                assert "isError" not in answer, answer
    with open_at(lasting.folder) as engine:
        for name in ("one", "two"):
            (info,) = engine.documents(name)
            assert info.uri == (tmp_path / name / "here.md").as_uri()


def test_jobs_are_seen_by_their_own_client_alone(lasting):
    with lasting.client() as one, lasting.client() as other:
        for server in (one, other):
            server.open()
        content = {"content": "# A note\n\nOn something.\n", "name": "given.md", "collection": "given"}
        assert "isError" not in one.ask(1, "tools/call", name="ingest", arguments=content)["result"]
        jobs = [
            server.ask(2, "tools/call", name="status", arguments={})["result"]["structuredContent"].get("jobs", [])
            for server in (one, other)
        ]
        assert jobs[0]
        assert not jobs[1]


def test_a_line_that_click_must_read_is_served_by_the_daemon_as_well(lasting):
    with lines(program("server", "--port", "0", name="qmd"), lasting.folder, **lasting.env) as server:
        assert server.open()["result"]["serverInfo"]["name"] == "qmd"
        assert [each["dialect"] for each in lasting.daemon()["clients"]] == ["qmd"]
        assert server.end() == 0


def test_an_unknown_dialect_is_told_before_anything_starts(lasting):
    with lasting.client("--dialect", "klingon") as server:
        assert server.process.wait(60) == 2
        assert server.stdout.read() == b""
    assert "error: There is no dialect klingon." in lasting.said()
    assert "hint: There are: dowse" in lasting.said()


def test_a_daemon_ends_when_nobody_has_been_there_for_some_time(shared):
    with shared.client(DOWSE_DAEMON_IDLE="0.2") as server:
        server.open()
        pid = shared.pid()
        assert server.end() == 0
    until(lambda: not is_alive(pid))
    assert {file.suffix for file in (shared.runtime / "dowse").iterdir()} == {".lock", ".start", ".log"}


def test_a_client_that_vanishes_leaves_nothing_behind(lasting):
    before = len(lasting.daemons()[0]["clients"]) if lasting.daemons() else 0
    with lasting.client() as server:
        server.open()
        assert len(lasting.daemon()["clients"]) == before + 1
        server.process.kill()
    until(lambda: len(lasting.daemon()["clients"]) == before)


def test_what_was_asked_before_stdin_closed_is_answered(lasting):
    with lasting.client() as server:
        server.open()
        server.call(1, "search", {"query": "tea"})
        server.stdin.close()
        assert server.answer(1)["result"]["structuredContent"]["results"]
        assert server.process.wait(60) == 0


def test_other_settings_mean_another_daemon(shared):
    with shared.client() as one, shared.client(DOWSE_CHUNK_TOKENS="100") as other:
        one.open()
        other.open()
        assert len(shared.daemons()) == 2


def test_everything_in_the_folder_is_for_this_user_alone(lasting):
    with lasting.client() as server:
        server.open()
        folder = lasting.runtime / "dowse"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for file in folder.iterdir():
            assert not stat.S_IMODE(file.stat().st_mode) & 0o077, file


def test_where_no_socket_fits_the_daemon_listens_on_the_loopback_address(tmp_path):
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen tea.\n"}), name="notes")
        engine.index("notes")
    with sharing(tmp_path) as shared:
        shared.runtime = shared.runtime / ("long" * 25)
        shared.runtime.mkdir()
        shared.env["XDG_RUNTIME_DIR"] = str(shared.runtime)
        with shared.client() as server:
            server.open()
            assert server.ask(1, "ping")["result"] == {}
            (file,) = (shared.runtime / "dowse").glob("*.json")
            assert json.loads(file.read_text())["port"] > 0
            assert server.end() == 0
        shared.stop_all()


def test_one_watcher_serves_all_who_want_one(shared):
    with shared.client("--watch") as first, open_at(shared.folder) as engine:
        first.open()
        until(lambda: engine.watched().state == "running")
        with shared.client("--watch") as second:
            second.open()
            assert engine.watched().pid == shared.pid()
            first.end()
            until(lambda: len(shared.daemon()["clients"]) == 1)
            write(shared.folder / "notes", {"new.md": "# Zebra\n\nBlack stripes.\n"})
            until(lambda: "new.md" in str(second.ask(1, "tools/call", name="search", arguments={"query": "stripes"})))
            second.end()
        until(lambda: engine.watched().state == "off")
        assert not shared.daemon()["watching"]


def test_no_daemon_means_none(shared):
    for options, environment in ((["--no-daemon"], {}), ([], {"DOWSE_DAEMON": "no"})):
        with shared.client(*options, **environment) as server:
            server.open()
            assert server.end() == 0
    assert list(shared.runtime.iterdir()) == []


@pytest.mark.parametrize("arguments", [["mcp"], ["server", "--transport", "mcp"]])
def test_a_thin_client_imports_nothing_heavy(lasting, arguments):
    script = (
        f"import sys; sys.argv = ['dowse', *{arguments!r}]; from dowse.__main__ import main; code = main()\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )
    with lasting.client() as first:
        first.open()  # there is a daemon
        with lines([sys.executable, "-c", script], lasting.folder, **lasting.env) as server:
            server.open()
            assert server.end() == 0
            imported = set(lasting.said().split())
    heavy = {"click", "mcp", "anyio", "asyncio", "pydantic", "numpy", "tantivy", "sqlite3", "subprocess", "logging"}
    assert "dowse" in imported
    assert not imported & heavy


def test_stdout_of_whoever_starts_the_daemon_is_not_kept_open_by_it(shared):
    with shared.client() as server:
        server.open()
        assert server.end() == 0
        assert server.stdout.read() == b""
        assert shared.daemon()["pid"]
