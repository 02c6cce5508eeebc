"""Changing one place of somebody else's file: everything else stays, byte by byte, and it can be undone."""

import json
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.interfaces.connect import json_text, toml_text
from dowse.interfaces.connect.text import BadTextError

ENTRY = {"type": "stdio", "command": "/opt/dowse", "args": ["mcp", "--allow-root", '/home/ä "b"']}
PATH = ("mcpServers", "dowse")

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""

NAMES = st.text(st.sampled_from("abxyz é-/"), min_size=1, max_size=4).filter(lambda name: name not in PATH)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "a", "// no", "/* no */", '"{}'])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(NAMES, inner, max_size=2)),
    max_leaves=6,
)


@st.composite
def written(draw: st.DrawFn, value: object, newline: str = "\n") -> str:
    """The value as somebody might write it: with comments, white space and trailing commas anywhere."""
    gaps = st.sampled_from(
        ["", " ", "  ", newline, f"{newline}\t", f' // x,}} "{newline}', " /* a */ ", f"/*{newline}*/"]
    )

    def gap() -> str:
        return draw(gaps)

    def write(value: object) -> str:
        if not isinstance(value, dict | list) or not value:
            return json.dumps(value, ensure_ascii=False)
        items = (
            [f"{json.dumps(key)}{gap()}:{gap()}{write(each)}" for key, each in value.items()]
            if isinstance(value, dict)
            else [write(each) for each in value]
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        last = gap() + ("," if draw(st.booleans()) else "") + gap()
        return opening + gap() + f"{gap()},{gap()}".join(items) + last + closing

    return gap() + write(value) + gap()


@st.composite
def json_files(draw: st.DrawFn) -> tuple[dict[str, object], str]:
    """What a file says, and its text; there may be servers in it already."""
    value: dict[str, object] = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    servers = draw(st.none() | st.dictionaries(NAMES, VALUES, max_size=3))
    if servers is not None:
        value = {**value, "mcpServers": servers}
        value = dict(draw(st.permutations(list(value.items()))))
    return value, draw(written(value, draw(st.sampled_from(["\n", "\r\n"]))))


@unhurried
@given(json_files())
def test_a_member_is_added_to_json_and_nothing_else_changes(file):
    value, text = file
    new = json_text.put(text, PATH, ENTRY)
    assert json_text.read(new) == {**value, "mcpServers": {**(value.get("mcpServers") or {}), "dowse": ENTRY}}
    left = iter(new)
    assert all(character in left for character in text), "every character is still there, in its order"


@unhurried
@given(json_files())
def test_a_member_that_was_added_beside_others_leaves_no_trace_when_it_is_removed(file):
    value, text = file
    there = value.get("mcpServers") or (value if "mcpServers" not in value else None)
    gone = json_text.remove(json_text.put(text, PATH, ENTRY), PATH if value.get("mcpServers") else PATH[:1])
    assert json_text.read(gone) == ({key: each for key, each in value.items() if key != "mcpServers" or each})
    if there:
        assert gone == text


@unhurried
@given(json_files())
def test_adding_twice_is_adding_once(file):
    new = json_text.put(file[1], PATH, ENTRY)
    assert json_text.put(new, PATH, ENTRY) == new


@unhurried
@given(json_files(), VALUES)
def test_only_the_value_that_differs_is_written_anew(file, other):
    _, text = file
    text = json_text.put(text, PATH, {"command": "/old", "mine": other})
    new = json_text.put(text, PATH, {"command": "/new"})
    assert new == text.replace('"/old"', '"/new"')


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ('{"a": 1,,}', 1),
        ("[1, 2]", 1),
        ('{"a": "\n"}', 1),
        ('{"a": 1} {"b": 2}', 1),
        ("{\n/* open", 2),
        ('{"a": \\u0031}', 1),
        ('{"a": "\\x"}', 1),
        ("{'a': 1}", 1),
        ('{"a": 01}', 1),
        ('{"a": NaN}', 1),
        ('\n{"mcpServers": []}', 2),
        ('{"mcpServers": "none"}', 1),
        ('{"a":' * 500, 1),
    ],
)
def test_what_is_no_json_with_an_object_there_is_refused_with_its_line(text, line):
    with pytest.raises(BadTextError, match=f"^line {line}: "):
        json_text.put(text, PATH, ENTRY)


