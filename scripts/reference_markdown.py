"""Parts of Markdown that the pages of the reference are made of."""

from collections.abc import Iterable, Iterator, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A Markdown table and the empty line after it; bars and ends of lines inside of a cell are escaped."""
    for cells in (header, ["---"] * len(header), *rows):
        yield "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
    yield ""


def code(text: str) -> str:
    """The text as code, in marks that it does not contain itself."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
