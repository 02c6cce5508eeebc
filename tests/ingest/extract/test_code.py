"""Source code keeps its lines; functions and classes decide what shares a chunk, with a grammar or without."""

import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, format_of, media_type_of
from dowse.ingest.extract.code import parsing, variant
from dowse.ingest.extract.code.grammars import LANGUAGES
from dowse.ingest.extract.code.outline import assemble
from dowse.ingest.extract.encoding import decode
from dowse.text.tokens import TokenCounter
from dowse.types import Chunk, Chunking
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.code_samples import PYTHON, SAMPLES, Sample
from ingest.extract.damaging import mutated, survives_being_cut_off

ROOT = Path(__file__).resolve().parents[3]
WORDS = TokenCounter(None)
unhurried = settings(deadline=None)
each_language = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)


def read(source: str, media_type: str = "text/x-python", name: str = "some file") -> Extracted:
    return check(extract(source.encode(), media_type, name))


def units(extracted: Extracted) -> list[tuple[str, str]]:
    """The classes and functions of the units."""
    return [
        (str(unit.place.get("class_name", "")), str(unit.place.get("function_name", ""))) for unit in extracted.units
    ]


def text_of(extracted: Extracted, class_name: str, function_name: str) -> str:
    """The text of the first unit with this place."""
    at = units(extracted).index((class_name, function_name))
    ends = [*(unit.start for unit in extracted.units[1:]), len(extracted.text)]
    return extracted.text[extracted.units[at].start : ends[at]].strip("\n")


def chunks_of(source: str, max_tokens: int = 256, media_type: str = "text/x-python") -> tuple[Chunk, ...]:
    return chunk(read(source, media_type), WORDS, Chunking(max_tokens=max_tokens))


