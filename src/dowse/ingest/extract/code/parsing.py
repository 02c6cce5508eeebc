"""From source code to its outline by a parser.

The parser is fast and forgiving, and written in C. What it is given runs out when its time is up, which ends it
nearly always; its own progress callback crashes on Pythons before 3.14. What is known to keep it busy where it
reads no more is looked for before: brackets, comments and type arguments in each other by the thousand.
"""

import re
import time
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate, count
from operator import sub
from typing import TYPE_CHECKING

from dowse.ingest.extract.code.grammars import Language
from dowse.ingest.extract.code.outline import Outline
from dowse.ingest.extract.code.tree import outline_of_tree

if TYPE_CHECKING:
    import tree_sitter

__all__ = ["is_installed", "outline_by_parser"]

_LONGEST = 1 << 20
"""Characters; longer files were written by programs, and a dense tree takes 250 bytes of memory for each."""
_MOST_NODES = 600_000
"""Of a tree: sound code has 0.1 to 0.6 per character. Looking at so many takes three seconds at worst."""
_CPU_SECONDS = 3.0
"""For one file; a megabyte of sound code takes 0.3."""
_READ = 256
"""Bytes that the parser is given at once: between two readings the time is looked at."""
_DEEPEST = 1000
"""Brackets in brackets, those in strings included. When thousands are never closed, the parser would go on for hours
at the end of its input."""
_DEEPEST_COMMENT = 400
"""The same for comments, which nest in Swift: twice as many take six times as long."""
_MOST_ANGLES = 4000
"""How often `<` may stand in what looks like one statement: Java and C# try it as a comparison and as a type."""
_BRACKETS = b"([{)]}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = bytes.maketrans(_BRACKETS, b"\2\2\2\0\0\0")
_COMMENT_BORDERS = re.compile(rb"/\*|\*/")
_STATEMENT_ENDS = re.compile(rb"[;{}>]")


def outline_by_parser(text: str, language: Language) -> Outline | None:
    """The outline of a text by its syntax tree, None where that cannot be had or is of no use."""
    if len(text) > _LONGEST or not is_installed(language.package):
        return None
    source = text.encode("utf-8", "replace")
    grammar = _grammar(language.package, language.entry)
    tree = _parse(grammar, source) if grammar and not _is_trap(source) else None
    if tree is None or not _is_of_use(tree.root_node, language):
        return None
    return outline_of_tree(tree.root_node, text, source, language)


@cache
def is_installed(package: str) -> bool:
    """Whether the parser and this grammar are there; they are not loaded for that."""
    return bool(package and find_spec("tree_sitter") and find_spec(package))


@cache
def _grammar(package: str, entry: str) -> "tree_sitter.Language | None":
    """A grammar, None where it or the parser cannot be loaded, or where they do not fit together."""
    try:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser

        grammar = Grammar(getattr(import_module(package), entry)())
        Parser(grammar)
    except (ImportError, AttributeError, ValueError):
        return None
    return grammar


def _is_trap(source: bytes) -> bool:
    """Whether the parser might not come back; what stands in strings counts, too, and costs the tree at worst."""
    brackets = source.translate(_STEPS, _NO_BRACKETS)
    comments = bytes(2 if border == b"/*" else 0 for border in _COMMENT_BORDERS.findall(source))
    return (
        _depth(brackets) > _DEEPEST
        or _depth(comments) > _DEEPEST_COMMENT
        or max(part.count(b"<") for part in _STATEMENT_ENDS.split(source)) > _MOST_ANGLES
    )


def _depth(steps: bytes) -> int:
    """How many are open at most, where 2 opens one and 0 closes one."""
    return max(map(sub, accumulate(steps), count(1)), default=0)


def _parse(grammar: "tree_sitter.Language", source: bytes) -> "tree_sitter.Tree | None":
    """The tree of these bytes, None when it takes too long."""
    from tree_sitter import Parser

    deadline = time.process_time() + _CPU_SECONDS
    is_late = False

    def read(offset: int, _point: object) -> bytes:
        nonlocal is_late
        is_late = is_late or time.process_time() > deadline
        return b"" if is_late else source[offset : offset + _READ]

    tree = Parser(grammar).parse(read)
    return None if is_late else tree


def _is_of_use(root: "tree_sitter.Node", language: Language) -> bool:
    """Whether the tree tells more than the lines do, and soon enough."""
    if root.descendant_count > _MOST_NODES:
        return False
    if not root.has_error:
        return True
    if root.is_error:
        return language.tolerance >= 1
    lost = sum(child.end_byte - child.start_byte for child in root.children if child.is_error)
    return lost <= language.tolerance * root.end_byte
