"""The words of a line of Markdown without its inline markup, for titles and heading paths."""

import re
from html import unescape

__all__ = ["plain_words"]

_MARKUP = re.compile(r"[\\`*_~<\[\]{}&]")
_INLINE = re.compile(
    r"""
      (?P<tick>`+)(?P<code>.+?)(?<!`)(?P=tick)(?!`)            # code, taken verbatim
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | !?\[(?P<link>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])
    | <(?P<address>[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>
    | </?[A-Za-z][^<>]*> | <!--.*?-->                          # tags and comments vanish
    | \s*\{[\#.:][^{}]*\}\s*$                                  # {#anchor} and {.class} after a heading
    | \*+(?=\S) | (?<=\S)\*+ | ~~ | (?<!\w)_+(?=\S) | (?<=\S)_+(?!\w)
    """,
    re.VERBOSE | re.DOTALL,
)


def plain_words(markdown: str) -> str:
    """Read the way a reader sees it: no emphasis, code marks, link targets, tags or anchors; one line."""
    if _MARKUP.search(markdown):
        markdown = unescape(_strip(markdown))
    return " ".join(markdown.split())


def _strip(markdown: str) -> str:
    return _INLINE.sub(_visible, markdown)


def _visible(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return found["code"].strip()
    if found["link"] is not None:
        return _strip(found["link"])
    return found["escaped"] or found["address"] or ""
