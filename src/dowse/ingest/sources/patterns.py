"""Which paths a pattern means: the glob of a collection, and the rules of .gitignore files.

Both are Git's wild cards (`*`, `?`, `[a-z]`, `**` for any number of folders), written as regular
expressions. Ignore rules follow Git exactly, negation included: rules are asked top-down for every folder
and file by itself, the last rule that matches wins, and what is below an ignored folder is never asked for.
(Libraries that match whole paths get lists like `*`, `!*/`, `!*.md` wrong when a walk wants to know early
which folders to skip.) Paths are relative, with `/` between their parts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from dowse.errors import UsageError
from dowse.records import record

__all__ = ["IgnoreRules", "PathPattern", "expand"]

_MOST_ALTERNATIVES = 1_000
_DEEPEST = 10  # braces: with two alternatives each, more are too many alternatives
_LONGEST = 4_096  # characters, as paths have at most: what is longer means no file
_MOST_FOLDERS = 100  # of a glob that are told apart while walking
_NEVER = r"(?!)"
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_BRACKET = re.compile(r"\[(?P<not>[!^]?)(?P<body>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]", re.DOTALL)
_MEMBER = re.compile(r"\[:(?P<name>[a-z]+):\]|(?P<low>\\.|.)(?:-(?P<high>\\.|[^\]]))?", re.DOTALL)


class PathPattern:
    """A collection's pattern: globs over relative paths, separated by commas, with `{a,b}` alternatives."""

    __slots__ = ("_files", "_folders")

    def __init__(self, pattern: str) -> None:
        """Compile it.

        Raises:
            UsageError: it cannot be understood, or has too many alternatives.
        """
        if len(pattern) > _LONGEST:
            raise UsageError(f"The pattern has more than {_LONGEST:,} characters.", hint="Use a shorter one.")
        globs = [_normal(glob) for part in _split(pattern) for glob in expand(part)]
        self._files = None if "**/*" in globs else _compile(globs, pattern)
        folders = [folder for glob in globs for folder in _folders(glob)]
        self._folders = None if "**" in folders else _compile(folders, pattern)

    def matches(self, path: str) -> bool:
        """Whether the file at this path is meant."""
        return self._files is None or self._files.fullmatch(path) is not None

    def may_match_below(self, folder: str) -> bool:
        """Whether any file below this folder could be meant."""
        return self._folders is None or self._folders.fullmatch(folder) is not None


@record
class _Rule:
    regex: str
    ignores: bool
    folders_only: bool
    whole_path: bool


