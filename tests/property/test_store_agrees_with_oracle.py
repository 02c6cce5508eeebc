"""Whatever is done to the SQLite store, it tells the same story as the naive one.

Both take the same random history, step by step, and are compared after each. Which chunks a search finds
must always agree. Their BM25 scores are compared right after `rebuild` only: until tantivy merges deleted
entries away, they still count in its statistics.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar
from uuid import UUID

import pytest
from hypothesis import settings, stateful
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from contract.builders import (
    DAY_MS,
    EVERYWHERE,
    MODEL,
    RECIPE,
    add_collections,
    bag_of_words,
    ledger_entry,
    make_draft,
    terms,
)
from dowse.errors import DowseError
from dowse.ports import Snapshot, Store
from dowse.store.memory import MemoryStore
from dowse.store.sqlite import SqliteStore
from dowse.types import Chunk, Context, Draft, Fingerprint, LedgerEntry, Origin, Ranked, Scope

Outcome = TypeVar("Outcome")
Scores = dict[tuple[UUID, int], float]
DraftArguments = tuple[str, str, str, str, Origin]

EVERYTHING = 500
"""More than any history here makes: no search for that many is ever cut."""
ONE, OTHERS = Scope(frozenset({"one"})), Scope(frozenset({"two", "three"}))
WORD_SEARCHES = (
    (("alpha",), EVERYWHERE),
    (("getUserName", "unknown"), EVERYWHERE),
    (("beta", "gamma"), ONE),
    (("sub", "walnut"), OTHERS),
)
NEAR_SEARCHES = (("alpha beta", EVERYWHERE), ("walnut gamma gamma", ONE))

# Of the collections, "three" is there only after a rename: what names it fails now and then, on both sides.
names = st.sampled_from(["one", "two", "one", "two", "one", "two", "three"])
places = st.sampled_from(["a.md", "b.md", "sub/a.md", "sub/Walnut.md", "ü_%.md"])
words = st.sampled_from(["alpha", "beta", "gamma", "Walnut", "数据库", "getUserName"])
paragraphs = st.lists(words, min_size=1, max_size=5).map(" ".join)
headings = st.sampled_from(["", "# Walnut\n\n", "# Alpha beta\nbeta\n\n"])
texts = st.builds(lambda heading, parts: heading + "\n\n".join(parts), headings, st.lists(paragraphs, max_size=3))
recipes = st.sampled_from([RECIPE, "whole"])
origins: st.SearchStrategy[Origin] = st.sampled_from(["walked", "ingested"])
drafts = st.tuples(names, places, texts, recipes, origins)
picks = st.integers(min_value=0, max_value=99)


class Stores(RuleBasedStateMachine):
    """A naive store and the real one, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.oracle = MemoryStore()
        self.real = self.open()
        self.clock = 0
        self.statistics_are_fresh = False
        self.contents: dict[tuple[str, str], str] = {}
        """Every text that was ever put, by content hash and recipe."""

    def open(self) -> SqliteStore:
        return SqliteStore(Path(self.folder.name) / "index")

    def teardown(self) -> None:
        self.real.close()
        self.folder.cleanup()

    def on_both(self, act: Callable[[Store], Outcome]) -> Outcome | type[DowseError]:
        """Do the same to both: they must return the same or raise the same."""
        expected, actual = (outcome(act, store) for store in (self.oracle, self.real))
        assert actual == expected
        return expected

    def changed(self) -> None:
        self.clock += 1
        self.statistics_are_fresh = False

    def put_both(self, drafts: Sequence[Draft], text_of: Sequence[str]) -> None:
        self.changed()
        if self.on_both(lambda store: store.put(drafts)) is None:
            for draft, text in zip(drafts, text_of, strict=True):
                self.contents[draft.info.content_hash, draft.recipe] = text

    def draft(
        self,
        collection: str,
        path: str,
        text: str,
        recipe: str,
        *,
        origin: Origin = "walked",
        identity: UUID | None = None,
        linked: bool = False,
    ) -> Draft:
        self.clock += 1
        return make_draft(
            path,
            text,
            collection=collection,
            id=identity or UUID(int=self.clock),
            recipe=recipe,
            origin=origin,
            linked=linked,
            metadata={"step": self.clock},
            created_at=self.clock,
            updated_at=self.clock,
        )

    def pick(self, number: int) -> tuple[UUID, tuple[str, str]]:
        """One of the documents, and the key of its content."""
        with self.oracle.snapshot() as view:
            infos = view.documents()
        info = infos[number % len(infos)]
        recipe = self.oracle.fingerprints(info.collection)[info.path].recipe
        return info.id, (info.content_hash, recipe)

    def has_documents(self) -> bool:
        with self.oracle.snapshot() as view:
            return bool(view.documents(limit=1))

    @initialize(drafts=st.lists(drafts, min_size=2, max_size=6), embedded=st.integers(0, 20))
    def start(self, drafts: list[DraftArguments], embedded: int) -> None:
        for store in (self.oracle, self.real):
            add_collections(store, "one", "two")
        self.put([("one" if draft[0] == "three" else draft[0], *draft[1:]) for draft in drafts])
        self.embed(embedded)

    @rule(drafts=st.lists(drafts, min_size=1, max_size=4))
    def put(self, drafts: list[DraftArguments]) -> None:
        self.put_both(
            [self.draft(name, path, text, recipe, origin=origin) for name, path, text, recipe, origin in drafts],
            [text for _, _, text, _, _ in drafts],
        )

    @precondition(has_documents)
    @rule(number=picks, collection=names, path=places)
    def move(self, number: int, collection: str, path: str) -> None:
        identity, key = self.pick(number)
        text = self.contents[key]
        self.put_both([self.draft(collection, path, text, key[1], identity=identity, linked=True)], [text])

    @precondition(has_documents)
    @rule(number=picks, collection=names, path=places, text=texts)
    def move_and_change(self, number: int, collection: str, path: str, text: str) -> None:
        identity, (_, recipe) = self.pick(number)
        self.put_both([self.draft(collection, path, text, recipe, identity=identity)], [text])

    @precondition(lambda self: self.contents)
    @rule(number=picks, collection=names, path=places)
    def link(self, number: int, collection: str, path: str) -> None:
        """A copy, or something that comes back; after a cleanup both stores must refuse alike."""
        key = sorted(self.contents)[number % len(self.contents)]
        text = self.contents[key]
        self.put_both([self.draft(collection, path, text, key[1], linked=True)], [text])

    @precondition(has_documents)
    @rule(numbers=st.lists(picks, min_size=1, max_size=3), exclude=st.booleans())
    def delete(self, numbers: list[int], exclude: bool) -> None:
        self.changed()
        identities = [self.pick(number)[0] for number in numbers]
        self.on_both(lambda store: store.delete(identities, exclude=exclude))

    @rule(name=names, new_name=names, change=st.sampled_from(["put", "rename", "drop"]))
    def change_collection(self, name: str, new_name: str, change: str) -> None:
        self.changed()
        changes: dict[str, Callable[[Store], object]] = {
            "put": lambda store: add_collections(store, name),
            "rename": lambda store: store.rename_collection(name, new_name),
            "drop": lambda store: store.drop_collection(name),
        }
        self.on_both(changes[change])

    @rule(name=st.none() | names, prefix=st.sampled_from(["", "sub"]), keep=st.booleans())
    def change_context(self, name: str | None, prefix: str, keep: bool) -> None:
        if keep:
            self.on_both(lambda store: store.put_context(Context(name, prefix, f"About {name}.")))
        else:
            self.on_both(lambda store: store.drop_context(name, prefix))

    @rule(name=names, paths=st.lists(places, max_size=3), size=st.integers(0, 9))
    def restat(self, name: str, paths: list[str], size: int) -> None:
        fingerprints = dict.fromkeys(paths, Fingerprint(size=size, mtime_ns=size, inode=1, read_ns=2))
        self.on_both(lambda store: store.restat(name, fingerprints))

    @rule(name=names, path=places, state=st.sampled_from(["failed", "skipped", "forgotten"]))
    def change_ledger(self, name: str, path: str, state: Literal["failed", "skipped", "forgotten"]) -> None:
        if state == "forgotten":
            self.on_both(lambda store: store.forget(name, [path]))
        else:
            entry = ledger_entry(path, collection=name, state=state)
            self.on_both(lambda store: store.record([entry]))

    @rule(limit=st.integers(min_value=1, max_value=9))
    def embed(self, limit: int) -> None:
        vectors = [(key, bag_of_words(text)) for key, text in self.oracle.unembedded(MODEL, limit)]
        self.on_both(lambda store: store.put_vectors(MODEL, vectors))

    @precondition(lambda self: self.clock % 3 == 0)
    @rule()
    def drop_vectors(self) -> None:
        """Seldom: what is empty tells little."""
        self.on_both(lambda store: store.drop_vectors())

    @rule(older_than_ms=st.sampled_from([0, DAY_MS]))
    def cleanup(self, older_than_ms: int) -> None:
        self.on_both(lambda store: store.cleanup(older_than_ms) >= 0)

    @rule()
    def reopen(self) -> None:
        self.real.close()
        self.real = self.open()

    @rule()
    def rebuild(self) -> None:
        self.on_both(lambda store: store.rebuild())
        self.statistics_are_fresh = True

    @rule()
    def check(self) -> None:
        assert [finding for finding in self.real.check(deep=True) if not finding.ok] == []

    @invariant()
    def the_stores_remember_the_same(self) -> None:
        for name in ("one", "two", "three"):
            assert dict(self.real.fingerprints(name)) == dict(self.oracle.fingerprints(name))
        assert self.real.known(self.contents) == self.oracle.known(self.contents)
        assert dict(self.real.unembedded(MODEL, EVERYTHING)) == dict(self.oracle.unembedded(MODEL, EVERYTHING))
        assert self.real.count_unembedded(MODEL) == self.oracle.count_unembedded(MODEL)

    @invariant()
    def the_snapshots_say_the_same(self) -> None:
        with ExitStack() as stack:
            expected = stack.enter_context(self.oracle.snapshot())
            actual = stack.enter_context(self.real.snapshot())
            assert actual.notes == ()
            assert_same_documents(actual, expected)
            for query, scope in WORD_SEARCHES:
                assert_same_words(actual, expected, query, scope, with_scores=self.statistics_are_fresh)
            for question, scope in NEAR_SEARCHES:
                assert_same_neighbours(actual, expected, question, scope)


