"""Status, figures, failures, the map, checks, and what stands at the root."""

import json
import re

import pytest

from http_api import bad, good
from workbench import open_at, write


def test_status_tells_how_the_index_stands_and_what_the_asker_may_do(api, anybody, owner):
    status = good(anybody.get("/api/v1/status"))
    assert (status["documents"], status["needs_embedding"], status["failures"]) == (5, 0, 0)
    assert [each["name"] for each in status["collections"]] == ["tea", "vault"]
    assert status["watch"]["state"] == "off"
    assert status["access"] == {"can_write": False, "collections": None}
    assert good(owner.get("/api/v1/status"))["access"]["can_write"] is True


def test_stats_count_by_type_collection_month_and_day_and_time_requests(anybody):
    good(anybody.get("/api/v1/status"))
    stats = good(anybody.get("/api/v1/stats"))
    assert {each["media_type"]: each["documents"] for each in stats["by_type"]} == {"text/markdown": 4, "text/plain": 1}
    assert {each["collection"]: each["documents"] for each in stats["by_collection"]} == {"tea": 3, "vault": 2}
    assert sum(each["documents"] for each in stats["by_month"]) == 5
    assert stats["growth"][-1]["documents"] == 5
    assert sum(each["bytes"] for each in stats["by_type"]) == stats["growth"][-1]["bytes"]
    times = {each["route"]: each for each in stats["latency"]}["GET /api/v1/status"]
    assert times["count"] >= 1
    assert 0 < times["p50_ms"] <= times["p99_ms"]


def test_failures_are_listed_with_their_reasons(api, anybody):
    write(api.folder / "broken", {"a.pdf": b"%PDF-1.4 nonsense", "b.pdf": b"%PDF-1.4 nonsense"})
    with open_at(api.folder) as engine:
        engine.add_collection(api.folder / "broken", name="broken")
        engine.index("broken")
    try:
        first = anybody.get("/api/v1/failures?limit=1&collection=broken")
        (entry,) = good(first)
        assert (entry["file"], entry["collection"], entry["state"]) == ("broken/a.pdf", "broken", "failed")
        assert entry["reason"]
        more = anybody.get(
            "/api/v1/failures",
            params={"limit": 1, "collection": "broken", "cursor": first.json()["meta"]["next_cursor"]},
        )
        assert [each["path"] for each in good(more)] == ["b.pdf"]
        assert good(anybody.get("/api/v1/failures?state=skipped")) == []
    finally:
        with open_at(api.folder) as engine:
            engine.remove_collection("broken")


def test_the_map_lays_all_passages_flat_and_is_the_same_every_time(anybody):
    first = good(anybody.get("/api/v1/map"))
    assert first["total"] == first["sampled"] == len(first["points"]) == 6
    assert all(-1 <= point[axis] <= 1 for point in first["points"] for axis in "xy")
    assert max(abs(point[axis]) for point in first["points"] for axis in "xy") == 1
    assert first["explained"][0] >= first["explained"][1] > 0
    assert good(anybody.get("/api/v1/map")) == first
    some = good(anybody.get("/api/v1/map?collections=tea&limit=2"))
    assert (some["total"], some["sampled"]) == (4, 2)
    assert {each["collection"] for each in some["points"]} == {"tea"}
    bad(anybody.get("/api/v1/map?collections=nowhere"), 404, "not_found")


def test_citations_are_verified_and_absences_explained(anybody):
    hit = good(anybody.post("/api/v1/search", json={"query": "eighty", "mode": "lex"}))["results"][0]
    assert good(anybody.post("/api/v1/verify", json={"claim": hit["citation"]}))["state"] == "valid"
    assert good(anybody.post("/api/v1/verify", json={"claim": "Never said anywhere at all."}))["state"] == "gone"
    reason = good(anybody.post("/api/v1/why", json={"name": "tea/black.md", "query": "eighty", "mode": "lex"}))
    assert reason["outcome"] == "no_match"
    outside = good(anybody.post("/api/v1/why", json={"name": "/etc/hostname", "query": "x", "mode": "lex"}))
    nowhere = good(anybody.post("/api/v1/why", json={"name": "/etc/no-such-file", "query": "x", "mode": "lex"}))
    assert outside["message"].replace("hostname", "no-such-file") == nowhere["message"]


