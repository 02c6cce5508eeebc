"""Addresses and paths that an agent may be talked into: one table of tricks, each of which has to be refused.

What these rules are in detail is tested beside them (tests/ingest/sources, tests/interfaces/mcp/test_access.py).
Here every trick goes the whole way that it would go, and what it is after is there to be had: a server on this
machine that counts who asks, and a file with a secret outside of the folder that may be read.
"""

import itertools
import os
import socket
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from dowse import DowseError, Engine
from dowse.ingest.sources import AddressPolicy, given_content, parse_given, read, walk
from dowse.ingest.sources.given import path_of_file_uri
from dowse.ingest.sources.web import FetchLimits, fetch
from dowse.interfaces.mcp.access import Access
from ingest.sources.serving import Server, serving
from workbench import open_at, write

SECRET = "the horse is called Battery"  # noqa: S105 - what must not be read
LIMITS = FetchLimits(max_bytes=100_000, connect_seconds=5, read_seconds=5, total_seconds=20, max_redirects=3)


@dataclass
class Place:
    """What the tricks are after, and what they may see."""

    server: Server
    root: Path
    secret: Path
    engine: Engine

    def filled(self, text: str) -> str:
        """A trick with the names of this machine put in."""
        depth = "/".join([".."] * (len(self.root.parts) + 2))
        names = {"PORT": str(self.server.port), "SECRET": str(self.secret), "ROOT": str(self.root), "UP": depth}
        for name, value in names.items():
            text = text.replace(f"<{name}>", value)
        return text


def answers(**hosts: str | list[str]):
    """A resolver of these hosts; a list is one answer after the other, as when a name is bound anew."""
    known = {name.replace("_", "."): itertools.cycle(v if isinstance(v, list) else [v]) for name, v in hosts.items()}

    def resolve(host: str, port: int) -> list[str]:
        if host not in known:
            raise socket.gaierror(host)
        return next(known[host]).split()

    return resolve


NAMES = {
    "inside_example": "127.0.0.1",
    "inside6_example": "::1",
    "mapped_example": "::ffff:127.0.0.1",
    "half_example": "93.184.216.34 127.0.0.1",
    "cloud_example": "169.254.169.254",
    "rebinding_example": ["127.0.0.1", "169.254.169.254"],
    "xn--lclhost-9ya0f_example": "127.0.0.1",
    "localhost": "127.0.0.1",
    "metadata_google_internal": "169.254.169.254",
}


def by_address(place: Place, url: str) -> str:
    """Fetch it as an agent's wish, with only the public network allowed."""
    place.server.page("/", SECRET.encode())
    found = fetch(
        place.filled(url), limits=LIMITS, policy=AddressPolicy(), resolve=answers(**NAMES), proxy_for=lambda _: None
    )
    return str(found)


def by_redirect(place: Place, location: str) -> str:
    """Fetch a page that is allowed, and leads there."""
    place.server.page("/", SECRET.encode())
    start = place.server.redirect("/start", place.filled(location))
    policy = AddressPolicy(allow_private=True)
    return str(fetch(start, limits=LIMITS, policy=policy, resolve=answers(**NAMES), proxy_for=lambda _: None))


def by_rebinding(place: Place, path: str) -> str:
    """Fetch from a name whose second answer is another address; the first hop redirects to itself."""
    place.server.redirect("/start", path)
    place.server.page(path, SECRET.encode())
    url = f"http://rebinding.example:{place.server.port}/start"
    policy = AddressPolicy(allow_private=True)
    return str(fetch(url, limits=LIMITS, policy=policy, resolve=answers(**NAMES), proxy_for=lambda _: None))


def by_path(place: Place, path: str) -> str:
    """Ingest it by the rules of a connection that may read one folder."""
    return read(Access.over_http([place.root]).check_path(place.filled(path)), 1_000)[0].decode()


def by_file_uri(place: Place, uri: str) -> str:
    """The same for a file: URI."""
    given = parse_given(place.filled(uri), base=place.root)
    assert given.path is not None
    return Access.over_http([place.root]).check_path(given.path).read_text()


def by_windows_uri(_: Place, uri: str) -> str:
    """What a file: URI would mean on Windows."""
    return str(path_of_file_uri(uri, windows=True))


def by_name(place: Place, name: str) -> str:
    """Read a document of the index; only documents have names."""
    return place.engine.get(place.filled(name)).text


def by_content_name(_: Place, name: str) -> str:
    """Bring content in under a name that leads out of the collection."""
    return given_content("text", name).uri


