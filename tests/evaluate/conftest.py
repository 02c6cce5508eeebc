"""The stores of tests/contract: every test that asks for `store` runs once on each."""

from contract.conftest import empty_store, store

__all__ = ["empty_store", "store"]
