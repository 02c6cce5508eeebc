"""The settings: where they come from, which one wins, and what is said of a bad one."""

import os
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.config import SETTINGS, Config, describe
from dowse.errors import ConfigError, UsageError


@pytest.fixture
def env(tmp_path):
    """An environment that leads nowhere but into the test's own folder."""
    return {"DOWSE_DATA_DIR": str(tmp_path / "data"), "DOWSE_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def file(tmp_path):
    """Writes a configuration file and returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_without_anything_set_the_defaults_hold(env):
    config = Config.load(Path(os.devnull), env)
    assert config.index == "default"
    assert (config.embedder, config.precision) == ("granite-embedding-30m-english", "int8")
    assert config.max_file_size == 20 * 1024 * 1024
    assert config.workers is None
    assert (config.chunk_tokens, config.lock_timeout, config.keep_days) == (256, 30.0, 30.0)


def test_the_file_beats_the_default_the_environment_beats_the_file_and_an_argument_beats_both(env, file):
    path = file('index = "from-file"\nchunk_tokens = 100\nkeep_days = 7\n')
    env |= {"DOWSE_INDEX": "from-env", "DOWSE_CHUNK_TOKENS": "200"}
    config = Config.load(path, env, index="from-argument")
    assert (config.index, config.chunk_tokens, config.keep_days) == ("from-argument", 200, 7.0)
    assert config.lock_timeout == 30.0


def test_it_is_known_where_each_value_came_from(env, file):
    path = file("keep_days = 7\n")
    config = Config.load(path, env | {"DOWSE_CHUNK_TOKENS": "200"}, index="x")
    assert config.origins["keep_days"] == str(path)
    assert config.origins["chunk_tokens"] == "DOWSE_CHUNK_TOKENS"
    assert "index" in config.origins["index"]
    assert "precision" not in config.origins


def test_an_argument_of_none_and_an_empty_variable_count_as_not_given(env):
    config = Config.load(Path(os.devnull), env | {"DOWSE_INDEX": "", "DOWSE_WORKERS": ""}, index=None)
    assert (config.index, config.workers) == ("default", None)


def test_the_environment_can_name_the_file_and_an_argument_beats_it(env, file, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text("keep_days = 1\n")
    env |= {"DOWSE_CONFIG": str(file("keep_days = 2\n"))}
    assert Config.load(env=env).keep_days == 2.0
    assert Config.load(other, env).keep_days == 1.0


@pytest.mark.parametrize("how", ["argument", "variable"])
def test_a_named_file_that_is_missing_is_an_error(env, tmp_path, how):
    missing = tmp_path / "missing.toml"
    with pytest.raises(ConfigError) as caught:
        Config.load(*([missing, env] if how == "argument" else [None, env | {"DOWSE_CONFIG": str(missing)}]))
    assert str(missing) in caught.value.message
    assert caught.value.hint


def test_the_platforms_own_file_may_be_absent_and_is_read_where_it_is_there(env, tmp_path, monkeypatch):
    import platformdirs

    monkeypatch.setattr(platformdirs, "user_config_path", lambda *_, **__: tmp_path / "configs")
    assert Config.load(env=env).keep_days == 30.0
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "config.toml").write_text("keep_days = 5\n")
    assert Config.load(env=env).keep_days == 5.0


@pytest.mark.parametrize("content", ["chunk_tokens = = 1", "chunk_tokens", "a = 'x\n"])
def test_a_file_that_is_not_toml_is_named_in_the_error(env, file, content):
    path = file(content)
    with pytest.raises(ConfigError, match="not valid TOML") as caught:
        Config.load(path, env)
    assert str(path) in caught.value.message


def test_a_file_in_another_encoding_or_a_folder_is_an_error_of_the_configuration(env, tmp_path):
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'index = "caf\xe9"\n')
    for path in (latin, tmp_path):
        with pytest.raises(ConfigError) as caught:
            Config.load(path, env)
        assert str(path) in caught.value.message


def test_an_unknown_key_names_the_file_and_the_nearest_known_key(env, file):
    path = file("chunk_token = 100\n")
    with pytest.raises(ConfigError) as caught:
        Config.load(path, env)
    assert "chunk_token" in caught.value.message
    assert str(path) in caught.value.message
    assert "chunk_tokens" in caught.value.hint
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2


def test_an_unknown_variable_names_the_nearest_known_one(env):
    with pytest.raises(ConfigError) as caught:
        Config.load(Path(os.devnull), env | {"DOWSE_EMBEDER": "x"})
    assert "DOWSE_EMBEDER" in caught.value.message
    assert "DOWSE_EMBEDDER" in caught.value.hint


def test_a_key_unlike_any_other_gets_the_list_of_all(env, file):
    with pytest.raises(ConfigError) as caught:
        Config.load(file("zzz = 1\n"), env)
    assert all(name in caught.value.hint for name in SETTINGS)


def test_an_unknown_argument_is_refused_as_well(env):
    with pytest.raises(ConfigError, match="indx"):
        Config.load(Path(os.devnull), env, indx="x")


def test_variables_of_tests_and_of_debugging_are_let_be(env):
    env |= {"DOWSE_TEST_ANYTHING": "1", "DOWSE_DEBUG": "1", "DOWSER": "x", "PATH": "/bin"}
    assert Config.load(Path(os.devnull), env).index == "default"


BAD = [
    ("chunk_tokens", "31", "31"),
    ("chunk_tokens", "513", "513"),
    ("chunk_tokens", '"256"', "many"),
    ("chunk_tokens", "true", "yes"),
    ("workers", "0", "0"),
    ("workers", "2.5", "2.5"),
    ("precision", '"fp16"', "fp16"),
    ("precision", "8", "8"),
    ("max_file_size", '"20 parsecs"', "20 parsecs"),
    ("max_file_size", '"MB"', "MB"),
    ("max_file_size", "0", "-5"),
    ("lock_timeout", "-1", "-1"),
    ("lock_timeout", "nan", "nan"),
    ("keep_days", "inf", "inf"),
    ("index", '""', "a\tb"),
    ("index", "[1]", " "),
    ("embedder", "1", "\x1b"),
    ("data_dir", "1", " "),
]


@pytest.mark.parametrize(("name", "in_file", "in_env"), BAD)
def test_a_bad_value_is_refused_with_its_key_its_origin_and_what_it_takes(env, file, name, in_file, in_env):
    path = file(f"{name} = {in_file}\n")
    variable = f"DOWSE_{name.upper()}"
    for arguments, origin in (((path, env), str(path)), ((Path(os.devnull), env | {variable: in_env}), variable)):
        with pytest.raises(ConfigError) as caught:
            Config.load(*arguments)
        assert name in caught.value.message
        assert origin in caught.value.message
        assert SETTINGS[name].takes in caught.value.hint


def test_a_bad_argument_is_refused_when_a_config_is_made_or_replaced_by_hand(tmp_path):
    with pytest.raises(ConfigError, match="chunk_tokens"):
        Config(data_dir=tmp_path, cache_dir=tmp_path, chunk_tokens=5)
    good = Config(data_dir=tmp_path, cache_dir=tmp_path)
    with pytest.raises(ConfigError, match="precision"):
        replace(good, precision="fp64")


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("512KB", 512 << 10), ("20MB", 20 << 20), ("20 mb", 20 << 20), ("1.5G", 3 << 29), ("7b", 7)],
)
def test_sizes_take_units(env, file, text, size):
    assert Config.load(Path(os.devnull), env | {"DOWSE_MAX_FILE_SIZE": text}).max_file_size == size
    assert Config.load(file(f'max_file_size = "{text}"\n'), env).max_file_size == size


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text())))
def test_whatever_a_setting_is_given_it_is_taken_or_refused_as_a_config_error(value):
    for name in SETTINGS:
        try:
            config = Config(**{"data_dir": Path("/d"), "cache_dir": Path("/c")} | {name: value})
        except ConfigError as error:
            assert name in error.message  # noqa: PT017  # both outcomes are right, this is about the message
        else:
            assert isinstance(config.index_dir, Path)


@pytest.mark.parametrize("name", ["default", "notes", "my notes", "2026", "日記"])
def test_a_plain_index_is_a_name_below_the_data_folder(env, tmp_path, name):
    config = Config.load(Path(os.devnull), env, index=name)
    assert config.index_dir == tmp_path / "data" / "indexes" / name


@pytest.mark.parametrize("path", ["./here", "sub/folder", ".", "..", ".hidden"])
def test_an_index_that_looks_like_a_path_is_one(env, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    assert Config.load(Path(os.devnull), env, index=path).index_dir == tmp_path / path


def test_the_home_folder_is_expanded_and_a_path_object_is_never_a_name(env, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert Config.load(Path(os.devnull), env, index="~/i").index_dir == tmp_path / "i"
    assert Config.load(Path(os.devnull), env, index=Path("i")).index_dir == tmp_path / "i"


def test_a_path_in_a_file_counts_from_that_file(env, tmp_path, monkeypatch):
    place = tmp_path / "etc"
    place.mkdir()
    (place / "c.toml").write_text('index = "./mine"\ndata_dir = "data"\n')
    del env["DOWSE_DATA_DIR"]
    monkeypatch.chdir(tmp_path)
    config = Config.load(Path("etc/c.toml"), env)
    assert (config.index_dir, config.data_dir) == (place / "mine", place / "data")


def test_a_config_is_frozen_and_compares_by_its_settings(tmp_path):
    config = Config(data_dir=tmp_path, cache_dir=tmp_path)
    with pytest.raises(FrozenInstanceError):
        config.index = "x"  # type: ignore[misc]
    assert config == Config(data_dir=tmp_path, cache_dir=tmp_path, origins={"index": "elsewhere"})


def test_the_table_describes_every_setting_and_nothing_else():
    names = [each.name for each in fields(Config) if each.name != "origins"]
    rows = describe()
    assert [row[0] for row in rows] == names
    assert all(all(cell.strip() for cell in row) for row in rows)
    assert [row[1] for row in rows] == [f"DOWSE_{name.upper()}" for name in names]


def test_importing_it_is_cheap_and_explicit_folders_spare_platformdirs(env):
    code = (
        "import sys, os, pathlib; from dowse.config import Config; Config.load(pathlib.Path(os.devnull));"
        "print(sorted({'platformdirs', 'tomllib', 'difflib', 'click', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
