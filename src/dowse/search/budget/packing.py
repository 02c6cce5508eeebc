"""Which items fit into so many tokens, for any items and any serializer.

Items come best first. One that is too large is passed over and smaller ones behind it may still fit; but the
best one is shortened rather than left out. What an item adds is estimated from its rendering alone, and what
is returned has been rendered and counted as a whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from dowse.errors import UsageError
from dowse.records import record

__all__ = ["Packed", "Rest", "pack"]

Item = TypeVar("Item")
Rendered = TypeVar("Rendered")

_ROUNDS = 12  # of adding what seems to fit; each is one rendering, and two or three are usual
_EXAMINED = 50  # how many items are looked at to say what the least would be


@record
class Rest:
    """What a response must say of the items that are not in it."""

    omitted: int = 0
    cursor: str = ""
    """Asks for them; empty where there are none."""


@record
class Packed(Generic[Item, Rendered]):
    """A response that fits."""

    items: tuple[Item, ...]
    """In the order given; one of them may be shortened."""
    given: tuple[int, ...]
    """Their places among all items."""
    rendered: Rendered
    tokens: int
    """Of `rendered`, counted as a whole."""
    rest: Rest


Render = Callable[[Sequence[Item], Rest], Rendered]
Shorten = Callable[[Item, int], Item | None]


def pack(
    items: Sequence[Item],
    *,
    render: Render[Item, Rendered],
    count: Callable[[Rendered], int],
    max_tokens: int,
    shorten: Shorten[Item] | None = None,
    cursor_of: Callable[[Sequence[int]], str] = lambda _: "",
    best_first: bool = True,
) -> Packed[Item, Rendered]:
    """The items that fit, as the response that holds them.

    Args:
        items: best first.
        render: makes the response of some items and of what is to be said of the others.
        count: its tokens; `render` may return anything that this can count.
        max_tokens: the most that `count` may say of the response.
        shorten: an item with at most so many tokens of text; None where it has no text that short.
        cursor_of: the cursor that asks for what is left when the items at these places have been given.
        best_first: shorten the best item that does not fit, even where a later one fits as it is. Without it
            an item is shortened only where none fits.

    Raises:
        UsageError: not even the smallest response fits; `details["least"]` says how many tokens it takes.
    """
    packing = _Packing(items, render, count, max_tokens, shorten, cursor_of)
    everything = packing.trial(dict(enumerate(items)))
    if everything.tokens <= max_tokens:
        return everything
    packing.estimate()
    seed = packing.seed(best_first=best_first)
    if seed is None:
        raise _too_small(max_tokens, packing.least())
    return packing.filled(seed)


class _Packing(Generic[Item, Rendered]):
    """What one call of `pack` knows everywhere."""

    def __init__(
        self,
        items: Sequence[Item],
        render: Render[Item, Rendered],
        count: Callable[[Rendered], int],
        max_tokens: int,
        shorten: Shorten[Item] | None,
        cursor_of: Callable[[Sequence[int]], str],
    ) -> None:
        self._items = items
        self._render = render
        self._count = count
        self._max_tokens = max_tokens
        self._shorten = shorten
        self._cursor_of = cursor_of
        self._frame = 0
        self._alone: list[int] = []
        """The tokens of the response that has just this item."""

    def trial(self, chosen: Mapping[int, Item]) -> Packed[Item, Rendered]:
        """The response with these items, whether it fits or not."""
        given = tuple(sorted(chosen))
        omitted = len(self._items) - len(given)
        rest = Rest(omitted, self._cursor_of(given) if omitted else "")
        items = tuple(chosen[place] for place in given)
        rendered = self._render(items, rest)
        return Packed(items, given, rendered, self._count(rendered), rest)

    def estimate(self) -> None:
        """Count what each item takes by itself."""
        self._frame = self.trial({}).tokens
        self._alone = [self.trial({place: item}).tokens for place, item in enumerate(self._items)]

    def seed(self, *, best_first: bool) -> dict[int, Item] | None:
        """The item that is given in any case, so that every page gets on; None where there is none."""
        whole = next((place for place, tokens in enumerate(self._alone) if tokens <= self._max_tokens), None)
        before = self._items[:whole] if best_first or whole is None else ()
        for place, item in enumerate(before):
            shortened = self._shortened(place, item)
            if shortened is not None:
                return {place: shortened}
        return None if whole is None else {whole: self._items[whole]}

    def filled(self, chosen: dict[int, Item]) -> Packed[Item, Rendered]:
        """The seed and what else fits: added by estimate, kept if the whole really fits, else tried with less."""
        best = self.trial(chosen)
        allowed = room = self._max_tokens - best.tokens
        for _ in range(_ROUNDS):
            more, spent = self._with_others(chosen, allowed)
            if len(more) == len(chosen):
                break
            tried = self.trial(more)
            if tried.tokens <= self._max_tokens:
                best, chosen = tried, more
                allowed = room = self._max_tokens - best.tokens
            else:
                # By as much too dear as it turned out to be.
                allowed = min(spent - 1, spent * room // (tried.tokens - best.tokens))
        return best

    def _with_others(self, chosen: Mapping[int, Item], allowed: int) -> tuple[dict[int, Item], int]:
        """The chosen items and those that seem to fit into what is allowed, and how much of that they seem to take."""
        more, left = dict(chosen), allowed
        for place, tokens in enumerate(self._alone):
            if place not in chosen and tokens - self._frame <= left:
                more[place] = self._items[place]
                left -= tokens - self._frame
        return more, allowed - left

    def least(self) -> int:
        """The tokens of the smallest response that has something in it, as far as that can be told."""
        sizes = self._alone[:_EXAMINED]
        for place, item in enumerate(self._items[:_EXAMINED]):
            tokens = 1
            while self._shorten and tokens < self._alone[place]:
                shortened = self._shorten(item, tokens)
                if shortened is not None:
                    sizes.append(self.trial({place: shortened}).tokens)
                    break
                tokens *= 2
        return min(sizes, default=self._frame)

    def _shortened(self, place: int, item: Item) -> Item | None:
        """The item with as much of its text as fits; None where not even the least does."""
        if self._shorten is None:
            return None
        best, fits, exceeds, tokens = None, 0, self._max_tokens + 1, 1
        while fits + 1 < exceeds:
            shorter = self._shorten(item, tokens)
            if shorter is None or self.trial({place: shorter}).tokens <= self._max_tokens:
                best, fits = shorter or best, tokens
            else:
                exceeds = tokens
            # Doubled as long as it fits, then halved: so the smallest versions are tried, whatever they cost.
            tokens = min(2 * tokens, exceeds - 1) if exceeds > self._max_tokens else (fits + exceeds) // 2
        return best


def _too_small(max_tokens: int, least: int) -> UsageError:
    return UsageError(
        f"{max_tokens:,} tokens are too few for any answer to this.",
        hint=f"Allow at least {least:,} tokens.",
        details={"max_tokens": max_tokens, "least": least},
    )
