"""A quoted text in a document: exactly but for white space, or the place that is most like it."""

import difflib
import re
from collections.abc import Iterator, Sequence

from dowse.search.budget.sentences import sentence_ends

__all__ = ["difference", "nearest_span", "spans_of"]

# Scripts that are broken into lines anywhere, so that white space inside them means nothing.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_GAP = re.compile(r"\s*(?:\[(?:\u2026|\.{3})\]|\u2026|\.{3})\s*")
_LONGEST_GAP = 400  # characters that an ellipsis inside a quote may stand for
_MOST_GAPS = 3
# Signs that programs exchange for each other.
_ALIKE = ("'\u2018\u2019\u02bc", '"\u201c\u201d\u201e\u00ab\u00bb', "-\u2010\u2011\u2012\u2013\u2014\u2212")
_CLASSES = {sign: f"[{re.escape(signs)}]" for signs in _ALIKE for sign in signs}
_WRAPPING = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb\u2026 \t\r\n"

_MOST_WORDS = 1_500  # of a quote that are compared word by word
_LIKENESS = 0.6  # from which on a text is another version of a quote


def spans_of(quoted: str, text: str, most: int = 20) -> list[tuple[int, int]]:
    """Where a quote stands in a text, in order.

    White space, kinds of quotation marks and dashes do not matter, nor do the marks around the quote; an
    ellipsis in it stands for up to a few sentences.
    """
    pattern = _pattern(quoted)
    found = pattern.finditer(text) if pattern else iter(())
    return [match.span() for match, _ in zip(found, range(most), strict=False)]


def nearest_span(quoted: str, text: str) -> tuple[float, int, int]:
    """How much the part of a text that is most like a quote is like it (0 to 1), and where that part is.

    0 where no part is like it at all.
    """
    wanted = [word[0].casefold() for word in _WORD.finditer(quoted)][:_MOST_WORDS]
    places = [word.span() for word in _WORD.finditer(text)]
    words = [text[start:end].casefold() for start, end in places]
    if not wanted or not words:
        return 0.0, 0, 0
    matcher = difflib.SequenceMatcher(None, wanted, words, autojunk=False)
    anchor = matcher.find_longest_match()
    slack = len(wanted) // 2
    low = max(0, anchor.b - anchor.a - slack)
    high = min(len(words), anchor.b - anchor.a + len(wanted) + slack)
    matcher.set_seq2(words[low:high])
    # A word alone is in every text; where whole phrases agree, they say where the quote begins and ends.
    blocks = [block for block in matcher.get_matching_blocks() if block.size > 1] or [anchor._replace(b=anchor.b - low)]
    first = max(0, min(block.b - block.a for block in blocks[:1]))
    last = blocks[-1].b + blocks[-1].size
    last = min(high - low, max(last, last + len(wanted) - blocks[-1].a - blocks[-1].size))
    matcher.set_seq2(words[low + first : low + last])
    return matcher.ratio(), places[low + first][0], places[low + last - 1][1]


def is_like(ratio: float) -> bool:
    """Whether a text that much like a quote is another version of it."""
    return ratio >= _LIKENESS


def difference(old: str, new: str) -> str:
    """A unified diff by sentences and lines, without a header; empty where both say the same."""
    lines = difflib.unified_diff(list(_units(old)), list(_units(new)), n=1, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("--- ", "+++ ")))


def _units(text: str) -> Iterator[str]:
    """A text as the lines of its diff: paragraphs without their line breaks, in sentences."""
    at = 0
    for end in [*sentence_ends(text), len(text)]:
        unit = " ".join(text[at:end].split())
        at = end
        if unit:
            yield unit


def _pattern(quoted: str) -> re.Pattern[str] | None:
    parts = [part for part in _GAP.split(quoted.strip(_WRAPPING), _MOST_GAPS) if part.strip()]
    expressions = [_expression(part) for part in parts]
    if not expressions:
        return None
    return re.compile(rf".{{0,{_LONGEST_GAP}}}?".join(expressions), re.DOTALL)


def _expression(part: str) -> str:
    words = list(_WORD.finditer(part))
    made = []
    for number, word in enumerate(words):
        if number:
            made.append(_between(words[number - 1 : number + 1]))
        made.append("".join(_CLASSES.get(sign) or re.escape(sign) for sign in word[0]))
    return "".join(made)


def _between(words: Sequence[re.Match[str]]) -> str:
    """What may stand between two words: white space that must be there only if it separates spaced ones."""
    before, after = words
    spaced = before.end() < after.start() and not any(re.match(f"[{_UNSPACED}]", word[0]) for word in words)
    return r"\s+" if spaced else r"\s*"
