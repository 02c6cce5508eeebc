"""The dowse dialect, every tool once over every transport and in both eras."""

import json

import pytest

from dowse import __version__
from dowse.interfaces.mcp.dialects import default_dialect, load
from interfaces.mcp.talking import WAYS, talking
from workbench import open_at, write

TEA = (
    "---\ntags: [drink]\n---\n# Green tea\n\n"
    "Green tea wants water below eighty degrees.\nBoiling water makes it bitter.\n"
)
COFFEE = "# Coffee\n\n## Espresso\n\nEspresso needs nine bars of pressure.\n\n## Filter\n\nFilter coffee drips.\n"
NAMES = ["search", "get", "ingest", "delete", "list", "status", "why", "verify"]
READERS = ["search", "get", "list", "status", "why", "verify"]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    write(folder / "notes", {"tea.md": TEA, "kitchen/coffee.md": COFFEE, "broken.pdf": b"%PDF-1.4 broken"})
    with open_at(folder) as engine:
        engine.add_collection(folder / "notes", name="notes")
        engine.add_context("What I drink", collection="notes")
        engine.index("notes")
        engine.embed()
    return folder


@pytest.fixture(scope="module", params=WAYS)
def dowse(request, library):
    with talking("dowse", library, request.param) as talk:
        yield talk


def content(result):
    """The structured content, which the text repeats."""
    (item,) = result["content"]
    assert item["type"] == "text"
    assert json.loads(item["text"]) == result["structuredContent"]
    return result["structuredContent"]


def ok(talk, tool, **arguments):
    result = talk.call(tool, arguments)
    assert "isError" not in result, result
    return content(result)


def opened(talk):
    """What the server says of itself before the first call, in either era."""
    if talk.way.endswith("handshake"):
        info = talk.client.server_info
        return {"name": info.name, "version": info.version}, talk.client.instructions
    found = talk.portal.call(talk.client.session.send_discover, "2026-07-28")
    said = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    return {"name": said["name"], "version": said["version"]}, found["instructions"]


