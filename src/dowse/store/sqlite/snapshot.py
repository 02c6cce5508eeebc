"""One unchanging view of the store: an SQLite read transaction and the derived indexes that fit it."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import UUID

from dowse.ports import NONE, Alternatives
from dowse.records import record
from dowse.store.sqlite import rows, whole
from dowse.store.sqlite.lexical import LexicalError
from dowse.store.sqlite.passages import Passages
from dowse.types import (
    ORDINAL_BITS,
    ORDINAL_MASK,
    Collection,
    Context,
    Document,
    DocumentInfo,
    Draft,
    Filter,
    LedgerEntry,
    ModelIdentity,
    Passage,
    Ranked,
    Ref,
    Scope,
    StoreStats,
    ref_of,
    version_of,
)

if TYPE_CHECKING:
    from dowse.ports import Vector
    from dowse.store.sqlite.choosing import Chosen
    from dowse.store.sqlite.lexical import LexicalView
    from dowse.store.sqlite.vector_files import OpenVectors
    from dowse.store.sqlite.vectors import VectorRows

WORDS_DAMAGED = "The word index is damaged, so words find nothing. Mend it: dowse doctor --repair"
_MOST_NAMED = 5_000  # documents or passages that are named to the word index; of more, its hits are looked at
_AFTER_HEX = "g"
_BY_PATH = "l.name, d.path"
_LARGEST = 2**63 - 1  # number that SQLite takes
_PLACES_KEPT = 50_000  # rows and refs; some 10 MB


@record
class Derived:
    """The derived indexes as they belong to one change number, and what of them does not count."""

    lexical: "LexicalView | None"
    last_version: int
    """Entries above it are a writer's that has not committed, or that died before it could."""
    dead: frozenset[int]
    """Versions that have been replaced or deleted, and may still stand in the word index."""
    vectors: "OpenVectors | None"
    notes: tuple[str, ...]
    memory: dict[str, Any] = field(default_factory=dict)
    """What is asked for again and again and only a change can change: collections, contexts, counts, the model."""
    passages: Passages = field(default_factory=Passages)


