"""The formats that can be read: what their files are called, who reads them, and what that takes.

A new format is a module and a row here. Modules are imported when a file of theirs is read, so that a
folder of notes never pays for PDF. `version` changes whenever the same bytes would give another
text, other blocks or other metadata: what was read before is then read anew.
"""

from typing import Literal

from dowse.records import record

__all__ = ["FORMATS", "Family", "Format"]

Family = Literal["markdown", "text", "pdf", "code", "html", "office", "data", "mail", "notebook"]


@record
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
            *(".txt", ".text"),
            *("authors", "changelog", "changes", "contributing", "copying", "install"),
            *("license", "news", "notice", "readme", "todo"),
        ),
        "plain:extract_plain",
        "text",
    ),
    Format("reStructuredText", "text/x-rst", (".rst",), "markup.rst:extract_rst", "text"),
    Format("AsciiDoc", "text/asciidoc", (".adoc", ".asciidoc", ".asc"), "markup.asciidoc:extract_asciidoc", "text"),
    Format("Org", "text/org", (".org",), "markup.org:extract_org", "text"),
    Format("LaTeX", "application/x-tex", (".tex", ".latex", ".ltx"), "markup.latex:extract_latex", "text"),
    Format("Jupyter notebook", "application/x-ipynb+json", (".ipynb",), "notebook:extract_notebook", "notebook"),
    Format("SubRip subtitles", "application/x-subrip", (".srt",), "subtitles:extract_subtitles", "text"),
    Format("WebVTT subtitles", "text/vtt", (".vtt",), "subtitles:extract_subtitles", "text"),
    Format("JSON", "application/json", (".json",), "data.json_data:extract_json", "data"),
    Format("GeoJSON", "application/geo+json", (".geojson",), "data.json_data:extract_json", "data"),
    Format("JSON Lines", "application/jsonl", (".jsonl", ".ndjson"), "data.json_data:extract_json_lines", "data"),
    Format("YAML", "application/yaml", (".yaml", ".yml"), "data.yaml_data:extract_yaml", "data"),
    Format("TOML", "application/toml", (".toml",), "data.settings_data:extract_toml", "data"),
    Format("INI", "text/x-ini", (".ini", ".cfg", ".properties"), "data.settings_data:extract_ini", "data"),
    Format("HTML", "text/html", (".html", ".htm", ".shtml"), "hypertext:extract_html", "html"),
    Format("XHTML", "application/xhtml+xml", (".xhtml", ".xht"), "hypertext:extract_html", "html"),
    Format("EPUB", "application/epub+zip", (".epub",), "epub:extract_epub", "html"),
    Format("Mail", "message/rfc822", (".eml",), "mail:extract_eml", "mail"),
    Format("Mailbox", "application/mbox", (".mbox",), "mail:extract_mbox", "mail"),
    Format("PDF", "application/pdf", (".pdf",), "pdf:extract_pdf", "pdf"),
    Format(
        "Word",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        (".docx", ".docm", ".dotx", ".dotm"),
        "office:extract_office",
        "office",
    ),
    Format(
        "PowerPoint",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
        "office:extract_office",
        "office",
    ),
    Format(
        "Excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        (".xlsx", ".xlsm", ".xltx", ".xltm"),
        "office:extract_office",
        "office",
    ),
    Format("Word before 2007", "application/msword", (".doc",), "office:extract_old_office", "office"),
    Format(
        "PowerPoint before 2007",
        "application/vnd.ms-powerpoint",
        (".ppt", ".pps"),
        "office:extract_old_office",
        "office",
    ),
    Format("Excel before 2007", "application/vnd.ms-excel", (".xls", ".xlsb"), "office:extract_old_office", "office"),
    Format("CSV", "text/csv", (".csv",), "delimited:extract_delimited", "data"),
    Format("TSV", "text/tab-separated-values", (".tsv", ".tab"), "delimited:extract_delimited", "data"),
    Format("C", "text/x-c", (".c", ".h"), "code:extract_c", "code"),
    Format("C++", "text/x-c++", (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp"), "code:extract_cpp", "code"),
    Format("C#", "text/x-csharp", (".cs", ".csx"), "code:extract_csharp", "code"),
    Format(
        "Dockerfile",
        "text/x-dockerfile",
        (".dockerfile", "dockerfile", "containerfile"),
        "code:extract_dockerfile",
        "code",
    ),
    Format("Go", "text/x-go", (".go",), "code:extract_go", "code"),
    Format("Java", "text/x-java", (".java",), "code:extract_java", "code"),
    Format("JavaScript", "text/javascript", (".js", ".mjs", ".cjs", ".jsx"), "code:extract_javascript", "code"),
    Format("Kotlin", "text/x-kotlin", (".kt", ".kts"), "code:extract_kotlin", "code"),
    Format("Makefile", "text/x-makefile", (".mk", "makefile", "gnumakefile"), "code:extract_makefile", "code"),
    Format("PHP", "text/x-php", (".php", ".phtml"), "code:extract_php", "code"),
    Format("Python", "text/x-python", (".py", ".pyi", ".pyw"), "code:extract_python", "code"),
    Format("Ruby", "text/x-ruby", (".rb", ".rake", ".gemspec", "rakefile", "gemfile"), "code:extract_ruby", "code"),
    Format("Rust", "text/x-rust", (".rs",), "code:extract_rust", "code"),
    Format("Shell", "text/x-shellscript", (".sh", ".bash", ".zsh", ".ksh"), "code:extract_shell", "code"),
    Format("SQL", "application/sql", (".sql",), "code:extract_sql", "code"),
    Format("Swift", "text/x-swift", (".swift",), "code:extract_swift", "code"),
    Format("TSX", "text/tsx", (".tsx",), "code:extract_tsx", "code"),
    Format("TypeScript", "text/typescript", (".ts", ".mts", ".cts"), "code:extract_typescript", "code"),
)
