"""How words become terms: what is indexed and what is asked for must meet."""

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dowse.text import analyse as module
from dowse.text.analyse import (
    ANALYSER,
    MAX_QUERY_CHARACTERS,
    MAX_QUERY_TERMS,
    MAX_TERM,
    STOP_WORDS,
    analyse,
    query_terms,
)

TRICKY = (
    *("getUserName", "c++", ".net", "don't", "战国", "ภาษาไทย", "é", "e\u0301", "👩\u200d💻", "漢字かな", "a" * 70),
    *(" ", "\n", ".", "/", "::", "_", "-", "'", "’", "#", "@", "7", "\ufdfa", "\u200d", "\ud800", "한국", "v1"),
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60) | st.lists(
    st.sampled_from(TRICKY), max_size=12
).map("".join)


def finds(query: str, document: str) -> bool:
    """Whether every term of the query is a term of the document."""
    terms = query_terms(query)
    return bool(terms) and set(terms) <= set(analyse(document))


@pytest.mark.parametrize(
    ("document", "queries"),
    [
        ("getUserName", "getUserName getusername get user name username getUser get_user_name user-name"),
        ("get_user_name", "getUserName GET_USER_NAME getusername username"),
        ("getUserNameById", "getUserName getusername usernameby nameById"),
        ("src/lib/i18n.ts", "src/lib/i18n.ts src lib i18n ts lib/i18n i18n.ts libi18n src/lib"),
        (r"src\lib\i18n.ts", "src/lib/i18n.ts i18n.ts"),
        ("@scope/name", "@scope/name scope name scopename scope/name"),
        ("DEC-0054", "DEC-0054 dec-0054 DEC 0054 dec0054 DEC_0054"),
        ("2026.4.10", "2026.4.10 2026 4 10 2026.4 4.10"),
        ("v2.0.0-rc.1", "v2.0.0-rc.1 2.0.0 v2.0 v2 rc rc.1"),
        ("@angular/core@17.3.1", "@angular/core angular core 17.3.1 17.3 core@17.3"),
        ("ASP.NET", "ASP.NET aspnet net asp"),
        ("my-kebab-name", "my-kebab-name mykebabname my_kebab_name kebabName kebab"),
        ("dowse.text.analyse", "dowse.text.analyse text.analyse dowse/text/analyse analyse"),
        ("std::collections::HashMap", "HashMap hashmap std::collections collections hash map"),
        ("XMLHttpRequest", "xml http request xmlhttp HttpRequest xmlhttprequest"),
        ("HTTPServer", "http server httpserver"),
        ("URLs", "url urls URL"),
        ("base64Encode", "base64 encode base64encode base"),
        ("python3", "python3 python 3"),
        ("sha-256", "sha256 SHA-256 sha 256"),
        ("v1.2.3", "v1.2.3 1.2 1.2.3 v1"),
        ("user@example.com", "user@example.com example.com user"),
        ("AT&T", "AT&T att"),
        ("I/O", "I/O io"),
        ("--no-cache", "--no-cache no-cache nocache"),
        ("https://docs.example.org/guide/intro.html", "docs.example.org intro.html guide/intro example"),
    ],
)
def test_an_identifier_is_found_whole_by_its_parts_and_by_neighbouring_parts_joined(document, queries):
    assert [query for query in queries.split() if not finds(query, f"see `{document}`, there")] == []


@pytest.mark.parametrize("name", ["c++", "C++", "c#", "F#", ".net", ".NET", ".gitignore", "g++", "C++17"])
def test_names_with_punctuation_have_a_term_of_their_own(name):
    assert finds(name, f"We use {name}.")
    assert set(analyse(name)) & {name.casefold(), name.casefold().removesuffix("17")}


def test_a_language_is_told_from_its_namesakes():
    assert not finds("c++", "C and C# only")
    assert not finds(".net", "a net of ropes")


def test_the_end_of_a_sentence_is_not_part_of_its_last_word():
    assert analyse("the net. Then") == ["the", "net", "then"]


@pytest.mark.parametrize(
    "call",
    ["fn main()", "fn main() {", "a->b", "x - y", "[[link]]", "**bold**", "$HOME", "<div>", "<!-- x -->", "a-- -- b"],
)
def test_punctuation_around_words_is_ignored(call):
    assert analyse(call) == [word.lower() for word in "".join(c if c.isalnum() else " " for c in call).split()]


