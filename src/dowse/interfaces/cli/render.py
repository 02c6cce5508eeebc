"""Search results and documents in every output format: data in, text out.

`hits` and `documents` are the two doors; each is a table from format to function. All formats but
`cli` are projections of the dictionaries of `wire`, so that they never disagree with the JSON.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import click

from dowse.interfaces import wire
from dowse.interfaces.cli.terminal import clean, one_line
from dowse.records import record
from dowse.types import Document, Hit, LedgerEntry

FORMATS = ("cli", "json", "csv", "md", "xml", "files")

_OLD = {"stale": "changed since", "gone": "file is gone"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot hold, not even escaped."""
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


@record
class Look:
    """How results are to look."""

    format: str = "cli"
    line_numbers: bool = False
    explain: bool = False
    coloured: bool = False
    editor: str = "file"
    """For the links of citations."""


def hits(found: Sequence[Hit], bodies: Mapping[str, str], look: Look) -> str:
    """Search results; `bodies` has whole texts by document id where those were asked for."""
    if look.format == "cli":
        return "\n".join(_card(hit, bodies.get(str(hit.info.id)), look) for hit in found)
    rows = [
        wire.hit(
            hit,
            line_numbers=look.line_numbers,
            explain=look.explain,
            body=bodies.get(str(hit.info.id)),
            editor=look.editor,
        )
        for hit in found
    ]
    return _HITS[look.format](rows)


def documents(found: Sequence[Document], missed: Sequence[tuple[str, str]], look: Look, *, cut: bool = False) -> str:
    """Documents, `cut` where a limit of lines applied. What was missed shows in the JSON alone."""
    rows = [wire.document(each, line_numbers=look.line_numbers) for each in found]
    for row, each in zip(rows, found, strict=True):
        row["body"] += _cut_notice(each) if cut else ""
    if look.format == "json":
        return wire.dumps([*rows, *(wire.missed(name, reason) for name, reason in missed)])
    return _DOCUMENTS[look.format](rows)


def ledger_line(entry: LedgerEntry) -> str:
    """A file that is not indexed: which, since when, why, and what to do."""
    hint = f" ({entry.hint})" if entry.hint else ""
    day = (wire.iso(entry.at) or "").partition("T")[0]
    return one_line(f"{entry.state}: {entry.collection}/{entry.path}: {day} {entry.reason}{hint}")


def _cut_notice(document: Document) -> str:
    """The specification's words for the lines that a limit left out."""
    rest = document.total_lines - (document.first_line - 1) - (document.text.count("\n") + 1)
    return f"\n\n[... truncated {rest} more lines]" if rest > 0 else ""


def _card(hit: Hit, body: str | None, look: Look) -> str:
    """A result for people: where it is, what it is called, and the lines that matter."""
    paint: Callable[..., str] = click.style if look.coloured else _unpainted
    page = f" (page {hit.chunk.page})" if hit.chunk.page else ""
    place = f"{one_line(hit.info.file)}:{hit.snippet.first_line}{page}"
    score = f"{hit.score:.2f}"
    old = f"  {paint(_OLD[hit.freshness], fg='yellow')}" if hit.freshness in _OLD else ""
    lines = [f"{paint(place, bold=True)}  {paint(hit.info.docid, fg='cyan')}  {paint(score, fg='green')}{old}"]
    lines.append(" > ".join(one_line(part) for part in _heading_path(hit)))
    lines += [paint(f"Context: {one_line(text)}", dim=True) for text in hit.contexts]
    if hit.copies:
        lines.append(paint(f"Also in: {', '.join(map(one_line, hit.copies))}", dim=True))
    if look.explain:
        lines.append(paint(_explanation(hit), dim=True))
    if body is None:
        text, first_line = _highlighted(hit, paint), hit.snippet.first_line
    else:
        text, first_line = clean(body), 1
    shown = wire.numbered(text, first_line) if look.line_numbers else text
    lines += ["", *(f"  {line}".rstrip() for line in shown.strip("\n").split("\n")), ""]
    return "\n".join(lines)


def _unpainted(text: str, **_how: object) -> str:
    return text


def _heading_path(hit: Hit) -> list[str]:
    """The title, then the headings above the passage, without saying the title twice."""
    headings = list(hit.chunk.headings)
    return headings if headings[:1] == [hit.info.title] else [hit.info.title, *headings]


