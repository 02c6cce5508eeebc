"""Replies of the dowse dialect: one JSON text, counted as it leaves, and errors in the one native shape."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError, UsageError
from dowse.interfaces import wire
from dowse.interfaces.mcp.dialect import Json, Reply
from dowse.interfaces.mcp.shown import all_shown

if TYPE_CHECKING:
    from dowse.engine import Engine

__all__ = ["bounded", "failed", "fits", "for_agents", "longest_fit", "rendered", "reply", "too_small", "without_empty"]

_LONGEST = 800  # characters of a message or hint: names that were given may be in it
_DETAILS = ("argument", "reason", "similar", "max_tokens", "least")
"""Of what errors carry, that which is not in the message and hint anyway."""
_FOR_AGENTS = {
    "See what there is: dowse ls COLLECTION": "See what there is with `list`.",
    "See what there is: dowse ls": "See what there is with `list`.",
    "Ask in words that it uses, or by meaning: dowse query": "Ask in words that it uses, or with mode vec.",
}
"""Hints of the command line, in the words of the tools."""


def rendered(value: Json) -> str:
    """The text of a reply, as it will be sent: what budgets count."""
    return json.dumps(all_shown(value), ensure_ascii=False, separators=(",", ":"))


def reply(text: str) -> Reply:
    """The reply with this text, and the same as structured content."""
    return Reply.text(text, json.loads(text))


def failed(error: DowseError, _: str) -> Reply:
    """`{"error": {"code", "message", "hint", "details"}}`, as everywhere in Dowse."""
    made: Any = wire.error(error)["error"]
    hint = for_agents(made["hint"])
    details = {name: made["details"][name] for name in _DETAILS if name in made["details"]}
    short: Json = {"code": made["code"], "message": made["message"][:_LONGEST], "hint": hint[:_LONGEST]}
    return Reply.json({"error": short | {"details": details}}, is_error=True)


def for_agents(hint: str) -> str:
    """A hint that names a tool where it named a command."""
    return _FOR_AGENTS.get(hint, hint)


def without_empty(value: Json) -> Json:
    """The members that say something: tokens are dear."""
    return {name: each for name, each in value.items() if each is not None and each not in ("", [], {})}


def longest_fit(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, where less of something fits whenever more does; 0 if none."""
    if fits(most):
        return most
    good, bad = 0, most
    while good + 1 < bad:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def fits(engine: "Engine", text: str, max_tokens: int) -> bool:
    """Whether a text has at most so many tokens. None is shorter than a byte, so that most need no tokenizer."""
    return len(text.encode()) <= max_tokens or engine.count_tokens(text) <= max_tokens


def bounded(engine: "Engine", value: Json, max_tokens: int, leaving_out: Sequence[str]) -> str:
    """The text of a reply within a budget: lists are cut, members left out, in this order; `omitted` counts them.

    Raises:
        UsageError: not even the rest fits.
    """
    counts = {name: _size(value[name]) for name in leaving_out if value.get(name)}

    def holds(name: str, count: int) -> bool:
        return fits(engine, _cut(value, counts | {name: count}), max_tokens)

    for name, size in counts.items():
        if holds(name, size):
            break
        counts[name] = longest_fit(size - 1, partial(holds, name))
    text = _cut(value, counts)
    if not fits(engine, text, max_tokens):
        raise too_small(max_tokens, engine.count_tokens(text))
    return text


def _size(member: object) -> int:
    return len(member) if isinstance(member, list) else 1


def _cut(value: Json, counts: Mapping[str, int]) -> str:
    """The text with so many entries of these lists, and without what has a count of none."""
    omitted = {name: _size(value[name]) - count for name, count in counts.items() if count < _size(value[name])}
    kept = {
        name: each[: counts[name]] if name in omitted and isinstance(each, list) else each
        for name, each in value.items()
        if name not in omitted or isinstance(each, list)
    }
    return rendered(kept | ({"omitted": omitted} if omitted else {}))


def too_small(max_tokens: int, least: int) -> UsageError:
    """The error of a budget that holds nothing."""
    return UsageError(
        f"{max_tokens:,} tokens are too few for any answer to this.",
        hint=f"Allow at least {least:,} tokens.",
        details={"max_tokens": max_tokens, "least": least},
    )
