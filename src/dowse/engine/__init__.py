"""The engine: one object that wires configuration to parts and offers the verbs."""

from dowse.engine.facade import DEFAULT_COLLECTION, Engine, open_engine

__all__ = ["DEFAULT_COLLECTION", "Engine", "open_engine"]
