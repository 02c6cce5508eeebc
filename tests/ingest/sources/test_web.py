"""Fetching is bounded in time and size, asks only for what is new, and never leaves the network it may see."""

import gzip
import itertools
import socket
import ssl
import zlib

import pytest

from dowse import __version__
from dowse.errors import SourceError, UsageError
from dowse.ingest.sources import AddressPolicy
from dowse.ingest.sources.connections import Deadline, Gate
from dowse.ingest.sources.web import Fetched, FetchLimits, NotModified, fetch
from dowse.types import Fingerprint
from ingest.sources.serving import CERTIFICATE, serving

LOCAL = AddressPolicy(allow_private=True)
LIMITS = FetchLimits(max_bytes=100_000, connect_seconds=5, read_seconds=5, total_seconds=20, max_redirects=3)
SUNDAY = "Sun, 06 Nov 1994 08:49:37 GMT"
SUNDAY_NS = 784_111_777 * 10**9


@pytest.fixture
def server():
    with serving() as running:
        yield running


def get(url: str, **options) -> Fetched:
    options = {"limits": LIMITS, "policy": LOCAL, "proxy_for": lambda _: None} | options
    found = fetch(url, **options)
    assert isinstance(found, Fetched)
    return found


def failure(url: str, **options) -> SourceError:
    with pytest.raises(SourceError) as caught:
        get(url, **options)
    assert caught.value.hint
    return caught.value


def resolving(**hosts: str | list[str]):
    """A resolver that knows these hosts, written with `_` for a dot; a list is one answer after the other."""
    answers = {
        name.replace("_", "."): itertools.cycle([known] if isinstance(known, str) else known)
        for name, known in hosts.items()
    }

    def resolve(host: str, port: int) -> list[str]:
        if host not in answers:
            raise socket.gaierror(host)
        return next(answers[host]).split()

    return resolve


