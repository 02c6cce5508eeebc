"""Every command of the program, run for real on a small folder of notes."""

import csv
import io
import json
import re
import tomllib
import xml.etree.ElementTree as ET
from contextlib import contextmanager

import pytest

import dowse
from dowse.engine import Engine
from dowse.interfaces.cli import progress, terminal
from dowse.interfaces.cli.commands import COMMANDS
from dowse.types import Event

ITEM_KEYS = {"docid", "file", "title", "score", "line", "context", "snippet"}
TERMINAL_COMMANDS = "\x1b]0;owned\x07\x1b[2J\x9b31m"


# The program itself


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_names_the_global_options(ask, command):
    out = ask(command, "--help").out
    assert out.startswith(f"Usage: dowse {command}")
    assert "--index" in out


def test_without_a_command_the_help_lists_all_of_them(ask):
    out = ask().out
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_the_version_is_the_packages(ask):
    assert ask("--version").out == f"dowse {dowse.__version__}\n"


def test_under_its_other_name_usage_and_hints_say_that_name(ask, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/qmd"])
    assert ask("--help").out.startswith("Usage: qmd ")
    missing = ask("search", "tea", "--index", "absent", code=3)
    assert "qmd collection add" in missing.err


def test_a_mistyped_command_or_option_is_answered_with_the_nearest_one(ask):
    command = ask("serch", "tea", code=2)
    assert "error: There is no command 'serch'. Did you mean 'search'?" in command.err
    option = ask("search", "tea", "--jsn", code=2)
    assert "--json" in option.err
    assert "hint: Try 'dowse search --help'" in option.err
    assert command.out == option.out == ""


@pytest.mark.parametrize("arguments", [["search"], ["get"], ["collection"], ["search", "x", "-n", "0"]])
def test_a_wrong_use_exits_with_2_and_says_so_on_stderr(ask, arguments):
    done = ask(*arguments, code=2)
    assert done.out == ""
    assert "error: " in done.err
    assert "hint: " in done.err


@pytest.mark.parametrize("where", ["before", "after"])
def test_global_options_work_before_and_after_the_command(ask, tmp_path, where):
    options = ["--index", tmp_path / "elsewhere"]
    arguments = [*options, "status", "--json", "-v"] if where == "before" else ["status", "--json", "-v", *options]
    assert json.loads(ask(*arguments).out)["index"] == str(tmp_path / "elsewhere")


def test_the_later_of_two_global_options_wins(ask):
    shown = json.loads(ask("--index", "one", "config", "--json", "--index", "two").out)
    assert shown[0]["value"] == "two"


def test_an_unexpected_error_is_one_line_and_the_trace_comes_on_demand(ask, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Engine, "stats", broken)
    short = ask("status", code=70)
    assert "error: ZeroDivisionError: by zero" in short.err
    assert "This is a bug; run again with DOWSE_DEBUG=1 for the trace" in short.err
    assert "Traceback" not in short.err
    monkeypatch.setenv("DOWSE_DEBUG", "1")
    assert "Traceback" in ask("status", code=70).err


def test_an_index_that_is_no_index_is_an_error_of_the_store(ask, tmp_path):
    (tmp_path / "dowse.db").write_bytes(b"this is not a database" * 100)
    done = ask("search", "tea", "--index", tmp_path, code=6)
    assert "error: " in done.err
    assert "Traceback" not in done.err


# Configuration


def test_a_setting_that_does_not_exist_names_the_nearest_one(ask, tmp_path, monkeypatch):
    file = tmp_path / "c.toml"
    file.write_text("chunk_token = 100\n")
    done = ask("status", "--config", file, code=2)
    assert str(file) in done.err
    assert "hint: Did you mean chunk_tokens?" in done.err
    monkeypatch.setenv("DOWSE_INDX", "x")
    assert "hint: Did you mean DOWSE_INDEX?" in ask("status", code=2).err


def test_config_shows_every_setting_and_its_origin_as_toml(ask, tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("keep_days = 3\n")
    done = ask("config", "--config", file, "--index", "mine")
    parsed = tomllib.loads(done.out)
    assert parsed["index"] == "mine"
    assert parsed["keep_days"] == 3.0
    assert f"keep_days = 3.0  # {file}" in done.out
    assert 'embedder = "hashed"  # DOWSE_EMBEDDER' in done.out
    assert "precision" in parsed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_program(ask, shell):
    out = ask("completion", shell).out
    assert "_DOWSE_COMPLETE" in out


# Search


def test_a_result_shows_where_it_is_what_it_is_called_and_the_lines_that_matter(ask):
    out = ask("search", "espresso", "pressure").out
    assert out.startswith("notes/coffee.md:")
    assert "Coffee > Espresso" in out
    assert "Context: All I know" in out
    assert "  Espresso needs nine bars of pressure." in out


@pytest.mark.parametrize("command", ["search", "vsearch", "query"])
def test_json_results_have_the_promised_shape(ask, command):
    items = json.loads(ask(command, "water for green tea", "--json", "--min-score", "0").out)
    assert items[0]["file"] == "notes/tea.md"
    for item in items:
        assert set(item) >= ITEM_KEYS
        assert 0 <= item["score"] <= 1
        assert item["docid"].startswith("#")
        assert "explain" not in item
    assert [item["score"] for item in items] == sorted((item["score"] for item in items), reverse=True)
    assert len({item["file"] for item in items}) == len(items)


def test_the_line_of_a_result_is_the_true_line_of_its_snippet(ask, library):
    for item in json.loads(ask("search", "water", "--json").out):
        lines = (library.notes / item["file"].removeprefix("notes/")).read_text().split("\n")
        shown = item["snippet"].split("\n")
        assert lines[item["line"] - 1 : item["line"] - 1 + len(shown)] == shown


def test_line_numbers_stand_before_each_line(ask):
    item = json.loads(ask("search", "bitter", "--json", "--line-numbers").out)[0]
    numbers = [int(line.split(": ")[0]) for line in item["snippet"].split("\n")]
    assert numbers == list(range(item["line"], item["line"] + len(numbers)))
    assert "4: Boiling water makes it bitter." in ask("search", "bitter", "--line-numbers").out


def test_contexts_come_with_results_general_ones_first(ask):
    item = json.loads(ask("search", "dough", "--json").out)[0]
    assert item["title"] == "Sourdough bread"
    assert item["context"] == "All I know\nRecipes, mostly"


def test_csv_reads_back_as_the_same_results(ask):
    rows = list(csv.DictReader(io.StringIO(ask("search", "water", "--csv").out)))
    items = json.loads(ask("search", "water", "--json").out)
    assert [row["file"] for row in rows] == [item["file"] for item in items]
    assert [row["snippet"] for row in rows] == [item["snippet"] for item in items]
    assert set(rows[0]) == ITEM_KEYS


def test_xml_reads_back_as_the_same_results(ask):
    root = ET.fromstring(ask("search", "water", "--xml").out)  # noqa: S314  # our own output
    items = json.loads(ask("search", "water", "--json").out)
    assert [each.get("file") for each in root] == [item["file"] for item in items]
    assert [each.text for each in root] == [item["snippet"] for item in items]


def test_files_are_lines_of_docid_score_file_and_context(ask):
    rows = list(csv.reader(io.StringIO(ask("search", "dough", "--files").out)))
    item = json.loads(ask("search", "dough", "--json").out)[0]
    assert rows == [[item["docid"], f"{item['score']:.2f}", "notes/kitchen/bread.md", "All I know Recipes, mostly"]]


def test_markdown_has_a_heading_per_result(ask):
    out = ask("search", "water", "--md").out
    items = json.loads(ask("search", "water", "--json").out)
    assert [line[3:] for line in out.splitlines() if line.startswith("## ")] == [item["title"] for item in items]


@pytest.mark.parametrize("name", ["cli", "json", "csv", "md", "xml", "files"])
def test_a_format_has_a_long_and_a_short_form(ask, name):
    long = ask("search", "water", "--format", name).out
    assert long
    if name != "cli":
        assert ask("search", "water", f"--{name}").out == long
        assert ask("search", "water", f"--{name}", "--format", name).out == long


def test_two_different_formats_are_a_mistake(ask):
    assert "Choose one format" in ask("search", "water", "--json", "--csv", code=2).err


@pytest.mark.parametrize("name", ["json", "csv", "md", "xml", "files", "cli"])
def test_no_results_are_no_error_and_leave_stdout_to_the_format(ask, name):
    done = ask("search", "zeppelin", "--format", name)
    assert 'No results found for "zeppelin"' in done.err
    expected = {"json": "[]\n", "csv": "docid,score,file,title,context,line,snippet\n"}
    if name == "xml":
        assert list(ET.fromstring(done.out)) == []  # noqa: S314  # our own output
    else:
        assert done.out == expected.get(name, "")


def test_full_gives_the_whole_document(ask, library):
    items = json.loads(ask("search", "espresso", "--full", "--json").out)
    assert items[0]["body"] == (library.notes / "coffee.md").read_text()
    assert "Filter coffee drips." in ask("search", "espresso", "--full").out
    assert "9: Filter coffee drips." in ask("search", "espresso", "--full", "--line-numbers").out


def test_explain_shows_how_a_score_came_about(ask):
    item = json.loads(ask("query", "green tea", "--json", "--explain").out)[0]
    assert {leg["name"] for leg in item["explain"]["legs"]} == {"lex", "vec"}
    assert "Explain: lex rank 1" in ask("search", "green tea", "--explain").out


def test_the_limit_counts_files_and_all_lifts_it(ask):
    assert len(json.loads(ask("search", "water", "-n", "1", "--json").out)) == 1
    assert len(json.loads(ask("search", "water", "--limit", "1", "--all", "--json").out)) == 2


def test_a_minimum_score_leaves_out_weaker_results(ask):
    scores = [item["score"] for item in json.loads(ask("search", "green water", "--json").out)]
    kept = json.loads(ask("search", "green water", "--json", "--min-score", scores[0]).out)
    assert len(kept) < len(scores)


def test_an_unknown_collection_is_answered_with_the_nearest_one(ask):
    done = ask("search", "tea", "-c", "nots", code=3)
    assert "error: There is no collection named 'nots'." in done.err
    assert "hint: Did you mean 'notes'?" in done.err
    assert ask("search", "tea", "-c", "notes", "--json").out != "[]\n"


@pytest.mark.parametrize("query", ["?!.,;", "x " * 50_000, '"', "* - / ? :", "日本", "a\x1b[31mb"])
def test_strange_queries_are_answered(ask, query):
    assert isinstance(json.loads(ask("search", "--json", "--", query).out), list)
    assert isinstance(json.loads(ask("query", "--json", "--", query).out), list)


def test_an_empty_query_is_refused(ask):
    assert "error: The query is empty." in ask("search", " ", code=2).err


def test_quiet_silences_talk_but_not_data(ask):
    done = ask("search", "zeppelin", "--json", "-q")
    assert (done.out, done.err) == ("[]\n", "")


def test_control_characters_of_documents_never_reach_the_reader_raw(run, place):
    (place.notes / "trap.md").write_text(f"# Trap {TERMINAL_COMMANDS}\n\nA zebra{TERMINAL_COMMANDS} crossing.\n")
    run("collection", "add", place.notes)
    for name in ("cli", "json"):
        out = run("search", "zebra", "--format", name).out
        assert "zebra" in out
        assert not set(out) & set("\x1b\x07\x9b")


# Documents


def test_get_prints_a_document_by_path_by_its_end_and_by_docid(ask, library):
    text = (library.notes / "tea.md").read_text()
    docid = json.loads(ask("search", "bitter", "--json").out)[0]["docid"]
    for name in ("notes/tea.md", "tea.md", docid, "qmd://notes/tea.md"):
        assert ask("get", name).out == text


def test_get_picks_lines(ask):
    assert ask("get", "tea.md:3:1").out == "Green tea wants water below eighty degrees.\n"
    assert ask("get", "tea.md", "--from", 3, "-l", 1).out == "Green tea wants water below eighty degrees.\n"
    assert ask("get", "tea.md:4", "--line-numbers").out.startswith("4: Boiling water")
    assert json.loads(ask("get", "tea.md:3:1", "--json").out)["first_line"] == 3
    assert "Lines 3 to 3 of " in ask("get", "tea.md:3:1").err
    assert "Lines" not in ask("get", "tea.md").err


def test_get_of_an_unknown_document_suggests_similar_names(ask):
    done = ask("get", "notes/tee.md", code=3)
    assert "notes/tea.md" in done.err
    assert done.out == ""


def test_multi_get_takes_a_glob_or_a_list(ask):
    globbed = ask("multi-get", "notes/kitchen/*").out
    assert "==> notes/kitchen/bread.md" in globbed
    assert "==> notes/kitchen/soup.txt" in globbed
    listed = json.loads(ask("multi-get", "tea.md, nowhere.md", "--json").out)
    assert [item["file"] for item in listed] == ["notes/tea.md", "nowhere.md"]
    assert listed[1]["skipped"] is True


@pytest.mark.parametrize("name", ["csv", "xml", "md", "files"])
def test_multi_get_speaks_every_format(ask, name):
    out = ask("multi-get", "notes/kitchen/*", "--format", name).out
    if name == "csv":
        assert next(csv.DictReader(io.StringIO(out)))["file"] == "notes/kitchen/bread.md"
    elif name == "xml":
        assert ET.fromstring(out)[1].text == "Soup wants water, salt and time.\n"  # noqa: S314  # our own output
    else:
        assert "notes/kitchen/bread.md" in out


def test_multi_get_leaves_out_what_is_too_large_and_cuts_what_is_too_long(ask):
    done = ask("multi-get", "notes/kitchen/*", "--max-bytes", 40, "--json")
    shown = {item["file"]: item.get("skipped", False) for item in json.loads(done.out)}
    assert shown == {"notes/kitchen/soup.txt": False, "notes/kitchen/bread.md": True}
    assert "left out: notes/kitchen/bread.md" in done.err
    cut = ask("multi-get", "tea.md", "-l", 1).out
    assert re.search(r"# Green tea\n\n\[\.\.\. truncated \d more lines\]", cut)


def test_multi_get_without_anything_to_show_is_not_found(ask):
    ask("multi-get", "nothing/*.xyz", code=3)
    ask("multi-get", "notes/*.md", "--max-bytes", 1, code=3)


def test_ls_lists_collections_and_documents(ask):
    assert ask("ls").out.startswith("notes  ")
    assert json.loads(ask("ls", "--json").out)[0]["documents"] == 4
    lines = ask("ls", "notes/kitchen").out.splitlines()
    assert [line.split()[-1] for line in lines] == ["notes/kitchen/bread.md", "notes/kitchen/soup.txt"]
    assert len(json.loads(ask("ls", "notes", "--json").out)) == 4
    assert "Did you mean 'notes'?" in ask("ls", "note", code=3).err


# Status and care


def test_status_json_has_the_keys_of_the_specification(ask, library):
    made = json.loads(ask("status", "--json").out)
    assert made["totalDocuments"] == 4
    assert made["needsEmbedding"] == 0
    assert made["hasVectorIndex"] is True
    (only,) = made["collections"]
    assert (only["name"], only["path"], only["pattern"], only["documents"]) == ("notes", str(library.notes), "**/*", 4)
    assert only["lastUpdated"].endswith("Z")
    assert made["version"] == dowse.__version__
    assert made["model"]["name"]
    verbose = json.loads(ask("status", "--json", "-v").out)
    assert verbose["bytes"] > 0
    assert verbose["index"].startswith(library.env["DOWSE_DATA_DIR"])


def test_status_text_says_what_is_there(ask):
    out = ask("status").out
    assert "Documents:   4" in out
    assert "notes" in out
    assert "to embed" not in out


def test_status_of_an_index_that_is_not_there_yet_is_empty(run):
    assert json.loads(run("status", "--json").out)["totalDocuments"] == 0
    assert json.loads(run("collection", "list", "--json").out) == []
    assert "collection add" in run("search", "tea", code=3).err


def test_what_is_not_indexed_is_listed_with_its_reason(run, place, monkeypatch):
    (place.notes / "huge.md").write_text("word " * 1000)
    (place.notes / "broken.md").write_bytes(bytes(range(256)))
    monkeypatch.setenv("DOWSE_MAX_FILE_SIZE", "1KB")
    run("collection", "add", place.notes)
    (failed,) = run("status", "--failed").out.splitlines()
    assert failed.startswith("failed: notes/broken.md: 20")
    (skipped,) = run("ls", "--skipped", "notes").out.splitlines()
    assert skipped.startswith("skipped: notes/huge.md: 20")
    assert "Not indexed: 1 failed, 1 left out: dowse status --failed, dowse ls --skipped" in run("status").out
    (entry,) = json.loads(run("status", "--failed", "--json").out)["failures"]
    assert (entry["code"], entry["at"][:2]) == ("binary", "20")
    (entry,) = json.loads(run("ls", "--skipped", "--json").out)
    assert (entry["file"], entry["code"]) == ("notes/huge.md", "too_large")
    assert "max_file_size" in entry["hint"]


def test_doctor_finds_a_healthy_index_healthy(ask):
    assert "FAILED" not in ask("doctor").out
    findings = json.loads(ask("doctor", "--deep", "--json").out)
    assert findings
    assert all(each["ok"] for each in findings)


def test_doctor_finds_damage_and_repairs_it(run, place):
    run("collection", "add", place.notes)
    index = place.notes.parent / "data" / "indexes" / "default"
    for file in index.glob("lexical-*/*"):
        file.unlink()
    done = run("doctor", code=1)
    assert "FAILED" in done.out
    assert "error: " in done.err
    assert "hint: " in done.err
    run("doctor", "--repair")
    assert json.loads(run("search", "espresso", "--json").out)


def test_cleanup_frees_what_was_deleted(run, place):
    run("collection", "add", place.notes)
    run("collection", "remove", "notes")
    assert "Freed" in run("cleanup", "--days", 0).err
    assert json.loads(run("status", "--json").out)["totalDocuments"] == 0


# Collections


def test_adding_a_folder_makes_it_searchable_by_words_says_so_and_then_embeds(run, place):
    done = run("collection", "add", place.notes, "--name", "mine", "--mask", "**/*.md", "--description", "Notes")
    assert done.out.startswith("mine: 3 added, 0 changed, 0 moved, 0 removed, 0 unchanged")
    assert "Embedded " in done.out
    assert "3 documents are searchable by words." in done.err
    made = json.loads(run("collection", "show", "mine", "--json").out)
    assert (made["pattern"], made["description"], made["needsEmbedding"]) == ("**/*.md", "Notes", 0)
    assert "pattern: **/*.md" in run("collection", "show", "mine").out


def test_without_embedding_words_answer_and_the_rest_is_said(run, place):
    done = run("collection", "add", place.notes, "--no-embed")
    assert "Embedded" not in done.out
    assert json.loads(run("status", "--json").out)["needsEmbedding"] == 4
    assert "4 documents to embed: dowse embed" in run("status").out
    hybrid = run("query", "espresso", "--json")
    assert json.loads(hybrid.out)[0]["file"] == "notes/coffee.md"
    assert "note: " in hybrid.err
    by_meaning = run("vsearch", "espresso", code=8)
    assert "dowse embed" in by_meaning.err
    assert "Embedded" in run("embed").out
    assert json.loads(run("vsearch", "espresso", "--json", "--min-score", "0").out)


def test_a_folder_that_is_missing_or_already_there_is_refused(run, place, tmp_path):
    run("collection", "add", tmp_path / "nowhere", code=3)
    run("collection", "add", place.notes)
    assert "update -c notes" in run("collection", "add", place.notes, code=4).err
    assert "'a/b' cannot be the name" in run("collection", "add", place.notes, "--name", "a/b", code=2).err


def test_collections_are_renamed_excluded_included_and_removed(run, place):
    run("collection", "add", place.notes)
    run("collection", "rename", "notes", "papers")
    run("collection", "exclude", "papers")
    assert json.loads(run("search", "tea", "--json").out) == []
    assert json.loads(run("search", "tea", "-c", "papers", "--json").out)
    assert "searched only when named" in run("collection", "list").out
    run("collection", "include", "papers")
    assert json.loads(run("search", "tea", "--json").out)
    assert "4 documents" in run("collection", "remove", "papers").err
    assert (place.notes / "tea.md").exists()
    assert run("collection", "list").out == ""


# Contexts


@pytest.mark.parametrize(
    ("typed", "where"),
    [
        ("/", {"collection": None, "prefix": ""}),
        ("notes", {"collection": "notes", "prefix": ""}),
        ("notes/kitchen/", {"collection": "notes", "prefix": "kitchen"}),
        ("qmd://notes/kitchen", {"collection": "notes", "prefix": "kitchen"}),
        ("dowse://notes", {"collection": "notes", "prefix": ""}),
        ("{root}", {"collection": "notes", "prefix": ""}),
        ("{root}/kitchen", {"collection": "notes", "prefix": "kitchen"}),
        ("{root}/kitchen/soup.txt", {"collection": "notes", "prefix": "kitchen/soup.txt"}),
        ("./kitchen", {"collection": "notes", "prefix": "kitchen"}),
        ("kitchen", {"collection": "notes", "prefix": "kitchen"}),
    ],
)
def test_a_context_is_attached_listed_and_removed_at_every_kind_of_place(run, place, monkeypatch, typed, where):
    run("collection", "add", place.notes, "--no-embed")
    monkeypatch.chdir(place.notes)
    typed = typed.format(root=place.notes)
    run("context", "add", typed, "What it is")
    assert json.loads(run("context", "list", "--json").out) == [where | {"text": "What it is"}]
    assert run("context", "list").out.endswith("\tWhat it is\n")
    run("context", "rm", typed)
    assert json.loads(run("context", "list", "--json").out) == []
    run("context", "rm", typed, code=3)


def test_a_context_without_a_place_describes_the_current_folder(run, place, monkeypatch):
    run("collection", "add", place.notes, "--no-embed")
    monkeypatch.chdir(place.notes / "kitchen")
    run("context", "add", "Recipes")
    assert run("context", "list").out == "notes/kitchen\tRecipes\n"


def test_a_context_for_a_place_outside_of_every_collection_is_refused(run, place, tmp_path):
    run("collection", "add", place.notes, "--no-embed")
    assert "is in no collection" in run("context", "add", tmp_path, "x", code=3).err
    assert "does not exist" in run("context", "add", place.notes / "gone", "x", code=3).err
    assert "Did you mean 'notes'?" in run("context", "add", "note/kitchen", "x", code=3).err
    assert "quotes" in run("context", "add", "/", "two", "words", code=2).err


# Updating


def test_update_reports_what_happened_in_one_line_per_collection(run, place):
    run("collection", "add", place.notes)
    (place.notes / "new.md").write_text("# New\n\nSomething about zebras.\n")
    (place.notes / "tea.md").write_text("# Black tea\n\nBlack tea wants boiling water, now.\n")
    (place.notes / "kitchen" / "soup.txt").rename(place.notes / "soup.txt")
    (place.notes / "coffee.md").unlink()
    line = run("update").out.splitlines()[0]
    assert line == "notes: 1 added, 1 changed, 1 moved, 1 removed, 1 unchanged"
    assert json.loads(run("search", "zebras", "--json").out)
    assert json.loads(run("search", "espresso", "--json").out) == []


def test_update_prints_json_reports(run, place):
    run("collection", "add", place.notes, "--no-embed")
    (place.notes / "new.md").write_text("# New\n\nSomething about zebras.\n")
    made = json.loads(run("update", "-c", "notes", "--json").out)
    assert made["collections"][0]["added"] == 1
    assert made["collections"][0]["unchanged"] == 4
    assert made["embedding"]["embedded"] > 0
    assert json.loads(run("update", "--json", "--no-embed").out)["embedding"] is None


def test_a_second_update_loads_no_model(run, place, monkeypatch):
    run("collection", "add", place.notes)

    def untouchable(*_, **__):
        raise AssertionError("the model was asked")

    assert run("embed").out == "Every passage has its vector.\n"
    monkeypatch.setattr(Engine, "embed", untouchable)
    assert run("update").out == "notes: 0 added, 0 changed, 0 moved, 0 removed, 4 unchanged\n"


def test_update_without_collections_says_how_to_add_one(run, place):
    run("collection", "add", place.notes, "--no-embed")
    run("collection", "remove", "notes")
    done = run("update")
    assert "collection add PATH" in done.err
    assert done.out == ""
    assert "Did you mean" not in run("update", "-c", "notes", code=3).err


def test_the_mass_delete_guard_is_told_and_prune_overrules_it(run, place):
    for number in range(30):
        (place.notes / f"n{number}.md").write_text(f"# Note {number}\n\nZebra number {number}.\n")
    run("collection", "add", place.notes, "--no-embed")
    for number in range(30):
        (place.notes / f"n{number}.md").unlink()
    guarded = run("update", "--no-embed", code=4)
    assert "--prune" in guarded.err
    assert "0 removed" in guarded.out
    assert json.loads(run("status", "--json").out)["totalDocuments"] == 34
    assert "30 removed" in run("update", "--prune", "--no-embed").out
    assert json.loads(run("status", "--json").out)["totalDocuments"] == 4


def test_a_root_that_vanished_loses_nothing(run, place):
    run("collection", "add", place.notes, "--no-embed")
    place.notes.rename(place.notes.parent / "away")
    assert "error: " in run("update", "--no-embed", code=4).err
    assert json.loads(run("search", "espresso", "--json").out)


def test_force_makes_every_vector_anew(run, place):
    run("collection", "add", place.notes)
    chunks = json.loads(run("status", "--json").out)["chunks"]
    assert json.loads(run("embed", "--force", "--json").out)["embedded"] == chunks


def stop_at(stage, monkeypatch):
    """Make Ctrl-C arrive with the second event of this stage."""

    @contextmanager
    def shown(_session):
        seen = []

        def on_event(event: Event) -> None:
            seen.append(event.stage)
            if seen.count(stage) == 2:
                raise KeyboardInterrupt

        yield on_event

    monkeypatch.setattr(progress, "shown", shown)


def without_times(text):
    made = json.loads(text)
    for each in made["collections"]:
        del each["lastUpdated"]
    return made


@pytest.mark.parametrize(("stage", "command"), [("read", "update"), ("embed", "embed")])
def test_a_run_that_is_stopped_says_how_to_go_on_and_ends_like_one_that_was_not(
    run, place, tmp_path, monkeypatch, stage, command
):
    index = tmp_path / "interrupted"
    with monkeypatch.context() as patch:
        stop_at(stage, patch)
        stopped = run("collection", "add", place.notes, "--index", index, code=130)
    assert f"Stopped. Nothing is lost: go on with `dowse {command}`" in stopped.err
    run(command, "--index", index)
    run("collection", "add", place.notes, "--index", tmp_path / "whole")
    interrupted = run("status", "--json", "--index", index).out
    whole = run("status", "--json", "--index", tmp_path / "whole").out
    assert without_times(interrupted) == without_times(whole)
    assert json.loads(whole)["needsEmbedding"] == 0


# Progress


def test_progress_without_a_terminal_is_an_occasional_line(capsys):
    now = [0.0]
    lines = progress.Lines(clock=lambda: now[0])
    for step in range(1, 101):
        now[0] = step / 10
        lines(Event("embed", step, 200, path=f"{step}"))
    err = capsys.readouterr().err.splitlines()
    assert err == ["Embedding: 50 of 200, 10.0/s, 15 s left", "Embedding: 100 of 200, 10.0/s, 10 s left"]


def test_progress_names_each_file_for_those_who_want_to_know(capsys):
    lines = progress.Lines(verbose=True, clock=lambda: 0.0)
    lines(Event("read", 1, 2, path="a\x1b[31m.md"))
    assert capsys.readouterr().err == "read: a[31m.md\n"


# The terminal


def test_text_is_cleaned_of_control_characters_but_keeps_tabs_and_lines():
    assert terminal.clean(f"a\tb\nc{TERMINAL_COMMANDS}\r\x00d") == "a\tb\nc]0;owned[2J31md"
    assert terminal.one_line(" a\n\tb  c ") == "a b c"


def test_only_commands_of_the_program_are_renamed_in_hints():
    text = "dowse update and dowse is; see dowse ls"
    assert terminal.as_typed(text, "qmd") == "qmd update and dowse is; see qmd ls"


def test_a_verdict_that_is_not_found_is_told_on_stderr_and_explain_tells_every_one(ask):
    done = ask("search", "xylophonist", "--json")
    assert json.loads(done.out) == []
    assert "verdict: absent, probably not in your documents" in done.err
    assert "verdict: found, in your documents" in ask("search", "green tea", "--explain").err


def test_several_passages_of_a_file_come_where_they_are_asked_for(ask):
    for options in (("--per-document", "0"), ("--per-document", "2", "--merge"), ("--fold",), ("--diversity", "0.5")):
        items = json.loads(ask("search", "water", "--json", *options).out)
        assert items
    recent = json.loads(ask("search", "water", "--json", "--explain", "--recency", "30").out)
    assert all(item["explain"]["features"][-1]["name"] == "recent" for item in recent)
