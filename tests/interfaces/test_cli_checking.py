"""`verify`, `why` and budgets on the command line: what is printed, what is told, and the exit codes."""

import json

import pytest

QUOTE = "Green tea wants water below eighty degrees."


def citation_of(run, *words):
    return json.loads(run("search", *words, "--json").out)[0]["citation"]


def test_a_citation_of_a_result_is_valid(ask):
    uri = citation_of(ask, "green", "tea")
    outcome = ask("verify", uri)
    assert outcome.out.startswith("valid: ")
    assert uri in outcome.out
    assert "notes/tea.md:1-4" in outcome.out


def test_a_quote_is_found_without_a_citation(ask):
    made = json.loads(ask("verify", *QUOTE.split(), "--json").out)
    assert made["state"] == "valid"
    (place,) = made["citations"]
    assert (place["file"], place["first_line"], place["text"]) == ("notes/tea.md", 3, QUOTE)
    assert place["editor"].endswith("tea.md#L3")


def test_what_does_not_hold_exits_with_1_and_still_prints(ask):
    assert ask("verify", "Nobody ever wrote these words down", code=1).out.startswith("gone: ")
    outcome = ask("verify", "Green tea wants water below ninety degrees.", code=1)
    assert "-Green tea wants water below ninety degrees." in outcome.out
    assert "+Green tea wants water below eighty degrees." in outcome.out


def test_a_changed_document_shows_its_difference_and_a_newer_file_is_told(run, place):
    run("collection", "add", place.notes, "-q")
    uri = citation_of(run, "green", "tea")
    file = place.notes / "tea.md"
    file.write_text(file.read_text(encoding="utf-8").replace("eighty", "seventy"), encoding="utf-8")
    assert "has changed since it was indexed" in run("verify", uri).err
    run("update", "-q")
    assert "+Green tea wants water below seventy degrees." in run("verify", uri, code=1).out


def test_nothing_to_verify_is_a_mistake(ask):
    assert "hint:" in ask("verify", " ", code=2).err


def test_why_tells_the_rank_and_the_legs(ask):
    outcome = ask("why", "green tea", "tea.md")
    assert outcome.out.startswith("found: Found at rank 1")
    assert "lex: rank 1, BM25" in outcome.out
    assert "vec: rank 1, cosine" in outcome.out
    made = json.loads(ask("why", "green tea", "tea.md", "--json").out)
    assert (made["outcome"], made["rank"], made["words"]) == ("found", 1, ["green", "tea"])
    assert [leg["name"] for leg in made["hit"]["explain"]["legs"]] == ["lex", "vec"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["espresso", "tea.md", "--mode", "lex"], "no match: "),
        (["water", "kitchen/soup.txt", "-n", "1", "--mode", "lex"], "below the cut: "),
        (["green tea", "tea.md", "--mode", "lex", "--min-score", "1"], "filtered: "),
        (["tea", "nothing.md"], "not indexed: "),
    ],
)
def test_why_tells_what_is_in_the_way(ask, arguments, says):
    outcome = ask("why", *arguments)
    assert outcome.out.startswith(says)
    assert "hint: " in outcome.err


@pytest.mark.parametrize("form", ["cli", "json", "csv", "md", "xml", "files"])
def test_a_budget_bounds_what_is_printed_and_a_cursor_goes_on(ask, form):
    from dowse.text.tokens import TokenCounter

    count = TokenCounter(None).count  # the hashed embedder counts words and marks
    whole = ask("search", "water", "coffee", "--format", form).out
    budget = count(whole) - 1
    first = ask("search", "water", "coffee", "--format", form, "--max-tokens", budget)
    assert 0 < count(first.out) <= budget
    cursor = first.err.split("--cursor ")[-1].strip()
    rest = ask("search", "water", "coffee", "--format", form, "--cursor", cursor)
    assert rest.out.strip()
    assert rest.out not in first.out


def test_a_budget_that_is_too_small_names_one_that_is_not(ask):
    failed = ask("search", "water", "--max-tokens", 2, code=2)
    least = failed.err.split("at least ")[1].split()[0]
    assert ask("search", "water", "--max-tokens", least).out
