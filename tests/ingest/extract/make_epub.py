"""E-books made by hand, so that every part of them can be left out or broken."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
METADATA = """<dc:title>The Tea Book</dc:title><dc:creator id="a">Ada Byron</dc:creator>
<dc:language>en</dc:language><dc:date>2024-05-01</dc:date><dc:subject>Tea</dc:subject><dc:subject>Water</dc:subject>
<dc:publisher>Kettle</dc:publisher><dc:description>&lt;p&gt;All about &lt;b&gt;tea&lt;/b&gt;.&lt;/p&gt;</dc:description>
<meta property="dcterms:modified">2024-06-01T00:00:00Z</meta>"""
NCX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><docTitle><text>The Tea Book</text></docTitle>
<navMap>{points}</navMap></ncx>"""


def chapter(body: str, title: str = "") -> str:
    """A page of a book."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head><body>{body}</body></html>'
    )


def contents(entries: Mapping[str, str]) -> str:
    """The table of contents of a book of today: file names and titles."""
    items = "".join(f'<li><a href="{path}">{title}</a></li>' for path, title in entries.items())
    return chapter(
        f'<nav epub:type="landmarks"><a href="x.xhtml">No</a></nav><nav epub:type="toc"><ol>{items}</ol></nav>'
    )


def old_contents(entries: Mapping[str, str]) -> str:
    """The table of contents of a book of the second version."""
    points = "".join(
        f'<navPoint id="n{index}"><navLabel><text>{title}</text></navLabel><content src="{path}"/></navPoint>'
        for index, (path, title) in enumerate(entries.items())
    )
    return NCX.replace("{points}", points)


def package(pages: Sequence[str], extra: str = "", metadata: str = METADATA) -> str:
    """The file that puts pages in order."""
    items = "".join(
        f'<item id="i{index}" href="{page}" media-type="application/xhtml+xml"/>' for index, page in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="i{index}"/>' for index in range(len(pages)))
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}{extra}</manifest><spine>{spine}</spine></package>"
    )


def epub(members: Mapping[str, str | bytes]) -> bytes:
    """A book of these members; the container and the mark at the front come by themselves."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", compress_type=0)
        for name, content in {"META-INF/container.xml": CONTAINER, **members}.items():
            archive.writestr(name, content)
    return made.getvalue()


def book(chapters: Mapping[str, str], toc: Mapping[str, str] | None = None) -> bytes:
    """A sound book of these pages, below `OEBPS/text/`."""
    extra = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    return epub(
        {
            "OEBPS/book.opf": package([f"text/{name}" for name in chapters], extra),
            "OEBPS/nav.xhtml": contents({f"text/{name}": title for name, title in (toc or {}).items()}),
            **{f"OEBPS/text/{name}": markup for name, markup in chapters.items()},
        }
    )
