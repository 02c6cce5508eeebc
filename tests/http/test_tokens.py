"""Tokens: made, kept as hashes, expired, revoked, and good for nothing but their collections and rights."""

import json
import os
import stat
import sys
import threading
import time

import httpx2
import pytest

from dowse.errors import ConfigError, ConflictError, NotFoundError
from dowse.interfaces.tokens import Tokens
from http_api import TEA, VAULT, bad, build_index, good, serving
from interfaces.mcp.talking import connected
from workbench import environment_for

HIDDEN = ("vault", "plans", "codes", "swordfish", "xylophone", "clearance", "Nothing to see")
"""What nobody may learn who has a token for `tea` alone."""


def test_only_the_hash_of_a_token_is_kept_and_only_its_user_can_read_it(tmp_path):
    tokens = Tokens(tmp_path / "index")
    made, secret = tokens.create("ci", collections=["b", "a", "a"], read_only=True)
    file = tmp_path / "index" / "tokens.json"
    assert secret not in file.read_text()
    assert len(secret) >= 43
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tokens.find(secret) == made == Tokens(tmp_path / "index").all()[0]
    assert made.collections == ("a", "b")
    for wrong in ("", secret[:-1], f"{secret}x", made.digest, "\udcff"):
        assert tokens.find(wrong) is None


def test_an_expired_or_revoked_token_is_none(tmp_path):
    tokens = Tokens(tmp_path)
    past = int(time.time() * 1000) - 1
    assert tokens.find(tokens.create(expires_at=past)[1]) is None
    assert tokens.find(tokens.create(expires_at=past + 1_000_000)[1])
    made, secret = tokens.create("name")
    with pytest.raises(ConflictError):
        tokens.create("name")
    assert Tokens(tmp_path).revoke("name") == made
    assert tokens.find(secret) is None
    for nobody in ("name", ""):
        with pytest.raises(NotFoundError):
            tokens.revoke(nobody)


def test_tokens_made_at_the_same_time_are_all_kept(tmp_path):
    def make(number):
        Tokens(tmp_path).create(f"token {number}")

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Tokens(tmp_path).all()) == 8


def test_a_damaged_file_lets_nobody_in_and_says_what_to_do(tmp_path):
    (tmp_path / "tokens.json").write_text("{nonsense")
    with pytest.raises(ConfigError) as failure:
        Tokens(tmp_path).find("anything")
    assert "dowse token create" in failure.value.hint


@pytest.fixture(scope="module")
def guest(api):
    """Somebody with a token for the collection `tea`, to read and write."""
    with api.client(api.tokens.create(collections=["tea", "own"])[1]) as client:
        yield client


def leaks(text):
    return [word for word in HIDDEN if word in text]


READS = [
    ("GET", "/api/v1/search?query=green tea water swordfish&limit=100&min_score=0&mode=hybrid&explain=true", None),
    ("GET", "/api/v1/search?query=xylo* swordfish&mode=lex", None),
    ("POST", "/api/v1/search", {"query": "water", "filters": {"unheard_of": 1}}),
    ("POST", "/api/v1/search", {"query": "water", "collections": ["nowhere"]}),
    ("POST", "/api/v1/search", {"searches": [{"type": "vec", "query": "the code is swordfis"}], "min_score": 0}),
    ("GET", "/api/v1/documents", None),
    ("GET", "/api/v1/documents?sort=-updated", None),
    ("GET", "/api/v1/documents/plan.md", None),
    ("GET", "/api/v1/documents/code", None),
    ("GET", "/api/v1/collections", None),
    ("GET", "/api/v1/contexts", None),
    ("GET", "/api/v1/status", None),
    ("GET", "/api/v1/stats", None),
    ("GET", "/api/v1/failures", None),
    ("GET", "/api/v1/failures?state=excluded", None),
    ("GET", "/api/v1/jobs", None),
    ("GET", "/api/v1/map", None),
    ("POST", "/api/v1/verify", {"claim": "green tea lies in the"}),
    ("POST", "/api/v1/why", {"name": "pla.md", "query": "tea", "mode": "lex"}),
    ("GET", "/metrics", None),
    ("GET", "/ready", None),
    ("POST", "/search", {"query": "water"}),
    ("POST", "/multi_get", {"pattern": "**/*.md"}),
    ("GET", "/status", None),
]


