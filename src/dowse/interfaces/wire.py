"""The one mapping from nouns to JSON, shared by every interface that speaks it.

Functions take nouns and return plain dictionaries, `dumps` turns those into text. The keys of `hit`
and of `status` that the qmd specification names are spelled as there; the others are snake_case.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from dowse.errors import DowseError
from dowse.search.citations import Citation, citation_of
from dowse.types import (
    Answer,
    Collection,
    CollectionStats,
    Context,
    Document,
    DocumentInfo,
    EmbedReport,
    Finding,
    Hit,
    IndexReport,
    IngestReport,
    LedgerEntry,
    StoreStats,
    TransferReport,
    Verdict,
)

if TYPE_CHECKING:
    from dowse.evaluate import Comparison, Evaluation
    from dowse.ingest.watch.state import WatchStatus
    from dowse.search.verify import Verdict as Checked
    from dowse.search.why import Why

Json: TypeAlias = dict[str, Any]

VERDICTS: Mapping[Verdict, str] = {
    "found": "in your documents",
    "uncertain": "perhaps not in your documents",
    "absent": "probably not in your documents",
}
"""What the verdicts on an answer mean, for people."""

_UNSAFE = re.compile("[\x7f-\x9f\ud800-\udfff]")
"""What json leaves as it is, but a terminal (C1 controls) or UTF-8 (half surrogates) cannot take."""


def dumps(value: object) -> str:
    """Readable JSON that survives any terminal and encoding, without a newline at the end."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def compact(value: object) -> str:
    """JSON for programs, which can be encoded: only where there are halves of characters is all of it escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


@lru_cache(maxsize=1024)  # of the documents that are found again and again
def iso(milliseconds: int) -> str | None:
    """A stored time as ISO 8601 in UTC with milliseconds and Z; None for a time that never was."""
    if not milliseconds:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def numbered(text: str, first_line: int = 1) -> str:
    """The text with `N: ` in front of each line, N its true line number."""
    if not text:
        return text
    ending = "\n" if text.endswith("\n") else ""
    lines = text.removesuffix("\n").split("\n")
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, first_line)) + ending


def context_text(contexts: Sequence[str]) -> str | None:
    """All contexts that apply, general ones first, one per line."""
    return "\n".join(contexts) or None


def hit(
    found: Hit, *, line_numbers: bool = False, explain: bool = False, body: str | None = None, editor: str = "file"
) -> Json:
    """One search result; `body` is the document's whole text where it was asked for."""
    info, chunk, snippet = found.info, found.chunk, found.snippet
    cited = citation_of(found, editor)
    made: Json = {
        "docid": info.docid,
        "file": info.file,
        "title": info.title,
        "score": round(found.score, 4),
        "line": snippet.first_line,
        "context": context_text(found.contexts),
        "snippet": numbered(snippet.text, snippet.first_line) if line_numbers else snippet.text,
        "headings": list(chunk.headings),
        "page": chunk.page,
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "start": chunk.start,
        "end": chunk.end,
        "place": dict(chunk.place),
        "passage": found.ordinal,
        "id": str(info.id),
        "content_hash": info.content_hash,
        "uri": info.uri,
        "citation": cited.uri,
        "editor": cited.editor,
        "freshness": found.freshness,
    }
    if found.copies:
        made["copies"] = list(found.copies)
    if explain:
        made["explain"] = asdict(found.explain)
    if body is not None:
        made["body"] = numbered(body) if line_numbers else body
    return made


def verdict_of(answer: Answer) -> Json:
    """Whether what was asked is in the documents at all, and how sure that is."""
    return {"verdict": answer.verdict, "confidence": round(answer.confidence, 4)}


def citation(made: Citation) -> Json:
    """Where a text stands, in every form."""
    return {
        "uri": made.uri,
        "file": made.file,
        "first_line": made.first_line,
        "last_line": made.last_line,
        "start": made.start,
        "end": made.end,
        "page": made.page,
        "headings": list(made.headings),
        "id": str(made.id),
        "content_hash": made.content_hash,
        "editor": made.editor,
    }


def verdict(made: "Checked") -> Json:
    """Whether a citation or quote holds, and where or how."""
    places = zip(made.citations, made.quotes, strict=True)
    return {
        "state": made.state,
        "message": made.message,
        "citations": [citation(each) | {"text": text} for each, text in places],
        "diff": made.diff or None,
        "freshness": made.freshness,
        "notes": list(made.notes),
    }


def why(reason: "Why") -> Json:
    """Why a document is found or not; `hit` is its best passage, with the score of each leg."""
    return {
        "outcome": reason.outcome,
        "message": reason.message,
        "hint": reason.hint or None,
        "file": reason.info.file if reason.info else None,
        "rank": reason.rank,
        "score": round(reason.hit.score, 4) if reason.hit else None,
        "last_score": None if reason.last_score is None else round(reason.last_score, 4),
        "filtered_by": reason.filtered_by or None,
        "words": list(reason.words),
        "hit": hit(reason.hit, explain=True) if reason.hit else None,
        "ledger": ledger_entry(reason.entry) if reason.entry else None,
        "notes": list(reason.notes),
    }


def evaluation(made: "Evaluation") -> Json:
    """The figures of each mode, and what changed since the run before."""
    return {
        "name": made.name,
        "at": iso(made.at),
        "queries": dict(made.queries),
        "modes": {
            mode.mode: {
                "queries": mode.queries,
                **_rounded(mode.figures),
                "p50_ms": round(mode.p50_ms, 2),
                "p95_ms": round(mode.p95_ms, 2),
                "by_kind": {kind: _rounded(figures) for kind, figures in mode.by_kind.items()},
            }
            for mode in made.modes
        },
        "state": dict(made.state),
        "problems": list(made.problems),
        "notes": list(made.notes),
        "worse": [f"{each.mode} {each.metric}" for each in made.worse],
        "compared": _comparison(made.compared) if made.compared else None,
    }


