"""The qmd dialect as seeds/000, seeds/001 and DIALECTS.md have it, over every transport and in both eras."""

import re
from datetime import datetime

import pytest

from dowse import __version__, given_content
from interfaces.mcp.talking import WAYS, in_process, talking
from workbench import alike, open_at, write

HYDE = (
    "The rate limiter uses a token bucket algorithm. When a client exceeds 100 req/min, subsequent requests return "
    "429 until the window resets."
)
LONG = "\n".join(f"Line {number} of a long list of errands, none of them urgent." for number in range(1, 61))
DOCS = {
    "errors.md": "# Error handling guide\n\nIntro.\n\n## Best Practices\n\nAlways catch errors at the boundary and log "
    "them.\nReturn structured error objects with codes.\n",
    "limits.md": f"# Rate limiter\n\n{HYDE}\n",
    "pool.md": "# Connection pool\n\nConnection pool exhaustion occurs when all connections are in use.\nA timeout "
    "follows, and the performance suffers.\n",
    "redis.md": "# Redis\n\nA connection pool for redis has a timeout, too.\n",
}
NOTES = {
    "2025/ meeting.md": "# Meeting\n\nWe met about error handling.\nNobody objected.\n",
    "2025/plan.md": "# Plan\n\nFirst tea, then work.\n",
    "deep/2025/plan.md": "# Another plan\n\nFirst work, then tea.\n",
    "errands.md": f"# Errands\n\n{LONG}\n",
    "large.md": "# Large\n\n" + "x" * (15 * 1024 - 9),
}
JOURNALS = {
    "2025-05-01.md": "# May Day\n\nMeeting notes from last week.\n",
    "2025-05-02.md": "# The day after\n\nAn error at breakfast.\n",
    "2025-06-01.md": "# June\n\nNothing.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    with open_at(folder) as engine:
        for name, texts in {"docs": DOCS, "notes": NOTES, "journals": JOURNALS}.items():
            engine.add_collection(write(folder / name, texts), name=name)
            engine.index(name)
        engine.include_collection("journals", included=False)
        engine.ingest(given_content("# Loose\n\nA loose leaf.\n", "leaf.md"), collection="inbox")
        engine.embed()
        engine.add_context("Documentation for error handling patterns", collection="docs")
        engine.add_context("Everything I know")
        engine.add_context("meeting notes", collection="notes", prefix="2025")
    return folder


@pytest.fixture(scope="module")
def unembedded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unembedded")
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "docs", DOCS), name="docs")
        engine.index("docs")
    return folder


@pytest.fixture(scope="module", params=WAYS)
def qmd(request, library):
    with talking("qmd", library, request.param) as talk:
        yield talk


@pytest.fixture(scope="module")
def direct(library):
    with in_process("qmd", library) as talk:
        yield talk


@pytest.fixture(scope="module")
def without_vectors(unembedded):
    with in_process("qmd", unembedded) as talk:
        yield talk


def body(result):
    """A result without what the stateless protocol wraps around every one."""
    return {key: value for key, value in result.items() if key not in {"resultType", "_meta"}}


def text_of(result):
    (item,) = result["content"]
    assert item["type"] == "text"
    return item["text"]


def files_of(result):
    return [each["file"] for each in result["structuredContent"]["results"]]


def resource_of(result):
    (item,) = result["content"]
    assert item["type"] == "resource"
    return item["resource"]


def properties(qmd, tool):
    schema = next(each for each in qmd.request("tools/list")["tools"] if each["name"] == tool)["inputSchema"]
    return schema["properties"], schema.get("required", [])


# The tables


