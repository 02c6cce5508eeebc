"""Packs of a tiny encoder, and the cache in which the real model is converted once per run."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dowse.inference.breaker import Clock
from dowse.inference.granite import GraniteEmbedder
from inference.model_server import ModelServer
from inference.tiny_pack import pack_bytes, random_tensors

WritePack = Callable[..., Path]


@pytest.fixture
def write_pack(tmp_path: Path) -> WritePack:
    """Writes a pack of these tensors (default: a random tiny encoder) and returns its path."""

    def write(tensors: dict[str, NDArray[np.float32]] | None = None) -> Path:
        path = tmp_path / "tiny.hmsemb"
        path.write_bytes(pack_bytes(tensors or random_tensors()))
        return path

    return write


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the real model is converted to; DOWSE_TEST_CACHE keeps it from one run to the next."""
    return Path(os.environ.get("DOWSE_TEST_CACHE") or tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def embedder(model_cache: Path) -> Iterator[GraniteEmbedder]:
    """The real model in its default precision, with two workers."""
    made = GraniteEmbedder(model_cache, workers=2)
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model service on this machine."""
    started = ModelServer()
    yield started
    started.close()


class FakeClock:
    """Time that passes only by sleeping, and chance that is always the same."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, sleep=self.sleep, chance=lambda: 1.0)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def fake_clock() -> FakeClock:
    return FakeClock()
