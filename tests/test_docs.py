"""The documentation is true: links lead somewhere, commands exist, examples run, the reference is the code's."""

import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import dowse
from dowse import config
from dowse.interfaces.cli import main
from dowse.interfaces.cli.app import root
from dowse.interfaces.cli.session import Session
from dowse.search.fuse import CODE_WEIGHTS, FEATURES, WEIGHTS
from dowse.search.verdict import ABSENT, FOUND, SMALL
from dowse.text.fields import BOOSTS, K1, B

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
README = ROOT / "README.md"
GUIDES = ROOT / "docs" / "guides"

FENCED = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(?P<text>.+)$", re.MULTILINE)
PROJECT_PATH = re.compile(r"`((?:src|tests|scripts|benchmarks|docs|\.ci)/[^`\s*]*)`")
COMMAND_LINE = re.compile(r"^(?:[A-Z_]+=\S+ )*(?:dowse|qmd|make)\b")

# The folder that the sessions in the documentation talk about.
NOTES = {
    "backups.md": "# Backups\n\n## Nightly run\n\nThe laptop is copied to the NAS every night at two.\n"
    "Snapshots older than ninety days are dropped.\n\n## Restoring\n\n"
    "Mount the NAS, pick a snapshot and copy the folder back.\n"
    "Test a restore once a month: a backup that nobody has restored is a hope.\n",
    "house/router.md": "# Router\n\nThe guest network has no access to the NAS.\n"
    "When the light is red, pull the plug for ten seconds.\n",
    "house/bread.md": "---\ntitle: Sourdough bread\ntags: [kitchen, slow]\n---\n\n"
    "Feed the starter the evening before. The dough rests in the fridge overnight\n"
    "and goes into a hot pot in the morning, forty minutes with the lid on.\n",
    "sunset.jpg": "not text",
}
ALLOWED_DIFFERENCE = 0.1
"""Between a score as printed in a page and as computed here: processors round differently."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks_of(page: Path, *languages: str) -> list[str]:
    """The bodies of a page's code blocks in these languages."""
    return [block["body"] for block in FENCED.finditer(text_of(page)) if block["language"] in languages]


def anchors_of(page: Path) -> set[str]:
    """What the headings of a page are called in links, by GitHub's rule."""
    found: set[str] = set()
    for heading in HEADING.finditer(FENCED.sub("", text_of(page))):
        words = LINK.sub(lambda link: link[0].partition("]")[0][1:], heading["text"]).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 1
        while slug in found:
            slug = f"{slug}-{number}"
            number += 1
        found.add(slug)
    return found


def commands_of(page: Path) -> list[list[str]]:
    """The command lines of dowse, qmd and make that a page shows, as words."""
    lines = [line for body in blocks_of(page, "sh") for line in body.splitlines()]
    lines += [line.removeprefix("$ ") for body in blocks_of(page, "console") for line in body.splitlines()]
    commands = []
    for line in filter(COMMAND_LINE.match, lines):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
        end = next((at for at, word in enumerate(words) if set(word) <= set("();<>|&")), len(words))
        start = next(at for at, word in enumerate(words) if "=" not in word)
        commands.append(words[start:end])
    return commands


