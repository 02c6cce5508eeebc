"""Small sound files of every format that has a reader of its own: kept ones, and those of the tests' factories."""

from collections.abc import Callable, Mapping
from email.message import EmailMessage
from functools import cache
from io import BytesIO
from pathlib import Path

from ingest.extract.make_epub import book, chapter
from ingest.extract.make_office import paragraph, word, workbook
from ingest.extract.make_pdf import drawn

__all__ = ["FILES", "sample"]

_FOLDER = Path(__file__).parent / "sound"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def _file(name: str) -> Callable[[], bytes]:
    return (_FOLDER / name).read_bytes


def _mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Tea", "Ada <ada@example.org>"
    message.set_content("Come for tea.")
    message.add_alternative("<p>Come for <b>tea</b>.</p>", subtype="html")
    message.add_attachment(b"# Tea", maintype="text", subtype="markdown", filename="a.md")
    return message.as_bytes()


def _slides() -> bytes:
    from pptx import Presentation

    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Tea"
    slide.placeholders[1].text = "Water and leaves"
    file = BytesIO()
    made.save(file)
    return file.getvalue()


def _sheets() -> bytes:
    cells = '<c r="A1"><v>1</v></c><c r="B1" t="inlineStr"><is><t>x</t></is></c>'
    return workbook({"Tea": f'<row r="1">{cells}</row>'})


def _book() -> bytes:
    return book({"a.xhtml": chapter("<h1>One</h1><p>Words.</p>")}, {"a.xhtml": "One"})


FILES: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "markdown": ("text/markdown", _file("tea.md")),
    "plain": ("text/plain", _file("tea.txt")),
    "html": ("text/html", _file("tea.html")),
    "rst": ("text/x-rst", _file("tea.rst")),
    "asciidoc": ("text/asciidoc", _file("tea.adoc")),
    "org": ("text/org", _file("tea.org")),
    "latex": ("application/x-tex", _file("tea.tex")),
    "notebook": ("application/x-ipynb+json", _file("tea-notebook.txt")),
    "subtitles": ("text/vtt", _file("tea.vtt")),
    "json": ("application/json", _file("tea.json")),
    "jsonl": ("application/jsonl", _file("tea.jsonl")),
    "yaml": ("application/yaml", _file("tea.yaml")),
    "toml": ("application/toml", _file("tea.toml")),
    "ini": ("text/x-ini", _file("tea.ini")),
    "csv": ("text/csv", _file("tea.csv")),
    "mbox": ("application/mbox", _file("tea.mbox")),
    "python": ("text/x-python", _file("tea.py.txt")),
    "javascript": ("text/javascript", _file("tea.js")),
    "rust": ("text/x-rust", _file("tea.rs")),
    "shell": ("text/x-shellscript", _file("tea.sh")),
    "makefile": ("text/x-makefile", _file("tea.mk")),
    "mail": ("message/rfc822", _mail),
    "pdf": ("application/pdf", lambda: drawn(lambda page: page.drawString(72, 700, "Words on a page"))),
    "epub": ("application/epub+zip", _book),
    "word": (WORD, lambda: word(paragraph("Words", "Heading1") + paragraph("More words"))),
    "slides": (SLIDES, _slides),
    "sheets": (SHEETS, _sheets),
}


@cache
def sample(name: str) -> tuple[str, bytes]:
    """The media type and the bytes of one."""
    media_type, make = FILES[name]
    return media_type, make()
