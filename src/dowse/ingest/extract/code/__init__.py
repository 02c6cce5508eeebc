"""Source code: the file as it is, cut along its functions and classes by its syntax tree.

A file whose grammar is not installed, that is too long, or that the parser cannot make sense of, is cut by the look
of its lines instead. A tree with errors is used where it helps: half a file, or one with the markers of a merge
in it, still has functions.
"""

from collections.abc import Callable

from dowse.ingest.extract.blocks import Extracted
from dowse.ingest.extract.code.grammars import LANGUAGES, Language
from dowse.ingest.extract.code.lines import outline_by_lines
from dowse.ingest.extract.code.outline import assemble
from dowse.ingest.extract.code.parsing import is_installed, outline_by_parser
from dowse.ingest.extract.encoding import decode
from dowse.ingest.extract.formats import FORMATS

__all__ = [
    "extract_c",
    "extract_cpp",
    "extract_csharp",
    "extract_dockerfile",
    "extract_go",
    "extract_java",
    "extract_javascript",
    "extract_kotlin",
    "extract_makefile",
    "extract_php",
    "extract_python",
    "extract_ruby",
    "extract_rust",
    "extract_shell",
    "extract_sql",
    "extract_swift",
    "extract_tsx",
    "extract_typescript",
    "variant",
]

_READER = "code:extract_"
_LANGUAGE_OF = {
    row.media_type: LANGUAGES[row.reader.removeprefix(_READER)] for row in FORMATS if row.reader.startswith(_READER)
}


def variant(media_type: str) -> str:
    """Which grammars read files of this type here, as `+python`; empty: they are read by their lines.

    Part of a recipe: when a grammar is installed or removed, the files that it is for are read anew.
    """
    language = _LANGUAGE_OF.get(media_type)
    if language is None:
        return ""
    names = [language.name, *((language.unless[2],) if language.unless else ())]
    return "".join(f"+{name}" for name in names if is_installed(LANGUAGES[name].package))


def _reader(name: str) -> Callable[[bytes, str], Extracted]:
    def extract_code(data: bytes, file: str) -> Extracted:
        return _extract(LANGUAGES[name], decode(data, file), file)

    return extract_code


extract_c = _reader("c")
extract_cpp = _reader("cpp")
extract_csharp = _reader("csharp")
extract_dockerfile = _reader("dockerfile")
extract_go = _reader("go")
extract_java = _reader("java")
extract_javascript = _reader("javascript")
extract_kotlin = _reader("kotlin")
extract_makefile = _reader("makefile")
extract_php = _reader("php")
extract_python = _reader("python")
extract_ruby = _reader("ruby")
extract_rust = _reader("rust")
extract_shell = _reader("shell")
extract_sql = _reader("sql")
extract_swift = _reader("swift")
extract_tsx = _reader("tsx")
extract_typescript = _reader("typescript")


def _extract(language: Language, text: str, file: str) -> Extracted:
    if language.unless:
        suffix, look, other = language.unless
        if file.lower().endswith(suffix) and look.search(text):
            language = LANGUAGES[other]
    outline = outline_by_parser(text, language) or outline_by_lines(text, language.name)
    return assemble(text, outline, language.name)
