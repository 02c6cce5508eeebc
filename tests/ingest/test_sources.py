"""The walk sees what is to be indexed, says why the rest is not, and never leaves its root."""

import os
import socket
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError, UsageError
from dowse.ingest.sources import Found, Refused, files, is_secret, read, walk
from dowse.ingest.sources.patterns import IgnoreRules, PathPattern

LIMIT = 1_000

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs the file names and files of Linux")


def plant(root: Path, *paths: str, **contents: str) -> Path:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("text", encoding="utf-8")
    for name, content in contents.items():
        (root / {"gitignore": ".gitignore", "dowseignore": ".dowseignore"}[name]).write_text(content, encoding="utf-8")
    return root


def found(root: Path, pattern: str = "**/*") -> list[str]:
    return [item.path for item in walk(root, pattern, max_file_size=LIMIT) if isinstance(item, Found)]


def refused(root: Path, pattern: str = "**/*") -> dict[str, Refused]:
    return {item.path: item for item in walk(root, pattern, max_file_size=LIMIT) if isinstance(item, Refused)}


def codes(root: Path) -> dict[str, str]:
    return {path: item.code for path, item in refused(root).items()}


class TestWhatIsFound:
    def test_files_come_in_the_order_of_their_paths(self, tmp_path):
        plant(tmp_path, "b.md", "a/z.md", "a.md", "a-b/c.md", "a/b/c.txt", "é.md")
        assert found(tmp_path) == sorted(["b.md", "a/z.md", "a.md", "a-b/c.md", "a/b/c.txt", "é.md"])

    def test_each_carries_what_is_needed_to_compare_and_read_it(self, tmp_path):
        plant(tmp_path, "a/b.md")
        status = (tmp_path / "a/b.md").stat()
        (item,) = walk(tmp_path, max_file_size=LIMIT)
        assert isinstance(item, Found)
        assert item.media_type == "text/markdown"
        assert item.absolute.read_text(encoding="utf-8") == "text"
        fingerprint = item.fingerprint
        assert (fingerprint.size, fingerprint.mtime_ns, fingerprint.inode) == (4, status.st_mtime_ns, status.st_ino)

    @linux_only
    def test_paths_are_composed_whatever_the_file_system_says(self, tmp_path):
        decomposed = unicodedata.normalize("NFD", "é.md")
        plant(tmp_path, decomposed)
        (item,) = walk(tmp_path, max_file_size=LIMIT)
        assert item.path == "é.md"
        assert isinstance(item, Found)
        assert item.absolute.name == decomposed

    @linux_only
    def test_of_two_names_that_only_differ_in_their_encoding_one_is_refused(self, tmp_path):
        decomposed = unicodedata.normalize("NFD", "é.md")
        plant(tmp_path, "é.md", decomposed)
        assert found(tmp_path) == ["é.md"]
        assert codes(tmp_path) == {decomposed: "same_name"}

    def test_hidden_and_vendored_places_are_not_seen(self, tmp_path):
        plant(
            tmp_path, ".hidden.md", ".git/a.md", "node_modules/p/README.md", "__pycache__/a.txt", "VENV/a.txt", "a.md"
        )
        plant(tmp_path, "target/CACHEDIR.TAG", "target/doc.md", "myenv/pyvenv.cfg", "myenv/licence.txt")
        assert [item.path for item in walk(tmp_path, max_file_size=LIMIT)] == ["a.md"]

    def test_a_folder_called_target_is_an_ordinary_folder(self, tmp_path):
        assert found(plant(tmp_path, "target/plan.md")) == ["target/plan.md"]

    def test_an_empty_folder_gives_nothing(self, tmp_path):
        assert found(tmp_path) == []


