"""The outline of source code without a syntax tree: definitions by the look of their first lines.

For files whose grammar is not installed, that are too long or too broken to be parsed, and for languages
without a grammar. Indents say what belongs to what, as they do for people; a definition ends where
something less indented stands below an empty line.
"""

import re
from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from dowse.ingest.extract.code.outline import Mark, Outline

__all__ = ["outline_by_lines"]

# Quantifiers are possessive or bounded: a line may be megabytes long.
_MODIFIERS = (
    r"(?:(?:abstract|async|class(?=[ \t]++func\b)|const|data|declare|default|export|extern|fileprivate|final|inline"
    r"|inner|internal|local|mutating|open|override|partial|private|protected|pub(?:\(\w{1,20}\))?|public|readonly"
    r"|sealed|static|suspend|unsafe|virtual|@\w++(?:\([^)\n]{0,80}\))?)[ \t]++){0,6}+"
)
_BY_KEYWORD = (
    rf"{_MODIFIERS}(?:"
    r"(?:def|fn|fun|func|function)\b[ \t]*+[*]?+[ \t]*+(?:<[^\n>]{0,80}>[ \t]*+)?"
    r"(?:\((?:\w++[ \t]++)?[*]?(?P<receiver>\w++)[^)\n]{0,80}\)[ \t]*+)?(?:\w++\.){0,4}+(?P<function>[\w$]++[?!]?)"
    r"|impl\b(?:<[^\n{]{0,80}?>)?[ \t]++(?:[\w:<>'&, \t]{1,120}?[ \t]for[ \t]++)?"
    r"(?:&(?:'\w++[ \t]++)?(?:mut[ \t]++)?)?(?:\w++::){0,6}+(?P<type>\w++)"
    r"|(?:(?:enum[ \t]++)?(?:class|struct)|enum|interface|trait|object|protocol|extension|module|record|union"
    r"|type(?=[ \t]++\w++[ \t]++(?:struct|interface)\b))[ \t]++(?P<class>[\w$.:]++)"
    r")"
)
_OR_MADE = rf"(?:{_BY_KEYWORD}|{_MODIFIERS}(?P<maker>init|deinit|constructor|subscript)[?!]?[ \t]*+[(<{{])"
_NO_NAMES = r"(?!(?:case|catch|delete|do|else|for|goto|if|new|return|switch|throw|typedef|using|while|with)\b)"
_BY_SHAPE = (
    rf"(?:{_MODIFIERS}(?:(?:enum[ \t]++)?(?:class|struct)|enum|interface|record|union)[ \t]++(?P<class>\w++)"
    rf"|{_NO_NAMES}(?:[A-Za-z_@][\w<>\[\],.:*&~?@ \t]{{0,160}}?(?:[ \t*&]|\n(?=\w))|(?=[^\n]{{0,300}}[{{,(:][ \t]*$))"
    rf"{_NO_NAMES}(?P<function>~?[A-Za-z_][\w:~]{{0,100}})[ \t]*+\()(?![^\n]{{0,300}};[ \t]*$)"
)
_ECMASCRIPT = (
    rf"(?:{_BY_KEYWORD}"
    r"|(?:export[ \t]++)?(?:const|let|var)[ \t]++(?P<bound>[\w$]++)[^=\n]{0,80}=[ \t]*+(?:async[ \t]++)?"
    r"(?:function\b|\w++[ \t]*+=>|\([^\n]{0,300}(?:=>|[(,{][ \t]*$))"
    rf"|(?:{_MODIFIERS}(?:get|set)?[ \t*]*+){_NO_NAMES}(?P<method>[#\w$]++)[ \t]*+\([^\n]{{0,300}}\{{[ \t]*$)"
)
_SHELL = r"(?:function[ \t]++|(?=[\w:.-]++[ \t]*+\([ \t]*+\)))(?P<function>[\w:.-]++)"
_SQL = (
    r"(?i:create[ \t]++(?:or[ \t]++(?:replace|alter)[ \t]++)?(?:(?!table|view|type)\w++[ \t]++){0,3}?(?:"
    r"(?:function|procedure|proc|trigger|package)[ \t]++(?:body[ \t]++)?(?:if[ \t]++not[ \t]++exists[ \t]++)?"
    r"(?P<function>[^\s(;]++)"
    r"|(?:table|view|type)[ \t]++(?:if[ \t]++not[ \t]++exists[ \t]++)?(?P<class>[^\s(;]++)))"
)
_NEVER = r"(?!)"
_LOOKS = {
    **dict.fromkeys(("c", "cpp", "java", "csharp"), _BY_SHAPE),
    **dict.fromkeys(("javascript", "typescript", "tsx"), _ECMASCRIPT),
    **dict.fromkeys(("makefile", "dockerfile"), _NEVER),
    **dict.fromkeys(("kotlin", "swift"), _OR_MADE),
    "shell": _SHELL,
    "sql": _SQL,
}
_PARAGRAPH = re.compile(r"(?:\A|\n[^\S\n]*+\n)(?:[^\S\n]*+\n)*+(?P<line>(?P<indent>[ \t]*+)(?=\S))")
# Comments, decorators, attributes: what stands directly above a definition and belongs to it.
_LEADING = re.compile(
    r"(?:[ \t]*+(?:/\*(?:[^*]|\*(?!/)){0,4000}+\*/[ \t]*+|(?:#|//|/\*|\*|--|@|\[|\"\"\"|template\b)[^\n]*+)\n)*+"
)
_LONGEST_LEADING = 20_000
_INDENTED = re.compile(r"[ \t]*+(?=\S)")
_DEEPEST_INDENT = 1 << 30
# What goes on with the definition above, however little it is indented.
_GOING_ON = re.compile(
    r"[ \t]*+(?:[)\]}{]|#[ \t]*+(?:if|el|end)|(?:as|begin|declare|else|end|exception|is|return)\b"
    r"|(?:private|protected|public)[ \t]*+:)",
    re.IGNORECASE,
)
_CLASSES = frozenset({"class", "type"})
_LONGEST_NAME = 200
_TAB = 8