def _highlighted(hit: Hit, paint: Callable[..., str]) -> str:
    text, parts, at = hit.snippet.text, [], 0
    for start, end in hit.snippet.highlights:
        parts += [clean(text[at:start]), paint(clean(text[start:end]), bold=True)]
        at = end
    return "".join([*parts, clean(text[at:])])


def _explanation(hit: Hit) -> str:
    """One line: the evidence of every leg and feature, their weighted sum and the calibrated score."""
    legs = [
        f"{leg.name} {'not in its list' if leg.rank is None else f'rank {leg.rank}'}, "
        f"{leg.raw:.3f} -> {leg.value:.3f} x {leg.weight:.2f}"
        for leg in hit.explain.legs
    ]
    features = [f"{each.name} {each.value:.3f} x {each.weight:.2f}" for each in hit.explain.features]
    return f"Explain: {'; '.join([*legs, *features])}; fused {hit.explain.fused:.3f}, score {hit.explain.score:.3f}"


_Rows = Sequence[wire.Json]


def _table(rows: Iterable[Iterable[object]]) -> str:
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _csv(header: Sequence[str], rows: _Rows) -> str:
    return _table([header, *([row[key] for key in header] for row in rows)])


def _hit_columns(rows: _Rows) -> str:
    header = ["docid", "score", "file", "title", "context", "line", "snippet"]
    full = [key for key in ("body",) if any(key in row for row in rows)]
    return _csv([*header, *full], rows)


def _hit_lines(rows: _Rows) -> str:
    """`docid,score,collection/path,context`, one line per file."""
    return _table(
        [row["docid"], f"{row['score']:.2f}", one_line(row["file"]), one_line(row["context"] or "")] for row in rows
    )


def _document_lines(rows: _Rows) -> str:
    return _table([row["docid"], one_line(row["file"]), one_line(row["context"] or "")] for row in rows)


def _markdown(rows: _Rows) -> str:
    return "\n".join(_markdown_entry(row) for row in rows)


def _markdown_entry(row: wire.Json) -> str:
    line = f":{row['line']}" if "line" in row else ""
    facts = [f"- file: `{one_line(row['file'])}{line}`", f"- docid: `{row['docid']}`"]
    if "score" in row:
        facts.append(f"- score: {row['score']:.2f}")
    if row["context"]:
        facts.append(f"- context: {one_line(row['context'])}")
    text = (row["body"] if "body" in row else row["snippet"]).strip("\n")
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])
    return "\n".join([f"## {one_line(row['title'])}", "", *facts, "", f"{fence}text", text, fence, ""])


def _xml(root: str, entry: str, rows: _Rows) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<{root}>"]
    for row in rows:
        named = {key: row[key] for key in ("docid", "file", "title", "score", "line", "context") if key in row}
        shown = {key: _xml_text(value).replace("\n", "&#10;") for key, value in named.items() if value is not None}
        attributes = "".join(f' {key}="{value}"' for key, value in shown.items())
        text = row["body"] if "body" in row else row["snippet"]
        lines.append(f"  <{entry}{attributes}>{_xml_text(text)}</{entry}>")
    return "\n".join([*lines, f"</{root}>"])


def _xml_text(value: object) -> str:
    """Escaped for attributes and text alike; a bare CR would be read back as a newline."""
    import html

    return html.escape(_NOT_XML.sub("", str(value))).replace("\r", "&#13;")


_HITS: Mapping[str, Callable[[_Rows], str]] = {
    "json": wire.dumps,
    "csv": _hit_columns,
    "md": _markdown,
    "xml": lambda rows: _xml("results", "result", rows),
    "files": _hit_lines,
}


def _document_cards(rows: _Rows) -> str:
    return "\n".join(f"==> {one_line(row['file'])}  {row['docid']} <==\n{clean(row['body'])}\n" for row in rows)


_DOCUMENTS: Mapping[str, Callable[[_Rows], str]] = {
    "cli": _document_cards,
    "csv": lambda rows: _csv(["docid", "file", "title", "context", "body"], rows),
    "md": _markdown,
    "xml": lambda rows: _xml("documents", "document", rows),
    "files": _document_lines,
}
