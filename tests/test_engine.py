"""The engine as a whole, on real parts: what indexing promises, and what becomes of files that change."""

import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from dowse import ConflictError, DowseError, Event, ModelMismatchError, NotFoundError, Query, UsageError
from dowse.inference import hashed
from dowse.inference.hashed import HashedEmbedder
from dowse.ingest import backlog, intake, settings
from workbench import HOUR_NS, age, facts, files_found, ids, many, open_at, problems, write

NOTES = {
    "tea.md": "# Green tea\n\nGreen tea wants water below eighty degrees.\n",
    "coffee.md": "# Coffee\n\nEspresso needs nine bars of pressure.\n",
    "kitchen/bread.md": "# Bread\n\nDough rises slowly in a cold kitchen.\n",
    "kitchen/soup.txt": "Soup wants water, salt and time.\n",
}

_watched: list[tuple[str, set[str]]] = []


def _watch_opening(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watched and isinstance(arguments[0], str) and arguments[0].startswith(_watched[-1][0]):
        _watched[-1][1].add(Path(arguments[0]).name)


sys.addaudithook(_watch_opening)


@pytest.fixture
def notes(tmp_path):
    """A folder of old files."""
    return write(tmp_path / "notes", NOTES)


@pytest.fixture
def engine(tmp_path):
    with open_at(tmp_path) as engine:
        yield engine


@pytest.fixture
def opened(notes):
    """The names of files in the folder that anything opens, as Python itself reports them."""
    names: set[str] = set()
    _watched.append((str(notes), names))
    yield names
    _watched.pop()


@pytest.fixture
def embedded(monkeypatch):
    """The passages that the model is given."""
    texts: list[str] = []
    real = HashedEmbedder.embed_passages

    def embed_passages(self, passages):
        texts.extend(passages)
        return real(self, passages)

    monkeypatch.setattr(HashedEmbedder, "embed_passages", embed_passages)
    return texts


@pytest.fixture
def indexed(engine, notes):
    """The engine after the first run over the folder, with vectors."""
    engine.add_collection(notes)
    engine.index("notes")
    engine.embed()
    return engine


def counts(report):
    """What a run did, as far as it did something."""
    named = ("added", "changed", "moved", "removed", "unchanged")
    return {name: getattr(report, name) for name in named if getattr(report, name)} | {
        name: len(getattr(report, name)) for name in ("failed", "skipped") if getattr(report, name)
    }


# From a folder to answers


def test_what_was_indexed_is_found_read_and_deleted_again(engine, notes):
    assert engine.add_collection(notes).name == "notes"
    assert engine.documents() == []
    report = engine.index("notes")
    assert counts(report) == {"added": 4}
    assert report.chunks == engine.stats().chunks == 4
    assert files_found(engine, "pressure") == ["notes/coffee.md"]

    document = engine.get("coffee.md")
    assert document.text == NOTES["coffee.md"]
    assert document.info.title == "Coffee"
    assert document.info.uri == (notes / "coffee.md").as_uri()

    (notes / "coffee.md").unlink()
    assert counts(engine.index("notes")) == {"removed": 1, "unchanged": 3}
    assert files_found(engine, "pressure") == []
    with pytest.raises(NotFoundError):
        engine.get("coffee.md")
    assert engine.remove_collection("notes") == 3
    assert engine.stats().documents == 0
    assert files_found(engine, "water") == []
    assert (notes / "tea.md").exists()


def test_words_answer_at_once_and_say_that_vectors_are_missing(engine, notes):
    engine.add_collection(notes)
    engine.index("notes")
    answer = engine.search("green tea")
    assert (answer.mode, answer.hits[0].info.path) == ("lex", "tea.md")
    assert "dowse embed" in " ".join(answer.notes)
    assert engine.embed().embedded == 4
    answer = engine.search("green tea")
    assert (answer.mode, answer.notes) == ("hybrid", ())
    assert answer.hits[0].info.path == "tea.md"


def test_every_hit_cites_a_place_that_says_just_that(indexed):
    for hit in indexed.search(Query("water time dough espresso", limit=20)).hits:
        text = indexed.get(str(hit.info.id)).text
        assert text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
        assert text.splitlines()[hit.chunk.first_line - 1] == hit.chunk.text.splitlines()[0]


def test_an_index_that_was_closed_is_as_it_was(indexed, tmp_path):
    before = facts(indexed)
    indexed.close()
    with open_at(tmp_path) as engine:
        assert facts(engine) == before
        assert problems(engine) == []


def test_opening_and_asking_an_index_that_is_not_there_makes_nothing(engine, tmp_path):
    assert engine.stats().documents == 0
    assert engine.search("zebra").hits == ()
    assert not (tmp_path / "index").exists()


# What a second run costs


def test_a_second_run_opens_no_file(indexed, opened):
    assert counts(indexed.index("notes")) == {"unchanged": 4}
    assert opened == set()


def test_a_second_run_embeds_nothing(indexed, embedded):
    indexed.index("notes")
    assert indexed.embed().embedded == 0
    assert embedded == []


def test_a_touched_file_is_hashed_once_and_then_known_again(indexed, notes, opened, embedded):
    before = indexed.get("tea.md").info
    age(notes / "tea.md", 2 * HOUR_NS)
    assert counts(indexed.index("notes")) == {"unchanged": 4}
    assert opened == {"tea.md"}
    after = indexed.get("tea.md").info
    assert after.fingerprint.mtime_ns == (notes / "tea.md").stat().st_mtime_ns
    assert (after.id, after.content_hash, after.updated_at) == (before.id, before.content_hash, before.updated_at)
    opened.clear()
    indexed.index("notes")
    assert opened == set()
    assert embedded == []


def test_a_file_that_was_replaced_by_an_equal_one_is_only_hashed(indexed, notes, opened):
    status = (notes / "tea.md").stat()
    shutil.copy(notes / "tea.md", notes / "tea.new")
    (notes / "tea.new").replace(notes / "tea.md")
    os.utime(notes / "tea.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    opened.clear()
    assert counts(indexed.index("notes")) == {"unchanged": 4}
    assert opened == {"tea.md"}


def test_a_file_written_just_before_it_was_read_is_hashed_until_its_time_is_safe(engine, tmp_path, opened, notes):
    fresh = notes / "fresh.md"
    fresh.write_text("first text\n")
    engine.add_collection(notes)
    engine.index("notes")
    status = fresh.stat()

    fresh.write_text("other text\n")  # as long as the first
    os.utime(fresh, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (fresh.stat().st_size, fresh.stat().st_ino) == (status.st_size, status.st_ino)
    assert counts(engine.index("notes")) == {"changed": 1, "unchanged": 4}
    assert files_found(engine, "other") == ["notes/fresh.md"]
    assert files_found(engine, "first") == []

    opened.clear()
    engine.index("notes")
    assert opened == {"fresh.md"}
    age(fresh, 3_000_000_000)
    engine.index("notes")
    opened.clear()
    engine.index("notes")
    assert opened == set()


def test_a_time_in_the_future_is_never_trusted(engine, notes, opened):
    ahead = time.time_ns() + HOUR_NS
    os.utime(notes / "tea.md", ns=(ahead, ahead))
    engine.add_collection(notes)
    for _ in range(3):
        opened.clear()
        engine.index("notes")
        assert "tea.md" in opened


# What becomes of files that change


def test_a_changed_file_keeps_its_id_and_its_old_text_is_gone(indexed, notes, embedded):
    before = indexed.get("tea.md").info
    write(notes, {"tea.md": "# Black tea\n\nBlack tea wants boiling water.\n"})
    assert counts(indexed.index("notes")) == {"changed": 1, "unchanged": 3}
    after = indexed.get("tea.md").info
    assert (after.id, after.created_at, after.title) == (before.id, before.created_at, "Black tea")
    assert files_found(indexed, "eighty degrees") == []
    assert files_found(indexed, "boiling") == ["notes/tea.md"]
    assert indexed.embed().embedded == len(embedded) == 1
    near = indexed.search(Query("eighty degrees", mode="vec", limit=100)).hits
    assert [hit.chunk.text for hit in near if "eighty" in hit.chunk.text] == []
    assert problems(indexed) == []


def test_a_moved_file_keeps_its_id_and_is_not_embedded_again(indexed, notes, embedded):
    before = ids(indexed)
    (notes / "tea.md").rename(notes / "kitchen/green.md")
    assert counts(indexed.index("notes")) == {"moved": 1, "unchanged": 3}
    after = ids(indexed)
    assert after["notes/kitchen/green.md"] == before["notes/tea.md"]
    assert "notes/tea.md" not in after
    assert files_found(indexed, "eighty degrees") == ["notes/kitchen/green.md"]
    assert indexed.embed().embedded == len(embedded) == 0


def test_a_renamed_folder_keeps_every_id_and_embeds_nothing_again(indexed, notes, embedded):
    before = ids(indexed)
    (notes / "kitchen").rename(notes / "galley")
    assert counts(indexed.index("notes")) == {"moved": 2, "unchanged": 2}
    assert ids(indexed) == {name.replace("kitchen", "galley"): each for name, each in before.items()}
    assert indexed.embed().embedded == len(embedded) == 0
    assert problems(indexed) == []


def test_files_that_swap_their_names_keep_the_ids_of_the_names(indexed, notes, embedded):
    before = ids(indexed)
    (notes / "tea.md").rename(notes / "spare")
    (notes / "coffee.md").rename(notes / "tea.md")
    (notes / "spare").rename(notes / "coffee.md")
    assert counts(indexed.index("notes")) == {"changed": 2, "unchanged": 2}
    assert ids(indexed) == before
    assert files_found(indexed, "espresso") == ["notes/tea.md"]
    assert indexed.embed().embedded == len(embedded) == 0


def test_a_copy_is_a_document_of_its_own_that_shares_its_vectors(indexed, notes, embedded):
    shutil.copy(notes / "tea.md", notes / "copy.md")
    age(notes / "copy.md")
    assert counts(indexed.index("notes")) == {"added": 1, "unchanged": 4}
    assert indexed.embed().embedded == len(embedded) == 0
    assert sorted(files_found(indexed, "eighty")) == ["notes/copy.md", "notes/tea.md"]
    near = {hit.info.file for hit in indexed.search(Query("eighty degrees", mode="vec", limit=2)).hits}
    assert near == {"notes/copy.md", "notes/tea.md"}
    (notes / "tea.md").unlink()
    indexed.index("notes")
    assert files_found(indexed, "eighty") == ["notes/copy.md"]


def test_two_checkouts_of_the_same_files_are_embedded_once(indexed, notes, tmp_path, embedded):
    write(tmp_path / "checkout", NOTES)
    indexed.add_collection(tmp_path / "checkout")
    assert counts(indexed.index("checkout")) == {"added": 4}
    assert indexed.embed().embedded == len(embedded) == 0
    stats = indexed.stats()
    assert (stats.documents, stats.vectors) == (8, 4)
    assert [each.unembedded for each in stats.collections] == [0, 0]
    assert len(set(ids(indexed).values())) == 8
    assert files_found(indexed, "espresso", collections=("checkout",)) == ["checkout/coffee.md"]
    indexed.remove_collection("notes")
    assert files_found(indexed, "espresso") == ["checkout/coffee.md"]
    assert indexed.search(Query("espresso", mode="vec", limit=1)).hits[0].info.file == "checkout/coffee.md"


def test_a_folder_that_comes_back_is_not_embedded_again(indexed, notes, embedded):
    shutil.move(notes / "kitchen", notes.parent / "away")
    assert counts(indexed.index("notes")) == {"removed": 2, "unchanged": 2}
    shutil.move(notes.parent / "away", notes / "kitchen")
    assert counts(indexed.index("notes")) == {"added": 2, "unchanged": 2}
    assert indexed.embed().embedded == len(embedded) == 0
    shutil.move(notes / "kitchen", notes.parent / "away")
    indexed.index("notes")
    indexed.cleanup(days=0)
    shutil.move(notes.parent / "away", notes / "kitchen")
    indexed.index("notes")
    assert indexed.embed().embedded == len(embedded) == 2


def test_other_settings_read_every_file_again_but_embed_only_what_became_different(indexed, tmp_path, notes, embedded):
    long = "".join(f"Sentence number {number} is about marmalade.\n\n" for number in range(40))
    write(notes, {"long.md": long})
    indexed.index("notes")
    indexed.embed()
    before = ids(indexed)
    embedded.clear()
    indexed.close()
    with open_at(tmp_path, chunk_tokens=64) as engine:
        assert counts(engine.index("notes")) == {"changed": 5}
        assert ids(engine) == before
        engine.embed()
        assert embedded
        assert all("marmalade" in text for text in embedded)
        assert counts(engine.index("notes")) == {"unchanged": 5}
        assert problems(engine) == []


def test_vectors_of_another_model_are_not_used_and_not_lost_until_that_is_asked_for(indexed, tmp_path, monkeypatch):
    other = replace(hashed.identity(), weights="other")
    monkeypatch.setattr(hashed, "identity", lambda *_: other)
    indexed.close()
    with open_at(tmp_path) as engine:
        for ask in (lambda: engine.search(Query("tea", mode="vec")), engine.embed):
            with pytest.raises(ModelMismatchError) as refused:
                ask()
            assert "dowse embed --force" in refused.value.hint
        answer = engine.search("green tea")
        assert (answer.mode, answer.hits[0].info.path) == ("lex", "tea.md")
        assert "dowse embed --force" in " ".join(answer.notes)
        assert engine.stats().model != other
        assert engine.embed(force=True).embedded == 4
        assert (engine.stats().model, engine.search("green tea").mode) == (other, "hybrid")


# What is not indexed, and why


def test_a_file_that_fails_keeps_its_old_version_and_is_tried_again(indexed, notes):
    before = indexed.get("tea.md").info
    write(notes, {"tea.md": bytes(range(256))})
    report = indexed.index("notes")
    assert counts(report) == {"unchanged": 3, "failed": 1}
    (entry,) = report.failed
    assert (entry.path, entry.code) == ("tea.md", "binary")
    assert entry.reason
    assert entry.hint
    assert indexed.ledger("notes")[0].path == "tea.md"
    assert indexed.collection("notes").failed == 1
    assert files_found(indexed, "eighty") == ["notes/tea.md"]
    assert counts(indexed.index("notes")) == {"unchanged": 3, "failed": 1}

    write(notes, {"tea.md": "White tea is picked early.\n"})
    assert counts(indexed.index("notes")) == {"changed": 1, "unchanged": 3}
    assert indexed.get("tea.md").info.id == before.id
    assert indexed.ledger() == []


@pytest.mark.parametrize("old_time", [True, False])
def test_a_failure_is_forgotten_when_the_old_file_is_back(indexed, notes, old_time):
    status = (notes / "tea.md").stat()
    os.utime(notes / "tea.md", ns=(0, status.st_mtime_ns - HOUR_NS))
    (notes / "tea.md").write_bytes(b"\0\0")
    assert len(indexed.index("notes").failed) == 1
    (notes / "tea.md").write_text(NOTES["tea.md"])
    mtime = status.st_mtime_ns if old_time else status.st_mtime_ns - 2 * HOUR_NS
    os.utime(notes / "tea.md", ns=(0, mtime))
    assert counts(indexed.index("notes")) == {"unchanged": 4}
    assert indexed.ledger() == []


def test_a_failure_goes_with_its_file(indexed, notes):
    write(notes, {"tea.md": b"\0\0", "new.md": b"\0\0"})
    assert [entry.path for entry in indexed.index("notes").failed] == ["new.md", "tea.md"]
    (notes / "tea.md").unlink()
    (notes / "new.md").unlink()
    indexed.index("notes")
    assert indexed.ledger() == []
    assert indexed.collection("notes").failed == 0


def test_a_document_that_is_kept_out_by_a_new_rule_leaves_the_index(indexed, notes):
    (notes / ".dowseignore").write_text("kitchen/\n")
    assert counts(indexed.index("notes")) == {"removed": 2, "unchanged": 2}
    (notes / ".dowseignore").unlink()
    assert counts(indexed.index("notes")) == {"added": 2, "unchanged": 2}


def test_a_document_deleted_by_hand_stays_away_whatever_happens_to_its_file(indexed, notes):
    assert indexed._store.delete([indexed.get("tea.md").info.id], exclude=True) == 1
    assert counts(indexed.index("notes")) == {"unchanged": 3}
    write(notes, {"tea.md": "Changed tea.\n"})
    assert counts(indexed.index("notes")) == {"unchanged": 3}
    (notes / "tea.md").rename(notes / "spare")
    (notes / "tea.md").symlink_to("nowhere")
    indexed.index("notes")
    (notes / "tea.md").unlink()
    (notes / "spare").rename(notes / "tea.md")
    indexed.index("notes")
    assert [(entry.path, entry.state) for entry in indexed.ledger()] == [("tea.md", "excluded")]
    assert files_found(indexed, "tea") == []


def test_an_exclusion_outlives_a_disk_that_is_not_there(indexed, notes):
    indexed._store.delete([indexed.get("tea.md").info.id], exclude=True)
    away = notes.rename(notes.parent / "away")
    notes.mkdir()
    assert indexed.index("notes").guarded
    notes.rmdir()
    away.rename(notes)
    assert counts(indexed.index("notes")) == {"unchanged": 3}
    assert files_found(indexed, "tea") == []


def test_a_file_with_more_passages_than_a_ref_can_name_is_recorded(indexed, notes, monkeypatch):
    monkeypatch.setattr(intake, "_MOST_CHUNKS", 3)
    write(notes, {"log.md": "".join(f"# Entry {n}\n\nText.\n\n" for n in range(4))})
    (entry,) = indexed.index("notes").failed
    assert (entry.path, entry.code) == ("log.md", "too_many_passages")


# The mass-delete guard


def test_a_missing_root_deletes_nothing_until_told_to(indexed, notes):
    away = notes.rename(notes.parent / "away")
    report = indexed.index("notes")
    assert "does not exist" in report.guarded
    assert "dowse update -c notes --prune" in report.guarded
    assert indexed.stats().documents == 4
    away.rename(notes)
    assert counts(indexed.index("notes")) == {"unchanged": 4}
    shutil.rmtree(notes)
    assert counts(indexed.index("notes", prune=True)) == {"removed": 4}
    assert indexed.stats().documents == 0


def test_an_emptied_root_deletes_nothing_until_told_to(indexed, notes):
    shutil.rmtree(notes)
    notes.mkdir()
    report = indexed.index("notes")
    assert "all 4 documents" in report.guarded
    assert "--prune" in report.guarded
    assert files_found(indexed, "espresso") == ["notes/coffee.md"]
    assert counts(indexed.index("notes", prune=True)) == {"removed": 4}


def test_files_that_were_all_replaced_by_others_are_no_accident(indexed, notes):
    shutil.rmtree(notes)
    write(notes, {"other.md": "Something else entirely.\n"})
    report = indexed.index("notes")
    assert (report.guarded, counts(report)) == ("", {"added": 1, "removed": 4})


@pytest.mark.parametrize(
    ("total", "gone", "guarded"), [(40, 20, False), (41, 21, True), (42, 21, False), (43, 22, True), (22, 20, False)]
)
def test_more_than_half_and_more_than_twenty_at_once_are_not_deleted(engine, tmp_path, total, gone, guarded):
    root = write(tmp_path / "notes", {f"{number}.txt": f"zebra {number}\n" for number in range(total)})
    engine.add_collection(root)
    engine.index("notes")
    for number in range(gone):
        (root / f"{number}.txt").unlink()
    write(root, {"new.txt": "A new one is still added.\n"})
    report = engine.index("notes")
    assert bool(report.guarded) is guarded
    assert (report.added, report.removed) == (1, 0 if guarded else gone)
    if guarded:
        assert f"{gone} of {total} documents" in report.guarded
        assert engine.index("notes", prune=True).removed == gone
    assert len(engine.documents()) == total - gone + 1


def test_moved_files_do_not_count_as_gone(engine, tmp_path):
    root = write(tmp_path / "notes", {f"a/{number}.txt": f"zebra {number}\n" for number in range(30)})
    engine.add_collection(root)
    engine.index("notes")
    (root / "a").rename(root / "b")
    report = engine.index("notes")
    assert (report.guarded, counts(report)) == ("", {"moved": 30})


# Collections and contexts


def test_a_renamed_collection_keeps_its_documents_and_reads_nothing(indexed, opened):
    before = ids(indexed)
    indexed.rename_collection("notes", "diary")
    assert list(ids(indexed).values()) == list(before.values())
    assert files_found(indexed, "espresso") == ["diary/coffee.md"]
    assert counts(indexed.index("diary")) == {"unchanged": 4}
    assert opened == set()
    with pytest.raises(NotFoundError):
        indexed.index("notes")


def test_a_collection_that_is_not_included_is_searched_only_by_name(indexed, tmp_path):
    write(tmp_path / "other", {"x.md": "Espresso elsewhere.\n"})
    indexed.add_collection(tmp_path / "other")
    indexed.index("other")
    indexed.include_collection("other", included=False)
    assert files_found(indexed, "espresso") == ["notes/coffee.md"]
    assert files_found(indexed, "espresso", collections=("other",)) == ["other/x.md"]
    indexed.include_collection("other", included=True)
    assert sorted(files_found(indexed, "espresso")) == ["notes/coffee.md", "other/x.md"]


def test_a_removed_collection_can_be_added_again(indexed, notes, embedded):
    indexed.remove_collection("notes")
    assert indexed.collections() == ()
    indexed.add_collection(notes)
    assert counts(indexed.index("notes")) == {"added": 4}
    assert indexed.embed().embedded == len(embedded) == 0


def test_names_and_folders_are_taken_once(indexed, notes, tmp_path):
    (tmp_path / "else" / "notes").mkdir(parents=True)
    with pytest.raises(ConflictError) as taken:
        indexed.add_collection(tmp_path / "else" / "notes")
    assert "--name" in taken.value.hint
    with pytest.raises(ConflictError) as known:
        indexed.add_collection(notes, name="again")
    assert "dowse update -c notes" in known.value.hint
    indexed.add_collection(tmp_path / "else" / "notes", name="else")
    with pytest.raises(ConflictError):
        indexed.rename_collection("else", "notes")


def test_unknown_names_come_with_a_suggestion(indexed):
    for ask in (
        indexed.collection,
        indexed.index,
        indexed.remove_collection,
        indexed.documents,
        lambda name: indexed.rename_collection(name, "x"),
        lambda name: indexed.include_collection(name, included=True),
        lambda name: indexed.add_context("x", collection=name),
        lambda name: indexed.search(Query("tea", collections=(name,))),
    ):
        with pytest.raises(NotFoundError) as unknown:
            ask("notse")
        assert "notes" in unknown.value.hint
    with pytest.raises(NotFoundError) as unknown:
        indexed.get("cofee.md")
    assert "notes/coffee.md" in unknown.value.hint
    with pytest.raises(NotFoundError) as unknown:
        indexed.get(str(UUID(int=7)))
    assert unknown.value.hint


@pytest.mark.parametrize("name", ["a/b", "a\\b", "a:b", ".", "..", " a", "a\n", "", "\udcff"])
def test_a_collection_cannot_have_a_name_that_paths_could_not_have(indexed, name):
    with pytest.raises(UsageError) as refused:
        indexed.rename_collection("notes", name)
    assert refused.value.hint


def test_contexts_go_with_what_they_describe(indexed):
    indexed.add_context("All I know")
    indexed.add_context("Drinks and dishes", collection="notes")
    indexed.add_context("Recipes", collection="notes", prefix="/kitchen/")
    indexed.add_context("Not this", collection="notes", prefix="kit")
    (hit,) = indexed.search(Query("dough", mode="lex")).hits
    assert hit.contexts == ("All I know", "Drinks and dishes", "Recipes")
    assert indexed.get("tea.md").contexts == ("All I know", "Drinks and dishes")
    indexed.add_context("Better recipes", collection="notes", prefix="kitchen")
    assert indexed.get("bread.md").contexts[-1] == "Better recipes"
    indexed.remove_context(collection="notes", prefix="kitchen")
    assert indexed.get("bread.md").contexts == ("All I know", "Drinks and dishes")
    with pytest.raises(NotFoundError) as unknown:
        indexed.remove_context(collection="notes", prefix="kitchen")
    assert unknown.value.hint
    indexed.rename_collection("notes", "diary")
    assert indexed.get("tea.md").contexts == ("All I know", "Drinks and dishes")
    indexed.remove_collection("diary")
    assert [context.text for context in indexed.contexts()] == ["All I know"]


# Stopping and going on


def stop_at(stage: str, done: int = 0):
    """Press Ctrl-C when a run comes to this place."""

    def on_event(event: Event) -> None:
        if event.stage == stage and event.done >= done:
            raise KeyboardInterrupt

    return on_event


def test_a_run_that_was_stopped_again_and_again_ends_like_one_that_was_not(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "_BATCH_DOCUMENTS", 4)
    monkeypatch.setattr(backlog, "_BATCH", 5)
    texts = {**many(22), "copy.md": many(1)["part0/note000.md"], "broken.md": b"\0", "photo.png": b"x", "empty.md": ""}
    root = write(tmp_path / "notes", texts)
    with open_at(tmp_path / "one") as whole, open_at(tmp_path / "two") as stopped:
        for engine in (whole, stopped):
            engine.add_collection(root)
        whole.index("notes")
        whole.embed()

        places = [("walk",), ("read", 1), ("read", 5), ("read", 10), ("read", 4), ("store",), ("done",)]
        for place in places:
            with pytest.raises(KeyboardInterrupt):
                stopped.index("notes", on_event=stop_at(*place))
            assert problems(stopped) == []
        stopped.index("notes")
        for place in [("embed",), ("embed", 5), ("embed", 11), ("done",)]:
            with pytest.raises(KeyboardInterrupt):
                stopped.embed(on_event=stop_at(*place))
        stopped.embed()
        assert facts(stopped) == facts(whole)
        assert problems(stopped) == []


def test_an_update_that_was_stopped_ends_like_one_that_was_not(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "_BATCH_DOCUMENTS", 3)
    root = write(tmp_path / "notes", many(16))
    with open_at(tmp_path / "one") as whole, open_at(tmp_path / "two") as stopped:
        for engine in (whole, stopped):
            engine.add_collection(root)
            engine.index("notes")
            engine.embed()
        before = ids(stopped)
        (root / "part1").rename(root / "moved")
        write(root, {f"part0/note{n:03}.md": f"# Changed {n}\n\nA zebra on road number {n}.\n" for n in (0, 3, 6)})
        for number in (2, 5):
            (root / f"part2/note{number:03}.md").unlink()
        for place in [("read", 1), ("read", 2), ("read", 5), ("read", 3), ("store",)]:
            with pytest.raises(KeyboardInterrupt):
                stopped.index("notes", on_event=stop_at(*place))
            assert len(stopped.documents()) >= 14
        for engine in (whole, stopped):
            engine.index("notes")
            engine.embed()
        assert facts(stopped, with_scores=False) == facts(whole, with_scores=False)
        after = ids(stopped)
        assert {name: after[name.replace("part1", "moved")] for name in before if "part1" in name} == {
            name: each for name, each in before.items() if "part1" in name
        }


def test_a_model_that_fails_half_way_loses_nothing(indexed, notes, monkeypatch, embedded):
    monkeypatch.setattr(backlog, "_BATCH", 2)
    write(notes, many(6))
    indexed.index("notes")
    real, calls = HashedEmbedder.embed_passages, []

    def failing(self, passages):
        calls.append(len(passages))
        if len(calls) == 3:
            raise DowseError("The model fell over.", hint="Pick it up.")
        return real(self, passages)

    monkeypatch.setattr(HashedEmbedder, "embed_passages", failing)
    with pytest.raises(DowseError, match="fell over"):
        indexed.embed()
    assert indexed.stats().vectors == 4 + 4
    assert indexed.embed().embedded == 12 - 4
    assert problems(indexed) == []


def test_a_file_that_took_too_long_is_not_tried_again_until_it_changes_or_somebody_asks(tmp_path, notes, opened):
    page = "<p>" + "zebra <b>stripes</b> " * 50_000
    write(notes, {"long.html": page})
    with open_at(tmp_path, extract_seconds=0.01) as engine:
        engine.add_collection(notes, name="notes")
        (entry,) = engine.index("notes").failed
        assert (entry.path, entry.code) == ("long.html", "too_slow")
        assert "extract_seconds" in entry.hint
        opened.clear()
        (again,) = engine.index("notes").failed
        assert (again, opened) == (entry, set())
        write(notes, {"long.html": page + "!"})
        assert [each.code for each in engine.index("notes").failed] == ["too_slow"]
    with open_at(tmp_path) as engine:
        assert [each.code for each in engine.index("notes").failed] == ["too_slow"]
        assert counts(engine.index("notes", retry=True)) == {"added": 1, "unchanged": 4}
        assert engine.ledger() == []


def test_a_folder_of_a_thousand_files_that_is_renamed_embeds_nothing_anew(engine, tmp_path, embedded):
    root = tmp_path / "notes"
    write(
        root, {f"old/part{number % 10}/{number}.md": f"# Note {number}\n\nzebra {number}\n" for number in range(1000)}
    )
    engine.add_collection(root, name="notes")
    engine.index("notes")
    engine.embed()
    before = {info.path.removeprefix("old/"): info.id for info in engine.documents()}
    embedded.clear()
    (root / "old").rename(root / "new")
    assert counts(engine.index("notes")) == {"moved": 1000}
    assert engine.embed().embedded == 0
    assert embedded == []
    assert {info.path.removeprefix("new/"): info.id for info in engine.documents()} == before
