"""What qmd has been told: its collections, their contexts and what they leave out.

qmd keeps this in a YAML file, and copies it into its SQLite index; the file counts where there is one. Older versions
have it in the index alone, in other tables. Both are opened for reading only.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import Any

from dowse.errors import NotFoundError, SourceError
from dowse.records import record

__all__ = ["Setup", "Taken", "find", "read"]

_NAMES = ("index.yml", "index.yaml")
_USUAL_MASK = "**/*.md"
_KNOWN = {"path", "pattern", "ignore", "context", "includeByDefault"}
_MAGIC = b"SQLite format 3\0"


@record
class Taken:
    """A collection of qmd."""

    name: str
    path: Path
    mask: str = _USUAL_MASK
    ignore: tuple[str, ...] = ()
    contexts: Mapping[str, str] = field(default_factory=dict)
    """Prefix, without slashes at its ends -> description."""
    included: bool = True
    other: tuple[str, ...] = ()
    """Settings that Dowse has no counterpart for."""


@record
class Setup:
    """All that was found in one file."""

    file: Path
    collections: tuple[Taken, ...]
    context: str = ""
    """What is said of everything."""
    other: tuple[str, ...] = ()


def find(home: Path, working: Path, env: Mapping[str, str]) -> Path:
    """The file that qmd itself would go by: that of the project around here, else the user's, else the index.

    Raises:
        NotFoundError: there is none.
    """
    projects = [folder / ".qmd" for folder in (working, *working.parents)]
    configured = env.get("QMD_CONFIG_DIR")
    config = Path(configured) if configured else Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "qmd"
    cache = Path(env.get("XDG_CACHE_HOME") or home / ".cache") / "qmd"
    indexes = [Path(env["INDEX_PATH"])] if env.get("INDEX_PATH") else []
    places = [folder / name for folder in (*projects, config) for name in _NAMES]
    for place in [*places, *indexes, cache / "index.sqlite"]:
        if place.is_file():
            return place
    raise NotFoundError(
        f"There is no configuration of qmd: neither {config / _NAMES[0]} nor {cache / 'index.sqlite'}.",
        hint="Name its YAML file or its SQLite index: dowse adopt qmd --file FILE",
    )


def read(file: Path, home: Path) -> Setup:
    """What a YAML file or an index of qmd says.

    Raises:
        SourceError: it cannot be read or understood.
    """
    try:
        with file.open("rb") as stream:
            is_index = stream.read(len(_MAGIC)) == _MAGIC
        return _from_index(file, home) if is_index else _from_yaml(file, home)
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError, AttributeError) as error:
        raise SourceError(
            f"{file} is no configuration of qmd that could be read: {error}", hint="Correct it, or name another --file."
        ) from error


def _from_yaml(file: Path, home: Path) -> Setup:
    import yaml  # 20 ms that no other command needs

    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8-sig")) or {}
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    if not isinstance(said, Mapping) or not isinstance(said.get("collections") or {}, Mapping):
        raise TypeError("there are no collections in it")
    base = file.parent.parent if file.parent.name == ".qmd" else file.parent
    found = tuple(_collection(str(name), each, base, home) for name, each in (said.get("collections") or {}).items())
    other = tuple(str(key) for key in said if key not in {"collections", "global_context"})
    return Setup(file, found, str(said.get("global_context") or ""), other)


def _collection(name: str, said: Mapping[str, Any], base: Path, home: Path) -> Taken:
    return Taken(
        name,
        _path(str(said["path"]), base, home),
        str(said.get("pattern") or _USUAL_MASK),
        _texts(said.get("ignore")),
        _contexts(said.get("context")),
        said.get("includeByDefault") is not False,
        tuple(str(key) for key, value in said.items() if key not in _KNOWN and value is not None),
    )


def _path(text: str, base: Path, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else home if text == "~" else base / text


def _texts(said: object) -> tuple[str, ...]:
    if isinstance(said, str):
        return (said,)
    return tuple(map(str, said)) if isinstance(said, Sequence) else ()


def _contexts(said: object) -> dict[str, str]:
    if isinstance(said, str):
        return {"": said}
    return {str(key).strip("/"): str(text) for key, text in said.items()} if isinstance(said, Mapping) else {}


def _from_index(file: Path, home: Path) -> Setup:
    # Without a journal that is being written, SQLite need not even leave its lock files beside the index.
    journal = file.with_name(f"{file.name}-wal")
    alone = not journal.exists() or not journal.stat().st_size
    address = f"{file.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.row_factory = sqlite3.Row
        tables = {row["name"] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "store_collections" in tables:
            return _newer(file, database, tables, home)
        if "collections" in tables:
            return Setup(file, tuple(_older(database, tables, file.parent, home)))
    raise ValueError("there are no collections in it")


def _newer(file: Path, database: sqlite3.Connection, tables: set[str], home: Path) -> Setup:
    collections = []
    for row in database.execute("SELECT * FROM store_collections"):
        said = {key: row[key] for key in row.keys()}  # noqa: SIM118  # a row iterates over its values
        collections.append(
            _collection(
                said["name"],
                {
                    "path": said["path"],
                    "pattern": said.get("pattern"),
                    "ignore": json.loads(said.get("ignore_patterns") or "[]"),
                    "context": json.loads(said.get("context") or "{}"),
                    "includeByDefault": said.get("include_by_default") != 0,
                    "update": said.get("update_command"),
                },
                file.parent,
                home,
            )
        )
    query = "SELECT value FROM store_config WHERE key = 'global_context'"
    said_of_all = database.execute(query).fetchone() if "store_config" in tables else None
    return Setup(file, tuple(collections), str(said_of_all["value"] or "") if said_of_all else "")


def _older(database: sqlite3.Connection, tables: set[str], base: Path, home: Path) -> Iterator[Taken]:
    contexts = list(database.execute("SELECT * FROM path_contexts")) if "path_contexts" in tables else []
    for row in database.execute("SELECT * FROM collections"):
        said = {key: row[key] for key in row.keys()}  # noqa: SIM118  # a row iterates over its values
        path = _path(said["pwd"], base, home)
        own = {"": said["context"]} if said.get("context") else {}
        for each in contexts:
            if "collection_id" in each.keys():  # noqa: SIM118  # the same
                if each["collection_id"] == said["id"]:
                    own[each["path_prefix"].strip("/")] = each["context"]
            elif Path(each["path_prefix"]).is_relative_to(path):
                below = Path(each["path_prefix"]).relative_to(path).as_posix()
                own["" if below == "." else below] = each["context"]
        yield Taken(said.get("name") or path.name, path, said["glob_pattern"] or _USUAL_MASK, (), own)