@pytest.mark.covers("qmd-parts-1", "all-annotations", "all-schemas")
def test_there_are_six_tools_with_schemas_and_annotations(qmd):
    tools = qmd.request("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == ["search", "vsearch", "query", "get", "multi_get", "status"]
    for tool in tools:
        assert tool["description"]
        assert tool["inputSchema"]["additionalProperties"] is False
        hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
        assert tool["annotations"] == hints | {"title": tool["title"]}
    with_output = [tool["name"] for tool in tools if "outputSchema" in tool]
    assert with_output == ["search", "vsearch", "query", "status"]


@pytest.mark.covers("qmd-parts-1", "qmd-resource-1", "qmd-resource-2")
def test_there_is_one_resource_template_and_nothing_is_listed(qmd):
    assert qmd.request("resources/list")["resources"] == []
    (template,) = qmd.request("resources/templates/list")["resourceTemplates"]
    assert template == {
        "uriTemplate": "qmd://{+path}",
        "name": "document",
        "title": "QMD Document",
        "description": "A markdown document from your QMD knowledge base. Use search tools to discover documents.",
        "mimeType": "text/markdown",
    }


@pytest.mark.covers("qmd-parts-1", "qmd-prompt-1", "qmd-prompt-2")
def test_there_is_one_prompt_which_is_one_message_of_the_user(qmd):
    (prompt,) = qmd.request("prompts/list")["prompts"]
    assert prompt["name"] == "query"
    assert prompt["description"] == "How to effectively search your knowledge base with QMD"
    got = qmd.request("prompts/get", {"name": "query"})
    (message,) = got["messages"]
    assert message["role"] == "user"
    assert message["content"]["type"] == "text"
    text = message["content"]["text"]
    assert re.findall("^#+ (.+)$", text, re.MULTILINE) == [
        "QMD - Quick Markdown Search",
        "Available Tools",
        "1. search (Fast keyword search)",
        "2. vsearch (Semantic search)",
        "3. query (Hybrid search - highest quality)",
        "4. get (Retrieve document)",
        "5. multi_get (Retrieve multiple documents)",
        "6. status (Index info)",
        "Resources",
        "Search Strategy",
        "Tips",
    ]


@pytest.mark.covers("all-server-name")
def test_the_server_has_the_name_of_the_specification_and_our_version(qmd):
    info = qmd.client.server_info
    if info is None or not info.name:  # a client that skips discovery learns it from any result
        info = qmd.request("tools/list")["_meta"]["io.modelcontextprotocol/serverInfo"]
        assert (info["name"], info["version"]) == ("qmd", __version__)
    else:
        assert (info.name, info.version) == ("qmd", __version__)


@pytest.mark.covers("qmd-search-in", "qmd-vsearch-in")
@pytest.mark.parametrize(("tool", "threshold"), [("search", 0), ("vsearch", 0.3)])
def test_searches_take_a_query_a_limit_a_threshold_and_a_collection(qmd, tool, threshold):
    takes, required = properties(qmd, tool)
    assert list(takes) == ["query", "limit", "minScore", "collection"]
    assert required == ["query"]
    assert [takes[name]["type"] for name in takes] == ["string", "number", "number", "string"]
    assert takes["limit"]["default"] == 10
    assert takes["minScore"]["default"] == threshold
    assert (takes["minScore"]["minimum"], takes["minScore"]["maximum"]) == (0, 1)


@pytest.mark.covers("qmd-query-in", "qmd-query-in-typed", "qmd-query-newer", "qmd-query-schema")
def test_query_takes_one_text_or_typed_searches_without_a_choice_at_the_top(qmd):
    takes, required = properties(qmd, "query")
    assert required == []
    schema = next(each for each in qmd.request("tools/list")["tools"] if each["name"] == "query")["inputSchema"]
    assert not {"oneOf", "anyOf", "allOf", "not"} & set(schema)
    assert takes["query"]["type"] == "string"
    searches = takes["searches"]
    assert (searches["type"], searches["minItems"], searches["maxItems"]) == ("array", 1, 10)
    assert searches["items"]["properties"]["type"]["enum"] == ["lex", "vec", "hyde"]
    assert searches["items"]["required"] == ["type", "query"]
    assert (takes["limit"]["default"], takes["minScore"]["default"]) == (10, 0)
    assert takes["collection"]["type"] == "string"
    assert (takes["collections"]["type"], takes["collections"]["items"]) == ("array", {"type": "string"})
    assert takes["intent"]["type"] == "string"
    assert (takes["candidateLimit"]["type"], takes["candidateLimit"]["default"]) == ("integer", 30)
    assert (takes["rerank"]["type"], takes["rerank"]["default"]) == ("boolean", True)


@pytest.mark.covers("qmd-get-in", "qmd-multi-in", "qmd-status-in")
def test_reading_tools_take_what_the_specification_says(qmd):
    takes, required = properties(qmd, "get")
    assert required == ["file"]
    assert {name: schema["type"] for name, schema in takes.items()} == {
        "file": "string",
        "fromLine": "number",
        "maxLines": "number",
        "lineNumbers": "boolean",
    }
    assert takes["lineNumbers"]["default"] is False
    takes, required = properties(qmd, "multi_get")
    assert required == ["pattern"]
    assert {name: schema["type"] for name, schema in takes.items()} == {
        "pattern": "string",
        "maxLines": "number",
        "maxBytes": "number",
        "lineNumbers": "boolean",
    }
    assert (takes["maxBytes"]["default"], takes["lineNumbers"]["default"]) == (10240, False)
    assert properties(qmd, "status") == ({}, [])


# search


@pytest.mark.covers("qmd-search-out", "qmd-search-item", "qmd-search-lines", "qmd-search-rounded", "qmd-file")
def test_search_answers_in_the_shape_of_the_specification(qmd):
    result = qmd.call("search", {"query": "error handling"})
    assert set(body(result)) == {"content", "structuredContent"}
    results = result["structuredContent"]["results"]
    assert set(result["structuredContent"]) == {"results"}
    assert [each["file"] for each in results] == ["docs/errors.md", "notes/2025/ meeting.md"]
    first = results[0]
    assert set(first) == {"docid", "file", "title", "score", "context", "snippet"}
    assert re.fullmatch("#[0-9a-f]{6}", first["docid"])
    assert first["title"] == "Error handling guide"
    assert first["context"] == "Everything I know\nDocumentation for error handling patterns"
    assert 0 < first["score"] <= 1
    assert first["score"] == round(first["score"], 2)
    assert text_of(result) == 'Found 2 results for "error handling":\n\n' + "\n".join(
        f"{each['docid']} {round(each['score'] * 100)}% {each['file']} - {each['title']}" for each in results
    )


@pytest.mark.covers("qmd-search-snippet", "qmd-search-lines")
def test_snippets_are_lines_with_their_true_numbers_and_some_300_characters(qmd):
    for each in qmd.call("search", {"query": "errands urgent error boundary"})["structuredContent"]["results"]:
        lines = each["snippet"].split("\n")
        whole = {**DOCS, **NOTES}[each["file"].partition("/")[2]].split("\n")
        excerpt = []
        for line in lines:
            number, _, text = line.partition(": ")
            assert whole[int(number) - 1].rstrip() == text.rstrip()
            excerpt.append(text)
        assert len("\n".join(excerpt)) <= 300


@pytest.mark.covers("qmd-search-bm25", "qmd-lex-or")
def test_search_ranks_by_words_alone_and_takes_several_as_alternatives(without_vectors):
    result = without_vectors.call("search", {"query": "timeout of a connection pool nobodyknowsthis"})
    assert set(files_of(result)) == {"docs/pool.md", "docs/redis.md"}


@pytest.mark.covers("qmd-search-collection", "all-filters")
def test_a_collection_filters_before_the_limit(qmd):
    result = qmd.call("search", {"query": "error", "collection": "journals", "limit": 1})
    assert files_of(result) == ["journals/2025-05-02.md"]


@pytest.mark.covers("qmd-default-collections")
def test_without_a_collection_those_included_by_default_are_searched(qmd):
    assert files_of(qmd.call("search", {"query": "breakfast"})) == []
    result = qmd.call("query", {"searches": [{"type": "lex", "query": "breakfast"}], "collections": ["journals"]})
    assert files_of(result) == ["journals/2025-05-02.md"]


@pytest.mark.covers("qmd-search-empty")
def test_search_without_results_says_so(qmd):
    result = qmd.call("search", {"query": "zzyzx"})
    assert body(result) == {
        "content": [{"type": "text", "text": 'No results found for "zzyzx"'}],
        "structuredContent": {"results": []},
    }


@pytest.mark.covers("qmd-search-in")
def test_limit_and_threshold_are_kept(qmd):
    everything = qmd.call("search", {"query": "error handling connection"})["structuredContent"]["results"]
    assert len(everything) > 2
    assert len(files_of(qmd.call("search", {"query": "error handling connection", "limit": 2}))) == 2
    high = everything[0]["score"] - 0.01
    kept = qmd.call("search", {"query": "error handling connection", "minScore": high})
    assert all(each["score"] >= high for each in kept["structuredContent"]["results"])
    assert len(files_of(kept)) < len(everything)


@pytest.mark.covers("qmd-limits-files")
def test_a_result_is_a_file_with_its_best_passage(qmd):
    files = files_of(qmd.call("search", {"query": "errands urgent list"}))
    assert len(files) == len(set(files))


# vsearch


@pytest.mark.covers("qmd-vsearch-out", "qmd-vsearch-threshold")
def test_vsearch_finds_by_meaning_above_its_threshold(qmd):
    result = qmd.call("vsearch", {"query": HYDE})
    assert set(body(result)) == {"content", "structuredContent"}
    assert files_of(result)[0] == "docs/limits.md"
    assert all(each["score"] >= 0.3 for each in result["structuredContent"]["results"])
    assert text_of(result).startswith(f"Found {len(files_of(result))} result")
    lower = qmd.call("vsearch", {"query": HYDE, "minScore": 0})
    assert len(files_of(lower)) > len(files_of(result))


@pytest.mark.covers("qmd-vsearch-no-vectors", "qmd-query-only-vec")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("vsearch", {"query": "rate limits"}),
        ("query", {"searches": [{"type": "vec", "query": "rate limits"}, {"type": "hyde", "query": HYDE}]}),
    ],
)
def test_without_vectors_a_search_by_meaning_is_an_error(without_vectors, tool, arguments):
    assert body(without_vectors.failure(tool, arguments)) == {
        "content": [{"type": "text", "text": "Vector index not found. Run 'qmd embed' first to create embeddings."}],
        "isError": True,
    }


