"""What clients and registries read about Dowse: it says what the code says, and has the shape that they ask for."""

import importlib.util
import json
import re
import shlex
import zipfile
from pathlib import Path

import click
import jsonschema
import pytest
import yaml

import dowse
from dowse.interfaces.cli.app import root
from dowse.interfaces.cli.session import Session
from dowse.interfaces.mcp.dialects import load

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "packaging" / "claude-code"
MANIFEST = ROOT / "packaging" / "mcpb" / "manifest.json"
MARKETPLACE = ROOT / ".claude-plugin" / "marketplace.json"
TOOLS = [tool.name for tool in load("dowse").tools]

TEXT = {"type": "string", "minLength": 1}
ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "anyOf": [
        {
            "properties": {"type": {"const": "positional"}},
            "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
        },
        {"properties": {"type": {"const": "named"}}, "required": ["name"]},
    ],
}
REGISTRY_SHAPE = {
    "type": "object",
    "required": ["$schema", "name", "description", "version"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"pattern": r"^https://static\.modelcontextprotocol\.io/schemas/[\d-]+/server\.schema\.json$"},
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": {**TEXT, "maxLength": 255, "not": {"pattern": r"[\^~*<>=]"}},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": TEXT,
                    "version": {**TEXT, "not": {"const": "latest"}},
                    "runtimeHint": TEXT,
                    "transport": {"const": {"type": "stdio"}},
                    "packageArguments": {"type": "array", "items": ARGUMENT},
                },
            },
        },
    },
}
"""What the registry asks for, as far as our entry uses it."""
SHAPES = {
    "server.json": REGISTRY_SHAPE,
    "packaging/mcpb/manifest.json": {
        "type": "object",
        "required": ["manifest_version", "name", "version", "description", "author", "server"],
        "properties": {
            "manifest_version": {"const": "0.4"},
            "author": {"required": ["name"]},
            "server": {
                "required": ["type", "entry_point", "mcp_config"],
                "properties": {"type": {"const": "uv"}, "mcp_config": {"required": ["command"]}},
            },
            "tools": {"items": {"required": ["name"], "propertyNames": {"enum": ["name", "description"]}}},
        },
    },
}


@pytest.fixture(scope="module")
def bundle():
    spec = importlib.util.spec_from_file_location("bundle", ROOT / "scripts" / "bundle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(path: Path) -> dict[str, object]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_file_is_what_the_code_says(bundle):
    assert bundle.outdated() == [], "run `make bundle`"


def test_all_of_them_have_the_version_of_the_package():
    entry, marketplace = said(ROOT / "server.json"), said(MARKETPLACE)
    versions = [
        *(entry["version"], entry["packages"][0]["version"], said(MANIFEST)["version"]),
        *(said(PLUGIN / ".claude-plugin" / "plugin.json")["version"], marketplace["plugins"][0]["version"]),
    ]
    assert set(versions) == {dowse.__version__}


def test_the_tools_they_list_are_those_of_the_dialect():
    assert [tool["name"] for tool in said(MANIFEST)["tools"]] == TOOLS
    text = (PLUGIN / "skills" / "search-documents" / "SKILL.md").read_text(encoding="utf-8")
    assert re.findall(r"^- `(\w+)`: ", text.partition("## The tools")[2], re.MULTILINE) == TOOLS


@pytest.mark.parametrize("name", SHAPES)
def test_the_shape_is_the_one_that_is_asked_for(name):
    jsonschema.validate(said(ROOT / name), SHAPES[name])


def test_the_registry_finds_its_name_in_the_readme():
    assert f"mcp-name: {said(ROOT / 'server.json')['name']} " in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_skill_says_what_it_is_for():
    text = (PLUGIN / "skills" / "search-documents" / "SKILL.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["name"] == "search-documents"
    assert 50 < len(about["description"]) <= 1024
    assert "`search`" in body


def test_the_marketplace_leads_to_the_plugin():
    (plugin,) = said(MARKETPLACE)["plugins"]
    assert said(ROOT / plugin["source"] / ".claude-plugin" / "plugin.json")["name"] == plugin["name"]


def test_every_command_in_them_is_one_of_ours(tmp_path):
    manifest, entry = said(MANIFEST)["server"]["mcp_config"]["args"], said(ROOT / "server.json")["packages"][0]
    commands = [
        [word.replace("${user_config.folder}", str(tmp_path)) for word in manifest[manifest.index("dowse") + 1 :]],
        [each["value"] for each in entry["packageArguments"] if each["type"] == "positional"],
        said(PLUGIN / ".mcp.json")["mcpServers"]["dowse"]["args"],
    ]
    named = [each["name"] for each in entry["packageArguments"] if each["type"] == "named"]
    for words in commands:
        context = root.make_context("dowse", list(words), obj=Session())
        name, command, rest = root.resolve_command(context, [*context._protected_args, *context.args])
        assert command.make_context(name, rest, parent=context).params is not None, shlex.join(words)
    known = {option for each in root.get_command(click.Context(root), "mcp").params for option in each.opts}
    assert set(named) <= known


def test_the_bundle_holds_all_that_is_needed_and_is_the_same_every_time(bundle, tmp_path):
    first, second = bundle.pack(tmp_path / "a"), bundle.pack(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("manifest.json")) == said(MANIFEST)
    assert {"pyproject.toml", "README.md", "LICENSE", said(MANIFEST)["server"]["entry_point"]} <= names
    assert not [name for name in names if "test" in name or name.endswith(".pyc")]
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= names
