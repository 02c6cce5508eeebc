"""Is a folder on another machine? Systems tell nothing of what others change there, so it must be polled.

Linux says so in its table of mounts. Elsewhere only Windows' names of shares are known; for the rest there
is `--poll`.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

__all__ = ["is_remote"]

_MOUNTS: Final = Path("/proc/self/mounts")
_REMOTE: Final = frozenset(
    {"9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse", "gfs2", "glusterfs", "lustre"}
    | {"ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"}
)
"""File systems that others change behind the kernel's back. `fuse.NAME` counts too, `fuseblk` is a local disk."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


def is_remote(folder: str, mounts: Iterable[str] | None = None) -> bool:
    """Whether this absolute folder, without links, is on a file system of that kind."""
    if os.name == "nt":
        return folder.startswith("\\\\")
    nearest, kind = "", ""
    for place, its_kind in _mounted(_table() if mounts is None else mounts):
        is_inside = f"{folder}/".startswith(f"{place.rstrip('/')}/")
        if is_inside and len(place) >= len(nearest):  # a later mount on the same place hides the earlier one
            nearest, kind = place, its_kind
    return kind in _REMOTE or kind.startswith("fuse.")


def _table() -> list[str]:
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []


def _mounted(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Place and file system of every mount; spaces in a place are written as octal numbers."""
    for line in lines:
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        yield _ESCAPE.sub(lambda found: chr(int(found[1], 8)), place), kind