@pytest.mark.covers("qmd-vsearch-no-vectors")
def test_vsearch_on_an_empty_index_is_the_same_error(tmp_path):
    with in_process("qmd", tmp_path) as talk:
        assert text_of(talk.failure("vsearch", {"query": "anything"})).startswith("Vector index not found.")


# query


@pytest.mark.covers("qmd-query-out", "qmd-query-hybrid")
def test_query_combines_words_and_meaning(qmd):
    result = qmd.call("query", {"query": "token bucket rate limiter"})
    assert set(body(result)) == {"content", "structuredContent"}
    assert files_of(result)[0] == "docs/limits.md"
    assert text_of(result).startswith(f'Found {len(files_of(result))} results for "token bucket rate limiter":\n\n#')


@pytest.mark.covers("qmd-query-fallback")
def test_query_without_vectors_is_by_words(without_vectors):
    result = without_vectors.call("query", {"query": "token bucket"})
    assert files_of(result) == ["docs/limits.md"]
    typed = [{"type": "lex", "query": "token bucket"}, {"type": "vec", "query": "limits"}]
    assert files_of(without_vectors.call("query", {"searches": typed})) == ["docs/limits.md"]


@pytest.mark.covers("qmd-typed-lex", "qmd-typed-label", "qmd-typed-out")
def test_the_simple_example_of_typed_searches(qmd):
    result = qmd.call("query", {"searches": [{"type": "lex", "query": "error handling"}]})
    assert set(body(result)) == {"content", "structuredContent"}
    assert files_of(result) == ["docs/errors.md", "notes/2025/ meeting.md"]
    assert text_of(result).startswith('Found 2 results for "error handling":\n\n#')


