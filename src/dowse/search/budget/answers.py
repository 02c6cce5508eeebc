"""The hits of an answer, as many as fit: what an interface calls with its own serializer."""

from collections.abc import Callable, Sequence

from dowse.errors import UsageError
from dowse.records import record
from dowse.search.budget.cursors import make_cursor, read_cursor
from dowse.search.budget.packing import Packed, Rest, pack
from dowse.search.budget.portions import Count, Portion, shorter_passage
from dowse.types import Answer

__all__ = ["Page", "fit", "page_of"]


@record
class Page:
    """A part of an answer, for a serializer."""

    answer: Answer
    portions: tuple[Portion, ...]
    omitted: int = 0
    """How many hits are in no page so far."""
    cursor: str = ""
    """Asks for those; empty where there are none."""


def page_of(answer: Answer, cursor: str = "") -> Page:
    """All of an answer, or what the pages before left of it."""
    given = read_cursor(answer, cursor) if cursor else frozenset()
    return Page(answer, tuple(Portion(hit) for place, hit in enumerate(answer.hits) if place not in given))


def fit(
    answer: Answer,
    render: Callable[[Page], str],
    *,
    count: Count,
    max_tokens: int,
    cursor: str = "",
    shorten: Callable[[Portion, int, Count], Portion | None] = shorter_passage,
) -> Packed[Portion, str]:
    """As much of an answer as fits into so many tokens, rendered: `.rendered` is the response.

    Args:
        answer: to the query that the cursor came from, if there is one, with the same limit.
        render: the whole response. It shows `Portion.passage`, or `Portion.snippet` with `shorter_snippet`.
        count: the tokens of a text.
        max_tokens: the most that the response may have.
        cursor: as the page before this one had it.
        shorten: which of a hit's texts is cut where the best one does not fit.

    Raises:
        UsageError: the budget is too small, or the cursor is none of this query's.
        ConflictError: the answer is not the one that the cursor came from.
    """
    if max_tokens < 1:
        raise UsageError(f"A budget of {max_tokens} tokens holds nothing.", hint="Allow some hundreds.")
    before = read_cursor(answer, cursor) if cursor else frozenset()
    places = [place for place in range(len(answer.hits)) if place not in before]

    def rendered(portions: Sequence[Portion], rest: Rest) -> str:
        return render(Page(answer, tuple(portions), rest.omitted, rest.cursor))

    return pack(
        [Portion(answer.hits[place]) for place in places],
        render=rendered,
        count=count,
        max_tokens=max_tokens,
        shorten=lambda portion, tokens: shorten(portion, tokens, count),
        cursor_of=lambda given: make_cursor(answer, [*before, *(places[number] for number in given)]),
    )