def test_the_server_says_whether_it_lives_and_is_ready(anybody):
    assert anybody.get("/health").json()["status"] == "ok"
    assert anybody.get("/ready").json() == {"status": "ready", "model": {"embedder": "hashed", "vectors": True}}
    bad(anybody.post("/health"), 405, "method_not_allowed")


def test_an_index_that_cannot_be_read_is_not_ready(api, anybody, monkeypatch):
    from dowse.errors import StoreCorruptError

    def broken():
        raise StoreCorruptError("It is damaged.")

    monkeypatch.setattr(api.engine, "stats", broken)
    assert "It is damaged." in bad(anybody.get("/ready"), 503, "busy")["message"]


def test_metrics_are_prometheus_text(anybody):
    anybody.get("/api/v1/status")
    anybody.get("/api/v1/documents/nothing-of-this-name")
    text = anybody.get("/metrics").text
    assert text.endswith("\n")
    sample = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\]|\\.)*"(,[a-z]+="(?:[^"\\]|\\.)*")*\})? [0-9.e+-]+')
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line
    assert 'dowse_requests_total{route="GET /api/v1/documents/{id}",status="404"} 1' in text
    assert 'dowse_documents{collection="tea"} 3' in text
    counts = re.findall(r'dowse_request_seconds_bucket\{route="GET /api/v1/status",le="[^"]+"\} (\d+)', text)
    assert counts == sorted(counts, key=int)
    assert 'dowse_jobs{state="running"} 0' in text


class TestQmd:
    """The endpoints of qmd's own server."""

    def test_searches_speak_snake_case(self, anybody):
        for path in ("/search", "/vsearch", "/query"):
            answer = anybody.post(path, json={"query": "boiling", "min_score": 0, "limit": 1})
            (result,) = answer.json()["results"]
            assert set(result) == {"docid", "file", "title", "score", "context", "snippet"}

    def test_documents_and_status_are_there(self, anybody):
        got = anybody.post("/get", json={"file": "tea/black.md", "from_line": 3, "max_lines": 1, "line_numbers": True})
        assert "3: Black tea wants boiling water." in got.json()["text"]
        many = anybody.post("/multi_get", json={"pattern": "tea/*.md", "max_bytes": 60}).json()
        assert [each["name"] for each in many["documents"]] == ["tea/black.md"]
        assert "SKIPPED" in many["skipped"][0]
        assert anybody.get("/status").json()["totalDocuments"] == 5

    def test_texts_are_embedded(self, anybody):
        vectors = anybody.post("/embed", json={"texts": ["a", "b"]}).json()["embeddings"]
        assert len(vectors) == 2
        for body, status in (({"texts": []}, 400), ({"texts": ["x"] * 1_001}, 413), ({}, 400), ({"texts": [1]}, 400)):
            answer = anybody.post("/embed", json=body)
            assert answer.status_code == status
            assert answer.json()["status_code"] == status

    def test_errors_have_their_own_shape(self, anybody):
        for answer, status in (
            (anybody.post("/get", json={"file": "nothing"}), 404),
            (anybody.post("/search", json={"query": "a", "minScore": 0}), 400),
            (anybody.get("/search"), 405),
            (anybody.post("/query", content=b"{", headers={"Content-Type": "application/json"}), 400),
            (anybody.post("/query", json={}, headers={"Host": "evil.example"}), 421),
        ):
            assert answer.status_code == status
            assert set(answer.json()) == {"detail", "status_code"}
            assert answer.json()["status_code"] == status

    def test_without_vectors_meaning_is_unavailable(self, tmp_path):
        from http_api import serving

        with open_at(tmp_path) as engine:
            engine.add_collection(write(tmp_path / "tea", {"a.md": "# Tea\n"}), name="tea")
            engine.index("tea")
        with serving(tmp_path) as api, api.client() as client:
            answer = client.post("/vsearch", json={"query": "tea"})
            assert answer.status_code == 503
            assert "qmd embed" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/openapi.json", "/api/v1/stats"])
def test_large_answers_are_compressed_for_who_can_read_that(anybody, path):
    packed = anybody.get(path, headers={"Accept-Encoding": "gzip"})
    plain = anybody.get(path, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert json.loads(packed.text).keys() == json.loads(plain.text).keys()
