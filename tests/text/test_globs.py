"""Globs over paths, compared with a matcher that tries everything."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.text.globs import compile_glob


def matches(glob: str, path: str) -> bool:
    return compile_glob(glob).fullmatch(path) is not None


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("a.md", ["a.md"], ["a_md", "A.md", "b/a.md", "a.md/b", ""]),
        ("*.md", ["a.md", ".md"], ["a.txt", "b/a.md", "a.md.txt"]),
        ("notes/*.md", ["notes/a.md"], ["notes/b/a.md", "a.md"]),
        ("journals/2025-05*.md", ["journals/2025-05-01.md"], ["journals/2025-06-01.md"]),
        ("?.md", ["a.md", "é.md", "库.md"], [".md", "ab.md", "/.md"]),
        ("**", ["a", "a/b/c"], [""]),
        ("**/*.md", ["a.md", "b/a.md", "b/c/a.md"], ["a.txt"]),
        ("notes/**", ["notes/a.md", "notes/b/a.md"], ["notes", "notes2/a.md"]),
        ("notes/**/a.md", ["notes/a.md", "notes/b/c/a.md"], ["notesa.md", "notes/ba.md"]),
        ("**/b/**/a", ["b/a", "x/b/y/z/a", "b/b/a/a"], ["b", "a", "xb/a"]),
        ("b**/a", ["b/a", "bc/a"], ["ba", "b/c/a"]),
        ("[ab].md", ["a.md", "b.md"], ["c.md", "ab.md"]),
        ("[a-c]", ["b"], ["d", "-"]),
        ("[!a].md", ["b.md"], ["a.md", "/.md"]),
        ("[^a].md", ["b.md"], ["a.md"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[+-9]x", ["5x"], ["/x"]),
        ("[a&&b]", ["&", "a", "b"], ["c"]),
        ("[[:x]", ["[", ":", "x"], ["y"]),
        ("{a,b}.md", ["a.md", "b.md"], ["c.md", "{a,b}.md"]),
        ("{a,b/c}*.md", ["ax.md", "b/cx.md"], ["b.md"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"], ["b", "d"]),
        ("{,x}a", ["a", "xa"], ["xxa"]),
        ("{**/a,b}", ["a", "x/a", "b"], ["x/b"]),
        (r"a\*", ["a\\b"], ["a*"]),
        ("a.(b)+$|^", ["a.(b)+$|^"], []),
        ("*\n*", ["a\nb"], ["ab"]),
    ],
)
def test_each_sign_has_its_meaning(glob: str, yes: Sequence[str], no: Sequence[str]) -> None:
    assert [path for path in yes if not matches(glob, path)] == []
    assert [path for path in no if matches(glob, path)] == []


@pytest.mark.parametrize(
    "name", ["{id}.md", "{}", "a{b", "a}b", "[id", "[]", "[!]", "[z-a]", "a]", "[a/b]", "a-b", "!a"]
)
def test_what_is_no_glob_stands_for_itself(name: str) -> None:
    assert matches(name, name)


def test_a_glob_that_is_made_to_take_long_does_not() -> None:
    hostile = "**/" * 40 + "*a" * 40 + "/**/" + "**/a/" * 40 + "b"
    assert not matches(hostile, "a/" * 60 + "a" * 2_000)
    assert not matches("*a" * 60 + "b", "a" * 2_000)


def test_choices_may_not_multiply_beyond_reason() -> None:
    assert matches("{a,b}" * 8, "abababab")
    with pytest.raises(UsageError) as refusal:
        compile_glob("{a,b}" * 64)
    assert refusal.value.hint


# A naive matcher


def readings(glob: str) -> Iterator[str]:
    """Every reading: the first innermost braces with a comma, each choice in turn."""
    for start, sign in enumerate(glob):
        end = next((at for at in range(start + 1, len(glob)) if glob[at] in "{}"), None)
        if sign == "{" and end is not None and glob[end] == "}" and "," in glob[start:end]:
            for choice in glob[start + 1 : end].split(","):
                yield from readings(glob[:start] + choice + glob[end + 1 :])
            return
    yield glob


def segments_match(globs: Sequence[str], parts: Sequence[str]) -> bool:
    if not globs:
        return not parts
    if globs[0] == "**":
        if len(globs) == 1:
            return "/".join(parts) != ""
        return any(segments_match(globs[1:], parts[at:]) for at in range(len(parts) + 1))
    return bool(parts) and segment_matches(globs[0], parts[0]) and segments_match(globs[1:], parts[1:])


def segment_matches(glob: str, text: str) -> bool:
    if not glob:
        return not text
    if glob[0] == "*":
        return segment_matches(glob[1:], text) or (bool(text) and segment_matches(glob, text[1:]))
    length, allowed = first_sign(glob)
    taken = len(allowed) if isinstance(allowed, str) else 1
    fits = text.startswith(allowed) if isinstance(allowed, str) else text[:1] in allowed
    return fits and segment_matches(glob[length:], text[taken:])


ALPHABET = "ab-]![{},*?^/"


def first_sign(glob: str) -> tuple[int, str | set[str]]:
    """How long the first sign is, and the text or one of the characters that it stands for."""
    if glob[0] == "?":
        return 1, set(ALPHABET) - {"/"}
    first = 2 if glob[1:2] in ("!", "^") else 1
    end = glob.find("]", first + 1)
    if glob[0] != "[" or end < 0:
        return 1, glob[0]
    inside, members = glob[first:end], set()
    while inside:
        low, high = (inside[0], inside[2]) if inside[1:2] == "-" and len(inside) > 2 else (inside[0], inside[0])
        if low > high:
            return end + 1, glob[: end + 1]
        members |= {sign for sign in ALPHABET if low <= sign <= high}
        inside = inside[3:] if inside[1:2] == "-" and len(inside) > 2 else inside[1:]
    return end + 1, (set(ALPHABET) - members if first == 2 else members) - {"/"}


def naive(glob: str, path: str) -> bool:
    return any(segments_match(reading.split("/"), path.split("/")) for reading in readings(glob))


globs = st.one_of(
    st.text("ab*?/", max_size=8),
    st.text(ALPHABET, max_size=8),
    st.text("ab-]![^*", max_size=8).map("[{}]".format),
    st.lists(st.sampled_from(["**", "*", "a", "b", "a*", "?", "[ab]", "{a,b}", "*a*b", ""]), max_size=5).map("/".join),
)
paths = st.text("ab/", max_size=8) | st.text(ALPHABET, max_size=6)


@settings(max_examples=400)
@given(glob=globs, path=paths)
@example(glob="**//**", path="a")
@example(glob="a/**/", path="a/b")
@example(glob="**/a/**/b/**", path="a/a/b/b/b")
def test_a_glob_matches_what_trying_everything_matches(glob: str, path: str) -> None:
    assert matches(glob, path) == naive(glob, path)


@given(glob=st.text(ALPHABET + "é库\\.^$()+|&~#\n", max_size=30), path=st.text(max_size=20))
def test_no_glob_breaks_anything(glob: str, path: str) -> None:
    try:
        compile_glob(glob).fullmatch(path)
    except UsageError:
        assert glob.count("{") > 1
