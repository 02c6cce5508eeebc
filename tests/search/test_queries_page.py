"""Every statement of docs/concepts/queries.md about queries, asked of both stores."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from contract.builders import add_collections, make_draft, put_texts
from contract.conftest import MAKERS
from dowse.ports import Store
from dowse.types import Answer, Query
from search.asking import ask, embed_all, files

NOW = datetime.now(UTC)


def _days_ago(days: float) -> int:
    return int((NOW - timedelta(days=days)).timestamp() * 10**9)


DOCUMENTS = {
    # path: media type, title, metadata, age of the file in days
    "manual/api.md": ("text/markdown", "The API", {"tags": ["work/plans"], "date": "2024-05-01"}, 400),
    "manual/api/users.md": ("text/markdown", "Users, and groups", {"tags": ["work"], "date": "2024-04-30"}, 400),
    "manual/apiary.pdf": ("application/pdf", "Annual report", {"tags": ["home"], "published": "2023"}, 400),
    "notes/deep/down.md": ("text/markdown", "Budget of 2024", {}, 3),
    "tool.py": ("text/x-python", "tool.py", {"tags": ["home", "work"]}, 30),
    "table.csv": ("text/csv", "table", {}, 300),
}
EVERY = set(DOCUMENTS)
MARKDOWN = {path for path in EVERY if path.endswith(".md")}


@pytest.fixture(scope="module", params=list(MAKERS))
def papers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A few documents of every kind; not to be written to."""
    store = MAKERS[request.param](tmp_path_factory.mktemp("papers"))
    add_collections(store, "notes", "work")
    for path, (media_type, title, metadata, days) in DOCUMENTS.items():
        draft = make_draft(path, "common words of every paper", title=title, metadata=metadata)
        fingerprint = replace(draft.info.fingerprint, mtime_ns=_days_ago(days))
        store.put([replace(draft, info=replace(draft.info, media_type=media_type, fingerprint=fingerprint))])
    store.put([make_draft("api.md", "common words at work", title="Work", collection="work")])
    yield store
    store.close()


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ("collection:notes", EVERY),
        ("collection:NOTES,work", EVERY | {"work/api.md"}),
        ("collection:work", {"work/api.md"}),
        ("path:manual/api", {"manual/api.md", "manual/api/users.md", "manual/apiary.pdf"}),
        ("path:notes/manual/api", {"manual/api.md", "manual/api/users.md", "manual/apiary.pdf"}),
        ("path:manual/api/", {"manual/api/users.md"}),
        ("path:manual/**/*.md", {"manual/api.md", "manual/api/users.md"}),
        ("collection:notes path:*.md", MARKDOWN),
        ("path:manual/ path:tool", {"manual/api.md", "manual/api/users.md", "manual/apiary.pdf", "tool.py"}),
        ("type:pdf", {"manual/apiary.pdf"}),
        ("type:python", {"tool.py"}),
        ("type:code", {"tool.py"}),
        ("type:text/csv", {"table.csv"}),
        ("type:pdf,csv", {"manual/apiary.pdf", "table.csv"}),
        ("type:pdf type:csv", {"manual/apiary.pdf", "table.csv"}),
        ("-type:md -type:pdf", {"tool.py", "table.csv"}),
        ("tag:work", {"manual/api.md", "manual/api/users.md", "tool.py"}),
        ("tag:work tag:home", {"tool.py"}),
        ("tag:work/plans,home", {"manual/api.md", "manual/apiary.pdf", "tool.py"}),
        ("tag:w*/p?ans", {"manual/api.md"}),
        ("title:budget", {"notes/deep/down.md"}),
        ('title:"users, and"', {"manual/api/users.md"}),
        ("title:an*t", {"manual/apiary.pdf"}),
        ("after:2024-05 before:2024-06", {"manual/api.md"}),
        ("after:2024-05-01 before:2024-05-02", {"manual/api.md"}),
        ("collection:notes before:2024-05-01", {"manual/api/users.md", "manual/apiary.pdf"}),
        ("after:2023 before:2024", {"manual/apiary.pdf"}),
        ("collection:notes after:7d", {"notes/deep/down.md"}),
        ("after:2w -title:work", {"notes/deep/down.md"}),
        ("collection:notes after:3m", {"notes/deep/down.md", "tool.py"}),
        ("collection:notes -before:1y", {"notes/deep/down.md", "tool.py", "table.csv"}),
    ],
)
def test_a_condition_chooses_the_documents_that_the_page_says(
    papers: Store, conditions: str, expected: set[str]
) -> None:
    wanted = {path if path == "work/api.md" else f"notes/{path}" for path in expected}
    for query in (f"common {conditions}", f"{conditions} common", f"lex: common\nlex: words {conditions}"):
        assert set(files(ask(papers, query, mode="lex", limit=50))) == wanted, query
    assert set(files(ask(papers, conditions, limit=50))) == wanted, "the same without any word"


