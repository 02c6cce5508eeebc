"""Names of the formats: what users, servers and other programs call them, and which one each means."""

from collections.abc import Mapping
from typing import Final

from dowse.errors import UsageError
from dowse.ingest.extract.formats import FORMATS
from dowse.ingest.extract.signatures import LABELS

__all__ = ["ALIASES", "describe_media_type", "known_media_type", "media_type_of", "resolve_media_type"]

_BY_TYPE: Final = {each.media_type: each for each in FORMATS}
_BY_SUFFIX: Final = {suffix: each.media_type for each in FORMATS for suffix in each.suffixes}
_MS = "application/vnd.ms-"

_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "text/markdown": ("text/x-markdown", "text/x-web-markdown", "application/markdown", "text/mdx"),
    "text/plain": ("plain", "plain_text", "plaintext", "text/text", "text/x-log", "application/txt"),
    "text/x-rst": ("text/rst", "text/restructuredtext", "text/prs.fallenstein.rst"),
    "text/asciidoc": ("text/x-asciidoc", "text/vnd.asciidoc"),
    "text/org": ("text/x-org",),
    "application/x-tex": ("text/x-tex", "text/x-latex", "application/x-latex", "text/tex"),
    "application/x-ipynb+json": ("notebook", "jupyter", "application/vnd.jupyter"),
    "application/x-subrip": ("text/srt", "text/x-srt", "application/srt", "subrip"),
    "text/vtt": ("webvtt", "text/webvtt"),
    "application/json": ("text/json", "application/x-json", "text/x-json"),
    "application/jsonl": ("application/x-ndjson", "application/x-jsonlines", "application/json-lines", "text/jsonl"),
    "application/yaml": ("text/yaml", "text/x-yaml", "application/x-yaml", "text/vnd.yaml"),
    "application/toml": ("text/toml", "text/x-toml"),
    "text/x-ini": ("text/x-properties", "text/x-java-properties", "application/x-ini"),
    "text/html": ("text/x-html", "webpage"),
    "message/rfc822": ("email", "message/global", "application/x-mimearchive"),
    "application/mbox": ("application/x-mbox", "text/x-mbox"),
    "application/pdf": ("application/x-pdf", "text/pdf"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (
        f"{_MS}word.document.macroenabled.12",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    ),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": (
        f"{_MS}powerpoint.presentation.macroenabled.12",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
    ),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": (
        f"{_MS}excel.sheet.macroenabled.12",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
    ),
    "application/msword": ("application/doc", "application/vnd.msword"),
    f"{_MS}excel": ("application/excel", "application/x-msexcel", f"{_MS}excel.sheet.binary.macroenabled.12"),
    f"{_MS}powerpoint": ("application/powerpoint", "application/mspowerpoint"),
    "text/csv": ("application/csv", "text/x-csv", "text/comma-separated-values"),
    "text/tab-separated-values": ("text/tsv", "text/x-tsv"),
    "text/x-c": ("text/x-csrc", "text/x-chdr"),
    "text/x-c++": ("text/x-c++src", "text/x-c++hdr", "text/x-cpp", "text/x-cplusplus"),
    "text/x-csharp": ("csharp",),
    "text/x-go": ("golang", "text/x-golang", "text/go"),
    "text/x-java": ("text/x-java-source",),
    "text/javascript": ("application/javascript", "application/x-javascript", "text/ecmascript", "text/jsx"),
    "text/x-kotlin": ("text/kotlin",),
    "text/x-php": ("application/x-php", "application/x-httpd-php", "application/php"),
    "text/x-python": ("application/x-python", "text/python", "text/x-script.python", "application/x-python-code"),
    "text/x-ruby": ("application/x-ruby", "text/ruby", "text/x-ruby-script"),
    "text/x-rust": ("text/rust",),
    "text/x-shellscript": ("shellscript", "application/x-sh", "application/x-shellscript", "text/x-sh", "text/x-bash"),
    "application/sql": ("text/x-sql", "text/sql"),
    "text/x-swift": ("text/swift",),
    "text/typescript": ("application/typescript", "application/x-typescript", "text/x-typescript"),
}


def _all_names() -> dict[str, str]:
    names = {alias: media_type for media_type, aliases in _OTHER_NAMES.items() for alias in aliases}
    for each in FORMATS:
        for name in (each.media_type, each.name.lower(), *(suffix.lstrip(".") for suffix in each.suffixes)):
            names.setdefault(name, each.media_type)
    return names


ALIASES: Final[Mapping[str, str]] = _all_names()
"""Every name of a format, in lower case: its media types, old and new, its name, its suffixes without the dot."""


def media_type_of(name: str) -> str | None:
    """The media type that a file's name (or path) gives it, None when it is none that we read."""
    stem, dot, suffix = name.rpartition("/")[2].lower().rpartition(".")
    return _BY_SUFFIX.get(f".{suffix}" if stem and dot else suffix)


def known_media_type(declared: str) -> str | None:
    """The type that we read which a Content-Type header means, if any."""
    media_type = declared.partition(";")[0].strip().lower()
    if "/" in media_type and media_type in ALIASES:
        return ALIASES[media_type]
    return "application/json" if media_type.endswith("+json") else None


def resolve_media_type(text: str) -> str:
    """The media type that a user means by `markdown`, `md`, `.md` or `text/markdown; charset=utf-8`.

    Raises:
        UsageError: none that can be read.
    """
    name = text.partition(";")[0].strip().lower()
    for spelling in (name, name.removeprefix("."), name.replace("_", " ").replace("-", " ")):
        if spelling in ALIASES:
            return ALIASES[spelling]
    from difflib import get_close_matches

    close = get_close_matches(name, ALIASES, n=3)
    means = f"Did you mean {' or '.join(close)}? " if close else ""
    raise UsageError(
        f"{text[:100]!r} is no type of document that can be read.",
        hint=f"{means}Known are media types, file suffixes, and {', '.join(sorted(each.name for each in FORMATS))}.",
    )


def describe_media_type(media_type: str) -> str:
    """What a file of this type is, as part of a sentence: `a PNG image`."""
    if media_type in LABELS:
        return LABELS[media_type]
    found = _BY_TYPE.get(media_type)
    return f"of the type {found.name if found else media_type}"
