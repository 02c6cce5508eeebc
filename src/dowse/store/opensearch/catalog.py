"""The catalogue: everything small that must change as a whole, in one document, and the counters beside it.

Collections, contexts and the model stand in one document, which is replaced only by whoever read its latest
version: creating, renaming and dropping are one write each. The counters say which version numbers are given out,
and the sequence of acknowledged writes: a reader that finds it unchanged need not refresh.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from typing import Any

from dowse.errors import NotFoundError
from dowse.records import record
from dowse.store.opensearch.connection import Connection, Write
from dowse.store.opensearch.layout import Indexes
from dowse.types import Chunking, Collection, Context, ModelIdentity

__all__ = ["CATALOG", "COUNTERS", "Catalog", "Counters", "no_collection"]

CATALOG = "catalog"
COUNTERS = "counters"
_COUNT = (
    "def all = ctx._source; all.versions += params.versions; all.sequence += params.sequence;"
    "if (all.kept == null) { all.kept = ['vectors': 0]; } all.kept.vectors += params.vectors;"
)


@record
class Catalog:
    """What the catalogue says at one moment."""

    collections: Mapping[str, Collection] = field(default_factory=dict)
    """By id."""
    contexts: Mapping[tuple[str | None, str], str] = field(default_factory=dict)
    """Texts by the id of a collection, or None, and prefix."""
    model: ModelIdentity | None = None
    """Whose vectors answer; None while there are none."""
    successor: ModelIdentity | None = None
    """The model that is to take its place."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The names that `model` and `successor` have in the indexes.

    They are made anew whenever a model comes, so that one that was forgotten leaves nothing to be mistaken.
    """
    touched: int = 0
    """When the successor got its last vector."""

    def tag_of(self, model: ModelIdentity | None) -> str:
        """The name of a model in the indexes; empty for one that the store does not hold."""
        for role, held in (("model", self.model), ("successor", self.successor)):
            if model is not None and held == model:
                return self.tags[role]
        return ""

    @property
    def held(self) -> tuple[str, ...]:
        """The names of the models that are there, the one that answers first."""
        return tuple(filter(None, (self.tag_of(self.model), self.tag_of(self.successor))))

    @property
    def names(self) -> dict[str, str]:
        """The names of the collections by id."""
        return {id_: collection.name for id_, collection in self.collections.items()}

    def id_of(self, name: str) -> str | None:
        """The id of the collection with this name."""
        return next((id_ for id_, collection in self.collections.items() if collection.name == name), None)

    def required(self, name: str) -> str:
        """The same, or NotFoundError."""
        id_ = self.id_of(name)
        if id_ is None:
            raise no_collection(name)
        return id_

    def with_collection(self, id_: str, collection: Collection | None) -> "Catalog":
        """With another value for one collection; without one, its contexts go too."""
        others = {each: value for each, value in self.collections.items() if each != id_}
        if collection is not None:
            return replace(self, collections={**others, id_: collection})
        contexts = {where: text for where, text in self.contexts.items() if where[0] != id_}
        return replace(self, collections=others, contexts=contexts)

    def listed_contexts(self) -> tuple[Context, ...]:
        """The general ones first, then by collection and prefix."""
        names = self.names
        found = [
            Context(None if id_ is None else names[id_], prefix, text)
            for (id_, prefix), text in self.contexts.items()
            if id_ is None or id_ in names
        ]
        return tuple(sorted(found, key=lambda each: (each.collection is not None, each.collection or "", each.prefix)))

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> "Catalog":
        """From what the index keeps."""
        return cls(
            {each["id"]: _collection(each) for each in kept["collections"]},
            {(id_, prefix): text for id_, prefix, text in kept["contexts"]},
            _identity(kept["model"]),
            _identity(kept["successor"]),
            kept["tags"],
            kept["touched"],
        )

    def kept(self) -> dict[str, Any]:
        """The reverse."""
        return {
            "collections": [{"id": id_, **asdict(each)} for id_, each in self.collections.items()],
            "contexts": [[id_, prefix, text] for (id_, prefix), text in self.contexts.items()],
            "model": asdict(self.model) if self.model else None,
            "successor": asdict(self.successor) if self.successor else None,
            "tags": dict(self.tags),
            "touched": self.touched,
        }


def _identity(kept: Mapping[str, Any] | None) -> ModelIdentity | None:
    return ModelIdentity(**kept) if kept else None


def _collection(kept: Mapping[str, Any]) -> Collection:
    fields = {name: value for name, value in kept.items() if name != "id"}
    chunking = Chunking(**fields["chunking"]) if fields["chunking"] else None
    return Collection(**{**fields, "exclude": tuple(fields["exclude"]), "chunking": chunking})


class Counters:
    """The catalogue and the counters as they are now, and the ways to change them."""

    def __init__(self, connection: Connection, indexes: Indexes) -> None:
        self._connection = connection
        self._index = indexes.state

    def begin(self) -> None:
        """Make both where they are not there yet."""
        self._connection.write(
            [
                Write("create", self._index, CATALOG, {"kind": "catalog", "kept": Catalog().kept()}),
                Write("create", self._index, COUNTERS, {"kind": "counters", "versions": 0, "sequence": 0}),
            ]
        )

    def catalog(self) -> Catalog:
        """What the catalogue says now."""
        return self._read()[0]

    def change(self, act: Callable[[Catalog], Catalog]) -> Catalog:
        """Replace the catalogue by what the act makes of its latest version; it may run more than once."""
        made: list[Catalog] = []

        def attempt() -> bool:
            catalog, on = self._read()
            changed = act(catalog)
            if changed != catalog:
                write = Write("index", self._index, CATALOG, {"kind": "catalog", "kept": changed.kept()}, on=on)
                if self._connection.write([write])[0].conflict:
                    return False
                self.acknowledge()
            made.append(changed)
            return True

        self._connection.until_done(attempt)
        return made[-1]

    def take_versions(self, count: int) -> int:
        """The first of so many version numbers that nobody else gets."""
        return int(self._count(versions=count)["versions"]) - count + 1

    def acknowledge(self, *, only_vectors: bool = False) -> int:
        """Count one write: from here on every reader sees it. Returns its number."""
        return int(self._count(sequence=1, vectors=int(only_vectors))["sequence"])

    def sequence(self) -> int:
        """How many writes were acknowledged."""
        return int(self._counted().get("sequence", 0))

    def without_vectors(self) -> int:
        """How many of them may have added a passage."""
        counted = self._counted()
        return int(counted.get("sequence", 0) - counted.get("kept", {}).get("vectors", 0))

    def _counted(self) -> Mapping[str, Any]:
        found = self._connection.get(self._index, COUNTERS)
        source: Mapping[str, Any] = found["_source"] if found else {}
        return source

    def _count(self, **more: int) -> Mapping[str, Any]:
        address = self._connection.address
        answer = self._connection.request(
            "POST",
            f"/{self._index}/_update/{COUNTERS}",
            {
                "script": {"source": _COUNT, "params": {"versions": 0, "sequence": 0, "vectors": 0, **more}},
                "_source": True,
            },
            {"retry_on_conflict": 100, "wait_for_active_shards": address.copies},
        )
        source: Mapping[str, Any] = answer["get"]["_source"]
        return source

    def _read(self) -> tuple[Catalog, tuple[int, int]]:
        found = self._connection.get(self._index, CATALOG)
        if found is None:
            self.begin()
            return self._read()
        return Catalog.read(found["_source"]["kept"]), (found["_seq_no"], found["_primary_term"])


def no_collection(name: str) -> NotFoundError:
    """The error of a collection that is not there."""
    return NotFoundError(f"There is no collection named {name!r}.", hint="dowse collection list")
