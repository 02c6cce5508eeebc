"""The outline of source code by its syntax tree.

One descent from the root finds the definitions. It looks into classes and into whatever may hold
definitions (a namespace, an `if`, a callback), not into functions, and at nothing deeper than it must.
Positions are rows: a region begins with a line.
"""

import re
from typing import TYPE_CHECKING

from dowse.ingest.extract.code.grammars import Language, Role
from dowse.ingest.extract.code.names import name_of
from dowse.ingest.extract.code.outline import Mark, Outline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

__all__ = ["outline_of_tree"]

_DEEPEST = 60
_SHORT_FUNCTION = 500
"""Bytes up to which a function is not cut: it needs no borders."""
_LONG_STATEMENT = 600
"""Bytes from which on a statement's own parts are borders too."""
# What may stand before a definition on its line: `private def`, `@Injectable() export class`.
_MODIFIERS = re.compile(rb"(?:(?:template[ \t]*<[^\n]{0,500}>|@[\w.]+(?:\([^\n]{0,500}\))?)[ \t]*)*+[\w \t]*")
_LINE_END = re.compile("\n")
_NO_ROW = -1
_BODIES = frozenset({"function_body", "class_body"})
_ERROR = Role("open")


def outline_of_tree(root: "Node", text: str, source: bytes, language: Language) -> Outline:
    """The outline of a text and its tree; `source` is the same text as bytes."""
    descent = _Descent(source, language)
    descent.look_into(root, (), 0)
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    marks = [Mark(0), *(mark._replace(start=starts[mark.start]) for mark in descent.marks if mark.start < len(starts))]
    return Outline(marks, [starts[row] for row in sorted(descent.borders)])


class _Descent:
    """What was found so far; marks and borders count rows here."""

    __slots__ = ("_free", "_language", "_last", "_lead", "_lead_reach", "_source", "borders", "marks")

    def __init__(self, source: bytes, language: Language) -> None:
        self._source = source
        self._language = language
        self._free = 0
        """The first row that no definition has taken."""
        self._last = _NO_ROW
        """The last row of the statement before."""
        self._lead = _NO_ROW
        """Where the comments and decorators above begin."""
        self._lead_reach = _NO_ROW
        """The last row on which the definition that they belong to may start."""
        self.marks: list[Mark] = []
        self.borders: set[int] = set()

    def look_into(self, node: "Node", path: tuple[str, ...], depth: int, *, wrapped: bool = False) -> None:
        """Find the definitions among the children of a node and, as their kinds say, below them."""
        roles = self._language.roles
        is_first = True
        for child in node.named_children:
            role = roles.get(child.type) or (_ERROR if child.type == "ERROR" else None)
            first, last = _rows(child)
            if role and role.kind == "lead":
                self._add_lead(first, last)
                continue
            if wrapped and role is None:
                continue
            if is_first and self._is_docstring(child):
                self._last = last
                continue
            is_first = False
            start = self._lead if first <= self._lead_reach else first
            self.borders.add(start)
            if role is None or depth >= _DEEPEST:
                self._add_borders(child, depth)
            else:
                self._take(child, role, path, depth, start)
            self._last = max(self._last, last)
            self._lead_reach = _NO_ROW

    def _add_lead(self, first: int, last: int) -> None:
        if first <= self._last:
            return
        if first > self._lead_reach:
            self._lead = first
            self.borders.add(first)
        self._lead_reach = max(self._lead_reach, last + 1)

    def _is_docstring(self, node: "Node") -> bool:
        statement, value = self._language.docstring
        return node.type == statement and node.named_child_count == 1 and node.named_children[0].type == value

    def _take(self, node: "Node", role: Role, path: tuple[str, ...], depth: int, start: int) -> None:
        """Act on a node that means something."""
        if role.kind == "bind":
            value = node.child_by_field_name(role.value)
            bound = self._language.values.get(value.type) if value else None
            if value and bound:
                self._define(node, bound._replace(name=role.name, value=role.value), path, depth, start)
            elif value and value.type in self._language.roles:
                self.look_into(value, path, depth + 1)
            else:
                self._add_borders(node, depth)
        elif role.kind in {"function", "class"} and (not role.needs_body or _body(node)):
            self._define(node, role, path, depth, start)
        elif role.kind == "wrap":
            self._lead, self._lead_reach = start, _rows(node)[1]
            self.look_into(node, path, depth + 1, wrapped=True)
        else:
            # What stands above it belongs to a definition in it only if that starts on the same line.
            first, _ = _rows(node)
            self._lead_reach = min(self._lead_reach, first)
            self._last = max(self._last, first)
            self.look_into(node, path, depth + 1)

    def _define(self, node: "Node", role: Role, path: tuple[str, ...], depth: int, start: int) -> None:
        first, last = _rows(node)
        names = name_of(node, role.name, self._source)
        if last < self._free:
            return
        if not names or not (start < first or self._begins_line(node)):
            self.look_into(node, path, depth + 1)
            return
        start = max(start, self._free)
        self._lead_reach = _NO_ROW
        self._last = first
        if role.kind == "function":
            self.marks.append(Mark(start, (*path, *names[:-1]), names[-1]))
            self._add_body_borders(node, depth)
        else:
            self.marks.append(Mark(start, (*path, *names)))
            self._free = start
            inner = node.child_by_field_name(role.value) if role.value else node
            self.look_into(inner or node, (*path, *names), depth + 1)
        self._free = last + 1
        self.marks.append(Mark(last + 1, path))

    def _begins_line(self, node: "Node") -> bool:
        line = node.start_byte - node.start_point.column
        return _MODIFIERS.fullmatch(self._source, line, node.start_byte) is not None

    def _add_body_borders(self, node: "Node", depth: int) -> None:
        """The statements of a function, but for its docstring: that stays with the signature."""
        children = node.named_children
        body = _body(node) or (_body(children[-1]) if children else None)
        if body and node.end_byte - node.start_byte > _SHORT_FUNCTION:
            children = body.named_children
            skipped = 1 if children and self._is_docstring(children[0]) else 0
            self._add_statements(children[skipped:], depth)

    def _add_borders(self, node: "Node", depth: int) -> None:
        if depth < _DEEPEST and node.end_byte - node.start_byte > _LONG_STATEMENT:
            self._add_statements(node.named_children, depth + 1)

    def _add_statements(self, nodes: "Sequence[Node]", depth: int) -> None:
        """Borders at statements, each with the comment above it."""
        last = reach = _NO_ROW
        for node in nodes:
            first, end = _rows(node)
            if first > reach:
                self.borders.add(first)
            role = self._language.roles.get(node.type)
            if role and role.kind == "lead":
                reach = end + 1 if first > last else _NO_ROW
            else:
                self._add_borders(node, depth)
                reach = _NO_ROW
            last = end


def _rows(node: "Node") -> tuple[int, int]:
    """The first and last row; a node that ends with its line's end does not reach into the next."""
    first = node.start_point.row
    end = node.end_point
    return first, max(first, end.row - 1 if end.column == 0 else end.row)


def _body(node: "Node") -> "Node | None":
    """The body of a definition, or of the type that a definition gives a name to."""
    body = node.child_by_field_name("body")
    if body is None:
        kind = node.child_by_field_name("type")
        body = kind.child_by_field_name("body") if kind else None
    return body or next((child for child in node.named_children if child.type in _BODIES), None)
