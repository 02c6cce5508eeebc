"""What joins the comparisons of a filter, and says them in words; the nodes themselves are nouns, in `types`."""

from collections.abc import Iterator

from dowse.types import OPERATORS, And, Compare, Filter, Not, Operator, Or, Scalar, Value

__all__ = [
    "OPERATORS",
    "And",
    "Compare",
    "Filter",
    "Not",
    "Operator",
    "Or",
    "Scalar",
    "Value",
    "both",
    "describe",
    "leaves",
]


def both(*filters: Filter | None) -> Filter | None:
    """All of these that are filters, as one; None where none is."""
    parts: list[Filter] = []
    for each in filters:
        parts += each.parts if isinstance(each, And) else [] if each is None else [each]
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def leaves(filter: Filter) -> Iterator[Compare]:  # noqa: A002 - the noun of this package
    """Every comparison, from left to right."""
    if isinstance(filter, Compare):
        yield filter
    elif isinstance(filter, Not):
        yield from leaves(filter.part)
    else:
        for part in filter.parts:
            yield from leaves(part)


_SAID: dict[Operator, str] = {
    "eq": "is",
    "in": "is one of",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "contains": "contains",
    "prefix": "starts with",
    "glob": "is like",
}


def describe(filter: Filter) -> str:  # noqa: A002 - the noun of this package
    """The filter in words, for the answer to why something was not found."""
    if isinstance(filter, Compare):
        if filter.op == "exists":
            return f"{filter.field} is {'given' if filter.value else 'missing'}"
        values = filter.value if isinstance(filter.value, tuple) else (filter.value,)
        return f"{filter.field} {_SAID[filter.op]} {', '.join(map(str, values))}"
    if isinstance(filter, Not):
        return f"not ({describe(filter.part)})"
    word = " and " if isinstance(filter, And) else " or "
    parts = [describe(part) if isinstance(part, Compare | Not) else f"({describe(part)})" for part in filter.parts]
    return word.join(parts) or ("anything" if isinstance(filter, And) else "nothing")
