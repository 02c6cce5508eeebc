"""A collection on its way from one store to another, or into a file and out of it.

    parts.py      a collection as a stream of parts, from any Snapshot and into any Store
    shapes.py     documents as JSON and back, with every value checked
    moving.py     a whole store into another one, compared at the end
    archive.py    the file: a zip of parts, written and read as a stream

Nothing here knows a concrete store: what can be read through the ports can be carried elsewhere.
"""

from dowse.store.portable.archive import Archive, write_archive
from dowse.store.portable.parts import Head, Part, head_of, parts_of, take_in

__all__ = ["Archive", "Head", "Part", "head_of", "parts_of", "take_in", "write_archive"]