class SqliteSnapshot:
    """See `ports.Snapshot`. Made by `SqliteStore.snapshot`, which also ends the transaction."""

    comparable_scores = True
    is_remote = False

    def __init__(self, connection: sqlite3.Connection, directory: Path, derived: Derived) -> None:
        self._connection = connection
        self._directory = directory
        self._derived = derived
        self.notes = derived.notes
        self.memory = derived.memory

    # By words

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope,
        alternatives: Alternatives = NONE,
        required: Sequence[str] = (),
    ) -> Ranked:
        """See `ports.Snapshot.lexical`: asks for more until k of the hits are live and in scope."""
        terms = _unique(terms)
        index = self._derived.lexical
        if index is None or not terms:
            return Ranked((), 0.0)
        try:
            ceiling = index.ceiling(terms, alternatives)
            if k <= 0:
                return Ranked((), ceiling)
            collections, chosen = self._collection_ids(scope), self._chosen(scope)
            within: dict[str, Iterable[int]] = {} if collections is None else {"collection": collections}
            if chosen is not None and len(chosen.keys) <= _MOST_NAMED:
                within[chosen.field] = chosen.keys
            wanted = k
            while True:
                found = index.search(terms, wanted, within, alternatives, required)
                hits = self._live(found)
                if chosen is not None:
                    hits = [hit for hit in hits if chosen.has(hit[0])]
                if len(hits) >= k or len(found) < wanted:
                    return Ranked(tuple(hits if len(hits) <= k else hits[:k]), ceiling)
                wanted *= 4
        except LexicalError:
            self._note(WORDS_DAMAGED)
            return Ranked((), 0.0)

    def lexical_scores(
        self, terms: Sequence[str], refs: Sequence[Ref], alternatives: Alternatives = NONE
    ) -> dict[Ref, float]:
        """See `ports.Snapshot.lexical_scores`."""
        index = self._derived.lexical
        try:
            found = index.scores(_unique(terms), refs, alternatives) if index else {}
        except LexicalError:
            self._note(WORDS_DAMAGED)
            found = {}
        return {ref: found.get(ref, 0.0) for ref in refs}

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """See `ports.Snapshot.frequencies`."""
        index = self._derived.lexical
        try:
            return index.frequencies(terms) if index else dict.fromkeys(terms, 0)
        except LexicalError:
            self._note(WORDS_DAMAGED)
            return dict.fromkeys(terms, 0)

    def completions(self, prefix: str, limit: int) -> list[str]:
        """See `ports.Snapshot.completions`."""
        index = self._derived.lexical
        try:
            return index.completions(prefix, limit) if index else []
        except LexicalError:
            self._note(WORDS_DAMAGED)
            return []

    def _note(self, note: str) -> None:
        """Tell of damage that shows only now."""
        if note not in self.notes:
            self.notes = (*self.notes, note)

    # By meaning

    def nearest(self, model: ModelIdentity, vector: "Vector", k: int, scope: Scope) -> Ranked:
        """See `ports.Snapshot.nearest`: asks for more until k of the rows belong to live chunks in scope."""
        found = self._model(model)
        if found is None or k <= 0:
            return Ranked((), 1.0)
        model_id, files = found
        collections, chosen = self._collection_ids(scope), self._chosen(scope)
        is_free = collections is None and chosen is None
        allowed = None if is_free else self._rows_of(model_id, collections, chosen, len(files))
        wanted = k
        while True:
            best = files.nearest(vector, wanted, allowed)
            refs = self._refs_of_rows(model_id, [row for row, _ in best], collections)
            hits = [
                (ref, cosine)
                for row, cosine in best
                for ref in refs.get(row, ())
                if chosen is None or chosen.has(ref)  # copies share a row
            ]
            if len(hits) >= k or len(best) < wanted:
                hits.sort(key=lambda hit: (-hit[1], hit[0]))
                return Ranked(tuple(hits[:k]), 1.0)
            wanted *= 4

    def cosines(self, model: ModelIdentity, vector: "Vector", refs: Sequence[Ref]) -> dict[Ref, float]:
        """See `ports.Snapshot.cosines`."""
        found = self._model(model)
        if found is None or not refs:
            return {}
        import numpy as np

        model_id, files = found
        row_of = {ref: row for ref, row in self._rows_of_refs(model_id, refs).items() if row < len(files)}
        values = files.cosines(vector, np.fromiter(row_of.values(), dtype=np.int64, count=len(row_of)))
        return dict(zip(row_of, map(float, values), strict=True))

    def sample(self, model: ModelIdentity, k: int, scope: Scope) -> "tuple[list[Ref], Vector, int]":
        """See `ports.Snapshot.sample`."""
        from dowse.store.sqlite.sampling import sample  # only maps ask for it

        return sample(
            self._connection, self._model(model), model.dims, k, self._collection_ids(scope), self._chosen(scope)
        )

    def mark(self) -> str:
        """See `ports.Snapshot.mark`: the number of the latest change."""
        row = self._connection.execute("SELECT value FROM meta WHERE key = 'seq'").fetchone()
        return "" if row is None else str(row[0])

    def model(self) -> ModelIdentity | None:
        """See `ports.Snapshot.model`."""
        query = "SELECT identity FROM models WHERE rows > 0 AND id = (SELECT min(id) FROM models)"
        found: tuple[ModelIdentity, ...] = self._remembered(query, lambda row: rows.identity_from(row[0]))
        return found[0] if found else None

    def successor(self) -> ModelIdentity | None:
        """See `ports.Snapshot.successor`."""
        query = "SELECT identity FROM models WHERE id > (SELECT min(id) FROM models)"
        found: tuple[ModelIdentity, ...] = self._remembered(query, lambda row: rows.identity_from(row[0]))
        return found[0] if found else None

    def vectors(self, model: ModelIdentity, keys: Sequence[bytes]) -> "dict[bytes, Vector]":
        """See `ports.Snapshot.vectors`."""
        return whole.vectors(self._connection, keys) if model == self.model() else {}

    def drafts(self, collection: str) -> Iterator[Draft]:
        """See `ports.Snapshot.drafts`."""
        return whole.drafts(self._connection, collection)

    # Documents

    def passages(self, refs: Sequence[Ref]) -> list[Passage]:
        """See `ports.Snapshot.passages`."""
        return self._derived.passages.behind(self._connection, refs)

    def chunks(self, document: UUID) -> list[Passage]:
        """See `ports.Snapshot.chunks`."""
        row = self._connection.execute(
            "SELECT d.version, n.chunks FROM documents d JOIN contents n ON n.id = d.content WHERE d.uuid = ?",
            (document.bytes,),
        ).fetchone()
        return [] if row is None else self.passages([ref_of(row[0], ordinal) for ordinal in range(row[1])])

    def collections(self) -> tuple[Collection, ...]:
        """See `ports.Snapshot.collections`."""
        query = f"SELECT {rows.COLLECTION_COLUMNS} FROM collections ORDER BY name"
        found: tuple[Collection, ...] = self._remembered(query, rows.collection_from)
        return found

    def contexts(self) -> tuple[Context, ...]:
        """See `ports.Snapshot.contexts`."""
        query = (
            "SELECT l.name, x.prefix, x.text FROM contexts x LEFT JOIN collections l ON l.id = x.collection "
            "ORDER BY l.name IS NOT NULL, l.name, x.prefix"
        )
        found: tuple[Context, ...] = self._remembered(query, lambda row: Context(*row))
        return found

    def documents(
        self,
        collection: str | None = None,
        *,
        prefix: str = "",
        filter: Filter | None = None,  # noqa: A002 - the noun
        limit: int | None = None,
        offset: int = 0,
        newest: bool = False,
    ) -> list[DocumentInfo]:
        """See `ports.Snapshot.documents`."""
        condition, values = "substr(d.path, 1, length(?)) = ?", [prefix, prefix]
        if collection is not None:
            condition, values = f"l.name = ? AND {condition}", [collection, *values]
        if filter is not None:
            from dowse.store.sqlite.choosing import as_condition

            wanted, parameters = as_condition(self._connection, filter)
            condition, values = f"{condition} AND {wanted}", [*values, *parameters]
        page = (-1 if limit is None else min(limit, _LARGEST), min(offset, _LARGEST))
        order = "d.created_at DESC, d.uuid DESC" if newest else _BY_PATH
        return self._documents(condition, (*values, *page), order, "LIMIT ? OFFSET ?")

    def document(self, document: UUID) -> Document | None:
        """See `ports.Snapshot.document`."""
        row = self._connection.execute(
            f"SELECT {rows.DOCUMENT_COLUMNS}, n.text, n.lines FROM {rows.DOCUMENT_TABLES} WHERE d.uuid = ?",
            (document.bytes,),
        ).fetchone()
        if row is None:
            return None
        return Document(rows.document_from(row[:-2]), rows.text_from(row[-2]).decode(), total_lines=row[-1])

    def texts(self, content_hash: str) -> list[str]:
        """See `ports.Snapshot.texts`."""
        query = "SELECT text FROM contents WHERE hash >= ?1 AND hash < ?1 || 'g' ORDER BY id DESC"
        return [rows.text_from(text).decode() for (text,) in self._connection.execute(query, (content_hash,))]

    def find(self, name: str, by: Literal["path", "suffix", "hash", "uri"]) -> list[DocumentInfo]:
        """See `ports.Snapshot.find`."""
        # Each by an index: of the ends of paths, at least, only the small index of paths is read.
        ending = "SELECT id FROM documents WHERE path = ? OR substr(path, -length(?) - 1) = '/' || ?"
        whole = tuple(name.partition("/")[::2])
        conditions = {
            "path": ("l.name = ? AND d.path = ?", whole),
            "suffix": (f"d.id IN ({ending}) OR (l.name = ? AND d.path = ?)", (name, name, name, *whole)),
            "hash": ("n.hash >= ? AND n.hash < ?", (name, name + _AFTER_HEX)),
            "uri": ("d.uri = ?", (name,)),
        }
        return self._documents(*conditions[by])

    def ledger(self, collection: str | None = None) -> list[LedgerEntry]:
        """See `ports.Snapshot.ledger`."""
        query = (
            f"SELECT {rows.LEDGER_COLUMNS} FROM ledger g JOIN collections l ON l.id = g.collection "
            "WHERE ?1 IS NULL OR l.name = ?1 ORDER BY l.name, g.path"
        )
        return [rows.ledger_from(row) for row in self._connection.execute(query, (collection,))]

    def stats(self) -> StoreStats:
        """See `ports.Snapshot.stats`."""
        from dowse.store.sqlite.counting import counted  # searches do not count

        return counted(self._connection, self._directory, lambda query: self._remembered(query, tuple), self.model())

    # Parts

    def _documents(
        self, condition: str, values: tuple[Any, ...], order: str = _BY_PATH, tail: str = ""
    ) -> list[DocumentInfo]:
        found = f"SELECT {rows.DOCUMENT_COLUMNS} FROM {rows.DOCUMENT_TABLES} WHERE {condition}"
        query = f"{found} ORDER BY {order} {tail}"
        return [rows.document_from(row) for row in self._connection.execute(query, values)]

    def _collection_ids(self, scope: Scope) -> list[int] | None:
        """The ids in scope; None where that is every collection, so that nothing need be filtered."""
        if scope.collections is None:
            return None
        known = dict(self._remembered("SELECT name, id FROM collections", tuple))
        if scope.collections >= known.keys():
            return None
        return [known[name] for name in scope.collections if name in known]

    def _chosen(self, scope: Scope) -> "Chosen | None":
        """What the scope's filter lets through; None where there is none."""
        if scope.filter is None:
            return None
        from dowse.store.sqlite.choosing import chosen_by  # most searches have no filter

        return chosen_by(self._connection, scope.filter)

    def metadata_keys(self) -> frozenset[str]:
        """See `ports.Snapshot.metadata_keys`."""
        from dowse.store.sqlite.filtering import metadata_keys

        memory = self._derived.memory
        if "metadata keys" not in memory:
            memory["metadata keys"] = metadata_keys(self._connection)
        keys: frozenset[str] = memory["metadata keys"]
        return keys

    def _remembered(self, query: str, make: Callable[[Any], Any]) -> tuple[Any, ...]:
        """The rows of a query that is asked again and again and gives few, as nouns."""
        memory = self._derived.memory
        if query not in memory:
            memory[query] = tuple(make(row) for row in self._connection.execute(query))
        found: tuple[Any, ...] = memory[query]
        return found

    def _live(self, found: list[tuple[int, float]]) -> list[tuple[Ref, float]]:
        """Those of the word index's hits that belong to live versions."""
        dead, beyond = self._derived.dead, ref_of(self._derived.last_version + 1, 0)
        hits = cast("list[tuple[Ref, float]]", found)
        if not dead and (not hits or max(hits)[0] < beyond):
            return hits
        return [(ref, score) for ref, score in hits if ref < beyond and version_of(ref) not in dead]

    def _model(self, model: ModelIdentity) -> "tuple[int, VectorRows] | None":
        row = self._connection.execute(
            "SELECT id, rows FROM models WHERE identity = ? AND id = (SELECT min(id) FROM models)",
            (rows.identity_to(model),),
        ).fetchone()
        if row is None or self._derived.vectors is None:
            return None
        return row[0], self._derived.vectors.map(row[1])

    def _rows_of(self, model_id: int, collections: Sequence[int] | None, chosen: "Chosen | None", count: int) -> Any:
        """A mask over the rows: which ones belong to chunks in scope."""
        import numpy as np

        allowed = np.zeros(count, dtype=bool)
        condition = "1" if collections is None else f"d.collection IN ({','.join(map(str, collections)) or 'NULL'})"
        if chosen is not None:
            condition += f" AND ({chosen.condition.sql})"
        found = self._connection.execute(
            f"SELECT v.row FROM {rows.DOCUMENT_TABLES} JOIN chunks c ON c.content = d.content "
            f"JOIN vectors v ON v.model = ? AND v.key = c.key WHERE {condition}",
            (model_id, *(chosen.condition.parameters if chosen else ())),
        )
        numbers = np.fromiter((row for (row,) in found), dtype=np.int64)
        allowed[numbers[numbers < count]] = True
        return allowed

    def _refs_of_rows(
        self, model_id: int, chosen: Sequence[int], collections: Sequence[int] | None
    ) -> dict[int, list[Ref]]:
        """The live chunks behind each row: none for what was deleted, several for copies."""
        if collections is not None:
            wanted = ",".join(map(str, collections)) or "NULL"
            return self._read_refs(model_id, chosen, f"AND d.collection IN ({wanted})")
        known: dict[int, list[Ref]] = self._places("refs of rows", model_id)
        if missing := [row for row in chosen if row not in known]:
            read = self._read_refs(model_id, missing, "")
            known |= {row: read.get(row, []) for row in missing}
        return {row: refs for row in chosen if (refs := known[row])}

    def _read_refs(self, model_id: int, chosen: Sequence[int], scope: str) -> dict[int, list[Ref]]:
        query = (
            "SELECT v.row, d.version, c.ordinal FROM json_each(?) w "
            "CROSS JOIN vectors v ON v.model = ? AND v.row = w.value "
            f"JOIN chunks c ON c.key = v.key JOIN documents d ON d.content = c.content {scope}"
        )
        found: dict[int, list[Ref]] = {}
        for row, version, ordinal in self._connection.execute(query, (json.dumps(list(chosen)), model_id)):
            found.setdefault(row, []).append(ref_of(version, ordinal))
        return found

    def _rows_of_refs(self, model_id: int, refs: Sequence[Ref]) -> dict[Ref, int]:
        known: dict[Ref, int | None] = self._places("rows of refs", model_id)
        if missing := [ref for ref in refs if ref not in known]:
            query = (
                "SELECT w.value, v.row FROM json_each(?) w "
                f"CROSS JOIN documents d ON d.version = w.value >> {ORDINAL_BITS} "
                f"JOIN chunks c ON c.content = d.content AND c.ordinal = (w.value & {ORDINAL_MASK}) "
                "JOIN vectors v ON v.model = ? AND v.key = c.key"
            )
            read = dict(self._connection.execute(query, (json.dumps(missing), model_id)).fetchall())
            known |= {ref: read.get(ref) for ref in missing}
        return {ref: row for ref in refs if (row := known[ref]) is not None}

    def _places(self, name: str, model_id: int) -> dict[Any, Any]:
        """What is remembered of rows and refs until the next change: nearby questions meet the same ones."""
        memory = self._derived.memory
        key = f"{name} of model {model_id}"
        if len(memory.get(key, ())) > _PLACES_KEPT:
            del memory[key]
        places: dict[Any, Any] = memory.setdefault(key, {})
        return places


def _unique(terms: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(terms))