class TestPatterns:
    PATHS = ("a.md", "b.txt", "docs/c.md", "docs/deep/d.md", "docs/e.txt", "src/f.md")

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("**/*", [*PATHS]),
            ("", [*PATHS]),
            ("**", [*PATHS]),
            ("*", ["a.md", "b.txt"]),
            ("*.md", ["a.md"]),
            ("**/*.md", ["a.md", "docs/c.md", "docs/deep/d.md", "src/f.md"]),
            ("docs/**", ["docs/c.md", "docs/deep/d.md", "docs/e.txt"]),
            ("docs/", ["docs/c.md", "docs/deep/d.md", "docs/e.txt"]),
            ("./docs/*", ["docs/c.md", "docs/e.txt"]),
            ("docs/**/d.md", ["docs/deep/d.md"]),
            ("docs/**/c.md", ["docs/c.md"]),
            ("*.txt,src/*.md", ["b.txt", "src/f.md"]),
            ("{docs,src}/*.md", ["docs/c.md", "src/f.md"]),
            ("**/*.{md,txt}", [*PATHS]),
            ("[!a].*, a.{m{d,x},y}", ["a.md", "b.txt"]),
            ("?.md", ["a.md"]),
            ("nothing/here/*.md", []),
        ],
    )
    def test_a_glob_over_the_relative_path_decides(self, tmp_path, pattern, expected):
        assert found(plant(tmp_path, *self.PATHS), pattern) == expected

    def test_what_does_not_match_is_not_even_refused(self, tmp_path):
        assert refused(plant(tmp_path, "a.png", "b.md"), "*.md") == {}

    def test_folders_that_cannot_match_are_not_entered(self, tmp_path, monkeypatch):
        plant(tmp_path, "docs/a/b.md", "src/c.md")
        entered = []
        scandir = os.scandir
        monkeypatch.setattr(os, "scandir", lambda path: entered.append(Path(path).name) or scandir(path))
        assert found(tmp_path, "docs/*/*.md") == ["docs/a/b.md"]
        assert entered == [tmp_path.name, "docs", "a"]

    @pytest.mark.parametrize("pattern", ["[a", "a\\", "{a,b}" * 20])
    def test_what_cannot_be_understood_is_the_callers_error(self, tmp_path, pattern):
        with pytest.raises(UsageError) as caught:
            found(tmp_path, pattern)
        assert caught.value.hint

    @settings(deadline=None)
    @given(st.text("ab*?[]!^-{},/\\.", max_size=20), st.text("ab/.", max_size=10))
    def test_any_pattern_is_either_compiled_or_refused(self, pattern, path):
        try:
            compiled = PathPattern(pattern)
        except UsageError:
            return
        compiled.matches(path)

    def test_a_hostile_pattern_is_matched_in_no_time(self):
        assert not PathPattern("*a" * 30 + "b").matches("a" * 200)