def outcome(act: Callable[[Store], Outcome], store: Store) -> Outcome | type[DowseError]:
    try:
        return act(store)
    except DowseError as error:
        return type(error)


def assert_same_documents(actual: Snapshot, expected: Snapshot) -> None:
    assert actual.collections() == expected.collections()
    assert actual.contexts() == expected.contexts()
    assert actual.documents() == expected.documents()
    assert [actual.document(info.id) for info in actual.documents()] == [
        expected.document(info.id) for info in expected.documents()
    ]
    assert [comparable(entry) for entry in actual.ledger()] == [comparable(entry) for entry in expected.ledger()]
    assert replace(actual.stats(), bytes_on_disk=0) == expected.stats()
    assert actual.model() == expected.model()
    for name in ("sub/a.md", "a.md", "one/a.md"):
        assert actual.find(name, "suffix") == expected.find(name, "suffix")


def comparable(entry: LedgerEntry) -> LedgerEntry:
    """Without the time and the words of an exclusion, which each store chooses."""
    return replace(entry, at=0, reason="", hint="") if entry.state == "excluded" else entry


def assert_same_words(
    actual: Snapshot, expected: Snapshot, query: Sequence[str], scope: Scope, *, with_scores: bool
) -> None:
    asked = terms(*query)
    wanted, found = (view.lexical(asked, EVERYTHING, scope) for view in (expected, actual))
    assert chunks(actual, found) == chunks(expected, wanted)
    assert actual.lexical_scores(asked, [ref for ref, _ in found.hits]) == pytest.approx(dict(found.hits))
    assert_the_best_are_kept(found, actual.lexical(asked, 2, scope))
    if with_scores:
        assert scores(actual, found) == pytest.approx(scores(expected, wanted), rel=1e-4)
        assert found.ceiling == pytest.approx(wanted.ceiling, rel=1e-4)