def parse(arguments: list[str]) -> None:
    """Let click read a command line without running it."""
    command: click.Command | None = root
    try:
        context = root.make_context("dowse", arguments, obj=Session())
        while isinstance(command, click.Group):
            rest = [*getattr(context, "_protected_args", []), *context.args]
            if not rest:
                return
            name, command, rest = command.resolve_command(context, rest)
            assert command is not None
            context = command.make_context(name, rest, parent=context)
    except click.exceptions.Exit:
        return  # --help and --version


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with the notes in it, where Dowse knows nothing yet."""
    for path, text in NOTES.items():
        file = tmp_path / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for name in [*filter(lambda name: name.startswith("DOWSE_") and name != "DOWSE_TEST_CACHE", os.environ)]:
        monkeypatch.delenv(name)
    settings = {
        "HOME": tmp_path,
        "USERPROFILE": tmp_path,
        "DOWSE_CONFIG": os.devnull,
        "DOWSE_DATA_DIR": tmp_path / "data",
        "DOWSE_CACHE_DIR": os.environ.get("DOWSE_TEST_CACHE") or tmp_path / "cache",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    prose = INLINE_CODE.sub("", FENCED.sub("", text_of(page)))
    for link in LINK.finditer(prose):
        target, _, anchor = link["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{link['target']} leads nowhere"
        assert not anchor or anchor in anchors_of(file), f"{link['target']}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_of_the_project_that_a_page_names_exists(page: Path) -> None:
    for path in PROJECT_PATH.findall(FENCED.sub("", text_of(page))):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_that_a_page_shows_exists_with_its_options(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    for program, *arguments in commands_of(page):
        if program == "make":
            assert {word for word in arguments if "=" not in word} <= targets, arguments
            continue
        try:
            parse(arguments)
        except click.ClickException as error:
            pytest.fail(f"{program} {shlex.join(arguments)}: {error.format_message()}")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_environment_variable_that_a_page_names_exists(page: Path) -> None:
    known = {variable for _, variable, *_ in config.describe()} | {*config.OTHER_VARIABLES, "DOWSE_TEST_CLUSTER"}
    assert set(re.findall(r"\bDOWSE_[A-Z_]+\b", text_of(page))) <= known


def test_every_page_is_in_the_index_of_the_documentation() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link["target"]).resolve() for link in LINK.finditer(text_of(index))}
    assert {page for page in PAGES if page.is_relative_to(index.parent)} - {index} <= linked


def test_the_reference_is_what_the_code_says() -> None:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.outdated() == [], "run `make docs`"


def test_the_page_on_ranking_has_the_weights_of_the_code() -> None:
    page = text_of(ROOT / "docs" / "concepts" / "ranking.md")
    for field, boost in BOOSTS.items():
        assert re.search(rf"^\| `{field}` \| .* \| {boost} \|$", page, re.MULTILINE), field
    weights = WEIGHTS["hybrid"]
    assert f"fused = {weights['lex']} × BM25 / ceiling + {weights['vec']} × cosine" in page
    for feature, weight in FEATURES.items():
        assert re.search(rf"^\| `{feature}` \| .* \| {weight} \|$", page, re.MULTILINE), feature
    assert f"{weights['lex']} and {weights['vec']} towards {CODE_WEIGHTS['lex']} and {CODE_WEIGHTS['vec']}" in page
    assert f"the confidence is {FOUND} or more" in page
    assert f"the confidence is below {ABSENT}" in page
    assert f"fewer than {SMALL} documents" in page
    assert f"k1 = {K1}, b = {B}" in page


def test_every_dependency_has_its_row() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    page = text_of(ROOT / "docs" / "decisions" / "0006-dependencies.md")
    for requirement in project["dependencies"]:
        assert re.split(r"[<>=!~ ;\[]", requirement)[0] in page


def test_the_newest_version_of_the_changelog_is_the_programs() -> None:
    newest = re.search(r"^## \[(?P<version>[^\]]+)\]", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest["version"] == dowse.__version__


@pytest.mark.parametrize("page", [README, GUIDES / "python.md"], ids=name_of)
def test_the_python_examples_run(page: Path, home: Path) -> None:
    script = "\n".join(blocks_of(page, "python"))
    environment = {**os.environ, "DOWSE_EMBEDDER": "hashed", "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, env=environment, cwd=home, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "notes/backups.md" in done.stdout


def sessions_of(page: Path) -> list[tuple[str, list[str]]]:
    """The commands in a page's console blocks, each with the lines that follow it."""
    found: list[tuple[str, list[str]]] = []
    for body in blocks_of(page, "console"):
        for line in body.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line.rstrip())
    return found


def pattern_of(lines: list[str]) -> re.Pattern[str]:
    """What output must look like: `...` is anything, alone on its line any number of lines; scores are groups."""
    pattern = ""
    for line in lines:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            parts = [
                re.sub(r"(?<!\d)\d\\\.\d\d(?!\d)", r"(\\d\\.\\d\\d)", re.escape(part)) for part in line.split("...")
            ]
            pattern += ".*".join(parts) + r"\n"
    return re.compile(pattern)


@pytest.mark.model
@pytest.mark.parametrize(
    "page", [page for page in [README, *sorted(GUIDES.glob("*.md"))] if sessions_of(page)], ids=name_of
)
def test_the_program_prints_what_the_page_shows(page: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["dowse"])
    for command, lines in sessions_of(page):
        terminal = io.StringIO()
        monkeypatch.setattr("sys.stdout", terminal)
        monkeypatch.setattr("sys.stderr", terminal)
        program, *arguments = shlex.split(command)
        assert program == "dowse"
        assert main([argument.replace("~", str(home)) for argument in arguments]) == 0, terminal.getvalue()
        printed = "".join(f"{line.rstrip()}\n" for line in terminal.getvalue().rstrip("\n").split("\n"))
        match = pattern_of(lines).fullmatch(printed)
        assert match, f"$ {command}\n{printed}"
        shown = re.findall(r"(?<!\d)\d\.\d\d(?!\d)", "\n".join(line for line in lines if line != "..."))
        for score, there in zip(shown, match.groups(), strict=True):
            assert float(there) == pytest.approx(float(score), abs=ALLOWED_DIFFERENCE), f"$ {command}\n{printed}"


@pytest.mark.model
def test_loading_the_model_leaves_nothing_outside_of_our_own_folders(tmp_path: Path) -> None:
    """onnxruntime makes a device id and stores events to send, unless it is told not to before it is imported."""
    script = "import dowse.inference.runtime"
    environment = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PATH": ""}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == []
