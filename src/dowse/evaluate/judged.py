"""Judged queries of the user's own: a folder in BEIR's layout, or a YAML file of query -> files."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from dowse.errors import NotFoundError, SourceError

__all__ = ["Grades", "json_rows", "read_judged", "read_qrels"]

Grades = Mapping[str, Mapping[str, int]]
"""The grade of every judged document, by query."""

_COLUMNS = 3
_LAYOUT = "BEIR's layout is queries.jsonl and qrels/test.tsv: query-id, corpus-id and score between tabs."
_EXAMPLE = "Write `a query: path/of/file.md`, or a list of files below the query."


def read_judged(path: Path) -> Grades:
    """The judged documents of each query text, by the names that the user gave them.

    Raises:
        NotFoundError: nothing is there.
        SourceError: it cannot be read or understood; the message names the line.
    """
    if not path.exists():
        raise NotFoundError(f"There is no {path}.", hint="Name a YAML file, or a folder with queries.jsonl and qrels/.")
    judged = _beir(path) if path.is_dir() else _yaml(path)
    kept = {text: grades for text, grades in judged.items() if any(grade > 0 for grade in grades.values())}
    if not kept:
        _refuse(f"No query in {path} has a file that answers it.", _LAYOUT if path.is_dir() else _EXAMPLE)
    return kept


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Grades by query and document from a table of query, document and grade, with or without a head."""
    judged: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        cells = line.strip("\r\n").split("\t")
        if not line.strip() or (number == 1 and cells[-1] == "score"):
            continue
        if len(cells) != _COLUMNS or not cells[2].strip().lstrip("-").isdecimal():
            _refuse(f"{path}, line {number}, is not a query, a document and a whole number: {line[:80]!r}", _LAYOUT)
        judged.setdefault(cells[0], {})[cells[1]] = int(cells[2])
    return judged


def json_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a file of JSON lines."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            _refuse(f"{path}, line {number}, is not a JSON object: {line[:80]!r}", _LAYOUT)
        yield row


def _beir(folder: Path) -> dict[str, dict[str, int]]:
    tables = [folder / "qrels" / "test.tsv", *sorted((folder / "qrels").glob("*.tsv")), folder / "qrels.tsv"]
    table = next((path for path in tables if path.is_file()), None)
    if table is None or not (folder / "queries.jsonl").is_file():
        missing = "queries.jsonl" if table else "table of judgements"
        raise NotFoundError(f"The folder {folder} has no {missing}.", hint=_LAYOUT)
    judgements = read_qrels(table)
    judged: dict[str, dict[str, int]] = {}
    for number, row in enumerate(json_rows(folder / "queries.jsonl"), start=1):
        if not isinstance(row.get("text"), str) or "_id" not in row:
            _refuse(f"Row {number} of {folder / 'queries.jsonl'} has no `_id` or no `text`.", _LAYOUT)
        if row["text"].strip() and str(row["_id"]) in judgements:
            judged.setdefault(row["text"].strip(), {}).update(judgements[str(row["_id"])])
    return judged


def _yaml(path: Path) -> dict[str, dict[str, int]]:
    import yaml  # whoever asks for no YAML need not load it

    try:
        # Every scalar stays text: a query `yes` is not true, and nothing else is ever constructed.
        content = yaml.load(_text(path), Loader=yaml.BaseLoader)  # noqa: S506 - the loader makes text alone
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}," if mark else ""
        _refuse(f"{path}{where} is not YAML: {getattr(error, 'problem', None) or 'too deep'}.", _EXAMPLE)
    if not isinstance(content, dict):
        _refuse(f"{path} is not a table of query -> files.", _EXAMPLE)
    return {_query(query, path): _files(files, str(query), path) for query, files in content.items()}


def _query(query: object, path: Path) -> str:
    if not isinstance(query, str) or not query.strip():
        _refuse(f"{path} has a query that is no text.", _EXAMPLE)
    return query.strip()


def _files(files: object, query: str, path: Path) -> dict[str, int]:
    """One file, several, or several with their grades."""
    found = next((read(files) for kind, read in _FORMS.items() if isinstance(files, kind)), None)
    if found is None:
        _refuse(f"{path} does not say which files answer {query!r}.", _EXAMPLE)
    return found


def _listed(files: list[object]) -> dict[str, int] | None:
    names = [name.strip() for name in files if isinstance(name, str) and name.strip()]
    return dict.fromkeys(names, 1) if names and len(names) == len(files) else None


def _graded(files: dict[object, object]) -> dict[str, int] | None:
    grades = {str(name).strip(): int(str(grade)) for name, grade in files.items() if str(grade).isdecimal()}
    return grades if grades and len(grades) == len(files) else None


_FORMS: dict[type, Callable[..., dict[str, int] | None]] = {
    str: lambda name: _listed([name]),
    list: _listed,
    dict: _graded,
}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or "it cannot be opened"
        raise SourceError(f"{path} cannot be read: {reason}.", hint="Check the file and its permissions.") from error


def _refuse(problem: str, hint: str) -> NoReturn:
    raise SourceError(problem, reason="malformed", hint=hint)