def assert_same_neighbours(actual: Snapshot, expected: Snapshot, question: str, scope: Scope) -> None:
    vector = bag_of_words(question)
    wanted, found = (view.nearest(MODEL, vector, EVERYTHING, scope) for view in (expected, actual))
    assert scores(actual, found) == pytest.approx(scores(expected, wanted), abs=1e-3)
    assert chunks(actual, found) == chunks(expected, wanted)
    assert actual.cosines(MODEL, vector, [ref for ref, _ in found.hits]) == pytest.approx(dict(found.hits), abs=1e-6)
    assert_the_best_are_kept(found, actual.nearest(MODEL, vector, 2, scope))


def assert_the_best_are_kept(everything: Ranked, few: Ranked) -> None:
    """A cut keeps the head of the whole list, whichever of equal ones that is."""
    assert [score for _, score in few.hits] == pytest.approx([score for _, score in everything.hits[:2]])
    assert set(few.hits) <= set(everything.hits)


def chunks(view: Snapshot, ranked: Ranked) -> dict[tuple[UUID, int], Chunk]:
    passages = view.passages([ref for ref, _ in ranked.hits])
    assert len(passages) == len(ranked.hits)
    return {(passage.info.id, passage.ordinal): passage.chunk for passage in passages}


def scores(view: Snapshot, ranked: Ranked) -> Scores:
    by_ref = dict(ranked.hits)
    return {(passage.info.id, passage.ordinal): by_ref[passage.ref] for passage in view.passages(list(by_ref))}


THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.mark.timeout(3_600 if THOROUGH else 300)
def test_the_sqlite_store_agrees_with_the_oracle_after_every_step_of_any_history() -> None:
    stateful.run_state_machine_as_test(
        Stores,
        settings=settings(
            max_examples=300 if THOROUGH else 35,
            stateful_step_count=50 if THOROUGH else 25,
            deadline=None,
        ),
    )