@pytest.mark.covers("qmd-typed-vec", "qmd-typed-hyde", "qmd-typed-out")
def test_the_example_for_best_recall(qmd):
    result = qmd.call(
        "query",
        {
            "searches": [
                {"type": "lex", "query": '"connection pool" timeout'},
                {"type": "vec", "query": "why do database connections time out under load"},
                {"type": "hyde", "query": DOCS["pool.md"]},
            ],
            "limit": 5,
            "minScore": 0.5,
        },
    )
    assert files_of(result)[0] == "docs/pool.md"
    assert len(files_of(result)) <= 5
    assert all(each["score"] >= 0.5 for each in result["structuredContent"]["results"])
    assert text_of(result).split("\n")[0].endswith('for ""connection pool" timeout":')


@pytest.mark.covers("qmd-typed-first")
def test_the_first_search_weighs_twice(qmd):
    one, other = {"type": "lex", "query": "boundary"}, {"type": "lex", "query": "bucket"}
    for searches, first in (([one, other], "docs/errors.md"), ([other, one], "docs/limits.md")):
        scores = {
            each["file"]: each["score"]
            for each in qmd.call("query", {"searches": searches})["structuredContent"]["results"]
        }
        assert set(scores) == {"docs/errors.md", "docs/limits.md"}
        assert scores[first] == max(scores.values())
        assert scores[first] > 1.5 * min(scores.values())


