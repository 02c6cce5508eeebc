"""A store on an OpenSearch cluster: the extra `dowse[opensearch]`.

Its modules:

    store.py        the port's writing side, wiring of the rest
    snapshot.py     the port's reading side
    address.py      the URL of a cluster
    connection.py   requests with time limits, bulk writes with patience; failures.py has their errors in our words
    layout.py       the three indexes and their mappings
    catalog.py      collections, contexts and the model as one document, and the counters
    views.py        points in time that readers share
    ranking.py      BM25 and the nearest vectors; counting.py has the numbers that words are weighed by
    facts.py        what filters compare, as terms; filtering.py compiles a filter to a query over them
    docids.py       how long a docid must be
    rows.py         nouns to JSON and back, and every id
    planning.py     what a batch of drafts comes to; writing.py carries it out
    backlog.py      which texts wait for a vector, and what becomes of vectors
    leases.py       parts of some work, each held by one process for a while
    care.py         cleaning up, checking, rebuilding
"""

from dowse.store.opensearch.address import SCHEMES, Address
from dowse.store.opensearch.store import OpenSearchStore

__all__ = ["SCHEMES", "Address", "OpenSearchStore"]
