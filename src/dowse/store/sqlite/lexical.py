"""The tantivy index over analysed terms: BM25 for chunks, derived from SQLite and replaceable at any time.

Every entry carries the ref of its chunk, the version of its document and its collection. Which versions
are live is SQLite's to say: the index may hold dead ones for a while and is never asked about it.
"""

import errno
import json
import os
import shutil
import struct
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import neg
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from dowse.durable import make_folder
from dowse.ports import NONE, Alternatives
from dowse.records import record
from dowse.text.fields import BOOSTS, ceiling, idf

WRITER_BYTES = 50_000_000  # one segment per batch for batches of some 40 MB of terms
LEAST_WRITER_BYTES = 15_000_000  # tantivy works with no less
_TEXT_OPTION = "freq"
_CHECKS = 5
_WORDS_KEPT = 4096  # the terms that searches asked for since the last commit, some 4 MB
_QUERIES_KEPT = 512  # of them, put together; some 2 MB
_SEGMENT_FILES = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_FOOTER = struct.Struct("<II")  # at the end of each of them: the length of a JSON text before it, and a mark


class LexicalError(OSError):
    """The word index cannot be read or written; SQLite has everything that is needed to make it anew."""


@record
class Entry:
    """One chunk as tantivy gets it: analysed terms, joined by spaces, per field."""

    ref: int
    version: int
    collection: int
    fields: Mapping[str, str]


