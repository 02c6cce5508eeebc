r"""The tags and texts of an HTML page, in order, found in one pass and in linear time whatever the page.

No parser that can be had keeps both promises that a stranger's page needs: html.parser takes quadratic time
on unclosed comments and tags, html5lib and lexbor on deep nesting, and lxml drops what is nested deeply.
A reader of text needs no tree, so this follows the tokenizer of the HTML standard where it decides what is
text: raw text in scripts and styles, quoted attributes, comments with odd ends. Where the standard would
swallow the rest of a page (an unclosed comment, quote or title), only the mark itself is lost.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

__all__ = ["Token", "attributes_of", "is_xml", "tokens", "unescaped"]


class Token(NamedTuple):
    """A start tag with its attributes as they are written, an end tag, or a text with its character references."""

    kind: Literal["start", "end", "text"]
    value: str
    """The name of the tag in lower case, or the text."""
    attributes: str = ""
    is_empty: bool = False
    """A start tag of XML that is its own end tag."""


_MARKUP = frozenset("/!?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
# Quotes count only behind an equals sign, and only in pairs.
_TAG = re.compile(r"""<(/?)([A-Za-z][^\s/<>]*+)(?!<)((?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+)>""")
_TAG_START = re.compile(r"</?[A-Za-z][^\s/<>]*+(?!<)")
_PLAIN_TAG = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)(?!<)([^>]*+)>")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>][^\s>]*+)))?+""")
_END_OF_COMMENT = re.compile(r"--!?>")
_END_OF_INSTRUCTION = re.compile(r"\?>")
_END_OF_CDATA = re.compile(r"\]\]>")
_END_OF_SUBSET = re.compile(r"\]\s*+>")
_END_OF_MARK = re.compile(r">")
_CDATA = "<![CDATA["
_SCRIPT_MARK = re.compile(r"<!--|-->|<(/?)script(?=[\s/>])", re.IGNORECASE)
_RAW = {
    name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE)
    for name in ("script", "style", "xmp", "iframe", "noembed", "title", "textarea")
}
_DISPLAYED = frozenset({"xmp", "title", "textarea"})
_XML = re.compile(r"\s*+<\?xml[\s?]|.{0,400}?<!DOCTYPE[^>]{0,100}XHTML|.{0,400}?<html[^>]{0,400}\sxmlns[:=]", re.DOTALL)
# Python refuses to read an integer of so many digits, and no character has such a number.
_ABSURD_REFERENCE = re.compile(r"&#(?:[0-9]{9,}+|[xX][0-9a-fA-F]{9,}+);?+")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});")


def is_xml(markup: str) -> bool:
    """Whether a page is written in XHTML, where `<br/>` and `<a id="x"/>` are complete."""
    return _XML.match(markup) is not None


def unescaped(text: str) -> str:
    """The text that character references stand for."""
    return unescape(_ABSURD_REFERENCE.sub("\ufffd", text)) if "&" in text else text


def attributes_of(written: str) -> dict[str, str]:
    """The attributes of a start tag; of two with one name the first counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(written):
        value = double or single or bare
        if "&" in value:
            # An address may hold `&copy=`, which is no reference: those in attributes end in a semicolon.
            value = _REFERENCE.sub(lambda reference: unescape(reference[0]), value)
        found.setdefault(name.lower(), value)
    return found


def tokens(markup: str, *, xml: bool = False) -> Iterator[Token]:
    """Cut a page into tags and texts; what scripts, styles and comments hold is left out."""
    return _Tokenizer(markup, xml=xml).tokens()


class _Tokenizer:
    """The pass over one page. Whatever was looked for in vain is never looked for again."""

    def __init__(self, markup: str, *, xml: bool) -> None:
        self._markup = markup
        self._xml = xml
        self._absent: set[re.Pattern[str]] = set()

    def tokens(self) -> Iterator[Token]:
        """All of them."""
        markup, xml, position = self._markup, self._xml, 0
        while (mark := markup.find("<", position)) >= 0:
            following = markup[mark + 1 : mark + 2]
            if not (following and following in _MARKUP):
                yield Token("text", markup[position : mark + 1])
                position = mark + 1
                continue
            if mark > position:
                yield Token("text", markup[position:mark])
            if tag := self._tag(mark):
                position = tag.end()
                closing, name, written = tag.groups()
                name = name.lower()
                if closing:
                    yield Token("end", name)
                    continue
                is_empty = xml and written.endswith("/")
                yield Token("start", name, written, is_empty)
                if name in _RAW and not is_empty:
                    text, position = self._raw_text(name, position)
                    yield Token("text", text)
                    yield Token("end", name)
            elif following in "!?/":
                text, position = self._declaration(mark)
                yield Token("text", text.replace("&", "&amp;"))
            else:
                yield Token("text", "<")
                position = mark + 1
        yield Token("text", markup[position:])

    def _find(self, pattern: re.Pattern[str], position: int) -> re.Match[str] | None:
        if pattern in self._absent:
            return None
        found = pattern.search(self._markup, position)
        if found is None:
            self._absent.add(pattern)
        return found

    def _tag(self, mark: int) -> re.Match[str] | None:
        if _TAG not in self._absent:
            found = _TAG.match(self._markup, mark)
            if found or not _TAG_START.match(self._markup, mark):
                return found
            # From here to the end of the page no tag is closed outside of quotes: they are no longer believed.
            self._absent.add(_TAG)
        return _PLAIN_TAG.match(self._markup, mark) if self._find(_END_OF_MARK, mark) else None

    def _raw_text(self, name: str, start: int) -> tuple[str, int]:
        """The text of an element without markup, if that is shown, and where the element ends."""
        stop = self._end_of_script(start) if name == "script" else None
        if stop is None:
            found = self._find(_RAW[name], start)
            if not found and name in _DISPLAYED:
                return "", start
            stop = found.start() if found else len(self._markup)
        return self._markup[start:stop] if name in _DISPLAYED else "", stop

    def _end_of_script(self, position: int) -> int | None:
        """Where a script ends; one that hides in a comment may write other scripts before."""
        commented = nested = False
        while found := self._find(_SCRIPT_MARK, position):
            position = found.end()
            if found[0] == "<!--":
                commented = True
            elif found[0] == "-->":
                commented = nested = False
            elif not found[1]:
                nested = commented
            elif nested:
                nested = False
            else:
                return found.start()
        return None

    def _declaration(self, mark: int) -> tuple[str, int]:
        """The text of a mark that holds verbatim text, none of a comment or the like, and where it ends."""
        markup = self._markup
        end: re.Match[str] | None = None
        if markup.startswith("<!--", mark):
            end = self._find(_END_OF_COMMENT, mark + 2)
        elif markup.startswith(_CDATA, mark):
            end = self._find(_END_OF_CDATA, mark)
            if end:
                return markup[mark + len(_CDATA) : end.start()], end.end()
        elif markup.startswith("<?", mark):
            end = self._find(_END_OF_INSTRUCTION, mark)
        elif markup[mark + 2 : mark + 9].lower() == "doctype":
            end = self._find(_END_OF_MARK, mark)
            if end and "[" in markup[mark : end.start()]:
                end = self._find(_END_OF_SUBSET, mark) or end
        end = end or self._find(_END_OF_MARK, mark)
        return "", end.end() if end else len(markup)
