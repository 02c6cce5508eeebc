"""Asking a service: what is retried, when it is left alone, and what an error says."""

import socket

import pytest

from dowse.errors import ModelError
from dowse.inference.breaker import FAILURES, PAUSE
from dowse.inference.endpoint import Endpoint, Patience, RefusedError
from inference import model_server
from inference.model_server import failing, saying

BODY = {"query": "tea", "documents": ["tea"]}
QUICK = Patience(total=10, retries=0)
PATIENT = Patience(total=60, retries=3)


@pytest.fixture
def endpoint(server, fake_clock) -> Endpoint:
    return Endpoint(server.url, clock=fake_clock.clock())


def failure(endpoint: Endpoint, patience: Patience = QUICK) -> ModelError:
    with pytest.raises(ModelError) as caught:
        endpoint.ask("/rerank", BODY, patience)
    assert caught.value.hint
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_question_is_answered(endpoint, server):
    assert endpoint.ask("/rerank", BODY, QUICK)["results"][0]["index"] == 0
    assert server.asked[0].path == "/v1/rerank"
    assert "Authorization" not in server.asked[0].headers


def test_failures_that_may_pass_are_retried_with_growing_pauses(endpoint, server, fake_clock):
    server.next = [failing(503), model_server.hanging_up, failing(500)]

    assert endpoint.ask("/rerank", BODY, PATIENT)["results"]
    assert fake_clock.slept == [0.25, 0.5, 1.0]


def test_a_service_says_itself_how_long_to_wait(endpoint, server, fake_clock):
    server.next = [failing(429, Retry_After="7"), failing(429, Retry_After="Thu, 01 Jan 1970 00:00:00 GMT")]

    assert endpoint.ask("/rerank", BODY, PATIENT)["results"]
    assert fake_clock.slept == [7.0, 0.0]


def test_a_wait_beyond_our_patience_is_not_waited_for(endpoint, server, fake_clock):
    server.next = [failing(429, "slow down", Retry_After="3600")]

    assert "slow down" in failure(endpoint, PATIENT).message
    assert fake_clock.slept == []
    assert "not asked for another 3600 s" in failure(endpoint, PATIENT).message


def test_retries_end_and_say_how_often_and_why(endpoint, server):
    server.next = [failing(500, "out of memory")] * 4

    error = failure(endpoint, PATIENT)

    assert "after 4 attempts" in error.message
    assert "out of memory" in error.message


def test_a_service_that_keeps_failing_is_left_alone_and_then_tried_once(endpoint, server, fake_clock):
    server.next = [failing(500)] * (FAILURES + 1)
    for _ in range(FAILURES):
        failure(endpoint)

    assert "failed repeatedly" in failure(endpoint).message
    assert len(server.asked) == FAILURES

    fake_clock.time += PAUSE
    assert "did not answer" in failure(endpoint).message
    assert "failed repeatedly" in failure(endpoint).message

    fake_clock.time += PAUSE
    assert endpoint.ask("/rerank", BODY, QUICK)["results"]
    assert endpoint.ask("/rerank", BODY, QUICK)["results"]


@pytest.mark.parametrize(("status", "hint"), [(401, "key"), (404, "/v1"), (400, "model")])
def test_a_refusal_is_not_retried_and_does_not_count_as_a_failure(endpoint, server, status, hint):
    for _ in range(FAILURES + 1):
        server.next = [failing(status, "so not")]
        error = failure(endpoint, PATIENT)
        assert isinstance(error, RefusedError)
        assert "so not" in error.message
        assert hint in error.hint
    assert len(server.asked) == FAILURES + 1


def test_a_redirect_is_not_followed_but_told(endpoint, server):
    server.next = [failing(301, Location="https://elsewhere.example/v1")]

    assert "https://elsewhere.example/v1" in failure(endpoint).hint


def test_an_answer_that_is_no_json_says_what_came_instead(endpoint, server):
    server.next = [saying(b"<html>Welcome to nginx</html>")]

    assert "Welcome to nginx" in failure(endpoint).message


@pytest.mark.parametrize("misbehaviour", [model_server.hanging, model_server.dripping])
def test_the_total_time_is_kept_whatever_the_service_does(server, misbehaviour):
    server.next = [misbehaviour]

    error = failure(Endpoint(server.url), Patience(total=0.2, retries=0))

    assert "within 0.2 s" in error.message
    assert ";timeout=" in error.hint


def test_an_answer_that_breaks_off_is_a_failure_that_may_pass(endpoint, server):
    server.next = [model_server.breaking_off]

    assert endpoint.ask("/rerank", BODY, PATIENT)["results"]


def test_nobody_listening_is_said_in_plain_words(fake_clock):
    endpoint = Endpoint(f"http://127.0.0.1:{free_port()}/v1", clock=fake_clock.clock())

    error = failure(endpoint)

    assert "nothing listens there" in error.message
    assert "Start the service" in error.hint


def test_a_host_that_does_not_exist_is_an_error_with_a_hint(fake_clock):
    failure(Endpoint("http://no-such-host.invalid/v1", clock=fake_clock.clock()))


def test_the_key_comes_from_the_environment_and_is_never_shown(server, fake_clock, monkeypatch):
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-secret-123")
    endpoint = Endpoint(server.url, key_variable="TEST_MODEL_KEY", clock=fake_clock.clock())
    server.next = [failing(401, "Incorrect API key provided: sk-secret-123")]

    error = failure(endpoint)
    endpoint.ask("/rerank", BODY, QUICK)

    assert server.asked[1].headers["Authorization"] == "Bearer sk-secret-123"
    assert "sk-secret-123" not in f"{error.message} {error.hint} {error.details} {endpoint.__dict__}"
    assert "***" in error.message


@pytest.mark.parametrize("key", [None, "", "two\nlines", "schlüssel"])
def test_a_missing_or_impossible_key_is_said_before_anything_is_sent(server, monkeypatch, key):
    if key is not None:
        monkeypatch.setenv("TEST_MODEL_KEY", key)

    error = failure(Endpoint(server.url, key_variable="TEST_MODEL_KEY"))

    assert "TEST_MODEL_KEY" in error.message
    assert server.asked == []


def test_a_proxy_of_the_environment_is_used_for_other_machines_only(server, monkeypatch, fake_clock):
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1").replace("//", "//me:pass@"))
    monkeypatch.setenv("no_proxy", "")

    Endpoint(server.url, clock=fake_clock.clock()).ask("/rerank", BODY, QUICK)
    Endpoint("http://models.example/v1", clock=fake_clock.clock()).ask("/rerank", BODY, QUICK)

    direct, proxied = server.asked
    assert direct.path == "/v1/rerank"
    assert proxied.path == "http://models.example/v1/rerank"
    assert proxied.headers["Proxy-Authorization"].startswith("Basic ")
    assert "Proxy-Authorization" not in direct.headers