class TestWhatComesBack:
    def test_the_bytes_and_what_the_server_says_of_them(self, server):
        url = server.page(
            "/notes.md", b"# Hi", Content_Type="Text/Markdown; charset=ISO-8859-1", ETag='"v1"', Last_Modified=SUNDAY
        )
        found = get(url + "#part")
        assert (found.data, found.url, found.name) == (b"# Hi", url, "notes.md")
        assert (found.media_type, found.charset) == ("text/markdown", "iso-8859-1")
        fingerprint = found.fingerprint
        assert (fingerprint.size, fingerprint.mtime_ns, fingerprint.etag) == (4, SUNDAY_NS, '"v1"')
        assert fingerprint.read_ns > SUNDAY_NS

    def test_a_server_that_says_nothing(self, server):
        url = server.page("/x", Content_Type="", Last_Modified="yesterday")
        found = get(url)
        assert (found.media_type, found.charset, found.fingerprint.mtime_ns, found.fingerprint.etag) == ("", "", 0, "")

    @pytest.mark.parametrize(
        ("disposition", "name"),
        [
            ('attachment; filename="report.pdf"', "report.pdf"),
            ("attachment; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
            ('attachment; filename="../../etc/passwd"', "passwd"),
            ('attachment; filename="C:\\\\x\\\\a.txt"', "a.txt"),
            ("inline", "page"),
            ("attachment; filename*=bogus''%FF", "ÿ"),
        ],
    )
    def test_the_server_may_name_the_file(self, server, disposition, name):
        assert get(server.page("/page", Content_Disposition=disposition)).name == name

    def test_who_asks_and_for_what(self, server):
        get(server.page("/x", b"text"))
        headers = server.requests[0].headers
        assert headers["User-Agent"] == f"dowse/{__version__}"
        assert headers["Host"] == f"127.0.0.1:{server.port}"
        assert headers["Accept"].startswith("text/markdown, text/html")
        assert headers["Accept-Encoding"] == "gzip, deflate"
        assert "If-None-Match" not in headers
        assert "Cookie" not in headers

    def test_the_query_is_sent_as_it_was_given(self, server):
        server.page("/x")
        get(f"{server.url}/x?b=2&a=1+1&u=é")
        assert server.requests[0].path == "/x?b=2&a=1+1&u=%C3%A9"

    def test_chunks_are_joined(self, server):
        server.answers["/x"] = lambda request: request.raw(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        )
        assert get(f"{server.url}/x").data == b"abcde"

    def test_a_body_may_end_with_the_connection(self, server):
        server.answers["/x"] = lambda request: request.raw(b"HTTP/1.0 200 OK\r\n\r\nabc")
        assert get(f"{server.url}/x").data == b"abc"


class TestPacked:
    @pytest.mark.parametrize(
        ("coding", "body"),
        [
            ("gzip", gzip.compress(b"text", mtime=0)),
            ("x-gzip", gzip.compress(b"text", mtime=0)),
            ("GZIP, identity", gzip.compress(b"text", mtime=0)),
            ("gzip", gzip.compress(b"te", mtime=0) + gzip.compress(b"xt", mtime=0)),
            ("gzip", gzip.compress(b"text", mtime=0) + b"\0\0padding"),
            ("deflate", zlib.compress(b"text")),
            ("deflate", zlib.compress(b"text")[2:-4]),
            ("identity", b"text"),
        ],
    )
    def test_bodies_are_unpacked(self, server, coding, body):
        assert get(server.page("/x", body, Content_Encoding=coding)).data == b"text"

    def test_an_empty_body_needs_no_unpacking(self, server):
        assert get(server.page("/x", b"", Content_Encoding="gzip")).data == b""

    @pytest.mark.parametrize(
        ("coding", "body"),
        [
            ("gzip", b"text"),
            ("gzip", gzip.compress(b"text" * 100, mtime=0)[:-9]),
            ("deflate", zlib.compress(b"text" * 100)[:-9]),
            ("br", b"text"),
            ("gzip, gzip", gzip.compress(gzip.compress(b"text", mtime=0), mtime=0)),
        ],
    )
    def test_what_cannot_be_unpacked_is_said_so(self, server, coding, body):
        assert failure(server.page("/x", body, Content_Encoding=coding)).reason == "bad_response"

    @pytest.mark.parametrize(
        ("coding", "bomb"),
        [
            ("gzip", gzip.compress(bytes(60_000_000), mtime=0)),
            ("deflate", zlib.compress(bytes(60_000_000))),
            ("gzip", gzip.compress(bytes(50_000), mtime=0) * 300),
        ],
    )
    def test_the_limit_counts_what_comes_out(self, server, coding, bomb):
        assert len(bomb) < LIMITS.max_bytes
        assert failure(server.page("/x", bomb, Content_Encoding=coding)).reason == "too_large"


class TestLimits:
    def test_a_length_beyond_the_limit_is_refused_before_it_is_read(self, server):
        server.answers["/x"] = lambda request: request.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n")
        error = failure(f"{server.url}/x")
        assert error.reason == "too_large"
        assert "100,001" in error.message

    def test_a_body_of_the_limit_is_taken_and_one_byte_more_is_not(self, server):
        assert len(get(server.page("/x", bytes(100_000))).data) == 100_000
        server.answers["/y"] = lambda request: request.raw(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(100_001))
        assert failure(f"{server.url}/y").reason == "too_large"

    def test_a_body_shorter_than_promised_is_not_taken_for_whole(self, server):
        server.answers["/x"] = lambda request: request.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        assert failure(f"{server.url}/x").reason == "bad_response"

    @pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
    def test_a_server_that_stops_in_the_middle_is_not_waited_for(self, server, start):
        def stall(request):
            request.raw(start)
            server.released.wait()

        server.answers["/x"] = stall
        limits = FetchLimits(read_seconds=0.05)
        assert failure(f"{server.url}/x", limits=limits).reason == "timeout"

    @pytest.mark.parametrize("drop", [b"X: y\r\n", b"a"])
    def test_a_server_that_goes_on_forever_is_ended_by_the_time_for_the_whole(self, server, drop):
        def drip(request):
            request.raw(b"HTTP/1.1 200 OK\r\n" + (b"" if b"X" in drop else b"\r\n"))
            while not server.released.wait(0.01):
                request.raw(drop)

        server.answers["/x"] = drip
        assert failure(f"{server.url}/x", limits=FetchLimits(total_seconds=0.2)).reason == "timeout"

    def test_a_name_that_is_not_resolved_in_time(self, server):
        def resolve(host, port):
            server.released.wait()
            return []

        limits = FetchLimits(total_seconds=0.05)
        assert failure("http://slow.example/", limits=limits, resolve=resolve).reason == "timeout"

    def test_nonsense_is_no_answer(self, server):
        server.answers["/x"] = lambda request: request.raw(b"SSH-2.0-OpenSSH_9.9\r\n")
        assert failure(f"{server.url}/x").reason == "bad_response"

    def test_headers_without_end_are_no_answer(self, server):
        server.answers["/x"] = lambda request: request.raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000)
        assert failure(f"{server.url}/x").reason == "bad_response"


