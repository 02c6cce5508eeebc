"""The formats that can be read: what their files are called, who reads them, and what that takes.

A new format is a module and a row here. Modules are imported when a file of theirs is read, so that a
folder of notes never pays for PDF. `version` changes whenever the same bytes would give another
text, other blocks or other metadata: what was read before is then read anew.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["FORMATS", "Family", "Format"]

Family = Literal["markdown", "text", "pdf", "code", "html", "office", "data", "mail", "notebook"]


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table."""

    name: str
    media_type: str
    suffixes: tuple[str, ...]
    """Ends of file names, in lower case; those that start with no dot are whole names without a suffix."""
    reader: str
    """`module:function` in this package; the function takes the bytes and the name for messages."""
    family: Family
    version: int = 1


FORMATS: tuple[Format, ...] = (
    Format(
        "Markdown",
        "text/markdown",
        (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd", ".rmd"),
        "markdown:extract_markdown",
        "markdown",
    ),
    Format(
        "Plain text",
        "text/plain",
        (
            *(".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org"),
            *("authors", "changelog", "changes", "contributing", "copying", "install"),
            *("license", "news", "notice", "readme", "todo"),
        ),
        "plain:extract_plain",
        "text",
    ),
)
