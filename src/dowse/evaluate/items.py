"""Queries made from the documents themselves: what each was taken from is what must be found.

Which documents and which places is decided by their content, so that two runs over the same documents ask the
same, and a few new documents change few of the queries.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b

from dowse.evaluate.results import Judged, Kind
from dowse.ports import Snapshot
from dowse.text.analyse import query_terms
from dowse.types import Chunk, DocumentInfo, Passage

__all__ = ["KINDS", "known_items"]

_MOST_DOCUMENTS = 20
"""How many documents are looked at for each wanted query; a kind that is rarer than that is asked less."""
_FEWEST_LOOKED_AT = 1_000
_FEWEST_TERMS, _TELLING_TERMS = 2, 3
_SENTENCE_TERMS = range(5, 31)
_LONGEST = 300
_ENDS = "\u3002\uff01\uff1f"  # of sentences in Chinese and Japanese, which have no space behind them
_SENTENCE = re.compile(rf"(?<!\S)[^\s#>|*`=+-][^.!?{_ENDS}\n]{{20,}}[.!?](?!\S)|[^\s{_ENDS}]{{8,}}[{_ENDS}]")
_MARKUP = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def known_items(
    snapshot: Snapshot, collections: Sequence[str], sample: int, on_document: Callable[[int, int], None]
) -> list[Judged]:
    """Up to `sample` queries of each kind, at most one of a kind from each document."""
    infos = [info for name in collections for info in snapshot.documents(name)]
    copies: dict[str, list[str]] = {}
    for info in infos:
        copies.setdefault(info.content_hash, []).append(info.file)
    chosen: dict[str, DocumentInfo] = {info.content_hash: info for info in reversed(infos)}
    order = sorted(chosen.values(), key=lambda info: _drawn(info.content_hash))
    order = order[: max(_FEWEST_LOOKED_AT, _MOST_DOCUMENTS * sample)]
    found: dict[Kind, dict[str, Judged]] = {kind: {} for kind in KINDS}
    for number, info in enumerate(order):
        wanting = [kind for kind in KINDS if len(found[kind]) < sample]
        if not wanting:
            break
        passages = _shuffled(snapshot.chunks(info.id))
        grades = dict.fromkeys(copies[info.content_hash], 1)
        for kind in wanting:
            text = next(KINDS[kind](info, passages), "")
            if text and text not in found[kind]:
                found[kind][text] = Judged(text, grades, kind)
        on_document(number + 1, len(order))
    return [item for kind in KINDS for item in found[kind].values()]


def _headings(info: DocumentInfo, passages: Iterable[Passage]) -> Iterator[str]:
    """A heading; a short one together with what it stands below."""
    for passage in passages:
        names = [name for name in passage.chunk.headings if name.strip()]
        if not names or _definition(passage.chunk):
            continue
        text, above = _plain(names[-1]), _plain(names[-2] if len(names) > 1 else info.title)
        if len(query_terms(text)) < _TELLING_TERMS and above != text:
            text = f"{above} {text}"
        if len(query_terms(text)) >= _FEWEST_TERMS:
            yield text


def _sentences(info: DocumentInfo, passages: Iterable[Passage]) -> Iterator[str]:
    """A sentence of running text, word for word."""
    del info  # a sentence says enough
    for passage in passages:
        if _definition(passage.chunk):
            continue
        said = [_plain(found[0]) for found in _SENTENCE.finditer(_MARKUP.sub(r"\1", passage.chunk.text))]
        yield from sorted((text for text in said if len(query_terms(text)) in _SENTENCE_TERMS), key=_drawn)


def _definitions(info: DocumentInfo, passages: Iterable[Passage]) -> Iterator[str]:
    """A function or class of source code, by its name."""
    del info  # its name says enough
    for passage in passages:
        name = _definition(passage.chunk)
        if len(query_terms(name)) >= _FEWEST_TERMS:
            yield name


KINDS: dict[Kind, Callable[[DocumentInfo, Iterable[Passage]], Iterator[str]]] = {
    "heading": _headings,
    "sentence": _sentences,
    "definition": _definitions,
}


def _definition(chunk: Chunk) -> str:
    """The name of what a passage of source code defines; empty for other passages."""
    names = [str(chunk.place[name]) for name in ("class_name", "function_name") if chunk.place.get(name)]
    return ".".join(names)[:_LONGEST]


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(r"\1", text).split())[:_LONGEST]


def _shuffled(passages: Iterable[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda passage: _drawn(passage.chunk.text))


def _drawn(text: str) -> bytes:
    """A place in an order that has nothing to do with what the text says, and is always the same."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
