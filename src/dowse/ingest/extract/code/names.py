"""What a definition is called: the parts of its name, outermost first, from the syntax tree.

A part before the last one names what the definition belongs to: `C::k` in C++, the receiver of a method
in Go, `C.prototype.k` in JavaScript.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["name_of"]

_LONGEST = 200
_DEEPEST = 16
_ARGUMENTS = re.compile(r"<[^<>]*+>|\[[^\[\]]*+\]")
_RECEIVER = re.compile(r"([\w.]+)\s*\)$")
_PATH = re.compile(r"\s*(?:::|\.|->|\\)\s*")
_OPERATOR = re.compile(r"\boperator\b(?:[ ]*\(\)|[^(]*)")
_QUOTES = str.maketrans("", "", "\"'`[]$")
# What an assignment goes through on its way to a name that means something.
_HOLDERS = frozenset({"module", "exports", "window", "global", "globalThis", "self", "this", "prototype"})
# What a parser takes for a method's name when it does not understand the code around.
_NO_NAMES = frozenset({"catch", "else", "for", "if", "return", "switch", "while"})
_DECLARATORS = frozenset(
    f"{kind}_declarator" for kind in ("function", "pointer", "reference", "parenthesized", "array", "attributed")
)


def name_of(node: "Node", rule: str, source: bytes) -> tuple[str, ...]:
    """The name of a definition by this rule; empty when it has none."""
    if rule.startswith("="):
        return (rule[1:],)
    names = _RULES.get(rule, _field(rule))(node, source)
    return () if _NO_NAMES.intersection(names) else names


def _field(name: str) -> Callable[["Node", bytes], tuple[str, ...]]:
    return lambda node, source: _parts(node.child_by_field_name(name), source)


def _text(node: "Node | None", source: bytes) -> str:
    """The words of a node on one line; a name of no end is cut, and one that is only guessed is none."""
    if node is None or node.is_missing:
        return ""
    return " ".join(source[node.start_byte : node.end_byte][: 4 * _LONGEST].decode("utf-8", "replace").split())


def _parts(node: "Node | None", source: bytes) -> tuple[str, ...]:
    return _split(_text(node, source))


def _split(text: str) -> tuple[str, ...]:
    """A name with dots or colons as its parts, without type arguments and quotes."""
    if "<" in text:
        text = _without_arguments(text)
    words = (part.translate(_QUOTES).strip()[:_LONGEST] for part in _PATH.split(text))
    return tuple(word for word in words if word)


def _without_arguments(text: str) -> str:
    for _ in range(_DEEPEST):
        shorter = _ARGUMENTS.sub("", text)
        if shorter == text:
            break
        text = shorter
    return text


def _implemented(node: "Node", source: bytes) -> tuple[str, ...]:
    """The type that a block of Rust's implements something for, without its module."""
    text = _without_arguments(_text(node.child_by_field_name("type"), source))
    words = re.findall(r"\w+", text.rpartition("::")[2])
    return (words[-1][:_LONGEST],) if words else ()


def _assigned(node: "Node", source: bytes) -> tuple[str, ...]:
    return tuple(part for part in _parts(node.child_by_field_name("left"), source) if part not in _HOLDERS)[-2:]


def _received(node: "Node", source: bytes) -> tuple[str, ...]:
    receiver = _RECEIVER.search(_without_arguments(_text(node.child_by_field_name("receiver"), source)))
    return (*((receiver[1],) if receiver else ()), *_parts(node.child_by_field_name("name"), source))


def _declared(node: "Node", source: bytes) -> tuple[str, ...]:
    """The name inside the pointers, references and parameters that C wraps around it."""
    found = node.child_by_field_name("declarator")
    for _ in range(_DEEPEST):
        if found is None or found.type not in _DECLARATORS:
            break
        inner = found.child_by_field_name("declarator")
        found = inner or (found.named_children[-1] if found.named_child_count else None)
    text = _text(found, source)
    operator = _OPERATOR.search(text)
    return (*_split(text[: operator.start()]), operator[0].strip()) if operator else _split(text)


def _referenced(node: "Node", source: bytes) -> tuple[str, ...]:
    """What a statement of SQL creates, with its schema as part of the name."""
    found = next((child for child in node.named_children if child.type == "object_reference"), None)
    name = ".".join(_parts(found, source))
    return (name,) if name else ()


_RULES: dict[str, Callable[["Node", bytes], tuple[str, ...]]] = {
    "type": _implemented,
    "left": _assigned,
    "receiver": _received,
    "declarator": _declared,
    "typedef": _field("declarator"),
    "object_reference": _referenced,
}