@pytest.mark.parametrize(
    "query", ["after:lunch common", "type: common", "common path:", "tag:, common", "date:2024 common"]
)
def test_a_value_that_makes_no_sense_makes_it_words(papers: Store, query: str) -> None:
    assert len(set(files(ask(papers, query, mode="lex", limit=50)))) == len(EVERY) + 1


@pytest.mark.parametrize("query", ["-common", '-"common words" -paper', '""', "!?", "…"])
def test_a_query_that_looks_for_nothing_finds_nothing_and_says_so(papers: Store, query: str) -> None:
    for mode in ("lex", "auto"):
        found = ask(papers, query, mode=mode)
        assert found.hits == ()
        assert any("no words" in note for note in found.notes)


class TestBeginnings:
    """What `word*` stands for is scored as words are."""

    @pytest.fixture
    def words(self, store: Store) -> Store:
        put_texts(store, {f"common{number}.md": f"authorise number {number} filler" for number in range(9)})
        put_texts(store, {"rare.md": "authenticity number filler", "twice.md": "authorise authorise filler filler"})
        put_texts(store, {"own.md": "auth number filler", "none.md": "another number filler"})
        return store

    def scores(self, found: Answer) -> dict[str, float]:
        return {hit.info.path: hit.score for hit in found.hits}

    def test_rarer_and_more_frequent_beginnings_score_higher_and_the_word_itself_highest(self, words: Store) -> None:
        found = self.scores(ask(words, "auth*", mode="lex", limit=50))
        assert "none.md" not in found
        assert found["own.md"] > found["rare.md"] > found["common1.md"]
        assert found["twice.md"] > found["common1.md"]

    def test_a_beginning_may_be_excluded(self, words: Store) -> None:
        assert set(self.scores(ask(words, "number -auth*", mode="lex", limit=50))) == {"none.md"}


class TestSeveralSearches:
    @pytest.fixture
    def pair(self, store: Store) -> Store:
        put_texts(store, {"a.md": "alpha filler", "b.md": "beta filler", "c.md": "gamma filler"})
        embed_all(store)
        return store

    def test_an_intent_is_not_searched_for(self, pair: Store) -> None:
        assert files(ask(pair, "intent: gamma\nlex: alpha")) == ["notes/a.md"]
        assert files(ask(pair, "intent: gamma\nalpha", mode="lex")) == ["notes/a.md"]

    def test_a_line_without_a_name_goes_on_with_the_one_above(self, pair: Store) -> None:
        assert set(files(ask(pair, "lex: alpha\nbeta"))) == {"notes/a.md", "notes/b.md"}
        assert ask(pair, "vec: alpha\nbeta").mode == "vec"

    def test_expand_is_an_ordinary_query(self, pair: Store) -> None:
        assert files(ask(pair, "expand: alpha")) == files(ask(pair, "alpha"))

    def test_searches_beyond_ten_are_told_of(self, pair: Store) -> None:
        found = ask(pair, "\n".join(f"lex: word{number}" for number in range(10)) + "\nlex: alpha")
        assert found.hits == ()
        assert any("first 10 of 11" in note for note in found.notes)
        ten = ask(pair, "\n".join(f"lex: word{number}" for number in range(9)) + "\nlex: alpha")
        assert files(ten) == ["notes/a.md"]

    def test_conditions_and_exclusions_of_one_line_hold_for_all(self, pair: Store) -> None:
        assert set(files(ask(pair, "lex: alpha path:b*\nvec: beta gamma"))) <= {"notes/b.md"}
        assert "notes/c.md" not in files(ask(pair, "lex: filler -gamma\nvec: gamma"))

    def test_the_same_from_a_program_has_no_more_than_ten(self, pair: Store) -> None:
        asked = Query("", searches=(("lex", "alpha"), ("hyde", "beta filler")))
        found = ask(pair, "", searches=asked.searches)
        assert found.mode == "hybrid"
        assert set(files(found)) >= {"notes/a.md", "notes/b.md"}


def test_a_collection_that_is_not_searched_by_default_is_searched_by_name(store: Store) -> None:
    put_texts(store, {"a.md": "alpha"})
    with store.snapshot() as view:
        (notes, *_) = view.collections()
    store.put_collection(replace(notes, included=False))
    add_collections(store, "other")
    assert files(ask(store, "alpha", mode="lex")) == []
    assert files(ask(store, "alpha", mode="lex", collections=("notes",))) == ["notes/a.md"]
