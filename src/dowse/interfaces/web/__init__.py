"""The web page at `/`: files of this package, and the routes that serve them.

What the page shows comes from the public API under `/api/v1`; nothing here looks into an index.
"""

from dowse.interfaces.web.serving import page_routes

__all__ = ["page_routes"]
