"""Jobs over HTTP: started, followed from the start or later, cancelled, and left by clients that vanish."""

import socket
import threading

import pytest

from dowse.types import Event
from http_api import bad, build_index, events_in, good, serving


@pytest.fixture
def api(tmp_path):
    build_index(tmp_path)
    with serving(tmp_path) as api:
        yield api


class Work:
    """Work that goes on by one step whenever the test says so."""

    def __init__(self):
        self.steps = threading.Semaphore(0)
        self.began = threading.Event()
        self.last = threading.Event()

    def __call__(self, tell):
        tell(Event("read", 0, 3, "first"))
        self.began.set()
        for number in range(1, 4):
            assert self.steps.acquire(timeout=60)
            tell(Event("read", number, 3, f"file{number}"))
        self.last.set()
        return []


def test_an_update_is_a_job_that_can_be_followed_to_its_end(api, owner):
    (api.folder / "tea" / "white.md").write_text("# White tea\n")
    job = good(owner.post("/api/v1/collections/tea/update"), 202)
    assert (job["kind"], job["collections"]) == ("update", ["tea"])
    events = events_in(owner.get(f"/api/v1/jobs/{job['id']}/events").text)
    name, last = events[-1]
    assert (name, last["state"], last["error"]) == ("end", "done", None)
    assert last["result"]["collections"][0]["added"] == 1
    assert good(owner.get(f"/api/v1/jobs/{job['id']}"))["ended"]
    assert job["id"] in {each["id"] for each in good(owner.get("/api/v1/jobs"))}


def test_all_collections_and_vectors_are_jobs_too(api, owner):
    for body in ({"kind": "update"}, {"kind": "update", "collections": ["vault"], "embed": False}, {"kind": "embed"}):
        job = good(owner.post("/api/v1/jobs", json=body), 202)
        assert api.serving.jobs.get(job["id"]).wait(60)
        assert good(owner.get(f"/api/v1/jobs/{job['id']}"))["state"] == "done"
    bad(owner.post("/api/v1/jobs", json={"kind": "update", "collections": ["nowhere"]}), 404, "not_found")
    bad(owner.post("/api/v1/jobs", json={"kind": "magic"}), 400, "bad_arguments")


def test_a_running_job_can_be_joined_at_any_time(api, anybody):
    work = Work()
    job = api.serving.jobs.start("Working", work, collections=["tea"])
    assert work.began.wait(60)
    work.steps.release()
    with anybody.stream("GET", f"/api/v1/jobs/{job.id}/events") as late:
        assert late.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in late.headers
        texts = late.iter_text()
        seen = next(texts)
        assert "event: progress" in seen
        work.steps.release(2)
        seen += "".join(texts)
    events = events_in(seen)
    assert events[0][1]["state"] == "running"
    assert events[-1][0] == "end"
    assert events[-1][1]["state"] == "done"


def test_a_job_can_be_cancelled(api, owner):
    work = Work()
    job = api.serving.jobs.start("Working", work, collections=["tea"])
    assert work.began.wait(60)
    good(owner.delete(f"/api/v1/jobs/{job.id}"), 202)
    work.steps.release(3)
    assert job.wait(60)
    assert good(owner.get(f"/api/v1/jobs/{job.id}"))["state"] == "cancelled"
    assert not work.last.is_set()
    assert events_in(owner.get(f"/api/v1/jobs/{job.id}/events").text)[-1][1]["state"] == "cancelled"


def test_a_client_that_vanishes_in_mid_stream_leaves_the_job_and_the_server_alone(api, anybody):
    work = Work()
    job = api.serving.jobs.start("Working", work, collections=["tea"])
    assert work.began.wait(60)
    with socket.create_connection(("127.0.0.1", api.port)) as raw:
        raw.sendall(f"GET /api/v1/jobs/{job.id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert b"200 OK" in raw.recv(4096)
    work.steps.release(3)
    assert job.wait(60)
    assert job.state == "done"
    assert good(anybody.get("/api/v1/status"))["documents"] == 5


def test_ingesting_waits_for_what_is_quick_and_gives_a_job_for_what_is_not(api, owner):
    done = good(owner.post("/api/v1/ingest", json={"content": "# Chai", "name": "chai.md", "collection": "tea"}))
    assert done["state"] == "done"
    assert done["result"]["ingested"][0]["file"] == "tea/chai.md"
    path = str(api.folder / "tea" / "green.md")
    begun = good(owner.post("/api/v1/ingest", json={"source": path, "collection": "new", "wait": 0}), 202)
    assert api.serving.jobs.get(begun["id"]).wait(60)
    assert good(owner.get("/api/v1/collections/new"))["documents"] == 1
    bad(owner.post("/api/v1/ingest", json={"source": "/etc/hostname"}), 403, "refused")
    bad(owner.post("/api/v1/ingest", json={"source": str(api.folder / "nothing")}), 404, "not_found")
    bad(owner.post("/api/v1/ingest", json={"content": "x"}), 400, "bad_arguments")
    bad(owner.post("/api/v1/ingest", json={"source": "gopher://x"}), 400, "usage")


def test_a_job_gives_way_at_every_step_while_many_requests_are_under_way(api, monkeypatch):
    from dowse.interfaces.http import app

    pauses = []
    monkeypatch.setattr(app.time, "sleep", pauses.append)
    metrics = api.serving.jobs.give_way.args[0]
    work = Work()
    work.steps.release(3)
    assert api.serving.jobs.start("Alone", work).wait(60)
    assert pauses == []
    monkeypatch.setattr(metrics, "in_flight", 10)
    busy = Work()
    busy.steps.release(3)
    assert api.serving.jobs.start("Beside others", busy).wait(60)
    assert len(pauses) == 4


def test_only_so_many_jobs_run_at_once(api, owner):
    over = threading.Event()
    running = [api.serving.jobs.start("Waiting", lambda _: over.wait(60)) for _ in range(32)]
    refused = bad(owner.post("/api/v1/collections/tea/update"), 409, "conflict")
    assert "cancel" in refused["hint"]
    over.set()
    assert all(job.wait(60) for job in running)
    good(owner.post("/api/v1/collections/tea/update"), 202)


def test_an_unknown_job_is_not_found(anybody):
    for path in ("/api/v1/jobs/nothing", "/api/v1/jobs/nothing/events"):
        bad(anybody.get(path), 404, "not_found")
