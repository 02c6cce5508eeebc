"""The page's files: served from the package, each with its type and tag, and none with what the policy forbids."""

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dowse.interfaces.web import page_routes
from dowse.interfaces.web.serving import STATIC

FILES = sorted(path for path in STATIC.rglob("*") if path.is_file())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
# What could make markup or code of a text.
SINKS = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc")
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", re.IGNORECASE)


def name_of(path):
    return path.relative_to(STATIC).as_posix()


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=page_routes()))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_file_is_served_with_its_type_and_known_again_by_its_tag(client, path):
    address = "/" if name_of(path) == "index.html" else f"/web/{name_of(path)}"
    first = client.get(address)
    assert first.content == path.read_bytes()
    assert first.headers["cache-control"] == "no-cache"
    again = client.get(address, headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "address", ["/web/none.js", "/web/../serving.py", "/web/%2e%2e/serving.py", "/web/index.html", "/web/"]
)
def test_nothing_else_is_served(client, address):
    assert client.get(address).status_code == 404


def test_the_page_has_nothing_inline_and_asks_for_trusted_types():
    page = (STATIC / "index.html").read_text()
    assert not INLINE.search(page)
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in page


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_names_another_host(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[a-z0-9.]+", text)) <= {"http://www.w3.org"}


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_is_short_and_makes_no_markup_of_text(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < 300
    assert text.startswith("// ")
    assert not SINKS.search(text)


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_what_a_script_imports_is_there(path):
    for wanted in re.findall(r"""(?:from|import\()\s*"(\.[^"]+)\"""", path.read_text(encoding="utf-8")):
        assert (path.parent / wanted).resolve() in SCRIPTS


def test_what_the_page_needs_at_first_is_asked_for_at_once():
    """Else each module would wait for the one that imports it."""
    needed, waiting = set(), [STATIC / "js" / "main.js"]
    while waiting:
        path = waiting.pop()
        for wanted in re.findall(r"""from\s+"(\.[^"]+)\"""", path.read_text(encoding="utf-8")):
            found = (path.parent / wanted).resolve()
            if name_of(found) not in needed:
                needed.add(name_of(found))
                waiting.append(found)
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'rel="modulepreload" href="/web/([^"]+)"', page)) == needed
