"""`eval` on the command line: the table, the JSON, what is told, and the exit codes."""

import json

import pytest

from dowse.search import pipeline

YAML = "how hot is the water for tea: tea.md\nespresso pressure: [notes/coffee.md]\n"


@pytest.fixture
def indexed(run, place):
    run("collection", "add", place.notes, "-q")
    return run


def test_the_table_names_every_mode_and_the_first_run_says_that_it_is(indexed):
    outcome = indexed("eval")
    first, head, *rows = outcome.out.splitlines()
    assert first.startswith("known items (")
    assert head.split() == ["mode", "queries", "recall@10", "MRR@10", "nDCG@10", "p50", "ms", "p95", "ms"]
    assert [row.split()[0] for row in rows if not row.startswith(" ")][:3] == ["lex", "vec", "hybrid"]
    assert rows[-1] == "There is no earlier run to compare with."
    assert "note: No definitions to ask for were found." in outcome.err


def test_a_second_run_says_what_changed(indexed, place):
    indexed("eval", "-q")
    (place.notes / "new.md").write_text("# A new note about jam\n\nJam keeps for years.\n")
    indexed("update", "-q")
    out = indexed("eval", "--strict").out
    assert "changed: documents: 4 -> 5" in out
    assert "no figure differs by more than chance" in out


def test_json_has_the_same_and_leaves_stdout_to_itself(indexed):
    made = json.loads(indexed("eval", "--json", "--mode", "lex").out)
    assert (made["name"], list(made["modes"]), made["compared"], made["worse"]) == ("known items", ["lex"], None, [])
    assert made["modes"]["lex"]["recall@10"] == 1
    assert made["state"]["documents"] == "4"
    again = json.loads(indexed("eval", "--json").out)
    assert {each["verdict"] for each in again["compared"]["differences"]} == {"same"}


def test_judged_queries_are_asked(indexed, place):
    path = place.notes.parent / "queries.yaml"
    path.write_text(YAML)
    made = json.loads(indexed("eval", path, "--json", "--mode", "lex").out)
    assert made["queries"] == {"judged": 2}
    assert made["modes"]["lex"]["ndcg@10"] == 1
    folder = place.notes.parent / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "espresso pressure"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tcoffee.md\t1\nq1\tlost.md\t1\n")
    outcome = indexed("eval", folder, "--mode", "lex")
    assert outcome.out.splitlines()[2].split()[:5] == ["lex", "1", "1.000", "1.000", "1.000"]
    assert "note: lost.md is not indexed." in outcome.err


def test_worse_answers_are_warned_of_and_strict_exits_with_9(indexed, place, monkeypatch):
    for number in range(8):
        (place.notes / f"{number}.md").write_text(f"# The tale of raven {number}{number} and fox {number}{number}\n")
    indexed("update", "-q")
    indexed("eval", "-q", "--mode", "lex")
    monkeypatch.setattr(pipeline, "_hits", lambda *_: ())
    outcome = indexed("eval", "--mode", "lex", "--no-save")
    assert "warning: lex recall@10 is worse than before: 1.000 -> 0.000" in outcome.err
    assert "worse: lex recall@10 1.000 -> 0.000" in outcome.out
    strict = indexed("eval", "--mode", "lex", "--strict", "--json", "--no-save", code=9)
    assert json.loads(strict.out)["worse"] == ["lex recall@10", "lex mrr@10", "lex ndcg@10"]


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [(None, 3, "There is no"), ("- a\n", 5, "is not a table"), ("q: lost.md\n", 3, "lost.md is not indexed")],
)
def test_queries_that_cannot_be_used_are_an_error_with_a_way_out(indexed, place, content, code, says):
    path = place.notes.parent / "queries.yaml"
    if content is not None:
        path.write_text(content)
    outcome = indexed("eval", path, code=code)
    assert says in outcome.err
    assert "hint:" in outcome.err
    assert outcome.out == ""


def test_an_index_without_documents_or_collection_is_an_error(run, indexed):
    assert "nothing" in indexed("eval", "-c", "nothing", code=3).err
    indexed("collection", "remove", "notes", "-q")
    assert "There is no document to ask about." in run("eval", code=2).err
