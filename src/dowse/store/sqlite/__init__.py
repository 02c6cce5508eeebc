"""The embedded store: SQLite holds the truth; tantivy and memory-mapped vectors are derived from it.

    store.py      the Store port: reads open snapshots, writes run one at a time
    readers.py    connections for readers, and snapshots whose parts belong together
    snapshot.py   the Snapshot port: one SQLite transaction with the matching derived indexes
    counting.py, sampling.py       how much there is; some passages with their vectors
    writing.py    the writer's transaction: lock, recover, change, publish
    models.py     whose vectors there are: the model that answers, and its successor
    whole.py      documents and vectors as they leave for elsewhere
    care.py       check, rebuild, cleanup
    backup.py     the index as one file, and back
    database.py   connections, migrations, and SQLite's errors in our words
    lexical.py    the tantivy index
    vector_files.py, vectors.py    the memory-mapped vector files, and the arithmetic on them
    lock.py       one writer across processes
    rows.py       the mapping between rows and nouns

Files of an index: `dowse.db` (with SQLite's `-wal` and `-shm`), `lexical-N/`, `vectors-N.*`, `writer.lock`.
"""

from dowse.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
