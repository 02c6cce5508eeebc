"""A naive and exact store of dictionaries and plain loops: the oracle that other stores are held to."""

from dowse.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
