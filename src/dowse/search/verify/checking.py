"""How a citation or a quote is checked: first where it was, then in its document, then everywhere."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from heapq import nlargest
from itertools import islice

from dowse.errors import NotFoundError, UsageError
from dowse.ports import Snapshot
from dowse.records import record
from dowse.search import lookup
from dowse.search.citations import Citation, cite, text_hash
from dowse.search.references import Reference, parse_citation
from dowse.search.verify.quotes import difference, is_like, nearest_span, spans_of
from dowse.search.verify.verdicts import State, Verdict
from dowse.text.analyse import query_terms
from dowse.types import Chunk, Document, DocumentInfo, Freshness, Passage, Scope

__all__ = ["verify"]

_PASSAGES = 200  # that are looked at for a quote; more only where they all might be right
_DEEPEST = 3_200
_DOCUMENTS = 100  # that are read in full
_NEAR = 20  # passages that are compared word by word
_LISTED = 10  # places of one text
_SCANNED = 2_000_000  # characters: beyond it, a passage is not looked for by its hash alone
_BEGINNING = re.compile(r"(?:(?<=\W)|\A)\S")

_OLD = {
    "stale": "The file has changed since it was indexed: dowse update",
    "gone": "The file has vanished since it was indexed: dowse update",
}


@record
class _Place:
    """A span of a document's text."""

    document: Document
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


def verify(
    snapshot: Snapshot,
    claim: str,
    *,
    quote: str = "",
    old_texts: Callable[[str], Iterable[str]] = lambda _: (),
    freshness_of: Callable[[DocumentInfo], Freshness] = lambda _: "unknown",
    editor: str = "file",
) -> Verdict:
    """Whether a citation or a quote still holds.

    Args:
        snapshot: the index.
        claim: a citation as `parse_citation` reads it, or the quoted text itself.
        quote: what the citation is said to say.
        old_texts: the texts that were made of the bytes with a hash that starts so, also those of replaced and
            deleted documents.
        freshness_of: compares a document's source with the index.
        editor: for the links of the citations.

    Raises:
        UsageError: there is nothing to check.
    """
    if not claim.strip():
        raise UsageError("There is nothing to verify.", hint="Give a citation (dowse://…) or the quoted text.")
    checking = _Checking(snapshot, editor, freshness_of)
    reference = parse_citation(claim)
    if reference and (reference.is_exact or _document(snapshot, reference)):
        return checking.citation(reference, quote.strip(), old_texts)
    return checking.quote(claim.strip())