@pytest.mark.parametrize("operator", ["=>", "->", "::", "!=", "===", "<=>", "&&", "||", "??", "|>", ":=", "<<"])
def test_an_operator_is_a_term_where_it_stands_alone(operator):
    for text in (
        "a {} b",
        "`{}`",
        "what does {} do?",
        "({})",
        "{}",
        "使用{}符号",
        "“{}”",
        "line {}\nnext",
        "is it {}, or",
    ):
        assert finds(operator, text.format(operator)), text
    assert operator not in analyse(f"a{operator}b")
    assert not finds(operator, "a - b = c < d > e : f & g | h ? i -- j")


def test_the_words_around_an_operator_stay_as_they_are():
    text = "the C# lambda x => x.Name != null && .NET std::vec c++ -> Node.js"
    assert [term for term in analyse(text) if term not in {"=>", "!=", "&&", "->"}] == analyse(
        "the C# lambda x   x.Name    null    .NET std::vec c++    Node.js"
    )


def test_numbers_keep_their_dots_so_that_different_ones_stay_different():
    assert "1.23" in analyse("1.23")
    assert not set(analyse("12.3")) & {"123", "1.23"}


def test_words_are_stemmed():
    assert finds("index", "indexing") and finds("indexes", "indexed")  # noqa: PT018 - one statement, both ways
    assert analyse("Running tests") == ["run", "test"]


@pytest.mark.parametrize(
    ("query", "document"),
    [("документ", "документы"), ("έγγραφο", "εγγραφα"), ("مكتبة", "المكتبة"), ("किताब", "किताबों")],
)
def test_words_of_other_scripts_are_stemmed_in_their_main_language(query, document):
    assert finds(query, document)


@pytest.mark.parametrize("spelled", ["don't", "don’t", "DON’T"])
def test_contractions_and_possessives_lose_their_ends(spelled):
    assert analyse(spelled) == ["do"]
    assert analyse("Ada's engine’s") == analyse("Ada engine")
    assert finds("OBrien", "O’Brien")


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("naive cafe", "naïve café"),
        ("naïve", "nai\u0308ve"),
        ("strasse", "Straße"),
        ("lodz", "Łódź"),
        ("istanbul", "İSTANBUL"),
        ("smorrebrod", "smørrebrød"),
        ("aether", "æther"),
        ("file", "ﬁle"),
        ("full 123", "ＦＵＬＬ １２３"),
        ("H2O", "H₂O"),
        ("ёлка", "елка"),
        ("cooperate", "co\u00adoperate"),
        ("word", "\ufeff“word”…"),
        ("10 km", "10\u00a0km"),
        ("well-known", "well\u2011known"),
    ],
)
def test_spellings_of_the_same_text_are_folded(query, document):
    assert finds(query, document)
    assert finds(document, query)


def test_chinese_is_found_by_words_of_any_length():
    document = "《战国无双3》是由光荣和ω-force开发的战国无双系列的正统第三续作。"
    for query in ["战国无双", "光荣", "开发", "战", "ω-force", "无双3"]:
        assert finds(query, document), query
    assert not finds("开荣", document)
    assert set(analyse("第三续作")) - {"第三续作"} <= set(analyse(document))


def test_japanese_and_korean_are_found_inside_longer_runs():
    assert finds("コンピューター", "新しいコンピューターを買う")
    assert finds("食べる", "寿司を食べる人")
    assert finds("ガギ", "ｶﾞｷﾞｸﾞ")
    assert finds("학교", "학교에서")
    assert finds("책", "책은")


def test_a_run_of_one_script_is_a_term_while_it_may_be_a_word():
    assert "コンピューター" in analyse("コンピューターを")
    assert max(map(len, analyse("漢" * 5_000))) == 2


@pytest.mark.parametrize("text", ["ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"])
def test_scripts_without_spaces_are_found_by_any_stretch(text):
    assert finds(text, f"ก{text}")
    assert len(analyse(text)) < len(text)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("น้ำ", "ดื่มน้ำสะอาดทุกวัน"),  # water, as everybody types it
        ("น\u0e49\u0e4d\u0e32", "ดื่มน้ำสะอาดทุกวัน"),  # and taken apart
        ("ฐานข้อมูล", "การสำรองฐานข้อมูลเป็นสิ่งสำคัญ"),
        ("ນ້ຳ", "ດື່ມນ້ຳສະອາດ"),
        ("ຂໍ້ມູນ", "ຖານຂໍ້ມູນສຳຄັນ"),
        ("ទឹក", "ផឹកទឹកស្អាត"),
        ("ទិន្នន័យ", "មូលដ្ឋានទិន្នន័យសំខាន់"),
    ],
)
def test_words_of_thai_lao_and_khmer_are_found_inside_of_sentences(query, document):
    assert finds(query, document)
    assert not finds(query, "ការដើរលេង ເດີນຫຼິ້ນ เดินเล่น")


