"""What adopting another program's setup takes here: compared first, so that it can be shown, and done twice."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from dowse.errors import UsageError
from dowse.interfaces.adopt.qmd import Setup, Taken
from dowse.interfaces.adopt.rules import ALWAYS_LEFT_OUT, exclusions_of, mask_of
from dowse.records import record
from dowse.types import Collection

if TYPE_CHECKING:
    from dowse.engine import Engine

__all__ = ["Step", "steps"]


@record
class Step:
    """One thing to do, or the reason why it is not done."""

    kind: Literal["add", "change", "keep", "leave"]
    what: str
    do: Callable[["Engine"], object] = lambda _: None
    collection: str = ""
    """The collection that is then to be indexed."""


def steps(setup: Setup, engine: "Engine") -> Iterator[Step]:
    """Everything that the setup asks for, compared with what the index has."""
    known = {each.name: each for each in engine.known_collections()}
    contexts = {(each.collection, each.prefix): each.text for each in engine.contexts()}
    if setup.context:
        yield _context(None, "", setup.context, contexts)
    for taken in setup.collections:
        yield from _collection(taken, known, contexts)
    for key in setup.other:
        yield Step("leave", f"{key}: this is a setting of qmd's own")


def _collection(
    taken: Taken, known: dict[str, Collection], contexts: dict[tuple[str | None, str], str]
) -> Iterator[Step]:
    problem = _obstacle(taken, known)
    if problem:
        yield Step("leave", f"collection {taken.name}: {problem}")
        return
    try:
        mask, negated = mask_of(taken.mask)
    except UsageError as error:
        yield Step("leave", f"collection {taken.name}: {error.message}")
        return
    exclude, left = _exclusions([*taken.ignore, *negated])
    yield _made(taken, known.get(taken.name), mask, exclude)
    yield from (Step("leave", f"collection {taken.name}: {each}") for each in left)
    for prefix, text in taken.contexts.items():
        if text.strip():
            yield _context(taken.name, prefix, text, contexts)
        if prefix and not (taken.path / prefix).exists():
            place = f"context {taken.name}/{prefix}"
            yield Step("leave", f"{place}: applies to what is called exactly so, which is nothing now")
    for key in taken.other:
        yield Step("leave", f"collection {taken.name}: its setting {key}")
    if (taken.path / ".gitignore").is_file():
        yield Step("leave", f"collection {taken.name}: files that its .gitignore names; Dowse leaves them out")


def _obstacle(taken: Taken, known: dict[str, Collection]) -> str:
    """Why a collection cannot be made; empty where it can."""
    if not taken.path.is_dir():
        return f"there is no folder {taken.path}"
    root = str(taken.path.resolve())
    same = known.get(taken.name)
    if same is not None and same.root != root:
        return f"here, {taken.name} is {same.root or 'a collection without a folder'}"
    other = next((each for each in known.values() if each.root == root and each.name != taken.name), None)
    if other is not None and same is None and other.pattern == taken.mask:
        return f"{root} is the collection {other.name} already"
    return ""


def _exclusions(rules: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The lines for .gitignore, and what to say of the rules that have none."""
    lines, left = list(ALWAYS_LEFT_OUT), []
    for rule in rules:
        try:
            lines += exclusions_of(rule)
        except UsageError as error:
            left.append(error.message)
    return tuple(dict.fromkeys(lines)), left


def _made(taken: Taken, known: Collection | None, mask: str, exclude: tuple[str, ...]) -> Step:
    without = ", ".join(line for line in exclude if line not in ALWAYS_LEFT_OUT)
    by_name = "" if taken.included else ", searched only when named"
    what = f"collection {taken.name}: {taken.path} ({mask}{f', without {without}' if without else ''}{by_name})"

    def do(engine: "Engine") -> None:
        if known is None:
            engine.add_collection(taken.path, name=taken.name, pattern=mask, exclude=exclude)
        else:
            engine.configure_collection(taken.name, pattern=mask, exclude=exclude)
        engine.include_collection(taken.name, included=taken.included)

    if known is None:
        return Step("add", what, do, taken.name)
    same = (known.pattern, known.exclude, known.included) == (mask, exclude, taken.included)
    return Step("keep" if same else "change", what, do, taken.name)


def _context(collection: str | None, prefix: str, text: str, known: dict[tuple[str | None, str], str]) -> Step:
    place = "/" if collection is None else "/".join(filter(None, [collection, prefix]))
    before = known.get((collection, prefix))
    kind: Literal["add", "change", "keep"] = "add" if before is None else "keep" if before == text.strip() else "change"
    return Step(
        kind,
        f"context {place}: {text.strip()}",
        lambda engine: engine.add_context(text, collection=collection, prefix=prefix),
    )
