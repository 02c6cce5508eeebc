"""Folders of notes, engines over them, and everything that two indexes can be compared by."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import dowse
from dowse import Config, Engine, Query

HOUR_NS = 3_600_000_000_000
"""Files that old are safely older than the moment they are read."""

QUERIES = ("zebra", "zebra road", "number 3")


def config_for(folder: Path, **changes: Any) -> Config:
    """An index below this folder, hashed words as the model, nothing from the user's own settings."""
    config = Config.load(Path(os.devnull), env={}, data_dir=folder / "data", cache_dir=folder / "cache")
    return replace(config, **{"index": str(folder / "index"), "embedder": "hashed", **changes})


def environment_for(folder: Path) -> dict[str, str]:
    """The same index for a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOWSE_")}
    return kept | {
        "DOWSE_CONFIG": os.devnull,
        "DOWSE_DATA_DIR": str(folder / "data"),
        "DOWSE_CACHE_DIR": str(folder / "cache"),
        "DOWSE_INDEX": str(folder / "index"),
        "DOWSE_EMBEDDER": "hashed",
        "DOWSE_DAEMON": "off",  # no test leaves a process behind; those of the daemon say otherwise, and stop it
    }


def open_at(folder: Path, **changes: Any) -> Engine:
    """An engine over the index below this folder."""
    return dowse.open(config=config_for(folder, **changes))


def know_another_model() -> None:
    """Let this process know a second model without weights, under the name `other`."""
    from dowse import inference
    from dowse.inference import hashed

    class Other(hashed.HashedEmbedder):
        def __init__(self) -> None:
            super().__init__(64)
            self._identity = replace(hashed.identity(64), name="other")

    row = inference._MODELS["hashed"]
    inference._MODELS["other"] = replace(row, make=lambda *_: Other(), identity=lambda _: Other().identity)


def write(folder: Path, texts: Mapping[str, str | bytes]) -> Path:
    """Write files that look as if they had been there for an hour; returns the folder."""
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        age(file)
    return folder


def age(file: Path, by_ns: int = HOUR_NS) -> None:
    """Set a file's time to this long ago."""
    then = time.time_ns() - by_ns
    os.utime(file, ns=(then, then))


def many(count: int, word: str = "zebra") -> dict[str, str]:
    """Notes of two sections each, every one with words of its own."""
    return {
        f"part{number % 3}/note{number:03}.md": f"# Note {number}\n\nA {word} crosses road number {number}.\n\n"
        f"## Later\n\nWhat became of {word}{number}: it rests.\n"
        for number in range(count)
    }


def alike(digits: int = 6) -> tuple[str, str]:
    """Two texts whose hashes begin with the same digits, but for the one that follows them."""
    seen: dict[str, str] = {}
    for number in count():
        text = f"# Note {number}\n\nA zebra of its own.\n"
        start = sha256(text.encode()).hexdigest()[:digits]
        if start in seen:
            return seen[start], text
        seen[start] = text
    raise AssertionError


def files_found(engine: Engine, text: str, **options: Any) -> list[str]:
    """The documents that a search by words finds, each once, best first."""
    query = Query(text, **{"mode": "lex", "limit": 1_000, **options})
    return list(dict.fromkeys(hit.info.file for hit in engine.search(query).hits))


def ids(engine: Engine) -> dict[str, object]:
    """The id of every document by its name."""
    return {info.file: info.id for info in engine.documents()}


def facts(engine: Engine, *, with_scores: bool = True) -> dict[str, object]:
    """All that does not depend on when or in how many steps an index was made.

    Scores of words depend on a history with deletions: BM25 counts dead entries until they are merged away.
    """
    stats = engine.stats()
    return {
        "collections": [
            (replace(each.collection, created_at=0, updated_at=0), *(getattr(each, name) for name in _COUNTS))
            for each in stats.collections
        ],
        "totals": (stats.documents, stats.chunks, stats.vectors, stats.model),
        "documents": [
            (each.file, each.uri, each.title, each.content_hash, each.media_type, each.origin, dict(each.metadata))
            for each in engine.documents()
        ],
        "fingerprints": [replace(each.fingerprint, read_ns=0) for each in engine.documents()],
        "texts": [engine.get(each.file).text for each in engine.documents()],
        "ledger": [(each.collection, each.path, each.state, each.code, each.reason) for each in engine.ledger()],
        "hits": {(mode, text): _hits(engine, mode, text, with_scores) for mode in _MODES for text in QUERIES},
        "contexts": engine.contexts(),
    }


_COUNTS = ("documents", "chunks", "unembedded", "failed", "skipped")
_MODES = ("lex", "vec", "hybrid")


def _hits(engine: Engine, mode: Any, text: str, with_scores: bool) -> object:
    if mode != "lex" and engine.stats().model is None:
        return None
    hits = engine.search(Query(text, mode=mode, limit=10_000)).hits
    return {(hit.info.file, hit.ordinal): (hit.chunk, round(hit.score, 4) if with_scores else 0) for hit in hits}


def problems(engine: Engine) -> list[str]:
    """What a thorough examination finds wrong with the index; where it lies, the tests arrange as they need it."""
    found = [each for each in engine.doctor(deep=True) if not each.ok and each.check not in _SURROUNDINGS]
    return [f"{each.check}: {each.message}" for each in found]


_SURROUNDINGS = {"folders", "permissions", "space", "watcher"}
