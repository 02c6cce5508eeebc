"""Where bytes come from: the files of a folder, one file, a web address, a data: URI, content with a name.

`walk` says what is there without opening any of it; `read` opens one. `parse_given` understands what a user
names. `web.fetch` gets what is at an address: its module brings an HTTP library along, so it is imported by
whoever fetches, not from here.
"""

from dowse.ingest.sources.addresses import AddressPolicy
from dowse.ingest.sources.files import read, read_head
from dowse.ingest.sources.folders import Found, Refused, decides_for_its_folder, folders, walk
from dowse.ingest.sources.given import Given, given_content, parse_given
from dowse.ingest.sources.names import is_hidden, is_secret, normal_name
from dowse.ingest.sources.roots import check_pattern, resolve_root
from dowse.ingest.sources.selection import Selection

__all__ = [
    "AddressPolicy",
    "Found",
    "Given",
    "Refused",
    "Selection",
    "check_pattern",
    "decides_for_its_folder",
    "folders",
    "given_content",
    "is_hidden",
    "is_secret",
    "normal_name",
    "parse_given",
    "read",
    "read_head",
    "resolve_root",
    "walk",
]
