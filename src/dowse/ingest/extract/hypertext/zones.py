"""What an element's name and attributes say of its content: hidden, the main part, or what surrounds it."""

import re
from enum import Enum
from functools import lru_cache

from dowse.ingest.extract.hypertext.tokens import attributes_of

__all__ = ["Hint", "hint_of"]


class Hint(Enum):
    """What to make of an element."""

    HIDDEN = "hidden"
    MAIN = "main"
    ARTICLE = "article"
    CHROME = "chrome"
    HEADER = "header"
    """Chrome at the top of a page, unless it holds the title; part of an article inside one."""
    MARGIN = "margin"
    """Chrome around a page; inside an article a note, unless it is little but links."""
    MENU = "menu"
    """Chrome if it is little but links: its name alone proves nothing."""


_BY_TAG = {
    "main": Hint.MAIN,
    "article": Hint.ARTICLE,
    "nav": Hint.CHROME,
    "header": Hint.HEADER,
    "footer": Hint.MARGIN,
    "aside": Hint.MARGIN,
    "search": Hint.CHROME,
}
_BY_ROLE = {
    "main": Hint.MAIN,
    "article": Hint.ARTICLE,
    "banner": Hint.HEADER,
    "contentinfo": Hint.MARGIN,
    "complementary": Hint.MARGIN,
    **dict.fromkeys(
        ("alertdialog", "dialog", "menu", "menubar", "navigation", "search", "tablist", "toolbar"), Hint.CHROME
    ),
}
_MENU_NAMES = frozenset(
    str.split(
        "breadcrumb breadcrumbs footer header menu nav nav-panel navbar navfooter navheader navigation pager "
        "pagination sidebar site-footer site-header site-nav share skip-link social sphinxsidebar table-of-contents toc"
    )
)
_HIDDEN_NAMES = frozenset(str.split("blob-num gutter line-numbers-rows lineno linenos linenumber mw-editsection"))
_COOKIES = re.compile(
    r"(?:cookie|consent|gdpr|ccpa)s?[-_]?(?:banner|bar|box|consent|dialog|law|message|modal|notice|notification"
    r"|overlay|popup|prompt|settings|wall|warning|wrapper)|onetrust|cookiebot|usercentrics|cookieyes",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all", re.IGNORECASE)
# Most elements have attributes that say nothing here; this spares reading them.
_TELLING = re.compile(
    r"hidden|role|style|nav|menu|side|foot|header|site-|crumb|page|pagi|share|social|skip|toc|contents|num|gutter|lineno"
    r"|editsection|cookie|consent|gdpr|ccpa|onetrust|usercentrics",
    re.IGNORECASE,
)
_LONGEST_REMEMBERED = 200
_NEVER_HIDDEN = frozenset({"html", "body", "main"})


def hint_of(tag: str, written: str) -> Hint | None:
    """What the start tag says, None if it says nothing."""
    if not written:
        return Hint.HIDDEN if tag == "dialog" else _BY_TAG.get(tag)
    return _remembered(tag, written) if len(written) <= _LONGEST_REMEMBERED else _hint_of(tag, written)


def _hint_of(tag: str, written: str) -> Hint | None:
    if tag == "dialog" and "open" not in attributes_of(written):
        return Hint.HIDDEN
    if not _TELLING.search(written):
        return _BY_TAG.get(tag)
    attributes = attributes_of(written)
    roles = attributes.get("role", "").lower().split()
    if tag not in _NEVER_HIDDEN and _is_hidden(attributes, roles):
        return Hint.HIDDEN
    if roles and roles[0] in _BY_ROLE:
        return _BY_ROLE[roles[0]]
    if tag in _BY_TAG or tag in _NEVER_HIDDEN:
        return _BY_TAG.get(tag)
    names = f"{attributes.get('id', '')} {attributes.get('class', '')}"
    if _COOKIES.search(names):
        return Hint.CHROME
    words = set(names.lower().split())
    if words & _HIDDEN_NAMES:
        return Hint.HIDDEN
    return Hint.MENU if words & _MENU_NAMES else None


# The elements of a page have much the same attributes.
_remembered = lru_cache(maxsize=4096)(_hint_of)


def _is_hidden(attributes: dict[str, str], roles: list[str]) -> bool:
    if attributes.get("aria-hidden", "").lower() == "true" or _INVISIBLE.search(attributes.get("style", "")):
        return "tabpanel" not in roles
    # The panels of tabs are hidden until they are chosen, and some content until it is searched for.
    return "hidden" in attributes and attributes["hidden"].lower() != "until-found" and "tabpanel" not in roles
