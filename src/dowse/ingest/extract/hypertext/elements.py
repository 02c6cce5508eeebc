"""What each element of HTML means for the text: one function per kind, and the table of them all.

A function begins an element and returns what is to be done at its end, or None where that is nothing.
"""

import re
from collections.abc import Callable

from dowse.ingest.extract.hypertext.inline import Inline
from dowse.ingest.extract.hypertext.page import Closer, Page
from dowse.ingest.extract.hypertext.parts import Table
from dowse.ingest.extract.hypertext.sink import Container
from dowse.ingest.extract.hypertext.tokens import attributes_of
from dowse.ingest.extract.hypertext.zones import Hint, hint_of

__all__ = ["HEADINGS", "OPENERS", "open_void"]

HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LANGUAGE = re.compile(r"\b(?:language|lang|brush:|highlight-source|highlight)[-\s]?([A-Za-z][\w+#-]{0,30})")
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "plaintext", "text", "wrapper"})
_NUMBER = re.compile(r"\s*(\d{1,9})")


def open_void(page: Page, tag: str, written: str) -> None:
    """An element that has no end."""
    if tag == "meta":
        page.metas.append(attributes_of(written))
    elif tag == "br":
        page.break_line()
    elif tag == "hr":
        page.break_block(tag)
    elif tag == "img" and page.code is None and hint_of(tag, written) is not Hint.HIDDEN:
        page.inline.add(attributes_of(written).get("alt", ""))
    elif tag == "input" and page.counters and (given := attributes_of(written)).get("type", "").lower() == "checkbox":
        page.inline.add("[x] " if "checked" in given else "[ ] ")


def _html(page: Page, _tag: str, written: str) -> None:
    given = attributes_of(written)
    page.language = page.language or given.get("lang", "") or given.get("xml:lang", "")


def _title(page: Page, _tag: str, _written: str) -> Closer:
    paragraph, page.inline = page.inline, Inline(local_links=False)

    def close() -> None:
        words = " ".join(text for text, _ in page.inline.finish())
        page.title = page.title or words
        page.inline = paragraph

    return close


def _heading(page: Page, tag: str, _written: str) -> Closer:
    page.flush_code()
    page.heading = HEADINGS[tag]
    page.inline.is_plain = True

    def close() -> None:
        if page.heading:
            page.flush()

    return close


def _list(page: Page, tag: str, written: str) -> Closer:
    page.sink.begin_list()
    page.counters.append(_number(written, "start", 1) if tag == "ol" else -1)

    def close() -> None:
        page.flush()
        page.counters.pop()

    return close


def _item(page: Page, _tag: str, written: str) -> Closer:
    if not page.counters or page.counters[-1] < 0:
        return _contained(page, Container("- ", "  "))
    number = _number(written, "value", page.counters[-1])
    page.counters[-1] = number + 1
    marker = f"{number}. "
    return _contained(page, Container(marker, " " * len(marker)))


def _term(page: Page, _tag: str, _written: str) -> Closer:
    return _contained(page, Container("", "", joins=False))


def _definition(page: Page, _tag: str, _written: str) -> Closer:
    return _contained(page, Container(": ", "  "))


def _quote(page: Page, _tag: str, _written: str) -> Closer:
    return _contained(page, Container("> ", "> ", is_quote=True))


def _contained(page: Page, container: Container) -> Closer:
    page.sink.enter(container)

    def close() -> None:
        page.flush()
        page.sink.leave(container)

    return close


def _preformatted(page: Page, _tag: str, written: str) -> Closer | None:
    if page.code is not None:
        return None
    page.code = []
    page.code_language = _language(written) or page.code_language

    def close() -> None:
        page.flush_code()
        page.code = None
        page.code_language = ""

    return close


def _division(page: Page, _tag: str, written: str) -> Closer | None:
    """The element around highlighted code names its language."""
    language = _language(written) if page.code is None else ""
    if not language:
        return None
    page.code_language = language

    def close() -> None:
        page.code_language = ""

    return close


def _table(page: Page, _tag: str, written: str) -> Closer:
    role = attributes_of(written).get("role", "").lower() if "role" in written.lower() else ""
    table = Table(page.sink.zone, is_layout=role in {"presentation", "none"})
    page.tables.append(table)
    before = page.sink.enter_cell(table.outside)
    counters, code = page.counters, page.code
    page.counters, page.code = [], None

    def close() -> None:
        page.flush()
        page.tables.pop()
        page.counters, page.code = counters, code
        page.sink.leave_cell(before)
        page.sink.table(table.parts())

    return close