@pytest.mark.parametrize(
    ("method", "path", "body"), READS, ids=[f"{row[0]} {row[1][:40]} {n}" for n, row in enumerate(READS)]
)
def test_a_token_for_some_collections_learns_nothing_of_the_others(api, guest, method, path, body):
    api.serving.jobs.start("Updating vault", lambda _: None, kind="update", collections=["vault"]).wait(60)
    api.serving.jobs.start("Updating plans of all", lambda _: None, kind="update").wait(60)
    answer = guest.request(method, path, json=body)
    assert answer.status_code < 500
    assert not leaks(answer.text), answer.text


def test_what_it_may_not_see_is_answered_as_if_it_were_not_there(api, guest):
    hidden = api.engine.get("vault/plans.md").info
    job = api.serving.jobs.start("Updating vault", lambda _: None, collections=["vault"])
    for there, not_there in (
        (f"/api/v1/documents/{hidden.id}", "/api/v1/documents/01a1e254-8fc7-797d-956e-a96530d0c3c7"),
        (f"/api/v1/documents/{hidden.content_hash[:6]}", "/api/v1/documents/abcdef"),
        ("/api/v1/documents/vault/plans.md", "/api/v1/documents/cellar/plans.md"),
        ("/api/v1/collections/vault", "/api/v1/collections/cellar"),
        (f"/api/v1/jobs/{job.id}", "/api/v1/jobs/000000000000"),
        (f"/api/v1/jobs/{job.id}/events", "/api/v1/jobs/000000000000/events"),
        ("/api/v1/documents?collection=vault", "/api/v1/documents?collection=cellar"),
        ("/api/v1/map?collections=vault", "/api/v1/map?collections=cellar"),
    ):
        one, other = bad(guest.get(there), 404, "not_found"), bad(guest.get(not_there), 404, "not_found")
        said, said_of_nothing = one["message"], other["message"]
        for name in (str(hidden.id), hidden.content_hash[:6], "vault", job.id):
            said = said.replace(name, "NAME")
        for name in ("01a1e254-8fc7-797d-956e-a96530d0c3c7", "abcdef", "cellar", "000000000000"):
            said_of_nothing = said_of_nothing.replace(name, "NAME")
        assert said == said_of_nothing
        assert not leaks(f"{one['hint']} {one['details']}")


def test_counts_are_its_own(guest):
    status = good(guest.get("/api/v1/status"))
    assert (status["documents"], [each["name"] for each in status["collections"]]) == (len(TEA), ["tea"])
    assert status["access"] == {"can_write": True, "collections": ["own", "tea"]}
    assert status["bytes_on_disk"] == 0
    assert good(guest.get("/api/v1/stats"))["documents"] == len(TEA)
    assert {each["collection"] for each in good(guest.get("/api/v1/map"))["points"]} == {"tea"}