@pytest.mark.covers("dowse-tools", "dowse-default", "dowse-server")
def test_it_is_the_default_and_has_eight_tools_with_schemas_and_annotations(dowse):
    assert default_dialect("dowse") == "dowse"
    assert opened(dowse)[0] == {"name": "dowse", "version": __version__}
    tools = dowse.request("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == NAMES
    for tool in tools:
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"]["type"] == "object"
        assert tool["annotations"]["readOnlyHint"] is (tool["name"] in READERS)
        assert tool["annotations"]["destructiveHint"] is (tool["name"] == "delete")
        assert len(tool["description"]) < 300


@pytest.mark.covers("dowse-search", "dowse-search-citation")
def test_a_search_returns_exact_passages_with_citations(dowse):
    found = ok(dowse, "search", query="how hot is the water for green tea")
    assert found["mode"] == "hybrid"
    best = found["results"][0]
    assert (best["file"], best["title"], best["context"]) == ("notes/tea.md", "Green tea", "What I drink")
    assert best["text"] == TEA.rstrip("\n")
    assert (best["first_line"], best["last_line"], best["headings"]) == (1, 7, ["Green tea"])
    assert best["citation"].startswith("dowse://notes/tea.md?hash=")
    assert 0.3 < best["score"] <= 1
    assert ok(dowse, "verify", claim=best["citation"])["state"] == "valid"


@pytest.mark.covers("dowse-get")
def test_a_document_is_read_by_path_citation_docid_and_id(dowse):
    (document,) = ok(dowse, "get", name="notes/tea.md")["documents"]
    assert (document["text"], document["first_line"], document["last_line"], document["total_lines"]) == (TEA, 1, 7, 7)
    for name in ("tea.md", document["docid"], document["id"], "dowse://notes/tea.md"):
        assert ok(dowse, "get", name=name)["documents"] == [document]


@pytest.mark.covers("dowse-ingest", "dowse-ingest-content", "dowse-delete")
def test_a_text_is_ingested_found_and_deleted(dowse):
    word = "zither" + dowse.way.replace(" ", "")
    name = f"{word}.md"
    made = ok(dowse, "ingest", content=f"# Music\n\nThe {word} sings.\n", name=name, collection="texts")
    assert (made["state"], made["counts"]) == ("done", {"added": 1})
    (document,) = made["documents"]
    assert (document["file"], document["title"], document["action"]) == (f"texts/{name}", "Music", "added")
    (hit,) = ok(dowse, "search", query=word, mode="lex")["results"]
    assert hit["file"] == f"texts/{name}"
    gone = ok(dowse, "delete", names=[f"texts/{name}"])
    assert (gone["deleted"], gone["documents"][0]["id"]) == (1, document["id"])
    assert ok(dowse, "search", query=word, mode="lex")["results"] == []


@pytest.mark.covers("dowse-list")
def test_collections_and_documents_are_listed(dowse):
    notes = next(each for each in ok(dowse, "list")["collections"] if each["name"] == "notes")
    assert (notes["documents"], notes["included"], notes["context"]) == (2, True, "What I drink")
    listed = ok(dowse, "list", collection="notes")
    assert [each["file"] for each in listed["documents"]] == ["notes/kitchen/coffee.md", "notes/tea.md"]
    assert (listed["kind"], listed["total"]) == ("documents", 2)
    assert listed["documents"][1]["metadata"] == {"tags": ["drink"]}


@pytest.mark.covers("dowse-status")
def test_the_status_has_counts_watch_jobs_and_failures_with_reasons(dowse):
    status = ok(dowse, "status")
    assert (status["version"], status["model"], status["watch"]) == (__version__, "hashed", {"state": "off"})
    notes = next(each for each in status["collections"] if each["name"] == "notes")
    assert (notes["documents"], notes["failed"], notes["needs_embedding"]) == (2, 1, 0)
    (failure,) = status["failures"]
    assert (failure["file"], failure["code"], status["failures_total"]) == ("notes/broken.pdf", "damaged", 1)
    assert failure["reason"]
    assert isinstance(status["jobs"], list)


@pytest.mark.covers("dowse-why")
def test_why_tells_what_became_of_a_document(dowse):
    found = ok(dowse, "why", name="tea.md", query="green tea")
    assert (found["outcome"], found["rank"], found["file"]) == ("found", 1, "notes/tea.md")
    assert [leg["name"] for leg in found["explain"]["legs"]] == ["lex", "vec"]
    absent = ok(dowse, "why", name="broken.pdf", query="green tea")
    assert (absent["outcome"], absent["ledger"]["code"]) == ("not_indexed", "damaged")


@pytest.mark.covers("dowse-verify")
def test_verify_tells_whether_a_quote_holds(dowse):
    held = ok(dowse, "verify", claim="Espresso needs nine bars of pressure.")
    assert held["state"] == "valid"
    assert (held["places"][0]["file"], held["places"][0]["first_line"]) == ("notes/kitchen/coffee.md", 5)
    assert ok(dowse, "verify", claim="Nobody ever wrote anything of this kind here.")["state"] == "gone"


@pytest.mark.covers("dowse-resource")
def test_a_resource_is_a_document_or_its_lines(dowse):
    (template,) = dowse.request("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == "dowse://{+path}"
    assert dowse.request("resources/list")["resources"] == []
    (contents,) = dowse.request("resources/read", {"uri": "dowse://notes/kitchen/coffee.md"})["contents"]
    assert (contents["text"], contents["mimeType"], contents["title"]) == (COFFEE, "text/markdown", "Coffee")
    (line,) = dowse.request("resources/read", {"uri": "dowse://notes/kitchen%2Fcoffee.md#L5"})["contents"]
    assert line["text"] == "Espresso needs nine bars of pressure."
    for uri in ("dowse://notes/none.md", "dowse://../../etc/passwd", "dowse://%2e%2e/%2e%2e/etc/passwd"):
        assert dowse.error("resources/read", {"uri": uri})["code"] in {-32002, -32602}


@pytest.mark.covers("dowse-prompts")
def test_prompts_teach_how_to_search(dowse):
    prompts = {each["name"]: each for each in dowse.request("prompts/list")["prompts"]}
    assert list(prompts) == ["search_guide", "answer", "recheck"]
    (guide,) = dowse.request("prompts/get", {"name": "search_guide"})["messages"]
    for name in READERS[:3]:
        assert f"`{name}`" in guide["content"]["text"]
    (asked,) = dowse.request("prompts/get", {"name": "answer", "arguments": {"question": "How {hot}?"}})["messages"]
    assert asked["content"]["text"].endswith("Question: How {hot}?\n")
    (text,) = dowse.request("prompts/get", {"name": "recheck", "arguments": {"text": "It says so."}})["messages"]
    assert "<text>\nIt says so.\n</text>" in text["content"]["text"]
    assert dowse.error("prompts/get", {"name": "answer"})["code"] == -32602


@pytest.mark.covers("dowse-errors")
def test_errors_have_the_native_shape_and_say_what_to_do(dowse):
    error = content(dowse.failure("get", {"name": "notes/taa.md"}))["error"]
    assert set(error) == {"code", "message", "hint", "details"}
    assert (error["code"], error["details"]["similar"]) == ("not_found", ["notes/tea.md"])
    assert "notes/tea.md" in error["hint"]
    error = content(dowse.failure("search", {"query": "tea", "limit": 0}))["error"]
    assert (error["code"], error["details"]) == ("bad_arguments", {"argument": "limit"})
    assert dowse.error("tools/call", {"name": "vsearch"})["code"] == -32602


@pytest.mark.covers("dowse-instructions")
def test_instructions_tell_the_state_of_the_index(dowse):
    _, said = opened(dowse)
    assert "- notes (2 documents): What I drink" in said
    assert len(said) < 2_000


@pytest.mark.covers("dowse-urls")
def test_addresses_are_refused_until_they_are_allowed(dowse):
    error = content(dowse.failure("ingest", {"source": "https://example.org/page"}))["error"]
    assert error["code"] == "refused"
    assert "--allow-urls" in error["hint"]


@pytest.mark.covers("dowse-words")
def test_nothing_in_descriptions_depends_on_documents(dowse):
    shown = json.dumps(dowse.request("tools/list")["tools"])
    assert [tool.description in shown for tool in load("dowse").tools] == [True] * len(NAMES)
    _, said = opened(dowse)
    assert "Green tea" not in shown + said
    assert "tea.md" not in shown + said
