"""Loads the parts of the `mcp` library that a server needs, and not the others.

Its packages import everything they offer, clients and a second kind of server included, which is a quarter of the
time it takes to load. Here they are entered without opening their doors: whoever asks one of them for a name that
is not there yet, as `from mcp import Client` does, opens it after all.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType

_DOORS = ("mcp", "mcp.server")


class _Closed(ModuleType):
    """A package whose `__init__` has not run yet."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what Python itself asks packages for
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]  # an ordinary package from now on
        spec = self.__spec__
        assert spec is not None  # noqa: S101  # it came with one
        assert spec.loader is not None  # noqa: S101  # a regular package has one
        spec.loader.exec_module(self)
        return getattr(self, name)


def prepare() -> None:
    """Call this before the first import from `mcp`; where somebody else was first, it changes nothing."""
    for name in _DOORS:
        if name in sys.modules:
            return
        spec = find_spec(name)
        if spec is None:
            return
        package = module_from_spec(spec)
        package.__class__ = _Closed
        sys.modules[name] = package
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)


@contextmanager
def without_collecting() -> Iterator[None]:
    """For the time of the imports: among thousands of new classes, looking for garbage finds none and takes a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # they stay, so later looks need not go through them either
        if was_on:
            gc.enable()