def test_it_changes_its_own_collections_and_no_others(api, guest):
    assert good(guest.put("/api/v1/collections/tea/documents/mine.md", content=b"# Mine"), 201)["file"] == "tea/mine.md"
    good(guest.delete("/api/v1/documents/tea/mine.md"))
    good(guest.post("/api/v1/collections", json={"name": "own"}), 201)
    good(guest.delete("/api/v1/collections/own"))
    bad(guest.post("/api/v1/collections", json={"name": "vault"}), 403, "refused")
    bad(guest.post("/api/v1/collections", json={"name": "cellar"}), 403, "refused")
    bad(guest.put("/api/v1/collections/vault/documents/x.md", content=b"x"), 404, "not_found")
    bad(guest.delete("/api/v1/documents/vault/plans.md"), 404, "not_found")
    bad(guest.delete("/api/v1/collections/vault"), 404, "not_found")
    bad(guest.patch("/api/v1/collections/tea", json={"new_name": "vault"}), 403, "refused")
    bad(guest.post("/api/v1/collections/vault/update"), 404, "not_found")
    bad(guest.put("/api/v1/contexts", json={"text": "x"}), 403, "refused")
    bad(guest.post("/api/v1/jobs", json={"kind": "embed"}), 403, "refused")
    bad(guest.put("/api/v1/contexts", json={"text": "x", "collection": "vault"}), 404, "not_found")
    bad(guest.post("/api/v1/ingest", json={"content": "x", "name": "x.md", "collection": "vault"}), 403, "refused")
    bad(guest.post("/api/v1/ingest", json={"content": "x", "name": "x.md"}), 403, "refused")
    source = str(api.folder / "vault" / "plans.md")
    bad(guest.post("/api/v1/ingest", json={"source": source, "collection": "tea"}), 403, "refused")
    bad(guest.post("/api/v1/collections", json={"path": str(api.folder / "vault"), "name": "own"}), 403, "refused")
    assert {info.path for info in api.engine.documents("vault")} == set(VAULT)


def test_files_of_hidden_collections_are_no_roots(api, guest):
    for name in ("plans.md", "no-such-file.md"):
        source = str(api.folder / "vault" / name)
        bad(guest.post("/api/v1/ingest", json={"source": source, "collection": "tea"}), 403, "refused")
    good(guest.post("/api/v1/ingest", json={"source": str(api.folder / "tea" / "green.md"), "collection": "tea"}))


def test_a_token_for_reading_writes_nothing(api):
    with api.client(api.tokens.create(read_only=True)[1]) as reader:
        assert good(reader.get("/api/v1/status"))["access"]["can_write"] is False
        for answer in (
            reader.put("/api/v1/collections/tea/documents/x.md", content=b"x"),
            reader.delete("/api/v1/documents/tea/green.md"),
            reader.post("/api/v1/jobs", json={"kind": "embed"}),
            reader.delete("/api/v1/jobs/x"),
        ):
            bad(answer, 403, "refused")


@pytest.mark.parametrize("dialect", ["dowse", "qmd", "mcpvectordb", "rag", "docvec"])
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_agents_have_the_same_scope_in_every_dialect(api, dialect, era):
    token = api.tokens.create(collections=["tea"])[1]
    searches = {
        "dowse": ("search", {"query": "water code", "min_score": 0}),
        "qmd": ("search", {"query": "water code"}),
        "mcpvectordb": ("search", {"query": "water code"}),
        "rag": ("rag_search", {"query": "water code"}),
        "docvec": ("search", {"query": "water code"}),
    }
    lists = {
        "dowse": [("list", {}), ("list", {"kind": "documents"}), ("status", {}), ("get", {"name": "**/*.md"})],
        "qmd": [("status", {}), ("multi_get", {"pattern": "**/*.md"}), ("get", {"file": "plan.md"})],
        "mcpvectordb": [("list_documents", {}), ("list_libraries", {})],
        "rag": [("rag_list_collections", {}), ("rag_list_documents", {"collection": "vault"}), ("rag_stats", {})],
        "docvec": [],
    }
    with connected(f"{api.address}/{dialect}/mcp", era, token=token) as talk:
        said = json.dumps(talk.call(*searches[dialect]))
        assert "eighty degrees" in said or "oiling water" in said
        for tool, arguments in lists[dialect]:
            said += json.dumps(talk.call(tool, arguments))
        asked_for = {"vault"} if dialect == "rag" else set()
        assert set(leaks(said)) <= asked_for
        if dialect in {"dowse", "qmd"}:
            error = talk.error("resources/read", {"uri": f"{dialect}://vault/plans.md"})
            assert "xylophone" not in json.dumps(error)


