"""Where bytes come from: the files of a folder, and one file.

`walk` says what is there without opening any of it; `read` opens one. Later kinds of sources are modules
beside these two.
"""

from dowse.ingest.sources.files import read
from dowse.ingest.sources.folders import Found, Refused, walk
from dowse.ingest.sources.names import is_secret
from dowse.ingest.sources.roots import check_pattern, resolve_root

__all__ = ["Found", "Refused", "check_pattern", "is_secret", "read", "resolve_root", "walk"]
