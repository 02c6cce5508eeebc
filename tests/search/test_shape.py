"""The shape of an answer: copies folded, neighbours merged, variety and newness preferred, each on request."""

import random
from dataclasses import replace

import pytest

from contract.builders import make_draft, put_texts
from dowse.errors import UsageError
from dowse.ports import Store
from dowse.search import searching
from dowse.types import Chunk, Content, Fingerprint, now_ms
from search.asking import ask, embed_all, files

DAY = 86_400_000_000_000
WORDS = ("harbour", "gate", "bread", "stairs", "night", "keys")


def long_document(store: Store, path: str, *sentences: str) -> str:
    """A document with one passage per sentence; returns its text."""
    text = "\n\n".join(sentences)
    chunks, at, line = [], 0, 1
    for sentence in sentences:
        chunks.append(Chunk(sentence, at, at + len(sentence), line, line, 8, ("Part", sentence.split()[0])))
        at, line = at + len(sentence) + 2, line + 2
    draft = make_draft(path, text)
    store.put([replace(draft, content=Content(text, None, tuple(chunks)))])
    return text


@pytest.fixture
def copies(store: Store) -> Store:
    said = "The harbour master keeps the keys of the northern gate in a box below the stairs."
    texts = {f"copy{number}.md": said.replace("box", "box" if number else "Box") for number in range(6)}
    put_texts(store, {**texts, "other.md": "Another harbour has no gate at all.", "third.md": "A harbour at night."})
    embed_all(store)
    return store


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_of_nearly_the_same_texts_the_best_stays_and_names_the_others(copies: Store, mode: str) -> None:
    folded = ask(copies, "harbour gate", mode=mode, fold=True, limit=3)
    assert len(folded.hits) == 3
    best = next(hit for hit in folded.hits if hit.info.path.startswith("copy"))
    assert len(best.copies) == 5
    assert sorted([*best.copies, best.info.file]) == [f"notes/copy{number}.md" for number in range(6)]


def test_without_being_asked_nothing_is_folded_merged_or_moved(copies: Store) -> None:
    plain = ask(copies, "harbour gate", limit=8)
    assert len(plain.hits) == 8
    assert all(hit.copies == () for hit in plain.hits)
    assert [hit.score for hit in plain.hits] == sorted((hit.score for hit in plain.hits), reverse=True)


def test_copies_do_not_take_the_places_of_other_hits(store: Store) -> None:
    said = "The harbour gate is closed at night, every night, by the master of keys."
    put_texts(store, {f"copy{number:02}.md": said for number in range(40)})
    put_texts(store, {f"other{number}.md": f"A harbour far away, number {number} of its kind." for number in range(3)})
    assert len(ask(store, "harbour gate", mode="lex", fold=True, limit=4).hits) == 4


@pytest.mark.parametrize("mode", ["lex", "hybrid"])
def test_neighbours_that_both_hit_become_one_passage_with_the_exact_span_of_both(store: Store, mode: str) -> None:
    text = long_document(
        store, "log.md", "Nothing.", "Harbour opens.", "Harbour closes.", "Bread rises.", "Harbour again."
    )
    embed_all(store)
    found = ask(store, "harbour", mode=mode, merge=True, min_score=0.0)
    spans = {(hit.chunk.first_line, hit.chunk.last_line): hit for hit in found.hits}
    assert all(hit.chunk.text == text[hit.chunk.start : hit.chunk.end] for hit in found.hits)
    if mode == "lex":
        assert {(3, 5), (9, 9)} <= set(spans)
        both = spans[3, 5]
        assert both.chunk.text == "Harbour opens.\n\nHarbour closes."
        assert both.chunk.headings == ("Part", "Harbour")
        assert both.ordinal == 1
    assert sum(hit.chunk.text.count("Harbour") for hit in found.hits) == 3


def test_passages_of_different_documents_are_never_merged(store: Store) -> None:
    long_document(store, "a.md", "Harbour one.")
    long_document(store, "b.md", "Harbour two.")
    assert len(ask(store, "harbour", mode="lex", merge=True).hits) == 2


def test_a_long_run_of_hits_becomes_several_passages(store: Store) -> None:
    text = long_document(store, "a.md", *(f"Harbour {number}." for number in range(9)))
    hits = ask(store, "harbour", mode="lex", merge=True).hits
    assert len(hits) == 3
    assert all(hit.chunk.text == text[hit.chunk.start : hit.chunk.end] for hit in hits)
    assert "".join(sorted(hit.chunk.text.replace("\n", "") for hit in hits)).count("Harbour") == 9


@pytest.mark.parametrize("seed", range(4))
def test_passages_that_cannot_be_in_the_answer_are_not_read_and_change_nothing(
    store: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same texts every time, not a secret
    for number in range(6):
        sentences = [f"{' '.join(chance.choices(WORDS, k=4))} {number} {at}." for at in range(12)]
        long_document(store, f"{number}.md", *sentences)
    asks = [{"limit": limit, "min_score": least} for limit in (1, 2, 5, 20) for least in (0.0, 0.4)]
    few = [ask(store, "harbour gate", mode="lex", merge=True, **each).hits for each in asks]
    monkeypatch.setattr(searching, "_of_first_runs", lambda refs, _: refs)
    assert [ask(store, "harbour gate", mode="lex", merge=True, **each).hits for each in asks] == few
    assert any(hit.chunk.text.count(".") > 1 for hits in few for hit in hits)


def test_diversity_puts_what_says_the_same_behind_what_says_something_else(copies: Store) -> None:
    plain = files(ask(copies, "harbour gate keys", mode="lex", limit=8))
    varied = ask(copies, "harbour gate keys", mode="lex", limit=8, diversity=0.8)
    assert sorted(files(varied)) == sorted(plain)
    assert files(varied)[0] == plain[0]
    kinds = [name.partition("/")[2][:4] for name in files(varied)]
    assert kinds[:3].count("copy") == 1


def test_recency_prefers_the_newer_of_equals_and_explains_it(store: Store) -> None:
    now = now_ms() * 1_000_000
    for path, days in (("a-old.md", 400), ("b-new.md", 1)):
        draft = make_draft(path, "The harbour gate.")
        info = replace(draft.info, fingerprint=Fingerprint(20, now - days * DAY))
        store.put([replace(draft, info=info)])
    assert files(ask(store, "harbour gate", mode="lex")) == ["notes/a-old.md", "notes/b-new.md"]
    recent = ask(store, "harbour gate", mode="lex", recency=30)
    assert files(recent) == ["notes/b-new.md", "notes/a-old.md"]
    gains = [feature.value for hit in recent.hits for feature in hit.explain.features if feature.name == "recent"]
    assert gains == [pytest.approx(0.977, abs=0.01), pytest.approx(0, abs=0.01)]


@pytest.mark.parametrize("option", [{"diversity": 2.0}, {"recency": -1.0}, {"candidates": 0}])
def test_shapes_that_make_no_sense_are_refused(copies: Store, option: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        ask(copies, "harbour", **option)