def test_a_session_is_no_way_around_a_token(api):
    """A session that was opened with one token gives nothing more to another."""
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

    def post(client, method, session=None, **params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        more = {"Mcp-Session-Id": session} if session else {}
        return client.post("/dowse/mcp", json=message, headers=headers | more)

    guest_token = api.tokens.create(collections=["tea"])[1]
    with api.client(api.token) as owner, api.client(guest_token) as guest, api.client() as anybody:
        session = post(owner, "initialize", **opening).headers["mcp-session-id"]
        call = {"name": "list", "arguments": {}}
        assert "vault" in post(owner, "tools/call", session, **call).text
        assert "vault" not in post(guest, "tools/call", session, **call).text
        delete = {"name": "delete", "arguments": {"names": ["vault/plans.md"]}}
        for other in (guest, anybody):
            assert '"deleted":1' not in post(other, "tools/call", session, **delete).text.replace("\\", "")
    assert len(api.engine.documents("vault")) == len(VAULT)


def test_a_revoked_token_is_refused_by_the_running_server(api):
    made, secret = api.tokens.create()
    with api.client(secret) as client:
        good(client.get("/api/v1/status"))
        Tokens(api.engine.config.index_dir).revoke(made.id)
        bad(client.get("/api/v1/status"), 401, "unauthorized")


def test_a_wrong_or_expired_token_is_refused_alike(api):
    expired = api.tokens.create(expires_at=1)[1]
    answers = set()
    for given in (f"Bearer {expired}", "Bearer wrong", "Basic b3Blbi1zZXNhbWU=", "Bearer", "nonsense", "Bearer \xff"):
        answer = httpx2.get(f"{api.address}/api/v1/status", headers={"Authorization": given.encode("latin-1")})
        bad(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        answers.add(answer.text)
    assert len(answers) == 1


def test_a_server_that_asks_for_tokens_lets_only_health_be_seen_without(tmp_path):
    build_index(tmp_path)
    with serving(tmp_path, reads_need_token=True) as api, api.client() as anybody, api.client(api.token) as owner:
        assert anybody.get("/health").status_code == 200
        for path in ("/ready", "/metrics", "/openapi.json", "/api/v1/status", "/mcp", "/sse"):
            assert anybody.get(path).status_code == 401
        assert anybody.get("/status").json()["status_code"] == 401
        good(owner.get("/api/v1/status"))


class TestCommand:
    """`dowse token`, as its users run it."""

    def run(self, folder, *arguments):
        import subprocess

        done = subprocess.run(
            [sys.executable, "-m", "dowse", "token", *arguments],
            env=environment_for(folder),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_create_list_and_revoke(self, tmp_path):
        code, secret, _ = self.run(
            tmp_path, "create", "--name", "ci", "--collections", "a, b", "--read-only", "--expires", "30d"
        )
        assert code == 0
        found = Tokens(tmp_path / "index").find(secret.strip())
        assert (found.collections, found.read_only) == (("a", "b"), True)
        assert 29 < (found.expires_at - time.time() * 1000) / 86_400_000 <= 30
        _, listed, _ = self.run(tmp_path, "list")
        assert listed.startswith(f"{found.id}  ci; read; a, b; until ")
        assert secret.strip() not in listed
        _, as_json, _ = self.run(tmp_path, "list", "--json")
        assert json.loads(as_json)[0]["id"] == found.id
        assert self.run(tmp_path, "revoke", "ci")[0] == 0
        code, _, said = self.run(tmp_path, "revoke", "ci")
        assert (code, "hint: See all of them" in said) == (3, True)

    @pytest.mark.parametrize("arguments", [["--expires", "soon"], ["--expires", "0d"], ["--collections", " ,"]])
    def test_nonsense_is_refused(self, tmp_path, arguments):
        code, out, said = self.run(tmp_path, "create", *arguments)
        assert (code, out) == (2, "")
        assert "hint:" in said

    def test_a_server_beyond_this_machine_needs_a_token_first(self, tmp_path):
        import subprocess

        done = subprocess.run(
            [sys.executable, "-m", "dowse", "server", "--transport", "http", "--host", "0.0.0.0", "--port", "0"],  # noqa: S104
            env=environment_for(tmp_path),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 2
        assert "dowse token create" in done.stderr
