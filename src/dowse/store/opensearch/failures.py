"""What a cluster refuses or fails at, in our words: every way a request can go wrong, and what to do about it."""

from collections.abc import Mapping
from typing import Any

from dowse.errors import DowseError, StoreError, StoreFullError, StoreUnavailableError, StoreVersionError
from dowse.store.opensearch.address import Address

__all__ = ["in_our_words"]

_UNAUTHORISED, _FORBIDDEN, _CONFLICT, _BUSY = 401, 403, 409, 429
_READ_ONLY = ("FORBIDDEN/12", "FORBIDDEN/8", "FORBIDDEN/5", "read-only")
_LOST_VIEW = ("search_context_missing", "No search context found", "point_in_time", "SearchContextMissing")


def in_our_words(error: Any, address: Address, status: int | None = None) -> DowseError | None:
    """The error of a client's exception, or of one write's failure with its status; None: it is not the cluster's."""
    if isinstance(error, DowseError):
        return error
    if isinstance(error, Mapping):
        return _by_status(status or 500, f"{error.get('type', '')}: {error.get('reason', '')}", address)
    if not type(error).__module__.startswith(("opensearchpy", "urllib3")):
        return None
    code = getattr(error, "status_code", "N/A")
    said = f"{getattr(error, 'error', '')} {getattr(error, 'info', '')}"
    if isinstance(code, int):
        return _by_status(code, said, address)
    if "SSL" in type(error).__name__:
        return StoreUnavailableError(
            f"No trusted connection to {address}: {error}.",
            hint="Name who signed its certificate in SSL_CERT_FILE; verify=0 in the address goes without.",
        )
    kind = "did not answer in time" if code == "TIMEOUT" or "Timeout" in type(error).__name__ else "cannot be reached"
    return StoreUnavailableError(
        f"The cluster at {address} {kind} (within {address.timeout:.0f} s for each try).",
        hint="Is it running, and is the address right? `timeout` in the address sets the limit.",
    )


def _by_status(code: int, said: str, address: Address) -> DowseError:
    if any(mark in said for mark in _READ_ONLY):
        return StoreFullError(
            "The cluster lets nothing be written: its indexes are read-only.",
            hint="Free disk space on its nodes, then set index.blocks.read_only_allow_delete to null.",
        )
    if code in {_UNAUTHORISED, _FORBIDDEN}:
        return StoreUnavailableError(
            f"The cluster at {address} refuses these credentials.",
            hint="Set DOWSE_OPENSEARCH_USER and DOWSE_OPENSEARCH_PASSWORD, or DOWSE_OPENSEARCH_TOKEN.",
        )
    if any(mark in said for mark in _LOST_VIEW):
        return StoreUnavailableError(
            "The view of the index was lost with a node of the cluster.", hint="Ask again: a new one is opened."
        )
    if "too_many_clauses" in said or "maxClauseCount" in said:
        return StoreError(
            "The cluster takes no question of so many words.",
            hint="Raise indices.query.bool.max_clause_count to 4096, or ask with fewer words.",
        )
    if "strict_dynamic_mapping" in said or "mapper_parsing" in said or "illegal_argument" in said:
        return StoreVersionError(
            f"The indexes there do not fit this version of Dowse: {said.strip()[:300]}",
            hint="Use the version that made them, or another prefix in the address.",
        )
    if "index_not_found" in said:
        return StoreUnavailableError(
            f"An index of ours is missing at {address}.", hint="Was it deleted? Open the store again to make it anew."
        )
    return StoreUnavailableError(
        f"The cluster at {address} failed with {code}: {said.strip()[:300] or 'no reason given'}.",
        hint="See its health: GET /_cluster/health",
    )
