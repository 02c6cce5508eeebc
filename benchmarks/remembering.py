"""Questions embedded once, however often and by however many engines they are asked: for benchmarks of the rest."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from dowse import inference
from dowse.ports import Embedder

__all__ = ["remembering"]


class _Remembering:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_query(self, text: str) -> Any:
        """The vector of a question."""
        if text not in self._vectors:
            self._vectors[text] = self._embedder.embed_query(text)
        return self._vectors[text]

    def close(self) -> None:
        """The next engine needs it, too."""


@contextmanager
def remembering() -> Iterator[None]:
    """Let all engines share one embedder, which remembers what it embedded."""
    made: list[_Remembering] = []
    make: Callable[..., Embedder] = inference.make_embedder

    def shared(*given: Any, **options: Any) -> _Remembering:
        if not made:
            made.append(_Remembering(make(*given, **options)))
        return made[0]

    with patch.object(inference, "make_embedder", shared):
        yield