@unhurried
@given(st.text(st.sampled_from('{}[]",:/*\\ \n1atrue'), max_size=30))
def test_any_text_is_changed_rightly_or_refused(text):
    try:
        new = json_text.put(text, PATH, ENTRY)
    except BadTextError:
        return
    assert json_text.read(new)["mcpServers"]["dowse"] == ENTRY


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{ // x\n"d": {}}', "{ // x\n}"),
        ('{ // x\n"d": {}, "b": 2\n}', '{ // x\n "b": 2\n}'),
        ('{\n  "a": 1, // of a\n  "d": {}\n}', '{\n  "a": 1 // of a\n}'),
        ('{ "d": 1, "d": {}, }', "{}"),
        ('{\n  "d": {\n  },\n  "b": 2\n}', '{\n  "b": 2\n}'),
    ],
)
def test_what_is_removed_takes_nothing_else_along(before, after):
    assert json_text.remove(before, ("d",)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "k": {\n    "d": {\n      "c": 1\n    }\n  }\n}\n'),
        ("// only a remark\n", '// only a remark\n{\n  "k": {\n    "d": {\n      "c": 1\n    }\n  }\n}\n'),
        ('{"k": {"a": 1}}', '{"k": {"a": 1, "d": {"c": 1}}}'),
        ('{\n\t"k": {} // none\n}', '{\n\t"k": {\n\t\t"d": {\n\t\t\t"c": 1\n\t\t}\n\t} // none\n}'),
        (
            '{\n  "k": {\n    "a": 1 // of a\n    // of none\n  }\n}',
            '{\n  "k": {\n    "a": 1, // of a\n    "d": {\n      "c": 1\n    }\n    // of none\n  }\n}',
        ),
        ('{\r\n "k": {\r\n },\r\n}', '{\r\n "k": {\r\n  "d": {\r\n   "c": 1\r\n  }\r\n },\r\n}'),
    ],
)
def test_what_is_added_looks_like_its_surroundings(before, after):
    assert json_text.put(before, ("k", "d"), {"c": 1}) == after


TOML_ENTRY = {"command": "/opt/dowse", "args": ["mcp", "--name", 'a "b" \\ é'], "env": {"A_B": "1", "c d": ""}}
TOML_PATH = ("mcp_servers", "dowse")
TOML_PIECES = st.sampled_from(
    [
        'model = "o3"  # [mcp_servers.dowse]',
        "",
        "# a remark",
        'text = """\n[mcp_servers.dowse]\nx = 1 # "\n"""',
        "lines = [\n  1, # one ]\n  2,\n]",
        "'odd key' = { a = [1, 2], b = '#' }",
        "quotes = '''it's ''''",
        'q2 = """a\\""""',
    ]
)
TOML_TABLES = st.sampled_from(
    [
        "[mcp_servers.other]\ncommand = 'x'",
        '[mcp_servers."b.c"]\ncommand = "x"\n# at its end',
        "[mcp_servers.zeta.env]\nA = '1'",
        "[tui]\nnotifications = true",
        "[[profiles]]\nname = 'a'\n\n[[profiles]]\nname = 'b'",
        "[mcp_servers.dowse2]\nx = 1",
    ]
)


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """A text of lines and tables, each at most once."""
    pieces = draw(st.lists(TOML_PIECES, unique=True)) + draw(st.lists(TOML_TABLES, unique=True))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return "".join(f"{piece}\n" for piece in pieces).replace("\n", newline)


@unhurried
@given(toml_files())
def test_a_table_is_added_to_toml_and_removed_without_a_trace(text):
    new = toml_text.put(text, TOML_PATH, TOML_ENTRY)
    assert new.startswith(text)
    assert tomllib.loads(new)["mcp_servers"]["dowse"] == TOML_ENTRY
    assert toml_text.put(new, TOML_PATH, TOML_ENTRY) == new
    assert toml_text.remove(new, TOML_PATH) == text
    later = f"{new}\n[later]\nx = 1\n"
    assert tomllib.loads(toml_text.remove(later, TOML_PATH)) == {**tomllib.loads(text), "later": {"x": 1}}


@unhurried
@given(toml_files(), toml_files())
def test_only_the_lines_that_differ_are_written_anew(before, after):
    try:
        tomllib.loads(before + after)
    except tomllib.TOMLDecodeError:
        return
    table = '[mcp_servers.dowse]  # mine\n# why\ncommand = "/old" # where\nmine = true\nargs = [\n  "mcp", # so\n]\n'
    if not after.startswith(("[", "#")) and after.strip():
        return
    text = before + table + after
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    new = toml_text.put(text, TOML_PATH, {"command": "/new", "args": ["mcp"]})
    assert new == text.replace('"/old"', '"/new"')


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } }\n",
        "mcp_servers = 1\n",
        "[mcp_servers]\ndowse = { command = 'dowse', args = ['mcp'] }\n",
        "mcp_servers.dowse.command = 'dowse'\n",
        "[mcp_servers.dowse]\ncommand = 'dowse'\n[mcp_servers.dowse.env]\nA = '2'\n",
        "a = 1\nb = = 2\n",
        "[a\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused_with_a_line(text):
    with pytest.raises(BadTextError, match=r"^line \d+: "):
        toml_text.put(text, TOML_PATH, TOML_ENTRY)


def test_tables_below_ours_leave_with_it():
    text = "[mcp_servers.dowse]\ncommand = 'x'\n\n[mcp_servers.dowse.env]\nA = '1'\n\n# of the next\n[next]\nb = 2\n"
    assert toml_text.remove(text, TOML_PATH) == "\n# of the next\n[next]\nb = 2\n"
