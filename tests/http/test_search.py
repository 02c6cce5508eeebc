"""Search over HTTP: everything that the dowse dialect's search takes, and what a page needs to show the results."""

import json

import pytest

from http_api import bad, good


def search(client, **body):
    return good(client.post("/api/v1/search", json=body))


def test_a_result_has_all_that_is_needed_to_show_cite_and_open_it(anybody):
    found = search(anybody, query="eighty degrees", mode="lex", explain=True)
    first = found["results"][0]
    assert (first["rank"], first["file"], first["collection"], first["path"]) == (1, "tea/green.md", "tea", "green.md")
    assert first["title"] == "Green tea"
    assert first["headings"] == ["Green tea"]
    assert "eighty degrees" in first["text"]
    assert first["freshness"] == "fresh"
    assert first["context"] == "All about tea."
    assert first["citation"].startswith("dowse://tea/green.md?")
    assert first["editor"].endswith("green.md#L1")
    assert (first["first_line"], first["last_line"]) == (1, 6)
    marked = [first["snippet"]["text"][start:end].lower() for start, end in first["snippet"]["highlights"]]
    assert "eighty" in marked
    assert [leg["name"] for leg in first["explain"]["legs"]] == ["lex"]
    assert found["facets"]["collections"] == {"tea": len(found["results"])}
    document = good(anybody.get(f"/api/v1/documents/{first['id']}"))
    assert document["text"][first["start"] : first["end"]] == first["text"]


def test_the_query_language_filters_and_searches_work(anybody):
    assert [each["file"] for each in search(anybody, query='"boiling water"', mode="lex")["results"]] == [
        "tea/black.md"
    ]
    assert not search(anybody, query="eighty path:tools/*", mode="lex")["results"]
    assert {each["path"] for each in search(anybody, query="heat type:txt", mode="lex")["results"]} == {"tools/pot.txt"}
    filtered = search(anybody, query="tea", mode="lex", filters={"tag": "leaf"})["results"]
    assert {each["path"] for each in filtered} == {"green.md"}
    typed = [{"type": "lex", "query": "clay"}, {"type": "vec", "query": "a pot"}]
    assert search(anybody, searches=typed)["results"][0]["path"] == "tools/pot.txt"
    assert {
        each["collection"] for each in search(anybody, query="water", mode="lex", collections=["vault"])["results"]
    } == {"vault"}


def test_the_same_can_be_asked_in_the_address(anybody):
    posted = search(anybody, query="green tea", mode="lex", limit=2, filters={"collection": "tea"}, explain=True)
    parameters = {"query": "green tea", "mode": "lex", "limit": 2, "explain": "true"}
    got = good(anybody.get("/api/v1/search", params=parameters | {"filters": json.dumps({"collection": "tea"})}))
    assert got == posted
    two = good(anybody.get("/api/v1/search?query=water&collections=tea&collections=vault&mode=lex"))
    assert {each["collection"] for each in two["results"]} == {"tea", "vault"}


def test_the_whole_response_stays_within_its_budget_and_the_cursor_gets_the_rest(api, anybody):
    everything = search(anybody, query="tea water", mode="lex", limit=5)["results"]
    seen, cursor = [], None
    while True:
        body = {"query": "tea water", "mode": "lex", "limit": 5, "max_tokens": 900}
        response = anybody.post("/api/v1/search", json=body | ({"cursor": cursor} if cursor else {}))
        data = good(response)
        assert api.engine.count_tokens(response.text) <= 900
        seen += [(each["file"], each["passage"]) for each in data["results"]]
        cursor = response.json()["meta"].get("next_cursor")
        if not cursor:
            break
        assert data["omitted"]
    assert sorted(seen) == sorted((each["file"], each["passage"]) for each in everything)
    assert len(set(seen)) == len(seen) > 1
    error = bad(anybody.post("/api/v1/search", json={"query": "tea", "mode": "lex", "max_tokens": 100}), 400, "usage")
    assert error["details"]["least"] > 100


def test_nothing_found_is_no_error_and_says_so(anybody):
    response = anybody.post("/api/v1/search", json={"query": "unheardofword", "mode": "lex"})
    assert good(response)["results"] == []
    assert "Nothing was found" in response.json()["meta"]["notes"][0]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "either 'query' or 'searches'"),
        ({"query": "a", "searches": [{"type": "lex", "query": "a"}]}, "not both"),
        ({"query": "a", "limit": 0}, "from 1 to 100"),
        ({"query": "a", "limit": "ten"}, "a whole number"),
        ({"query": "a", "nonsense": 1}, "takes query, searches, collections"),
        ({"query": "a", "searches": [{"type": "lex", "query": "a", "x": 1}]}, "unknown member 'x'"),
        ({"query": "a", "filters": {"$nonsense": 1}}, "$nonsense"),
        ({"query": "a", "cursor": "nonsense"}, "cursor"),
        ({"query": "a", "mode": "psychic"}, "one of auto, lex, vec, hybrid"),
        ({"query": "a", "filters": {"unheard_of_field": 1}}, "unheard_of_field"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(anybody, body, says):
    response = anybody.post("/api/v1/search", json=body)
    assert response.status_code == 400
    assert says in response.text


def test_an_unknown_collection_is_not_found(anybody):
    bad(anybody.post("/api/v1/search", json={"query": "a", "collections": ["nowhere"]}), 404, "not_found")
