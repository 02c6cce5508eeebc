"""Which descriptions apply to a document: the general ones first, then nearer and nearer ones."""

from collections.abc import Iterable

from dowse.types import Context, DocumentInfo


def contexts_of(info: DocumentInfo, contexts: Iterable[Context]) -> tuple[str, ...]:
    """The texts of every context whose place the document lies in; a prefix is made of whole path segments."""
    return tuple(
        context.text
        for context in contexts
        if context.collection is None
        or (context.collection == info.collection and f"{info.path}/".startswith(_with_slash(context.prefix)))
    )


def _with_slash(prefix: str) -> str:
    return f"{prefix}/" if prefix else ""
