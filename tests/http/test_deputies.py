"""Processes that help with searches while many ask at once: the same answers, whatever happens to them."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dowse.interfaces.http import deputies
from dowse.interfaces.http.app import Options
from http_api import PATIENCE, Api, bad, build_index, good, serving, until
from interfaces.mcp.lines import announced, lines, program
from workbench import open_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tells processes apart by /proc")

MANY = 60


def helpers_of(process: int) -> list[int]:
    """The deputies that this process has started and that are still there."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if not each.name.isdecimal() or b"dowse.interfaces.http.deputy" not in (each / "cmdline").read_bytes():
                continue
            if int((each / "stat").read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(each.name))
        except OSError:
            continue  # it has just ended
    return found


async def asked(api: Api, bodies: list[dict[str, Any]], token: str | None = None) -> list[httpx2.Response]:
    """All of these at once."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx2.Limits(max_connections=len(bodies))
    async with httpx2.AsyncClient(base_url=api.address, headers=headers, timeout=PATIENCE, limits=limits) as client:
        return list(await asyncio.gather(*(client.post("/api/v1/search", json=body) for body in bodies)))


def ask(api: Api, bodies: list[dict[str, Any]], token: str | None = None) -> list[httpx2.Response]:
    return asyncio.run(asked(api, bodies, token))


def words(text: str, **more: Any) -> dict[str, Any]:
    return {"query": text, "mode": "lex", **more}


def ask_for_helper(api: Api) -> None:
    """Ask until one is there."""

    def is_there() -> bool:
        ask(api, [words("green tea")] * MANY)
        return "dowse_search_processes 1" in httpx2.get(f"{api.address}/metrics").text

    until(is_there)


@pytest.fixture
def helpers() -> Callable[[], list[int]]:
    """Those that this test has called forth."""
    others = helpers_of(os.getpid())
    return lambda: [each for each in helpers_of(os.getpid()) if each not in others]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deputies")
    build_index(folder)
    return folder


@pytest.fixture(scope="module")
def busy(folder: Path) -> Iterator[Api]:
    with serving(folder, options=Options(search_processes=1)) as api:
        ask_for_helper(api)
        yield api
    assert not helpers_of(os.getpid())


def test_what_helpers_say_is_what_the_server_says(busy: Api) -> None:
    asks = [words(text, explain=True) for text in ("green tea", "boiling water", "clay -water", "nothing of that")]
    asks += [words("water", collections=["tea"], max_tokens=800), words("tea", limit=1), words("a b", snippets=False)]
    alone = [good(ask(busy, [each])[0]) for each in asks]
    together = ask(busy, asks * 10)
    assert [good(each) for each in together] == alone * 10
    assert len({each.headers["x-request-id"] for each in together}) == len(together)


def test_what_was_acknowledged_is_found_by_whoever_answers(busy: Api) -> None:
    with busy.client(busy.token) as owner:
        for number in range(8):
            name = f"zanzibar{number}"
            letter = f"# News\n\nA letter about {name}.\n".encode()
            good(owner.put(f"/api/v1/collections/tea/documents/{name}.md", content=letter), 201)
            found = ask(busy, [words(name)] * MANY)
            assert {good(each)["results"][0]["path"] for each in found} == {f"{name}.md"}


def test_a_token_sees_its_own_collections_alone_whoever_answers(busy: Api) -> None:
    _, secret = busy.tokens.create("tea only", collections=["tea"], read_only=True)
    for each in ask(busy, [words("xylophone swordfish green")] * MANY, secret):
        assert {result["collection"] for result in good(each)["results"]} == {"tea"}
    for each in ask(busy, [words("green", collections=["vault"])] * MANY, secret):
        assert "vault" not in bad(each, 404, "not_found")["hint"]


def test_mistakes_are_told_alike_whoever_answers(busy: Api) -> None:
    (alone,) = ask(busy, [words("water", collections=["tee"])])
    said = bad(alone, 404, "not_found")
    for each in ask(busy, [words("water", collections=["tee"])] * MANY):
        assert bad(each, 404, "not_found") == said


def test_searches_under_way_survive_the_death_of_a_helper(folder: Path, helpers: Callable[[], list[int]]) -> None:
    with serving(folder, options=Options(search_processes=1)) as api:
        expected = good(ask(api, [words("boiling water")])[0])
        for _ in range(3):
            ask_for_helper(api)
            (helper,) = helpers()

            async def storm(helper: int = helper) -> list[httpx2.Response]:
                asking = asyncio.create_task(asked(api, [words("boiling water")] * MANY))
                await asyncio.sleep(0.05)
                os.kill(helper, signal.SIGKILL)
                return await asking

            assert [good(each) for each in asyncio.run(storm())] == [expected] * MANY
            until(lambda helper=helper: helper not in helpers())
        ask(api, [words("green tea")] * MANY)
        assert not helpers()  # something is wrong with this machine: no fourth


def test_a_helper_that_nobody_needs_is_sent_home(
    folder: Path, helpers: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deputies, "_IDLE_SECONDS", 0.3)
    with serving(folder, options=Options(search_processes=1)) as api:
        ask_for_helper(api)
        until(lambda: not helpers())
        assert "dowse_search_processes 0" in httpx2.get(f"{api.address}/metrics").text
        ask_for_helper(api)  # and comes again
        assert good(ask(api, [words("boiling water")])[0])["results"]


@pytest.mark.parametrize("program", ["/bin/false", "/nowhere/python"])
def test_a_server_whose_helpers_cannot_start_answers_alone(
    folder: Path, helpers: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    tried: list[object] = []
    start = asyncio.create_subprocess_exec

    async def counted(*command: Any, **options: Any) -> asyncio.subprocess.Process:
        tried.append(command)
        return await start(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)
    monkeypatch.setattr(sys, "executable", program)
    with serving(folder, options=Options(search_processes=1)) as api:
        for _ in range(8):
            for each in ask(api, [words("green tea")] * MANY):
                assert good(each)["results"]
        assert not helpers()
    assert 1 <= len(tried) <= 3


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_helpers_end_with_their_server(folder: Path, how: signal.Signals) -> None:
    with lines(program("server", "--transport", "http", "--port", "0", "--search-processes", "1"), folder) as server:
        address = announced(folder).removesuffix("/mcp")
        with open_at(folder) as engine:
            api = Api(address, folder, engine, None, None)  # type: ignore[arg-type]  # only its address is used

            def is_there() -> bool:
                ask(api, [words("green tea")] * MANY)
                return bool(helpers_of(server.process.pid))

            until(is_there)
        (helper,) = helpers_of(server.process.pid)
        server.process.send_signal(how)
        server.process.wait(PATIENCE)
        until(lambda: not Path(f"/proc/{helper}/cmdline").exists() or b"deputy" not in _command(helper))
    assert "Traceback" not in (folder / "stderr").read_text()


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("options", "ceiling"), [(Options(search_processes=0), 0), (Options(search_processes=2), 1 << 30)]
)
def test_none_is_started_where_none_is_wanted(
    folder: Path, helpers: Callable[[], list[int]], options: Options, ceiling: int
) -> None:
    with serving(folder, options=options, max_memory=ceiling) as api:
        for _ in range(2):
            for each in ask(api, [words("green tea")] * MANY):
                assert good(each)["results"]
        assert not helpers()


def test_one_core_needs_no_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((None, 0), (1, 0), (2, 1), (64, 4)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert deputies.usual_number() == expected