def _comparison(made: "Comparison") -> Json:
    return {
        "since": iso(made.since),
        "common_queries": made.common,
        "changes": list(made.changes),
        "differences": [
            {"mode": each.mode, "metric": each.metric}
            | _rounded({"before": each.before, "now": each.now, "noise": each.noise})
            | {"verdict": each.verdict}
            for each in made.differences
        ],
    }


def _rounded(figures: Mapping[Any, float]) -> Json:
    return {name: round(value, 4) for name, value in figures.items()}


def document_info(info: DocumentInfo) -> Json:
    """A document as listings show it."""
    return {
        "docid": info.docid,
        "file": info.file,
        "title": info.title,
        "collection": info.collection,
        "path": info.path,
        "uri": info.uri,
        "bytes": info.fingerprint.size,
        "media_type": info.media_type,
        "origin": info.origin,
        "chunks": info.chunks,
        "metadata": dict(info.metadata),
        "id": str(info.id),
        "content_hash": info.content_hash,
        "updated": iso(info.updated_at),
    }


def document(found: Document, *, line_numbers: bool = False) -> Json:
    """A document with its text, or with the lines that were asked for."""
    return {
        "docid": found.info.docid,
        "file": found.info.file,
        "title": found.info.title,
        "context": context_text(found.contexts),
        "first_line": found.first_line,
        "total_lines": found.total_lines,
        "id": str(found.info.id),
        "content_hash": found.info.content_hash,
        "body": numbered(found.text, found.first_line) if line_numbers else found.text,
    }


def missed(name: str, reason: str) -> Json:
    """A name that `get_many` could not answer, among the documents that it could."""
    return {"file": name, "skipped": True, "reason": reason}


def collection(stats: CollectionStats) -> Json:
    """A collection with its counts: the entry of StatusResult and more."""
    known: Collection = stats.collection
    return {
        "name": known.name,
        "path": known.root or "",
        "pattern": known.pattern if known.root else "",
        "documents": stats.documents,
        "lastUpdated": iso(known.updated_at or known.created_at),
        "description": known.description,
        "included": known.included,
        "exclude": list(known.exclude),
        "chunking": asdict(known.chunking) if known.chunking else None,
        "chunks": stats.chunks,
        "needsEmbedding": stats.unembedded,
        "failed": stats.failed,
        "skipped": stats.skipped,
    }


def status(stats: StoreStats, failures: Iterable[LedgerEntry], *, version: str) -> Json:
    """StatusResult and more; apart from times it depends only on what is indexed, not on how that came."""
    return {
        "totalDocuments": stats.documents,
        "needsEmbedding": sum(each.unembedded for each in stats.collections),
        "hasVectorIndex": stats.vectors > 0,
        "collections": [collection(each) for each in stats.collections],
        "chunks": stats.chunks,
        "vectors": stats.vectors,
        "model": asdict(stats.model) if stats.model else None,
        "nextModel": asdict(stats.successor) if stats.successor else None,
        "failures": [ledger_entry(entry) for entry in failures],
        "version": version,
    }


def watched(status: "WatchStatus") -> Json:
    """Whether anybody keeps the index up to date; apart from `state`, null where nobody ever did."""
    return {
        "state": status.state,
        "pid": status.pid or None,
        "since": iso(status.since),
        "collections": dict(status.collections),
        "batches": status.batches,
        "lastBatch": iso(status.last_batch_at),
        "problems": dict(status.problems),
    }


def ledger_entry(entry: LedgerEntry) -> Json:
    """A file that is not indexed, and why."""
    return {
        "file": f"{entry.collection}/{entry.path}",
        "state": entry.state,
        "code": entry.code,
        "reason": entry.reason,
        "hint": entry.hint,
        "at": iso(entry.at),
    }


def ingest_report(report: IngestReport) -> Json:
    """What became of the sources that were given."""
    return {
        "ingested": [document_info(each.info) | {"action": each.action} for each in report.done],
        "failed": [ledger_entry(entry) for entry in report.failed],
        "skipped": [ledger_entry(entry) for entry in report.skipped],
    }


def index_report(report: IndexReport) -> Json:
    """What one indexing run of one collection did."""
    return {
        "collection": report.collection,
        "added": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "chunks": report.chunks,
        "failed": [ledger_entry(entry) for entry in report.failed],
        "skipped": [ledger_entry(entry) for entry in report.skipped],
        "guarded": report.guarded or None,
    }


def embed_report(report: EmbedReport) -> Json:
    """What one embedding run did."""
    return {
        "embedded": report.embedded,
        "remaining": report.remaining,
        "seconds": round(report.seconds, 3),
    }


def transfer_report(report: TransferReport) -> Json:
    """What a backup, an export or the reverse of either carried; the collection is null for a whole index."""
    return {
        "collection": report.collection or None,
        "documents": report.documents,
        "vectors": report.vectors,
        "bytes": report.size,
        "notes": list(report.notes),
    }


def context(known: Context) -> Json:
    """A context; the collection is null for one that describes everything."""
    return {"collection": known.collection, "prefix": known.prefix, "text": known.text}


def finding(found: Finding) -> Json:
    """One result of a health check."""
    return {"check": found.check, "ok": found.ok, "message": found.message, "hint": found.hint}


def error(failure: DowseError) -> Mapping[str, Json]:
    """The one shape of errors."""
    return {
        "error": {
            "code": failure.code,
            "message": failure.message,
            "hint": failure.hint,
            "details": failure.details,
        }
    }