@contextmanager
def without(module: str) -> Iterator[None]:
    """As if this module were not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module, None)
        parsing.is_installed.cache_clear()
        yield
    parsing.is_installed.cache_clear()


@pytest.fixture
def no_grammars():
    with without("tree_sitter"):
        yield


@each_language
def test_each_function_and_class_is_a_unit_with_its_names(sample: Sample):
    extracted = read(sample.source, sample.media_type)
    assert units(extracted) == sample.units
    assert extracted.text == sample.source
    assert extracted.title is None
    assert extracted.metadata == {"language": sample.language}


@each_language
def test_without_a_grammar_the_look_of_lines_finds_nearly_the_same(sample: Sample, no_grammars):
    found = units(read(sample.source, sample.media_type))
    needs_a_grammar = {"javascript": {("", "open"), ("Account", "close")}, "typescript": {("Account", "close")}}
    named = {place for place in sample.units if place[1]} - needs_a_grammar.get(sample.language, set())
    assert named <= set(found)
    assert {place[0] for place in sample.units} == {place[0] for place in found}


@each_language
def test_chunks_lie_in_one_unit_and_have_true_lines(sample: Sample):
    extracted = read(sample.source, sample.media_type)
    lines = sample.source.split("\n")
    for limit in (16, 256):
        for passage in chunk(extracted, WORDS, Chunking(max_tokens=limit)):
            assert passage.text == sample.source[passage.start : passage.end]
            assert passage.text.split("\n")[0] in lines[passage.first_line - 1]
            assert passage.text.split("\n")[-1] in lines[passage.last_line - 1]
            inside = [unit for unit in extracted.units if passage.start < unit.start < passage.end]
            assert not inside


@pytest.mark.parametrize("language", [row for row in LANGUAGES.values() if row.package], ids=lambda row: row.name)
def test_the_table_knows_only_kinds_of_nodes_that_the_grammar_has(language):
    grammar = parsing._grammar(language.package, language.entry)
    assert grammar
    listed = {*language.roles, *language.values, *language.docstring} - {""}
    assert not {kind for kind in listed if grammar.id_for_node_kind(kind, True) is None}


def test_comments_decorators_and_docstrings_stay_with_their_function():
    extracted = read(PYTHON)
    assert text_of(extracted, "", "open_vault").startswith(
        "# Opens the vault.\n@audited(level=2)\nasync def open_vault"
    )
    assert text_of(extracted, "", "open_vault").endswith("    return inner()")
    assert text_of(extracted, "Account", "").endswith('    currency = "EUR"')
    assert text_of(extracted, "Account", "deposit").startswith("    # Adds money.\n    @property\n    def deposit")


def test_statements_of_a_long_function_are_borders_and_its_docstring_is_none():
    source = long_function(30)
    outline = parsing.outline_by_parser(source, LANGUAGES["python"])
    assert outline
    assert outline.borders[:3] == [0, source.index("    value_0"), source.index("    value_1")]


@pytest.mark.parametrize(
    ("media_type", "source", "expected"),
    [
        ("text/x-c", "typedef struct node {\n  int a;\n} Node;\n", [("Node", "")]),
        ("text/x-c", "void (*handler(int n))(int) {\n}\n", [("", "handler")]),
        ("text/x-c++", "A::operator int() {\n}\n", [("A", "operator int")]),
        ("text/x-c++", "bool a::B<int>::operator<(B o) {\n}\n", [("a.B", "operator<")]),
        ("text/x-go", "package a\nfunc (l *List[T]) Push() {\n}\n", [("", ""), ("List", "Push")]),
        ("text/x-rust", "impl<'a> Read for &'a mut io::File {\n  fn read() {}\n}\n", [("File", ""), ("File", "read")]),
        ("text/x-c++", "void B::operator()(int a) {\n}\n", [("B", "operator()")]),
        ("text/x-ruby", "class A::B\n  private def m\n  end\nend\n", [("A.B", ""), ("A.B", "m")]),
        ("text/x-swift", "extension A.B: P {\n  func f() {\n  }\n}\n", [("A.B", ""), ("A.B", "f")]),
        ("text/x-php", "<?php\n$f = function () {\n  return 1;\n};\n", [("", ""), ("", "f")]),
        ("text/x-kotlin", "class A {\n  companion object {\n    fun f() {}\n  }\n}\n", [("A", ""), ("A", "f")]),
        ("text/x-csharp", "class A {\n  public static A operator +(A a) {\n  }\n}\n", [("A", ""), ("A", "operator")]),
        ("text/javascript", "module.exports = function () {\n  return 1;\n};\n", [("", "")]),
        ("text/javascript", "export default {\n  data() {\n    return 1;\n  },\n};\n", [("", ""), ("", "data")]),
        ("text/typescript", "const A = class {\n  m() {\n  }\n};\n", [("A", ""), ("A", "m")]),
        ("text/typescript", "function f(a: string): void;\nfunction f(a) {\n}\n", [("", ""), ("", "f")]),
    ],
)
def test_names_come_from_wherever_a_language_puts_them(media_type, source, expected):
    assert units(read(source, media_type)) == expected


@pytest.mark.parametrize(
    ("media_type", "place", "opening"),
    [
        ("text/x-rust", ("Account", ""), "/// Money of one owner.\n#[derive(Debug)]\npub struct"),
        ("text/x-rust", ("Account", "fmt"), "    /// Shows it.\n    #[inline]\n    fn fmt"),
        ("text/typescript", ("Account", ""), "/** Money of one owner. */\n@Entity({ name: 'account' })\nexport class"),
        ("text/typescript", ("Account", "deposit"), "  @audited()\n  async deposit"),
        ("text/x-java", ("Account", "deposit"), "    /** Adds money. */\n    @Override\n    public void deposit"),
        ("text/x-c", ("", "deposit"), "/* Adds money. */\nstatic int\ndeposit("),
        ("text/x-c++", ("Account", ""), "// Money of one owner.\ntemplate <typename T>\nclass Account"),
        ("text/x-csharp", ("Account", ""), "    /// <summary>Money of one owner.</summary>\n    [Serializable]\n"),
        ("application/sql", ("bank.account", ""), "-- Money of one owner.\nCREATE TABLE"),
    ],
)
def test_what_stands_above_a_definition_belongs_to_it(media_type, place, opening):
    source = next(sample.source for sample in SAMPLES if sample.media_type == media_type)
    assert text_of(read(source, media_type), *place).startswith(opening)


def test_a_comment_apart_from_the_function_below_is_not_its_own():
    extracted = read("import os  # trailing\ndef f():\n    pass\n\n\n# A part of its own.\n\ndef g():\n    pass\n")
    assert units(extracted) == [("", ""), ("", "f"), ("", ""), ("", "g")]
    assert text_of(extracted, "", "f").startswith("def f")


def test_a_closing_brace_ends_the_unit_above_and_is_none_of_its_own():
    source = "class A {\n  void m() {\n    f();\n  }\n}\n\nclass B {\n}\n"
    extracted = read(source, "text/x-java")
    assert units(extracted) == [("A", ""), ("A", "m"), ("B", "")]
    assert text_of(extracted, "A", "m").endswith("  }\n}")


def test_several_definitions_on_one_line_are_one_unit():
    extracted = read("function a() {} function b() {}\nfunction c() {\n}\n", "text/javascript")
    assert units(extracted) == [("", "a"), ("", "c")]


def test_small_statements_beside_each_other_share_a_chunk():
    passages = chunks_of("import os\nimport sys\n\nA = 1\n\nB = 2\n")
    assert [passage.text for passage in passages] == ["import os\nimport sys\n\nA = 1\n\nB = 2"]


def long_function(statements: int) -> str:
    body = "".join(f"    value_{n} = compute(\n        {n},\n    )\n" for n in range(statements))
    return f'@cached\ndef long(a, b):\n    """What it does.\n\n    At length.\n    """\n{body}    return 1\n'


def test_a_long_function_is_cut_between_statements_and_stays_one_place():
    passages = chunks_of(f"{long_function(80)}\n\ndef short():\n    pass\n", max_tokens=100)
    assert len(passages) > 3
    assert [passage.place.get("function_name") for passage in passages] == ["long"] * (len(passages) - 1) + ["short"]
    assert passages[0].text.startswith('@cached\ndef long(a, b):\n    """What it does.\n\n    At length.\n    """')
    assert all(passage.text.startswith("    value_") for passage in passages[1:-1])
    assert all(passage.text.endswith("    )") for passage in passages[:-2])


def test_headings_are_the_classes_and_the_function_around():
    passages = chunks_of(PYTHON)
    assert [(passage.headings, passage.level) for passage in passages] == [
        ((), 0),
        (("open_vault",), 1),
        (("Account",), 1),
        (("Account", "deposit"), 2),
        (("Account", "History"), 2),
        (("Account", "History", "entries"), 3),
        ((), 0),
        (("lock",), 1),
        ((), 0),
        (("lock",), 1),
        ((), 0),
    ]


@pytest.mark.parametrize("limit", [16, 256])
@each_language
def test_headings_and_places_say_the_same(sample: Sample, limit):
    for passage in chunks_of(sample.source, limit, sample.media_type):
        assert ".".join(passage.headings) == ".".join(map(str, passage.place.values()))
        assert passage.level == len(passage.headings)


NESTED = ("C0", "C1", "C2", "C3", "C4", "C5")


@pytest.mark.parametrize(
    ("media_type", "source", "expected"),
    [
        (
            "text/x-go",
            "func Open() {\n}\n\nfunc (a *Account) Deposit() {\n}\n\nfunc (a *Account) Close() {\n}\n",
            [("Open",), ("Account", "Deposit"), ("Account", "Close")],
        ),
        (
            "text/x-c++",
            "void Ledger::a() {}\nvoid Ledger::b() {}\nvoid Ledger::c() {\n}\nint x;\n",
            [("Ledger.a",), ("Ledger.b",), ("Ledger", "c"), ()],
        ),
        (
            "text/x-python",
            "".join(f"{' ' * depth}class C{depth}:\n{' ' * depth} x = 1\n" for depth in range(8)) + "y = 1\n",
            [
                *(NESTED[:depth] for depth in range(1, 7)),
                (*NESTED[:5], "C5.C6"),
                (*NESTED[:5], "C5.C6.C7"),
                (),
            ],
        ),
    ],
    ids=["receivers", "one line for two names", "more names than levels"],
)
def test_headings_fit_into_lines_and_levels(media_type, source, expected):
    assert [passage.headings for passage in chunks_of(source, media_type=media_type)] == expected


def test_a_long_function_keeps_its_headings():
    passages = chunks_of(f"class A:\n    x = 1\n\n{indented(long_function(60))}", max_tokens=100)
    assert len(passages) > 3
    assert {passage.headings for passage in passages[1:]} == {("A", "long")}
    assert {tuple(passage.place.values()) for passage in passages[1:]} == {("A", "long")}


def test_a_long_statement_is_cut_between_its_own_parts():
    inner = "".join(f"        total_{n} = compute_something_with({n}, {n + 1})\n" for n in range(60))
    passages = chunks_of(f"def run():\n    for item in items:\n{inner}    return 1\n", max_tokens=100)
    assert len(passages) > 2
    assert all(passage.text.startswith("        total_") for passage in passages[1:])


def test_markers_of_a_merge_do_not_lose_the_functions():
    source = PYTHON.replace("LIMIT = Decimal(100)", "<<<<<<< HEAD\nLIMIT = 1\n=======\nLIMIT = 2\n>>>>>>> topic")
    assert {("", "open_vault"), ("Account", "deposit"), ("Account.History", "entries")} <= set(units(read(source)))


def test_half_a_file_keeps_its_classes():
    source = PYTHON[: PYTHON.index("    class History")] + "    def broken(self, (\n"
    assert ("Account", "deposit") in units(read(source))


def test_a_template_of_code_is_read():
    assert ("", "made") in units(read("{% if x %}\nimport os\n{% endif %}\n\n\ndef made():\n    return {{ value }}\n"))


def test_procedures_that_the_grammar_of_sql_does_not_know_are_found():
    source = (
        "DELIMITER //\nCREATE PROCEDURE `raise`(IN a INT)\nBEGIN\n  SELECT a;\nEND //\n\nCREATE VIEW v AS SELECT 1;\n"
    )
    assert units(read(source, "application/sql")) == [("", ""), ("", "raise"), ("v", "")]


def test_a_header_is_of_the_language_that_it_is_written_in():
    plus = read("class A {\npublic:\n  int m() {\n    return 1;\n  }\n};\n", "text/x-c", "a.h")
    plain = read("struct a {\n  int class_of;\n};\n", "text/x-c", "a.h")
    assert plus.metadata == {"language": "cpp"}
    assert units(plus) == [("A", ""), ("A", "m")]
    assert plain.metadata == {"language": "c"}


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_other_systems_change_nothing(newline):
    assert read(PYTHON.replace("\n", newline)) == read(PYTHON)


def test_other_encodings_are_read():
    source = "# größe\ndef maß():\n    return 'ä'\n"
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        extracted = check(extract(source.encode(encoding), "text/x-python", "a.py"))
        assert extracted.text == source
        assert units(extracted) == [("", "maß")]


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(SourceError) as caught:
        extract(b"def f():\0\0\0", "text/x-python", "a.py")
    assert caught.value.reason == "binary"


@pytest.mark.parametrize("source", ["", "\n\n", " \t\n", "\x0c"])
@each_language
def test_nothing_gives_nothing(sample: Sample, source):
    extracted = read(source, sample.media_type)
    assert extracted.blocks == extracted.units == ()


@pytest.mark.parametrize(
    "source",
    [
        "(" * 100_000,
        "(" * 100_000 + ")" * 100_000,
        "[{" * 50_000,
        "/*" * 50_000,
        "a<" * 50_000,
        "function a(b){return b}" * 250_000,
        "x" * 2_000_000,
        "f(a)\n" * 200_000,
        "function f() {\n  return 1;\n}\n\n" * 36_000,
    ],
    ids=lambda source: source[:12],
)
def test_what_programs_write_is_read_in_bounded_time(source):
    read(source, "text/javascript")


def test_a_long_file_is_still_cut_along_its_functions():
    extracted = read("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(35_000)))
    assert units(extracted) == [("", f"f{n}") for n in range(35_000)]


def test_a_parser_that_is_late_is_given_up(monkeypatch):
    monkeypatch.setattr(parsing, "_CPU_SECONDS", 0.0)
    assert parsing.outline_by_parser(PYTHON, LANGUAGES["python"]) is None


def test_a_grammar_that_does_not_fit_is_as_if_it_were_missing():
    assert parsing._grammar("json", "language") is None
    assert parsing._grammar("no_such_package", "language") is None
    assert not parsing.is_installed("no_such_package")


@pytest.mark.parametrize("missing", ["tree_sitter", "tree_sitter_python"])
def test_a_missing_grammar_costs_the_tree_of_its_language_alone(missing):
    with without(missing):
        assert parsing.outline_by_parser(PYTHON, LANGUAGES["python"]) is None
        assert ("Account", "deposit") in units(read(PYTHON))
        others = parsing.outline_by_parser("package a\n", LANGUAGES["go"])
        assert (others is None) == (missing == "tree_sitter")


def test_a_recipe_can_tell_with_which_grammars_files_are_read():
    assert variant("text/x-python") == "+python"
    assert variant("text/x-c") == "+c+cpp"
    assert variant("text/x-makefile") == variant("text/markdown") == ""
    with without("tree_sitter_cpp"):
        assert [variant(each) for each in ("text/x-c", "text/x-c++", "text/x-go")] == ["+c", "", "+go"]
    with without("tree_sitter"):
        assert {variant(sample.media_type) for sample in SAMPLES} == {""}


def test_the_extra_has_every_grammar_and_each_has_its_row():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = {re.split("[<>=]", requirement)[0] for requirement in project["optional-dependencies"]["code"]}
    packages = {language.package.replace("_", "-") for language in LANGUAGES.values() if language.package}
    assert extra == {"tree-sitter", *packages}
    page = (ROOT / "docs" / "decisions" / "0006-dependencies.md").read_text(encoding="utf-8")
    assert not [name for name in extra if name not in page]


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a/b.py", "text/x-python"),
        ("lib.rs", "text/x-rust"),
        ("App.TSX", "text/tsx"),
        ("index.mjs", "text/javascript"),
        ("x.hpp", "text/x-c++"),
        ("Makefile", "text/x-makefile"),
        ("docker/Dockerfile", "text/x-dockerfile"),
        ("Gemfile", "text/x-ruby"),
    ],
)
def test_names_give_the_language(name, media_type):
    assert media_type_of(name) == media_type
    row = format_of(media_type)
    assert row
    assert row.family == "code"


def test_every_reader_of_the_table_is_there():
    module = import_module("dowse.ingest.extract.code")
    assert set(module.__all__) == {"variant", *(f"extract_{name}" for name in LANGUAGES)}
    assert all(callable(getattr(module, name)) for name in module.__all__)
    assert {sample.language for sample in SAMPLES} == set(LANGUAGES)


NAME = st.sampled_from(["alpha", "beta", "gamma", "Delta", "épsilon"])
STATEMENT = st.sampled_from(
    ["x = 1", "import os", "# a comment", "print('''\n\ndef no():\n''')", "", "if x:\n    y = 2"]
)


def indented(source: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in source.rstrip("\n").split("\n"))


@st.composite
def modules(draw, depth: int = 0) -> tuple[str, list[tuple[str, str]]]:
    """A Python module and its functions, by (class, function)."""
    source, functions = "", []
    for _ in range(draw(st.integers(0, 4))):
        kind, name = draw(st.sampled_from(["statement", "function", "class"])), draw(NAME)
        if kind == "statement" or (kind == "class" and depth > 1):
            source += draw(STATEMENT) + "\n"
        elif kind == "function":
            decorator = draw(st.sampled_from(["", "@decorated\n", "# comment\n"]))
            source += f"{decorator}def {name}(a):\n{indented(draw(STATEMENT) + chr(10) + 'return a')}"
            functions.append(("", name))
        else:
            body, inner = draw(modules(depth + 1))
            source += f"class {name}:\n{indented(body + 'pass')}"
            functions += [(f"{name}.{path}" if path else name, function) for path, function in inner]
    return source, functions


@unhurried
@given(modules())
@example(("", []))
def test_every_function_of_any_module_is_one_unit(made):
    source, functions = made
    assert [place for place in units(read(source)) if place[1]] == functions


@pytest.mark.parametrize("with_grammar", [True, False])
@each_language
def test_a_file_that_is_cut_off_anywhere_is_read(sample: Sample, with_grammar):
    with nullcontext() if with_grammar else without("tree_sitter"):
        survives_being_cut_off(sample.source.encode(), sample.media_type)


JUNK = tuple(
    word.encode() for word in ("(", "{", "}", '"""', "'", "/*", "<<EOF\n", "`${", "#{", "\\", "class ", "end\n")
)
DAMAGED = st.sampled_from(SAMPLES).flatmap(
    lambda sample: st.tuples(st.just(sample.media_type), mutated(sample.source.encode(), JUNK))
)


@settings(deadline=None, max_examples=200)
@given(DAMAGED)
def test_damaged_code_is_read_or_refused(made):
    media_type, data = made
    result = read_or_refuse(data, media_type)
    if isinstance(result, Extracted):
        for passage in chunk(result, WORDS, Chunking(max_tokens=16)):
            assert ".".join(passage.headings) == ".".join(map(str, passage.place.values()))


@unhurried
@given(st.sampled_from(SAMPLES), st.text() | st.binary())
def test_any_text_is_kept_and_any_bytes_are_read_or_refused(sample, content):
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    result = read_or_refuse(data, sample.media_type)
    assert isinstance(result, SourceError) or result.text == decode(data, "some file")


@settings(deadline=None, max_examples=300)
@given(DAMAGED)
def test_no_tree_is_too_broken_to_be_outlined(made):
    media_type, data = made
    language = next(sample.language for sample in SAMPLES if sample.media_type == media_type)
    text = data.replace(b"\r", b"\n").replace(b"\0", b"").decode("utf-8", "replace")
    outline = parsing.outline_by_parser(text, LANGUAGES[language])
    if outline:
        check(assemble(text, outline, language))


@settings(deadline=None, max_examples=200)
@given(DAMAGED)
def test_damaged_code_is_read_without_grammars_too(made):
    media_type, data = made
    with without("tree_sitter"):
        read_or_refuse(data, media_type)
