"""Write what clients and registries read about Dowse, and pack it as a bundle (`make bundle`).

Versions, tools and the guide come from the code, so that none of these files can say something else. `--check` writes
nothing and fails where a file is out of date.
"""

import argparse
import json
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dowse import __version__
from dowse.interfaces.mcp.dialects import load
from dowse.interfaces.mcp.dialects.dowse.guide import GUIDE

PROJECT = Path(__file__).resolve().parent.parent
ABOUT = "Search your own documents by words and meaning, on your own machine, with exact citations."
AUTHOR = {"name": "The Dowse authors"}
REGISTRY_NAME = "io.github.dowse/dowse"
"""The namespace belongs to whoever publishes; the README carries the same name, which is how a registry checks it."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip archive knows: the same sources make the same bundle."""


def main() -> int:
    """Write the files and the bundle."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a file is out of date")
    parser.add_argument("--out", type=Path, default=PROJECT / "dist", help="the folder for the bundle")
    options = parser.parse_args()
    if options.check:
        stale = outdated()
        for name in stale:
            print(f"error: {name} is out of date\nhint: make bundle", file=sys.stderr)
        return 1 if stale else 0
    for name, text in files().items():
        (PROJECT / name).parent.mkdir(parents=True, exist_ok=True)
        (PROJECT / name).write_text(text, encoding="utf-8", newline="\n")
    print(pack(options.out))
    return 0


def outdated() -> list[str]:
    """The files that are missing or say something else than the code."""
    return [
        name
        for name, text in files().items()
        if not (PROJECT / name).is_file() or (PROJECT / name).read_text(encoding="utf-8") != text
    ]


def files() -> dict[str, str]:
    """Every file by its path below the project."""
    plugin = "packaging/claude-code"
    made = {
        "server.json": registry_entry(),
        "packaging/mcpb/manifest.json": manifest(),
        f"{plugin}/.claude-plugin/plugin.json": plugin_manifest(),
        f"{plugin}/.mcp.json": {"mcpServers": {"dowse": {"command": "dowse", "args": ["mcp"]}}},
        ".claude-plugin/marketplace.json": marketplace(f"./{plugin}"),
    }
    written = {name: f"{json.dumps(value, indent=2)}\n" for name, value in made.items()}
    return {**written, f"{plugin}/skills/search-documents/SKILL.md": "\n".join(skill())}


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    said: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return said


def manifest() -> dict[str, Any]:
    """The manifest of the bundle: its client runs the sources that are in it with uv, which fetches what they need."""
    # The project is named without going there, so that the server's working directory is the client's.
    command = ["run", "--no-dev", "--project", "${__dirname}", "dowse", "mcp", "--allow-root", "${user_config.folder}"]
    return {
        "manifest_version": "0.4",
        "name": "dowse",
        "display_name": "Dowse",
        "version": __version__,
        "description": ABOUT,
        "long_description": project()["description"] + ". Nothing is sent anywhere.",
        "author": AUTHOR,
        "license": project()["license"],
        "keywords": project()["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "src/dowse/__main__.py",
            "mcp_config": {"command": "uv", "args": command},
        },
        "tools": [{"name": tool.name, "description": tool.description} for tool in load("dowse").tools],
        "prompts_generated": True,
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Folder",
                "description": "Documents in this folder may be added to the index, besides those of your home.",
                "default": "${HOME}",
                "required": True,
            }
        },
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project()["requires-python"]},
        },
    }


def registry_entry() -> dict[str, Any]:
    """The entry for the registry of MCP servers."""
    folder = "Documents in this folder may be added to the index, besides those of your home."
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": REGISTRY_NAME,
        "title": "Dowse",
        "description": ABOUT,
        "version": __version__,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": project()["name"],
                "version": __version__,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {"type": "positional", "value": "mcp"},
                    {
                        "type": "named",
                        "name": "--allow-root",
                        "description": folder,
                        "format": "filepath",
                        "isRepeated": True,
                    },
                ],
            }
        ],
    }


def plugin_manifest() -> dict[str, Any]:
    """The plugin for Claude Code; its server and its skill are found by their places."""
    return {
        "name": "dowse",
        "version": __version__,
        "description": ABOUT,
        "author": AUTHOR,
        "license": project()["license"],
        "keywords": project()["keywords"],
    }


def marketplace(source: str) -> dict[str, Any]:
    """The list of plugins that makes a checkout of this project a source of them: of this one."""
    plugin = {"name": "dowse", "source": source, "description": ABOUT, "version": __version__}
    return {"name": "dowse", "owner": AUTHOR, "metadata": {"description": ABOUT}, "plugins": [plugin]}


def skill() -> Iterator[str]:
    """How an agent searches well: the guide that the server itself offers, and what to do without a server."""
    yield "---"
    yield "name: search-documents"
    yield "description: Search, read and cite the user's own indexed documents (notes, PDFs, Office files, code, web"
    yield "  pages) with Dowse. Use when a question may be answered by the user's files, when they ask to find what"
    yield "  they wrote or saved, or when citations have to be checked."
    yield "---"
    yield ""
    yield GUIDE.rstrip()
    yield ""
    yield "## The tools"
    yield ""
    for tool in load("dowse").tools:
        yield f"- `{tool.name}`: {tool.description}"
    yield ""
    yield "## Without the server"
    yield ""
    yield 'The same is there on the command line: `dowse query "..." --json`, `dowse get NAME:FROM:COUNT`,'
    yield "`dowse status`. If `dowse` is not installed, say so instead of searching files one by one. If nothing is"
    yield "indexed yet, ask which folder to add: `dowse collection add FOLDER`."
    yield ""


def pack(folder: Path) -> Path:
    """The bundle: the manifest, the sources, and what is needed to build them."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle = folder / f"dowse-{__version__}.mcpb"
    sources = [path for path in sorted((PROJECT / "src").rglob("*")) if path.suffix in {".py", ".json", ".typed"}]
    others = [PROJECT / name for name in ("LICENSE", "README.md", "pyproject.toml")]
    content = {path.relative_to(PROJECT).as_posix(): path.read_bytes() for path in [*others, *sources]}
    content["manifest.json"] = (PROJECT / "packaging" / "mcpb" / "manifest.json").read_bytes()
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(content.items()):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return bundle


if __name__ == "__main__":
    sys.exit(main())
