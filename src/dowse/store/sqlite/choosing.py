"""What a filter lets through, as the word index and the vectors want to know it."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from dowse.records import record
from dowse.store.sqlite import rows
from dowse.store.sqlite.filtering import Condition, condition_of, prepare
from dowse.types import Filter, Ref, ref_of, version_of

__all__ = ["Chosen", "as_condition", "chosen_by"]


@record
class Chosen:
    """The live documents or passages that a filter lets through."""

    condition: Condition
    keys: frozenset[int]
    """Refs where the filter looks at passages, else versions of documents."""

    @property
    def field(self) -> str:
        """The field of the word index that holds such keys."""
        return "ref" if self.condition.of_passages else "version"

    def has(self, ref: Ref) -> bool:
        """Whether this passage is let through."""
        return (ref if self.condition.of_passages else version_of(ref)) in self.keys


def as_condition(connection: sqlite3.Connection, filter: Filter) -> tuple[str, Sequence[Any]]:  # noqa: A002 - the noun of filters
    """The filter as a condition on documents alone, with its values."""
    prepare(connection)
    condition = condition_of(filter)
    if not condition.of_passages:
        return f"({condition.sql})", condition.parameters
    return f"EXISTS (SELECT 1 FROM chunks c WHERE c.content = d.content AND ({condition.sql}))", condition.parameters


def chosen_by(connection: sqlite3.Connection, filter: Filter) -> Chosen:  # noqa: A002 - the noun of filters
    """Ask the database once, for everything."""
    prepare(connection)
    condition = condition_of(filter)
    if condition.of_passages:
        found = connection.execute(
            f"SELECT d.version, c.ordinal FROM {rows.DOCUMENT_TABLES} JOIN chunks c ON c.content = d.content "
            f"WHERE {condition.sql}",
            condition.parameters,
        )
        return Chosen(condition, frozenset(ref_of(version, ordinal) for version, ordinal in found))
    found = connection.execute(
        f"SELECT d.version FROM {rows.DOCUMENT_TABLES} WHERE {condition.sql}", condition.parameters
    )
    return Chosen(condition, frozenset(version for (version,) in found))
