"""HTML: web pages, and the same markup inside e-books, mails and notebooks."""

from dowse.ingest.extract.hypertext.reading import extract_html, read_html

__all__ = ["extract_html", "read_html"]
