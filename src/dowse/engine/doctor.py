"""How everything is: one finding for each thing that can be wrong, with its remedy."""

import importlib.metadata
import os
import platform
import shutil
import stat
import sys
from pathlib import Path

from dowse.config import Config
from dowse.engine.parts import Parts
from dowse.errors import DowseError
from dowse.ingest.watch.state import watch_status
from dowse.ports import Store
from dowse.types import Collection, Finding, StoreStats

__all__ = ["examine", "library_versions"]

_LIBRARIES = ("tantivy", "numpy", "onnxruntime", "simsimd", "tokenizers", "mcp")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def examine(store: Store, config: Config, parts: Parts, *, deep: bool) -> list[Finding]:
    """Every check: the store's own, the place it lies in, the models, and who is at work."""
    findings = [*store.check(deep=deep), *parts.check()]
    findings += [_versions(), _settings(config)]
    try:
        findings += [_permissions(config.index_dir), _watcher(config.index_dir)]
    except OSError as error:
        message = f"The place of the index cannot be looked at: {error.strerror}."
        return [*findings, Finding("permissions", ok=False, message=message, hint="Choose another with --index.")]
    try:
        with store.snapshot() as snapshot:
            stats, collections = snapshot.stats(), snapshot.collections()
    except DowseError as error:
        return [*findings, Finding("reading", ok=False, message=error.message, hint=error.hint)]
    return [*findings, _space(config.index_dir, stats), _identity(stats, parts), _folders(collections)]


def library_versions() -> dict[str, str]:
    """The versions of what Dowse stands on."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def _versions() -> Finding:
    found = library_versions()
    missing = [name for name, version in found.items() if version == "missing"]
    message = ", ".join(f"{name} {version}" for name, version in found.items()) + f", on {sys.platform}"
    return Finding("versions", not missing, message, "Install Dowse again." if missing else "")


def _settings(config: Config) -> Finding:
    changed = sorted(config.origins)
    said = f"Set: {', '.join(changed)}." if changed else "Everything is as it comes."
    return Finding("settings", ok=True, message=f"{said} See them: dowse config")


def _permissions(directory: Path) -> Finding:
    """What is in a folder of its owner alone is its owner's alone."""
    if os.name == "nt" or not directory.exists() or not directory.stat().st_mode & _OTHERS:
        return Finding("permissions", ok=True, message="The index is readable by its owner alone.")
    open_to_all = [path.name for path in directory.iterdir() if path.lstat().st_mode & _OTHERS]
    if not open_to_all:
        return Finding("permissions", ok=True, message="Every file of the index is readable by its owner alone.")
    message = f"{len(open_to_all)} files of the index may be read or changed by others."
    return Finding("permissions", ok=False, message=message, hint=f"Close it: chmod -R go-rwx {directory}")


def _space(directory: Path, stats: StoreStats) -> Finding:
    place = directory
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    message = f"{free >> 20:,} MB are free; the index has {stats.bytes_on_disk >> 20:,} MB."
    hint = "Repairs and cleaning up need room for a second copy: free some space."
    return Finding("space", free > stats.bytes_on_disk, message, "" if free > stats.bytes_on_disk else hint)


def _watcher(directory: Path) -> Finding:
    status = watch_status(directory)
    said = {
        "off": "Nobody watches the folders; `dowse update` brings the index up to date.",
        "running": f"Process {status.pid} watches {len(status.collections)} collections.",
        "died": f"The watcher (process {status.pid}) ended without a word: nothing is followed.",
    }
    problems = [problem for problem in status.problems.values() if problem] if status.state == "running" else []
    message = f"{said[status.state]} {' '.join(problems)}".rstrip()
    is_well = status.state != "died" and not problems
    return Finding("watcher", is_well, message, "" if is_well else "Start it again: dowse watch")


def _identity(stats: StoreStats, parts: Parts) -> Finding:
    """Whether the vectors of the index are those of the configured model."""
    configured, held = parts.known_identity(), stats.model
    if held is None or configured is None or held == configured:
        name = held.name if held else "none yet"
        missing = sum(each.unembedded for each in stats.collections)
        wait = f"; {missing:,} documents wait for vectors: dowse embed" if missing else ""
        return Finding("vector model", ok=True, message=f"The vectors are of the configured model ({name}){wait}.")
    if stats.successor is not None and stats.successor.model == configured:
        message = f"{held.name} answers while {configured.name} makes its vectors; {stats.successor.waiting:,} to go."
        return Finding("vector model", ok=True, message=message, hint="Go on with it: dowse embed")
    message = f"The vectors are of {held.name} ({held.precision}), configured is {configured.name}."
    return Finding("vector model", ok=False, message=message, hint="Make them anew: dowse embed --force")


def _folders(collections: tuple[Collection, ...]) -> Finding:
    missing = [each.name for each in collections if each.root and not Path(each.root).is_dir()]
    if missing:
        message = f"The folders of {len(missing)} collections are not there: {', '.join(missing)}."
        hint = "Connect the disk, or remove the collection: dowse collection remove NAME"
        return Finding("folders", ok=False, message=message, hint=hint)
    return Finding("folders", ok=True, message="Every collection's folder is there.")