def test_mixed_scripts_are_cut_where_the_script_changes():
    assert finds("getUserName 函数", "使用getUserName函数")


def test_emoji_and_symbols_are_terms_and_frames_are_not():
    assert analyse("👩‍💻 ❤️ 👍🏽 5€") == ["👩", "💻", "❤", "👍", "5", "€"]
    assert analyse("├── src │") == ["src"]


def test_nothing_to_index_gives_no_terms():
    assert analyse("") == analyse(" \n\t… — . ..  ()[]{} \ud800 \x00") == []


def test_a_query_loses_its_stop_words_unless_it_has_nothing_else():
    assert query_terms("what is the borrow checker?") == ["borrow", "checker"]
    assert query_terms("The Who") == ["the", "who"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert finds("The Who", "a concert of The Who")


def test_a_stop_word_is_not_mistaken_for_the_stem_of_another_word():
    assert all(analyse(word) == [word] for word in STOP_WORDS)
    assert "doe" in query_terms("John Doe does")


def test_a_query_keeps_each_term_once_in_the_order_of_the_text():
    assert query_terms("zebra apple zebra Apples mango") == ["zebra", "appl", "mango"]


def test_a_long_query_is_cut():
    assert len(query_terms(" ".join(f"w{n}" for n in range(10_000)))) == MAX_QUERY_TERMS
    assert query_terms("word " * 100_000 + "needle") == ["word"]
    assert finds("x" * 100_000, "x" * MAX_QUERY_CHARACTERS)


def test_long_words_are_cut_alike_in_documents_and_queries():
    digest = "0123456789abcdef" * 8
    assert analyse(digest) == [digest[:MAX_TERM], digest[MAX_TERM:]]
    assert finds(digest, f"sha512: {digest}")


def test_the_longer_a_path_the_less_of_it_is_joined():
    assert "abcd" in analyse("a/b/c/d") and "abcd" not in analyse("/".join("abcdefghijk"))  # noqa: PT018 - a pair
    assert "fg" in analyse("/".join("abcdefghijk"))
    assert set(analyse("/".join(["node"] * 200))) == {"node"}


def test_the_memory_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "_MAX_MEMORY", 3)
    module._memory.clear()
    words = "alpha beta gamma delta epsilon alpha beta gamma"
    assert analyse(words) == analyse(words)
    assert len(module._memory) <= 3
    analyse("long" * 20)
    assert not any(len(raw) > 48 for raw in module._memory)


def test_the_identity_names_the_rules_and_the_stemmer():
    assert ANALYSER.startswith("dowse-")
    assert "snowball-" in ANALYSER


def test_loading_the_analyser_loads_nothing_heavy():
    heavy = "{'numpy', 'tantivy', 'tokenizers', 'onnxruntime', 'asyncio', 'yaml', 'rich'}"
    code = f"import sys, dowse.text.analyse; sys.exit(bool({heavy} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(ANY_TEXT)
@example("\ufdfa")
@example("İ" * 100)
@example("ΐ" * 64)
@example("ก" + "\u0e31" * 200)
@example("." + "a" * 64 + " " + "b" * 64 + "++")
def test_any_text_gives_storable_terms(text):
    for term in analyse(text):
        assert 0 < len(term) <= MAX_TERM
        assert not any(character.isspace() for character in term)
        assert term.encode()


@given(ANY_TEXT, ANY_TEXT)
def test_the_terms_of_two_lines_are_those_of_each(first, second):
    assert analyse(f"{first}\n{second}") == analyse(first) + analyse(second)


@given(ANY_TEXT)
def test_analysing_again_or_afresh_gives_the_same(text):
    once = analyse(text)
    module._memory.clear()
    assert analyse(text) == once


@given(ANY_TEXT)
def test_whatever_has_terms_can_be_asked_for(text):
    assert set(query_terms(text)) <= set(analyse(text))
    assert bool(query_terms(text)) == bool(analyse(text))


PART = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)


@given(st.lists(PART, min_size=2, max_size=5))
def test_every_way_to_write_an_identifier_finds_every_other(parts):
    camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
    written = [camel, "_".join(parts), "-".join(parts), ".".join(parts), "/".join(parts)]
    terms = set(analyse(written[0]))
    assert all(set(analyse(name)) == terms for name in written)
    assert set(analyse("".join(parts))) <= terms
    assert all(set(analyse(first + second)) <= terms for first, second in pairwise(parts))
