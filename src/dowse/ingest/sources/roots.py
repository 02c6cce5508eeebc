"""What a collection may be made of: a folder that is there, and a pattern that can be understood."""

from pathlib import Path

from dowse.errors import NotFoundError
from dowse.ingest.sources.patterns import PathPattern
from dowse.places import full_path

__all__ = ["check_pattern", "resolve_root"]


def resolve_root(path: Path | str) -> Path:
    """The folder that a path means, absolute and without links.

    Raises:
        NotFoundError: there is none.
    """
    try:
        folder = full_path(path)
        is_there = folder.is_dir()
    except (OSError, RuntimeError, ValueError):  # too long, links in a circle, `~` of nobody, a NUL
        folder, is_there = Path(path), False
    if not is_there:
        raise NotFoundError(f"There is no folder {folder}.", hint="Give the path of an existing folder.")
    return folder


def check_pattern(pattern: str) -> None:
    """Fail now rather than at every walk.

    Raises:
        UsageError: the pattern cannot be understood.
    """
    PathPattern(pattern)
