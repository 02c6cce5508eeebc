"""What a line is: text up to a line feed, counted from 1, as every editor counts."""


def count_lines(text: str) -> int:
    """How many lines a text has; a line feed at its end ends the last one and starts none."""
    return text.count("\n") + (not text.endswith("\n") and bool(text))