@pytest.mark.covers("qmd-typed-collections")
def test_several_collections_are_alternatives(qmd):
    searches = [{"type": "lex", "query": "error"}]
    result = qmd.call("query", {"searches": searches, "collections": ["journals", "notes"], "limit": 10})
    assert set(files_of(result)) == {"journals/2025-05-02.md", "notes/2025/ meeting.md"}


@pytest.mark.covers("qmd-query-newer")
def test_what_the_newer_program_knows_is_accepted(qmd):
    result = qmd.call("query", {"query": "token bucket", "intent": "networks", "candidateLimit": 5, "rerank": False})
    assert files_of(result)[0] == "docs/limits.md"


@pytest.mark.covers("qmd-query-either")
@pytest.mark.parametrize("arguments", [{}, {"query": "a", "searches": [{"type": "lex", "query": "a"}]}])
def test_query_wants_exactly_one_of_text_and_searches(direct, arguments):
    assert text_of(direct.failure("query", arguments)) == "Give either 'query' or 'searches', and not both."


@pytest.mark.covers("qmd-query-either")
def test_one_collection_and_several_are_not_given_together(direct):
    both = {"query": "a", "collection": "docs", "collections": ["notes"]}
    assert text_of(direct.failure("query", both)) == "Give either 'collection' or 'collections'."


@pytest.mark.covers("qmd-query-in-typed")
@pytest.mark.parametrize(
    ("searches", "complaint"),
    [
        ([], "must be a list of 1 to 10 entries"),
        ([{"type": "lex", "query": "a"}] * 11, "must be a list of 1 to 10 entries"),
        ([{"type": "fuzzy", "query": "a"}], "Argument 'searches[0].type' must be one of lex, vec, hyde, not 'fuzzy'."),
        ([{"type": "lex"}], "Argument 'searches[0]' lacks 'query'."),
        ([{"type": "lex", "query": "a", "weight": 2}], "has an unknown member 'weight': it takes type, query."),
    ],
)
def test_typed_searches_are_one_to_ten_of_three_types(direct, searches, complaint):
    assert complaint in text_of(direct.failure("query", {"searches": searches}))


@pytest.mark.covers("qmd-lex-prefix", "qmd-lex-phrase", "qmd-lex-exclude")
@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("perf", {"docs/pool.md"}),
        ('"pool exhaustion"', {"docs/pool.md"}),
        ('"exhaustion pool"', set()),
        ('"connection pool" timeout -redis', {"docs/pool.md"}),
        ('timeout -"connection pool for"', {"docs/pool.md"}),
    ],
)
def test_lex_knows_prefixes_phrases_and_exclusions(direct, query, files):
    assert set(files_of(direct.call("query", {"searches": [{"type": "lex", "query": query}]}))) == files
    assert set(files_of(direct.call("search", {"query": query}))) == files


# get


@pytest.mark.covers("qmd-get-out", "qmd-get-context", "qmd-get-uri", "qmd-get-lines", "qmd-mime")
def test_get_answers_in_the_shape_of_the_specification(qmd):
    result = qmd.call("get", {"file": "notes/2025/ meeting.md", "lineNumbers": True})
    assert set(body(result)) == {"content"}
    assert result["content"] == [
        {
            "type": "resource",
            "resource": {
                "uri": "qmd://notes/2025/%20meeting.md",
                "name": "notes/2025/ meeting.md",
                "title": "Meeting",
                "mimeType": "text/markdown",
                "text": "<!-- Context: Everything I know\nmeeting notes -->\n\n"
                "1: # Meeting\n2: \n3: We met about error handling.\n4: Nobody objected.\n",
            },
        }
    ]


@pytest.mark.covers("qmd-get-lines")
def test_get_without_line_numbers_returns_the_text_as_it_is(qmd):
    assert resource_of(qmd.call("get", {"file": "inbox/leaf.md"}))["text"].endswith("\n\n# Loose\n\nA loose leaf.\n")