class _Checking:
    """What one call of `verify` knows everywhere."""

    def __init__(self, snapshot: Snapshot, editor: str, freshness_of: Callable[[DocumentInfo], Freshness]) -> None:
        self._snapshot = snapshot
        self._editor = editor
        self._freshness_of = freshness_of

    def quote(self, quoted: str) -> Verdict:
        """A text without a place: anywhere will do."""
        if not query_terms(quoted):
            raise UsageError("The quote has no words to look for.", hint="Quote a few words of the text.")
        if places := self._everywhere(quoted):
            return self._verdict("valid", "The text is there.", places)
        if near := self._nearest(quoted):
            return self._changed("The text is there in other words.", quoted, near)
        return Verdict("gone", "No document has this text or one like it.")

    def citation(self, reference: Reference, quoted: str, old_texts: Callable[[str], Iterable[str]]) -> Verdict:
        """A text at a place: there, elsewhere in its document, in another one, in other words, or nowhere."""
        document = _document(self._snapshot, reference)
        place = _place(document, reference) if document else None
        if place and (verdict := self._where_cited(reference, place, quoted)):
            return verdict
        wanted = quoted or _old_passage(reference, old_texts)
        if places := self._elsewhere(reference, wanted, document):
            return self._verdict("moved", _moved(reference, document, places[0]), places)
        near = (document and self._nearest(wanted, document)) or self._nearest(wanted)
        if near:
            return self._changed("The text has changed.", wanted, near)
        if document and not wanted:
            message = "The document has changed, and what the citation said is not known any more."
            return self._verdict("changed", message, [place or _Place(document, 0, 0)])
        what = "The document is there, but the text is not." if document else "The document is not in the index."
        return Verdict("gone", what, freshness=self._freshness_of(document.info) if document else "unknown")

    def _where_cited(self, reference: Reference, place: _Place, quoted: str) -> Verdict | None:
        """The verdict where the place itself still says what was cited."""
        info = place.document.info
        same_content = bool(reference.content_hash) and info.content_hash.startswith(reference.content_hash)
        if quoted:
            found = spans_of(quoted, place.text, 1)
            holds = bool(found)
            place = replace(place, start=place.start + found[0][0], end=place.start + found[0][1]) if found else place
        elif reference.text_hash and reference.span:
            holds = text_hash(place.text) == reference.text_hash
        else:
            holds = same_content or not reference.content_hash
        if not holds:
            return None
        notes = []
        if reference.content_hash and not same_content:
            notes.append("The document has changed, but not here.")
        if not quoted and not reference.content_hash and not reference.text_hash:
            notes.append("The citation has no hash, so that only its place could be checked.")
        return self._verdict("valid", "The text is there as cited.", [place], notes)

    def _elsewhere(self, reference: Reference, wanted: str, document: Document | None) -> list[_Place]:
        """The same text at other places: in its document, in copies of it, in any document."""
        if document:
            spans = spans_of(wanted, document.text) if wanted else _by_hash(reference, document.text)
            if spans:
                return _nearest_first([_Place(document, *span) for span in spans], reference)
        copies = self._snapshot.find(reference.content_hash, "hash") if reference.content_hash else []
        for info in copies:
            copy = self._snapshot.document(info.id) if not (document and info.id == document.info.id) else None
            if copy and (places := _in_copy(reference, wanted, copy)):
                return places
        return self._everywhere(wanted) if wanted and query_terms(wanted) else []

    def _everywhere(self, quoted: str) -> list[_Place]:
        """Where any document has this text."""
        depth = _PASSAGES
        while True:
            passages = self._passages_like(quoted, depth)
            found = (
                _Place(document, *span)
                for document in self._documents_of(passages)
                for span in spans_of(quoted, document.text)
            )
            places = list(islice(found, _LISTED))
            if places or len(passages) < depth or depth >= _DEEPEST:
                return places
            depth *= 4

    def _nearest(self, wanted: str, document: Document | None = None) -> _Place | None:
        """The text that is most like this one, in one document or in all; None where none is."""
        if not wanted:
            return None
        best, most = None, 0.0
        for candidate, start, end in self._candidates(wanted, document):
            ratio, first, last = nearest_span(wanted, candidate.text[start:end])
            if ratio > most:
                best, most = _Place(candidate, start + first, start + last), ratio
        return best if is_like(most) else None

    def _candidates(self, wanted: str, document: Document | None) -> Iterator[tuple[Document, int, int]]:
        """Parts of documents that share words with a text, with as much around them as it is long."""
        if document:
            passages = self._snapshot.chunks(document.info.id)
            scores = self._snapshot.lexical_scores(query_terms(wanted), [passage.ref for passage in passages])
            passages = nlargest(_NEAR, passages, key=lambda passage: scores.get(passage.ref, 0.0))
        else:
            passages = self._passages_like(wanted, _NEAR)
        documents = {each.info.id: each for each in self._documents_of(passages)}
        for passage in passages:
            if found := documents.get(passage.info.id):
                yield found, max(0, passage.chunk.start - len(wanted)), passage.chunk.end + len(wanted)

    def _passages_like(self, text: str, depth: int) -> list[Passage]:
        ranked = self._snapshot.lexical(query_terms(text), depth, Scope())
        return self._snapshot.passages([ref for ref, _ in ranked.hits])

    def _documents_of(self, passages: list[Passage]) -> Iterator[Document]:
        ids = dict.fromkeys(passage.info.id for passage in passages)
        for identifier in islice(ids, _DOCUMENTS):
            if document := self._snapshot.document(identifier):
                yield document

    def _changed(self, message: str, old: str, place: _Place) -> Verdict:
        verdict = self._verdict("changed", message, [place])
        return replace(verdict, diff=difference(old, place.text))

    def _verdict(self, state: State, message: str, places: list[_Place], notes: list[str] | None = None) -> Verdict:
        freshness = self._freshness_of(places[0].document.info)
        said = [*(notes or []), *([_OLD[freshness]] if freshness in _OLD else [])]
        if len(places) == _LISTED:
            said.append(f"Only the first {_LISTED} places are listed.")
        citations = tuple(map(self._cited, places))
        return Verdict(state, message, citations, tuple(place.text for place in places), "", freshness, tuple(said))

    def _cited(self, place: _Place) -> Citation:
        """The citation of a span, with the page and headings of the passage that it starts in."""
        document, start = place.document, place.start
        before = [each.chunk for each in self._snapshot.chunks(document.info.id) if each.chunk.start <= start]
        about = before[-1] if before else Chunk("", 0, 0, 1, 1, 0)
        first_line = document.text.count("\n", 0, start) + 1
        last_line = first_line + place.text.rstrip("\n").count("\n")
        span = replace(about, text=place.text, start=start, end=place.end, first_line=first_line, last_line=last_line)
        return cite(document.info, span, self._editor)


