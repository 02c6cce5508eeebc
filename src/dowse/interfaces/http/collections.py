"""Collections and contexts: make, see, change, bring up to date, remove."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dowse.interfaces import wire
from dowse.interfaces.http import fields
from dowse.interfaces.http.jobs import JOB, UPDATING, job_json, start_update
from dowse.interfaces.http.rows import Answered, Asked, Row
from dowse.interfaces.mcp.dialect import Json
from dowse.types import Chunking, CollectionStats

__all__ = ["COLLECTION", "ROWS", "collection"]

_SETTINGS = ("pattern", "exclude", "description", "chunking")


def listed(asked: Asked) -> Answered:
    """Every collection, by name."""
    return Answered([collection(each) for each in asked.engine.collections()])


def read(asked: Asked) -> Answered:
    """One collection."""
    return Answered(collection(asked.engine.collection(asked.arguments["name"])))


def add(asked: Asked) -> Answered:
    """A new collection; where a folder is named, one that this connection may read."""
    arguments = asked.arguments
    folder = arguments.get("path")
    if folder is not None:
        folder = asked.call.check_path(folder)
    made = asked.engine.add_collection(folder, name=arguments.get("name", ""), **_settings(asked))
    if not arguments["included"]:
        asked.engine.include_collection(made.name, included=False)
    job = start_update(asked, [made.name]) if folder is not None and arguments["update"] else None
    return Answered(collection(asked.engine.collection(made.name)) | {"job": job.id if job else None})


def change(asked: Asked) -> Answered:
    """New settings, and only those that are given; last of all a new name."""
    arguments, name = asked.arguments, asked.arguments["name"]
    settings = _settings(asked)
    if settings or "included" not in arguments:
        asked.engine.configure_collection(name, **settings)
    if "included" in arguments:
        asked.engine.include_collection(name, included=arguments["included"])
    if "new_name" in arguments and arguments["new_name"] != name:
        asked.engine.rename_collection(name, arguments["new_name"])
        name = arguments["new_name"]
    return Answered(collection(asked.engine.collection(name)))


def remove(asked: Asked) -> Answered:
    """The collection with everything in it; the files stay."""
    name = asked.arguments["name"]
    return Answered({"deleted": name, "documents": asked.engine.remove_collection(name)})


def update(asked: Asked) -> Answered:
    """Bring it up to date, as a job."""
    name = asked.engine.collection(asked.arguments["name"]).collection.name
    return Answered(job_json(start_update(asked, [name])))


def contexts(asked: Asked) -> Answered:
    """All descriptions, general ones first."""
    return Answered([wire.context(each) for each in asked.engine.contexts()])


def put_context(asked: Asked) -> Answered:
    """Describe a collection, a folder in it, or everything."""
    arguments = asked.arguments
    made = asked.engine.add_context(
        arguments["text"], collection=arguments.get("collection"), prefix=arguments.get("prefix", "")
    )
    return Answered(wire.context(made))


def delete_context(asked: Asked) -> Answered:
    """Remove the description at exactly this place."""
    collection, prefix = asked.arguments.get("collection"), asked.arguments.get("prefix", "")
    asked.engine.remove_context(collection=collection, prefix=prefix)
    return Answered({"collection": collection, "prefix": prefix.strip("/")})


def collection(stats: CollectionStats) -> Json:
    """A collection with its settings and counts."""
    known = stats.collection
    return {
        "name": known.name,
        "path": known.root,
        "pattern": known.pattern,
        "exclude": list(known.exclude),
        "description": known.description,
        "included": known.included,
        "chunking": asdict(known.chunking) if known.chunking else None,
        "documents": stats.documents,
        "chunks": stats.chunks,
        "needs_embedding": stats.unembedded,
        "failed": stats.failed,
        "skipped": stats.skipped,
        "created": wire.iso(known.created_at),
        "updated": wire.iso(known.updated_at),
    }


def _settings(asked: Asked) -> Any:
    given: dict[str, Any] = {name: asked.arguments[name] for name in _SETTINGS if name in asked.arguments}
    if given.get("chunking") is not None:
        given["chunking"] = Chunking(**given["chunking"])
    return given


_CHUNKING = fields.object_of(dict.fromkeys(("max_tokens", "min_tokens", "overlap_tokens"), fields.WHOLE))
COLLECTION: Json = {
    "name": fields.TEXT,
    "path": fields.maybe(fields.TEXT),
    "pattern": fields.TEXT,
    "exclude": fields.list_of(fields.TEXT),
    "description": fields.TEXT,
    "included": fields.FLAG,
    "chunking": fields.maybe(_CHUNKING),
    "documents": fields.WHOLE,
    "chunks": fields.WHOLE,
    "needs_embedding": fields.WHOLE,
    "failed": fields.WHOLE,
    "skipped": fields.WHOLE,
    "created": fields.maybe(fields.TIME),
    "updated": fields.maybe(fields.TIME),
}
_NAME = fields.text("The collection.", 1, 200)
_TAKEN: Json = {
    "pattern": fields.text("A glob of the paths that belong to it.", 1, 1_024),
    "exclude": fields.texts("Globs of paths that are left out.", 1_000, 0),
    "description": fields.text("What it holds, in words.", 0, 10_000),
    "chunking": {
        "description": "How long passages are, in tokens; null: as the configuration says.",
        "anyOf": [
            fields.taking(
                {
                    "max_tokens": fields.whole("The most.", 16, 8_192),
                    "min_tokens": fields.whole("The least that a cut leaves.", 0, 8_192),
                    "overlap_tokens": fields.whole("Repeated from the passage before.", 0, 8_192),
                }
            ),
            {"type": "null"},
        ],
    },
}
_WRITING = (404, 409, 503, 507)
_ONE = "/api/v1/collections/{name}"
_PLACE: Json = {
    "collection": fields.text("The collection; without it, everything.", 1, 200),
    "prefix": fields.text("A path prefix in it, of whole folders.", 0, 4_096),
}
_CONTEXT = fields.object_of(
    {"collection": fields.maybe(fields.TEXT), "prefix": fields.TEXT, "text": fields.TEXT},
)


def _rows() -> Sequence[Row]:
    shown = fields.object_of(COLLECTION)
    named = fields.taking({"name": _NAME}, "name")
    included = fields.flag("Whether a search that names no collection looks into it.", default=True)
    adding = _TAKEN | {
        "name": fields.text("Its name; without it, the folder's.", 1, 200),
        "path": fields.text("The folder to walk; must be one that the server may read.", 1, 4_096),
        "included": included,
        "update": fields.flag("Start indexing the folder at once.", default=True),
    }
    changing = _TAKEN | {
        "name": _NAME,
        "new_name": fields.text("Rename it.", 1, 200),
        "included": {key: value for key, value in included.items() if key != "default"},
    }
    return (
        Row("GET", "/api/v1/collections", "list_collections", "List collections", listed, fields.list_of(shown)),
        Row(
            "POST",
            "/api/v1/collections",
            "add_collection",
            "Make a collection",
            add,
            fields.object_of(COLLECTION | {"job": fields.maybe(fields.TEXT)}),
            takes=fields.taking(adding),
            in_body=True,
            statuses=(201,),
            errors=_WRITING,
            writes=True,
            lane="write",
        ),
        Row("GET", _ONE, "get_collection", "See a collection", read, shown, takes=named, errors=(404,)),
        Row(
            "PATCH",
            _ONE,
            "change_collection",
            "Change settings of a collection",
            change,
            shown,
            takes=fields.taking(changing, "name"),
            in_body=True,
            errors=_WRITING,
            writes=True,
            lane="write",
        ),
        Row(
            "DELETE",
            _ONE,
            "remove_collection",
            "Remove a collection with everything in it; the files stay",
            remove,
            fields.object_of({"deleted": fields.TEXT, "documents": fields.WHOLE}),
            takes=named,
            errors=_WRITING,
            writes=True,
            lane="write",
        ),
        Row(
            "POST",
            f"{_ONE}/update",
            "update_collection",
            "Bring a collection up to date, as a job",
            update,
            JOB,
            takes=fields.taking(UPDATING | {"name": _NAME}, "name"),
            in_body=True,
            statuses=(202,),
            errors=(404, 503),
            writes=True,
        ),
        Row("GET", "/api/v1/contexts", "list_contexts", "List contexts", contexts, fields.list_of(_CONTEXT)),
        Row(
            "PUT",
            "/api/v1/contexts",
            "put_context",
            "Describe a collection, a folder in it, or everything",
            put_context,
            _CONTEXT,
            takes=fields.taking(_PLACE | {"text": fields.text("The description.", 1, 10_000)}, "text"),
            in_body=True,
            errors=_WRITING,
            writes=True,
            lane="write",
        ),
        Row(
            "DELETE",
            "/api/v1/contexts",
            "delete_context",
            "Remove a description",
            delete_context,
            fields.object_of({"collection": fields.maybe(fields.TEXT), "prefix": fields.TEXT}),
            takes=fields.taking(_PLACE),
            errors=_WRITING,
            writes=True,
            lane="write",
        ),
    )


ROWS = tuple(_rows())