def by_race(place: Place, step: str) -> str:
    """Put a link in the place of what was checked, between the check and the reading."""
    folder = place.root / "work"
    file = write(folder, {"note.md": "harmless"}) / "note.md"
    if step == "file of a walk":
        file = Path(next(each.real for each in walk(place.root, max_file_size=1000) if each.path == "work/note.md"))
    else:
        file = Access.over_http([place.root]).check_path(file)
    if step == "folder above":
        folder.rename(place.root / "moved")
        (place.secret.parent / "note.md").write_text(SECRET)
        folder.symlink_to(place.secret.parent)
    else:
        file.unlink()
        file.symlink_to(place.secret)
    return read(file, 1_000)[0].decode()


CASES = [
    *(
        (by_address, f"http://{host}:<PORT>/")
        for host in (
            *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0177.0.0.1", "017700000001", "0x7f.0.0.1", "0x7f000001"),
            *("0", "0.0.0.0", "127.0.0.1.", "127.0.0.1。", "１２７.０.０.１", "%31%32%37.0.0.1", "ⓛocalhost"),  # noqa: S104 - refused
            *("localhost", "localhost.", "LOCALHOST", "inside.example", "inside6.example", "mapped.example"),
            *("half.example", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
            *("[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]"),
            *("[fe80::1]", "[fe80::1%25lo]", "[fc00::1]", "[ff02::1]", "10.0.0.1", "172.16.0.1", "192.168.0.1"),
            *("100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "169.254.169.254", "0xa9fea9fe"),
            *("2852039166", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16"),
            *("cloud.example", "metadata.google.internal", "192.0.0.192", "169.254.170.2"),
        )
    ),
    *(
        (by_address, url)
        for url in (
            *("http://ada:secret@127.0.0.1:<PORT>/", "http://example.org@127.0.0.1:<PORT>/"),
            *("http://127.0.0.1:<PORT>\\@example.org/", "http://example.org\\@127.0.0.1:<PORT>/"),
            *("http:127.0.0.1:<PORT>/", "http:////127.0.0.1:<PORT>/", "http://127.0.0.1:<PORT>#@example.org/"),
            *("http://127.0.0.1\t:<PORT>/", "http://127.0.0.1\n.example.org/", "http://a\0b.example/"),
            *("http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:-1/", "http://127.0.0.1:22/"),
            *("ftp://127.0.0.1/", "gopher://127.0.0.1:<PORT>/_GET", "file://<SECRET>", "dict://127.0.0.1:<PORT>/d"),
            *("ldap://127.0.0.1/", "jar:http://127.0.0.1!/", "unix:///run/x.sock", "http://[::1", "http://"),
            *("http://127.0.0.1:<PORT>/%0d%0aX-Evil:%201", "http://127.0.0.1:<PORT>/ HTTP/1.1\r\nX-Evil: 1\r\n"),
        )
    ),
    *(
        (by_redirect, location)
        for location in (
            *("http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/", "//[fd00:ec2::254]/"),
            *("http://cloud.example/", "file://<SECRET>", "ftp://127.0.0.1/", "data:text/plain,x", "javascript:1"),
            *("http://ada:pw@127.0.0.1:<PORT>/", "http://[::ffff:169.254.169.254]/", "http://[ff02::1]/", "/start"),
        )
    ),
    (by_rebinding, "/second"),
    *(
        (by_path, path)
        for path in (
            *("<SECRET>", "<ROOT>/../secret.md", "<ROOT>/./.././secret.md", "<ROOT>//..//secret.md", "../secret.md"),
            *("<ROOT>/notes/../../secret.md", "<ROOT>/link", "<ROOT>/linked/secret.md", "<ROOT>/<UP>/etc/passwd"),
            *("/etc/passwd", "/proc/self/environ", "/dev/stdin", "~/.ssh/id_rsa", "~root/.bashrc"),
            *("\0", "<SECRET>\0.md"),
            *("<ROOT>/.git/config", "<ROOT>/.ssh/id_rsa", "<ROOT>/.env", "<ROOT>/key.pem", "<ROOT>-other/secret.md"),
            *("..\\secret.md", "\\\\?\\<SECRET>", "CON", "NUL.txt", "\\\\server\\share\\x", "C:\\Windows\\win.ini"),
            *("%2e%2e/secret.md", "<ROOT>/..%2fsecret.md", "<ROOT>/%2e%2e/secret.md", "a" * 5_000),
        )
    ),
    *(
        (by_file_uri, uri)
        for uri in (
            *("file://<SECRET>", "file://localhost<SECRET>", "file:<SECRET>", "FILE://<SECRET>", "file://<SECRET>#L1"),
            *("file://<ROOT>/%2e%2e/secret.md", "file://<ROOT>/..%2fsecret.md", "file://<ROOT>/%2E%2E%2Fsecret.md"),
            *("file://server/share/x", "file://127.0.0.1<SECRET>", "file://server@localhost<SECRET>", "file://<ROOT>/a%00b"),
            *("file:secret.md", "file:", "file://", "file:////server/share", "file://<ROOT>/linked/secret.md"),
        )
    ),
    *(
        (by_windows_uri, uri)
        for uri in (
            *("file:////server/share/x", "file:///%5C%5Cserver%5Cshare", "file://server/share/x", "file:///C:/CON"),
            *("file:///C:/a/nul.txt", "file:///C:/a/COM1", "file:///C:/a.md:stream", "file:///%5C%5C.%5CPhysicalDrive0"),
            *("file:///C:/aux/a.md", "file:///%5C%5C%3F%5CC:%5Cx", "file:///C:/LPT¹", "file:///C:/a.md::$DATA"),
        )
    ),
    *(
        (by_name, name)
        for name in (
            *("dowse://notes/../secret.md", "dowse://../secret.md", "dowse://notes/%2e%2e/secret.md", "<SECRET>"),
            *("dowse://<SECRET>", "qmd://notes/..%2f..%2fsecret.md", "dowse://notes/..\\secret.md", "file://<SECRET>"),
            *("dowse:///etc/passwd", "notes/../secret.md", "dowse://notes/a.md/../../secret.md", "dowse://notes/link"),
            *("notes/linked/secret.md", "dowse://notes/.env", "dowse://notes/key.pem", "dowse://notes/a.md%00/../secret.md"),
        )
    ),
    *((by_content_name, name) for name in ("../x", "a/../../x", "..", "a/./b", "a//b", "a\0b", "a\nb", "", "/")),
    *((by_race, step) for step in ("file of a walk", "named file", "folder above")),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    outer = tmp_path_factory.mktemp("place").resolve()
    root = write(
        outer / "root",
        {
            "a.md": "# A\n\nwords",
            "notes/b.md": "more words",
            "secret.md.txt": "not this one",
            **dict.fromkeys((".git/config", ".ssh/id_rsa", ".env", "key.pem"), SECRET),
        },
    )
    secret = write(outer, {"secret.md": SECRET, "root-other/secret.md": SECRET}) / "secret.md"
    (root / "link").symlink_to(secret)
    (root / "linked").symlink_to(outer)
    with serving() as server, open_at(outer / "index") as engine:
        engine.add_collection(root, name="notes")
        engine.index("notes")
        yield Place(server, root, secret, engine)


@pytest.mark.parametrize(("way", "trick"), CASES, ids=[f"{way.__name__}-{n}" for n, (way, _) in enumerate(CASES)])
@pytest.mark.skipif(os.name == "nt", reason="the places are those of POSIX")
def test_the_trick_is_refused_with_a_way_out(place, way, trick, figure):
    asked = len(place.server.requests)
    try:
        with pytest.raises(DowseError) as refusal:
            way(place, trick)
    except pytest.fail.Exception:
        figure("tricks with addresses and paths", {"cases": 1, "got through": 1})
        raise
    figure("tricks with addresses and paths", {"cases": 1, "got through": 0})
    assert refusal.value.message
    assert SECRET not in f"{refusal.value.message} {refusal.value.hint} {refusal.value.details}"
    if way is by_address:
        assert len(place.server.requests) == asked, "somebody was asked"


def test_links_that_change_while_files_are_read_never_lead_out(place):
    """The same race for real: one thread swaps a file and a link while the other reads."""
    folder = place.root / "busy"
    file = write(folder, {"note.md": "harmless"}) / "note.md"
    link = folder / "waiting"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            link.symlink_to(place.secret)
            link.replace(file)
            link.write_text("harmless")
            link.replace(file)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        seen = set()
        for _ in range(300):
            try:
                seen.add(read(file, 1_000)[0])
            except DowseError as error:
                seen.add(error.reason.encode())
    finally:
        stop.set()
        swapping.join()
    assert SECRET.encode() not in seen
    assert seen <= {b"harmless", b"", b"changing", b"missing"}