def _head(page: Page, _tag: str, _written: str) -> Closer | None:
    return page.tables[-1].end_head if page.tables else None


def _row(page: Page, _tag: str, _written: str) -> None:
    if page.tables:
        page.tables[-1].begin_row()


def _cell(page: Page, tag: str, written: str) -> Closer | None:
    if not page.tables:
        return None
    columns, rows = _number(written, "colspan", 1), _number(written, "rowspan", 1)
    cell = page.tables[-1].begin_cell(is_header=tag == "th", columns=columns, rows=rows)
    before = page.sink.enter_cell(cell.parts)

    def close() -> None:
        page.flush()
        page.sink.leave_cell(before)

    return close


def _link(page: Page, _tag: str, written: str) -> Closer | None:
    address = attributes_of(written).get("href")
    if address is None or page.code is not None:
        return None
    inline, mark = page.inline, page.inline.mark()
    return lambda: inline.end_link(mark, address)


def _code(page: Page, _tag: str, written: str) -> Closer | None:
    code = page.code
    if code is not None:
        page.code_language = page.code_language or _language(written)
        if code and code[-1] == "":
            code.append("\n")
        return lambda: code.append("")
    if page.inline.is_plain:
        return None
    inline, mark = page.inline, page.inline.mark()
    inline.is_plain = True

    def close() -> None:
        inline.is_plain = page.heading > 0
        inline.end_code(mark)

    return close


def _quotation(page: Page, _tag: str, _written: str) -> Closer:
    page.inline.add("\u201c")
    return lambda: page.inline.add("\u201d")


def _superscript(page: Page, _tag: str, _written: str) -> Closer:
    inline, mark = page.inline, page.inline.mark()
    return lambda: inline.end_exponent(mark)


def _ruby(page: Page, _tag: str, _written: str) -> Closer:
    return page.inline.end_ruby


def _reading(page: Page, _tag: str, _written: str) -> Closer:
    inline, mark = page.inline, page.inline.mark()
    return lambda: inline.end_reading(mark)


def _formula(page: Page, _tag: str, _written: str) -> Closer:
    inline, mark = page.inline, page.inline.mark()
    return lambda: inline.end_formula(mark)


def _annotation(page: Page, _tag: str, written: str) -> Closer:
    if "tex" not in written.lower():
        return page.drop(is_hidden=False)
    inline, mark = page.inline, page.inline.mark()
    return lambda: inline.end_tex(mark)


def _button(page: Page, _tag: str, written: str) -> Closer | None:
    """One that unfolds something is a heading of sorts; others are tools."""
    unfolds = "aria-expanded" in written or "aria-controls" in written
    return None if unfolds else page.drop(is_hidden=False)


def _template(page: Page, _tag: str, written: str) -> Closer | None:
    return None if "shadowrootmode" in written.lower() else page.drop(is_hidden=False)


def _unseen(page: Page, _tag: str, _written: str) -> Closer | None:
    return None if page.shows_hidden else page.drop(is_hidden=True)


def _dropped(page: Page, _tag: str, _written: str) -> Closer:
    return page.drop(is_hidden=False)


OPENERS: dict[str, Callable[[Page, str, str], Closer | None]] = {
    "html": _html,
    "title": _title,
    **dict.fromkeys(HEADINGS, _heading),
    **dict.fromkeys(("ul", "ol", "menu", "dir", "dl"), _list),
    "li": _item,
    "dt": _term,
    "dd": _definition,
    "blockquote": _quote,
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _preformatted),
    **dict.fromkeys(("div", "figure"), _division),
    "table": _table,
    "thead": _head,
    "tr": _row,
    **dict.fromkeys(("td", "th"), _cell),
    "a": _link,
    **dict.fromkeys(("code", "samp", "tt"), _code),
    "q": _quotation,
    "sup": _superscript,
    "ruby": _ruby,
    "rt": _reading,
    "math": _formula,
    "annotation": _annotation,
    "button": _button,
    "template": _template,
    "noscript": _unseen,
    **dict.fromkeys(
        (
            *("annotation-xml", "applet", "audio", "canvas", "datalist", "iframe", "map", "noembed", "object", "rp"),
            *("script", "select", "style", "svg", "textarea", "video"),
        ),
        _dropped,
    ),
}


def _language(written: str) -> str:
    found = _LANGUAGE.search(written) if "lang" in written or "highlight" in written or "brush" in written else None
    language = found[1].lower() if found else ""
    return "" if language in _NO_LANGUAGE else language


def _number(written: str, name: str, default: int) -> int:
    found = _NUMBER.match(attributes_of(written).get(name, "")) if name in written.lower() else None
    return int(found[1]) if found else default
