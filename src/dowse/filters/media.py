"""What people call a type of file: its family, its language or program, its usual suffix.

The families are those of the formats that can be read; a test keeps this table complete.
"""

from functools import lru_cache

__all__ = ["type_words"]

_OFFICE = "application/vnd.openxmlformats-officedocument"
_WORDS: dict[str, str] = {
    "text/markdown": "markdown md",
    "text/plain": "text txt",
    "text/x-rst": "text rst restructuredtext",
    "text/asciidoc": "text asciidoc adoc",
    "text/org": "text org",
    "application/x-tex": "text tex latex",
    "application/x-subrip": "text subtitles srt",
    "text/vtt": "text subtitles vtt",
    "application/x-ipynb+json": "notebook jupyter ipynb",
    "application/json": "data json",
    "application/geo+json": "data json geojson",
    "application/jsonl": "data json jsonl",
    "application/yaml": "data yaml",
    "application/toml": "data toml",
    "text/x-ini": "data ini",
    "text/csv": "data csv",
    "text/tab-separated-values": "data tsv",
    "text/html": "html",
    "application/xhtml+xml": "html xhtml",
    "application/epub+zip": "html epub ebook",
    "message/rfc822": "mail email eml",
    "application/mbox": "mail email mbox",
    "application/pdf": "pdf",
    f"{_OFFICE}.wordprocessingml.document": "office word docx",
    f"{_OFFICE}.presentationml.presentation": "office powerpoint pptx slides",
    f"{_OFFICE}.spreadsheetml.sheet": "office excel xlsx spreadsheet",
    "application/msword": "office word doc",
    "application/vnd.ms-powerpoint": "office powerpoint ppt slides",
    "application/vnd.ms-excel": "office excel xls spreadsheet",
    "text/x-c": "code c",
    "text/x-c++": "code c++ cpp",
    "text/x-csharp": "code c# csharp cs",
    "text/x-dockerfile": "code dockerfile docker",
    "text/x-go": "code go golang",
    "text/x-java": "code java",
    "text/javascript": "code javascript js",
    "text/x-kotlin": "code kotlin kt",
    "text/x-makefile": "code makefile make mk",
    "text/x-php": "code php",
    "text/x-python": "code python py",
    "text/x-ruby": "code ruby rb",
    "text/x-rust": "code rust rs",
    "text/x-shellscript": "code shell sh",
    "application/sql": "code sql",
    "text/x-swift": "code swift",
    "text/tsx": "code typescript tsx",
    "text/typescript": "code typescript ts",
}


@lru_cache(maxsize=256)
def type_words(media_type: str) -> tuple[str, ...]:
    """The names of a media type, the family first where it is known, and its own name last."""
    name = media_type.lower()
    known = _WORDS.get(name)
    words = known.split() if known else [name.rpartition("/")[2].removeprefix("x-")]
    return (*words, name)