class LexicalIndex:
    """The files of one generation."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @staticmethod
    def at(directory: Path, generation: int) -> "LexicalIndex":
        """The index of this generation inside the directory of a store."""
        return LexicalIndex(directory / f"lexical-{generation}")

    def opstamp(self) -> int | None:
        """The number of the last commit; None where there is no readable index."""
        try:
            return int(json.loads(self._read_meta())["opstamp"])
        except (ValueError, KeyError, TypeError):
            return None

    def problem(self, *, thorough: bool = False) -> str | None:
        """What is wrong with the files, None when they can be read; `thorough` compares their checksums."""
        for _ in range(_CHECKS):
            before = self._read_meta()
            found = self._problem(before, thorough=thorough)
            if found is None or self._read_meta() == before:
                break  # else a writer has replaced files meanwhile: look again
        return found

    def waste(self) -> float:
        """Which share of the entries is dead, and takes space until its segment is merged with others."""
        try:
            segments = json.loads(self._read_meta())["segments"]
            dead = sum(each["deletes"]["num_deleted_docs"] for each in segments if each.get("deletes"))
            return float(dead / max(1, sum(each["max_doc"] for each in segments)))
        except (ValueError, KeyError, TypeError):
            return 0.0  # what cannot be read is rebuilt for other reasons

    def _problem(self, meta: bytes, *, thorough: bool) -> str | None:
        try:
            for segment in json.loads(meta)["segments"]:
                for kind in _SEGMENT_FILES:
                    path = self._directory / f"{segment['segment_id'].replace('-', '')}.{kind}"
                    if not path.exists():
                        return f"{path.name} is missing"
                    if thorough and not _is_whole(path.read_bytes()):
                        return f"{path.name} is damaged"
            self.load()
        except (OSError, ValueError, KeyError, TypeError) as error:
            return str(error) or type(error).__name__
        return None

    def _read_meta(self) -> bytes:
        """The file that names the segments; empty where there is none."""
        with suppress(OSError):
            return (self._directory / "meta.json").read_bytes()
        return b""

    def commit(
        self,
        entries: Iterable[Entry],
        dead: Sequence[int] = (),
        newer_than: int | None = None,
        *,
        heap: int = WRITER_BYTES,
    ) -> int:
        """Add entries and remove versions in one commit; returns its opstamp.

        Entries beyond what `heap` bytes hold go to the disk, to be seen by nobody before the commit.
        `newer_than` also removes every version above it: what a crash added and SQLite never learnt of.
        """
        if not self._directory.exists():
            make_folder(self._directory)
        self._sweep()
        with _in_os_words(self._directory):
            index = tantivy.Index(_schema(), str(self._directory), reuse=True)
            writer = index.writer(max(LEAST_WRITER_BYTES, heap), num_threads=1)
            try:
                if newer_than is not None:
                    query = tantivy.Query.range_query(
                        index.schema, "version", tantivy.FieldType.Unsigned, newer_than, None, include_lower=False
                    )
                    writer.delete_documents_by_query(query)
                if dead:
                    # By query: `delete_documents_by_term` takes every int for a signed one and finds nothing.
                    writer.delete_documents_by_query(tantivy.Query.term_set_query(index.schema, "version", list(dead)))
                for entry in entries:
                    writer.add_document(_document(entry))
                opstamp = writer.commit()
            except BaseException:
                # A writer whose disk is full cannot roll back either; what it left is swept by the next one.
                with suppress(ValueError):
                    writer.rollback()
                raise
            finally:
                with suppress(ValueError):
                    writer.wait_merging_threads()
        return int(opstamp)

    def _sweep(self) -> None:
        """Remove the lists of deletions of a writer that died before it committed.

        Such a list is named by its segment and by the number of the commit that it was for, which the next writer
        may well give again, and tantivy refuses to write to a name that is taken.
        """
        committed = self.opstamp()
        for path in self._directory.glob("*.del"):
            number = path.stem.rpartition(".")[2]
            if committed is not None and number.isdecimal() and int(number) > committed:
                path.unlink(missing_ok=True)

    def load(self) -> "LexicalView":
        """A view of the last commit."""
        if os.access(self._directory, os.W_OK):
            return _view(self._directory)
        # tantivy takes a lock file to read; where we may not write, it reads through links elsewhere.
        names = [name for name in os.listdir(self._directory) if not name.endswith(".lock")]  # noqa: PTH208  # names
        links = Path(tempfile.mkdtemp(prefix="dowse-"))
        try:
            for name in names:
                (links / name).symlink_to(self._directory / name)
            view = _view(links)
        except BaseException:
            shutil.rmtree(links, ignore_errors=True)
            raise
        weakref.finalize(view, shutil.rmtree, links, ignore_errors=True)
        return view

    def remove(self) -> None:
        """Delete the files; what another process holds open on a system that minds stays behind."""
        shutil.rmtree(self._directory, ignore_errors=True)


class _Word(NamedTuple):
    """A term as one commit knows it."""

    clauses: tuple[tuple[Any, Any], ...]
    """What asks for it, in every field that has it; the others could only cost time."""
    ceiling: float
    """The most that BM25 could give for it, over all fields."""
    having: int
    """How many chunks have it among their own words."""


class LexicalView:
    """One commit of the index, for searching; what it once looked up of a term stays true."""

    def __init__(self, searcher: Any, schema: Any) -> None:
        self._searcher = searcher
        self._schema = schema
        self._total: int = searcher.num_docs
        self._words: dict[str, _Word] = {}
        self._queries: dict[tuple[str, ...], Any] = {}

    def search(
        self,
        terms: Sequence[str],
        count: int,
        within: Mapping[str, Iterable[int]],
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> list[tuple[int, float]]:
        """The best entries for any of the terms, best first, ties by ref.

        `within` gives the values that `collection`, `version` or `ref` may have; a field without any is free.
        """
        if not within and not required:
            return self._run(self._any_of(terms, alternatives), count)
        wanted = [tantivy.Query.term_set_query(self._schema, field, list(values)) for field, values in within.items()]
        # Side by side, never inside of one another: tantivy goes down into each with the stack of this thread.
        words = self._looked_up(list(dict.fromkeys(required)))
        wanted += [tantivy.Query.boolean_query(list(word.clauses)) for word in words]
        return self._run(_only(self._any_of(terms, alternatives), *wanted), count)

    def scores(self, terms: Sequence[str], refs: Sequence[int], alternatives: Alternatives = NONE) -> dict[int, float]:
        """The scores of just these entries, without those that match nothing."""
        if not refs or not terms:
            return {}
        chosen = tantivy.Query.term_set_query(self._schema, "ref", list(refs))
        return dict(self._run(_only(self._any_of(terms, alternatives), chosen), len(refs)))

    def ceiling(self, terms: Sequence[str], alternatives: Alternatives = NONE) -> float:
        """The most that BM25 could give for these terms: every field full of every one of them."""
        if not alternatives:
            return sum([word.ceiling for word in self._looked_up(terms)])
        most = 0.0
        for term, word in zip(terms, self._looked_up(terms), strict=True):
            others = alternatives.get(term, {})
            ceilings = [weight * other.ceiling for weight, other in self._weighed(others)]
            most += max([word.ceiling, *ceilings])
        return most

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many entries' own words each term stands."""
        return {term: word.having for term, word in zip(terms, self._looked_up(terms), strict=True)}

    def completions(self, prefix: str, limit: int) -> list[str]:
        """The most frequent terms that start so."""
        with _in_os_words():
            return [term for term, _ in self._searcher.terms_with_prefix("body", prefix, limit=limit)]

    def refs(self) -> list[int]:
        """Every entry's ref, for checking."""
        return [ref for ref, _ in self._run(tantivy.Query.all_query(), self._total)]

    def _any_of(self, terms: Sequence[str], alternatives: Alternatives) -> Any:
        if not alternatives:
            key = tuple(terms)
            query = self._queries.get(key)
            if query is None:
                plain = [clause for word in self._looked_up(terms) for clause in word.clauses]
                if len(self._queries) >= _QUERIES_KEPT:
                    self._queries = {}
                query = self._queries[key] = tantivy.Query.boolean_query(plain)
            return query
        clauses: list[tuple[Any, Any]] = []
        for term, word in zip(terms, self._looked_up(terms), strict=True):
            others = self._weighed(alternatives.get(term, {}))
            if not others:
                clauses += word.clauses
                continue
            group = [tantivy.Query.boolean_query(list(word.clauses))]
            group += [
                tantivy.Query.boost_query(tantivy.Query.boolean_query(list(other.clauses)), weight)
                for weight, other in others
            ]
            clauses.append((tantivy.Occur.Should, tantivy.Query.disjunction_max_query(group)))
        return tantivy.Query.boolean_query(clauses)

    def _weighed(self, others: Mapping[str, float]) -> "list[tuple[float, _Word]]":
        return list(zip(others.values(), self._looked_up(list(others)), strict=True))

    def _looked_up(self, terms: Sequence[str]) -> list[_Word]:
        words = self._words
        if len(words) > _WORDS_KEPT:
            words = self._words = {}
        for term in terms:
            if term not in words:
                words[term] = self._look_up(term)
        return [words[term] for term in terms]

    def _look_up(self, term: str) -> _Word:
        with _in_os_words():
            counts = {field: self._searcher.doc_freq(field, term) for field in BOOSTS}
        # Entries of dead versions count for a while, so that a term may seem to be in more than all.
        idfs = {field: [idf(max(self._total, count), count)] for field, count in counts.items() if count}
        return _Word(
            clauses=tuple(
                (
                    tantivy.Occur.Should,
                    tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, field, term, _TEXT_OPTION), boost),
                )
                for field, boost in BOOSTS.items()
                if counts[field]
            ),
            ceiling=ceiling(idfs),
            having=counts["body"],
        )

    def _run(self, query: Any, count: int) -> list[tuple[int, float]]:
        if not self._total:
            return []
        with _in_os_words():
            # tantivy makes room for as many hits as it is asked for.
            hits = self._searcher.search(query, limit=min(count, self._total), count=False).hits
            if not hits:
                return []
            scores, addresses = zip(*hits, strict=True)  # one walk over them, for both
            refs = self._searcher.fast_field_values("ref", addresses)
        if None in refs:
            raise LexicalError("Entries have lost their refs.")
        if len(set(scores)) == len(scores):  # best first, as tantivy gives them
            return list(zip(refs, scores, strict=True))
        # Equally good ones come in the order of their addresses. Pairs sort faster than anything with a key.
        return [(ref, -below) for below, ref in sorted(zip(map(neg, scores), refs, strict=True))]


