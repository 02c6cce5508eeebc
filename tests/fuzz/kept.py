"""What lies on the disk: files of an index, backups, exported collections, settings, and small notes beside them.

Each is read as its users would read it. What comes out is an answer, or an error of the one tree; and an answer of an
index with a damaged word index or vector file is right, or says that something is missing.
"""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from dowse import Config, DowseError, Engine, Query
from workbench import many, open_at, write

__all__ = ["DISK", "opened", "seeds_of_files"]

_NOTES = many(12)
_KINDS = ("database", "words", "vectors")


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dowse-fuzz-") as name:
        yield Path(name).resolve()


@cache
def _folder() -> Path:
    """A small sound index with words and vectors, made once."""
    folder = Path(tempfile.mkdtemp(prefix="dowse-fuzz-")).resolve()
    with open_at(folder) as engine:
        engine.add_collection(write(folder / "notes", _NOTES), name="notes")
        engine.index("notes")
        engine.embed()
    with sqlite3.connect(folder / "index" / "dowse.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return folder


def _index_files(kind: str) -> list[Path]:
    files = sorted((_folder() / "index").rglob("*"))
    return [file for file in files if file.is_file() and file.stat().st_size and _kind(file) == kind]


def _kind(file: Path) -> str:
    if file.name == "dowse.db":
        return "database"
    return "words" if file.parent.name.startswith("lexical") else "vectors" if "vectors" in str(file) else "other"


def seeds_of_files(kind: str) -> list[bytes]:
    """The files of the sound index, each with its number in front."""
    return [b"%d:" % number + file.read_bytes() for number, file in enumerate(_index_files(kind))]


def opened(kind: str, data: bytes) -> None:
    """The index with one file replaced: it answers, or says in its own words what is wrong; then it is written to."""
    files = _index_files(kind)
    number, _, content = data.partition(b":")
    chosen = files[int(number[:9]) % len(files)] if number.isdigit() else files[0]
    with _scratch() as folder:
        shutil.copytree(_folder() / "index", folder / "index")
        (folder / chosen.relative_to(_folder())).write_bytes(content)
        reading: list[Callable[[Engine], object]] = [
            lambda engine: engine.search(Query("zebra road", mode="lex")),
            lambda engine: engine.get("notes/part0/note000.md"),
            lambda engine: engine.stats(),
            lambda engine: engine.doctor(),
        ]
        if kind != "database":
            reading[:1] = [lambda engine: _check_answer(engine, "lex"), lambda engine: _check_answer(engine, "vec")]
        writing = (lambda engine: engine.ingest(_given("new words")), lambda engine: engine.search("new words"))
        for uses in (reading, writing):
            _refused_at_most(lambda uses=uses: _each(folder, uses))


def _check_answer(engine: Engine, mode: Any) -> None:
    """All passages are of the notes; some lack only with a note, or where a thorough look names the damage."""
    found = engine.search(Query("zebra road", mode=mode, limit=100))
    assert all(hit.chunk.text in _NOTES[hit.info.path] for hit in found.hits), "a passage of no document"
    if not found.notes and {hit.info.path for hit in found.hits} != set(_NOTES):
        assert not all(each.ok for each in engine.doctor(deep=True)), "an answer that lacks documents"


def _each(folder: Path, uses: Sequence[Callable[[Engine], object]]) -> None:
    with open_at(folder) as engine:
        for use in uses:
            _refused_at_most(lambda use=use: use(engine))


def _refused_at_most(use: Callable[[], object]) -> bool:
    """Whether it worked; what it may raise is an error that says what is wrong."""
    try:
        use()
    except DowseError as error:
        assert error.message  # noqa: PT017 - no test, a target
        return False
    return True


def _given(text: str) -> Any:
    from dowse.ingest.sources import given_content

    return given_content(text, "new.md")


def _export() -> bytes:
    with _scratch() as folder, open_at(_folder()) as engine:
        engine.export_collection("notes", folder / "notes.zip")
        return (folder / "notes.zip").read_bytes()


def _imported(data: bytes) -> None:
    with _scratch() as folder:
        (folder / "given.zip").write_bytes(data)
        with open_at(folder) as engine:
            if _refused_at_most(lambda: engine.import_collection(folder / "given.zip", name="given")):
                engine.search("zebra road")
                assert all(engine.get(each.file).text is not None for each in engine.documents())
                assert not [each for each in engine.doctor(deep=True) if not each.ok and each.name in _KINDS]
            else:
                assert not engine.stats().documents, "half of a refused file was taken in"


def _backup() -> bytes:
    with _scratch() as folder, open_at(_folder()) as engine:
        engine.backup(folder / "backup.zip")
        return (folder / "backup.zip").read_bytes()


def _restored(data: bytes) -> None:
    """As it is, and with a checksum that fits: then the database itself is looked into."""
    for content in (data, _with_checksum(data)):
        if content is None:
            continue
        with _scratch() as folder:
            (folder / "given.zip").write_bytes(content)
            with open_at(folder) as engine:
                engine.ingest(_given("old words"))
                if not _refused_at_most(lambda e=engine, f=folder: e.restore(f / "given.zip", force=True)):
                    assert engine.search("old words").hits, "a refused backup cost the index something"
                for use in (lambda e: e.search("zebra road"), lambda e: e.stats(), lambda e: e.doctor()):
                    _refused_at_most(lambda use=use, e=engine: use(e))


def _with_checksum(data: bytes) -> bytes | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            database, manifest = archive.read("dowse.db"), json.loads(archive.read("manifest.json"))
        told = {**manifest, "sha256": hashlib.sha256(database).hexdigest(), "bytes": len(database)}
    except Exception:  # noqa: BLE001 - what zipfile says to such files is not what is tested
        return None
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("dowse.db", database)
        archive.writestr("manifest.json", json.dumps(told))
    return made.getvalue()


_SETTINGS = b"""index = "work"
embedder = "hashed"
max_memory = "512MB"
chunk_tokens = 256
max_file_size = 1000000
lock_timeout = 2.5
daemon = false
"""


def _configured(data: bytes) -> None:
    with _scratch() as folder:
        (folder / "config.toml").write_bytes(data)
        _refused_at_most(lambda: Config.load(folder / "config.toml", env={}))


def _tokens() -> bytes:
    from dowse.interfaces.tokens import Tokens

    with _scratch() as folder:
        tokens = Tokens(folder)
        tokens.create("one", collections=["tea"], expires_at=1)
        tokens.create("two", read_only=True)
        return _on_one_line((folder / "tokens.json").read_bytes())


def _let_in(data: bytes) -> None:
    """Nobody gets in, whatever the file says of others; and new tokens can be made, or the file is named."""
    from dowse.interfaces.tokens import Tokens

    with _scratch() as folder:
        (folder / "tokens.json").write_bytes(data)
        for use in (
            lambda tokens: [each.is_expired for each in tokens.all()],
            lambda tokens: _nobody(tokens.find("dowse_guessed")),
            lambda tokens: tokens.revoke("one"),
            lambda tokens: tokens.create("three"),
        ):
            _refused_at_most(lambda use=use: use(Tokens(folder)))


def _nobody(found: object) -> None:
    assert found is None, "a stranger got in"


def _on_one_line(data: bytes) -> bytes:
    return json.dumps(json.loads(data)).encode()


def _watch(folder: Path) -> object:
    from dowse.engine.doctor import _watcher
    from dowse.ingest.watch.state import claim

    found = _watcher(folder)
    with claim(folder):
        return found


def _daemon(folder: Path) -> object:
    from dowse.interfaces.daemon.meeting import ask, endpoints

    return [ask(each, "status") for each in endpoints(folder)]


def _lock(folder: Path) -> object:
    from dowse.locks import try_lock
    from dowse.store.sqlite.lock import holder

    descriptor = os.open(folder / "writer.lock", os.O_RDWR)
    try:
        assert try_lock(descriptor)
        return holder(folder / "writer.lock")
    finally:
        os.close(descriptor)


def _evaluations(folder: Path) -> object:
    from dowse.evaluate.history import compared, remembered
    from dowse.evaluate.results import METRICS, Evaluation, ModeFigures

    mode = ModeFigures("lex", {}, {}, 1.0, 1.0, {key: [1.0] * len(METRICS) for key in "abc"})
    run = Evaluation("all", 1, {}, (mode,), {"a": "b"})
    return remembered(folder, compared(folder, run))


def _model_results(folder: Path) -> object:
    from dowse.inference.cache import Cache

    cache_of_models = Cache(folder)
    try:
        return cache_of_models.fact("fact"), cache_of_models.results([b"key"])
    finally:
        cache_of_models.close()


_SMALL: Mapping[str, tuple[Callable[[Path], object], bytes]] = {
    "watch.json": (
        _watch,
        (b'{"state": "running", "pid": 1, "since": 5, "collections": {"n": "x"}, "batches": 1, "last_batch_at": 2, '
        b'"problems": {"": "x"}}'),
    ),
    "a.json": (
        _daemon,
        b'{"protocol": 1, "pid": 1, "socket": "", "port": 1, "secret": "s", "proof": "p", "index": "x"}',
    ),
    "writer.lock": (_lock, b'{"pid": 1, "program": "dowse", "since": 5}'),
    "evaluations.json": (
        _evaluations,
        (b'[{"name": "all", "at": 1, "state": {"a": "c"}, "modes": {"lex": {"p50_ms": 1.0, "scores": '
        b'{"a": [1, 0, 1, 0], "b": [1, 1, 1, 1], "c": [0, 0, 0, 0]}}}}]'),
    ),
}  # fmt: skip


def _noted(data: bytes) -> None:
    """A file beside an index: whoever reads it goes on without it."""
    number, _, content = data.partition(b":")
    names = list(_SMALL)
    name = names[int(number[:9]) % len(names)] if number.isdigit() else names[0]
    with _scratch() as folder:
        (folder / name).write_bytes(content)
        _refused_at_most(lambda: _SMALL[name][0](folder))


def _cached() -> bytes:
    from dowse.inference.cache import FILE, Cache

    with _scratch() as folder:
        made = Cache(folder)
        made.remember("fact", {"dims": 3})
        made.put({b"key": b"value"})
        made.close()
        return (folder / FILE).read_bytes()


def _remembered(data: bytes) -> None:
    from dowse.inference.cache import FILE

    with _scratch() as folder:
        (folder / FILE).write_bytes(data)
        _model_results(folder)


DISK: Mapping[str, tuple[Callable[[bytes], object], Callable[[], list[bytes]]]] = {
    "export": (_imported, lambda: [_export()]),
    "backup": (_restored, lambda: [_backup()]),
    "settings": (_configured, lambda: [_SETTINGS]),
    "tokens": (_let_in, lambda: [_tokens()]),
    "notes": (_noted, lambda: [b"%d:" % place + seed for place, (_, seed) in enumerate(_SMALL.values())]),
    "cache": (_remembered, lambda: [_cached()]),
}
"""What is read beside the files of an index themselves: how, and sound ones."""