class _Event(NamedTuple):
    """A line that may begin a region, by its start."""

    start: int
    indent: int
    kind: str = ""
    name: str = ""


class _Scope(NamedTuple):
    """A definition that what follows may lie in."""

    indent: int
    path: tuple[str, ...]
    is_function: bool


def outline_by_lines(text: str, language: str) -> Outline:
    """The outline of a text by its lines alone."""
    marks = [Mark(0)]
    borders: list[int] = []
    scopes: list[_Scope] = []
    paragraph = 0
    for event in merge(_paragraphs(text), _definitions(text, language)):
        start, indent, kind, name = event
        if not kind:
            paragraph = start
            borders.append(start)
            if _GOING_ON.match(text, start):
                continue
            indent = _indent_below_comments(text, start, indent)
        while scopes and scopes[-1].indent >= indent:
            scopes.pop()
        if scopes and scopes[-1].is_function:
            continue
        path = scopes[-1].path if scopes else ()
        if not kind:
            marks.append(Mark(start, path))
            continue
        above, paragraph = paragraph, text.find("\n", start) + 1 or len(text)
        if start - above < _LONGEST_LEADING and _LEADING.fullmatch(text, above, start):
            start = above
        *owners, own = name.split("::")
        path = (*path, *owners)
        if kind in _CLASSES:
            path = (*path, own)
        marks.append(Mark(start, path, None if kind in _CLASSES else own))
        scopes.append(_Scope(indent, path, kind not in _CLASSES))
    return Outline(marks, borders)


def _indent_below_comments(text: str, start: int, indent: int) -> int:
    """The indent of the first line that is no comment: comments may stand anywhere, and close nothing."""
    leading = _LEADING.match(text, start)
    if not leading or leading.end() == start:
        return indent
    code = _INDENTED.match(text, leading.end())
    return _width(code[0]) if code else _DEEPEST_INDENT


def _paragraphs(text: str) -> Iterator[_Event]:
    """The lines that stand below empty ones."""
    for found in _PARAGRAPH.finditer(text):
        yield _Event(found.start("line"), _width(found["indent"]))


def _definitions(text: str, language: str) -> Iterator[_Event]:
    look = re.compile(rf"^(?P<indent>[ \t]*+){_LOOKS.get(language, _BY_KEYWORD)}", re.MULTILINE)
    for found in look.finditer(text):
        kind = found.lastgroup or ""
        name = found[kind].strip("\"'`[].:")[:_LONGEST_NAME]
        receiver = found.groupdict().get("receiver")
        if name:
            yield _Event(found.start(), _width(found["indent"]), kind, f"{receiver}::{name}" if receiver else name)


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TAB))