@pytest.mark.covers("qmd-get-names")
def test_get_knows_paths_ends_of_paths_and_docids(qmd):
    for name in ("docs/limits.md", "limits.md"):
        assert resource_of(qmd.call("get", {"file": name}))["name"] == "docs/limits.md"
    found = qmd.call("search", {"query": "bucket"})["structuredContent"]["results"][0]
    assert resource_of(qmd.call("get", {"file": found["docid"]}))["name"] == "docs/limits.md"
    assert resource_of(qmd.call("get", {"file": "2025/plan.md"}))["name"] == "notes/2025/plan.md"
    assert resource_of(qmd.call("get", {"file": "deep/2025/plan.md"}))["name"] == "notes/deep/2025/plan.md"


@pytest.mark.covers("qmd-get-suffix-boundary")
def test_an_end_of_a_path_starts_at_a_slash(qmd):
    assert qmd.failure("get", {"file": "rrands.md"})


@pytest.mark.covers("qmd-get-from", "qmd-get-colon")
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"file": "errors.md:7"}, [7, 8]),
        ({"file": "errors.md:7:1"}, [7]),
        ({"file": "errors.md:7", "fromLine": 2}, [7, 8]),
        ({"file": "errors.md", "fromLine": 5, "maxLines": 3}, [5, 6, 7]),
        ({"file": "errors.md", "maxLines": 1}, [1]),
    ],
)
def test_get_returns_the_lines_that_were_asked_for(qmd, arguments, lines):
    text = resource_of(qmd.call("get", arguments | {"lineNumbers": True}))["text"]
    numbered = text.partition("-->\n\n")[2].rstrip("\n").split("\n")
    whole = DOCS["errors.md"].split("\n")
    assert numbered == [f"{number}: {whole[number - 1]}" for number in lines]


@pytest.mark.covers("qmd-get-unknown")
@pytest.mark.parametrize("name", ["errrors.md", "docs/errrors.md", "errrors.md:12"])
def test_an_unknown_file_gets_up_to_three_suggestions(qmd, name):
    result = qmd.failure("get", {"file": name})
    assert set(body(result)) == {"content", "isError"}
    first, blank, question, *names = text_of(result).split("\n")
    assert (first, blank, question) == (f"Document not found: {name}", "", "Did you mean one of these?")
    assert names[0] == "  - docs/errors.md"
    assert 1 <= len(names) <= 3


@pytest.mark.covers("qmd-get-unknown")
def test_a_file_like_no_other_gets_no_suggestion(qmd):
    text = text_of(qmd.failure("get", {"file": "#ffffff00ffff"}))
    assert text.startswith("Document not found: #ffffff00ffff")
    assert "Did you mean" not in text


# multi_get


@pytest.mark.covers("qmd-multi-glob", "qmd-multi-out")
def test_multi_get_takes_a_glob(qmd):
    result = qmd.call("multi_get", {"pattern": "journals/2025-05*.md", "lineNumbers": True})
    assert set(body(result)) == {"content"}
    assert [item["type"] for item in result["content"]] == ["resource", "resource"]
    resource = result["content"][0]["resource"]
    assert set(resource) == {"uri", "name", "title", "mimeType", "text"}
    assert resource["uri"] == "qmd://journals/2025-05-01.md"
    assert resource["text"].endswith("1: # May Day\n2: \n3: Meeting notes from last week.\n")


@pytest.mark.covers("qmd-multi-list", "qmd-multi-missing")
def test_multi_get_takes_a_list_and_tells_first_what_is_missing(qmd):
    result = qmd.call("multi_get", {"pattern": "docs/pool.md, docs/rediss.md, leaf.md"})
    first, *others = result["content"]
    assert first["type"] == "text"
    assert first["text"].startswith("docs/rediss.md: Not found.")
    assert "docs/redis.md" in first["text"]
    assert [item["resource"]["name"] for item in others] == ["docs/pool.md", "inbox/leaf.md"]
    assert "isError" not in result


@pytest.mark.covers("qmd-multi-large", "qmd-multi-notices-first", "qmd-multi-kb")
def test_multi_get_skips_what_is_too_large_and_says_so_first(qmd):
    result = qmd.call("multi_get", {"pattern": "notes/2025/plan.md, notes/large.md"})
    notice, item = result["content"]
    assert notice == {
        "type": "text",
        "text": "[SKIPPED: notes/large.md - File too large (15KB). Use 'qmd get' with file=\"notes/large.md\" "
        "to retrieve.]",
    }
    assert item["resource"]["name"] == "notes/2025/plan.md"
    whole = qmd.call("multi_get", {"pattern": "notes/large.md", "maxBytes": 15 * 1024})
    assert whole["content"][0]["resource"]["name"] == "notes/large.md"