def _document(snapshot: Snapshot, reference: Reference) -> Document | None:
    """The document that a citation names. A URI names it whole: the end of another path would be another document."""
    if not reference.is_exact:
        try:
            return lookup.get(snapshot, reference.name)
        except NotFoundError:
            return None
    named = snapshot.find(reference.name, "path")
    return snapshot.document(named[0].id) if named else None


def _place(document: Document, reference: Reference) -> _Place | None:
    """The span that a citation names, as far as the document has it; all of it where it names none."""
    text = document.text
    if reference.span:
        start, end = reference.span
        return _Place(document, start, end) if start <= end <= len(text) else None
    if reference.lines is None:
        return _Place(document, 0, len(text))
    first, last = reference.lines
    lines = text.split("\n")
    if not 1 <= first <= len(lines):
        return None
    start = sum(len(line) + 1 for line in lines[: first - 1])
    return _Place(document, start, start + len("\n".join(lines[first - 1 : last])))


def _old_passage(reference: Reference, old_texts: Callable[[str], Iterable[str]]) -> str:
    """What the citation said, if the index remembers it."""
    if not reference.content_hash or not reference.span:
        return ""
    passages = (text[slice(*reference.span)] for text in old_texts(reference.content_hash))
    return next((each for each in passages if reference.text_hash in ("", text_hash(each))), "")


def _in_copy(reference: Reference, wanted: str, copy: Document) -> list[_Place]:
    """Where a document with the same bytes has the text; its extractor may have been another one."""
    if wanted:
        return _nearest_first([_Place(copy, *span) for span in spans_of(wanted, copy.text)], reference)
    place = _place(copy, reference)
    return [place] if place and reference.text_hash in ("", text_hash(place.text)) else []


def _by_hash(reference: Reference, text: str) -> list[tuple[int, int]]:
    """Where a passage stands of which only length and hash are known: tried from the beginning of every word."""
    if not (reference.span and reference.text_hash) or len(text) > _SCANNED:
        return []
    length = reference.span[1] - reference.span[0]
    starts = (found.start() for found in _BEGINNING.finditer(text) if found.start() + length <= len(text))
    return [(at, at + length) for at in starts if text_hash(text[at : at + length]) == reference.text_hash][:_LISTED]


def _nearest_first(places: list[_Place], reference: Reference) -> list[_Place]:
    was = reference.span[0] if reference.span else 0
    return sorted(places, key=lambda place: abs(place.start - was))[:_LISTED]


def _moved(reference: Reference, document: Document | None, place: _Place) -> str:
    if document and place.document.info.id == document.info.id:
        line = document.text.count("\n", 0, place.start) + 1
        return f"The same text stands at line {line:,} of the document now."
    return f"The same text stands in {place.document.info.file} now; {reference.name} does not have it."
