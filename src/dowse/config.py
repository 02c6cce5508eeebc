"""The settings: one frozen `Config`, made from defaults < TOML file < environment < arguments.

`SETTINGS` is the one table of what can be set, what each setting takes and what it is for: loading,
checking, error messages and the reference page all read it. Nothing here opens an index or a model.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import NamedTuple, Self

from dowse.errors import ConfigError
from dowse.records import record

__all__ = ["OTHER_VARIABLES", "SETTINGS", "Config", "Setting", "describe"]

_PREFIX = "DOWSE_"
_CREDENTIALS = {"DOWSE_OPENSEARCH_USER", "DOWSE_OPENSEARCH_PASSWORD", "DOWSE_OPENSEARCH_TOKEN"}
OTHER_VARIABLES = {"DOWSE_CONFIG", "DOWSE_DEBUG", *_CREDENTIALS}
"""Ours, but not settings: the path of the file, tracebacks for unexpected errors, and what opens a cluster."""
_TEST_VARIABLES = "DOWSE_TEST_"

_EDITORS = ("file", "vscode", "cursor", "zed", "idea", "textmate")
"""The names that search/citations.py has links for."""
_UNITS = {"": 0, "b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30}
"""Of sizes, as powers of two."""
_LEAST_MEMORY = 128 << 20


_SWITCH = {**dict.fromkeys(("true", "1", "yes", "on"), True), **dict.fromkeys(("false", "0", "no", "off"), False)}


class Setting(NamedTuple):
    """One row of the table of settings."""

    from_text: Callable[[str], object]
    """Reads the text of an environment variable; raises ValueError when it cannot."""
    check: Callable[[object], object]
    """Returns the value as the Config holds it; raises ValueError for a wrong type or range."""
    takes: str
    """What the setting accepts, as the end of a sentence."""
    doc: str
    default: str = ""
    """The default in words, where the value itself depends on the machine."""


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError
    return value


def _text_or_nothing(value: object) -> str:
    return value if value == "" else _text(value)


def _index(value: object) -> str:
    """Paths become absolute; a Path object is one even when it looks like a name."""
    text = str(value) if isinstance(value, Path) else _text(value)
    return str(_folder(text)) if isinstance(value, Path) or is_path(text) else text


def _choice(*choices: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return check


def _whole(low: int, high: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError
        return value

    return check


def _number(low: float, high: float) -> Callable[[object], float]:
    def check(value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError
        return float(value)

    return check


def _switch(value: object) -> bool:
    """On or off; a text as people write it into an environment variable."""
    text = str(value).strip().lower() if isinstance(value, bool | str) else ""
    if text not in _SWITCH:
        raise ValueError
    return _SWITCH[text]


def _workers(value: object) -> int | None:
    return None if value is None else _whole(1, 256)(value)


def _ceiling(value: object) -> int:
    """None, or so much that the program itself fits below it."""
    return 0 if value in (0, "0") else _whole(_LEAST_MEMORY, 1 << 44)(_size(value))


def _size(value: object) -> int:
    """A number of bytes, also as text with a unit of 1024s: `20MB`, `512 KB`."""
    if isinstance(value, str):
        number = value.strip().rstrip("bBkKmMgG ")
        unit = value.strip()[len(number) :].strip().lower()
        if unit not in _UNITS:
            raise ValueError
        value = int(float(number) * (1 << _UNITS[unit]))
    return _whole(1, 1 << 40)(value)


def _folder(value: object) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip() or "\0" in str(value):
        raise ValueError
    return Path(value).expanduser().absolute()


def _editor(value: object) -> str:
    text = _text(value)
    if text not in _EDITORS and "{path}" not in text:
        raise ValueError
    return text


SETTINGS: Mapping[str, Setting] = {
    "index": Setting(
        str,
        _index,
        "a name, a path (with a slash, or starting with . or ~), or opensearch://HOST:PORT,HOST:PORT/PREFIX",
        "Which index to use.",
    ),
    "data_dir": Setting(
        str, _folder, "the path of a folder", "Where named indexes live.", "the platform's data folder"
    ),
    "cache_dir": Setting(
        str, _folder, "the path of a folder", "Where converted models live.", "the platform's cache folder"
    ),
    "embedder": Setting(
        str,
        _text,
        "the name of a model, or a line such as openai:http://127.0.0.1:11434/v1#MODEL",
        "The model that turns passages into vectors.",
    ),
    "reranker": Setting(
        str,
        _text_or_nothing,
        "a line such as cohere:http://127.0.0.1:8080/v1#MODEL, or nothing",
        "The model that reads the best passages a second time.",
    ),
    "expander": Setting(
        str,
        _text_or_nothing,
        "a line such as chat:http://127.0.0.1:11434/v1#MODEL, prf, or nothing",
        "The model that thinks of further searches; prf takes words of the first answers and needs none.",
    ),
    "precision": Setting(
        str, _choice("int8", "fp32"), "int8 or fp32", "How the model computes; another one embeds anew."
    ),
    "workers": Setting(int, _workers, "a whole number from 1 to 256", "How many threads embed.", "by processors"),
    "max_file_size": Setting(
        str, _size, 'bytes, or a text such as "20MB" or "512KB"', "Larger files are skipped.", "20MB"
    ),
    "extract_seconds": Setting(
        float,
        _number(0, 86_400),
        "seconds of processor time, from 0 (no limits) to 86400",
        "What reading one file may take; a file that takes longer is given up.",
    ),
    "extract_memory": Setting(
        str, _size, 'bytes, or a text such as "1GB"', "How much memory reading one file may take.", "1GB"
    ),
    "max_memory": Setting(
        str,
        _ceiling,
        'bytes, or a text such as "512MB", at least 128MB; 0: no ceiling',
        "How much memory indexing and serving should stay below, by smaller batches.",
        "0",
    ),
    "chunk_tokens": Setting(
        int, _whole(32, 512), "a whole number from 32 to 512", "How long a passage may be, in tokens."
    ),
    "lock_timeout": Setting(
        float, _number(0, 86_400), "seconds, from 0 to 86400", "How long to wait for another writer."
    ),
    "editor": Setting(
        str, _editor, f"{', '.join(_EDITORS)}, or a link with {{path}} in it", "What the links in citations open."
    ),
    "keep_days": Setting(
        float, _number(0, 36_500), "days, from 0 to 36500", "How long cleanup keeps what was deleted."
    ),
    "daemon": Setting(str, _switch, "true or false", "Whether all `mcp` of an index share one process."),
    "daemon_idle": Setting(
        float,
        _number(0, 31_536_000),
        "seconds, from 0 to 31536000",
        "How long that process stays without a client.",
    ),
}


@record
class Config:
    """Every setting of one engine; immutable, so it can be shared. `Config.load()` reads the user's."""

    index: str = "default"
    data_dir: Path = field(default_factory=lambda: _platform_dir("data"))
    cache_dir: Path = field(default_factory=lambda: _platform_dir("cache"))
    embedder: str = "granite-embedding-30m-english"
    reranker: str = ""
    expander: str = ""
    precision: str = "int8"
    workers: int | None = None
    max_file_size: int = 20 << 20
    extract_seconds: float = 120.0
    extract_memory: int = 1 << 30
    max_memory: int = 0
    chunk_tokens: int = 256
    lock_timeout: float = 30.0
    editor: str = "file"
    keep_days: float = 30.0
    daemon: bool = True
    daemon_idle: float = 600.0
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where each setting that is not a default came from, in words."""

    def __post_init__(self) -> None:
        for name in SETTINGS:
            value = _checked(name, getattr(self, name), f"the argument {name}")
            object.__setattr__(self, name, value)

    @property
    def index_dir(self) -> Path:
        """The folder of the index: `index` itself when it is a path, else the folder of that name.

        Of an index on a cluster it holds only what this machine notes for itself, such as who watches.
        """
        if is_cluster(self.index):
            return self.data_dir / "clusters" / re.sub(r"[^a-z0-9]+", "-", self.index.partition("?")[0].lower())
        return Path(self.index) if is_path(self.index) else self.data_dir / "indexes" / self.index

    @property
    def where(self) -> str:
        """Where the index is, for people."""
        return self.index if is_cluster(self.index) else str(self.index_dir)

    @classmethod
    def load(cls, path: Path | None = None, env: Mapping[str, str] | None = None, **overrides: object) -> Self:
        """Read the file (`path`, else DOWSE_CONFIG, else the platform's), the environment, the arguments.

        An argument of None means that it was not given, as does an empty environment variable.
        """
        env = os.environ if env is None else env
        values: dict[str, object] = {}
        origins: dict[str, str] = {}
        for layer in (_from_file(path, env), _from_environment(env), _from_arguments(overrides)):
            for name, value, origin in layer:
                values[name] = _checked(name, value, origin)
                origins[name] = origin
        return cls(**values, origins=origins)  # type: ignore[arg-type]  # each value passed its check


def describe() -> list[tuple[str, str, str, str, str]]:
    """The reference: (name, environment variable, default, what it takes, what it is for) per setting."""
    defaults = {each.name: each.default for each in fields(Config) if each.default is not MISSING}
    return [
        (name, _variable(name), setting.default or str(defaults[name]) or "nothing", setting.takes, setting.doc)
        for name, setting in SETTINGS.items()
    ]


def is_cluster(index: str) -> bool:
    """Whether this value of `index` is the address of a cluster."""
    return index.startswith(("opensearch://", "opensearchs://"))


def is_path(index: str) -> bool:
    """Whether this value of `index` is a path rather than a name or an address."""
    if is_cluster(index):
        return False
    separators = {os.sep, os.altsep or os.sep}
    return index.startswith((".", "~")) or any(mark in index for mark in separators) or Path(index).is_absolute()


_Found = Iterable[tuple[str, object, str]]
"""What one layer sets: name, raw value, and where it was found."""


def _from_file(path: Path | None, env: Mapping[str, str]) -> _Found:
    named = path or (Path(env["DOWSE_CONFIG"]) if env.get("DOWSE_CONFIG") else None)
    file = (named or _platform_dir("config") / "config.toml").absolute()
    try:
        source = file.read_bytes()
    except FileNotFoundError:
        if named is None:
            return
        raise ConfigError(
            f"There is no configuration file {file}.", hint="Check --config or DOWSE_CONFIG, or leave it out."
        ) from None
    except OSError as error:
        raise ConfigError(
            f"The configuration file {file} cannot be read: {error.strerror}.",
            hint="Make it readable, or remove it.",
        ) from error
    if not source.strip():
        return
    for name, value in _parse_toml(source, file).items():
        if name not in SETTINGS:
            raise _unknown(name, f"in {file}", list(SETTINGS))
        yield name, _relative_to(file.parent, name, value), str(file)


def _parse_toml(source: bytes, file: Path) -> dict[str, object]:
    import tomllib  # most runs have no file to parse

    try:
        return tomllib.loads(source.decode())
    except (ValueError, RecursionError) as error:  # of TOML, of UTF-8, of numbers without end
        raise ConfigError(
            f"The configuration file {file} is not valid TOML: {error}.",
            hint='Each line reads like: chunk_tokens = 256 or embedder = "NAME"',
        ) from error


def _relative_to(folder: Path, name: str, value: object) -> object:
    """A relative path in a file counts from that file, whatever folder the program was started in."""
    if not isinstance(value, str) or not value.strip() or value.startswith("~"):
        return value
    path = name in {"data_dir", "cache_dir"} or (name == "index" and is_path(value))
    return str(folder / value) if path else value


def _from_environment(env: Mapping[str, str]) -> _Found:
    variables = {_variable(name): name for name in SETTINGS}
    for variable, text in sorted(env.items()):
        ours = variable.startswith(_PREFIX) and not variable.startswith(_TEST_VARIABLES)
        if not ours or variable in OTHER_VARIABLES:
            continue
        if variable not in variables:
            raise _unknown(variable, "in the environment", [*variables, *OTHER_VARIABLES])
        if text:
            yield variables[variable], text, variable


def _from_arguments(overrides: Mapping[str, object]) -> _Found:
    for name, value in overrides.items():
        if name not in SETTINGS:
            raise _unknown(name, "among the arguments", list(SETTINGS))
        if value is not None:
            yield name, value, f"the argument {name}"


def _checked(name: str, value: object, origin: str) -> object:
    setting = SETTINGS[name]
    try:
        return setting.check(setting.from_text(str(value)) if origin == _variable(name) else value)
    except (ValueError, OverflowError, RuntimeError):  # the last: `~` of a user that does not exist
        raise _refused(name, value, origin) from None


def _refused(name: str, value: object, origin: str) -> ConfigError:
    return ConfigError(
        f"The setting {name} ({origin}) cannot be {value!r}.",
        hint=f"It takes {SETTINGS[name].takes}.",
        details={"setting": name},
    )


def _unknown(name: str, where: str, known: list[str]) -> ConfigError:
    import difflib  # needed by this error alone

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"The settings are: {', '.join(known)}."
    return ConfigError(f"There is no setting {name} (found {where}).", hint=hint, details={"setting": name})


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _platform_dir(kind: str) -> Path:
    import platformdirs  # 10 to 30 ms that explicit settings save

    folders = {
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
        "config": platformdirs.user_config_path,
    }
    return folders[kind]("dowse", appauthor=False)