class TestIgnoreRules:
    @pytest.mark.parametrize(
        ("rules", "paths", "expected"),
        [
            ("*.log\n", ["a.log", "b/c.log", "d.md"], ["d.md"]),
            ("# comment\n\n\\#a.md\n", ["#a.md", "b.md"], ["b.md"]),
            ("/a.md\n", ["a.md", "b/a.md"], ["b/a.md"]),
            ("build/\n", ["build/a.md", "x/build/b.md", "c/build.md"], ["c/build.md"]),
            ("b/c.md\n", ["b/c.md", "a/b/c.md"], ["a/b/c.md"]),
            ("**/c.md\n", ["c.md", "a/b/c.md", "d.md"], ["d.md"]),
            ("a/**\n", ["a/b.md", "a/c/d.md", "e.md"], ["e.md"]),
            ("a/**/z.md\n", ["a/z.md", "a/b/c/z.md", "z.md"], ["z.md"]),
            ("*.md\n!keep.md\n", ["a.md", "keep.md", "b/keep.md"], ["b/keep.md", "keep.md"]),
            ("drafts/\n!drafts/keep.md\n", ["drafts/keep.md", "a.md"], ["a.md"]),
            ("*\n!*/\n!*.md\n", ["a.txt", "b/c.md", "b/d/e.md", "b/f.txt"], ["b/c.md", "b/d/e.md"]),
            ("/*\n!/docs\n", ["a.md", "docs/b.md"], ["docs/b.md"]),
            ("[ab].md\n[!a-c].txt\n", ["a.md", "c.md", "a.txt", "d.txt"], ["a.txt", "c.md"]),
            ("[[:digit:]].md\n[[:no:]].md\n", ["1.md", "a.md"], ["a.md"]),
            ("a.md \r\nb\\ c.md\n", ["a.md", "b c.md", "d.md"], ["d.md"]),
            ("[broken\n", ["[broken.md", "a.md"], ["[broken.md", "a.md"]),
        ],
    )
    def test_the_rules_of_git_apply(self, tmp_path, rules, paths, expected):
        assert found(plant(tmp_path, *paths, gitignore=rules)) == expected

    def test_a_nested_file_applies_below_its_own_folder_and_overrules_the_outer_one(self, tmp_path):
        plant(tmp_path, "a.md", "sub/a.md", "sub/b.md", "sub/deep/b.md", "other/b.md", gitignore="a.md\n")
        plant(tmp_path / "sub", gitignore="!a.md\n/b.md\n")
        assert found(tmp_path) == ["other/b.md", "sub/a.md", "sub/deep/b.md"]

    def test_dowseignore_has_the_last_word(self, tmp_path):
        plant(tmp_path, "a.md", "b.md", "c.md", gitignore="a.md\nb.md\n", dowseignore="!b.md\nc.md\n")
        assert found(tmp_path) == ["b.md"]

    def test_ignore_files_above_the_root_do_not_count(self, tmp_path):
        plant(tmp_path, "docs/a.md", gitignore="*.md\n")
        assert found(tmp_path / "docs") == ["a.md"]

    def test_an_ignore_file_that_is_a_link_is_not_read(self, tmp_path):
        plant(tmp_path, "root/a.md", "rules")
        (tmp_path / "rules").write_text("*.md\n", encoding="utf-8")
        (tmp_path / "root/.gitignore").symlink_to(tmp_path / "rules")
        assert found(tmp_path / "root") == ["a.md"]

    def test_an_ignore_file_that_cannot_be_read_is_reported(self, tmp_path):
        plant(tmp_path, "a.md")
        (tmp_path / ".gitignore").mkdir()
        assert codes(tmp_path) == {".gitignore": "unreadable"}
        assert found(tmp_path) == ["a.md"]

    def test_what_is_ignored_is_not_even_refused(self, tmp_path):
        assert refused(plant(tmp_path, "a.png", "key.pem", gitignore="*.png\n*.pem\n")) == {}

    @settings(deadline=None)
    @given(st.lists(st.text("ab*?[]!\\/#. -", max_size=8), max_size=4), st.text("ab.", min_size=1, max_size=4))
    def test_any_lines_can_be_read(self, lines, name):
        rules = IgnoreRules(lines)
        assert rules.decide(f"x/{name}", name, is_folder=True) in {True, False, None}


class TestWhatIsRefused:
    def test_each_refusal_has_a_reason_and_a_way_out(self, tmp_path):
        plant(tmp_path, "a.png", "id_rsa", "big.md")
        (tmp_path / "big.md").write_bytes(b"x" * (LIMIT + 1))
        (tmp_path / "broken.md").symlink_to("nowhere.md")
        items = refused(tmp_path)
        assert {path: (item.code, item.state) for path, item in items.items()} == {
            "a.png": ("unsupported", "skipped"),
            "big.md": ("too_large", "skipped"),
            "broken.md": ("broken_link", "failed"),
            "id_rsa": ("secret", "skipped"),
        }
        assert all(item.reason.endswith(".") and item.hint for item in items.values())
        assert items["big.md"].fingerprint.size == LIMIT + 1
        assert not any(item.is_directory for item in items.values())

    @pytest.mark.parametrize(
        "name",
        [
            *("id_rsa", "id_ed25519", "id_rsa.bak", "server.pem", "SERVER.KEY", "cert.p12", "cert.pfx", "Vault.kdbx"),
            *(
                ".env",
                ".env.local",
                "prod.env",
                "login.keychain-db",
                "credentials.json",
                "logins.json",
                "passwords.txt",
            ),
        ],
    )
    def test_names_of_secrets_are_known(self, name):
        assert is_secret(name)

    @pytest.mark.parametrize("name", ["key.md", "id_rsa.pub", "environment.md", "keys.txt", "secrets.md", "pem.txt"])
    def test_writing_about_secrets_is_no_secret(self, name):
        assert not is_secret(name)

    def test_a_link_does_not_disguise_a_secret(self, tmp_path):
        plant(tmp_path, "keys/id_rsa")
        (tmp_path / "notes.md").symlink_to("keys/id_rsa")
        assert codes(tmp_path) == {"keys/id_rsa": "secret", "notes.md": "secret"}

    def test_password_stores_and_browser_profiles_are_refused_whole(self, tmp_path):
        plant(tmp_path, "store/.gpg-id", "store/note.md", "profile/key4.db", "profile/history.txt", "a.md")
        assert found(tmp_path) == ["a.md"]
        assert codes(tmp_path) == {"profile": "secret", "store": "secret"}

    @linux_only
    def test_special_files_are_refused_without_being_opened(self, tmp_path, monkeypatch):
        os.mkfifo(tmp_path / "pipe.md")
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.md")
            assert codes(tmp_path) == {"pipe.md": "special", "socket.md": "special"}

    @linux_only
    def test_a_name_that_is_no_unicode_is_refused_under_a_printable_one(self, tmp_path):
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x", encoding="utf-8")
        ((path, item),) = refused(tmp_path).items()
        assert path == "caf\\udce9.md"
        assert (item.code, item.state) == ("bad_name", "failed")


