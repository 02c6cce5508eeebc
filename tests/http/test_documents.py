"""Documents, collections and contexts over HTTP."""

import pytest

from http_api import bad, build_index, good, serving


@pytest.fixture
def api(tmp_path):
    """A server of its own for each test: these change things."""
    build_index(tmp_path)
    with serving(tmp_path) as api:
        yield api


def test_documents_are_listed_page_by_page_in_several_orders(anybody):
    everything = good(anybody.get("/api/v1/documents"))
    files = ["tea/black.md", "tea/green.md", "tea/tools/pot.txt", "vault/codes.md", "vault/plans.md"]
    assert [each["file"] for each in everything] == files
    seen, cursor = [], None
    while True:
        parameters = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        response = anybody.get("/api/v1/documents", params=parameters)
        seen += [each["file"] for each in good(response)]
        cursor = response.json()["meta"].get("next_cursor")
        if not cursor:
            break
    assert seen == files
    titles = [each["title"] for each in good(anybody.get("/api/v1/documents?sort=-title&collection=tea"))]
    assert titles == sorted(titles, key=str.casefold, reverse=True)
    assert len(good(anybody.get("/api/v1/documents?sort=updated&limit=2"))) == 2
    tools = good(anybody.get("/api/v1/documents?collection=tea&prefix=tools/"))
    assert [each["path"] for each in tools] == ["tools/pot.txt"]
    leaf = good(anybody.get("/api/v1/documents", params={"filters": '{"tag": "leaf"}'}))
    assert [each["path"] for each in leaf] == ["green.md"]


def test_a_cursor_belongs_to_the_arguments_it_came_from(anybody):
    cursor = anybody.get("/api/v1/documents?limit=1").json()["meta"]["next_cursor"]
    assert good(anybody.get("/api/v1/documents", params={"limit": 2, "cursor": cursor}))
    for parameters in ({"cursor": cursor, "sort": "title"}, {"cursor": "nonsense"}, {"cursor": "w7Y="}):
        bad(anybody.get("/api/v1/documents", params=parameters), 400, "usage")


@pytest.mark.parametrize("name", ["tea/green.md", "green.md", "%23{docid}", "{docid}", "{id}"])
def test_a_document_is_read_by_any_of_its_names(anybody, name):
    known = good(anybody.get("/api/v1/documents?collection=tea&prefix=green"))[0]
    found = good(
        anybody.get(f"/api/v1/documents/{name.format(docid=known['docid'][1:], id=known['id'])}?passages=true")
    )
    assert found["id"] == known["id"]
    assert [found["text"][each["start"] : each["end"]][:7] for each in found["passages"]] == ["---\ntag", "## Wate"]
    assert found["freshness"] == "fresh"
    assert found["metadata"] == {"tag": "leaf"}
    assert found["total_lines"] == 10


def test_lines_of_a_document_can_be_picked(anybody):
    part = good(anybody.get("/api/v1/documents/tea/green.md?first_line=4&max_lines=1"))
    assert (part["text"], part["first_line"]) == ("# Green tea", 4)


