"""All routes of the API, and the description that is made of them."""

from dowse.interfaces.http import checking, collections, documents, jobs, searching, standing
from dowse.interfaces.http.rows import Row

__all__ = ["TABLE"]

TABLE: tuple[Row, ...] = (
    *searching.ROWS,
    *documents.ROWS,
    *collections.ROWS,
    *jobs.ROWS,
    *standing.ROWS,
    *checking.ROWS,
)
"""In the order of the reference."""