@pytest.mark.covers("qmd-multi-truncated")
def test_multi_get_cuts_at_max_lines_and_says_how_much_is_left(qmd):
    result = qmd.call("multi_get", {"pattern": "errands.md", "maxLines": 3, "lineNumbers": True})
    text = resource_of(result)["text"].partition("-->\n\n")[2]
    total = len(NOTES["errands.md"].splitlines())
    assert text == (
        "1: # Errands\n2: \n3: Line 1 of a long list of errands, none of them urgent."
        f"\n\n[... truncated {total - 3} more lines]"
    )


@pytest.mark.covers("qmd-multi-none")
@pytest.mark.parametrize("pattern", ["nothing/*.md", "nothing.md, nobody.md"])
def test_multi_get_without_a_match_is_an_error(qmd, pattern):
    assert qmd.failure("multi_get", {"pattern": pattern})["content"][0]["type"] == "text"


# status


@pytest.mark.covers("qmd-status-out", "qmd-status-text", "qmd-status-iso", "qmd-status-pathless")
def test_status_tells_of_the_index_and_its_collections(qmd, library):
    result = qmd.call("status")
    assert set(body(result)) == {"content", "structuredContent"}
    status = result["structuredContent"]
    assert set(status) == {"totalDocuments", "needsEmbedding", "hasVectorIndex", "collections"}
    assert (status["totalDocuments"], status["needsEmbedding"], status["hasVectorIndex"]) == (13, 0, True)
    collections = {each["name"]: each for each in status["collections"]}
    assert list(collections) == ["docs", "inbox", "journals", "notes"]
    for each in collections.values():
        assert set(each) == {"name", "path", "pattern", "documents", "lastUpdated"}
        assert datetime.fromisoformat(each["lastUpdated"]).tzinfo is not None
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each["lastUpdated"])
    assert (collections["docs"]["path"], collections["docs"]["documents"]) == (str(library / "docs"), 4)
    assert collections["docs"]["pattern"]
    assert (collections["inbox"]["path"], collections["inbox"]["pattern"]) == ("", "")
    assert text_of(result) == (
        "QMD Index Status:\n  Total documents: 13\n  Needs embedding: 0\n  Vector index: yes\n  Collections: 4\n"
        f"    - {library / 'docs'} (4 docs)\n    - inbox (1 docs)\n"
        f"    - {library / 'journals'} (3 docs)\n    - {library / 'notes'} (5 docs)"
    )


@pytest.mark.covers("qmd-status-out")
def test_status_tells_what_has_no_vectors_yet(without_vectors):
    status = without_vectors.call("status")
    assert status["structuredContent"]["needsEmbedding"] == 4
    assert status["structuredContent"]["hasVectorIndex"] is False
    assert "  Needs embedding: 4\n  Vector index: no\n" in text_of(status)


# The resource


@pytest.mark.covers("qmd-resource-out", "qmd-resource-path", "qmd-resource-numbered", "qmd-resource-context")
@pytest.mark.parametrize(
    "uri",
    ["qmd://notes/2025/%20meeting.md", "qmd://notes%2F2025%2F%20meeting.md", "qmd://%20meeting.md"],
)
def test_a_document_is_read_by_its_address_in_any_encoding_or_by_its_end(qmd, uri):
    result = qmd.request("resources/read", {"uri": uri})
    assert result["contents"] == [
        {
            "uri": uri,
            "name": "notes/2025/ meeting.md",
            "title": "Meeting",
            "mimeType": "text/markdown",
            "text": "<!-- Context: Everything I know\nmeeting notes -->\n\n"
            "1: # Meeting\n2: \n3: We met about error handling.\n4: Nobody objected.\n",
        }
    ]


@pytest.mark.covers("qmd-resource-exact")
def test_an_exact_path_comes_before_the_end_of_another(qmd):
    read = qmd.request("resources/read", {"uri": "qmd://notes/2025/plan.md"})
    assert read["contents"][0]["name"] == "notes/2025/plan.md"