def test_an_unchanged_document_is_not_sent_again(owner):
    first = owner.get("/api/v1/documents/tea/green.md")
    etag = first.headers["etag"]
    again = owner.get("/api/v1/documents/tea/green.md", headers={"If-None-Match": f'"other", W/{etag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    good(owner.put("/api/v1/contexts", json={"collection": "tea", "prefix": "green.md", "text": "New."}))
    assert owner.get("/api/v1/documents/tea/green.md", headers={"If-None-Match": etag}).status_code == 200


def test_content_is_put_replaced_and_deleted(owner):
    path = "/api/v1/collections/tea/documents/minutes/2026 nov.md"
    made = good(owner.put(path, content=b"# Minutes\n\nWe drank oolong."), 201)
    assert (made["file"], made["action"], made["origin"]) == ("tea/minutes/2026 nov.md", "added", "ingested")
    assert good(owner.put(path, content=b"# Minutes\n\nWe drank oolong."))["action"] == "unchanged"
    replaced = good(owner.put(path + '?metadata={"year": 2026}', content=b"# Minutes\n\nWe drank pu-erh."))
    assert (replaced["action"], replaced["id"], replaced["metadata"]) == ("replaced", made["id"], {"year": 2026})
    found = good(owner.post("/api/v1/search", json={"query": "pu-erh", "mode": "lex"}))["results"]
    assert [each["file"] for each in found] == ["tea/minutes/2026 nov.md"]
    deleted = good(owner.delete(f"/api/v1/documents/{made['id']}"))
    assert (deleted["deleted"], deleted["documents"][0]["file"]) == (1, "tea/minutes/2026 nov.md")
    bad(owner.get(f"/api/v1/documents/{made['id']}"), 404, "not_found")
    page = owner.put("/api/v1/collections/tea/documents/page", content=b"<p>Hi", headers={"Content-Type": "text/html"})
    assert good(page, 201)["media_type"] == "text/html"


@pytest.mark.parametrize("path", ["../x.md", "a/../../x.md", "..%2f..%2fetc%2fpasswd", "a//b", "%00", "a%0ab"])
def test_a_put_does_not_leave_its_collection(owner, path):
    response = owner.put(f"/api/v1/collections/tea/documents/{path}", content=b"x")
    assert response.status_code in {400, 404, 405}, response.text
    assert set(response.json()) == {"error"}


def test_a_glob_deletes_nothing_but_a_document_of_that_very_name(owner):
    for glob in ("*", "**/*.md", "tea/*", "tea/{green,black}.md"):
        bad(owner.delete(f"/api/v1/documents/{glob}"), 404, "not_found")
    good(owner.put("/api/v1/collections/tea/documents/a[1].md", content=b"# One"), 201)
    assert good(owner.delete("/api/v1/documents/tea/a[1].md"))["documents"][0]["file"] == "tea/a[1].md"
    assert len(good(owner.get("/api/v1/documents"))) == 5


def test_what_cannot_be_read_is_not_put(owner):
    response = owner.put(
        "/api/v1/collections/tea/documents/a.pdf", content=b"not a pdf", headers={"Content-Type": "application/pdf"}
    )
    bad(response, 422, "source")
    bad(owner.put("/api/v1/collections/nowhere/documents/a.md", content=b"x"), 404, "not_found")


def test_collections_are_made_changed_and_removed(api, owner):
    (api.folder / "more").mkdir()
    (api.folder / "more" / "oolong.md").write_text("# Oolong\n\nHalf fermented.\n")
    made = good(owner.post("/api/v1/collections", json={"path": str(api.folder / "more"), "description": "d"}), 201)
    assert (made["name"], made["included"], made["description"]) == ("more", True, "d")
    assert api.serving.jobs.get(made["job"]).wait(60)
    assert good(owner.get("/api/v1/collections/more"))["documents"] == 1
    changed = good(
        owner.patch(
            "/api/v1/collections/more",
            json={"pattern": "*.txt", "included": False, "new_name": "less", "chunking": {"max_tokens": 100}},
        )
    )
    assert (changed["name"], changed["pattern"], changed["included"]) == ("less", "*.txt", False)
    assert changed["chunking"]["max_tokens"] == 100
    assert good(owner.patch("/api/v1/collections/less", json={"chunking": None}))["chunking"] is None
    assert [each["name"] for each in good(owner.get("/api/v1/collections"))] == ["less", "tea", "vault"]
    assert good(owner.delete("/api/v1/collections/less")) == {"deleted": "less", "documents": 1}
    bad(owner.get("/api/v1/collections/less"), 404, "not_found")
    bad(owner.post("/api/v1/collections", json={"name": "tea"}), 409, "conflict")
    assert good(owner.post("/api/v1/collections", json={"name": "empty"}), 201)["path"] is None


def test_a_folder_outside_of_the_roots_is_refused_whether_it_is_there_or_not(owner):
    answers = {
        owner.post("/api/v1/collections", json={"path": path}).text.replace(path, "PATH")
        for path in ("/etc", "/nowhere-at-all", "/usr/../etc")
    }
    assert len(answers) == 1
    assert '"code":"refused"' in answers.pop()


def test_contexts_are_put_and_deleted(owner):
    made = good(owner.put("/api/v1/contexts", json={"collection": "tea", "prefix": "tools/", "text": "Things."}))
    assert made == {"collection": "tea", "prefix": "tools", "text": "Things."}
    assert made in good(owner.get("/api/v1/contexts"))
    assert good(owner.delete("/api/v1/contexts?collection=tea&prefix=tools"))["prefix"] == "tools"
    bad(owner.delete("/api/v1/contexts?collection=tea&prefix=tools"), 404, "not_found")
