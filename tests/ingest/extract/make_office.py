"""Office files made by hand, for what the libraries that write them cannot do."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

SCHEMAS = "http://schemas.openxmlformats.org"
RELATIONS = f"{SCHEMAS}/officeDocument/2006/relationships"
WORD = f"{SCHEMAS}/wordprocessingml/2006/main"
SHEET = f"{SCHEMAS}/spreadsheetml/2006/main"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{address}"'
    for prefix, address in {
        "w": WORD,
        "r": RELATIONS,
        "a": f"{SCHEMAS}/drawingml/2006/main",
        "p": f"{SCHEMAS}/presentationml/2006/main",
        "m": f"{SCHEMAS}/officeDocument/2006/math",
        "mc": f"{SCHEMAS}/markup-compatibility/2006",
        "wp": f"{SCHEMAS}/drawingml/2006/wordprocessingDrawing",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "v": "urn:schemas-microsoft-com:vml",
        "dgm": f"{SCHEMAS}/drawingml/2006/diagram",
        "c": f"{SCHEMAS}/drawingml/2006/chart",
    }.items()
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these members."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    """What a zip archive holds."""
    with ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def relations(arrows: Mapping[str, tuple[str, str]]) -> str:
    """A part of relations: ids, each with its kind and target; a target with a colon is outside."""
    each = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if ':' in target else ''}/>"
        for name, (kind, target) in arrows.items()
    )
    return f'<Relationships xmlns="{SCHEMAS}/package/2006/relationships">{each}</Relationships>'


def main_is(part: str) -> dict[str, str]:
    """The member that says which part is the document."""
    return {"_rels/.rels": relations({"rId1": ("officeDocument", part)})}


def word(body: str, links: Mapping[str, tuple[str, str]] | None = None, **parts: str) -> bytes:
    """A Word file of this body; `styles`, `numbering`, `footnotes`, `endnotes` are roots' contents."""
    arrows = {name: (name, f"{name}.xml") for name in parts} | dict(links or {})
    tags = {"styles": "styles", "numbering": "numbering", "footnotes": "footnotes", "endnotes": "endnotes"}
    return zipped(
        main_is("word/document.xml")
        | {
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}<w:sectPr/></w:body></w:document>",
            "word/_rels/document.xml.rels": relations(arrows),
        }
        | {
            f"word/{name}.xml": f"<w:{tags[name]} {NAMESPACES}>{content}</w:{tags[name]}>"
            for name, content in parts.items()
        }
    )


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """A paragraph of one run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def workbook(sheets: Mapping[str, str], strings: str = "", styles: str = "", properties: str = "") -> bytes:
    """A workbook of sheets whose rows are given as XML."""
    arrows = {f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1))
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" {NAMESPACES}>{properties}<sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            arrows | {"rIdS": ("sharedStrings", "sharedStrings.xml"), "rIdT": ("styles", "styles.xml")}
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>',
    }
    for number, rows in enumerate(sheets.values(), 1):
        content = rows if "<sheetData" in rows else f"<sheetData>{rows}</sheetData>"
        parts[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{SHEET}">{content}</worksheet>'
    return zipped(main_is("xl/workbook.xml") | parts)