@pytest.mark.covers("qmd-resource-unknown")
@pytest.mark.parametrize(
    "uri", ["qmd://notes/none.md", "qmd://../../etc/passwd", "qmd://notes/%2e%2e/%2e%2e/etc/passwd", "other://x"]
)
def test_an_unknown_address_is_an_error_of_the_protocol(qmd, uri):
    error = qmd.error("resources/read", {"uri": uri})
    assert error["code"] == (-32602 if qmd.way.endswith("stateless") else -32002)


# For all dialects


@pytest.mark.covers("all-arguments")
@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("search", {}, "Missing argument 'query': a text is required."),
        ("search", {"query": 5}, "Argument 'query' must be a text, not 5."),
        ("search", {"query": "a", "limit": "many"}, "Argument 'limit' must be a number of at least 1, not 'many'."),
        ("search", {"query": "a", "limit": 0}, "Argument 'limit' must be a number of at least 1, not 0."),
        ("search", {"query": "a", "limit": 1.5}, "Argument 'limit' must be a whole number, not 1.5."),
        ("search", {"query": "a", "limit": True}, "Argument 'limit' must be a number of at least 1, not true."),
        ("search", {"query": "a", "minScore": 2}, "Argument 'minScore' must be a number from 0 to 1, not 2."),
        (
            "search",
            {"query": "a", "top": 1},
            "Unknown argument 'top': search takes query, limit, minScore, collection.",
        ),
        ("search", {"query": None}, "Argument 'query' must be a text, not null."),
        ("get", {"file": "a.md", "fromLine": 0}, "Argument 'fromLine' must be a number of at least 1, not 0."),
        ("multi_get", {"pattern": ["a"]}, "Argument 'pattern' must be a text, not a list."),
        ("status", {"verbose": True}, "Unknown argument 'verbose': status takes no arguments."),
        ("query", {"query": "a", "collections": "b"}, "Argument 'collections' must be a list, not 'b'."),
    ],
)
def test_wrong_arguments_are_refused_by_name(direct, tool, arguments, complaint):
    assert body(direct.failure(tool, arguments)) == {"content": [{"type": "text", "text": complaint}], "isError": True}


@pytest.mark.covers("all-arguments")
def test_an_empty_query_and_an_unknown_collection_are_errors(direct):
    assert "empty" in text_of(direct.failure("search", {"query": "  "}))
    assert "nowhere" in text_of(direct.failure("search", {"query": "a", "collection": "nowhere"}))


@pytest.mark.covers("qmd-docid")
def test_copies_share_a_docid_and_get_answers_with_the_first_by_path(tmp_path):
    same = "# Copy\n\nThe same text in two places.\n"
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "twins", {"b.md": same, "a.md": same}), name="twins")
        engine.index("twins")
    with in_process("qmd", tmp_path) as talk:
        results = talk.call("search", {"query": "places"})["structuredContent"]["results"]
        (docid,) = {each["docid"] for each in results}
        assert len(results) == 2
        assert resource_of(talk.call("get", {"file": docid}))["name"] == "twins/a.md"


@pytest.mark.covers("qmd-docid-longer")
def test_docids_of_contents_that_begin_alike_are_longer_and_each_finds_its_own(tmp_path):
    first, second = alike()
    with open_at(tmp_path) as engine:
        engine.add_collection(write(tmp_path / "notes", {"a.md": first, "b.md": second}), name="notes")
        engine.index("notes")
    with in_process("qmd", tmp_path) as talk:
        results = talk.call("search", {"query": "zebra"})["structuredContent"]["results"]
        docids = {each["file"]: each["docid"] for each in results}
        assert len(set(docids.values())) == 2
        for file, docid in docids.items():
            assert resource_of(talk.call("get", {"file": docid}))["name"] == file
        short = docids["notes/a.md"][:7]
        said = talk.failure("get", {"file": short})["content"][0]["text"]
        assert f"{short} is the beginning of 2 docids." in said
        assert all(f"{docid} ({file})" in said for file, docid in docids.items())
        several = talk.call("multi_get", {"pattern": f"{short}, notes/b.md"})["content"]
        assert "is the beginning of 2 docids" in several[0]["text"]
        assert several[1]["resource"]["name"] == "notes/b.md"
