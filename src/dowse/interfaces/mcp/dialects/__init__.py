"""The dialects, one module each, and the table of them."""

from importlib import import_module

from dowse.errors import UsageError
from dowse.interfaces.mcp.dialect import Dialect

DIALECTS = {
    "dowse": "dowse",
    "qmd": "qmd",
    "mcpvectordb": "mcpvectordb",
    "rag": "rag",
    "docvec": "docvec",
}
"""Name -> module in this folder, which offers `DIALECT`."""

_HIDDEN = {"conformance": "conformance"}
"""The same for those that no user has a use for: they are served when asked for by name, and never listed."""

_OF_PROGRAM = {"qmd": "qmd"}
_DEFAULT = "dowse"


def default_dialect(program: str) -> str:
    """The dialect that a program of this name speaks unless told otherwise."""
    return _OF_PROGRAM.get(program, _DEFAULT)


def load(name: str) -> Dialect:
    """The tables of a dialect.

    Raises:
        UsageError: there is none of this name.
    """
    module = (DIALECTS | _HIDDEN).get(name)
    if module is None:
        raise UsageError(f"There is no dialect {name}.", hint=f"There are: {', '.join(DIALECTS)}")
    dialect = import_module(f"{__name__}.{module}").DIALECT
    assert isinstance(dialect, Dialect)  # noqa: S101  # the table is ours
    return dialect
