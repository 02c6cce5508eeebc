"""Is a filter about something? Wrong values and unknown fields, named together with what there is."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from dowse.errors import UsageError
from dowse.filters.dates import period_of
from dowse.filters.fields import FIELDS, KINDS, Field, field_of
from dowse.filters.tree import Compare, Filter, Operator, leaves
from dowse.text.globs import compile_glob

__all__ = ["check", "problem_of", "spelled"]

_MOST_NAMED = 30
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_NUMBER = "a number"
_DATES = "a date, such as 2024, 2024-05-01, today or 7d"
_NO_NAMES: Mapping[str, str] = {}


def check(
    filter: Filter,  # noqa: A002 - the noun of this package
    metadata_keys: Collection[str],
    *,
    place_keys: Collection[str] | None = None,
    names: Mapping[str, str] = _NO_NAMES,
) -> None:
    """Refuse a filter that cannot hold because of how it is written.

    Args:
        filter: what to look at.
        metadata_keys: those that some document has.
        place_keys: those that some passage's place has; None: any will do.
        names: what a caller calls our fields; then these are the ones that the message names.

    Raises:
        UsageError: a field that there is not, or a value that its field cannot have.
    """
    said = {ours: theirs for theirs, ours in names.items()}
    for leaf in leaves(filter):
        field = field_of(leaf.field)
        there = place_keys if field.of_passage else metadata_keys
        if field.kind == "metadata" and there is not None and field.keys[0] not in there:
            raise _unknown(leaf.field, list(names or FIELDS), metadata_keys)
        if problem := problem_of(leaf):
            raise UsageError(problem.replace(leaf.field, said.get(leaf.field, leaf.field), 1))


def problem_of(leaf: Compare) -> str:
    """What is wrong with a comparison in itself, as a sentence; empty where nothing is."""
    field = field_of(leaf.field)
    if leaf.op not in KINDS[field.kind]:
        return f"{leaf.field} cannot be compared by ${leaf.op}; it takes {spelled(KINDS[field.kind])}."
    if leaf.op == "exists":
        return "" if isinstance(leaf.value, bool) else f"{leaf.field}: $exists takes true or false."
    if (leaf.op == "in") is not isinstance(leaf.value, tuple):
        return f"{leaf.field}: ${leaf.op} takes {'a list' if leaf.op == 'in' else 'one value'}."
    for value in leaf.value if isinstance(leaf.value, tuple) else (leaf.value,):
        wanted = _wanted(field, leaf.op, value)
        if wanted:
            return f"{leaf.field} takes {wanted}, not {value!r}."
    return ""


def spelled(operators: Collection[Operator]) -> str:
    """Operators as they are written, with the negations that go with them."""
    negations = [each for each, of in (("$ne", "eq"), ("$nin", "in")) if of in operators]
    return ", ".join([*(f"${operator}" for operator in operators), *negations])


def _wanted(field: Field, op: Operator, value: object) -> str:
    """What the value should be instead; empty where it is right."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if op in {"contains", "prefix", "glob"} or field.kind == "text":
        if not isinstance(value, str):
            return "text"
        return _wanted_glob(value) if op == "glob" else ""
    if field.kind == "number":
        return "" if is_number else _NUMBER
    if field.kind == "date":
        is_date = isinstance(value, str) and period_of(value, _SOME_DAY) is not None
        return "" if is_date or (is_number and isinstance(value, int)) else _DATES
    return "text or a number" if op not in {"eq", "in"} and isinstance(value, bool) else ""


def _wanted_glob(value: str) -> str:
    try:
        compile_glob(value)
    except UsageError:
        return "a pattern with fewer choices"
    return ""


def _unknown(name: str, fields: list[str], metadata_keys: Collection[str]) -> UsageError:
    from difflib import get_close_matches

    keys = sorted(metadata_keys)
    near = get_close_matches(name.removeprefix("metadata."), [*fields, *keys], n=3)
    shown = ", ".join(keys[:_MOST_NAMED]) + (f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else "")
    question = f" Did you mean {' or '.join(near)}?" if near else ""
    return UsageError(
        f"There is no field {name!r}.{question}",
        hint=f"Fields: {', '.join(fields)}. Metadata in this index: {shown or 'none'}.",
        details={"field": name, "similar": near, "fields": fields, "metadata": keys},
    )
