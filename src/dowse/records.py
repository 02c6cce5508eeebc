"""Values: classes whose objects never change, quick to make and quick to import.

`@record` is `@dataclass(frozen=True, slots=True)` to readers, type checkers and the functions of `dataclasses`. Only
the way there differs. A frozen data class looks up each field's name again whenever an object is made, and compiles
half a dozen functions when it is declared; a search makes a hundred objects, and a start declares a hundred classes.
docs/decisions/0020-records.md has the figures.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

__all__ = ["record"]

Object = TypeVar("Object")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(declared: type[Object], /) -> type[Object]:
    """Make a class of values from its annotated fields."""
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(declared)
    fields: list[Field[Any]] = list(made.__dataclass_fields__.values())
    compared = [each.name for each in fields if each.compare]
    for method in (_init(made, fields), *_comparison(attrgetter(*compared) if compared else type), *_FROZEN):
        setattr(made, method.__name__, method)
    finished: type[Object] = made
    return finished


def _init(made: type, fields: list[Field[Any]]) -> Callable[..., None]:
    """The one function that is worth compiling: it sets each field by its slot."""
    known: dict[str, Any] = {}
    parameters, steps = ["self"], []
    for each in fields:
        name = value = each.name
        known[f"_set_{name}"] = getattr(made, name).__set__
        if each.default is not MISSING:
            known[f"_default_{name}"] = each.default
            parameters.append(f"{name}=_default_{name}")
        elif each.default_factory is not MISSING:
            known |= {f"_make_{name}": each.default_factory, "_MISSING": MISSING}
            parameters.append(f"{name}=_MISSING")
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        else:
            parameters.append(name)
        steps.append(f"_set_{name}(self, {value})")
    if hasattr(made, "__post_init__"):
        steps.append("self.__post_init__()")
    source = f"def __init__({', '.join(parameters)}):\n    " + "\n    ".join(steps or ["pass"])
    exec(source, known)  # noqa: S102 - of names that are identifiers in our own source
    written: Callable[..., None] = known["__init__"]
    written.__qualname__ = f"{made.__qualname__}.__init__"
    return written


def _comparison(compared: Callable[[Any], Any]) -> tuple[Callable[..., Any], ...]:
    def __eq__(self: object, other: object) -> bool:  # noqa: N807 - it becomes one
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807 - as above
        return hash(compared(self))

    return __eq__, __hash__


def __repr__(self: Any) -> str:  # noqa: N807 - as above
    shown = [each.name for each in self.__dataclass_fields__.values() if each.repr]
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def __setattr__(self: object, name: str, value: object) -> NoReturn:  # noqa: ARG001, N807 - as above
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: object, name: str) -> NoReturn:  # noqa: ARG001, N807 - as above
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def __getstate__(self: Any) -> list[Any]:  # noqa: N807 - as above
    return [getattr(self, name) for name in self.__dataclass_fields__]


def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807 - as above
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


_FROZEN = (__repr__, __setattr__, __delattr__, __getstate__, __setstate__)