def _view(directory: Path) -> LexicalView:
    with _in_os_words(directory):
        index = tantivy.Index.open(str(directory))
        index.config_reader("manual", 0)
        index.reload()
        return LexicalView(index.searcher(), index.schema)


class _in_os_words:  # noqa: N801 - what stands after `with`; a generator would cost each search more
    """Turn the failures of tantivy (ValueError, or a panic) into LexicalError, a full disk into ENOSPC."""

    __slots__ = ("_directory",)

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None or not (isinstance(error, ValueError) or type(error).__name__ == "PanicException"):
            return
        directory = self._directory
        text = str(error)
        # A worker that dies does not say why: with less space than a segment may take, that was it.
        died = "writer was killed" in text and directory and shutil.disk_usage(directory).free < WRITER_BYTES
        if died or "No space left" in text or "StorageFull" in text:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise LexicalError(text) from error


def _is_whole(data: bytes) -> bool:
    """Whether a file of a segment has the checksum that its footer names."""
    if len(data) < _FOOTER.size:
        return False
    length, _ = _FOOTER.unpack(data[-_FOOTER.size :])
    end = len(data) - _FOOTER.size - length
    return bool(end >= 0 and zlib.crc32(data[:end]) == json.loads(data[end : -_FOOTER.size])["crc"])


def _document(entry: Entry) -> Any:
    document = tantivy.Document()
    document.add_unsigned("ref", entry.ref)
    document.add_unsigned("version", entry.version)
    document.add_unsigned("collection", entry.collection)
    for field, terms in entry.fields.items():
        document.add_text(field, terms)
    return document


def _only(query: Any, *conditions: Any) -> Any:
    """All must match, but only the first one scores."""
    silent = [tantivy.Query.const_score_query(each, 0.0) for each in conditions]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in (query, *silent)]) if silent else query


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("ref", indexed=True, fast=True)
    builder.add_unsigned_field("version", indexed=True)
    builder.add_unsigned_field("collection", indexed=True)
    for field in BOOSTS:
        # The terms are analysed already; tantivy only cuts them at the spaces between them.
        builder.add_text_field(field, tokenizer_name="whitespace", index_option=_TEXT_OPTION)
    return builder.build()
