"""`adopt qmd` on real configurations of qmd: what comes over, what is said of the rest, and that qmd's files stay."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from dowse.errors import UsageError
from dowse.ingest.sources.patterns import IgnoreRules
from dowse.interfaces.adopt.rules import exclusions_of, mask_of


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("QMD_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "INDEX_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    work = tmp_path / "work"
    for path in ("plans/2024/goals.md", "plans/todo.txt", "drafts/one.md", "dist/built.md", "deep/drafts/two.md"):
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(f"# About {path}\n\nWords of {path}.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(home: Path, **more: object) -> Path:
    said = {
        "global_context": "All of my life",
        "collections": {
            "work": {
                "path": "~/work",
                "pattern": "**/*.md",
                "ignore": ["drafts/**"],
                "context": {"/": "What I do", "/plans/2024": "That year"},
            },
            "notes": {"path": str(home / "notes"), "pattern": "**/*.{md,txt}", "includeByDefault": False},
        },
        **more,
    }
    file = home / ".config" / "qmd" / "index.yml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(said), encoding="utf-8")
    return file


def listed(run, *command: str) -> list[dict[str, object]]:
    return json.loads(run(*command, "--json").out)


def test_collections_contexts_and_rules_come_over_and_qmds_files_stay(run, home, place):
    file = written(home)
    before = file.read_bytes()
    done = run("adopt", "qmd", "--no-embed")
    found = {each["name"]: each for each in listed(run, "collection", "list")}
    assert found["work"]["path"] == str(home / "work")
    assert found["work"]["pattern"] == "**/*.md"
    assert found["notes"]["pattern"] == "**/*.{md,txt}"
    assert found["notes"]["documents"] == 4
    assert [each["included"] for each in (found["work"], found["notes"])] == [True, False]
    paths = run("ls", "work").out.split()
    assert [each for each in paths if each.endswith(".md")] == ["work/deep/drafts/two.md", "work/plans/2024/goals.md"]
    contexts = {line.split("\t")[0]: line.split("\t")[1] for line in run("context", "list").out.splitlines()}
    assert contexts == {"/": "All of my life", "work": "What I do", "work/plans/2024": "That year"}
    assert "add collection work" in done.out
    assert "without /drafts/**" in done.out
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["index.yml"]


def test_a_dry_run_shows_it_all_and_changes_nothing(run, home, place):
    written(home)
    shown = run("adopt", "qmd", "--dry-run")
    assert "add collection work" in shown.out
    assert "Nothing was changed" in shown.err
    assert listed(run, "collection", "list") == []


def test_a_second_time_does_what_is_still_missing(run, home, place):
    written(home)
    run("adopt", "qmd", "--no-embed")
    again = run("adopt", "qmd", "--no-embed")
    assert {line.split(" ")[0] for line in again.out.splitlines() if "context" in line} == {"already"}
    assert "0 added, 0 changed" in again.out
    run("collection", "set", "work", "--mask", "**/*.txt", "--no-embed")
    assert "change collection work" in run("adopt", "qmd", "--no-embed").out
    assert listed(run, "collection", "list")[1]["pattern"] == "**/*.md"


def test_what_cannot_be_taken_over_is_said(run, home, place):
    (home / "work" / ".gitignore").write_text("*.log\n", encoding="utf-8")
    file = written(home, models={"embed": "x"}, editor_uri="vscode://{file}")
    said = yaml.safe_load(file.read_text())
    said["collections"]["work"].update(update="git pull", ignore=["!keep.md", "+(a|b)/**"])
    said["collections"]["work"]["context"]["/plan"] = "a part of a name"
    said["collections"]["gone"] = {"path": str(home / "gone")}
    said["collections"]["odd"] = {"path": "~/work", "pattern": "@(a|b).md"}
    file.write_text(yaml.safe_dump(said), encoding="utf-8")
    run("collection", "add", home / "work" / "plans", "--name", "notes", "--no-embed")
    out = run("adopt", "qmd", "--no-embed").out
    left = [line.removeprefix("not taken over: ") for line in out.splitlines() if line.startswith("not taken over: ")]
    starts = [
        *("collection work: The ignore rule '!keep.md'", "collection work: The ignore rule '+(a|b)/**'"),
        *("context work/plan: ", "collection work: its setting update", "collection work: files that its .gitignore"),
        f"collection notes: here, notes is {home / 'work' / 'plans'}",
        f"collection gone: there is no folder {home / 'gone'}",
        "collection odd: The mask '@(a|b).md'",
        *("models: ", "editor_uri: "),
    ]
    for start in starts:
        assert [line for line in left if line.startswith(start)], start
    assert len(left) == len(starts)


def test_a_project_of_its_own_comes_before_the_users(run, home, monkeypatch):
    written(home)
    local = home / "work" / ".qmd" / "index.yaml"
    local.parent.mkdir()
    local.write_text("collections:\n  here:\n    path: plans\n", encoding="utf-8")
    monkeypatch.chdir(home / "work" / "drafts")
    run("adopt", "qmd", "--no-embed")
    (found,) = listed(run, "collection", "list")
    assert (found["name"], found["path"]) == ("here", str(home / "work" / "plans"))


def index_at(file: Path, *statements: tuple[str, tuple[object, ...]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        for statement, values in statements:
            database.execute(statement, values)
        database.commit()
    return file


def test_an_index_alone_is_enough(run, home):
    table = "name TEXT, path TEXT, pattern TEXT, ignore_patterns TEXT, include_by_default INTEGER, context TEXT"
    row = ("work", str(home / "work"), "**/*.md", '["deep/**"]', 0, '{"/plans": "Plans"}')
    file = index_at(
        home / ".cache" / "qmd" / "index.sqlite",
        (f"CREATE TABLE store_collections ({table})", ()),
        ("INSERT INTO store_collections VALUES (?, ?, ?, ?, ?, ?)", row),
        ("CREATE TABLE store_config (key TEXT, value TEXT)", ()),
        ("INSERT INTO store_config VALUES ('global_context', 'Mine')", ()),
    )
    before = file.read_bytes()
    run("adopt", "qmd", "--no-embed")
    (found,) = listed(run, "collection", "list")
    assert (found["name"], found["included"], found["documents"]) == ("work", False, 2)
    assert run("context", "list").out == "/\tMine\nwork/plans\tPlans\n"
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_older_indexes_are_understood(run, home):
    work = str(home / "work")
    named = index_at(
        home / "named.sqlite",
        ("CREATE TABLE collections (id INTEGER, name TEXT, pwd TEXT, glob_pattern TEXT)", ()),
        ("INSERT INTO collections VALUES (7, 'job', ?, '**/*.md')", (work,)),
        ("CREATE TABLE path_contexts (collection_id INTEGER, path_prefix TEXT, context TEXT)", ()),
        ("INSERT INTO path_contexts VALUES (7, '/plans', 'Plans')", ()),
    )
    oldest = index_at(
        home / "oldest.sqlite",
        ("CREATE TABLE collections (id INTEGER, pwd TEXT, glob_pattern TEXT, context TEXT)", ()),
        ("INSERT INTO collections VALUES (1, ?, '**/*.txt', 'All work')", (work,)),
        ("CREATE TABLE path_contexts (path_prefix TEXT, context TEXT)", ()),
        ("INSERT INTO path_contexts VALUES (?, 'The plans')", (f"{work}/plans",)),
    )
    run("adopt", "qmd", "--file", named, "--no-embed")
    run("adopt", "qmd", "--file", oldest, "--no-embed")
    found = {each["name"]: each["pattern"] for each in listed(run, "collection", "list")}
    assert found == {"job": "**/*.md", "work": "**/*.txt"}
    assert run("context", "list").out == "job/plans\tPlans\nwork\tAll work\nwork/plans\tThe plans\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"collections: [a, b]\n", "no collections"),
        (b"collections:\n  a: {pattern: x}\n", "path"),
        (b"a: [\n", "could be read"),
        (b"\xff\xfe\x00", "could be read"),
        (b"SQLite format 3\0 and then nothing", "could be read"),
        (b"just text\n", "no collections"),
    ],
)
def test_what_is_no_configuration_of_qmd_is_refused(content, says, run, home):
    file = home / "odd"
    file.write_bytes(content)
    failed = run("adopt", "qmd", "--file", file, code=5)
    assert says in failed.err
    assert str(file) in failed.err


def test_where_there_is_no_qmd_the_way_out_is_named(run, home):
    failed = run("adopt", "qmd", code=3)
    assert str(home / ".config" / "qmd" / "index.yml") in failed.err
    assert "--file FILE" in failed.err


@pytest.mark.parametrize(
    ("rule", "ignored", "kept"),
    [
        ("Sessions/**", ["Sessions/a.md", "Sessions/b/c.md"], ["x/Sessions/a.md", "Sessions.md"]),
        ("*.tmp.md", ["a.tmp.md"], ["x/a.tmp.md", "a.md"]),
        ("**/*.{tmp,bak}", ["a.tmp", "x/y/a.bak"], ["a.md"]),
        ("./drafts", ["drafts/a.md"], ["x/drafts/a.md"]),
        ("**/private/**", ["private/a.md", "x/private/b/c.md"], ["privately/a.md"]),
        ("{a,b}/[0-9]*.md", ["a/1.md", "b/2x.md"], ["a/x.md", "c/1.md"]),
    ],
)
def test_a_rule_leaves_out_the_same_paths(rule, ignored, kept):
    rules = IgnoreRules(exclusions_of(rule))

    def is_ignored(path: str) -> bool:
        parts = path.split("/")
        places = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        return any(rules.decide(at, at.split("/")[-1], is_folder=at != path) for at in places)

    assert [path for path in [*ignored, *kept] if is_ignored(path)] == ignored


def test_a_mask_is_taken_with_its_exceptions():
    assert mask_of("**/*.md, !drafts/**, notes/*.{txt,md}") == ("**/*.md,notes/*.{txt,md}", ["drafts/**"])
    with pytest.raises(UsageError):
        mask_of("+(a|b).md")
