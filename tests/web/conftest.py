"""A real Chromium before a real server, one of each for all tests of a process.

Playwright's synchronous interface leaves an event loop running in the thread that started it, which would break every
other test that wants one; so it lives in a thread of its own, and the tests of this folder run there.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from browser import ARGUMENTS, find, serving
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from web.corpus import FOLDERS
from workbench import environment_for, open_at, write

PATIENCE = 30_000  # milliseconds that a browser may take for anything, also on a machine with much else to do

_Result = TypeVar("_Result")


class Stage:
    """The thread that owns Playwright."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "browser")

    def do(self, act: Callable[..., _Result], **arguments: Any) -> _Result:
        return self._pool.submit(act, **arguments).result()

    def close(self) -> None:
        self._pool.shutdown()


@dataclass
class Site:
    """A server with its documents."""

    origin: str
    token: str
    folder: Path
    """Below it the folders of the corpus, and what a test adds."""


@dataclass
class Visit:
    """A page of the site as somebody sees it, and what the browser complained about meanwhile."""

    site: Site
    page: Page
    complaints: list[str] = field(default_factory=list)

    def open(self, address: str = "/", *, token: bool = True) -> Page:
        """Go there as somebody who follows the address that the server printed."""
        self.page.goto(self.site.origin + address + (f"#token={self.site.token}" if token else ""))
        return self.page

    def search(self, text: str, address: str = "/", **options: Any) -> Page:
        """Type a question, and wait for its last answer."""
        page = self.open(address, **options)
        page.get_by_role("searchbox", name="Search your documents").fill(text)
        page.locator(f'#results[data-stage="last"][data-query="{text}"]').wait_for(state="attached")
        return page


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture(scope="session")
def browser(stage: Stage) -> Iterator[Browser]:
    program = find()
    if program is None:
        pytest.skip("no Chromium (make setup says how to get one)")
    expect.set_options(timeout=PATIENCE)
    playwright = stage.do(sync_playwright().start)
    made = stage.do(playwright.chromium.launch, executable_path=program, args=ARGUMENTS)
    yield made
    stage.do(made.close)
    stage.do(playwright.stop)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    place = tmp_path_factory.mktemp("site").resolve()
    with open_at(place) as engine:
        for name, files in FOLDERS.items():
            engine.add_collection(write(place / name, files), name=name)
            engine.index(name)
        engine.embed()
    with serving(environment_for(place), "--allow-root", str(place)) as server:
        yield Site(server.origin, server.token, place)


@pytest.fixture
def visit(browser: Browser, site: Site, stage: Stage) -> Iterator[Visit]:
    """A visit on a desktop; nothing may be refused by the page's own policy, nor break."""
    yield from visiting(browser, site, stage, viewport={"width": 1200, "height": 850})


@pytest.fixture
def phone(browser: Browser, site: Site, stage: Stage) -> Iterator[Visit]:
    yield from visiting(browser, site, stage, viewport={"width": 375, "height": 720}, has_touch=True, is_mobile=True)


def visiting(browser: Browser, site: Site, stage: Stage, **options: Any) -> Iterator[Visit]:
    def begin() -> tuple[BrowserContext, Visit]:
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
        context.set_default_timeout(PATIENCE)
        made = Visit(site, context.new_page())
        made.page.on("pageerror", lambda error: made.complaints.append(f"error: {error}"))
        made.page.on("console", lambda message: _note(made, message.type, message.text))
        return context, made

    context, made = stage.do(begin)
    yield made
    stage.do(context.close)
    assert not made.complaints


def _note(visit: Visit, kind: str, text: str) -> None:
    expected = "Failed to load resource: the server responded with a status of 4"
    if kind in ("error", "warning") and not text.startswith(expected):
        visit.complaints.append(f"{kind}: {text}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run the tests that look at a page in the thread that owns it."""
    if "stage" not in pyfuncitem.fixturenames:
        return None
    stage: Stage = pyfuncitem._request.getfixturevalue("stage")
    wanted = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    stage.do(pyfuncitem.obj, **wanted)
    return True
