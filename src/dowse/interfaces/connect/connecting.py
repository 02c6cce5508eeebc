"""Puts Dowse into a client's file and takes it out again.

The file as it was is kept beside it. Where nobody else has changed the file since, taking Dowse out gives back exactly
those bytes; else only our own entry leaves, and everything that others wrote stays.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from dowse.errors import ConflictError, SourceError
from dowse.interfaces.connect import json_text, toml_text
from dowse.interfaces.connect.clients import Client
from dowse.interfaces.connect.entry import is_ours
from dowse.interfaces.connect.files import Kept, backup_of
from dowse.interfaces.connect.text import BadTextError, Editor

__all__ = ["connect", "disconnect", "snippet"]

_EDITORS: Mapping[str, Editor] = {"json": cast("Editor", json_text), "toml": cast("Editor", toml_text)}

Change = Literal["added", "changed", "unchanged"]
May = Callable[[str], bool]
"""Asks whether an entry that is not ours may go, given what is wrong with it."""


def snippet(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """The whole file of somebody who has no other server."""
    return _EDITORS[client.format].put("", (client.key, name), entry)


def connect(client: Client, path: Path, name: str, entry: Mapping[str, Any], may_replace: May) -> Change:
    """Put the entry into the file, which is made if there is none.

    Raises:
        ConflictError: an entry of this name starts something else.
        SourceError: the file cannot be read, understood or written; it is as it was.
    """
    editor, kept = _EDITORS[client.format], Kept(path)
    text = kept.text or ""
    known = _entry_in(editor, path, text, client.key, name)
    if known is not None and not is_ours(known):
        _check(f"{path} has a server {name} that is not Dowse.", may_replace)
        text = _edited(path, lambda: editor.remove(text, (client.key, name)))
    new = _edited(path, lambda: editor.put(text, (client.key, name), entry))
    if kept.text is not None and new == kept.text:
        return "unchanged"
    _verify(editor, path, text, new, client.key, name, entry)
    backup = Kept(backup_of(path, name))
    if known is None or not is_ours(known):
        backup.replace(kept.content)
    kept.replace(kept.encoded(new))
    return "changed" if known is not None else "added"


def disconnect(client: Client, path: Path, name: str, may_remove: May) -> bool:
    """Take the entry out of the file; False where there is none.

    Raises:
        ConflictError: the entry starts something else.
        SourceError: the file cannot be read, understood or written; it is as it was.
    """
    editor, kept = _EDITORS[client.format], Kept(path)
    known = _entry_in(editor, path, kept.text or "", client.key, name)
    if known is None:
        return False
    if not is_ours(known):
        _check(f"{path} has a server {name} that is not Dowse.", may_remove)
    backup = Kept(backup_of(path, name))
    kept.replace(_without(editor, kept, backup, client.key, name, known))
    backup.replace(None)
    return True


def _without(editor: Editor, kept: Kept, backup: Kept, key: str, name: str, entry: Mapping[str, Any]) -> bytes | None:
    """What the file held before, where it can be told; else what it holds now without the entry."""
    try:
        room = editor.remove(backup.text or "", (key, name))  # an entry that was in its place had to leave
        rebuilt: bytes | None = backup.encoded(editor.put(room, (key, name), entry))
        had_others = key in editor.read(backup.text or "")
    except BadTextError:  # somebody has put something else there
        rebuilt, had_others = None, True
    if rebuilt == kept.content:
        return backup.content
    text = _edited(kept.named, lambda: editor.remove(kept.text or "", (key, name)))
    if not had_others and editor.read(text).get(key) == {}:
        text = editor.remove(text, (key,))
    return kept.encoded(text)


def _entry_in(editor: Editor, path: Path, text: str, key: str, name: str) -> Mapping[str, Any] | None:
    servers = _edited(path, lambda: editor.read(text)).get(key)
    known = servers.get(name) if isinstance(servers, Mapping) else None
    return known if known is None or isinstance(known, Mapping) else {"": known}


def _edited(path: Path, edit: Callable[[], Any]) -> Any:
    """What an editor makes of the file; its complaints with the file's name."""
    try:
        return edit()
    except BadTextError as error:
        raise SourceError(
            f"{path}, {error}.",
            reason="malformed",
            hint="The file is as it was. Correct it, or put in yourself what `dowse connect CLIENT --print` shows.",
        ) from error


def _verify(editor: Editor, path: Path, old: str, new: str, key: str, name: str, entry: Mapping[str, Any]) -> None:
    """Read again what would be written: everything that was there must still be, beside the entry."""
    before, after = dict(editor.read(old)), dict(editor.read(new))
    servers = dict(before.get(key) or {})
    expected = {**before, key: {**servers, name: {**dict(servers.get(name) or {}), **entry}}}
    if after != expected:
        raise SourceError(f"{path} is written in a way that cannot be changed safely.", reason="malformed")


def _check(problem: str, may: May) -> None:
    if not may(problem):
        raise ConflictError(problem, hint="Choose another --name, or say --force.")
