"""The mark that ties tests of dialects to the rows of tests/requirements.toml."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "covers(*ids): the rows of tests/requirements.toml that this test proves")