class TestStatuses:
    @pytest.mark.parametrize("status", [204, 206, 304, 400, 401, 403, 404, 410, 418, 429, 500, 503])
    def test_each_is_a_reason_of_its_own(self, server, status):
        error = failure(server.page("/x", b"", status))
        assert error.reason == f"http_{status}"
        assert str(status) in error.message

    def test_what_to_do_depends_on_the_status(self, server):
        assert "browser" in failure(server.page("/a", b"", 404)).hint
        assert "login" in failure(server.page("/b", b"", 401)).hint
        assert "30 seconds" in failure(server.page("/c", b"", 503, Retry_After="30")).hint

    def test_nobody_listens(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        assert failure(f"http://127.0.0.1:{port}/").reason == "unreachable"

    def test_a_host_that_does_not_exist(self):
        error = failure("http://nowhere.example/", resolve=resolving())
        assert error.reason == "unreachable"
        assert "nowhere.example" in error.message


class TestOnlyWhatIsNew:
    def test_an_etag_is_sent_back_and_spares_the_download(self, server):
        before = Fingerprint(4, SUNDAY_NS, etag='W/"v1"')
        url = server.page("/x", b"", 304)
        found = fetch(url, policy=LOCAL, before=before)
        assert isinstance(found, NotModified)
        assert server.requests[0].headers["If-None-Match"] == 'W/"v1"'
        assert (found.fingerprint.size, found.fingerprint.etag) == (4, 'W/"v1"')
        assert found.fingerprint.read_ns > 0

    def test_without_an_etag_the_time_of_the_last_change_is(self, server):
        found = fetch(server.page("/x", b"", 304, ETag='"new"'), policy=LOCAL, before=Fingerprint(4, SUNDAY_NS))
        assert isinstance(found, NotModified)
        assert server.requests[0].headers["If-Modified-Since"] == SUNDAY
        assert found.fingerprint.etag == '"new"'

    def test_without_either_everything_is_fetched(self, server):
        assert get(server.page("/x"), before=Fingerprint(4, 0)).data == b"text"
        assert not {"If-None-Match", "If-Modified-Since"} & set(server.requests[0].headers)

    def test_after_a_redirect_only_an_etag_tells(self, server):
        server.page("/new")
        get(server.redirect("/old", "/new"), before=Fingerprint(4, SUNDAY_NS))
        assert "If-Modified-Since" in server.requests[0].headers
        assert "If-Modified-Since" not in server.requests[1].headers
        get(server.redirect("/old", "/new"), before=Fingerprint(4, SUNDAY_NS, etag='"v1"'))
        assert server.requests[3].headers["If-None-Match"] == '"v1"'

    def test_what_a_fetch_returns_is_what_the_next_one_takes(self, server):
        def revalidate(request):
            is_known = request.headers["If-None-Match"] == '"v1"'
            request.answer(b"" if is_known else b"text", 304 if is_known else 200, ETag='"v1"')

        server.answers["/x"] = revalidate
        first = get(f"{server.url}/x")
        assert isinstance(fetch(first.url, policy=LOCAL, before=first.fingerprint), NotModified)

    def test_an_etag_that_could_not_be_sent_back_is_not_kept(self, server):
        server.answers["/x"] = lambda request: request.raw(
            b"HTTP/1.1 200 OK\r\nETag: \xe9\r\nContent-Length: 0\r\n\r\n"
        )
        assert get(f"{server.url}/x").fingerprint.etag == ""


class TestRedirects:
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_they_are_followed(self, server, status):
        target = server.page("/b/new.md")
        found = get(server.redirect("/a", "b/new.md", status))
        assert (found.url, found.name) == (target, "new.md")

    @pytest.mark.parametrize(
        "location", ["/é", "/%c3%a9", "/x/../é", "http://127.1:{port}/é#part", "//0x7f.1:{port}/é"]
    )
    def test_wherever_they_lead_in_whatever_spelling(self, server, location):
        server.page("/%C3%A9")
        server.answers["/a"] = lambda request: request.raw(
            f"HTTP/1.1 302 Found\r\nLocation: {location.format(port=server.port)}\r\nContent-Length: 0\r\n\r\n".encode()
        )
        assert get(f"{server.url}/a").url == f"{server.url}/%C3%A9"

    def test_not_for_ever(self, server):
        url = server.redirect("/a", "/a")
        assert failure(url).reason == "bad_redirect"
        assert len(server.requests) == LIMITS.max_redirects + 1

    def test_as_often_as_allowed(self, server):
        server.page("/3")
        for step in range(3):
            server.redirect(f"/{step}", f"/{step + 1}")
        assert get(f"{server.url}/0").url == f"{server.url}/3"

    @pytest.mark.parametrize(
        "location",
        ["file:///etc/passwd", "ftp://h.example/", "data:,x", "http://", "http://ada:secret@127.0.0.1/", "http://a b/"],
    )
    def test_not_out_of_the_web(self, server, location):
        error = failure(server.redirect("/a", location))
        assert error.reason == "bad_redirect"
        assert "secret" not in error.message

    def test_only_where_the_asker_may_go(self, server):
        server.page("/shut/page.md")
        url = server.redirect("/open/1", "/open/2")
        server.redirect("/open/2", "/shut/page.md")
        policy = AddressPolicy(allow_private=True, may_follow=lambda target: "/open/" in target)
        error = failure(url, policy=policy)
        assert error.reason == "refused_address"
        assert f"{server.url}/shut/page.md" in error.message
        assert [request.path for request in server.requests] == ["/open/1", "/open/2"]

    def test_one_without_a_target_is_no_answer(self, server):
        assert failure(server.page("/a", b"", 302)).reason == "http_302"


class TestAddresses:
    @pytest.mark.parametrize(
        "host",
        [
            *("127.0.0.1", "127.1", "2130706433", "0177.0.0.1", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "0"),
            *("[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "10.0.0.1", "169.254.169.254", "[fd00:ec2::254]", "[fe80::1]"),
        ],
    )
    def test_private_ones_are_refused_without_a_connection(self, server, host):
        error = failure(f"http://{host}:{server.port}/", policy=AddressPolicy(), resolve=resolving())
        assert error.reason == "refused_address"
        assert not server.requests

    @pytest.mark.parametrize("answer", ["127.0.0.1", "::1", "93.184.216.34 127.0.0.1", "127.0.0.1 93.184.216.34"])
    def test_names_are_judged_by_all_of_their_addresses(self, server, answer):
        resolve = resolving(evil_example=answer)
        error = failure(f"http://evil.example:{server.port}/", policy=AddressPolicy(), resolve=resolve)
        assert error.reason == "refused_address"
        assert not server.requests

    def test_a_name_is_resolved_once_and_that_answer_is_connected_to(self, server):
        server.page("/x", b"from the checked address")
        asked = []

        def rebinding(host, port):
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

        url = f"http://rebinding.example:{server.port}/x"
        assert get(url, resolve=rebinding).data == b"from the checked address"
        assert asked == ["rebinding.example"]
        assert server.requests[0].headers["Host"] == f"rebinding.example:{server.port}"

    def test_every_hop_is_judged_anew(self, server):
        server.redirect("/a", "http://metadata.example/latest")
        resolve = resolving(metadata_example="169.254.169.254")
        error = failure(f"{server.url}/a", resolve=resolve)
        assert error.reason == "refused_address"
        assert "metadata.example" in error.message

    def test_a_name_that_turns_private_between_two_hops_is_refused(self, server):
        server.redirect("/a", "/b")
        server.page("/b")
        resolve = resolving(rebinding_example=["127.0.0.1", "169.254.169.254"])
        assert failure(f"http://rebinding.example:{server.port}/a", resolve=resolve).reason == "refused_address"
        assert len(server.requests) == 1

    def test_the_next_address_is_tried_when_one_does_not_answer(self, server):
        server.page("/x")
        resolve = resolving(two_example="::1 127.0.0.1")
        assert get(f"http://two.example:{server.port}/x", resolve=resolve).data == b"text"

    def test_from_a_public_page_no_way_leads_into_a_private_network(self):
        resolve = resolving(public_example="93.184.216.34", wiki_example="10.0.0.7")
        gate = Gate(LOCAL, resolve, Deadline(20))
        assert gate.addresses("wiki.example", 80) == ["10.0.0.7"]
        assert gate.addresses("public.example", 80) == ["93.184.216.34"]
        with pytest.raises(SourceError, match="public page leads to"):
            gate.addresses("wiki.example", 80)

    @pytest.mark.parametrize("answer", ["", "nonsense", "300.1.1.1"])
    def test_a_resolver_that_answers_nonsense_reaches_nothing(self, answer):
        assert failure("http://odd.example/", resolve=resolving(odd_example=answer)).reason == "unreachable"

    def test_credentials_in_an_address_are_refused(self):
        with pytest.raises(UsageError, match="password"):
            get("http://ada:secret@127.0.0.1/")


class TestProxies:
    def test_a_proxy_is_asked_for_the_whole_address(self, server):
        server.answers["http://docs.example/x"] = lambda request: request.answer(b"by proxy")
        found = get(
            "http://docs.example/x", proxy_for=lambda _: server.url, policy=AddressPolicy(), resolve=resolving()
        )
        assert (found.data, found.url) == (b"by proxy", "http://docs.example/x")

    def test_its_login_is_for_it_alone(self, server):
        server.answers["http://docs.example/x"] = lambda request: request.answer(b"")
        get(
            "http://docs.example/x",
            proxy_for=lambda _: f"http://ada:p%40ss@127.0.0.1:{server.port}",
            resolve=resolving(),
        )
        assert server.requests[0].headers["Proxy-Authorization"] == "Basic YWRhOnBAc3M="

    def test_one_that_lets_nothing_through_is_named(self, server):
        error = failure("https://docs.example/x", proxy_for=lambda _: server.url, resolve=resolving())
        assert error.reason == "unreachable"
        assert "proxy" in error.message
        assert server.requests[0].path == "docs.example:443"

    @pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://localhost/", "http://metadata.google.internal/"])
    def test_it_is_no_way_around_the_policy(self, server, url):
        error = failure(url, proxy_for=lambda _: server.url, policy=AddressPolicy(), resolve=resolving())
        assert error.reason == "refused_address"
        assert not server.requests

    def test_a_name_that_can_be_resolved_here_is_judged_by_its_addresses(self, server):
        resolve = resolving(wiki_example="10.0.0.7")
        error = failure("http://wiki.example/", proxy_for=lambda _: server.url, policy=AddressPolicy(), resolve=resolve)
        assert error.reason == "refused_address"

    def test_other_kinds_of_proxies_are_refused_with_the_way_out(self):
        error = failure("http://docs.example/", proxy_for=lambda _: "socks5://127.0.0.1:1080", resolve=resolving())
        assert "HTTPS_PROXY" in error.hint

    def test_the_environment_names_it(self, server, monkeypatch):
        server.answers["http://docs.example/x"] = lambda request: request.answer(b"by proxy")
        monkeypatch.setenv("http_proxy", server.url.removeprefix("http://"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert isinstance(fetch("http://docs.example/x", policy=LOCAL), Fetched)
        assert isinstance(fetch(server.page("/direct"), policy=LOCAL), Fetched)
        assert [request.path for request in server.requests] == ["http://docs.example/x", "/direct"]


class TestCertificates:
    @pytest.fixture
    def secure(self):
        with serving(tls=True) as running:
            yield running

    @pytest.fixture
    def trusting(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(CERTIFICATE)
        return context

    def test_they_are_verified_against_the_name_not_the_address(self, secure, trusting):
        secure.page("/x", b"secret")
        resolve = resolving(docs_example="127.0.0.1", evil_example="127.0.0.1")
        url = f"https://docs.example:{secure.port}/x"
        assert get(url, resolve=resolve, tls=trusting).data == b"secret"
        error = failure(f"https://evil.example:{secure.port}/x", resolve=resolve, tls=trusting)
        assert error.reason == "bad_certificate"
        assert len(secure.requests) == 1

    def test_one_that_nobody_vouches_for_is_refused(self, secure):
        resolve = resolving(docs_example="127.0.0.1")
        assert failure(f"https://docs.example:{secure.port}/x", resolve=resolve).reason == "bad_certificate"

    def test_a_server_without_any_is_not_spoken_to(self, server, trusting):
        assert failure(f"https://127.0.0.1:{server.port}/", tls=trusting).reason == "bad_certificate"

    def test_https_may_follow_http_but_not_the_other_way_round(self, server, secure, trusting):
        resolve = resolving(docs_example="127.0.0.1")
        secure.page("/new")
        up = server.redirect("/old", f"https://docs.example:{secure.port}/new")
        assert get(up, resolve=resolve, tls=trusting).data == b"text"
        secure.redirect("/new", server.page("/plain"))
        error = failure(f"https://docs.example:{secure.port}/new", resolve=resolve, tls=trusting)
        assert error.reason == "bad_redirect"
        assert "/plain" not in {request.path for request in server.requests}
