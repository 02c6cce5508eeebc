"""PDF files for tests: written by reportlab where that is how people's files are, byte by byte where they are odd."""

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=12, spaceAfter=8)
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=18, leading=22, spaceAfter=10)
SECTION = ParagraphStyle("section", fontName="Helvetica-Bold", fontSize=13, leading=16, spaceAfter=6)
CODE = ParagraphStyle("code", fontName="Courier", fontSize=10, leading=12, spaceAfter=8)

LOREM = (
    "The keeper of the lighthouse wrote every evening what the sea had brought: planks, a broken oar, once a "
    "bottle without a letter. He read the barometer, wound the great clock and trimmed the lamp. When the fog "
    "came he rang the bell by hand until the morning, and nobody on the shore ever heard of it."
)


def drawn(*pages: Callable[[Canvas], object], **options: object) -> bytes:
    """A file whose pages are drawn by these functions, one each."""
    made = BytesIO()
    canvas = Canvas(made, pagesize=A4, invariant=1, **options)
    for page in pages:
        page(canvas)
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def book(story: Sequence[Flowable], columns: int = 1, on_page: Callable[[Canvas, object], None] | None = None) -> bytes:
    """A file that reportlab lays out by itself, in so many columns."""
    made = BytesIO()
    document = BaseDocTemplate(made, pagesize=A4, invariant=1)
    width, gutter = 480 / columns, 16
    frames = [
        Frame(57 + index * width, 90, width - (gutter if columns > 1 else 0), 660, leftPadding=0, rightPadding=0)
        for index in range(columns)
    ]
    document.addPageTemplates(PageTemplate(frames=frames, onPage=on_page or (lambda _canvas, _document: None)))
    document.build(list(story))
    return made.getvalue()


def lines(*texts: str, x: float = 72, y: float = 740, size: float = 10, leading: float = 12, font: str = "Helvetica"):
    """Draws lines below each other."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for index, text in enumerate(texts):
            canvas.drawString(x, y - index * leading, text)

    return draw


def together(*draws: Callable[[Canvas], object]) -> Callable[[Canvas], None]:
    """Draws all of these on one page."""

    def draw(canvas: Canvas) -> None:
        for each in draws:
            each(canvas)

    return draw


def scan(canvas: Canvas) -> None:
    """Draws an image over the whole page, as a scanner does."""
    canvas.drawImage(ImageReader(BytesIO(_IMAGE)), 0, 0, *A4)


_IMAGE = b"P5 4 4 255\n" + bytes(range(0, 256, 16))


def raw_pdf(objects: Iterable[bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects, numbered from 1; the first one is the catalog."""
    made, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    return made + b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF" % (
        size,
        table,
        size,
        trailer,
        len(made),
    )


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """An object that holds bytes."""
    return b"<</Length %d%b>>stream\n%b\nendstream" % (len(data), entries, data)


def raw_page(content: bytes, *, entries: bytes = b"", letters: dict[str, str] | None = None) -> bytes:
    """A file of one page with this content; `letters` says what the letters of its font F mean."""
    means = b"".join(
        b"<%02x> <%b>" % (ord(code), text.encode("utf-16-be").hex().encode()) for code, text in (letters or {}).items()
    )
    cmap = b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange %d beginbfchar %b endbfchar endcmap" % (
        len(letters or {}),
        means,
    )
    return raw_pdf(
        (
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R%b>>"
            % entries,
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica%b>>" % (b"/ToUnicode 6 0 R" if letters else b""),
            stream(content),
            stream(cmap),
        )
    )