class TestLinks:
    def test_a_link_inside_the_root_is_followed(self, tmp_path):
        plant(tmp_path, "real/a.md")
        (tmp_path / "b.md").symlink_to("real/a.md")
        (tmp_path / "linked").symlink_to("real")
        assert found(tmp_path) == ["b.md", "linked/a.md", "real/a.md"]

    def test_a_link_out_of_the_root_is_refused(self, tmp_path):
        plant(tmp_path, "root/a.md", "outside/b.md", "root-2/c.md")
        (tmp_path / "root/b.md").symlink_to(tmp_path / "outside/b.md")
        (tmp_path / "root/folder").symlink_to("../outside")
        (tmp_path / "root/sibling").symlink_to(tmp_path / "root-2")
        (tmp_path / "root/chain.md").symlink_to("folder/b.md")
        assert found(tmp_path / "root") == ["a.md"]
        assert set(codes(tmp_path / "root").items()) == {
            ("b.md", "outside"),
            ("folder", "outside"),
            ("sibling", "outside"),
            ("chain.md", "outside"),
        }

    def test_cycles_end(self, tmp_path):
        plant(tmp_path, "a/x.md", "b/y.md")
        (tmp_path / "a/up").symlink_to(tmp_path)
        (tmp_path / "a/self").symlink_to(tmp_path / "a")
        (tmp_path / "a/to_b").symlink_to(tmp_path / "b")
        (tmp_path / "b/to_a").symlink_to(tmp_path / "a")
        (tmp_path / "loop.md").symlink_to("loop.md")
        assert found(tmp_path) == ["a/to_b/y.md", "a/x.md", "b/to_a/x.md", "b/y.md"]
        assert codes(tmp_path) == {"loop.md": "broken_link"}

    def test_the_root_may_be_a_link(self, tmp_path):
        plant(tmp_path, "real/a.md")
        (tmp_path / "root").symlink_to("real")
        assert found(tmp_path / "root") == ["a.md"]


class TestTrouble:
    def test_a_missing_root_is_an_error(self, tmp_path):
        with pytest.raises(SourceError) as caught:
            found(tmp_path / "nowhere")
        assert caught.value.reason == "missing"

    def test_a_root_that_is_a_file_is_an_error(self, tmp_path):
        plant(tmp_path, "a.md")
        with pytest.raises(SourceError) as caught:
            found(tmp_path / "a.md")
        assert caught.value.reason == "not_a_folder"

    def test_an_unreadable_root_is_an_error(self, tmp_path, monkeypatch):
        deny(monkeypatch, tmp_path, PermissionError(13, "Permission denied"))
        with pytest.raises(SourceError) as caught:
            found(tmp_path)
        assert caught.value.reason == "unreadable"
        assert "Permission denied" in caught.value.message

    def test_an_unreadable_folder_is_reported_as_unknown_and_the_walk_goes_on(self, tmp_path, monkeypatch):
        plant(tmp_path, "a/x.md", "b/y.md")
        deny(monkeypatch, tmp_path / "a", PermissionError(13, "Permission denied"))
        assert found(tmp_path) == ["b/y.md"]
        item = refused(tmp_path)["a"]
        assert (item.code, item.state, item.is_directory) == ("unreadable", "failed", True)

    def test_a_folder_that_vanishes_is_gone(self, tmp_path, monkeypatch):
        plant(tmp_path, "a/x.md", "b/y.md")
        deny(monkeypatch, tmp_path / "a", FileNotFoundError(2, "No such file"))
        assert [item.path for item in walk(tmp_path, max_file_size=LIMIT)] == ["b/y.md"]

    def test_a_root_that_vanishes_during_the_walk_is_an_error(self, tmp_path):
        root = plant(tmp_path / "root", "a/x.md", "b/y.md")
        walking = walk(root, max_file_size=LIMIT)
        assert next(walking).path == "a/x.md"
        root.rename(tmp_path / "elsewhere")
        with pytest.raises(SourceError):
            list(walking)

    def test_a_root_that_is_replaced_during_the_walk_is_an_error(self, tmp_path):
        root = plant(tmp_path / "root", "a/x.md", "b/y.md")
        walking = walk(root, max_file_size=LIMIT)
        next(walking)
        root.rename(tmp_path / "elsewhere")
        root.mkdir()
        with pytest.raises(SourceError):
            list(walking)


