"""What a connection may bring in: folders, links, hidden places, secrets, addresses."""

from pathlib import Path

import pytest

from dowse.errors import UsageError
from dowse.interfaces.mcp.access import Access, RefusedError


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home" / "ada"
    for name in ("notes/a.md", ".ssh/id_rsa", "notes/.git/config", "notes/.env", "notes/key.pem"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.md").touch()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(home / "notes")
    return home


def refuses(access, path):
    with pytest.raises(RefusedError) as refusal:
        access.check_path(path)
    return refusal.value.message


def test_on_stdio_home_and_the_working_directory_are_open(home, tmp_path, monkeypatch):
    access = Access.on_stdio()
    for path in ("a.md", str(home / "notes" / "a.md"), "~/notes/a.md", home / "notes", home):
        assert access.check_path(path).is_relative_to(home)
    refuses(access, tmp_path / "outside" / "b.md")
    monkeypatch.chdir(tmp_path / "outside")
    assert Access.on_stdio().check_path("b.md") == tmp_path / "outside" / "b.md"


@pytest.mark.parametrize("up", [1, 2, 50])
def test_a_working_directory_above_home_opens_nothing(home, tmp_path, monkeypatch, up):
    monkeypatch.chdir(Path(home, *[".."] * up))
    refuses(Access.on_stdio(), tmp_path / "outside" / "b.md")
    assert Access.on_stdio().roots == (home,)


def test_hidden_folders_and_secrets_are_closed(home):
    access = Access.on_stdio()
    for path in (".ssh/id_rsa", "notes/.git/config", "notes/.env", "notes/key.pem", ".ssh"):
        full = home / path
        if path != ".ssh":
            refuses(access, full)
    assert Access.on_stdio([home / ".ssh"]).roots[-1] == home / ".ssh"


def test_links_and_dots_lead_where_they_lead(home, tmp_path):
    (home / "notes" / "link").symlink_to(tmp_path / "outside")
    (home / "notes" / "inner").symlink_to(home / "notes" / "a.md")
    access = Access.on_stdio()
    refuses(access, home / "notes" / "link" / "b.md")
    refuses(access, home / ".." / ".." / "outside" / "b.md")
    assert access.check_path(home / "notes" / "inner") == home / "notes" / "a.md"


def test_what_is_not_there_gets_the_same_answer_as_what_is(home, tmp_path):
    access = Access.on_stdio()
    there, missing = tmp_path / "outside" / "b.md", tmp_path / "outside" / "c.md"
    assert refuses(access, there).replace("b.md", "c.md") == refuses(access, missing)
    (home / "notes" / "link").symlink_to(there)
    assert "outside/b.md" not in refuses(access, home / "notes" / "link")


@pytest.mark.parametrize("path", ["\0", "~nobody-of-this-name/x"])
def test_what_is_no_path_is_refused(home, path):
    refuses(Access.on_stdio(), path)


def test_a_link_in_a_circle_is_refused_or_leads_nowhere(home):
    (home / "notes" / "circle").symlink_to(home / "notes" / "circle")
    try:
        path = Access.on_stdio().check_path(home / "notes" / "circle")
    except RefusedError:
        return
    assert not path.exists()


def test_over_http_only_what_was_configured_is_open(home, tmp_path):
    refuses(Access.over_http(), home / "notes" / "a.md")
    assert Access.over_http([tmp_path / "outside"]).check_path(tmp_path / "outside" / "b.md")
    assert Access.over_http().with_roots([str(home / "notes")]).check_path(home / "notes" / "a.md")


@pytest.mark.parametrize(
    ("pattern", "url", "allowed"),
    [
        ("example.org", "https://example.org/any/page?x=1", True),
        ("example.org", "http://example.org", True),
        ("example.org", "https://example.org.evil.com/", False),
        ("example.org", "https://evil.com/example.org", False),
        ("example.org", "https://example.org@evil.com/", False),
        ("example.org", "https://sub.example.org/", False),
        ("example.org", "https://example.org:8443/", False),
        ("example.org:8443", "https://example.org:8443/", True),
        ("*.example.org", "https://a.b.example.org/", True),
        ("*.example.org", "https://evil.com/.example.org", False),
        ("https://example.org/docs/*", "https://example.org/docs/a/b", True),
        ("https://example.org/docs/*", "http://example.org/docs/a", False),
        ("https://example.org/docs/*", "https://example.org/private", False),
        ("*", "https://anything.example/", True),
        ("[::1]", "http://[::1]/", True),
    ],
)
def test_patterns_allow_hosts_and_paths(pattern, url, allowed):
    access = Access(url_patterns=(pattern,))
    if allowed:
        assert access.check_url(url).startswith("http")
        return
    with pytest.raises((RefusedError, UsageError)):
        access.check_url(url)


def test_without_patterns_every_address_of_the_web_may_be_tried_and_with_none_no_one():
    assert Access().check_url("HTTPS://Example.org") == "https://example.org/"
    with pytest.raises(RefusedError):
        Access(url_patterns=()).check_url("https://example.org/")
    with pytest.raises(UsageError):
        Access().check_url("file:///etc/passwd")