class IgnoreRules:
    """The rules of the ignore files of one folder, for what is below it."""

    __slots__ = ("_ignores", "_tables")

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _rule(line))]
        self._ignores = [rule.ignores for rule in rules]
        numbered = list(enumerate(rules))
        self._tables = {
            is_folder: tuple(
                _table([(n, r) for n, r in numbered if r.whole_path == whole and (is_folder or not r.folders_only)])
                for whole in (False, True)
            )
            for is_folder in (False, True)
        }

    def decide(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Whether to ignore what is at this path below the folder; None when no rule says."""
        last = -1
        for (regex, numbers), subject in zip(self._tables[is_folder], (name, path), strict=True):
            found = regex.fullmatch(subject) if regex else None
            if found and found.lastindex:
                last = max(last, numbers[found.lastindex - 1])
        return None if last < 0 else self._ignores[last]


def _table(rules: Sequence[tuple[int, _Rule]]) -> tuple[re.Pattern[str] | None, list[int]]:
    """One expression whose first alternative that matches is the last rule that does."""
    if not rules:
        return None, []
    backwards = list(reversed(rules))
    return re.compile("|".join(f"({rule.regex})" for _, rule in backwards), re.DOTALL), [n for n, _ in backwards]


def _rule(line: str) -> _Rule | None:
    """One line of an ignore file; None for comments, empty lines and what Git cannot read."""
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if not line or line.startswith("#") or len(line) > _LONGEST:
        return None
    negated = line.startswith("!")
    glob = line[negated:]
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    regex = _translate(glob.removeprefix("/")) if glob else None
    return None if regex is None else _Rule(regex, not negated, folders_only, "/" in glob)


def _split(pattern: str) -> Iterator[str]:
    """The parts between commas that stand outside of braces."""
    depth, start = 0, 0
    for position, character in enumerate(pattern):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth <= 0:
            yield pattern[start:position]
            start = position + 1
    yield pattern[start:]


def expand(glob: str, depth: int = 0) -> list[str]:
    """All readings of a glob with braces; `depth` of them have been read.

    Raises:
        UsageError: there are too many.
    """
    braces = re.search(r"\{([^{}]*,[^{}]*)\}", glob)
    if not braces:
        return [glob]
    head, tail = glob[: braces.start()], glob[braces.end() :]
    readings = []
    if depth < _DEEPEST:
        found = (each for word in braces[1].split(",") for each in expand(f"{head}{word}{tail}", depth + 1))
        readings = list(islice(found, _MOST_ALTERNATIVES + 1))
    if not 0 < len(readings) <= _MOST_ALTERNATIVES:
        raise UsageError("The pattern has too many alternatives.", hint="Use fewer braces.")
    return readings


def _normal(glob: str) -> str:
    glob = glob.strip().removeprefix("./").lstrip("/")
    if not glob or glob.endswith("/"):
        glob += "**"
    return f"{glob}/*" if glob == "**" or glob.endswith("/**") else glob


def _folders(glob: str) -> Iterator[str]:
    """Globs of the folders that lead to what a glob matches; of a deep one, the first, and whatever is below."""
    parts = glob.split("/")
    if len(parts) > _MOST_FOLDERS:
        parts[_MOST_FOLDERS:] = ["**", ""]
    for count, part in enumerate(parts[:-1], start=1):
        yield "/".join(parts[:count])
        if part == "**":
            return


def _compile(globs: Sequence[str], pattern: str) -> re.Pattern[str]:
    regexes = [_translate(glob) for glob in globs]
    if None in regexes:
        raise UsageError(
            f"The pattern {pattern!r} cannot be understood.",
            hint="A '[' needs its ']', and a '\\' something after it. An example: docs/**/*.{md,txt}",
        )
    return re.compile("|".join(regex for regex in regexes if regex is not None) or _NEVER, re.DOTALL)


def _translate(glob: str) -> str | None:
    """A glob as a regular expression for the whole path; None when Git would never match it.

    What stands between two `**` may take the first place that it finds, for a later one is never better: these are
    atomic groups, so that nothing is tried twice, whoever wrote the glob.
    """
    stretches: list[list[str]] = [[]]
    for part in glob.split("/"):
        if len(part) > 1 and not part.strip("*"):
            stretches.append([])
        elif (segment := _translate_segment(part)) is not None:
            stretches[-1].append(segment)
        else:
            return None
    head, *rest = stretches
    if not rest:
        return "/".join(head)
    *between, tail = rest
    return (
        "".join(f"{segment}/" for segment in head)
        + "".join(f"(?>(?:[^/]+/)*?{'/'.join(stretch)}/)" for stretch in between if stretch)
        + (f"(?:.+/)?{'/'.join(tail)}" if tail else ".+")
    )


def _translate_segment(glob: str) -> str | None:
    """The part of a glob between two slashes."""
    pieces = [""]
    position = 0
    while position < len(glob):
        character = glob[position]
        position += 1
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[":
            found = _BRACKET.match(glob, position - 1)
            if not found or (members := _members(found["body"])) is None:
                return None
            pieces[-1] += f"(?!/)[{'^' if found['not'] else ''}{members}]" if members else _NEVER
            position = found.end()
        elif character != "\\":
            pieces[-1] += re.escape(character)
        elif position < len(glob):
            pieces[-1] += re.escape(glob[position])
            position += 1
        else:
            return None
    first, *middle = pieces
    if not middle:
        return first
    # The first place for a piece is always as good as a later one, so that nothing needs to be tried twice.
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle[:-1] if piece) + f"[^/]*{middle[-1]}"


def _members(body: str) -> str | None:
    """What stands between brackets, as Python writes it; None for a class that does not exist."""
    members = ""
    for found in _MEMBER.finditer(body):
        if found["name"]:
            if found["name"] not in _CLASSES:
                return None
            members += _CLASSES[found["name"]]
            continue
        low = found["low"][-1]
        high = found["high"][-1] if found["high"] else low
        if low <= high:
            members += f"{re.escape(low)}-{re.escape(high)}"
    return members
