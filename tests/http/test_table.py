"""One table of routes: every row answers in the one shape, refuses in the one shape, and is described as it is."""

import re

import pytest
from jsonschema import Draft202012Validator

from dowse.interfaces.http.openapi import described
from dowse.interfaces.http.table import TABLE
from http_api import bad, build_index, serving

VARIABLE = re.compile(r"\{(\w+)(?::path)?\}")
WRITES = [row for row in TABLE if row.writes]

SUCCESSES = {
    "search": {"json": {"query": "tea", "mode": "lex", "explain": True}},
    "search_get": {"params": {"query": "tea", "mode": "lex"}},
    "get_document": {"path": "/api/v1/documents/tea/green.md?passages=true"},
    "delete_document": {"path": "/api/v1/documents/tea/black.md"},
    "put_document": {"path": "/api/v1/collections/tea/documents/new.md", "content": b"# New"},
    "add_collection": {"json": {"name": "new"}},
    "get_collection": {"path": "/api/v1/collections/tea"},
    "change_collection": {"path": "/api/v1/collections/tea", "json": {"description": "About tea"}},
    "remove_collection": {"path": "/api/v1/collections/vault"},
    "update_collection": {"path": "/api/v1/collections/tea/update"},
    "put_context": {"json": {"text": "About."}},
    "delete_context": {"params": {"collection": "tea"}},
    "ingest": {"json": {"content": "# Chai", "name": "chai.md", "collection": "tea"}},
    "evaluate": {"json": {"sample": 2, "modes": ["lex"], "wait": 30}},
    "start_job": {"json": {"kind": "embed"}},
    "get_job": {"path": "/api/v1/jobs/JOB"},
    "cancel_job": {"path": "/api/v1/jobs/JOB"},
    "verify": {"json": {"claim": "Green tea wants water"}},
    "why": {"json": {"name": "tea/green.md", "query": "tea", "mode": "lex"}},
}
"""What to send to each route so that it succeeds; nothing for those that need nothing."""


@pytest.fixture
def fresh(tmp_path):
    build_index(tmp_path)
    with serving(tmp_path) as api, api.client(api.token) as client:
        yield api, client


def response_schema(row, status):
    """What the description says of this answer, with its references resolved."""
    document = described()
    operation = document["paths"][VARIABLE.sub(r"{\1}", row.path)][row.method.lower()]
    schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
    return {**schema, "components": document["components"]}


def call(client, row, **changes):
    asked = {**SUCCESSES.get(row.name, {}), **changes}
    path = asked.pop("path", row.path)
    return client.request(row.method, path, **asked)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_success_is_what_the_description_says(fresh, row):
    api, client = fresh
    job = api.serving.jobs.start("Nothing", lambda _: None, collections=["tea"])
    path = SUCCESSES.get(row.name, {}).get("path", row.path).replace("JOB", job.id)
    answer = call(client, row, path=path)
    assert answer.status_code in row.statuses, answer.text
    Draft202012Validator(response_schema(row, answer.status_code)).validate(answer.json())


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_an_error_is_what_the_description_says(api, owner, anybody, row):
    path = VARIABLE.sub("nothing-of-this-name", row.path)
    unknown = owner.request(row.method, path, params={"no_such_parameter": "1"})
    error = bad(unknown, 400, "bad_arguments")
    assert "no_such_parameter" in error["message"]
    Draft202012Validator(response_schema(row, 400)).validate(unknown.json())
    if row.in_body:
        wrong = owner.request(row.method, path, json={"no_such_field": 1})
        known = [name for name in row.takes["properties"] if f"{{{name}" not in row.path]
        message = bad(wrong, 400, "bad_arguments")["message"]
        assert "no_such_field" in message
        assert all(name in message for name in known)
        bad(
            owner.request(row.method, path, content=b"{}", headers={"Content-Type": "text/plain"}),
            415,
            "unsupported_media_type",
        )
    if "{" in row.path and row.name != "put_document":
        required = {"json": {"query": "x"}} if row.name == "why" else {}
        missing = owner.request(row.method, path, **required)
        assert missing.status_code == 404
        bad(missing, 404, "not_found")
    bad(owner.request("TRACE", path), 405, "method_not_allowed")


@pytest.mark.parametrize("row", WRITES, ids=lambda row: row.name)
def test_what_writes_needs_a_token_that_may(api, anybody, row):
    path = VARIABLE.sub("tea", row.path)
    bad(anybody.request(row.method, path), 401, "unauthorized")
    with api.client(api.tokens.create(read_only=True)[1]) as reader:
        bad(reader.request(row.method, path), 403, "refused")


@pytest.mark.parametrize("row", [row for row in TABLE if not row.writes], ids=lambda row: row.name)
def test_what_only_reads_is_answered_without(anybody, row):
    assert call(anybody, row).status_code in {*row.statuses, 404}


def test_the_names_of_operations_are_unique_and_every_row_has_an_example():
    names = [row.name for row in TABLE]
    assert len(set(names)) == len(names)
    assert set(SUCCESSES) <= set(names)
