"""Reads a page: decodes it, keeps what it is about, and writes that as Markdown.

Menus, banners and footers stand on every page of a site, and would make all its pages answer every
query. They are left out by what their authors say of them (`main`, `nav`, roles, a few common names),
never by guesses about style. Where that would leave little of the text, the author's words are not to be
trusted, and everything is kept.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.charsets import decode_declared
from dowse.ingest.extract.composing import Composer
from dowse.ingest.extract.hypertext.flow import read
from dowse.ingest.extract.hypertext.metadata import metadata_of, shared_title
from dowse.ingest.extract.hypertext.page import Page
from dowse.ingest.extract.hypertext.parts import Part, Zone
from dowse.ingest.extract.hypertext.tokens import is_xml, tokens

__all__ = ["decode_html", "extract_html", "read_html", "read_parts", "write_page"]

_LITTLE = 4
"""A zone with less than one in so many characters of the whole does not stand for it."""
_MOSTLY_HIDDEN = 10
_LONGEST_TITLE = 300
_HEAD = 4096
_CHARSET = re.compile(rb"""<meta[^>]{1,500}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]{1,200}?encoding\s{0,9}=\s{0,9}["']([A-Za-z0-9_.:-]{1,40})""")


def extract_html(data: bytes, name: str) -> Extracted:
    """Read a web page as it was saved."""
    return read_html(decode_html(data, name))


def decode_html(data: bytes, name: str, declared: str = "") -> str:
    """The markup of a page, in the encoding that was declared with it or in itself."""
    head = data[:_HEAD]
    found = _XML_ENCODING.match(head) or _CHARSET.search(head)
    return decode_declared(data, declared or (found[1].decode("ascii") if found else ""), name)


def read_html(markup: str, *, whole: bool = False, local_links: bool = True) -> Extracted:
    """Read a page, or a piece of one.

    Args:
        markup: The page, decoded.
        whole: Keep everything that can be seen: there is no site around a chapter, a mail or an output.
        local_links: Write the addresses of links that lead to the page's own neighbours.
    """
    composer = Composer(len(markup))
    page, parts = read_parts(markup, whole=whole, local_links=local_links)
    write_page(composer, page, parts)
    heading = next((part.text for part in parts if part.kind == "heading"), "")
    title = (page.title or shared_title(page.metas) or heading)[:_LONGEST_TITLE].strip()
    return composer.extracted(title or None, metadata_of(page.metas, page.language))


def read_parts(markup: str, *, whole: bool, local_links: bool) -> tuple[Page, list[Part]]:
    """The page and those of its parts that are worth keeping."""
    markup = markup.replace("\0", "\ufffd")
    page = _read(markup, local_links=local_links, shows_hidden=False)
    if page.hidden > _MOSTLY_HIDDEN * _weight(page.sink.parts):
        # A script was to show it. What a page keeps hidden is better than nothing.
        page = _read(markup, local_links=local_links, shows_hidden=True)
    return page, page.sink.parts if whole else _chosen(page.sink.parts)


def write_page(composer: Composer, page: Page, parts: Sequence[Part]) -> None:
    """Write these parts of a page, items that belong together as one block."""
    if page.is_cut:
        composer.cut("a page has more tags than the limit")
    for run in _runs(parts):
        kind, level = run[0].kind, run[0].level
        if kind == "heading":
            composer.heading(level, run[0].text)
        else:
            composer.block(kind, "\n".join(part.text for part in run))
        if composer.full:
            composer.cut("the page is longer than the limit")
            return


def _runs(parts: Iterable[Part]) -> Iterator[list[Part]]:
    run: list[Part] = []
    for part in parts:
        if run and not (part.joins and part.kind == run[0].kind):
            yield run
            run = []
        run.append(part)
    if run:
        yield run


def _read(markup: str, *, local_links: bool, shows_hidden: bool) -> Page:
    return read(tokens(markup, xml=is_xml(markup)), local_links=local_links, shows_hidden=shows_hidden)


def _chosen(parts: list[Part]) -> list[Part]:
    """The parts of the innermost zone that holds enough of the text."""
    weights = [_weight([part for part in parts if part.zone <= zone]) for zone in Zone]
    content, everything = weights[Zone.BODY], weights[Zone.CHROME]
    if _LITTLE * content < everything or not any(part.zone <= Zone.BODY for part in parts):
        return parts
    zone = next((zone for zone in Zone if weights[zone] and _LITTLE * weights[zone] >= content), Zone.BODY)
    chosen = [part for part in parts if part.zone <= zone]
    if zone < Zone.BODY and not any(part.level == 1 for part in chosen):
        # The title may stand above the part that it is the title of.
        above = parts[: parts.index(chosen[0])]
        chosen = [part for part in above if part.level == 1 and part.zone <= Zone.BODY] + chosen
    return chosen


def _weight(parts: Sequence[Part]) -> int:
    """How much text there is outside of links, which abound in menus."""
    return sum(part.words for part in parts)