def deny(monkeypatch: pytest.MonkeyPatch, folder: Path, error: OSError) -> None:
    """Permissions do not stop a superuser, so that listing this folder fails by other means."""
    scandir = os.scandir

    def failing(path: str) -> object:
        if os.path.realpath(path) == os.path.realpath(folder):
            raise error
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)


class TestRead:
    def test_bytes_come_with_the_fingerprint_of_the_walk(self, tmp_path):
        plant(tmp_path, "a.md")
        (item,) = walk(tmp_path, max_file_size=LIMIT)
        before = time.time_ns()
        data, fingerprint = read(tmp_path / "a.md", LIMIT)
        assert data == b"text"
        assert (fingerprint.size, fingerprint.mtime_ns, fingerprint.inode) == (
            item.fingerprint.size,
            item.fingerprint.mtime_ns,
            item.fingerprint.inode,
        )
        assert before <= fingerprint.read_ns <= time.time_ns()

    def test_an_empty_file_is_read(self, tmp_path):
        (tmp_path / "empty.md").touch()
        assert read(tmp_path / "empty.md", LIMIT)[0] == b""

    def test_a_file_that_changes_meanwhile_is_read_again(self, tmp_path, monkeypatch):
        plant(tmp_path, "a.md")
        meddle(monkeypatch, [lambda: (tmp_path / "a.md").write_bytes(b"longer text")])
        data, fingerprint = read(tmp_path / "a.md", LIMIT)
        assert data == b"longer text"
        assert fingerprint.size == len(data)

    def test_a_file_that_never_holds_still_is_an_error(self, tmp_path, monkeypatch):
        plant(tmp_path, "a.md")
        meddle(monkeypatch, [lambda size=size: (tmp_path / "a.md").write_bytes(b"x" * size) for size in range(5, 50)])
        with pytest.raises(SourceError) as caught:
            read(tmp_path / "a.md", LIMIT)
        assert caught.value.reason == "changing"

    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            (lambda _: None, "missing"),
            (lambda path: path.write_bytes(b"x" * (LIMIT + 1)), "too_large"),
            pytest.param(os.mkfifo if hasattr(os, "mkfifo") else None, "special", marks=linux_only),
            (lambda path: path.mkdir(), "unreadable"),
        ],
    )
    def test_what_cannot_be_read_says_why(self, tmp_path, make, reason):
        make(tmp_path / "a.md")
        with pytest.raises(SourceError) as caught:
            read(tmp_path / "a.md", LIMIT)
        assert caught.value.reason == reason
        assert "a.md" in caught.value.message
        assert caught.value.hint


def meddle(monkeypatch: pytest.MonkeyPatch, writers: list) -> None:
    """Let a writer in after the file was looked at and before it is read, as long as there are any."""
    check = files._check

    def check_and_write(*arguments: object) -> None:
        check(*arguments)
        if writers:
            writers.pop(0)()

    monkeypatch.setattr(files, "_check", check_and_write)


def test_an_index_inside_of_the_folder_is_not_part_of_it(tmp_path):
    (tmp_path / "note.md").write_text("tea")
    index = tmp_path / "index"
    index.mkdir()
    (index / "dowse.db").write_bytes(b"SQLite format 3\0")
    (index / "notes.md").write_text("not a note")
    found = list(walk(tmp_path, max_file_size=1000))
    assert [each.path for each in found] == ["note.md"]
